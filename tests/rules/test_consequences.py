"""One mistake is one finding: what follows from it is held back, and a second mistake is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.analysis.references.parameters import wrong_parameters
from hyperpod_constructs.rules import consequences
from hyperpod_constructs.rules.acknowledgement import Acknowledgement
from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.rules.finding import Hit, Level, hit
from hyperpod_constructs.rules.rule import Rule
from hyperpod_constructs.templates.dependencies import circles, depends_on
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.doubts import Doubts
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.raw import raw_template
from hyperpod_constructs.templates.values import as_str
from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import Template, eks, findings, slurm
from tests.rules.catalogue.test_network import closed
from tests.rules.catalogue.test_permissions import without

QUOTA = {
    "Type": "AWS::SageMaker::ComputeQuota",
    "DependsOn": "Priorities",
    "Properties": {
        "Name": "research",
        "ClusterArn": {"Fn::GetAtt": ["Cluster", "ClusterArn"]},
        "ComputeQuotaTarget": {"TeamName": "research"},
        "ComputeQuotaConfig": {"ComputeQuotaResources": [{"InstanceType": "ml.m5.2xlarge", "Count": 1}]},
    },
}
PRIORITIES = {
    "Type": "AWS::SageMaker::ClusterSchedulerConfig",
    "DependsOn": "Governance",
    "Properties": {
        "Name": "priorities",
        "ClusterArn": {"Fn::GetAtt": ["Cluster", "ClusterArn"]},
        "SchedulerConfig": {"FairShare": "Enabled", "PriorityClasses": [{"Name": "training", "Weight": 50}]},
    },
}
GOVERNANCE = {
    "Type": "AWS::EKS::Addon",
    "DependsOn": "Cluster",
    "Properties": {"ClusterName": {"Ref": "Control"}, "AddonName": "amazon-sagemaker-hyperpod-taskgovernance"},
}
ACL = {
    "Acl": {"Type": "AWS::EC2::NetworkAcl", "Properties": {"VpcId": {"Ref": "Vpc"}}},
    "Associated": {
        "Type": "AWS::EC2::SubnetNetworkAclAssociation",
        "Properties": {"SubnetId": {"Ref": "NodeSubnet"}, "NetworkAclId": {"Ref": "Acl"}},
    },
    **{
        name: {
            "Type": "AWS::EC2::NetworkAclEntry",
            "Properties": {
                "NetworkAclId": {"Ref": "Acl"},
                "RuleNumber": 100,
                "Protocol": -1,
                "RuleAction": "allow",
                "Egress": egress,
                "CidrBlock": "0.0.0.0/0",
            },
        }
        for name, egress in (("In", False), ("Out", True))
    },
}
GROUP = "Cluster/InstanceGroups/0"
KEY = {
    "Type": "AWS::KMS::Key",
    "DeletionPolicy": "Retain",
    "UpdateReplacePolicy": "Retain",
    "Properties": {
        "EnableKeyRotation": True,
        "KeyPolicy": {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": {"AWS": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:root"}},
                    "Action": "kms:*",
                    "Resource": "*",
                }
            ],
        },
    },
}
ENCRYPTED = {"VolumeKmsKeyId": {"Fn::GetAtt": ["VolumeKey", "Arn"]}}
BY_TCP = {
    f"NodeSelf{way}/{key}": value
    for way in ("Ingress", "Egress")
    for key, value in (("IpProtocol", "tcp"), ("FromPort", 0), ("ToPort", 65535))
}
BLOCK = {"Type": "AWS::EC2::VPCCidrBlock", "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "172.20.0.0/16"}}
HOMES = {
    "Homes": {
        "Type": "AWS::FSx::FileSystem",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "DependsOn": ["NodeSelfIngress", "NodeSelfEgress"],
        "Properties": {
            "FileSystemType": "OPENZFS",
            "StorageCapacity": 1024,
            "SubnetIds": [{"Ref": "NodeSubnet"}],
            "SecurityGroupIds": [{"Fn::GetAtt": ["NodeGroup", "GroupId"]}],
            "OpenZFSConfiguration": {
                "DeploymentType": "SINGLE_AZ_2",
                "ThroughputCapacity": 160,
                "AutomaticBackupRetentionDays": 7,
                "RootVolumeConfiguration": {
                    "NfsExports": [{"ClientConfigurations": [{"Clients": "10.0.0.0/16", "Options": ["rw", "crossmnt"]}]}]
                },
            },
        },
    },
    f"{GROUP}/InstanceStorageConfigs/1": {
        "FsxOpenZfsConfig": {"DnsName": {"Fn::GetAtt": ["Homes", "DNSName"]}, "MountPath": "/home"}
    },
}


def governed() -> Template:
    template = eks()
    first = template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][0]["InstanceType"]
    quota = edited({"Resources": {"Quota": QUOTA}}, {"Quota/ComputeQuotaConfig/ComputeQuotaResources/0/InstanceType": first})
    return edited(template, {"Governance": GOVERNANCE, "Priorities": PRIORITIES, "Quota": quota["Resources"]["Quota"]})


def found(template: Template) -> list[tuple[str, str]]:
    return [(one.rule, one.resource) for one in findings(template)]


@pytest.mark.parametrize("template", [governed(), edited(slurm(), ACL)], ids=["governed", "with an ACL"])
def test_the_templates_of_this_page_are_correct(template: Template) -> None:
    assert found(template) == []


ONCE: list[tuple[Template, dict[str, Any], tuple[str, str]]] = [
    # A name that is not known: the policies that need this add-on are not said to be without it.
    (governed(), {"Governance/AddonName": "amazon-sagemaker-hyperpod-task-governance"}, ("HP-ADD-027", "Governance")),
    # An order: the quota awaits the add-on only through the policy.
    (governed(), {"Priorities/.DependsOn": REMOVED}, ("HP-GOV-002", "Priorities")),
    # A word of an enumeration: nobody knows whether the ACL lets traffic through.
    (edited(slurm(), ACL), {"Out/RuleAction": "permit"}, ("HP-SCH-004", "Out")),
    # A type: the resource counts as one of the type that was meant.
    (
        edited(slurm(), ACL),
        {"Associated/.Type": "AWS::EC2::SubnetNetworkAclAssociations", "Out": REMOVED},
        ("HP-SCH-008", "Associated"),
    ),
    # A setting that several features need.
    (
        eks(),
        {
            "Cluster/NodeProvisioningMode": REMOVED,
            f"{GROUP}/CapacityRequirements": {"Spot": {}},
            f"{GROUP}/InstanceType": REMOVED,
            f"{GROUP}/InstanceRequirements": {"InstanceTypes": ["ml.g5.8xlarge", "ml.g5.16xlarge"]},
        },
        ("HP-CAP-002", "Cluster"),
    ),
    # A volume that the service refuses: nobody knows whether it takes a key, and its role may not use that.
    (
        edited(slurm(), {"VolumeKey": KEY}),
        {f"{GROUP}/InstanceStorageConfigs/0": {"EbsVolumeConfig": {"RootVolume": True, "VolumeSizeInGB": 200, **ENCRYPTED}}},
        ("HP-GRP-004", "Cluster"),
    ),
    # A block in the place of a group: EFA has no way either.
    (
        slurm(),
        {"NodeSelfIngress/SourceSecurityGroupId": REMOVED, "NodeSelfIngress/CidrIp": "0.0.0.0/0"},
        ("HP-NET-004", "NodeSelfIngress"),
    ),
    # The name of a service that has an endpoint: another one has none.
    (
        closed(slurm(), "logs", "ssm", "ssmmessages"),
        {"Endpoint2/ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.ssm"}},
        ("HP-END-005", "Endpoint2"),
    ),
    # EFA of a file system, whose role nobody asked for it before.
    (
        edited(without(slurm(), "fsx:DescribeFileSystems"), {"Cluster/InstanceGroups/2/InstanceType": "ml.m5.xlarge", **BY_TCP}),
        {"FileSystem/LustreConfiguration/EfaEnabled": True},
        ("HP-FSN-003", "FileSystem"),
    ),
    # A block that the VPC does not take: what a file system exports to is not judged by it.
    (
        edited(slurm(), HOMES),
        {"Block": BLOCK, "NodeSubnet/CidrBlock": "172.20.0.0/18", "NodeSubnet/.DependsOn": "Block"},
        ("HP-BLK-001", "Block"),
    ),
]


@pytest.mark.parametrize(("base", "wrong", "expected"), ONCE)
def test_one_mistake_is_one_finding(base: Template, wrong: dict[str, Any], expected: tuple[str, str]) -> None:
    assert found(edited(base, wrong))[:1] == [expected]
    assert len(found(edited(base, wrong))) == 1


def test_without_the_mechanism_there_are_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consequences, "_consequences", lambda *_: [])
    assert [len(found(edited(base, wrong))) > 1 for base, wrong, _ in ONCE] == [True] * len(ONCE)


def test_two_mistakes_are_two_findings() -> None:
    """Both are about the way out of the nodes: one alone would hide nothing of the other."""
    wrong = {
        "Out/RuleAction": "permit",
        "NodeGroup/SecurityGroupEgress": [{"IpProtocol": "udp", "FromPort": 1, "ToPort": 9, "CidrIp": "0.0.0.0/0"}],
    }
    assert set(found(edited(edited(slurm(), ACL), wrong))) == {("HP-SCH-004", "Out"), ("HP-REACH-001", "NodeGroup")}


def test_a_second_mistake_of_a_resource_stays() -> None:
    wrong = {
        "Governance/AddonName": "amazon-sagemaker-hyperpod-task-governance",
        "Governance/.DependsOn": REMOVED,
        "Quota/.DependsOn": REMOVED,
    }
    assert ("HP-ADD-027", "Governance") in found(edited(governed(), wrong))
    assert ("HP-GOV-002", "Quota") not in found(edited(governed(), wrong))
    # As soon as the name is right, the order is said.
    assert ("HP-GOV-002", "Quota") in found(edited(governed(), {"Quota/.DependsOn": REMOVED}))


def test_what_follows_from_an_accepted_finding_is_said() -> None:
    template = edited(governed(), {"Governance/AddonName": "amazon-sagemaker-hyperpod-task-governance"})
    accepted = [Acknowledgement(rule="HP-ADD-027", reason="a preview")]
    assert {one.rule for one in check(Model.of({"t": template}), accepted)} == {"HP-GOV-002"}


def test_a_warning_hides_no_error() -> None:
    def at_vpc(model: Model) -> Iterator[Hit]:
        yield from (hit(vpc, "wide", "CidrBlock") for vpc in model.resources("AWS::EC2::VPC") if as_str(vpc.get("CidrBlock")))

    def at_subnet(model: Model) -> Iterator[Hit]:
        known = any(as_str(vpc.get("CidrBlock")) for vpc in model.resources("AWS::EC2::VPC"))
        yield from (hit(one, "outside", "CidrBlock") for one in model.resources("AWS::EC2::Subnet") if known)

    def rule(id: str, level: Level, asked: Callable[[Model], Iterator[Hit]]) -> Rule:
        return Rule(id=id, level=level, title="x", why="x", fix="x", source="x", allowed="x", silences=(), check=asked)

    def rules(level: Level) -> list[Rule]:
        return [rule("HP-ONE-001", level, at_vpc), rule("HP-TWO-001", Level.ERROR, at_subnet)]

    model = Model.of({"t": slurm()})
    assert {one.rule for one in check(model, rules=rules(Level.ERROR))} == {"HP-ONE-001"}
    assert {one.rule for one in check(model, rules=rules(Level.WARNING))} == {"HP-ONE-001", "HP-TWO-001"}


def test_at_a_synth_what_cdk_says_is_a_cause_too() -> None:
    template = edited(edited(slurm(), ACL), {"Out/RuleAction": "permit"})
    assert check(Model.of({"t": template}), validated=True) == []


def with_parameter(kind: str, default: object) -> Template:
    """The block of the offices is a parameter, for a rule and for a route."""
    rule = {"GroupId": {"Ref": "NodeGroup"}, "IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": {"Ref": "Offices"}}
    route = {
        "RouteTableId": {"Ref": "NodeRoutes"},
        "DestinationCidrBlock": {"Ref": "Offices"},
        "TransitGatewayId": "tgw-0123456789abcdef0",
    }
    more = {
        "Shell": {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": rule},
        "ToOffices": {"Type": "AWS::EC2::Route", "Properties": route},
    }
    return {**edited(slurm(), more), "Parameters": {"Offices": {"Type": kind, "Default": default}}}


def test_a_parameter_that_is_wrong_at_several_places_is_one_finding() -> None:
    assert findings(with_parameter("String", "192.168.64.0/18")) == []
    (finding,) = findings(with_parameter("String", "192.168.64.0"))
    assert finding.rule == "HP-SCH-004"
    assert "its parameter also gives" in finding.message


def test_a_default_that_its_parameter_does_not_take_is_the_mistake() -> None:
    (finding,) = findings(with_parameter("Number", "192.168.64.0"))
    assert (finding.rule, finding.resource) == ("HP-REF-004", "Offices")


def test_a_warning_is_as_sure_as_what_follows_from_it() -> None:
    """A text without `Fn::Sub` may be meant; with this one no role can read the scripts."""
    (finding,) = findings(edited(slurm(), {f"{GROUP}/LifeCycleConfig/SourceS3Uri": "s3://${Scripts}/lifecycle"}))
    assert (finding.rule, finding.resource, finding.level) == ("HP-REF-009", "Cluster", Level.ERROR)
    assert "may not read the lifecycle scripts" in finding.message


def test_a_setting_that_explains_several_mistakes_of_its_resource_is_one_finding() -> None:
    wrong = {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 1000, "EfaEnabled": True}
    edits = {f"FileSystem/LustreConfiguration/{name}": value for name, value in wrong.items()}
    (finding,) = findings(edited(slurm(), edits))
    assert finding.resource == "FileSystem"
    assert finding.message.endswith("EfaEnabled on a PERSISTENT_1 file system; all because of DeploymentType PERSISTENT_1")


def test_a_name_of_nobody_in_an_order_is_the_mistake_of_the_order() -> None:
    assert found(edited(governed(), {"Quota/.DependsOn": "Prioritys"})) == [("HP-REF-001", "Quota")]


def test_a_reference_in_doubt_is_not_read_in_the_text_of_the_template_either() -> None:
    """A circle of dependencies follows from each of the references that close it."""
    template = edited(slurm(), {"Scripts/Tags": [{"Key": "of", "Value": {"Ref": "Cluster"}}]})
    model = Model.of({"t": template})
    assert [len(way) for one in model.templates for way in circles(one)] == [2]
    (scripts,) = [one for one in model.resources("AWS::S3::Bucket") if one.logical_id == "Scripts"]
    doubting = model.doubting(Doubts(values={scripts.key: [("Tags", 0, "Value")]}))
    assert not [way for one in doubting.templates for way in circles(one)]
    (scripts,) = [one for one in doubting.resources("AWS::S3::Bucket") if one.logical_id == "Scripts"]
    assert "AWS::SageMaker::Cluster" in {one.type for one in depends_on(scripts)}


def test_subnets_outside_of_one_vpc_are_one_finding() -> None:
    blocks = {"Near": "172.31.0.0/24", "Far": "172.31.1.0/24"}
    more = {
        name: {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": block}}
        for name, block in blocks.items()
    }
    (finding,) = findings(edited(slurm(), more))
    assert (finding.rule, finding.resource) == ("HP-BLK-002", "Near")
    assert finding.message.endswith("so is 172.31.1.0/24 of Far")


def test_properties_that_exclude_each_other_are_one_finding() -> None:
    metric = {"MetricName": "m", "MetricNamespace": "n", "MetricValue": "1", "DefaultValue": 0}
    metric["Dimensions"] = [{"Key": "level", "Value": "$.level"}]
    filter_ = {"LogGroupName": "jobs", "FilterPattern": "ERROR", "MetricTransformations": [metric]}
    template = edited(slurm(), {"Errors": {"Type": "AWS::Logs::MetricFilter", "Properties": filter_}})
    (finding,) = findings(template)
    assert finding.message == "Dimensions and DefaultValue exclude each other"


def with_idle_group() -> Template:
    """A group that a function could have: nothing is let in, and all out."""
    properties = {"GroupDescription": "functions", "VpcId": {"Ref": "Vpc"}}
    return edited(slurm(), {"Idle": {"Type": "AWS::EC2::SecurityGroup", "Properties": properties}})


def test_a_reference_to_another_group_is_one_finding_at_the_reference() -> None:
    wrong = {"Cluster/VpcConfig/SecurityGroupIds/0": {"Fn::GetAtt": ["Idle", "GroupId"]}}
    (finding,) = findings(edited(with_idle_group(), wrong))
    assert (finding.resource, finding.path) == ("Cluster", "Properties/VpcConfig/SecurityGroupIds/0")
    assert "cannot reach FileSystem" in finding.message
    assert finding.message.endswith("none of this with NodeGroup at VpcConfig/SecurityGroupIds/0")


def test_no_reference_explains_two_mistakes_that_have_nothing_in_common() -> None:
    wrong = {
        "NodeSelfEgress/DestinationSecurityGroupId": {"Fn::GetAtt": ["Idle", "GroupId"]},
        "FileSystem/LustreConfiguration/PerUnitStorageThroughput": 300,
    }
    assert {one.resource for one in findings(edited(with_idle_group(), wrong))} == {"NodeGroup", "FileSystem"}


def test_a_role_of_another_service_is_one_finding_at_the_reference() -> None:
    """The cluster has one of the mistakes itself: it does not await a policy of that role."""
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    write = {"Effect": "Allow", "Action": "sns:Publish", "Resource": "arn:aws:sns:us-west-2:123456789012:notes"}
    role = {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]}}
    document = {"Version": "2012-10-17", "Statement": [write]}
    policy = {"PolicyName": "notes", "Roles": [{"Ref": "Notes"}], "PolicyDocument": document}
    more = {
        "Notes": {"Type": "AWS::IAM::Role", "Properties": role},
        "NotesPolicy": {"Type": "AWS::IAM::Policy", "Properties": policy},
    }
    assert findings(edited(slurm(), more)) == []
    (finding,) = findings(edited(slurm(), {**more, "Cluster/InstanceGroups/0/ExecutionRole": {"Fn::GetAtt": ["Notes", "Arn"]}}))
    assert (finding.resource, finding.path) == ("Cluster", "Properties/InstanceGroups/0/ExecutionRole")
    assert "cannot be assumed" in finding.message
    assert "does not await the policy NotesPolicy" in finding.message


def in_two_stacks(template: Template) -> dict[str, Template]:
    """The cluster of a template in a stack of its own, which imports what it names."""
    resources = dict(template["Resources"])
    outputs: Template = {}

    def imported(value: Any) -> Any:
        if isinstance(value, list):
            return [imported(one) for one in value]
        if not isinstance(value, dict):
            return value
        if [*value] in (["Ref"], ["Fn::GetAtt"]):
            name = "-".join(["team", *([value["Ref"]] if "Ref" in value else value["Fn::GetAtt"])])
            outputs[name.replace("-", "")] = {"Value": value, "Export": {"Name": name}}
            return {"Fn::ImportValue": name}
        if "Fn::Sub" in value:
            return {"Fn::Sub": [value["Fn::Sub"], {"Scripts": imported({"Ref": "Scripts"})}]}
        return {key: imported(one) for key, one in value.items()}

    cluster = {"Type": resources["Cluster"]["Type"], "Properties": imported(resources.pop("Cluster")["Properties"])}
    idle = {"Value": {"Fn::GetAtt": ["Idle", "GroupId"]}, "Export": {"Name": "team-Idle-GroupId"}}
    network = {"Resources": resources, "Outputs": {**outputs, "Idle": idle}}
    return {"network": network, "cluster": {"Resources": {"Cluster": cluster}}}


def test_an_import_of_another_group_is_one_finding_at_the_import() -> None:
    right = in_two_stacks(with_idle_group())
    assert check(Model.of(right)) == []
    wrong = edited(right["cluster"], {"Cluster/VpcConfig/SecurityGroupIds/0": {"Fn::ImportValue": "team-Idle-GroupId"}})
    (finding,) = check(Model.of({**right, "cluster": wrong}))
    assert (finding.resource, finding.path) == ("Cluster", "Properties/VpcConfig/SecurityGroupIds/0")
    assert finding.message.endswith("none of this with team-NodeGroup-GroupId at VpcConfig/SecurityGroupIds/0")


def in_two_nested_stacks(group: str = "teamNodeGroupGroupId") -> Model:
    """The same as nested stacks: outputs of one, of which this one is the group of nodes, are parameters of the other."""
    stacks = in_two_stacks(with_idle_group())

    def referred(value: Any) -> Any:
        if isinstance(value, dict) and [*value] == ["Fn::ImportValue"]:
            return {"Ref": value["Fn::ImportValue"].replace("-", "")}
        if isinstance(value, list):
            return [referred(one) for one in value]
        return {key: referred(one) for key, one in value.items()} if isinstance(value, dict) else value

    outputs = {name: {"Fn::GetAtt": ["Network", f"Outputs.{name}"]} for name in stacks["network"]["Outputs"]}
    cluster = {"Parameters": {name: {"Type": "String"} for name in outputs}, **referred(stacks["cluster"])}
    given = {**outputs, "teamNodeGroupGroupId": outputs[group]}
    main = {
        name: {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": f"https://s3/b/{name}.json", **more}}
        for name, more in (("Network", {}), ("Nodes", {"Parameters": given}))
    }
    bodies = {"Network": stacks["network"], "Nodes": cluster}
    nested = {name: Document(name=name, body=raw_template(body)) for name, body in bodies.items()}
    return Model([Document(name="main", body=raw_template({"Resources": main}), nested=nested)])


def test_an_output_of_another_group_is_one_finding_at_the_nested_stack() -> None:
    before = check(in_two_nested_stacks())
    (finding,) = [one for one in check(in_two_nested_stacks("Idle")) if one not in before]
    assert (finding.resource, finding.path) == ("Nodes", "Properties/Parameters/teamNodeGroupGroupId")
    assert finding.message.endswith("none of this with Network.Outputs.teamNodeGroupGroupId at Parameters/teamNodeGroupGroupId")


def of_team(name: str) -> dict[str, Template]:
    """A stack that exports names of its team, and one of the same parameter, with this default, that reads them."""
    team = {"Team": {"Type": "String", "Default": "weavers"}}
    logs = {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": {"Fn::Sub": "/${Team}/jobs"}, "RetentionInDays": 30}}
    topic = {"Value": {"Ref": "Alerts"}, "Export": {"Name": {"Fn::Sub": "${Team}-alerts"}}}
    giver = {"Parameters": team, "Resources": {"Logs": logs, "Alerts": {"Type": "AWS::SNS::Topic"}}, "Outputs": {"Alerts": topic}}
    metric = {"MetricName": "Errors", "MetricNamespace": "Team", "MetricValue": "1"}
    filter_ = {"LogGroupName": {"Fn::Sub": "/${Team}/jobs"}, "FilterPattern": "ERROR", "MetricTransformations": [metric]}
    subscription = {
        "TopicArn": {"Fn::ImportValue": {"Fn::Sub": "${Team}-alerts"}},
        "Protocol": "email",
        "Endpoint": "oncall@example.com",
    }
    user = {
        "Parameters": {"Team": {"Type": "String", "Default": name}},
        "Resources": {
            "Errors": {"Type": "AWS::Logs::MetricFilter", "Properties": filter_},
            "OnCall": {"Type": "AWS::SNS::Subscription", "Properties": subscription},
        },
    }
    return {"giver": giver, "user": user}


def test_a_parameter_with_another_value_than_its_namesake_is_one_finding() -> None:
    assert check(Model.of(of_team("weavers"))) == []
    (finding,) = check(Model.of(of_team("weaver")))
    assert (finding.template, finding.resource) == ("user", "Team")
    assert finding.message.endswith("none of this with Team 'weavers', as another template has it")


def test_a_parameter_that_loses_all_imports_is_their_mistake() -> None:
    """One finding speaks for several imports already."""
    team = {"Team": {"Type": "String", "Default": "weavers"}}
    names = ("alerts", "errors")
    topics = {name: {"Type": "AWS::SNS::Topic"} for name in names}
    outputs = {name: {"Value": {"Ref": name}, "Export": {"Name": {"Fn::Sub": f"${{Team}}-{name}"}}} for name in names}
    given = {"Protocol": "email", "Endpoint": "oncall@example.com"}
    users = {
        f"To{name}": {
            "Type": "AWS::SNS::Subscription",
            "Properties": {**given, "TopicArn": {"Fn::ImportValue": {"Fn::Sub": f"${{Team}}-{name}"}}},
        }
        for name in names
    }
    user = {"Parameters": {"Team": {"Type": "String", "Default": "weaver"}}, "Resources": users}
    (found,) = check(Model.of({"giver": {"Parameters": team, "Resources": topics, "Outputs": outputs}, "user": user}))
    assert (found.rule, found.template, found.resource) == ("HP-REF-007", "user", "Team")
    assert found.message.endswith("none of this with Team 'weavers', as another template has it")


def test_a_namesake_explains_no_mistake_that_stays_with_its_value() -> None:
    wrong = {"Errors/LogGroupName": {"Fn::Sub": "/${Team}/job"}, "OnCall/Protocol": "mail"}
    given = of_team("weavers")
    found = check(Model.of({**given, "user": edited(given["user"], wrong)}))
    assert {one.resource for one in found} == {"Errors", "OnCall"}


def test_an_export_that_is_wrong_in_several_stacks_is_one_finding() -> None:
    outputs = {"Nodes": {"Value": {"Ref": "Vpc"}, "Export": {"Name": "nodes"}}}
    target = {"FileSystemId": "fs-0123456789abcdef0", "SubnetId": {"Fn::ImportValue": "nodes"}}
    stacks = {
        name: {
            "Resources": {
                name: {"Type": "AWS::EFS::MountTarget", "Properties": {**target, "SecurityGroups": ["sg-0123456789abcdef0"]}}
            }
        }
        for name in ("One", "Other")
    }
    model = Model.of({"network": {**slurm(), "Outputs": outputs}, **stacks})
    wrong = [one for one in check(model) if one.rule == "HP-REF-012"]
    assert len(wrong) == 1
    assert wrong[0].message.endswith("its export also gives SubnetId of Other")


VAULT = {
    "Type": "AWS::Backup::BackupVault",
    "Properties": {"BackupVaultName": "vault", "EncryptionKeyArn": {"Fn::ImportValue": "given"}},
}


def reader(*resources: object, **more: object) -> Template:
    """A managed policy on some resources."""
    statements = [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": one} for one in resources]
    document = {"Version": "2012-10-17", "Statement": statements}
    return {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": document, **more}}


def with_import(text: str) -> Template:
    return {"Fn::Sub": [text, {"Given": {"Fn::ImportValue": "given"}}]}


@pytest.mark.parametrize(
    ("given", "users"),
    [
        ({"Ref": "VolumeKey"}, {"Vault": VAULT, "Own": reader({"Fn::ImportValue": "given"})}),
        (
            {"Ref": "Store"},
            {"Own": reader({"Fn::ImportValue": "given"}, with_import("${Given}/a/*")), "More": reader(with_import("${Given}/*"))},
        ),
        (
            {"Fn::GetAtt": ["Store", "Arn"]},
            {
                "Own": reader(with_import("arn:aws:s3:::${Given}"), with_import("arn:aws:s3:::${Given}/*")),
                "Rules": {
                    "Type": "AWS::S3::BucketPolicy",
                    "Properties": {"Bucket": {"Fn::ImportValue": "given"}, "PolicyDocument": {}},
                },
            },
        ),
        (
            {"Fn::GetAtt": ["Store", "RegionalDomainName"]},
            {
                "Own": reader(
                    [with_import("arn:${AWS::Partition}:s3:::${Given}"), "arn:aws:s3:::a"], with_import("arn:aws:s3:::${Given}/*")
                )
            },
        ),
        (
            "alias/own",
            {"Vault": VAULT, "Own": reader({"Fn::ImportValue": "given"}), "More": reader([{"Fn::ImportValue": "given"}])},
        ),
    ],
)
def test_a_reference_of_another_kind_that_an_export_hands_on_is_one_finding(given: Template, users: Template) -> None:
    giver = {
        "Resources": {"VolumeKey": KEY, "Store": {"Type": "AWS::S3::Bucket"}},
        "Outputs": {"Given": {"Value": given, "Export": {"Name": "given"}}},
    }
    model = Model.of({"giver": giver, "user": {"Resources": users}})
    assert len([one for one in check(model) if one.rule in {"HP-REF-012", "HP-POL-001", "HP-SCH-004", "HP-SCH-007"}]) == 1


def test_a_reference_of_another_kind_does_not_hide_that_of_its_neighbour() -> None:
    outputs = {
        "One": {"Value": {"Ref": "VolumeKey"}, "Export": {"Name": "given"}},
        "Two": {"Value": {"Ref": "Store"}, "Export": {"Name": "two"}},
    }
    giver = {"Resources": {"VolumeKey": KEY, "Store": {"Type": "AWS::S3::Bucket"}}, "Outputs": outputs}
    model = Model.of({"giver": giver, "user": {"Resources": {"Vault": VAULT, "Own": reader({"Fn::ImportValue": "two"})}}})
    assert {one.rule for one in check(model)} >= {"HP-REF-012", "HP-POL-001"}


def test_a_function_whose_log_group_has_a_wrong_name_is_one_finding() -> None:
    """The role may write into the group, whatever it is called."""
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    write = {
        "Effect": "Allow",
        "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
        "Resource": {"Fn::GetAtt": ["Lines", "Arn"]},
    }
    role = {
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
        "Policies": [{"PolicyName": "write", "PolicyDocument": {"Version": "2012-10-17", "Statement": [write]}}],
    }
    code = {"ZipFile": "def handler(event, context):\n    return 1\n"}
    function = {
        "FunctionName": "reviewer",
        "Runtime": "python3.13",
        "Handler": "index.handler",
        "Role": {"Fn::GetAtt": ["Writer", "Arn"]},
    }
    resources = {
        "Lines": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "/aws/lambda/reviewer", "RetentionInDays": 30}},
        "Writer": {"Type": "AWS::IAM::Role", "Properties": role},
        "Reviewer": {"Type": "AWS::Lambda::Function", "DependsOn": "Lines", "Properties": {**function, "Code": code}},
    }
    assert findings({"Resources": resources}) == []
    wrong = edited({"Resources": resources}, {"Lines/LogGroupName": "/aws/lambda/reviewers"})
    assert [one.resource for one in findings(wrong)] == ["Lines"]


def test_an_output_that_is_wrong_in_several_nested_stacks_is_one_finding() -> None:
    target = {"FileSystemId": "fs-0123456789abcdef0", "SecurityGroups": ["sg-0123456789abcdef0"], "SubnetId": {"Ref": "Subnet"}}
    mount = {"Target": {"Type": "AWS::EFS::MountTarget", "Properties": target}}
    user = {"Parameters": {"Subnet": {"Type": "String"}}, "Resources": mount}
    network = {"Resources": {"Vpc": {"Type": "AWS::EC2::VPC"}}, "Outputs": {"Subnet": {"Value": {"Ref": "Vpc"}}}}
    given = {"Parameters": {"Subnet": {"Fn::GetAtt": ["Network", "Outputs.Subnet"]}}}
    stacks = {
        name: {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": f"https://s3/b/{name}.json", **more}}
        for name, more in (("Network", {}), ("One", given), ("Other", given))
    }
    templates = {"Network": network, "One": user, "Other": user}
    nested = {name: Document(name=name, body=raw_template(template)) for name, template in templates.items()}
    model = Model([Document(name="main", body=raw_template({"Resources": stacks}), nested=nested)])
    (wrong,) = [one for one in check(model) if one.rule == "HP-REF-012"]
    assert wrong.message.endswith("its output also gives SubnetId of Target")


def of_issuer(host: Any, topic: Any) -> Model:
    """A stack that hands a name of an issuer and a topic to a nested one, where roles use both."""
    control = {"Type": "AWS::EKS::Cluster", "Properties": {"RoleArn": "arn:aws:iam::111122223333:role/eks"}}
    trust = """{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity",
        "Principal": {"Federated": "arn:aws:iam::111122223333:oidc-provider/${Host}"},
        "Condition": {"StringEquals": {"${Host}:aud": "sts.amazonaws.com", "${Host}:sub": "system:serviceaccount:a:b"}}}]}"""
    tell = {"Effect": "Allow", "Action": "sns:Publish", "Resource": {"Ref": "Topic"}}
    policies = [{"PolicyName": "tell", "PolicyDocument": {"Version": "2012-10-17", "Statement": [tell]}}]
    role = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {"Fn::Sub": trust}, "Policies": policies}}
    names = {"Host": {"Type": "String"}, "Topic": {"Type": "String"}}
    given = {"TemplateURL": "https://s3/b/roles.json", "Parameters": {"Host": host, "Topic": topic}}
    stack = {"Type": "AWS::CloudFormation::Stack", "Properties": given}
    alerts = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "alerts"}}
    roles = Document(name="roles", body=raw_template({"Parameters": names, "Resources": {"One": role, "Other": role}}))
    resources = {"Control": control, "Alerts": alerts, "Roles": stack}
    return Model([Document(name="main", body=raw_template({"Resources": resources}), nested={"Roles": roles})])


ISSUER = {"Fn::GetAtt": ["Control", "OpenIdConnectIssuerUrl"]}
NAME = {"Fn::Select": [1, {"Fn::Split": ["//", ISSUER]}]}


@pytest.mark.parametrize(
    ("host", "topic", "rule", "parameter"),
    [
        (ISSUER, {"Ref": "Alerts"}, "HP-WID-005", "Host"),
        (NAME, {"Fn::GetAtt": ["Alerts", "TopicName"]}, "HP-POL-001", "Topic"),
        (NAME, {"Ref": "Alerts"}, None, ""),
    ],
)
def test_a_parameter_of_a_nested_stack_with_several_wrong_uses_is_one_finding_at_its_giver(
    host: Any, topic: Any, rule: str | None, parameter: str
) -> None:
    found = [one for one in check(of_issuer(host, topic)) if one.rule in ("HP-WID-005", "HP-POL-001")]
    places = [(one.rule, one.resource, one.path) for one in found]
    assert places == ([] if rule is None else [(rule, "Roles", f"Properties/Parameters/{parameter}")])
    assert all("its parameter gives" in one.message and "of One" in one.message and "of Other" in one.message for one in found)


def test_needs_of_a_database_that_the_cluster_cannot_have_are_not_said() -> None:
    at = "Cluster/Orchestrator/Slurm/AccountingDatabase"
    elsewhere = {"Endpoint": "db.example.com", "SecretArn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf"}
    assert "HP-PERM-001" in {one.rule for one in findings(edited(slurm(), {at: elsewhere}))}
    (found,) = findings(edited(slurm(), {at: elsewhere, "Cluster/NodeProvisioningMode": REMOVED}))
    assert found.rule == "HP-SLM-006"


def test_items_of_one_list_are_one_finding() -> None:
    kinds = ["SageMaker Hyperpod Cluster State Change", "SageMaker Hyperpod Cluster Node Health Event"]
    pattern = {"source": ["aws.sagemaker"], "detail-type": kinds}
    target = {"Id": "a", "Arn": "arn:aws:sns:us-west-2:123456789012:alerts"}
    rule = {"Type": "AWS::Events::Rule", "Properties": {"EventPattern": pattern, "Targets": [target]}}
    (finding,) = findings(edited(slurm(), {"Health": rule}))
    assert all(kind in finding.message for kind in kinds)


def test_a_key_that_gives_another_kind_of_thing_is_not_missing_besides() -> None:
    destination = {"LogType": "ALERT", "LogDestinationType": "CloudWatchLogs", "LogDestination": {"bucketName": {"Ref": "Lines"}}}
    logging = {
        "FirewallArn": "arn:aws:network-firewall:us-west-2:123456789012:firewall/one",
        "LoggingConfiguration": {"LogDestinationConfigs": [destination]},
    }
    more = {
        "Lines": {"Type": "AWS::Logs::LogGroup", "DeletionPolicy": "Delete", "Properties": {"RetentionInDays": 30}},
        "Logging": {"Type": "AWS::NetworkFirewall::LoggingConfiguration", "Properties": logging},
    }
    assert [one for one in found(edited(slurm(), more)) if one[1] == "Logging"] == [("HP-REF-012", "Logging")]


def test_what_puts_nothing_in_doubt_takes_no_place_among_the_causes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one cause is asked: the network that is wrong as a whole is none."""
    monkeypatch.setattr(consequences, "_MOST_CAUSES", 1)

    def rule(id: str, asked: Callable[[Model], Iterator[Hit]]) -> Rule:
        return Rule(id=id, level=Level.ERROR, title="x", why="x", fix="x", source="x", allowed="x", silences=(), check=asked)

    def whole(model: Model) -> Iterator[Hit]:
        yield from (hit(vpc, "wrong") for vpc in model.resources("AWS::EC2::VPC"))

    def wide(model: Model) -> Iterator[Hit]:
        yield from (hit(vpc, "wide", "CidrBlock") for vpc in model.resources("AWS::EC2::VPC") if as_str(vpc.get("CidrBlock")))

    def follows(model: Model) -> Iterator[Hit]:
        yield from (hit(one, "outside") for one in model.resources("AWS::EC2::Subnet") if [*wide(model)])

    rules = [rule("HP-ONE-001", whole), rule("HP-TWO-001", wide), rule("HP-TWO-002", follows)]
    assert {one.rule for one in check(Model.of({"t": slurm()}), rules=rules)} == {"HP-ONE-001", "HP-TWO-001"}


