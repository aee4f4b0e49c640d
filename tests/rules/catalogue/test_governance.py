from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import CHART, Template, eks, findings, rules_of, slurm

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


HYPERPOD = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefgh1234"
DIVIDED = edited(
    GOVERNED,
    {"Chart/Values": '{"gpu-operator": {"enabled": true}, "nvidia-device-plugin": {"devicePlugin": {"enabled": false}}}'},
)


def chart(release: str) -> Template:
    properties: dict[str, Any] = {**CHART["Properties"], "Release": release}
    return {"Type": CHART["Type"], "Properties": properties}


def quota(team: str = "a", *, after: str = "Policy", **given: Any) -> Template:
    """Two nodes of the accelerated type, of which the cluster has two."""
    config: dict[str, Any] = {"ComputeQuotaResources": [given.pop("entry", {"InstanceType": P5, "Count": 2})]}
    sharing = given.pop("sharing", None)
    return {
        "Type": "AWS::SageMaker::ComputeQuota",
        "DependsOn": [after, "Governance"],
        "Properties": {
            "Name": team,
            "ClusterArn": {"Fn::GetAtt": ["Cluster", "ClusterArn"]},
            "ComputeQuotaConfig": config if sharing is None else {**config, "ResourceSharingConfig": sharing},
            "ComputeQuotaTarget": {"TeamName": team},
            **given,
        },
    }


P5, M5 = "ml.p5.48xlarge", "ml.m5.2xlarge"
SCALED = {
    "Cluster/AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"},
    "Cluster/ClusterRole": "arn:aws:iam::123456789012:role/scaling",
}
CLASSES = [{"Name": "high", "Weight": 90}, {"Name": "low", "Weight": 10}]

SMALL, LARGE = {"InstanceType": P5, "Count": 1}, {"InstanceType": P5, "Count": 3}


def part(name: str) -> dict[str, Any]:
    return {"InstanceType": P5, "AcceleratorPartition": {"Type": name, "Count": 8}}


