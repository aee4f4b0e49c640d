from __future__ import annotations

import re
import sys
from typing import Any

import pytest
from aws_cdk import App, Aws, CfnParameter, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_constructs import ClusterNetwork, EksControlPlane, KubernetesVersion
from tests.conftest import only, resources
from tests.eks.conftest import MakeControlPlane


def cluster(stack: Stack) -> dict[str, Any]:
    found: dict[str, Any] = only(stack, "AWS::EKS::Cluster")
    return found


def test_the_service_s_requirements_are_met(stack: Stack, control_plane: EksControlPlane) -> None:
    found = cluster(stack)["Properties"]
    assert found["AccessConfig"] == {
        "AuthenticationMode": "API_AND_CONFIG_MAP",
        "BootstrapClusterCreatorAdminPermissions": False,
    }
    assert found["Version"] == "1.35"
    assert [one["Type"] for one in found["Logging"]["ClusterLogging"]["EnabledTypes"]] == [
        "api",
        "audit",
        "authenticator",
        "controllerManager",
        "scheduler",
    ]
    assert (found["ComputeConfig"], found["StorageConfig"]) == ({"Enabled": False}, {"BlockStorage": {"Enabled": False}})
    assert resources(stack, "AWS::EKS::Nodegroup") == {}


def test_nodes_and_control_plane_share_a_group(stack: Stack, network: ClusterNetwork, control_plane: EksControlPlane) -> None:
    found = cluster(stack)["Properties"]["ResourcesVpcConfig"]
    assert found["SecurityGroupIds"] == [stack.resolve(network.security_group.security_group_id)]
    assert (found["EndpointPrivateAccess"], found["EndpointPublicAccess"]) == (True, True)


def test_the_control_plane_is_in_its_own_subnets(stack: Stack, subnets: list[ec2.ISubnet], control_plane: EksControlPlane) -> None:
    expected = [stack.resolve(subnet.subnet_id) for subnet in subnets]
    assert cluster(stack)["Properties"]["ResourcesVpcConfig"]["SubnetIds"] == expected
    (function,) = [
        one["Properties"]["VpcConfig"]["SubnetIds"]
        for name, one in resources(stack, "AWS::Lambda::Function").items()
        if "KubectlProviderHandler" in name
    ]
    assert function == expected


def test_subnets_of_nodes_are_tagged_and_the_way_out_outlives_the_function(stack: Stack, control_plane: EksControlPlane) -> None:
    tags = {
        name: [tag["Key"] for tag in one["Properties"]["Tags"] if tag["Value"] == "1"]
        for name, one in resources(stack, "AWS::EC2::Subnet").items()
    }
    internal = ["kubernetes.io/role/internal-elb"]
    assert {name.removeprefix("Network")[:-14]: keys for name, keys in tags.items()} == {
        "Public": ["kubernetes.io/role/elb"],
        "Node": internal,
        "ControlPlaneA": [],
        "ControlPlaneB": [],
    }
    kinds = ("AWS::EC2::Route", "AWS::EC2::SubnetRouteTableAssociation", "AWS::EC2::NatGateway")
    ways = {name for kind in kinds for name in resources(stack, kind)}
    assert len(ways) == 4 + 4 + 1
    assert ways <= set(cluster(stack)["DependsOn"])


def test_no_warning_asks_for_tags(stack: Stack, control_plane: EksControlPlane) -> None:
    app = stack.node.root
    assert isinstance(app, App)
    messages = [str(message.entry.data) for message in app.synth().get_stack_artifact(stack.artifact_id).messages]
    assert not [message for message in messages if "tag" in message]


