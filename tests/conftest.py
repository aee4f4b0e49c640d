"""Shared by the tests of constructs: small stacks and their templates."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Collecting the tests makes millions of objects that live to the end: the collector looks at none of them.
gc.disable()
# CDK's own template validation takes most of a small synth; tests/lint runs it on whole apps.
os.environ.setdefault("CDK_VALIDATION", "false")
# moto makes a thousand machine images for each new account, which no test asks for.
os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")

import pytest
from aws_cdk import App, Environment, Stack

from hyperpod_constructs import ClusterNetwork, LustreStorage
from hyperpod_constructs.plan.table import has_row
from tests.attacks.tally import tally
from tests.command_line import make_once
from tests.custom_resources.tally import tally as faults_of
from tests.fast import Guard, is_fast
from tests.measured import measured_children, measures, measures_children
from tests.models import read_once
from tests.order import ChainScheduling, turn, workers

ZONE = "usw2-az4"
GUARD = Guard()
GARBAGE = (20_000, 20, 20)
"""Objects until the garbage collector looks at the newest ones, and how often until it looks at older ones: tests leave little."""
read_once()
make_once()
pytest_plugins = ["tests.recording"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="only tests that need neither root nor Debian packages, nor minutes")
    parser.addoption("--measured", action="store_true", help="only tests that execute what no other test does, for the coverage")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    left_out = config.getoption("--fast") and not is_fast(collection_path)
    return True if left_out or (config.getoption("--measured") and not measures(collection_path)) else None


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    return workers(len(os.sched_getaffinity(0)), fast=config.getoption("--fast"))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    return ChainScheduling(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with measured_children(measures_children(item.path)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fails a fast test that needs more than every machine has; a test with a condition declares its need."""
    if not is_fast(item.path) or item.get_closest_marker("skipif") is not None:
        return (yield)
    with GUARD.watching() as found:
        result = yield
    if found:
        pytest.fail(f"{item.nodeid} is no fast test (tests/fast.py): it {'; it '.join(found)}")
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the tally of attacks, and that of faults."""
    ids = {outcome: [report.nodeid for report in terminalreporter.getreports(outcome)] for outcome in ("passed", "failed", "error")}
    lines = tally(ids["passed"], ids["failed"] + ids["error"])
    if lines:
        terminalreporter.section("attacks")
        for line in lines:
            terminalreporter.write_line(line)
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome)]
    faults = faults_of(found for report in reports if report.when == "call" for found in report.user_properties)
    if faults is not None:
        terminalreporter.write_line(faults)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: turn(item.path))


@pytest.fixture
def stack() -> Stack:
    return Stack(App(), "Stack")


@pytest.fixture
def network(stack: Stack) -> ClusterNetwork:
    return ClusterNetwork(stack, "Network", availability_zone_id=ZONE)


@pytest.fixture
def lustre(stack: Stack, network: ClusterNetwork) -> LustreStorage:
    return LustreStorage(stack, "Lustre", network=network)


@pytest.fixture
def make_stack() -> Callable[..., Stack]:
    """A stack in a region, or in none."""

    def make(region: str | None = None, account: str | None = "123456789012") -> Stack:
        env = None if region is None else Environment(account=account, region=region)
        return Stack(App(), "Stack", env=env)

    return make


def resources(stack: Stack, resource_type: str | None = None) -> dict[str, Any]:
    """Resources of a synthesized stack by logical id, all or those of one type."""
    template = synthesize(stack).get("Resources", {})
    return {id: resource for id, resource in template.items() if resource_type in (None, resource["Type"])}


def synthesize(stack: Stack) -> dict[str, Any]:
    app = stack.node.root
    assert isinstance(app, App)
    template: dict[str, Any] = app.synth(force=True).get_stack_artifact(stack.artifact_id).template
    assert list(_without_row(template)) == []
    return template


def _without_row(template: dict[str, Any]) -> Iterator[str]:
    """Properties without a row in the plan's table: the effect of their change is unknown."""
    for resource in template.get("Resources", {}).values():
        for name in resource.get("Properties", {}):
            if not has_row(resource["Type"], (name,)):
                yield f"{resource['Type']} {name}"


def only(stack: Stack, resource_type: str) -> dict[str, Any]:
    """The one resource of a type."""
    found = resources(stack, resource_type)
    assert len(found) == 1, f"{len(found)} of {resource_type}"
    resource: dict[str, Any] = next(iter(found.values()))
    return resource
