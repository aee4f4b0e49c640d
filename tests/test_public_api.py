from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import hyperpod_constructs


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout  # noqa: S603


@pytest.mark.parametrize("name", hyperpod_constructs.__all__)
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


@pytest.mark.parametrize("module", ["instance_type", "settings", "cost", "cli.main"])
def test_what_needs_no_jsii_does_not_start_it(module: str) -> None:
    code = f"import hyperpod_constructs.{module}, sys; print([name for name in ('aws_cdk', 'jsii') if name in sys.modules])"
    assert run(code).strip() == "[]"


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'HyperpodCluster'; it has .*HyperPodCluster"):
        hyperpod_constructs.HyperpodCluster  # noqa: B018


def test_completion_offers_every_name() -> None:
    assert set(hyperpod_constructs.__all__) <= set(dir(hyperpod_constructs))
