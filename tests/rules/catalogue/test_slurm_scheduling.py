"""Slurm's partitions, QOS and accounts in the configuration of the nodes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.node_configuration import UPLOAD
from tests.rules.catalogue.cases import Case, edited
from tests.rules.catalogue.templates import Template, findings, slurm

GROUPS = {"head": {"node_type": "Controller"}, "workers": {"node_type": "Compute", "partition": "training"}}
RIGHT: dict[str, Any] = {
    "slurm_conf": {},
    "partitions": [{"name": "shared", "groups": ["workers"], "settings": {"AllowQos": "urgent"}}],
    "qos": [{"name": "urgent", "settings": {"Preempt": "normal"}}],
    "accounts": [{"name": "research", "parent": "root", "users": [], "settings": {"QOS": "normal,urgent"}}],
}


def configured(scheduling: Any) -> Any:
    """As CDK writes it: a text with a piece that only the deployment knows."""
    text = json.dumps({"version": 1, "mounts": "HOST", "groups": GROUPS, "scheduling": scheduling})
    before, _, after = text.partition("HOST")
    return {"Fn::Join": ["", [before, {"Fn::GetAtt": ["FileSystem", "DNSName"]}, after]]}


def base() -> Template:
    upload = {"Type": UPLOAD, "Properties": {"ServiceToken": "arn:aws:lambda:us-west-2:111122223333:function:upload"}}
    return edited(slurm(), {"Upload": upload})


def changed(key: str, index: int, **members: Any) -> dict[str, Any]:
    entries = [{**one, **members} if at == index else one for at, one in enumerate(RIGHT[key])]
    return {**RIGHT, key: entries}


WRONG = {
    "dev": changed("partitions", 0, name="dev"),
    "a group's partition": changed("partitions", 0, name="training"),
    "no group of workers": changed("partitions", 0, groups=["head"]),
    "an unknown QOS": changed("accounts", 0, settings={"QOS": "high"}),
    "an unknown parent": changed("accounts", 0, parent="nobody"),
    "a QOS that preempts itself": changed("qos", 0, settings={"Preempt": "urgent"}),
    "two of one name": {**RIGHT, "qos": [*RIGHT["qos"], *RIGHT["qos"]]},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_rule(wrong: dict[str, Any]) -> None:
    Case("HP-SLM-011", base(), {"Upload/Configuration": configured(wrong)}, {"Upload/Configuration": configured(RIGHT)}).check()


@pytest.mark.parametrize(
    "scheduling", [None, [], {}, {**RIGHT, "qos": [1]}, changed("partitions", 0, groups=[{}]), changed("accounts", 0, parent=None)]
)
def test_settings_of_another_form_are_not_judged(scheduling: Any) -> None:
    assert findings(edited(base(), {"Upload/Configuration": configured(scheduling)})) == []
