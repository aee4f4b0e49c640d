from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack

from hyperpod_constructs import ClusterNetwork, OpenZfsQuota, OpenZfsQuotas, OpenZfsQuotaType, OpenZfsStorage
from tests.conftest import only, resources

QUOTAS = "Custom::HyperPodOpenZfsQuotas"
ALICE = OpenZfsQuota(id=10001, storage_capacity_quota_gib=100)


def statements(stack: Stack) -> list[dict[str, Any]]:
    (policy,) = (policy for id, policy in resources(stack, "AWS::IAM::Policy").items() if id.startswith("QuotasPolicy"))
    found: list[dict[str, Any]] = policy["Properties"]["PolicyDocument"]["Statement"]
    return found


def test_it_names_the_volume_and_may_update_no_other(stack: Stack, network: ClusterNetwork) -> None:
    homes = OpenZfsStorage(stack, "Homes", network=network)
    team = OpenZfsQuota(type=OpenZfsQuotaType.GROUP, id=10002, storage_capacity_quota_gib=1000)
    OpenZfsQuotas(stack, "Quotas", file_system=homes, quotas=[ALICE, team])
    properties = only(stack, QUOTAS)["Properties"]
    assert (properties["VolumeId"], properties["TimeoutSeconds"]) == (stack.resolve(homes.root_volume_id), 3600)
    assert properties["Quotas"] == [{"Type": "USER", "Id": 10001, "Gib": 100}, {"Type": "GROUP", "Id": 10002, "Gib": 1000}]
    look, update = statements(stack)
    assert (look["Action"], look["Resource"]) == ("fsx:DescribeVolumes", "*")
    assert update["Action"] == "fsx:UpdateVolume"
    assert update["Resource"]["Fn::Join"][1][-2:] == [":fsx:us-west-2:123456789012:volume/*/", properties["VolumeId"]]


def test_takes_an_imported_volume_and_tokens(stack: Stack) -> None:
    homes = OpenZfsStorage.from_attributes(file_system_id="fs-01234567", root_volume_id="fsvol-0123456789abcdef0")
    number = CfnParameter(stack, "Number", type="Number").value_as_number
    OpenZfsQuotas(stack, "Quotas", file_system=homes, quotas=[OpenZfsQuota(id=number, storage_capacity_quota_gib=number)])  # type: ignore[arg-type]
    properties = only(stack, QUOTAS)["Properties"]
    assert properties["VolumeId"] == "fsvol-0123456789abcdef0"
    assert properties["Quotas"] == [{"Type": "USER", "Id": {"Ref": "Number"}, "Gib": {"Ref": "Number"}}]


@pytest.mark.parametrize(
    ("root_volume_id", "quotas", "message"),
    [
        (None, [ALICE], "the imported file system has no root_volume_id; write OpenZfsStorage.from_attributes(root_volume_id=...)"),
        ("fsvol-0123456789abcdef0", [ALICE, ALICE], "2 quotas are of USER 10001; give each user and group one"),
        (
            "fsvol-0123456789abcdef0",
            [OpenZfsQuota(id=number, storage_capacity_quota_gib=1) for number in range(501)],
            "quotas has 501 items; allowed: 0 to 500",
        ),
    ],
)
def test_fails_on_what_fsx_refuses(stack: Stack, root_volume_id: str | None, quotas: list[OpenZfsQuota], message: str) -> None:
    homes = OpenZfsStorage.from_attributes(file_system_id="fs-01234567", root_volume_id=root_volume_id)
    with pytest.raises(ValueError, match=r"^Stack/Quotas: ") as caught:
        OpenZfsQuotas(stack, "Quotas", file_system=homes, quotas=quotas)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"id": -1, "storage_capacity_quota_gib": 1}, "OpenZfsQuota: id is -1; allowed: 0 to 2147483647; write id=0"),
        ({"id": 1, "storage_capacity_quota_gib": 0}, "storage_capacity_quota_gib is 0; allowed: 1 to 2147483647"),
    ],
)
def test_fails_on_what_is_no_quota(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^OpenZfsQuota: ") as caught:
        OpenZfsQuota(**values)
    assert message in str(caught.value)
