from __future__ import annotations

import enum
import gc
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, get_args, get_type_hints

import pytest

import hyperpod_constructs

PUBLIC: list[str] = vars(hyperpod_constructs)["__all__"]
ARN = "arn:aws:iam::123456789012:role/someone"
CALLED_BY_THE_CLUSTER = {"InstanceGroup.render", "LifecycleScripts.bind", "LifecycleScripts.check", "LifecycleScripts.render"}
CHECKED_BY_HAND: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "ClusterInstanceType.__init__": (hyperpod_constructs.ClusterInstanceType, {"name": "ml.new"}),
    "allow_data_loss": (hyperpod_constructs.allow_data_loss, {"reason": "unused"}),
}
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
def test_jsii_starts_only_where_it_is_needed(module: str) -> None:
    code = f"import hyperpod_constructs.{module}, sys; print([name for name in ('aws_cdk', 'jsii') if name in sys.modules])"
    assert run(code).strip() == "[]"


def test_a_cluster_without_an_upload_loads_no_functions() -> None:
    names = "ClusterNetwork, ExecutionRole, HyperPodCluster, InstanceGroup, LifecycleScripts, LustreStorage"
    code = f"from hyperpod_constructs import {names}; import sys; print(*sys.modules)"
    assert not {"aws_cdk.aws_lambda", "aws_cdk.custom_resources"} & set(run(code).split())


@pytest.mark.parametrize("running", [True, False])
def test_an_import_leaves_the_collector_as_it_was(running: bool) -> None:
    before = "gc.enable()" if running else "gc.disable()"
    code = f"import gc; {before}; import hyperpod_constructs as h; h.InstanceGroup; print(gc.isenabled())"
    assert run(code).strip() == str(running)


def test_a_failed_import_leaves_the_collector_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(hyperpod_constructs)["_MODULES"], "Broken", "hyperpod_constructs.no_such_module")
    with pytest.raises(ModuleNotFoundError):
        hyperpod_constructs.__getattr__("Broken")
    assert gc.isenabled()


def test_the_collector_rests_while_a_name_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    imported = importlib.import_module

    def watched(name: str) -> ModuleType:
        seen.append(gc.isenabled())
        return imported(name)

    monkeypatch.setattr(importlib, "import_module", watched)
    hyperpod_constructs.__getattr__("InstanceGroup")
    assert seen == [False]
    assert gc.isenabled()


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


def public_callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every constructor, factory, method and function of the public API, by its name."""
    for name in PUBLIC:
        thing = getattr(hyperpod_constructs, name)
        if not isinstance(thing, type):
            yield name, thing
        elif not issubclass(thing, enum.Enum):
            for member, raw in vars(thing).items():
                function = getattr(raw, "__func__", raw)
                if inspect.isfunction(function) and (member == "__init__" or not member.startswith("_")):
                    yield f"{name}.{member}", raw.__get__(None, thing) if isinstance(raw, classmethod) else function


def wants_an_object(hint: Any) -> bool:
    """Whether a text never fits."""
    leaves = [hint]
    while any(get_args(leaf) for leaf in leaves):
        leaves = [part for leaf in leaves for part in get_args(leaf) or (leaf,)]
    return str not in leaves and any(isinstance(leaf, type) and leaf.__module__ not in ("builtins", "types") for leaf in leaves)


OBJECTS = [
    (name, parameter)
    for name, function in public_callables()
    if name not in CALLED_BY_THE_CLUSTER
    for parameter, hint in get_type_hints(function).items()
    if parameter != "return" and wants_an_object(hint)
]


@pytest.mark.parametrize(("name", "parameter"), OBJECTS)
def test_a_text_in_place_of_an_object_is_refused_at_once(name: str, parameter: str) -> None:
    function = dict(public_callables())[name]
    given: dict[str, Any] = {"self": SimpleNamespace()} if "self" in inspect.signature(function).parameters else {}
    if name in CHECKED_BY_HAND:
        function, given = CHECKED_BY_HAND[name]
    with pytest.raises(TypeError, match=rf"\S+: {parameter} is '{ARN}' \(str\); allowed: \S"):
        function(**{**given, parameter: ARN})


def test_the_walk_meets_factories_methods_and_values() -> None:
    assert {
        ("ClusterGrants.connect", "grantee"),
        ("ClusterNetwork.__init__", "scope"),
        ("ClusterNetwork.from_attributes", "vpc"),
        ("HyperPodCluster.add_instance_group", "group"),
        ("LifecycleScripts.from_bucket", "bucket"),
        ("LustreMount.__init__", "file_system"),
        ("allow_data_loss", "construct"),
        ("scripts_bucket", "scope"),
    } <= set(OBJECTS)
