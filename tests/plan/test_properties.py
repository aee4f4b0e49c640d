"""Random and hostile templates: a plan never crashes, and never sees a difference in equal ones."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperpod_constructs.cost.change import cost_change
from hyperpod_constructs.cost.prices import Prices
from hyperpod_constructs.facts.data_holders import DATA_HOLDERS
from hyperpod_constructs.plan.plan import plan
from hyperpod_constructs.plan.table import OURS
from hyperpod_constructs.rules.data_loss import data_loss_violations
from hyperpod_constructs.templates.model import Model

_KEYS = ("Ref", "Fn::GetAtt", "Fn::Sub", "Fn::If", "Fn::ImportValue", "InstanceGroupName", "InstanceCount", "Key", "Value", "a")
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-10, 5000),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(("A", "B", "workers")),
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(_KEYS), inner, max_size=3)),
    max_leaves=8,
)
_TYPES = sorted({*OURS, *DATA_HOLDERS, "AWS::IAM::Role", "AWS::No::Such"})


@st.composite
def _resources(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(_TYPES))
    names = sorted({row.path.split("/")[0] for row in OURS.get(kind, ())}) or ["Name"]
    resource = {"Type": kind, "Properties": draw(st.dictionaries(st.sampled_from(names), _VALUES, max_size=4))}
    for policy in ("DeletionPolicy", "UpdateReplacePolicy", "Metadata"):
        if draw(st.booleans()):
            resource[policy] = draw(st.one_of(st.sampled_from(("Retain", "Delete", "Snapshot")), _VALUES))
    return resource


_TEMPLATES = st.fixed_dictionaries({"Resources": st.dictionaries(st.sampled_from("ABCD"), _resources(), max_size=4)})


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(old=_TEMPLATES, new=_TEMPLATES)
def test_any_two_templates_have_a_plan(old: dict[str, Any], new: dict[str, Any]) -> None:
    before, after = Model.of({"T": old}), Model.of({"T": new})
    found = plan(before, after)
    json.dumps([row.to_dict() for row in found.rows])
    assert found.exit_code in (0, 3, 4, 5)
    assert bool(data_loss_violations(before, after)) == any(row.effect == "data loss" and row.allowed is None for row in found.rows)
    cost_change(before, after, found, Prices())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(template=_TEMPLATES)
def test_equal_templates_have_an_empty_plan(template: dict[str, Any]) -> None:
    assert plan(Model.of({"T": template}), Model.of({"T": copy.deepcopy(template)})).rows == ()