SHARED = {"SpaceSharingSettings": {"SharingType": "Private"}}


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        (SHARED, ["HP-SCH-007"]),
        (
            {"SpaceSharingSettings": {"SharingType": "Private"}, "OwnershipSettings": {"OwnerUserProfileName": "ada"}},
            ["HP-DEP-002"],
        ),
        ({**SHARED, "OwnershipSettings": {"OwnerUserProfileName": {"Ref": "Ada"}}}, []),
    ],
)
def test_an_order_is_not_judged_where_a_property_that_may_say_it_is_missing(given: Any, rules: list[str]) -> None:
    domain = {"DomainId": "d-0123456789ab"}
    desk = {"Type": "AWS::SageMaker::Space", "Properties": {**domain, "SpaceName": "desk", **given}}
    ada = {"Type": "AWS::SageMaker::UserProfile", "Properties": {**domain, "UserProfileName": "ada"}}
    assert [one.rule for one in findings(edited(slurm(), {"Desk": desk, "Ada": ada})) if one.resource == "Desk"] == rules


def test_a_parameter_is_asked_before_the_values_of_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consequences, "_MOST_CAUSES", 1)

    def rule(id: str, asked: Callable[[Model], Iterator[Hit]]) -> Rule:
        return Rule(id=id, level=Level.ERROR, title="x", why="x", fix="x", source="x", allowed="x", silences=(), check=asked)

    def wide(model: Model) -> Iterator[Hit]:
        yield from (hit(vpc, "wide", "CidrBlock") for vpc in model.resources("AWS::EC2::VPC") if as_str(vpc.get("CidrBlock")))

    def default(model: Model) -> Iterator[Hit]:
        yield from (hit(one.owner, one.message) for one in wrong_parameters(model))

    def follows(model: Model) -> Iterator[Hit]:
        subnets = model.resources("AWS::EC2::Subnet")
        yield from (hit(one, "elsewhere") for one in subnets if as_str(one.get("AvailabilityZone")) == "us-east-1a")

    zone = {"Type": "String", "Default": "us-east-1a", "AllowedPattern": "us-west-2[a-d]"}
    template = edited({**slurm(), "Parameters": {"Zone": zone}}, {"NodeSubnet/AvailabilityZone": {"Ref": "Zone"}})
    rules = [rule("HP-ONE-001", wide), rule("HP-TWO-001", default), rule("HP-TWO-002", follows)]
    assert {one.rule for one in check(Model.of({"t": template}), rules=rules)} == {"HP-ONE-001", "HP-TWO-001"}


