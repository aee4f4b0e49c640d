from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.raw import raw_template
from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import eks, slurm

WORKERS = "Cluster/InstanceGroups/2"
ACCELERATED = "Cluster/InstanceGroups/1"
SEVERAL = {"InstanceTypes": ["ml.p5.48xlarge", "ml.p5en.48xlarge"]}
PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/research"
KEY = "arn:aws:kms:us-west-2:123456789012:key/1"
ALL_OR_NOTHING = {"Cluster/NodeProvisioningMode": REMOVED}

CASES = [
    Case(
        "HP-CAP-001",
        slurm(),
        {f"{WORKERS}/InstanceRequirements": SEVERAL},
        {f"{WORKERS}/InstanceRequirements": SEVERAL, f"{WORKERS}/InstanceType": {"Ref": "AWS::NoValue"}},
    ),
    Case("HP-CAP-001", slurm(), {f"{WORKERS}/InstanceType": REMOVED}, {f"{WORKERS}/InstanceType": "ml.trn1.32xlarge"}),
    *(
        Case("HP-CAP-012", slurm(), {f"{WORKERS}/InstanceType": name}, {f"{WORKERS}/InstanceType": "ml.trn1.32xlarge"})
        for name in ("ml.inf2.48xlarge", "ml.trn1.32xl", "p5.48xlarge")
    ),
    Case(
        "HP-CAP-012",
        slurm(),
        {
            f"{WORKERS}/InstanceRequirements": {"InstanceTypes": ["ml.p5.48xlarge", "ml.inf2.48xlarge"]},
            f"{WORKERS}/InstanceType": REMOVED,
        },
        {f"{WORKERS}/InstanceRequirements": SEVERAL, f"{WORKERS}/InstanceType": REMOVED},
    ),
    Case(
        "HP-CAP-002",
        slurm(),
        {f"{WORKERS}/InstanceRequirements": SEVERAL, f"{WORKERS}/InstanceType": REMOVED, **ALL_OR_NOTHING},
        ALL_OR_NOTHING,
    ),
    Case(
        "HP-SCH-007",
        slurm(),
        {
            f"{WORKERS}/InstanceRequirements": {"InstanceTypes": ["ml.p5.48xlarge", "ml.p5.48xlarge"]},
            f"{WORKERS}/InstanceType": REMOVED,
        },
        {f"{WORKERS}/InstanceRequirements": SEVERAL, f"{WORKERS}/InstanceType": REMOVED},
    ),
    Case(
        "HP-CAP-004",
        eks(),
        {f"{ACCELERATED}/CapacityRequirements": {"Spot": {}, "OnDemand": {}}},
        {f"{ACCELERATED}/CapacityRequirements": {"Spot": {}}},
    ),
    Case(
        "HP-CAP-004",
        eks(),
        {f"{ACCELERATED}/CapacityRequirements": {"Spot": {}}, f"{ACCELERATED}/TrainingPlanArn": PLAN},
        {f"{ACCELERATED}/CapacityRequirements": {"OnDemand": {}}, f"{ACCELERATED}/TrainingPlanArn": PLAN},
    ),
    Case(
        "HP-CAP-005",
        slurm(),
        {f"{WORKERS}/CapacityRequirements": {"Spot": {}}},
        {f"{WORKERS}/CapacityRequirements": {"OnDemand": {}}},
    ),
    Case(
        "HP-CAP-005",
        eks(),
        {f"{ACCELERATED}/CapacityRequirements": {"Spot": {}}, **ALL_OR_NOTHING},
        {f"{ACCELERATED}/CapacityRequirements": {"Spot": {}}},
    ),
    Case(
        "HP-CAP-006",
        slurm(),
        {"Cluster/Orchestrator/Slurm/SlurmConfigStrategy": "Merge"},
        {"Cluster/Orchestrator/Slurm/SlurmConfigStrategy": "Merge", **ALL_OR_NOTHING},
    ),
    Case(
        "HP-CAP-007",
        slurm(),
        {"Cluster/Orchestrator": REMOVED, **{f"Cluster/InstanceGroups/{index}/SlurmConfig": REMOVED for index in range(3)}},
        {
            "Cluster/Orchestrator": REMOVED,
            **{f"Cluster/InstanceGroups/{index}/SlurmConfig": REMOVED for index in range(3)},
            **ALL_OR_NOTHING,
        },
    ),
    Case(
        "HP-CAP-008",
        slurm(),
        {f"{WORKERS}/InstanceStorageConfigs/0/EbsVolumeConfig/VolumeKmsKeyId": KEY, **ALL_OR_NOTHING},
        {f"{WORKERS}/InstanceStorageConfigs/0/EbsVolumeConfig/VolumeKmsKeyId": KEY},
    ),
    Case(
        "HP-CAP-009",
        eks(),
        {"Cluster/AutoScaling": {"Mode": "Enable"}},
        {"Cluster/AutoScaling": {"Mode": "Disable"}},
    ),
    Case(
        "HP-CAP-010",
        slurm(),
        {f"{WORKERS}/InstanceType": "ml.g5.48xlarge", f"{WORKERS}/TrainingPlanArn": PLAN},
        {f"{WORKERS}/TrainingPlanArn": PLAN},
    ),
    Case(
        "HP-CAP-010",
        slurm(),
        {f"{WORKERS}/InstanceType": "ml.g6.2xlarge", f"{WORKERS}/TrainingPlanArn": PLAN},
        {f"{WORKERS}/InstanceType": "ml.g6.4xlarge", f"{WORKERS}/TrainingPlanArn": PLAN},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize(("region", "rules"), [("us-west-2", []), ("us-east-1", ["HP-REG-001"]), (None, [])])
def test_a_training_plan_is_of_the_region_of_the_stack(region: str | None, rules: list[str]) -> None:
    body = raw_template(edited(slurm(), {f"{WORKERS}/TrainingPlanArn": PLAN}))
    model = Model([Document(name="t", body=body, file=Path("t"), environment=Environment(region=region))])
    assert [finding.rule for finding in check(model) if finding.path.endswith("TrainingPlanArn")] == rules
