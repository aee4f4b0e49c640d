from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hyperpod_constructs

PUBLIC: list[str] = vars(hyperpod_constructs)["__all__"]
MYPY = """\
[mypy]
strict = True
follow_imports = silent
[mypy-aws_cdk.*]
follow_imports = skip
"""


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout  # noqa: S603


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_there_documented_and_typed(name: str) -> None:
    thing = getattr(hyperpod_constructs, name)
    assert inspect.getdoc(thing)
    for member_name, member in inspect.getmembers(thing, inspect.isfunction):
        if not member_name.startswith("_") and member.__module__.startswith("hyperpod_constructs"):
            assert inspect.getdoc(member), f"{name}.{member_name} has no docstring"
            assert "return" in member.__annotations__, f"{name}.{member_name} has no return type"


def test_importing_the_package_starts_nothing() -> None:
    code = "import hyperpod_constructs, sys; print([name for name in ('aws_cdk', 'jsii', 'boto3') if name in sys.modules])"
    assert run(code).strip() == "[]"


@pytest.mark.parametrize(
    "module", ["cluster.instance_type", "analysis.clusters", "cost.estimate", "plan.plan", "rules.checking", "cli.main"]
)
def test_what_needs_no_jsii_does_not_start_it(module: str) -> None:
    code = f"import hyperpod_constructs.{module}, sys; print([name for name in ('aws_cdk', 'jsii') if name in sys.modules])"
    assert run(code).strip() == "[]"


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    unknown = "HyperpodCluster"
    with pytest.raises(AttributeError, match=r"no attribute 'HyperpodCluster'; it has .*HyperPodCluster"):
        getattr(hyperpod_constructs, unknown)


def test_completion_offers_every_name() -> None:
    assert set(PUBLIC) <= set(dir(hyperpod_constructs))


def test_a_star_brings_every_name() -> None:
    assert run(f"from hyperpod_constructs import *; print([{', '.join(PUBLIC)}] and 'all')").strip() == "all"


def test_mypy_sees_the_type_of_every_name_and_no_other_name(tmp_path: Path) -> None:
    """The CDK is left out, which takes minutes to read: what it types is Any here."""
    (tmp_path / "mypy.ini").write_text(MYPY)
    by_attribute = [f"reveal_type(hyperpod_constructs.{name})" for name in PUBLIC]
    by_star = [f"reveal_type({name})" for name in PUBLIC]
    source = [
        "import hyperpod_constructs",
        "from hyperpod_constructs import *",
        *by_attribute,
        *by_star,
        "hyperpod_constructs.Nothing",
    ]
    (tmp_path / "app.py").write_text("\n".join(source))
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--no-error-summary", "app.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout  # noqa: S603
    lines = found.splitlines()
    assert [line for line in lines if "error:" in line] == [
        f'app.py:{len(source)}: error: Module has no attribute "Nothing"  [attr-defined]'
    ], found
    revealed = re.findall(r'Revealed type is "(.*)"', found)
    assert len(revealed) == 2 * len(PUBLIC)
    assert [kind for kind in revealed if not kind.startswith("def (")] == []
