from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnOutput, CfnParameter, Environment, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk.assertions import Template

from hyperpod_constructs import (
    ClusterInstanceType,
    ClusterNetwork,
    HyperPodCluster,
    InstanceGroup,
    LustreMount,
    LustreStorage,
    Preflight,
    SlurmNodeType,
)
from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.placement import node_groups
from hyperpod_constructs.analysis.subnet_needs import addresses_of_group
from hyperpod_constructs.cli.preflight_wanted import Reading
from hyperpod_constructs.custom_resources.preflight_properties import _bucket
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.model import Model
from tests.custom_resources.l1_cluster import ROLE, l1_cluster, l1_file_system, l1_group

TYPE = "Custom::HyperPodPreflight"
P5 = ClusterInstanceType.of("ml.p5.48xlarge")


def properties(stack: Stack) -> dict[str, Any]:
    [found] = Template.from_stack(stack).find_resources(TYPE).values()
    return dict(found["Properties"])


def statements(stack: Stack) -> list[dict[str, Any]]:
    policies = Template.from_stack(stack).find_resources("AWS::IAM::Policy")
    [found] = [policy for name, policy in policies.items() if name.startswith("PreflightPolicy")]
    return list(found["Properties"]["PolicyDocument"]["Statement"])


def test_reads_what_the_deployment_wants_from_the_cluster(stack: Stack) -> None:
    volumes = [{"ebsVolumeConfig": {"volumeSizeInGb": 500}}]
    plan = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/big"
    kinds = sagemaker.CfnCluster.InstanceRequirementsProperty(instance_types=["ml.p5.48xlarge", "ml.g5.xlarge"])
    cluster = l1_cluster(
        stack,
        l1_group("workers", 4, instance_storage_configs=volumes, training_plan_arn=plan),
        l1_group("mixed", 2, instance_requirements=kinds),
        l1_group("new", 1, kind="ml.x9.giant"),
    )
    Preflight(stack, "Preflight", cluster=cluster)
    found = properties(stack)
    assert (found["ClusterName"], found["ClusterLogicalId"], found["Roles"]) == ("demo", "Cluster", [ROLE])
    assert "Bucket" not in found
    each = {"Addresses": 1, "Interfaces": 1, "VolumeGb": 0, "Subnets": ["subnet-1"]}
    assert found["Groups"] == [
        {
            **each,
            "Name": "workers",
            "Count": 4,
            "InstanceTypes": ["ml.p5.48xlarge"],
            "Addresses": 32,
            "Interfaces": 32,
            "VolumeGb": 500,
            "TrainingPlan": plan,
        },
        {**each, "Name": "mixed", "Count": 2, "InstanceTypes": ["ml.p5.48xlarge", "ml.g5.xlarge"]},
        {**each, "Name": "new", "Count": 1, "InstanceTypes": ["ml.x9.giant"]},
    ]


def test_pods_on_eks_take_addresses(stack: Stack) -> None:
    eks = sagemaker.CfnCluster.OrchestratorProperty(eks={"clusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/x"})
    Preflight(stack, "Preflight", cluster=l1_cluster(stack, l1_group("workers", 1), orchestrator=eks))
    assert properties(stack)["Groups"][0]["Addresses"] == 81


