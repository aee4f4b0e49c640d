"""Availability zones of groups, file systems and training plans."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from hyperpod_constructs.rules.checking import check, load_catalogue
from hyperpod_constructs.rules.finding import Finding, Level
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.raw import raw_template
from tests.rules.catalogue.templates import Template, eks, findings, properties, rules_of, slurm, workers

PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/reserved"


def with_second_zone(template: Template, zone: str = "us-west-2c") -> Template:
    """A second private subnet, elsewhere."""
    template["Resources"]["Second"] = deepcopy(template["Resources"]["NodeSubnet"])
    properties(template, "Second").update(CidrBlock="10.0.128.0/18", AvailabilityZone=zone)
    template["Resources"]["SecondAssociation"] = {
        "Type": "AWS::EC2::SubnetRouteTableAssociation",
        "Properties": {"SubnetId": {"Ref": "Second"}, "RouteTableId": {"Ref": "NodeRoutes"}},
    }
    return template


def elsewhere(template: Template, *subnets: str) -> Template:
    """The network of a group in other subnets."""
    return {**properties(template, "Cluster")["VpcConfig"], "Subnets": [{"Ref": name} for name in subnets]}


def test_a_file_system_in_another_zone_than_its_nodes() -> None:
    template = with_second_zone(slurm())
    properties(template, "FileSystem")["SubnetIds"] = [{"Ref": "Second"}]

    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.resource) == ("HP-SUB-010", Level.WARNING, "FileSystem")
    assert finding.path == "Properties/SubnetIds"
    assert finding.message.startswith("it is in us-west-2c, and the nodes of controller (us-west-2b), login")


def test_file_systems_of_one_subnet_are_one_mistake() -> None:
    template = with_second_zone(slurm())
    properties(template, "FileSystem")["SubnetIds"] = [{"Ref": "Second"}]
    template["Resources"]["Other"] = template["Resources"]["FileSystem"]
    mounts = properties(template, "Cluster")["InstanceGroups"]
    for group in mounts:
        group["InstanceStorageConfigs"] = [
            *group["InstanceStorageConfigs"],
            {
                "FsxLustreConfig": {
                    "DnsName": {"Fn::GetAtt": ["Other", "DNSName"]},
                    "MountName": {"Fn::GetAtt": ["Other", "LustreMountName"]},
                    "MountPath": "/other",
                }
            },
        ]
    (finding,) = [one for one in findings(template) if one.rule == "HP-SUB-010"]
    assert finding.message.partition("; ")[2].startswith("the same for ")
    (hit,) = load_catalogue()["HP-SUB-010"].check(Model.of({"t": template}))
    assert hit.covers == (), "what else is wrong with the ways to all of them would be its consequence"


def test_another_subnet_of_the_zone_is_fine() -> None:
    template = with_second_zone(slurm(), "us-west-2b")
    properties(template, "FileSystem")["SubnetIds"] = [{"Ref": "Second"}]

    assert rules_of(template) == []


def with_homes(template: Template, *subnets: str) -> list[str]:
    """Homes on EFS with mount targets in these subnets, which let the nodes in; what the rules of zones say of them."""
    nfs = {"IpProtocol": "tcp", "FromPort": 2049, "ToPort": 2049}
    out = {**nfs, "GroupId": {"Ref": "NodeGroup"}, "DestinationSecurityGroupId": {"Ref": "HomeGroup"}}
    inwards = {**nfs, "SourceSecurityGroupId": {"Ref": "NodeGroup"}}
    template["Resources"] |= {
        "NodesToHomes": {"Type": "AWS::EC2::SecurityGroupEgress", "Properties": out},
        "Homes": {"Type": "AWS::EFS::FileSystem", "Properties": {"Encrypted": True}},
        "HomeGroup": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"GroupDescription": "x", "VpcId": {"Ref": "Vpc"}, "SecurityGroupIngress": [inwards]},
        },
    }
    for name in subnets:
        template["Resources"][f"{name}Target"] = {
            "Type": "AWS::EFS::MountTarget",
            "Properties": {
                "FileSystemId": {"Ref": "Homes"},
                "SubnetId": {"Ref": name},
                "SecurityGroups": [{"Fn::GetAtt": ["HomeGroup", "GroupId"]}],
            },
        }
    return [f"{one.rule} {one.resource}" for one in findings(template) if one.rule.startswith("HP-SUB-")]


def test_mount_targets_in_another_zone_than_the_nodes_that_they_let_in() -> None:
    assert with_homes(with_second_zone(slurm()), "Second") == ["HP-SUB-017 SecondTarget"]


def test_one_mount_target_in_the_zone_of_the_nodes_is_enough() -> None:
    assert with_homes(with_second_zone(slurm()), "Second", "NodeSubnet") == []
    assert with_homes(with_second_zone(slurm(), "us-west-2b"), "Second") == []


def test_zones_by_name_and_by_id_are_not_compared() -> None:
    template = with_second_zone(slurm())
    properties(template, "FileSystem")["SubnetIds"] = [{"Ref": "Second"}]
    properties(template, "Second").pop("AvailabilityZone")
    properties(template, "Second")["AvailabilityZoneId"] = "usw2-az4"

    assert rules_of(template) == []


def test_zones_by_id() -> None:
    template = with_second_zone(slurm())
    properties(template, "FileSystem")["SubnetIds"] = [{"Ref": "Second"}]
    for name, zone in (("Second", "usw2-az3"), ("NodeSubnet", "usw2-az4")):
        properties(template, name).pop("AvailabilityZone")
        properties(template, name)["AvailabilityZoneId"] = zone

    assert rules_of(template) == ["HP-SUB-010"]


def test_a_group_with_efa_spread_over_zones() -> None:
    template = with_second_zone(slurm())
    workers(template)["OverrideVpcConfig"] = elsewhere(template, "NodeSubnet", "Second")

    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.resource) == ("HP-SUB-011", Level.WARNING, "Cluster")
    assert finding.path == "Properties/InstanceGroups/2/OverrideVpcConfig/Subnets"


def test_zones_without_a_name_are_shown_by_their_place() -> None:
    template = with_second_zone(slurm())
    for place, name in enumerate(("NodeSubnet", "Second")):
        properties(template, name)["AvailabilityZone"] = {"Fn::Select": [place, {"Fn::GetAZs": ""}]}
    workers(template)["OverrideVpcConfig"] = elsewhere(template, "NodeSubnet", "Second")

    found = next(one for one in findings(template) if one.rule == "HP-SUB-011")

    assert found.message.endswith("are spread over zone 0 of the region and zone 1 of the region")


def test_a_group_without_efa_may_be_spread() -> None:
    template = with_second_zone(slurm())
    workers(template)["OverrideVpcConfig"] = elsewhere(template, "NodeSubnet", "Second")
    workers(template)["InstanceType"] = "ml.g5.2xlarge"

    assert rules_of(template) == []


@pytest.mark.parametrize(("count", "expected"), [(0, ["HP-SUB-011"]), (1, []), (2, ["HP-SUB-011"])])
def test_a_single_node_has_no_other_in_another_zone(count: int, expected: list[str]) -> None:
    template = with_second_zone(slurm())
    workers(template).update(OverrideVpcConfig=elsewhere(template, "NodeSubnet", "Second"), InstanceCount=count)

    assert rules_of(template) == expected


def test_a_single_node_may_get_others_by_autoscaling() -> None:
    template = with_second_zone(eks())
    workers(template).update(OverrideVpcConfig=elsewhere(template, "NodeSubnet", "Second"), InstanceCount=1)
    properties(template, "Cluster")["AutoScaling"] = {"Mode": "Enable", "AutoScalerType": "Karpenter"}

    assert "HP-SUB-011" in rules_of(template)


def test_groups_of_eks_are_not_told_of_partitions() -> None:
    template = with_second_zone(eks())
    workers(template)["OverrideVpcConfig"] = elsewhere(template, "NodeSubnet", "Second")

    (finding,) = findings(template)

    assert finding.rule == "HP-SUB-011"
    assert not any("partition" in text for text in (finding.message, finding.allowed))


def _two_groups(template: Template, partition: str) -> Template:
    second = {**deepcopy(workers(template)), "InstanceGroupName": "second"}
    second["SlurmConfig"]["PartitionNames"] = [partition]
    second["OverrideVpcConfig"] = elsewhere(template, "Second")
    second["InstanceStorageConfigs"] = second["InstanceStorageConfigs"][:1]
    properties(template, "Cluster")["InstanceGroups"].append(second)
    return template


def test_a_partition_across_zones() -> None:
    (finding,) = findings(_two_groups(with_second_zone(slurm()), "train"))

    assert finding.rule == "HP-SUB-011"
    assert finding.message == "second (us-west-2c) and workers (us-west-2b) share a partition across zones"


def test_partitions_of_their_own_are_fine() -> None:
    assert rules_of(_two_groups(with_second_zone(slurm()), "other")) == []


def test_a_training_plan_across_zones() -> None:
    template = _two_groups(with_second_zone(slurm()), "other")
    for group in properties(template, "Cluster")["InstanceGroups"][2:]:
        group["TrainingPlanArn"] = PLAN

    (finding,) = findings(template)

    assert (finding.rule, finding.level) == ("HP-SUB-012", Level.WARNING)
    assert finding.path == "Properties/InstanceGroups/3/TrainingPlanArn"


def test_a_plan_for_each_zone_is_fine() -> None:
    template = _two_groups(with_second_zone(slurm()), "other")
    for index, group in enumerate(properties(template, "Cluster")["InstanceGroups"][2:]):
        group["TrainingPlanArn"] = f"{PLAN}-{index}"

    assert rules_of(template) == []


def _with_zone(region: str | None, **zone: Any) -> list[Finding]:
    template = slurm()
    for name in ("NodeSubnet", "PublicSubnet"):
        properties(template, name).pop("AvailabilityZone")
        properties(template, name).update(zone)
    document = Document(name="t", body=raw_template(template), environment=Environment(region=region))
    return [finding for finding in check(Model([document])) if finding.resource == "NodeSubnet"]


@pytest.mark.parametrize(
    ("region", "zone", "message"),
    [
        (None, {"AvailabilityZone": "usw2-az4"}, "AvailabilityZone 'usw2-az4' is a zone id"),
        (None, {"AvailabilityZoneId": "us-west-2a"}, "AvailabilityZoneId 'us-west-2a' is not a zone id"),
        (None, {"AvailabilityZoneId": {"Fn::Sub": "${AWS::Region}b"}}, "AvailabilityZoneId ${?}b does not end as a zone id"),
        (None, {"AvailabilityZone": {"Fn::Sub": "${AWS::Region}-az2"}}, "AvailabilityZone ${?}-az2 ends as a zone id"),
    ],
)
def test_a_zone_in_the_wrong_property(region: str | None, zone: dict[str, Any], message: str) -> None:
    (finding,) = _with_zone(region, **zone)

    assert (finding.rule, finding.level) == ("HP-SUB-013", Level.ERROR)
    assert finding.message.startswith(message)


@pytest.mark.parametrize(
    ("region", "zone"),
    [
        ("us-west-2", {"AvailabilityZone": "us-west-2-lax-1a"}),
        (None, {"AvailabilityZone": {"Fn::Sub": "${AWS::Region}a"}}),
        (None, {"AvailabilityZoneId": {"Fn::Sub": "${AWS::StackName}-az2"}}),
        ("us-west-2", {"AvailabilityZoneId": "usw2-az4"}),
        ("us-west-2", {"AvailabilityZoneId": "usw2-phx2-az1"}),
        ("us-east-1", {"AvailabilityZoneId": "use1-atl2-az1"}),
        ("us-east-1", {"AvailabilityZoneId": "use1-wl1-bos-wlz1"}),
        ("ap-southeast-1", {"AvailabilityZoneId": "apse1-az2"}),
        ("unknown", {"AvailabilityZoneId": "usw2-az4"}),
        (None, {"AvailabilityZoneId": "usw2-az4"}),
    ],
)
def test_a_zone_of_the_region(region: str | None, zone: dict[str, Any]) -> None:
    assert _with_zone(region, **zone) == []


def test_the_tag_for_load_balancers_fits_the_routes() -> None:
    internal, public = "kubernetes.io/role/internal-elb", "kubernetes.io/role/elb"
    for subnet, right in ("PublicSubnet", public), ("NodeSubnet", internal):
        for key in (public, internal):
            template = with_second_zone(eks())
            properties(template, "Second")["Tags"] = [{"Key": internal, "Value": "1"}]
            properties(template, subnet)["Tags"] = [{"Key": key, "Value": "1"}]
            expected = [] if key == right else [("HP-SUB-018", subnet)]
            assert [(one.rule, one.resource) for one in findings(template)] == expected, (subnet, key)


def test_all_subnets_may_have_the_tag_of_the_internet() -> None:
    template = eks()
    for subnet in ("PublicSubnet", "NodeSubnet"):
        properties(template, subnet)["Tags"] = [{"Key": "kubernetes.io/role/elb", "Value": "1"}]
    assert rules_of(template) == []


def test_a_scraper_is_in_two_zones() -> None:
    for subnets, rules in (["ControlSubnet1"], ["HP-SUB-014"]), (["ControlSubnet1", "ControlSubnet2"], []):
        template = eks()
        source = {"ClusterArn": {"Fn::GetAtt": ["Control", "Arn"]}, "SubnetIds": [{"Ref": one} for one in subnets]}
        workspace = {"WorkspaceArn": "arn:aws:aps:us-west-2:123456789012:workspace/ws-0"}
        given = {
            "ScrapeConfiguration": {"ConfigurationBlob": "Z2xvYmFsOgogIHNjcmFwZV9pbnRlcnZhbDogMzBzCg=="},
            "Source": {"EksConfiguration": source},
            "Destination": {"AmpConfiguration": workspace},
        }
        template["Resources"]["Scraper"] = {"Type": "AWS::APS::Scraper", "Properties": given}
        assert rules_of(template, rules="HP-SUB-014") == rules