def access(principal: object) -> Template:
    return {"Type": "AWS::EKS::AccessEntry", "Properties": {"ClusterName": {"Ref": "Name"}, "PrincipalArn": principal}}


@pytest.mark.parametrize(("back", "rules"), [({"DependsOn": "One"}, ["HP-DEP-001"]), ({}, ["HP-LIM-004"])])
def test_what_stacks_in_a_circle_give_each_other_is_in_doubt(back: Template, rules: list[str]) -> None:
    """A role gets its entry in both stacks; if there is a circle, the one that gets it from the other should have got another."""
    trust = {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "sts:AssumeRole"}
    people = {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]}}
    name = {"Name": {"Type": "String"}}
    one = {"Parameters": {"Role": {"Type": "String"}, **name}, "Resources": {"Entry": access({"Ref": "Role"})}}
    arn = {"Fn::GetAtt": ["People", "Arn"]}
    two = {
        "Parameters": name,
        "Resources": {"People": {"Type": "AWS::IAM::Role", "Properties": people}, "Own": access(arn)},
        "Outputs": {"Arn": {"Value": arn}},
    }
    given: Template = {"One": {"Role": {"Fn::GetAtt": ["Two", "Outputs.Arn"]}}, "Two": {}}
    stacks: Template = {
        name: {
            "Type": "AWS::CloudFormation::Stack",
            "Properties": {"TemplateURL": f"https://s3/b/{name}.json", "Parameters": {"Name": {"Ref": "Control"}, **parameters}},
        }
        for name, parameters in given.items()
    }
    stacks["Two"].update(back)
    nested = {name: Document(name=name, body=raw_template(body)) for name, body in (("One", one), ("Two", two))}
    model = Model([Document(name="main", body=raw_template(edited(eks(), stacks)), nested=nested)])
    assert [one.rule for one in check(model) if one.rule in {"HP-DEP-001", "HP-LIM-004"}] == rules
