"""Names that a template writes as text, and that a resource beside nearly has."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.near_names import WHOLES
from hyperpod_constructs.templates.model import Model

CLUSTER = "AWS::SageMaker::Cluster"


@pytest.mark.parametrize(("name", "found"), [("nodes-updates", 1), ("nodes-update", 0), ({"Ref": "Alarm"}, 0), ("of-others", 0)])
@pytest.mark.parametrize("groups", ["InstanceGroups", "RestrictedInstanceGroups"])
def test_alarms_that_undo_an_update_of_nodes(groups: str, name: Any, found: int) -> None:
    update = {"DeploymentConfig": {"AutoRollbackConfiguration": [{"AlarmName": name}]}}
    resources = {
        "Nodes": {"Type": CLUSTER, "Properties": {groups: [{"ScheduledUpdateConfig": update}]}},
        "Alarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": {"AlarmName": "nodes-update"}},
    }
    (nodes,) = Model.of({"t": {"Resources": resources}}).resources(CLUSTER)
    assert len(list(WHOLES[CLUSTER](nodes))) == found