@pytest.mark.parametrize("on_eks", [False, True])
def test_the_construct_and_the_command_count_the_same(stack: Stack, on_eks: bool) -> None:
    """Addresses too, which the interfaces of EFA alone do not have; and what the rule counts."""
    eks = sagemaker.CfnCluster.OrchestratorProperty(eks={"clusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/x"})
    mixed = sagemaker.CfnCluster.InstanceRequirementsProperty(instance_types=["ml.p5.48xlarge", "ml.p4d.24xlarge"])
    alone, both = (sagemaker.CfnCluster.ClusterNetworkInterfaceProperty(interface_type=kind) for kind in ("efa-only", "efa"))
    groups = [
        l1_group("alone", 2, network_interface=alone),
        l1_group("both", 2, network_interface=both),
        l1_group("default", 2),
        l1_group("mixed", 2, instance_requirements=mixed),
        l1_group("mixed-alone", 2, instance_requirements=mixed, network_interface=alone),
        l1_group("new", 2, kind="ml.x9.giant", network_interface=alone),
    ]
    Preflight(stack, "Preflight", cluster=l1_cluster(stack, *groups, orchestrator=eks if on_eks else None))
    told = {group["Name"]: (group["Addresses"], group["Interfaces"]) for group in properties(stack)["Groups"]}
    cards = [("alone", 1, 32), ("both", 32, 32), ("default", 32, 32), ("mixed", 4, 4), ("mixed-alone", 1, 4), ("new", 1, 1)]
    pods = 49 if on_eks else 0
    assert told == {name: (addresses + pods * (name != "new"), interfaces) for name, addresses, interfaces in cards}
    model = Model([Document(name="Stack", body=Template.from_stack(stack).to_json())])
    [cluster] = clusters(model)
    read = Reading(model, cluster, "us-west-2").groups
    assert {group.name: (group.addresses, group.interfaces) for group in read} == told
    assert {group.label: addresses_of_group(group) for group in node_groups(model)} == {name: 2 * told[name][0] for name in told}


def test_a_group_with_subnets_of_its_own(stack: Stack) -> None:
    place = sagemaker.CfnCluster.VpcConfigProperty(subnets=["subnet-2"], security_group_ids=["sg-1"])
    Preflight(stack, "Preflight", cluster=l1_cluster(stack, l1_group("workers", 1, override_vpc_config=place)))
    assert properties(stack)["Groups"][0]["Subnets"] == ["subnet-2"]


def test_file_systems_await_the_preflight_with_their_addresses(stack: Stack) -> None:
    system = l1_file_system(stack)
    Preflight(stack, "Preflight", cluster=l1_cluster(stack, l1_group("workers", 1)), file_systems=[system])
    assert properties(stack)["FileSystems"] == [
        {"LogicalId": "Lustre", "Subnet": "subnet-1", "Addresses": 3, "CapacityGib": 4800, "Quota": "Lustre Persistent_2"}
    ]
    resources = Template.from_stack(stack).to_json()["Resources"]
    [gate] = [name for name, resource in resources.items() if resource["Type"] == TYPE]
    assert gate in resources["Lustre"]["DependsOn"]
    assert gate in resources["Cluster"]["DependsOn"]


def test_tokens_pass_through(stack: Stack) -> None:
    count = CfnParameter(stack, "Count", type="Number").value_as_number
    kind, subnet, name = (CfnParameter(stack, id).value_as_string for id in ("Kind", "Subnet", "Name"))
    Preflight(stack, "Preflight", cluster=l1_cluster(stack, l1_group("workers", count, kind=kind), subnet=subnet, name=name))
    found = properties(stack)
    [group] = found["Groups"]
    assert (group["Count"], group["InstanceTypes"], group["Subnets"]) == ({"Ref": "Count"}, [{"Ref": "Kind"}], [{"Ref": "Subnet"}])
    assert group["Addresses"] == 1
    assert found["ClusterName"] == {"Ref": "Name"}


def test_a_whole_cluster_with_its_network_and_storage_has_no_circle(stack: Stack) -> None:
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az1")
    lustre = LustreStorage(stack, "Lustre", network=network)
    workers = InstanceGroup(name="workers", instance_type=P5, count=2, file_systems=[LustreMount(file_system=lustre)])
    controller = InstanceGroup(name="controller", instance_type=P5, count=1, node_type=SlurmNodeType.CONTROLLER)
    cluster = HyperPodCluster(stack, "Cluster", network=network, instance_groups=[controller, workers])
    Preflight(stack, "Preflight", cluster=cluster, file_systems=[lustre])
    cluster.add_instance_group(InstanceGroup(name="late", instance_type=P5, count=1))
    found = properties(stack)  # Template.from_stack refuses cycles
    assert [group["Name"] for group in found["Groups"]] == ["controller", "workers", "late"]
    [bucket] = [name for name in Template.from_stack(stack).find_resources("AWS::S3::Bucket") if "Scripts" in name]
    assert found["Bucket"] == {"Ref": bucket}
    assert "ClusterName" not in found


