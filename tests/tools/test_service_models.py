from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import botocore
import pytest

from tools.generate_service_models import MODELS, OPERATIONS, generate, load, main, prune

INSTALLED = Path(botocore.__file__).parent / "data"
NEWEST = Path(__file__).parents[2] / ".venv" / "models" / "botocore" / "data"


def vendored(service: str) -> dict[str, Any]:
    [path] = (MODELS / service).glob("*/service-2.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.skipif(not NEWEST.is_dir(), reason="the newest botocore models are not installed")
def test_regenerating_changes_nothing(tmp_path: Path) -> None:
    for path in generate(NEWEST, tmp_path):
        assert path.read_bytes() == (MODELS / path.relative_to(tmp_path)).read_bytes()


@pytest.mark.parametrize("service", OPERATIONS)
def test_vendored_model_has_all_that_the_installed_one_has(service: str) -> None:
    installed = load(INSTALLED, service)[1]
    known = [name for name in OPERATIONS[service] if name in installed["operations"]]
    assert known, "the installed model has none of the operations"
    new, old = vendored(service), prune(installed, known)
    assert new["metadata"] == old["metadata"]
    assert {name: new["operations"][name] for name in known} == old["operations"]
    for name, shape in old["shapes"].items():
        assert new["shapes"][name]["type"] == shape["type"], name
        assert shape.get("members", {}).items() <= new["shapes"][name].get("members", {}).items(), name
        assert set(new["shapes"][name].get("required", [])) <= set(shape.get("required", [])), name


@pytest.mark.parametrize("service", OPERATIONS)
def test_model_is_small_and_complete(service: str) -> None:
    model = vendored(service)
    assert tuple(sorted(model["operations"])) == OPERATIONS[service]
    whole = load(INSTALLED, service)[1]
    assert len(json.dumps(model)) < len(json.dumps(whole)) / 10
    text = json.dumps(model)
    assert not [word for word in ('"documentation":', '"enum":', '"pattern":') if word in text]


def test_endpoints_are_templates_with_few_exceptions() -> None:
    found = json.loads((MODELS / "endpoint-templates.json").read_text())
    assert found["services"].keys() == OPERATIONS.keys()
    places = {place for kinds in found["services"].values() for listed in kinds.values() for place in listed}
    exceptions = places - {"*"} - {each["name"] for each in found["partitions"]}
    assert exceptions == {"aws-global", "us-gov-east-1", "us-gov-west-1"}, (
        "a region with a rule of its own: look whether it is right"
    )


def test_members_may_have_the_names_of_what_is_left_out() -> None:
    model = {
        "version": "2.0",
        "metadata": {"serviceId": "x"},
        "operations": {"Go": {"name": "Go", "documentation": "d", "input": {"shape": "In"}}, "Stay": {}},
        "shapes": {
            "In": {"type": "structure", "members": {"enum": {"shape": "Text", "documentation": "d"}}},
            "Text": {"type": "string", "pattern": ".*", "max": 3},
            "Lost": {"type": "string"},
        },
    }
    pruned = prune(model, ["Go"])
    assert pruned["operations"] == {"Go": {"name": "Go", "input": {"shape": "In"}}}
    assert pruned["shapes"] == {
        "In": {"type": "structure", "members": {"enum": {"shape": "Text"}}},
        "Text": {"type": "string", "max": 3},
    }


def test_fails_for_an_operation_or_a_service_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="operation Fly is not in the model of SageMaker"):
        prune(load(INSTALLED, "sagemaker")[1], ["Fly"])
    with pytest.raises(ValueError, match="has no model of sagemaker; write the folder"):
        load(tmp_path, "sagemaker")


def test_fails_without_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