CASES = [
    Case("HP-GOV-001", slurm(), {"Policy": POLICY}, {}),
    Case("HP-GOV-002", GOVERNED, {"Policy": POLICY}, {}),
    Case("HP-GOV-002", GOVERNED, {"Governance": REMOVED, "Policy": POLICY}, {}),
    Case(
        "HP-GOV-002",
        DIVIDED,
        {"Governance": REMOVED, "Policy": POLICY, "Quota": {**quota(), "DependsOn": "Policy"}},
        {"Quota": quota(after="Policy")},
    ),
    Case("HP-GOV-003", GOVERNED, {"Queues": chart("kueue")}, {"Queues": chart("cert-manager")}),
    Case(
        "HP-GOV-004",
        GOVERNED,
        {
            "Policy": REMOVED,
            "Quota": quota(after="Governance"),
            "Other": quota("b", after="Governance", entry={"InstanceType": M5, "Count": 1}),
        },
        {"Quota": quota()},
    ),
    Case(
        "HP-GOV-004",
        GOVERNED,
        {"Policy": REMOVED, "Quota": quota(after="Governance")},
        {"Policy/ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/0123456789ab", "Quota": quota()},
    ),
    Case("HP-REF-012", GOVERNED, {"Policy/ClusterArn": {"Fn::GetAtt": ["Control", "Arn"]}}, {}),
    Case(
        "HP-SCH-004",
        GOVERNED,
        {"Policy/ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/x"},
        {"Policy/ClusterArn": HYPERPOD},
    ),
    Case("HP-GOV-005", DIVIDED, {"Quota": quota(entry=part("mig-1g.5gb"))}, {"Quota": quota(entry=part("mig-1g.10gb"))}),
    Case(
        "HP-GOV-006",
        GOVERNED,
        {"Quota": quota(entry={"InstanceType": P5})},
        {"Quota": quota(entry={"InstanceType": P5, "VCpu": 8})},
    ),
    Case("HP-GOV-006", GOVERNED, {"Quota": quota(entry={"InstanceType": P5, "Count": 1, "Accelerators": 4})}, {}),
    Case(
        "HP-GOV-006",
        GOVERNED,
        {"Quota": quota(sharing={"Strategy": "Lend", "BorrowLimit": 20})},
        {"Quota": quota(sharing={"Strategy": "LendAndBorrow", "BorrowLimit": 20})},
    ),
    Case(
        "HP-GOV-010",
        GOVERNED,
        {"Quota": quota(sharing={"Strategy": "LendAndBorrow", "BorrowLimit": 501})},
        {"Quota": quota(sharing={"Strategy": "LendAndBorrow", "BorrowLimit": 500})},
    ),
    Case(
        "HP-GOV-010",
        GOVERNED,
        {"Quota": quota(sharing={"Strategy": "LendAndBorrow", "BorrowLimit": 0})},
        {"Quota": quota(sharing={"Strategy": "LendAndBorrow", "BorrowLimit": 1})},
    ),
    Case("HP-GOV-012", GOVERNED, {"Quota": quota("hyperpod-ns-vision")}, {"Quota": quota("vision")}),
    Case("HP-GOV-006", GOVERNED, {"Quota": quota(sharing={"Strategy": "Lend", "BorrowLimit": 501})}, {}),
    Case("HP-GOV-007", GOVERNED, {"Quota": quota(entry={"InstanceType": "ml.g5.xlarge", "Count": 1})}, {}),
    Case(
        "HP-GOV-007",
        GOVERNED,
        {
            "Quota": quota(
                sharing={"Strategy": "LendAndBorrow", "AbsoluteBorrowLimits": [{"InstanceType": "ml.g5.xlarge", "Count": 1}]}
            )
        },
        {"Quota": quota(sharing={"Strategy": "LendAndBorrow", "AbsoluteBorrowLimits": [{"InstanceType": M5, "Count": 1}]})},
    ),
    Case(
        "HP-GOV-008",
        GOVERNED,
        {"Quota": quota(), "Other": quota("b", entry={"InstanceType": P5, "Accelerators": 1})},
        {"Quota": quota()},
    ),
    Case("HP-GOV-008", GOVERNED, {"Quota": quota(entry=LARGE)}, {"Quota": quota(entry=LARGE), **SCALED}),
    Case("HP-GOV-008", GOVERNED, {"Quota": quota(entry=LARGE)}, {"Quota": quota(entry=LARGE, ActivationState="Disabled")}),
    Case(
        "HP-GOV-008",
        GOVERNED,
        {"Quota": quota(entry=LARGE)},
        {"Quota": quota(entry=LARGE), "Quota/.Metadata": {"hyperpod:beyond-capacity": True}},
    ),
    Case("HP-LIM-004", GOVERNED, {"Second": {**POLICY, "DependsOn": "Governance"}}, {}),
    Case(
        "HP-LIM-004",
        GOVERNED,
        {"Quota": quota(entry=SMALL), "Other": quota(entry=SMALL)},
        {"Quota": quota(entry=SMALL), "Other": quota("b", entry=SMALL)},
    ),
    Case(
        "HP-SCH-007",
        GOVERNED,
        {"Policy/SchedulerConfig/PriorityClasses": [*CLASSES, {"Name": "high", "Weight": 20}]},
        {"Policy/SchedulerConfig/PriorityClasses": CLASSES},
    ),
]


def test_the_quota_that_is_too_large_alone_is_named() -> None:
    beyond = {"Large": quota("b", entry={"InstanceType": P5, "Count": 3}), "Quota": quota(entry={"InstanceType": P5, "Count": 1})}
    assert [(one.rule, one.resource) for one in findings(edited(GOVERNED, beyond))] == [("HP-GOV-008", "Large")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize(
    ("entry", "given"),
    [
        ({"InstanceType": {"Ref": "Type"}, "Count": 1000}, {}),
        ({"InstanceType": P5, "Count": {"Ref": "Number"}}, {}),
        ({"InstanceType": P5, "Count": 1000}, {"Cluster/InstanceGroups/0/InstanceType": {"Ref": "Type"}}),
        ({"InstanceType": P5, "Count": 1000}, {"Cluster/InstanceGroups/1/InstanceCount": {"Ref": "Number"}}),
        ({"InstanceType": P5, "AcceleratorPartition": {"Type": {"Ref": "Type"}, "Count": 1}}, {}),
    ],
)
def test_what_only_the_deployment_knows_is_not_judged(entry: dict[str, Any], given: dict[str, Any]) -> None:
    template = edited(GOVERNED, {"Quota": quota(entry=entry), **given})
    template["Parameters"] = {"Type": {"Type": "String"}, "Number": {"Type": "Number"}}
    assert rules_of(template) == []


def test_a_message_has_the_teams_and_the_amounts() -> None:
    template = edited(GOVERNED, {"Quota": quota(), "Other": quota("b", entry={"InstanceType": P5, "Accelerators": 1})})
    (found,) = findings(template)
    assert found.message == "the quotas of ml.p5.48xlarge guarantee 17 accelerators (a 16, b 1); the cluster has 16"
