"""The software for the scripts to set up, and the mistakes that synthesis refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Annotations, Match

from hyperpod_constructs import (
    ClusterInstanceType,
    ClusterNetwork,
    ExternalAccounting,
    HyperPodCluster,
    InstanceGroup,
    LifecycleMode,
    LifecycleScripts,
    LustreMount,
    LustreStorage,
    NodeHealth,
    NodeSoftware,
    NodeUser,
    OpenZfsMount,
    OpenZfsStorage,
    SlurmNodeType,
)
from hyperpod_constructs.cluster import configuration as node_configuration
from hyperpod_constructs.node_software import text as _node_text
from tests.conftest import resources
from tests.presets import ROOT

M5 = ClusterInstanceType.M5_XLARGE
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBf2 alice@laptop"
ALICE = NodeUser(name="alice", uid=10001)


def _groups(lustre: LustreStorage, *, workers_mount: bool = True) -> list[InstanceGroup]:
    mount = (LustreMount(file_system=lustre),)
    head = InstanceGroup(name="head", instance_type=M5, count=1, node_type=SlurmNodeType.CONTROLLER, file_systems=mount)
    return [head, InstanceGroup(name="workers", instance_type=M5, count=2, file_systems=mount if workers_mount else ())]


def test_homes_and_keys_are_on_a_file_system_of_every_group(lustre: LustreStorage) -> None:
    rendered = node_configuration.render(_groups(lustre), NodeSoftware(users=[ALICE]), "Automatic")
    software = rendered["software"]
    assert (software["shared_directory"], software["homes"]) == ("/fsx", "/fsx/home")
    assert software["users"] == [{"name": "alice", "uid": 10001, "gid": 10001, "groups": [], "sudo": False, "ssh_keys": []}]


@pytest.mark.parametrize(("homes", "expected"), [(None, "/home"), ("/fsx/people", "/fsx/people")])
def test_homes_are_on_an_openzfs_file_system_of_every_group(
    stack: Stack, network: ClusterNetwork, lustre: LustreStorage, homes: str | None, expected: str
) -> None:
    mounts = (LustreMount(file_system=lustre), OpenZfsMount(file_system=OpenZfsStorage(stack, "Homes", network=network)))
    groups = [replace(group, file_systems=mounts) for group in _groups(lustre)]
    software = node_configuration.render(groups, NodeSoftware(users=[ALICE], homes=homes), "Automatic")["software"]
    assert (software["shared_directory"], software["homes"]) == ("/fsx", expected)
    mixed = node_configuration.render([groups[0], *_groups(lustre)[1:]], NodeSoftware(users=[ALICE]), "Automatic")["software"]
    assert mixed["homes"] == "/fsx/home"


@pytest.mark.parametrize(
    ("kind", "gpus"),
    [
        (ClusterInstanceType.P5_48XLARGE, True),
        ([M5, ClusterInstanceType.G5_XLARGE], True),
        (ClusterInstanceType.TRN1_32XLARGE, False),
        (M5, False),
    ],
)
def test_groups_with_gpus_are_marked(kind: Any, gpus: bool) -> None:
    group = InstanceGroup(name="workers", instance_type=kind, count=2)
    rendered = node_configuration.render([group], None, "Automatic")
    assert ("gpus" in rendered["groups"]["workers"]) is gpus


def test_a_mount_says_whether_its_file_system_has_efa(stack: Stack, network: ClusterNetwork, lustre: LustreStorage) -> None:
    fast = LustreStorage(
        stack, "Fast", network=network, storage_capacity_gib=38400, per_unit_storage_throughput=125, efa_enabled=True
    )
    imported = LustreStorage.from_attributes(file_system_id="fs-01234567", mount_name="abc", efa_enabled=True)
    assert [LustreMount(file_system=one).describe().get("efa_enabled") for one in (lustre, fast, imported)] == [None, True, True]


def test_without_a_common_file_system_nothing_is_shared(lustre: LustreStorage) -> None:
    rendered = node_configuration.render(_groups(lustre, workers_mount=False), NodeSoftware(health=None), "None")
    assert not {"shared_directory", "homes", "health"} & rendered["software"].keys()
    assert rendered["cluster"] == {"node_recovery": "None"}


@pytest.mark.parametrize(
    ("software", "message"),
    [
        (
            NodeSoftware(shared_directory="/home"),
            "shared_directory is '/home', but not every group mounts it; all groups mount nothing",
        ),
        (
            NodeSoftware(homes="/home"),
            "homes are in '/home', but not on a file system of every group; all groups mount nothing; name a directory there",
        ),
        (NodeSoftware(users=[ALICE]), "has users, but the groups share no file system for their homes"),
    ],
)
def test_fails_where_the_groups_do_not_share(
    stack: Stack, network: ClusterNetwork, lustre: LustreStorage, software: NodeSoftware, message: str
) -> None:
    scripts = LifecycleScripts.from_asset(software=software)
    groups = _groups(lustre, workers_mount=False)
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=groups, lifecycle_scripts=scripts)
    [error] = Annotations.from_stack(stack).find_error("*", Match.any_value())
    assert message in str(error.entry.data)


@pytest.mark.parametrize(
    ("make", "changes", "message"),
    [
        (NodeUser, {"name": "Alice", "uid": 10001}, "an account's name is a lowercase letter or _"),
        (NodeUser, {"name": "alice", "uid": 0}, "uid 0 is not one of 1000 to 60000"),
        (NodeUser, {"name": "alice", "uid": 10001, "gid": 27}, "gid 27 is not one of"),
        (NodeUser, {"name": "alice", "uid": 10001, "ssh_keys": ["-----BEGIN OPENSSH PRIVATE KEY-----"]}, "holds a private key"),
        (NodeUser, {"name": "root", "uid": 10001}, "systems keep this name"),
        (NodeUser, {"name": "systemd-x", "uid": 10001}, "systems keep this name"),
        (NodeUser, {"name": "alice", "uid": 10001, "groups": ["docker,root"]}, "groups has 'docker,root'"),
        (NodeUser, {"name": "alice", "uid": 10001, "ssh_keys": [f"{KEY}\n{KEY}"]}, "is not one line with a public key"),
        (NodeUser, {"name": "alice", "uid": 10001, "ssh_keys": [f"{KEY}\u2028{KEY}"]}, "is not one line with a public key"),
        (NodeUser, {"name": "alice", "uid": 10001, "ssh_keys": [f"{KEY}\x1b[2J"]}, "is not one line with a public key"),
        (NodeUser, {"name": "alice", "uid": 10001, "ssh_keys": [""]}, "is not one line with a public key"),
        (NodeHealth, {"hang_seconds": 0}, "hang_seconds is 0; allowed: 1 or more"),
        (NodeHealth, {"checks_directory": "/opt/a\nExecStart=/bin/sh"}, "checks_directory is '/opt/a\\nExecStart=/bin/sh'"),
        (NodeSoftware, {"users": [ALICE, NodeUser(name="bob", uid=10001)]}, "two users have the uid 10001"),
        (NodeSoftware, {"users": [ALICE, NodeUser(name="alice", uid=10002)]}, "two users have the name alice"),
        (NodeSoftware, {"users": [ALICE, NodeUser(name="bob", uid=10002, gid=10001)]}, "two users have the gid 10001"),
        (NodeSoftware, {"shared_directory": "/fsx/../etc"}, "shared_directory is '/fsx/../etc'"),
        (NodeSoftware, {"shared_directory": "/fsx:/bin"}, "shared_directory is '/fsx:/bin'"),
        (NodeSoftware, {"sssd": "[sssd]\0"}, "sssd holds a control character"),
    ],
)
def test_fails_on_a_mistake_within_one_value(make: Any, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=rf"^{make.__name__}\b") as caught:
        make(**changes)
    assert message in str(caught.value)


def test_tokens_pass(stack: Stack) -> None:
    number = CfnParameter(stack, "Number", type="Number").value_as_number
    text = CfnParameter(stack, "Text").value_as_string
    rendered = NodeSoftware(users=[NodeUser(name=text, uid=number)], health=NodeHealth(hang_seconds=number)).render("/fsx")  # type: ignore[arg-type]
    assert stack.resolve(rendered["users"][0]["uid"]) == stack.resolve(rendered["health"]["hang_seconds"]) == {"Ref": "Number"}
    assert stack.resolve(rendered["users"][0]["name"]) == {"Ref": "Text"}


@pytest.mark.parametrize(
    "key", [KEY, f'command="/bin/true",no-pty {KEY}', "sk-ecdsa-sha2-nistp256@openssh.com AAAA", "ssh-rsa AAAA é"]
)
def test_a_line_of_authorized_keys_is_taken(key: str) -> None:
    assert NodeUser(name="alice", uid=10001, ssh_keys=[key]).ssh_keys == [key]


@pytest.mark.parametrize(("name", "value"), [("host", "db\nSlurmUser=root"), ("host", "-h"), ("name", "a b"), ("name", "a#")])
def test_fails_for_a_database_that_would_write_lines_of_its_own(stack: Stack, name: str, value: str) -> None:
    secret = secretsmanager.Secret.from_secret_name_v2(stack, "Secret", "password")
    with pytest.raises(ValueError, match=rf"^ExternalAccounting: {name} has "):
        ExternalAccounting(**{"host": "db", "secret": secret, name: value})  # type: ignore[arg-type]


def test_the_node_judges_by_the_same_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "lifecycle"))
    from node_setup import schema, software

    assert _node_text.PATH == schema.PATH
    for name in ("USER_NAME", "GROUP_NAME", "HOST", "DATABASE_NAME", "PUBLIC_KEY"):
        assert getattr(_node_text, name) == getattr(software, name)
    assert _node_text.RESERVED.split() == software.RESERVED.split()


def test_the_controller_may_read_the_password_of_its_database(stack: Stack, network: ClusterNetwork) -> None:
    secret = secretsmanager.Secret.from_secret_complete_arn(
        stack, "Password", "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf"
    )
    software = NodeSoftware(accounting=ExternalAccounting(host="db.example.com", secret=secret))
    head = InstanceGroup(
        name="head", instance_type=M5, count=1, node_type=SlurmNodeType.CONTROLLER, lifecycle_mode=LifecycleMode.ON_CREATE
    )
    scripts = LifecycleScripts.from_asset(software=software)
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[head], lifecycle_scripts=scripts)
    statements = [
        statement
        for policy in resources(stack, "AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]
    [granted] = [statement for statement in statements if statement["Action"] == "secretsmanager:GetSecretValue"]
    assert granted["Resource"] == "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf"