def test_secrets_are_encrypted_by_a_key_that_stays(stack: Stack, control_plane: EksControlPlane) -> None:
    (key,) = resources(stack, "AWS::KMS::Key").items()
    assert key[1]["Properties"]["EnableKeyRotation"] is True
    assert (key[1]["DeletionPolicy"], key[1]["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    assert cluster(stack)["Properties"]["EncryptionConfig"] == [
        {"Provider": {"KeyArn": {"Fn::GetAtt": [key[0], "Arn"]}}, "Resources": ["secrets"]}
    ]
    assert cluster(stack)["DeletionPolicy"] == "Delete"


def test_a_key_of_one_s_own_encrypts_secrets(stack: Stack, make_control_plane: MakeControlPlane) -> None:
    given = kms.Key(stack, "Given")
    make_control_plane(secrets_encryption_key=given)
    (encryption,) = cluster(stack)["Properties"]["EncryptionConfig"]
    assert encryption["Provider"]["KeyArn"] == stack.resolve(given.key_arn)
    assert len(resources(stack, "AWS::KMS::Key")) == 1


def test_a_control_plane_can_be_kept(stack: Stack, make_control_plane: MakeControlPlane) -> None:
    make_control_plane(removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
    assert cluster(stack)["DeletionPolicy"] == "RetainExceptOnCreate"


def test_the_endpoint_can_be_closed(stack: Stack, make_control_plane: MakeControlPlane) -> None:
    make_control_plane(endpoint_access=eks.EndpointAccess.PRIVATE)
    found = cluster(stack)["Properties"]["ResourcesVpcConfig"]
    assert (found["EndpointPrivateAccess"], found["EndpointPublicAccess"]) == (True, False)


def test_nodes_of_eks_run_the_pods_of_the_system(
    stack: Stack, network: ClusterNetwork, make_control_plane: MakeControlPlane
) -> None:
    control_plane = make_control_plane(default_capacity=2, default_capacity_instance=ec2.InstanceType("m6i.large"))
    assert control_plane.has_nodes is True
    found = only(stack, "AWS::EKS::Nodegroup")["Properties"]
    assert found["ScalingConfig"] == {"DesiredSize": 2, "MaxSize": 2, "MinSize": 2}
    assert found["InstanceTypes"] == ["m6i.large"]
    assert found["Subnets"] == [stack.resolve(network.node_subnet.subnet_id)]


@pytest.mark.parametrize(
    ("kind", "image"),
    [
        ("m6i.large", "AL2023_x86_64_STANDARD"),
        ("m7g.large", "AL2023_ARM_64_STANDARD"),
        ("g6.xlarge", "AL2023_x86_64_NVIDIA"),
        ("g5g.xlarge", "AL2023_ARM_64_NVIDIA"),
        ("inf2.xlarge", "AL2023_x86_64_NEURON"),
    ],
)
def test_nodes_of_eks_have_an_image_for_their_type(
    stack: Stack, make_control_plane: MakeControlPlane, kind: str, image: str
) -> None:
    make_control_plane(default_capacity=2, default_capacity_instance=ec2.InstanceType(kind))
    assert only(stack, "AWS::EKS::Nodegroup")["Properties"]["AmiType"] == image


def test_nodes_of_eks_and_hyperpod_reach_each_other(
    stack: Stack, network: ClusterNetwork, make_control_plane: MakeControlPlane
) -> None:
    ours = stack.resolve(network.security_group.security_group_id)
    theirs = stack.resolve(make_control_plane(default_capacity=2).cluster.cluster_security_group_id)
    into = [one["Properties"] for one in resources(stack, "AWS::EC2::SecurityGroupIngress").values()]
    out = [one["Properties"] for one in resources(stack, "AWS::EC2::SecurityGroupEgress").values()]
    assert {"-1"} == {rule["IpProtocol"] for rule in (*into, *out)}
    pairs = [(rule["GroupId"], rule["SourceSecurityGroupId"]) for rule in into]
    assert all(pair in pairs for pair in ((ours, theirs), (theirs, ours), (ours, ours)))
    assert (ours, theirs) in [(rule["GroupId"], rule["DestinationSecurityGroupId"]) for rule in out]


def test_a_chart_is_awaited_by_the_hyperpod_cluster(stack: Stack, control_plane: EksControlPlane) -> None:
    assert not control_plane.awaited
    chart = Construct(stack, "Chart")
    control_plane.add_awaited(chart)
    assert control_plane.awaited == (chart,)


def test_the_cluster_s_names_are_references(stack: Stack, control_plane: EksControlPlane) -> None:
    (name,) = resources(stack, "AWS::EKS::Cluster")
    assert stack.resolve(control_plane.cluster_name) == {"Ref": name}
    assert stack.resolve(control_plane.cluster_arn) == {"Fn::GetAtt": [name, "Arn"]}
    assert control_plane.version is KubernetesVersion.V1_35
    child = control_plane.node.default_child
    assert child is not None
    assert child.node.path == control_plane.resource.node.path


def test_the_function_administers_the_cluster(stack: Stack, control_plane: EksControlPlane) -> None:
    entry = only(stack, "AWS::EKS::AccessEntry")["Properties"]
    role = control_plane.kubectl_provider.role
    assert role is not None
    assert entry["PrincipalArn"] == stack.resolve(role.role_arn)
    assert "AmazonEKSClusterAdminPolicy" in str(entry["AccessPolicies"])


def test_the_installed_layer_has_kubectl(stack: Stack, make_control_plane: MakeControlPlane) -> None:
    make_control_plane(kubectl_layer=None)
    assert any("Kubectl" in name and "KubectlLayer" in name for name in resources(stack, "AWS::Lambda::LayerVersion"))


def test_fails_without_the_extra(make_control_plane: MakeControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aws_cdk.lambda_layer_kubectl_v35", None)
    text = (
        "Stack/ControlPlane: the layer with kubectl and Helm is not installed; "
        'install it by pip install "hyperpod-constructs[eks]", or give kubectl_layer'
    )
    with pytest.raises(ModuleNotFoundError, match=f"^{re.escape(text)}$"):
        make_control_plane(kubectl_layer=None)


def test_fails_in_one_zone(network: ClusterNetwork, make_control_plane: MakeControlPlane) -> None:
    beside = network.add_control_plane_subnet("Beside", cidr="10.0.2.0/28", availability_zone_id="usw2-az4")
    text = (
        "Stack/ControlPlane: subnets is 2 subnets in usw2-az4; allowed: subnets in 2 or more availability zones; "
        "give subnets of two zones or more, such as two of network.add_control_plane_subnet(...)"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make_control_plane(subnets=[network.node_subnet, beside])


def test_fails_with_one_subnet(stack: Stack, make_control_plane: MakeControlPlane) -> None:
    one = ec2.Subnet.from_subnet_attributes(stack, "One", subnet_id="subnet-1", availability_zone="us-west-2a")
    with pytest.raises(ValueError, match=r"^Stack/ControlPlane: subnets is 1 subnet in us-west-2a; allowed: "):
        make_control_plane(subnets=[one])


def test_fails_with_a_type_of_no_nodes(make_control_plane: MakeControlPlane) -> None:
    text = (
        "Stack/ControlPlane: default_capacity_instance is given with default_capacity=0; "
        "write default_capacity=2, or leave the instance type out"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make_control_plane(default_capacity_instance=ec2.InstanceType("m6i.large"))


def test_fails_with_a_version_that_hyperpod_does_not_support(make_control_plane: MakeControlPlane) -> None:
    with pytest.raises(TypeError, match=r"^Stack/ControlPlane: version is '1\.29' \(str\); allowed: KubernetesVersion\.V1_30 or "):
        make_control_plane(version="1.29")


def test_fails_with_a_name_that_eks_refuses(make_control_plane: MakeControlPlane) -> None:
    with pytest.raises(ValueError, match=r"^Stack/ControlPlane: cluster_name is 'a b'; allowed: 1 to 100 letters, .*\"a-b\"$"):
        make_control_plane(cluster_name="a b")


def test_tokens_are_taken(stack: Stack, make_control_plane: MakeControlPlane) -> None:
    count = CfnParameter(stack, "Count", type="Number").value_as_number
    unknown = [
        ec2.Subnet.from_subnet_attributes(stack, f"Unknown{n}", subnet_id=f"subnet-{n}", availability_zone=Aws.NO_VALUE)
        for n in range(2)
    ]
    make_control_plane(cluster_name=f"of-{Aws.STACK_NAME}", default_capacity=count, subnets=unknown)
    assert only(stack, "AWS::EKS::Nodegroup")["Properties"]["ScalingConfig"]["MinSize"] == {"Ref": "Count"}
    assert cluster(stack)["Properties"]["Name"] == {"Fn::Join": ["", ["of-", {"Ref": "AWS::StackName"}]]}


def test_an_imported_network_stays_as_it_is(stack: Stack, make_control_plane: MakeControlPlane) -> None:
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-west-2a"])
    found = [
        ec2.Subnet.from_subnet_attributes(stack, f"Found{zone}", subnet_id=f"subnet-{zone}", availability_zone=f"us-west-2{zone}")
        for zone in "ab"
    ]
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")
    network = ClusterNetwork.from_attributes(vpc=vpc, node_subnet=found[0], security_group=group)
    make_control_plane(network=network, subnets=found)
    assert cluster(stack)["Properties"]["ResourcesVpcConfig"]["SubnetIds"] == ["subnet-a", "subnet-b"]
