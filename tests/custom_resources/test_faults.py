"""Every fault at each API call of each handler: nothing leaks, nothing of others is touched, and the next operation works."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pytest

from tests.custom_resources.case import all_cases, handler_modules
from tests.custom_resources.engine import StoppedError
from tests.custom_resources.needs import elsewhere
from tests.custom_resources.synthesized import listed
from tests.custom_resources.tally import FAULTS
from tests.custom_resources.trial import OPERATIONS, Operation, Trial

CASES = {case.name: case for case in all_cases()}
by_case = pytest.mark.parametrize("trial", CASES, indirect=True, scope="module")
Recorder = Callable[[str, object], None]
by_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=str)


@pytest.fixture(scope="module")
def trial(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    trial = Trial(CASES[request.param], tmp_path_factory.mktemp("assembly"))
    logging.getLogger("custom_resource").setLevel(logging.CRITICAL)
    yield trial
    logging.getLogger("custom_resource").setLevel(logging.INFO)
    trial.close()


def test_every_handler_has_a_case() -> None:
    assert sorted(CASES) == sorted(handler_modules()), "write tests/custom_resources/cases/<name of the handler's module>.py"


@by_case
@by_operation
def test_operation(trial: Trial, operation: Operation) -> None:
    """Without a fault."""
    if operation not in trial.operations:
        assert trial.case.not_renamed
        return
    clean = trial.clean(operation)
    expected = operation.variant.value == "broken" and operation.kind not in trial.case.survives
    assert (clean.outcome.error is not None) == expected, clean.outcome.error
    assert trial.case.failure in (clean.outcome.error or trial.case.failure)
    if operation.kind == "Update" and not expected:
        assert (clean.outcome.physical_id != clean.before) == (operation.variant.value == "renamed")
    assert any(trial.clean(each).calls for each in trial.operations), "no operation calls anything"


@by_case
def test_every_permission_is_needed_and_none_is_missing(trial: Trial) -> None:
    assert not [action for action in trial.actions if "*" in action], "write each action out"
    silent = [action for action in trial.actions if not any(action in error for error in trial.errors_without(action))]
    assert silent == sorted(trial.case.unneeded), "no error names them: remove them, or write the reason into `unneeded`"
    missing = [error for error in trial.errors_without("") if "is not authorized to perform" in error]
    assert not missing


@by_case
def test_every_resource_of_the_permissions_is_right_and_no_wider_than_needed(trial: Trial) -> None:
    variants = list(trial.synthesized)
    asked = [(need, trial.permitted(variant)) for variant in variants for need in trial.needs(variant)]
    assert not [need for need, statements in asked if not need.allowed(statements)], "the statement names another resource"
    wide = {need.action for need, statements in asked for other in need.of_others() if other.allowed(statements)}
    assert wide == set(trial.case.wide), "allowed for what is another's: name the resource, or write the reason into `wide`"


@by_case
def test_every_resource_of_the_permissions_is_needed(trial: Trial) -> None:
    """In some variant, the policy with another one in its place refuses a call."""
    needed: dict[tuple[str, int], bool] = {}
    for variant, synthesized in trial.synthesized.items():
        asked = [need for need in trial.needs(variant) if need.allowed(synthesized.statements)]
        for statement, place, moved in elsewhere(synthesized.statements):
            key = " and ".join(listed(statement["Action"])), place
            needed[key] = needed.get(key, False) or not all(need.allowed(moved) for need in asked)
    assert not [key for key, is_needed in needed.items() if not is_needed]


@by_case
@by_operation
def test_survives_faults(trial: Trial, operation: Operation, record_property: Recorder) -> None:
    faults = trial.faults(operation) if operation in trial.operations else ()
    tried = {f"{operation}, {fault.name}": partial(trial.survive, operation, fault) for fault in faults}
    survive(trial, tried, record_property)


@by_case
def test_survives_orders(trial: Trial, record_property: Recorder) -> None:
    survive(trial, {name: partial(trial.survive_order, name) for name, _ in trial.orders()}, record_property)


def survive(trial: Trial, tried: Mapping[str, Callable[[], None]], record_property: Recorder) -> None:
    problems = []
    for name, attempt in tried.items():
        try:
            attempt()
        except (AssertionError, StoppedError) as problem:
            problems.append(f"{name}: {problem}")
            trial.restart()
    record_property(FAULTS, (len(tried), len(tried) - len(problems)))
    assert not problems, "\n".join([f"{len(problems)} of {len(tried)}", *problems])
