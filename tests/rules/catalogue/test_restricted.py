from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import eks

FILES = {"FSxLustreConfig": {"SizeInGiB": 1200, "PerUnitStorageThroughput": 250}}
SHARED = {"SharedEnvironmentConfig": {"FSxLustreDeletionPolicy": "Keep", **FILES}}
NOVA: dict[str, Any] = {
    "InstanceGroupName": "nova",
    "InstanceType": "ml.p5.48xlarge",
    "InstanceCount": 1,
    "ExecutionRole": {"Fn::GetAtt": ["Role", "Arn"]},
    "EnvironmentConfig": FILES,
}
WITH_NOVA = edited(eks(), {"Cluster/RestrictedInstanceGroups": [NOVA]})
GROUP = "Cluster/RestrictedInstanceGroups/0"
SUBNETS = [{"Ref": "NodeSubnet"}, "subnet-0123456789abcdef0"]
NETWORK = {"SecurityGroupIds": [{"Fn::GetAtt": ["NodeGroup", "GroupId"]}]}

CASES = [
    Case(
        "HP-RIG-001",
        WITH_NOVA,
        {f"{GROUP}/EnvironmentConfig": REMOVED},
        {f"{GROUP}/EnvironmentConfig": REMOVED, "Cluster/RestrictedInstanceGroupsConfig": SHARED},
    ),
    Case(
        "HP-RIG-001",
        WITH_NOVA,
        {f"{GROUP}/EnvironmentConfig": {}},
        {f"{GROUP}/EnvironmentConfig": {"Fn::ImportValue": "Environment"}},
    ),
    Case(
        "HP-RIG-002",
        WITH_NOVA,
        {f"{GROUP}/OverrideVpcConfig": {**NETWORK, "Subnets": SUBNETS}},
        {f"{GROUP}/OverrideVpcConfig": {**NETWORK, "Subnets": SUBNETS[:1]}},
    ),
    Case(
        "HP-RIG-002",
        WITH_NOVA,
        {"Cluster/VpcConfig/Subnets": SUBNETS},
        {"Cluster/VpcConfig/Subnets": SUBNETS, f"{GROUP}/OverrideVpcConfig": {**NETWORK, "Subnets": SUBNETS[:1]}},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()