def test_permissions_name_role_bucket_plan_and_stack(stack: Stack) -> None:
    plan = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/big"
    scripts = sagemaker.CfnCluster.ClusterLifeCycleConfigProperty(source_s3_uri="s3://scripts/v1/", on_create="on_create.sh")
    cluster = l1_cluster(stack, l1_group("workers", 1, training_plan_arn=plan, life_cycle_config=scripts))
    Preflight(stack, "Preflight", cluster=cluster)
    by_action: dict[str, Any] = {}
    for statement in statements(stack):
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        by_action |= dict.fromkeys(actions, statement["Resource"])
    assert by_action["iam:GetRole"] == ROLE
    assert by_action["sagemaker:DescribeTrainingPlan"] == plan
    assert by_action["cloudformation:DescribeStacks"] == {"Ref": "AWS::StackId"}
    assert by_action["s3:ListBucket"]["Fn::Join"][1][-1] == ":s3:::scripts"
    assert sorted(action for action, resource in by_action.items() if resource == "*") == [
        "ec2:DescribeInstanceTypeOfferings",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSubnets",
        "sagemaker:ListClusters",
        "servicequotas:ListAWSDefaultServiceQuotas",
        "servicequotas:ListServiceQuotas",
    ]


def test_a_role_of_another_stack_is_imported(app: App, stack: Stack) -> None:
    foundation = Stack(app, "Foundation", env=Environment(account="123456789012", region="us-west-2"))
    role = iam.Role(foundation, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    Preflight(stack, "Preflight", cluster=l1_cluster(stack, l1_group("workers", 1, role=role.role_arn)))
    imported = properties(stack)["Roles"][0]["Fn::ImportValue"]
    assert imported.startswith("Foundation:")
    assert {"Action": "iam:GetRole", "Effect": "Allow", "Resource": {"Fn::ImportValue": imported}} in statements(stack)


def test_two_preflights_share_two_functions(stack: Stack) -> None:
    inner = Stack(App(), "Other")
    for id in ("One", "Two"):
        scope = iam.Group(inner, id)
        Preflight(inner, f"Preflight{id}", cluster=l1_cluster(scope, l1_group("workers", 1)))
    template = Template.from_stack(inner)
    template.resource_count_is("AWS::Lambda::Function", 2)
    template.resource_count_is("AWS::StepFunctions::StateMachine", 0)
    template.resource_count_is(TYPE, 2)


def test_warnings_can_be_an_output(stack: Stack) -> None:
    CfnOutput(stack, "Out", value=Preflight(stack, "Preflight", cluster=l1_cluster(stack, l1_group("workers", 1))).warnings)
    assert Template.from_stack(stack).to_json()["Outputs"]["Out"]["Value"]["Fn::GetAtt"][1] == "Warnings"


def test_fails_for_a_file_system_of_another_stack(app: App, stack: Stack) -> None:
    system = l1_file_system(Stack(app, "Foundation"))
    with pytest.raises(ValueError, match="Stack/Preflight: Foundation/Lustre is in another stack"):
        Preflight(stack, "Preflight", cluster=l1_cluster(stack, l1_group("workers", 1)), file_systems=[system])


@pytest.mark.parametrize(
    ("address", "bucket"),
    [
        ("s3://scripts/v1", "scripts"),
        ("s3://scripts", "scripts"),
        ("https://scripts.s3.amazonaws.com/v1", None),
        ({"Fn::Join": ["", ["s3://", {"Ref": "B"}, "/v1"]]}, {"Ref": "B"}),
        ({"Fn::Join": ["", ["s3://scripts/", {"Ref": "B"}]]}, "scripts"),
        ({"Fn::Join": ["", ["s3://sagemaker-", {"Ref": "B"}]]}, None),
        ({"Fn::Join": ["-", ["s3://", {"Ref": "B"}]]}, None),
        ({"Fn::Sub": "s3://${B}/"}, None),
        (None, None),
    ],
)
def test_the_bucket_of_an_address(address: Any, bucket: Any) -> None:
    assert _bucket(address) == bucket
