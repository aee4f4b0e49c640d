from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import Case, edited
from tests.rules.catalogue.templates import Template, eks, slurm
from tests.rules.catalogue.test_eks import CHART

POLICY = {
    "Type": "AWS::SageMaker::ClusterSchedulerConfig",
    "Properties": {"Name": "policy", "ClusterArn": {"Ref": "Cluster"}, "SchedulerConfig": {"FairShare": "Enabled"}},
}
GOVERNED = edited(
    eks(),
    {
        "Governance": {
            "Type": "AWS::EKS::Addon",
            "DependsOn": "Cluster",
            "Properties": {"AddonName": "amazon-sagemaker-hyperpod-taskgovernance", "ClusterName": {"Ref": "Control"}},
        },
        "Policy": {**POLICY, "DependsOn": "Governance"},
    },
)


def chart(release: str) -> Template:
    properties: dict[str, Any] = {**CHART["Properties"], "Release": release}
    return {"Type": CHART["Type"], "Properties": properties}


CASES = [
    Case("HP-GOV-001", slurm(), {"Policy": POLICY}, {}),
    Case("HP-GOV-002", GOVERNED, {"Policy": POLICY}, {}),
    Case("HP-GOV-003", GOVERNED, {"Queues": chart("kueue")}, {"Queues": chart("cert-manager")}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()
