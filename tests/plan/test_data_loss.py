"""Data losses that a synthesis refuses."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs._support.metadata import ALLOW_DATA_LOSS
from hyperpod_constructs.facts.data_holders import DATA_HOLDERS
from hyperpod_constructs.plan import stateful
from hyperpod_constructs.rules.data_loss import data_loss_violations
from hyperpod_constructs.rules.finding import Finding, Level
from hyperpod_constructs.templates.model import Model
from tests.plan.templates import change, lustre, template


def violations(old: Any, new: Any) -> list[Finding]:
    return data_loss_violations(Model.of({"T": template(**old)}), Model.of({"T": template(**new)}))


def permitted(resource: dict[str, Any], reason: Any = "scratch data") -> dict[str, Any]:
    return {**resource, "Metadata": {ALLOW_DATA_LOSS: reason}}


def test_a_replacement_without_retention() -> None:
    (found,) = violations({"Files": lustre()}, {"Files": lustre(SubnetIds=["x"])})
    assert (found.rule, found.level, found.resource, found.path) == ("HP-LOSS-001", Level.ERROR, "Files", "Properties/SubnetIds")
    assert "loses data" in found.message
    assert "2400 GiB" in found.message
    assert "UpdateReplacePolicy: Retain" in found.fix
    assert "allow_data_loss=" in found.allowed


def test_a_removal_without_retention() -> None:
    (found,) = violations({"Files": lustre()}, {})
    assert found.path == ""
    assert found.message.startswith("the removal loses data")


def test_two_replacing_changes_make_one_finding() -> None:
    assert len(violations({"Files": lustre()}, {"Files": lustre(SubnetIds=["x"], KmsKeyId="y")})) == 1


def test_nothing_where_a_policy_keeps_the_data() -> None:
    assert violations({"Files": lustre(keep=True)}, {"Files": lustre(keep=True, SubnetIds=["x"])}) == []


def test_nothing_where_the_resource_permits_it() -> None:
    assert violations({"Files": lustre()}, {"Files": permitted(lustre(SubnetIds=["x"]))}) == []
    assert violations({"Files": permitted(lustre())}, {}) == []


def test_the_new_resource_permits_a_replacement() -> None:
    assert len(violations({"Files": permitted(lustre())}, {"Files": lustre(SubnetIds=["x"])})) == 1


def test_a_permission_needs_a_reason() -> None:
    for reason in ("", " ", True, None):
        assert len(violations({"Files": lustre()}, {"Files": permitted(lustre(SubnetIds=["x"]), reason)})) == 1


def test_a_permission_is_in_the_plan_and_not_in_its_exit_code() -> None:
    found = change(template(Files=lustre()), template(Files=permitted(lustre(SubnetIds=["x"]))))
    assert [row.allowed for row in found.rows] == ["scratch data"]
    assert found.exit_code == 0


def test_details_and_exceptions_belong_to_types_that_hold_data() -> None:
    assert {*stateful._DETAIL, *stateful._SURVIVES} <= DATA_HOLDERS.keys()
