"""Clusters of the embedded EKS: their life, and what is refused."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError
from tests.local.eks.conftest import EksCloud
from tests.local.moto_cloud import CALLER


def refused(eks: EksCloud, operation: str, code: str = "InvalidParameterException", **parameters: Any) -> str:
    with pytest.raises(AwsError) as caught:
        eks(operation, **parameters)
    assert caught.value.code == code
    return caught.value.message


def test_a_cluster_is_active_with_endpoint_and_certificate_when_its_control_plane_answers(eks: EksCloud) -> None:
    made = eks("CreateCluster", **eks.request(tags={"a": "1"}))["cluster"]
    assert made["status"] == "CREATING"
    assert "endpoint" not in made
    assert "certificateAuthority" not in made
    eks.tick()
    found = eks.described()
    assert found["status"] == "ACTIVE"
    assert found["endpoint"] == eks.control_planes.only.endpoint
    assert base64.b64decode(found["certificateAuthority"]["data"]) == eks.control_planes.only.certificate_authority
    assert found["identity"]["oidc"]["issuer"].startswith("https://oidc.eks.us-west-2.amazonaws.com/id/")
    assert found["tags"] == {"a": "1"}
    assert found["arn"] == "arn:aws:eks:us-west-2:123456789012:cluster/demo"
    assert eks("ListClusters")["clusters"] == ["demo"]
    (_, version, webhook) = eks.control_planes.asked[0]
    assert (version, webhook) == ("1.33", "http://127.0.0.1:1/demo/secret")
    assert eks.access.attached == {"demo"}


def test_a_cluster_whose_control_plane_does_not_start_has_failed(eks: EksCloud) -> None:
    eks.control_planes.fault = RuntimeError("the port is taken")
    found = eks.cluster()
    assert found["status"] == "FAILED"
    assert found["health"]["issues"][0]["message"] == "the port is taken"
    assert "endpoint" not in found


def test_the_network_of_a_cluster_comes_and_goes_with_it(eks: EksCloud) -> None:
    ec2 = eks.cloud.client("ec2")
    config = eks.cluster()["resourcesVpcConfig"]
    assert config["vpcId"] == eks.cloud.vpc
    group = ec2.describe_security_groups(GroupIds=[config["clusterSecurityGroupId"]])["SecurityGroups"][0]
    assert group["VpcId"] == eks.cloud.vpc
    assert group["IpPermissions"][0]["UserIdGroupPairs"][0]["GroupId"] == group["GroupId"]
    assert {"Key": "kubernetes.io/cluster/demo", "Value": "owned"} in group["Tags"]
    interfaces = ec2.describe_network_interfaces()["NetworkInterfaces"]
    assert {interface["SubnetId"] for interface in interfaces} == set(eks.subnets)
    control = eks.control_planes.only
    assert eks("DeleteCluster", name="demo")["cluster"]["status"] == "DELETING"
    eks.tick()
    assert eks("ListClusters")["clusters"] == []
    assert control.stopped
    assert eks.access.open_clusters == set()
    assert ec2.describe_network_interfaces()["NetworkInterfaces"] == []
    names = [group["GroupName"] for group in ec2.describe_security_groups()["SecurityGroups"]]
    assert not any(name.startswith("eks-cluster-sg") for name in names)
    refused(eks, "DescribeCluster", "ResourceNotFoundException", name="demo")


def test_a_reset_ends_the_control_planes(eks: EksCloud) -> None:
    eks.cluster()
    control = eks.control_planes.only
    eks.eks.reset()
    assert control.stopped
    assert eks("ListClusters")["clusters"] == []


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"version": "1.29"}, "1.30"),
        ({"version": "1.99"}, "1.30"),
        ({"roleArn": "arn:aws:iam::123456789012:role/nobody"}, "eks.amazonaws.com"),
        ({"logging": {"clusterLogging": [{"types": ["everything"], "enabled": True}]}}, "scheduler"),
        ({"kubernetesNetworkConfig": {"serviceIpv4Cidr": "8.8.0.0/16"}}, "10.0.0.0/8"),
        ({"kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.0.0.0/25"}}, "/24"),
        ({"kubernetesNetworkConfig": {"ipFamily": "ipv6"}}, "does not serve"),
        ({"computeConfig": {"enabled": True}}, "fully enabled or fully disabled"),
        ({"encryptionConfig": [{"resources": ["pods"], "provider": {"keyArn": "arn:aws:kms:x:1:key/a"}}]}, "secrets"),
        ({"encryptionConfig": [{"resources": ["secrets"], "provider": {"keyArn": "alias/a"}}]}, "ARN of a KMS key"),
        ({"outpostConfig": {"outpostArns": ["a"], "controlPlaneInstanceType": "m5.large"}}, "does not serve"),
    ],
)
def test_a_wrong_request_is_refused_and_nothing_is_made(eks: EksCloud, members: dict[str, Any], words: str) -> None:
    assert words in refused(eks, "CreateCluster", **eks.request(**members))
    assert eks("ListClusters")["clusters"] == []
    assert eks.control_planes.asked == []
    assert eks.cloud.client("ec2").describe_network_interfaces()["NetworkInterfaces"] == []


def test_a_role_that_another_service_assumes_is_refused(eks: EksCloud) -> None:
    assert "must trust eks.amazonaws.com" in refused(eks, "CreateCluster", **eks.request(roleArn=eks.node_role))


def test_a_key_encrypts_secrets(eks: EksCloud) -> None:
    key = eks.cloud.client("kms").create_key()["KeyMetadata"]["Arn"]
    config = [{"resources": ["secrets"], "provider": {"keyArn": key}}]
    assert eks.cluster(encryptionConfig=config)["encryptionConfig"] == config
    missing = [{"resources": ["secrets"], "provider": {"keyArn": key[:-4] + "0000"}}]
    assert key[:-4] in refused(eks, "CreateCluster", **eks.request(name="other", encryptionConfig=missing))


def test_subnets_must_be_in_two_zones_of_one_vpc(eks: EksCloud) -> None:
    ec2 = eks.cloud.client("ec2")
    first = eks.subnets[:1]
    assert "two different AZs" in refused(eks, "CreateCluster", **eks.request(resourcesVpcConfig={"subnetIds": first}))
    other = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    away = ec2.create_subnet(VpcId=other, CidrBlock="10.9.0.0/24", AvailabilityZone="us-west-2c")["Subnet"]["SubnetId"]
    assert "same VPC" in refused(eks, "CreateCluster", **eks.request(resourcesVpcConfig={"subnetIds": [*first, away]}))
    missing = {"subnetIds": [*first, "subnet-0123456789abcdef0"]}
    assert "does not exist" in refused(eks, "CreateCluster", **eks.request(resourcesVpcConfig=missing))
    group = eks.cloud.new_security_group("away", other)
    config = {"subnetIds": eks.subnets, "securityGroupIds": [group]}
    assert "not in the same VPC" in refused(eks, "CreateCluster", **eks.request(resourcesVpcConfig=config))


def test_one_of_the_endpoints_must_be_open(eks: EksCloud) -> None:
    config = {"subnetIds": eks.subnets, "endpointPublicAccess": False}
    assert "cannot be false" in refused(eks, "CreateCluster", **eks.request(resourcesVpcConfig=config))
    config["endpointPrivateAccess"] = True
    assert eks.cluster(resourcesVpcConfig=config)["resourcesVpcConfig"]["endpointPublicAccess"] is False


def test_a_name_is_taken_once(eks: EksCloud) -> None:
    eks.cluster()
    refused(eks, "CreateCluster", "ResourceInUseException", **eks.request())


def test_the_version_goes_up_by_one_and_back_within_a_week(eks: EksCloud) -> None:
    eks.cluster()
    assert "1.34 first" in refused(eks, "UpdateClusterVersion", name="demo", version="1.35")
    assert "1.34 first" in refused(eks, "UpdateClusterVersion", name="demo", version="1.32")
    assert "already" in refused(eks, "UpdateClusterVersion", name="demo", version="1.33")
    update = eks("UpdateClusterVersion", name="demo", version="1.34")["update"]
    assert (update["type"], update["status"]) == ("VersionUpdate", "InProgress")
    assert eks.described()["status"] == "UPDATING"
    refused(eks, "UpdateClusterVersion", "ResourceInUseException", name="demo", version="1.35")
    eks.tick()
    assert eks("DescribeUpdate", name="demo", updateId=update["id"])["update"]["status"] == "Successful"
    assert (eks.described()["version"], eks.described()["status"]) == ("1.34", "ACTIVE")
    assert eks("ListUpdates", name="demo")["updateIds"] == [update["id"]]
    assert eks("UpdateClusterVersion", name="demo", version="1.33")["update"]["type"] == "VersionRollback"
    eks.tick()
    assert eks.described()["version"] == "1.33"


def test_the_version_does_not_go_back_after_a_week(eks: EksCloud) -> None:
    eks.cluster()
    eks("UpdateClusterVersion", name="demo", version="1.34")
    eks.cloud.clock.tick(8 * 86400.0)
    assert "7 days" in refused(eks, "UpdateClusterVersion", name="demo", version="1.33")


def test_logs_are_switched_on_and_off(eks: EksCloud) -> None:
    eks.cluster()
    change = {"clusterLogging": [{"types": ["api", "audit"], "enabled": True}]}
    update = eks("UpdateClusterConfig", name="demo", logging=change)["update"]
    assert update["type"] == "LoggingUpdate"
    eks.tick()
    on, off = eks.described()["logging"]["clusterLogging"]
    assert (on["types"], on["enabled"], off["enabled"]) == (["api", "audit"], True, False)
    assert "No changes needed" in refused(eks, "UpdateClusterConfig", name="demo", logging=change)


def test_the_log_group_of_a_control_plane_stays(eks: EksCloud) -> None:
    logs = eks.cloud.client("logs")
    eks.cluster()
    assert logs.describe_log_groups()["logGroups"] == []
    eks("UpdateClusterConfig", name="demo", logging={"clusterLogging": [{"types": ["audit"], "enabled": True}]})
    eks.tick()
    assert eks.described()["status"] == "ACTIVE"
    eks("DeleteCluster", name="demo")
    eks.tick()
    assert eks("ListClusters")["clusters"] == []
    assert [group["logGroupName"] for group in logs.describe_log_groups()["logGroups"]] == ["/aws/eks/demo/cluster"]


def test_the_authentication_mode_goes_one_way(eks: EksCloud) -> None:
    eks.cluster(accessConfig={"authenticationMode": "CONFIG_MAP"})
    mode = {"authenticationMode": "API"}
    assert "API_AND_CONFIG_MAP only" in refused(eks, "UpdateClusterConfig", name="demo", accessConfig=mode)
    for step in ("API_AND_CONFIG_MAP", "API"):
        eks("UpdateClusterConfig", name="demo", accessConfig={"authenticationMode": step})
        eks.tick()
        assert eks.described()["accessConfig"]["authenticationMode"] == step
    back = {"authenticationMode": "API_AND_CONFIG_MAP"}
    assert "it stays" in refused(eks, "UpdateClusterConfig", name="demo", accessConfig=back)


AUTO_MODE: dict[str, Any] = {
    "computeConfig": {"enabled": True},
    "kubernetesNetworkConfig": {"elasticLoadBalancing": {"enabled": True}},
    "storageConfig": {"blockStorage": {"enabled": True}},
}


def test_auto_mode_is_switched_on_as_a_whole_and_keeps_the_service_addresses(eks: EksCloud) -> None:
    block = eks.cluster()["kubernetesNetworkConfig"]["serviceIpv4Cidr"]
    part: dict[str, Any] = {"computeConfig": {"enabled": True}}
    assert "fully enabled or fully disabled" in refused(eks, "UpdateClusterConfig", name="demo", **part)
    moved = {**AUTO_MODE, "kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.7.0.0/16"}}
    assert "serviceIpv4Cidr stays" in refused(eks, "UpdateClusterConfig", name="demo", **moved)
    assert eks("UpdateClusterConfig", name="demo", **AUTO_MODE)["update"]["type"] == "AutoModeUpdate"
    eks.tick()
    found = eks.described()
    assert (found["computeConfig"], found["storageConfig"]) == (AUTO_MODE["computeConfig"], AUTO_MODE["storageConfig"])
    network = found["kubernetesNetworkConfig"]
    assert (network["serviceIpv4Cidr"], network["elasticLoadBalancing"]) == (block, {"enabled": True})
    assert "already" in refused(eks, "UpdateClusterConfig", name="demo", **AUTO_MODE)


def test_auto_mode_needs_access_entries(eks: EksCloud) -> None:
    eks.cluster(accessConfig={"authenticationMode": "CONFIG_MAP"})
    assert "API_AND_CONFIG_MAP" in refused(eks, "UpdateClusterConfig", name="demo", **AUTO_MODE)


def test_a_component_of_the_control_plane_is_updated(eks: EksCloud) -> None:
    eks.cluster()
    config = {"eventTtl": "30m"}
    update = eks("UpdateClusterConfig", name="demo", kubeApiServerConfig=config)["update"]
    assert (update["type"], update["params"][0]["type"]) == ("ControlPlaneComponentConfigUpdate", "KubeApiServerConfig")
    eks.tick()
    assert eks.described()["kubeApiServerConfig"] == config


def test_one_thing_is_updated_at_a_time(eks: EksCloud) -> None:
    eks.cluster()
    both: dict[str, Any] = {"deletionProtection": True, "accessConfig": {"authenticationMode": "API"}}
    assert "Only one type of update" in refused(eks, "UpdateClusterConfig", name="demo", **both)


def test_subnets_change_within_their_zones(eks: EksCloud) -> None:
    eks.cluster()
    ec2 = eks.cloud.client("ec2")

    def subnet(number: int, zone: str) -> str:
        made = ec2.create_subnet(VpcId=eks.cloud.vpc, CidrBlock=f"10.1.{number}.0/24", AvailabilityZone=f"us-west-2{zone}")
        return str(made["Subnet"]["SubnetId"])

    a, c = subnet(20, "a"), subnet(21, "c")
    config = {"subnetIds": [a, c]}
    assert "same AZs" in refused(eks, "UpdateClusterConfig", name="demo", resourcesVpcConfig=config)
    eks("UpdateClusterConfig", name="demo", resourcesVpcConfig={"subnetIds": [a, eks.subnets[1]]})
    eks.tick()
    assert eks.described()["resourcesVpcConfig"]["subnetIds"] == [a, eks.subnets[1]]
    assert "clusterSecurityGroupId" in eks.described()["resourcesVpcConfig"]


def test_a_protected_cluster_stays(eks: EksCloud) -> None:
    eks.cluster(deletionProtection=True)
    assert "protection" in refused(eks, "DeleteCluster", "InvalidRequestException", name="demo")
    eks("UpdateClusterConfig", name="demo", deletionProtection=False)
    eks.tick()
    eks("DeleteCluster", name="demo")


def test_encryption_is_added_once(eks: EksCloud) -> None:
    eks.cluster()
    key = eks.cloud.client("kms").create_key()["KeyMetadata"]["Arn"]
    config = [{"resources": ["secrets"], "provider": {"keyArn": key}}]
    eks("AssociateEncryptionConfig", clusterName="demo", encryptionConfig=config)
    eks.tick()
    assert eks.described()["encryptionConfig"] == config
    refused(eks, "AssociateEncryptionConfig", clusterName="demo", encryptionConfig=config)


def test_tags_of_a_cluster(eks: EksCloud) -> None:
    arn = eks.cluster(tags={"a": "1"})["arn"]
    eks("TagResource", resourceArn=arn, tags={"b": "2"})
    eks("UntagResource", resourceArn=arn, tagKeys=["a"])
    assert eks("ListTagsForResource", resourceArn=arn)["tags"] == {"b": "2"}
    refused(eks, "ListTagsForResource", "NotFoundException", resourceArn=arn + "x")


def test_versions_of_kubernetes(eks: EksCloud) -> None:
    found = eks("DescribeClusterVersions")["clusterVersions"]
    assert [item["clusterVersion"] for item in found] == sorted(item["clusterVersion"] for item in found)
    assert eks("DescribeClusterVersions", defaultOnly=True)["clusterVersions"][0]["defaultVersion"]


def test_a_caller_sees_the_own_region_only(eks: EksCloud) -> None:
    eks.cluster()
    elsewhere = type(CALLER)(CALLER.account, "us-east-1", CALLER.endpoint)
    assert eks.eks.call("ListClusters", {}, elsewhere)["clusters"] == []
