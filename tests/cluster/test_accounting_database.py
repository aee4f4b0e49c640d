"""A database of one's own for Slurm's accounting: limits, permissions, and what excludes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_rds as rds
from aws_cdk import aws_secretsmanager as secretsmanager

from hyperpod_constructs import (
    AccountingDatabase,
    ClusterInstanceType,
    ClusterNetwork,
    ExecutionRole,
    HyperPodCluster,
    InstanceGroup,
    LifecycleMode,
    LifecycleScripts,
    Orchestrator,
    SlurmNodeType,
)
from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.model import Model
from tests.conftest import only, resources, synthesize

ARN = "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf"
HEAD = InstanceGroup(name="head", node_type=SlurmNodeType.CONTROLLER, instance_type=ClusterInstanceType.M5_XLARGE, count=1)
WORKERS = InstanceGroup(name="workers", instance_type=ClusterInstanceType.M5_XLARGE, count=1)


def database(secret: Any, /, **changes: Any) -> AccountingDatabase:
    return AccountingDatabase(**{"endpoint": "db.example.com", "secret": secret, **changes})


def secret_of(stack: Stack, id: str = "Secret") -> secretsmanager.ISecret:
    return secretsmanager.Secret.from_secret_complete_arn(stack, id, ARN)


def with_database(stack: Stack, found: AccountingDatabase, **changes: Any) -> HyperPodCluster:
    given = {"orchestrator": Orchestrator.slurm(accounting_database=found), "instance_groups": [HEAD], **changes}
    return HyperPodCluster(stack, "Cluster", **given)


def rendered(stack: Stack) -> Any:
    return only(stack, "AWS::SageMaker::Cluster")["Properties"]["Orchestrator"]["Slurm"]["AccountingDatabase"]


def allowed(stack: Stack, action: str) -> list[Any]:
    policies = resources(stack, "AWS::IAM::Policy").values()
    statements = [one for policy in policies for one in policy["Properties"]["PolicyDocument"]["Statement"]]
    return [one["Resource"] for one in statements if one["Action"] == action]


def everything_set(stack: Stack) -> HyperPodCluster:
    """A cluster with every property of a database; the test that counts the typed leaves takes it too."""
    return with_database(stack, database(secret_of(stack), port=3307, name="slurm_acct_db"))


def test_every_property_is_rendered(stack: Stack) -> None:
    everything_set(stack)
    assert rendered(stack) == {"Endpoint": "db.example.com", "Port": 3307, "Name": "slurm_acct_db", "SecretArn": ARN}


def test_the_port_is_written_and_the_name_is_left_to_the_service(stack: Stack) -> None:
    with_database(stack, database(secret_of(stack)))
    assert rendered(stack) == {"Endpoint": "db.example.com", "Port": 3306, "SecretArn": ARN}


def test_the_role_reads_the_secret_and_decrypts_it_by_its_key(stack: Stack) -> None:
    secret = secretsmanager.Secret(stack, "Secret", encryption_key=kms.Key(stack, "Key"))
    with_database(stack, database(secret))
    assert allowed(stack, "secretsmanager:GetSecretValue") == [stack.resolve(secret.secret_arn)]
    assert allowed(stack, "kms:Decrypt") == [{"Fn::GetAtt": ["Key961B73FD", "Arn"]}]
    text = str(resources(stack, "AWS::SageMaker::Cluster"))
    assert "resolve:secretsmanager" not in text


def test_only_the_role_of_the_controller_reads_the_secret(stack: Stack) -> None:
    role = ExecutionRole(stack, "Workers")
    cluster = with_database(stack, database(secret_of(stack)), instance_groups=[HEAD, replace(WORKERS, execution_role=role)])
    readers = [
        policy["Properties"]["Roles"]
        for policy in resources(stack, "AWS::IAM::Policy").values()
        if "GetSecretValue" in str(policy["Properties"]["PolicyDocument"])
    ]
    assert readers == [[stack.resolve(cluster.execution_role.role_name)]]


def test_a_database_of_the_cdk_is_wired_by_its_connections(make_stack: Callable[..., Stack]) -> None:
    """No rule is broken then: the engine, the port, the way, the secret's keys and the role's permission."""
    stack = make_stack("us-west-2")
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")
    server = rds.DatabaseInstance(
        stack,
        "Database",
        engine=rds.DatabaseInstanceEngine.MARIADB,
        vpc=network.vpc,
        subnet_group=rds.SubnetGroup.from_subnet_group_name(stack, "Subnets", "accounting"),
        credentials=rds.Credentials.from_generated_secret("slurm"),
        storage_encrypted=True,
    )
    assert server.secret is not None
    found = database(server.secret, endpoint=server.db_instance_endpoint_address)
    cluster = with_database(stack, found, network=network)
    server.connections.allow_default_port_from(cluster)
    model = Model.of({"Stack": synthesize(stack)})
    assert [
        f"{one.rule}: {one.message}" for one in check(model) if one.rule.startswith(("HP-SLM", "HP-IAM", "HP-REACH", "HP-ROL"))
    ] == []


def test_a_database_elsewhere_needs_an_open_port(make_stack: Callable[..., Stack]) -> None:
    def found(*ports: ec2.Port) -> list[str]:
        stack = make_stack("us-west-2")
        network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4", egress_ports=ports)
        with_database(stack, database(secret_of(stack)), network=network)
        return [one.rule for one in check(Model.of({"Stack": synthesize(stack)}))]

    assert found() == ["HP-REACH-002"]
    assert found(ec2.Port.tcp(3306)) == []


def test_takes_tokens(stack: Stack) -> None:
    text = CfnParameter(stack, "Text").value_as_string
    number: Any = CfnParameter(stack, "Number", type="Number").value_as_number
    secret = secretsmanager.Secret.from_secret_complete_arn(stack, "Secret", text)
    with_database(stack, AccountingDatabase(endpoint=text, secret=secret, port=number, name=text))
    ref = {"Ref": "Text"}
    assert rendered(stack) == {"Endpoint": ref, "Port": {"Ref": "Number"}, "Name": ref, "SecretArn": ref}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"endpoint": "db.example.com:3306"}, "AccountingDatabase: endpoint is 'db.example.com:3306'; allowed: a host name or an"),
        ({"port": 0}, "port is 0; allowed: 1 to 65535; write port=1"),
        ({"port": 65_536}, "port is 65536; allowed: 1 to 65535; write port=65535"),
        ({"name": "slurm-acct"}, "'slurm-acct'; allowed: 1 to 64 letters, digits, '$' and '_'"),
        ({"secret": ARN}, f"secret is '{ARN}' (str); allowed: "),
    ],
)
def test_fails_at_once(stack: Stack, changes: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        database(secret_of(stack), **changes)


@pytest.mark.parametrize("by_name", [True, False])
def test_fails_for_a_secret_without_its_last_characters(stack: Stack, by_name: bool) -> None:
    make = secretsmanager.Secret
    secret = make.from_secret_name_v2(stack, "S", "slurm") if by_name else make.from_secret_partial_arn(stack, "S", ARN[:-7])
    with pytest.raises(ValueError, match="the ARN of the secret ends in 'slurm', without the hyphen and the six characters"):
        database(secret)


def test_fails_without_continuous_provisioning(stack: Stack) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Cluster: an accounting database of your own needs continuous provisioning"):
        with_database(stack, database(secret_of(stack)), node_provisioning_mode=None)


def test_fails_beside_scripts_that_set_accounting_up(stack: Stack) -> None:
    head = replace(HEAD, lifecycle_mode=LifecycleMode.ON_CREATE)
    with pytest.raises(ValueError, match=r"the controller's group 'head' runs OnCreate: its scripts set Slurm's accounting up"):
        with_database(stack, database(secret_of(stack)), instance_groups=[head])


def test_workers_may_run_their_scripts_at_any_time(stack: Stack) -> None:
    workers = replace(WORKERS, lifecycle_mode=LifecycleMode.ON_CREATE)
    with_database(stack, database(secret_of(stack)), instance_groups=[HEAD, workers])
    assert rendered(stack)["Endpoint"] == "db.example.com"


def test_scripts_of_ones_own_decide_for_themselves(stack: Stack, tmp_path: Any) -> None:
    (tmp_path / "on_create.sh").write_text("#!/bin/sh\n")
    head = replace(HEAD, lifecycle_mode=LifecycleMode.ON_CREATE)
    scripts = LifecycleScripts.from_asset(path=tmp_path)
    with_database(stack, database(secret_of(stack)), instance_groups=[head], lifecycle_scripts=scripts)
    assert rendered(stack)["SecretArn"] == ARN
