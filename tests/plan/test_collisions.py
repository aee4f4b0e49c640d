"""Updates that meet what the old resources still hold: names, blocks, addresses."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.plan.effect import Effect
from tests.plan.templates import Template, change, cluster, group, resource, row, rows

VPC = {"Ref": "Vpc"}
NETWORK = {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16")}


def subnet(block: str, **more: Any) -> dict[str, Any]:
    return resource("AWS::EC2::Subnet", VpcId=VPC, CidrBlock=block, **more)


def effects(old: Template, new: Template) -> dict[str, Effect]:
    """The worst effect by resource."""
    found: dict[str, Effect] = {}
    for one in change({"Resources": NETWORK | old}, {"Resources": NETWORK | new}).rows:
        found.setdefault(one.resource, one.effect)
    return found


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ("10.0.0.0/20", "10.0.0.0/21", Effect.REFUSED),
        ("10.0.0.0/20", "10.0.16.0/20", Effect.REPLACE),
        ("10.0.0.0/20", {"Ref": "AWS::StackName"}, Effect.REPLACE),
    ],
)
def test_a_new_block_of_a_subnet_overlaps_the_old_one(old: Any, new: Any, effect: Effect) -> None:
    assert effects({"Nodes": subnet(old)}, {"Nodes": subnet(new)})["Nodes"] is effect


def test_two_subnets_cannot_swap_their_blocks() -> None:
    old = {"A": subnet("10.0.0.0/20"), "B": subnet("10.0.16.0/20")}
    new = {"A": subnet("10.0.16.0/20"), "B": subnet("10.0.0.0/20")}
    assert effects(old, new) == {"A": Effect.REFUSED, "B": Effect.REFUSED}


def test_a_new_subnet_overlaps_one_that_goes() -> None:
    assert effects({"A": subnet("10.0.0.0/20")}, {"B": subnet("10.0.0.0/21")})["B"] is Effect.REFUSED
    assert effects({"A": subnet("10.0.0.0/20")}, {"B": subnet("10.0.16.0/21")})["B"] is Effect.NO_INTERRUPTION


def test_a_subnet_in_a_new_vpc_has_the_block_of_the_old_one() -> None:
    other = {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/15"), "Nodes": subnet("10.0.0.0/21")}
    found = {
        one.resource: one.effect
        for one in change({"Resources": NETWORK | {"Nodes": subnet("10.0.0.0/20")}}, {"Resources": other}).rows
    }
    assert found["Nodes"] is Effect.REPLACE


@pytest.mark.parametrize(("zone", "effect"), [("us-west-2a", Effect.REFUSED), ("us-west-2b", Effect.REPLACE)])
def test_a_zone_has_one_mount_target(zone: str, effect: Effect) -> None:
    subnets = {
        "A": subnet("10.0.0.0/20", AvailabilityZone="us-west-2a"),
        "B": subnet("10.0.16.0/20", AvailabilityZone=zone),
        "Files": resource("AWS::EFS::FileSystem"),
    }
    targets = [
        {
            "Target": resource(
                "AWS::EFS::MountTarget", FileSystemId={"Ref": "Files"}, SubnetId={"Ref": name}, SecurityGroups=["sg-1"]
            )
        }
        for name in ("A", "B")
    ]
    assert effects(subnets | targets[0], subnets | targets[1])["Target"] is effect


def test_a_vpc_has_one_attachment_to_a_transit_gateway() -> None:
    attached = [
        {"Way": resource("AWS::EC2::TransitGatewayVpcAttachment", TransitGatewayId="tgw-1", VpcId=VPC, SubnetIds=subnets)}
        for subnets in (["subnet-1", "subnet-2"], ["subnet-1"])
    ]
    assert effects(*attached)["Way"] is Effect.REFUSED


@pytest.mark.parametrize(("address", "effect"), [("eipalloc-1", Effect.REFUSED), ("eipalloc-2", Effect.REPLACE)])
def test_a_nat_gateway_wants_the_address_of_the_old_one(address: str, effect: Effect) -> None:
    old = resource("AWS::EC2::NatGateway", SubnetId="subnet-1", AllocationId="eipalloc-1")
    new = resource("AWS::EC2::NatGateway", SubnetId="subnet-2", AllocationId=address)
    assert max((one.effect for one in rows(old, new)), key=lambda one: one.severity) is effect


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ("a-${AWS::AccountId}", "a-${AWS::AccountId}", Effect.REFUSED),
        ("a-${AWS::AccountId}", "b-${AWS::AccountId}", Effect.REPLACE),
    ],
)
def test_a_name_that_is_partly_unknown_is_as_it_is_spelled(old: str, new: str, effect: Effect) -> None:
    one = resource("AWS::IAM::ManagedPolicy", ManagedPolicyName={"Fn::Sub": old}, Description="before", PolicyDocument={})
    other = resource("AWS::IAM::ManagedPolicy", ManagedPolicyName={"Fn::Sub": new}, Description="after", PolicyDocument={})
    assert rows(one, other)[0].effect is effect


def test_a_rule_group_with_more_capacity_keeps_its_name() -> None:
    small, large = (
        resource("AWS::NetworkFirewall::RuleGroup", RuleGroupName="domains", Type="STATEFUL", Capacity=size) for size in (100, 200)
    )
    renamed = resource("AWS::NetworkFirewall::RuleGroup", RuleGroupName="hosts", Type="STATEFUL", Capacity=200)
    assert [one.effect for one in rows(small, large)] == [Effect.REFUSED]
    assert {one.effect for one in rows(small, renamed)} == {Effect.REPLACE}


@pytest.mark.parametrize(("address", "effect"), [("10.0.0.10", Effect.REFUSED), (None, Effect.REPLACE)])
def test_a_new_resolver_wants_the_addresses_of_the_old_one(address: str | None, effect: Effect) -> None:
    place = {"SubnetId": "subnet-1"} if address is None else {"SubnetId": "subnet-1", "Ip": address}
    old, new = (
        resource("AWS::Route53Resolver::ResolverEndpoint", Direction="INBOUND", IpAddresses=[place], SecurityGroupIds=[group_id])
        for group_id in ("sg-1", "sg-2")
    )
    assert rows(old, new)[0].effect is effect


@pytest.mark.parametrize(
    ("name", "word", "effect"),
    [
        ("UpdateReplacePolicy", "RetainExceptOnCreate", Effect.REFUSED),
        ("DeletionPolicy", "Keep", Effect.REFUSED),
        ("DeletionPolicy", "Snapshot", Effect.REFUSED),
        ("DeletionPolicy", "RetainExceptOnCreate", None),
    ],
)
def test_a_policy_has_a_word_of_its_own(name: str, word: str, effect: Effect | None) -> None:
    old = {**resource("AWS::FSx::FileSystem", FileSystemType="LUSTRE"), name: "Retain"}
    found = rows(old, {**old, name: word})
    assert [one.effect for one in found] == ([] if effect is None else [effect])


def test_the_last_group_stays() -> None:
    assert row(cluster(group()), cluster()).effect is Effect.REFUSED
    assert row(cluster(group(), group("others")), cluster(group())).effect is Effect.DATA_LOSS


@pytest.mark.parametrize(
    ("types", "count", "effect"),
    [
        (["ml.g5.48xlarge"], 2, Effect.REFUSED),
        (["ml.g5.48xlarge"], 0, Effect.NO_INTERRUPTION),
        (["ml.p5.48xlarge", "ml.g5.48xlarge", "ml.g6.48xlarge"], 2, Effect.NO_INTERRUPTION),
    ],
)
def test_a_type_with_nodes_does_not_leave_its_list(types: list[str], count: int, effect: Effect) -> None:
    def of(names: list[str]) -> dict[str, Any]:
        return cluster(group(count=count, InstanceType=None, InstanceRequirements={"InstanceTypes": names}))

    assert row(of(["ml.p5.48xlarge", "ml.g5.48xlarge"]), of(types)).effect is effect


def database(**properties: Any) -> dict[str, Any]:
    given = {
        "Engine": "mysql",
        "EngineVersion": "8.0.40",
        "DBInstanceClass": "db.m6g.large",
        "AllocatedStorage": "100",
        **properties,
    }
    return resource("AWS::RDS::DBInstance", **{name: value for name, value in given.items() if value is not None})


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ({}, {"AllocatedStorage": "50"}, Effect.REFUSED),
        ({}, {"AllocatedStorage": "200"}, Effect.NO_INTERRUPTION),
        ({}, {"DBInstanceClass": "db.m6g.xlarge"}, Effect.ROLLING),
        ({}, {"EngineVersion": "8.0.41"}, Effect.ROLLING),
        ({}, {"EngineVersion": "8.4.3"}, Effect.REFUSED),
        ({}, {"EngineVersion": "8.4.3", "AllowMajorVersionUpgrade": True}, Effect.ROLLING),
        ({}, {"EngineVersion": "8.0.39"}, Effect.REFUSED),
        ({"EngineVersion": "8.0"}, {"EngineVersion": "8.0.41"}, Effect.ROLLING),
        ({"Engine": "postgres", "EngineVersion": "16.1"}, {"Engine": "postgres", "EngineVersion": "16.4"}, Effect.ROLLING),
        ({"Engine": "postgres", "EngineVersion": "16.1"}, {"Engine": "postgres", "EngineVersion": "17.1"}, Effect.REFUSED),
        ({"BackupRetentionPeriod": 7}, {"BackupRetentionPeriod": 14}, Effect.NO_INTERRUPTION),
        ({"BackupRetentionPeriod": 7}, {"BackupRetentionPeriod": 0}, Effect.DATA_LOSS),
        ({"BackupRetentionPeriod": 0}, {"BackupRetentionPeriod": 7}, Effect.ROLLING),
        ({}, {"MultiAZ": True}, Effect.NO_INTERRUPTION),
        ({}, {"Engine": "mariadb"}, Effect.DATA_LOSS),
        ({}, {"MasterUsername": "other"}, Effect.DATA_LOSS),
    ],
)
def test_a_database(before: dict[str, Any], after: dict[str, Any], effect: Effect) -> None:
    found = [one.effect for one in rows(database(**before), database(**after))]
    assert max(found, key=lambda one: one.severity) is effect


def test_a_replaced_database_leaves_a_snapshot_only_by_its_policy() -> None:
    old, new = database(), database(MasterUsername="other")
    assert row(old, new).effect is Effect.DATA_LOSS
    kept = {"UpdateReplacePolicy": "Snapshot"}
    assert row({**old, **kept}, {**new, **kept}).effect is Effect.REPLACE


def test_a_volume_grows_only() -> None:
    assert row(resource("AWS::EC2::Volume", Size=100), resource("AWS::EC2::Volume", Size=50)).effect is Effect.REFUSED
    assert row(resource("AWS::EC2::Volume", Size=100), resource("AWS::EC2::Volume", Size=200)).effect is Effect.NO_INTERRUPTION


def test_a_security_group_with_a_name_meets_the_old_one() -> None:
    old, new = (resource("AWS::EC2::SecurityGroup", GroupName="nodes", VpcId="vpc-1", GroupDescription=text) for text in ("a", "b"))
    assert row(old, new).effect is Effect.REFUSED


def aurora(version: str, port: int = 3306) -> dict[str, Any]:
    return resource("AWS::RDS::DBCluster", Engine="aurora-mysql", EngineVersion=f"8.0.mysql_aurora.{version}", Port=port)


@pytest.mark.parametrize(
    ("after", "effect"),
    [
        (aurora("3.10.1"), Effect.ROLLING),
        (aurora("3.04.0"), Effect.REFUSED),
        (aurora("3.08.2", 3307), Effect.ROLLING),
    ],
)
def test_a_cluster_of_aurora(after: dict[str, Any], effect: Effect) -> None:
    assert [one.effect for one in rows(aurora("3.08.2"), after)] == [effect]


def test_a_secret_that_is_generated_in_another_way_is_another_secret() -> None:
    before, after = (
        resource("AWS::SecretsManager::Secret", GenerateSecretString={"PasswordLength": length}) for length in (32, 40)
    )
    assert [one.effect for one in rows(before, after)] == [Effect.ROLLING]


TALKS = {"GroupId": "sg-1", "IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "10.0.0.0/16"}
RECORD = {"HostedZoneId": "Z1", "Name": "a.example.com", "Type": "A", "TTL": "60", "ResourceRecords": ["10.0.0.9"]}
PRIVATE = {
    "VpcId": "vpc-1",
    "ServiceName": "com.amazonaws.us-west-2.ssm",
    "VpcEndpointType": "Interface",
    "PrivateDnsEnabled": True,
}
GATE = {"VpcId": "vpc-1", "ServiceName": "com.amazonaws.us-west-2.s3", "VpcEndpointType": "Gateway", "RouteTableIds": ["rtb-1"]}


@pytest.mark.parametrize(
    ("kind", "given", "other"),
    [
        ("EC2::SecurityGroupIngress", TALKS, {**TALKS, "ToPort": 444}),
        ("EC2::SecurityGroupEgress", TALKS, {**TALKS, "CidrIp": "10.1.0.0/16"}),
        ("EC2::VPCEndpoint", PRIVATE, {**PRIVATE, "PrivateDnsEnabled": False}),
        ("EC2::VPCEndpoint", GATE, {**GATE, "RouteTableIds": ["rtb-2"]}),
        (
            "EC2::VPCGatewayAttachment",
            {"VpcId": "vpc-1", "InternetGatewayId": "igw-1"},
            {"VpcId": "vpc-1", "VpnGatewayId": "vgw-1"},
        ),
        ("Route53::RecordSet", RECORD, {**RECORD, "Type": "AAAA"}),
        ("Lambda::EventSourceMapping", {"EventSourceArn": "a", "FunctionName": "f"}, {"EventSourceArn": "b", "FunctionName": "f"}),
        (
            "EC2::TransitGatewayRouteTableAssociation",
            {"TransitGatewayAttachmentId": "a", "TransitGatewayRouteTableId": "x"},
            {"TransitGatewayAttachmentId": "b", "TransitGatewayRouteTableId": "x"},
        ),
    ],
)
def test_a_renamed_resource_meets_the_old_one(kind: str, given: dict[str, Any], other: dict[str, Any]) -> None:
    old = {"Old": resource(f"AWS::{kind}", **given)}
    assert effects(old, {"New": resource(f"AWS::{kind}", **given)})["New"] is Effect.REFUSED
    assert effects(old, {"New": resource(f"AWS::{kind}", **other)})["New"] is Effect.NO_INTERRUPTION


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [("costs", "costs", Effect.REFUSED), ("costs", "more-costs", Effect.REPLACE), (None, None, Effect.REPLACE)],
)
def test_a_budget_with_other_notifications_needs_another_name(before: str | None, after: str | None, effect: Effect) -> None:
    def budget(name: str | None, threshold: int) -> dict[str, Any]:
        given = {"BudgetType": "COST", "TimeUnit": "MONTHLY", **({"BudgetName": name} if name else {})}
        told = [{"Notification": {"NotificationType": "ACTUAL", "Threshold": threshold}, "Subscribers": []}]
        return {"Costs": resource("AWS::Budgets::Budget", Budget=given, NotificationsWithSubscribers=told)}

    assert effects(budget(before, 80), budget(after, 90))["Costs"] is effect
