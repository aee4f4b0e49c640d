from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack

from hyperpod_constructs import ClusterNetwork, FileSystemFields, LustreRootSquashConfiguration, LustreStorage
from tests.conftest import ZONE, only, resources

FIELDS = "Custom::HyperPodFileSystemFields"


@pytest.fixture
def lustre(stack: Stack) -> LustreStorage:
    return LustreStorage(stack, "Lustre", network=ClusterNetwork(stack, "Network", availability_zone_id=ZONE))


def statements(stack: Stack) -> list[dict[str, Any]]:
    (policy,) = (policy for id, policy in resources(stack, "AWS::IAM::Policy").items() if id.startswith("FieldsPolicy"))
    found: list[dict[str, Any]] = policy["Properties"]["PolicyDocument"]["Statement"]
    return found


def test_it_names_the_file_system_and_may_update_no_other(stack: Stack, lustre: LustreStorage) -> None:
    squash = LustreRootSquashConfiguration(root_squash="65534:65534", no_squash_nids=["10.0.[2-10].[1-255]@tcp"])
    FileSystemFields(stack, "Fields", file_system=lustre, root_squash=squash)
    properties = only(stack, FIELDS)["Properties"]
    identifier = stack.resolve(lustre.file_system_id)
    assert (properties["FileSystemId"], properties["RootSquash"]) == (identifier, "65534:65534")
    assert (properties["NoSquashNids"], properties["TimeoutSeconds"]) == (["10.0.[2-10].[1-255]@tcp"], 3600)
    look, update = statements(stack)
    assert (look["Action"], look["Resource"]) == ("fsx:DescribeFileSystems", "*")
    assert update["Action"] == "fsx:UpdateFileSystem"
    assert update["Resource"]["Fn::Join"][1][-2:] == [":fsx:us-west-2:123456789012:file-system/", identifier]


def test_no_exempt_clients_are_no_property(stack: Stack) -> None:
    existing = LustreStorage.from_attributes(file_system_id="fs-01234567", mount_name="abc")
    FileSystemFields(stack, "Fields", file_system=existing, root_squash=LustreRootSquashConfiguration(root_squash="1:2"))
    assert "NoSquashNids" not in only(stack, FIELDS)["Properties"]


def test_two_file_systems_share_the_functions(stack: Stack) -> None:
    squash = LustreRootSquashConfiguration(root_squash="1:2")
    for name in ("fs-01234567", "fs-01234568"):
        existing = LustreStorage.from_attributes(file_system_id=name, mount_name="abc")
        FileSystemFields(stack, name, file_system=existing, root_squash=squash)
    assert len([id for id in resources(stack, "AWS::Lambda::Function") if "OnEvent" in id and "Framework" not in id]) == 1


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("nobody", "root_squash is 'nobody'; allowed: the ids of a user and a group, UID:GID, in digits; write root_squash="),
        ("0:65534", "allowed: two ids other than 0, or 0:0, which turns root squash off"),
        ("4294967295:1", "allowed: ids from 0 to 4294967294"),
        ("٣:٣", "in digits"),
    ],
)
def test_fails_on_ids_that_fsx_refuses(ids: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^LustreRootSquashConfiguration") as caught:
        LustreRootSquashConfiguration(root_squash=ids)
    assert message in str(caught.value)


def test_fails_on_clients_that_fsx_refuses(stack: Stack) -> None:
    with pytest.raises(ValueError, match=r"no_squash_nids is '10.0.1.6@o2ib'; allowed: the address of a client"):
        LustreRootSquashConfiguration(root_squash="1:1", no_squash_nids=["10.0.1.6@o2ib"])
    with pytest.raises(ValueError, match=r"no_squash_nids has 65 items; allowed: at most 64; write ranges such as"):
        LustreRootSquashConfiguration(root_squash="1:1", no_squash_nids=["10.0.1.6@tcp"] * 65)
    token = CfnParameter(stack, "Ids").value_as_string
    assert LustreRootSquashConfiguration(root_squash=token, no_squash_nids=[token]).root_squash == token
