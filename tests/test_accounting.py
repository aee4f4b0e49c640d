"""SlurmAccountingDatabase: what it renders, who reaches it, how it is given to a cluster, and what rules and plan say of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms

from hyperpod_constructs import (
    ClusterInstanceType,
    ClusterNetwork,
    HyperPodCluster,
    InstanceGroup,
    LifecycleMode,
    LifecycleScripts,
    LustreStorage,
    NodeSoftware,
    Orchestrator,
    SlurmAccountingDatabase,
    SlurmCluster,
    SlurmNodeType,
)
from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.plan.plan import plan
from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.model import Model
from tests.conftest import only, resources, synthesize

INSTANCE = "AWS::RDS::DBInstance"
RETAINED = ("RetainExceptOnCreate", "Retain")
HEAD = InstanceGroup(name="head", node_type=SlurmNodeType.CONTROLLER, instance_type=ClusterInstanceType.M5_XLARGE, count=1)


@pytest.fixture
def subnets(network: ClusterNetwork) -> list[ec2.ISubnet]:
    return [
        network.add_database_subnet("DatabaseA", cidr="10.0.1.0/28", availability_zone_id="usw2-az4"),
        network.add_database_subnet("DatabaseB", cidr="10.0.1.16/28", availability_zone_id="usw2-az1"),
    ]


def database(stack: Stack, network: ClusterNetwork, subnets: list[ec2.ISubnet], **changes: Any) -> SlurmAccountingDatabase:
    return SlurmAccountingDatabase(stack, "Accounting", **{"network": network, "subnets": subnets, **changes})


@pytest.fixture
def made(stack: Stack, network: ClusterNetwork, subnets: list[ec2.ISubnet]) -> SlurmAccountingDatabase:
    return database(stack, network, subnets)


def properties(stack: Stack, kind: str = INSTANCE) -> dict[str, Any]:
    found: dict[str, Any] = only(stack, kind)["Properties"]
    return found


def test_the_defaults_are_encrypted_backed_up_private_and_protected(stack: Stack, made: SlurmAccountingDatabase) -> None:
    wanted = {
        "Engine": "mariadb",
        "DBName": "slurm_acct_db",
        "StorageEncrypted": True,
        "StorageType": "gp3",
        "MultiAZ": True,
        "BackupRetentionPeriod": 14,
        "PubliclyAccessible": False,
        "DeletionProtection": True,
        "ManageMasterUserPassword": True,
    }
    found = properties(stack)
    assert {key: found[key] for key in wanted} == wanted
    assert "MasterUserPassword" not in found
    assert "KmsKeyId" not in found


def test_tls_and_the_parameters_of_slurm_are_set(stack: Stack, made: SlurmAccountingDatabase) -> None:
    found = properties(stack, "AWS::RDS::DBParameterGroup")
    assert found["Family"] == "mariadb11.4"
    assert found["Parameters"] == {
        "innodb_lock_wait_timeout": "900",
        "innodb_log_file_size": "536870912",
        "max_allowed_packet": "16777216",
        "require_secure_transport": "1",
    }


def test_tls_can_be_left_to_the_clients(stack: Stack, network: ClusterNetwork, subnets: list[ec2.ISubnet]) -> None:
    database(stack, network, subnets, require_tls=False)
    assert properties(stack, "AWS::RDS::DBParameterGroup")["Parameters"]["require_secure_transport"] == "0"


def test_it_stays_with_all_that_it_needs(stack: Stack, made: SlurmAccountingDatabase) -> None:
    template = synthesize(stack)["Resources"]
    kept = {id for id, one in template.items() if (one.get("DeletionPolicy"), one.get("UpdateReplacePolicy")) == RETAINED}
    needed = {
        id for id, one in template.items() if one["Type"].startswith("AWS::RDS::") or id.startswith("AccountingSecurityGroup")
    }
    needed |= {id for id, one in template.items() if one["Type"] == "AWS::EC2::Subnet" and "Database" in id}
    assert len(needed) == 6
    assert needed <= kept


def test_only_the_nodes_reach_it_and_it_awaits_the_rules(
    stack: Stack, network: ClusterNetwork, made: SlurmAccountingDatabase
) -> None:
    nodes, own = (stack.resolve(group.security_group_id) for group in (network.security_group, made.security_group))
    found = {id: one["Properties"] for id, one in resources(stack, "AWS::EC2::SecurityGroupIngress").items()}
    ingress = {id: one for id, one in found.items() if one["GroupId"] == own}
    assert [(one["SourceSecurityGroupId"], one["FromPort"], one["ToPort"]) for one in ingress.values()] == [(nodes, 3306, 3306)]
    assert set(ingress) < set(only(stack, INSTANCE)["DependsOn"])
    assert properties(stack)["VPCSecurityGroups"] == [own]


def test_one_key_encrypts_data_and_secret(stack: Stack, network: ClusterNetwork, subnets: list[ec2.ISubnet]) -> None:
    key = kms.Key(stack, "Key")
    made = database(stack, network, subnets, encryption_key=key)
    HyperPodCluster(
        stack,
        "Cluster",
        network=network,
        orchestrator=Orchestrator.slurm(accounting_database=made.for_cluster()),
        instance_groups=[HEAD],
    )
    arn = stack.resolve(key.key_arn)
    found = properties(stack)
    assert (found["KmsKeyId"], found["MasterUserSecret"]) == (arn, {"KmsKeyId": arn})
    policies = resources(stack, "AWS::IAM::Policy").values()
    statements = [one for policy in policies for one in policy["Properties"]["PolicyDocument"]["Statement"]]
    assert [one["Resource"] for one in statements if one["Action"] == "kms:Decrypt"] == [arn]
    secret = {"Fn::GetAtt": ["Accounting34814706", "MasterUserSecret.SecretArn"]}
    assert [one["Resource"] for one in statements if one["Action"] == "secretsmanager:GetSecretValue"] == [secret]


def test_a_slurm_cluster_takes_it_as_it_is(stack: Stack, network: ClusterNetwork, made: SlurmAccountingDatabase) -> None:
    SlurmCluster(
        stack,
        "Slurm",
        network=network,
        file_system=LustreStorage(stack, "Lustre", network=network),
        worker_type=ClusterInstanceType.M5_XLARGE,
        worker_count=1,
        accounting_database=made,
    )
    (cluster,) = resources(stack, "AWS::SageMaker::Cluster").values()
    assert cluster["Properties"]["Orchestrator"]["Slurm"]["AccountingDatabase"] == {
        "Endpoint": {"Fn::GetAtt": ["Accounting34814706", "Endpoint.Address"]},
        "SecretArn": {"Fn::GetAtt": ["Accounting34814706", "MasterUserSecret.SecretArn"]},
        "Port": 3306,
        "Name": "slurm_acct_db",
    }
    assert check(Model.of({"": synthesize(stack)})) == []


def test_scripts_get_the_place_and_the_secret_s_name_only(
    stack: Stack, network: ClusterNetwork, made: SlurmAccountingDatabase
) -> None:
    software = NodeSoftware(accounting=made.for_scripts(name="research"))
    rendered = software.render(None)["accounting"]
    assert rendered["type"] == "external"
    assert (rendered["name"], rendered["tls"]) == ("research", True)
    assert {"password", "username"}.isdisjoint(rendered)
    scripts = LifecycleScripts.from_asset(software=software)
    head = replace(HEAD, lifecycle_mode=LifecycleMode.ON_CREATE)
    HyperPodCluster(stack, "Cluster", network=network, lifecycle_scripts=scripts, instance_groups=[head])
    assert check(Model.of({"": synthesize(stack)})) == []


def test_a_smaller_storage_is_refused_by_the_plan() -> None:
    def template(size: int) -> dict[str, Any]:
        stack = Stack(App(), "Stack")
        network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")
        parts = [
            network.add_database_subnet(f"Database{zone}", cidr=f"10.0.1.{zone * 16}/28", availability_zone_id=f"usw2-az{4 - zone}")
            for zone in (0, 1)
        ]
        database(stack, network, parts, allocated_storage_gib=size)
        return synthesize(stack)

    rows = plan(*(Model.of({"": template(size)}) for size in (40, 20))).rows
    assert [row.effect for row in rows if row.type == INSTANCE] == [Effect.REFUSED]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_allocated_storage_gib": 21}, r"max_allocated_storage_gib is 21, less than a tenth above allocated_storage_gib 20"),
        ({"removal_policy": RemovalPolicy.DESTROY}, "write deletion_protection=False too"),
        ({"backup_retention_days": 0}, "backup_retention_days is 0; allowed: 1 to 35"),
        ({"allocated_storage_gib": 10}, "allocated_storage_gib is 10; allowed: 20 to 65536"),
        ({"db_instance_class": "ml.m5.large"}, "the class of a database instance, which begins with db."),
        ({"engine_version": "eleven"}, "a version of MariaDB, two or three numbers with dots"),
        ({"preferred_backup_window": "3-4"}, "two times of a day in UTC"),
        ({"preferred_maintenance_window": "03:00-04:00"}, "two times of a week in UTC"),
    ],
)
def test_fails_for_values_that_rds_refuses(
    stack: Stack, network: ClusterNetwork, subnets: list[ec2.ISubnet], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        database(stack, network, subnets, **changes)


def test_fails_for_one_subnet(stack: Stack, network: ClusterNetwork, subnets: list[ec2.ISubnet]) -> None:
    with pytest.raises(ValueError, match="subnets has 1 item; RDS needs subnets in two zones"):
        database(stack, network, subnets[:1])


def test_sizes_may_be_known_at_the_deployment_only(stack: Stack, network: ClusterNetwork, subnets: list[ec2.ISubnet]) -> None:
    size = CfnParameter(stack, "Size", type="Number").value_as_number
    text = CfnParameter(stack, "Class").value_as_string
    database(
        stack,
        network,
        subnets,
        allocated_storage_gib=size,
        max_allocated_storage_gib=size,
        backup_retention_days=size,
        db_instance_class=text,
    )
    found = properties(stack)
    assert found["DBInstanceClass"] == {"Ref": "Class"}
    assert found["BackupRetentionPeriod"] == found["MaxAllocatedStorage"] == {"Ref": "Size"}


def test_a_database_for_the_test_goes_with_its_stack(stack: Stack, network: ClusterNetwork, subnets: list[ec2.ISubnet]) -> None:
    database(stack, network, subnets, removal_policy=RemovalPolicy.DESTROY, deletion_protection=False)
    assert only(stack, INSTANCE)["DeletionPolicy"] == "Delete"
    assert properties(stack)["DeletionProtection"] is False


def decrypting(template: dict[str, Any]) -> list[dict[str, Any]]:
    """The statements of the policies that let roles decrypt."""
    policies = [one for one in template["Resources"].values() if one["Type"] == "AWS::IAM::Policy"]
    statements = [one for policy in policies for one in policy["Properties"]["PolicyDocument"]["Statement"]]
    return [one for one in statements if one["Action"] == "kms:Decrypt"]


def test_a_rule_names_nodes_that_may_not_decrypt_the_secret(
    stack: Stack, network: ClusterNetwork, subnets: list[ec2.ISubnet]
) -> None:
    made = database(stack, network, subnets, encryption_key=kms.Key(stack, "Key")).for_cluster()
    orchestrator = Orchestrator.slurm(accounting_database=made)
    HyperPodCluster(stack, "Cluster", network=network, orchestrator=orchestrator, instance_groups=[HEAD])
    template = synthesize(stack)
    assert check(Model.of({"": template})) == []
    (statement,) = decrypting(template)
    assert str(statement["Condition"]["StringEquals"]["kms:ViaService"]).startswith("{'Fn::Join': ['', ['secretsmanager.")
    statement["Action"] = "kms:DescribeKey"
    (finding,) = check(Model.of({"": template}))
    assert "kms:Decrypt" in finding.message
