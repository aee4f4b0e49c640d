"""The CloudFormation types of EKS: CloudFormation's calls of the API."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.local.audit import RecordingDict
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.eks import addons
from hyperpod_constructs.local.eks.access_providers import AccessEntry, PodIdentityAssociation
from hyperpod_constructs.local.eks.cluster_provider import Cluster
from hyperpod_constructs.local.eks.node_providers import Addon, NodeGroup
from hyperpod_constructs.local.provider import Provisioned, ResourceProvider, updated
from tests.local.eks.conftest import PREFIX, EksCloud
from tests.local.in_process import InProcess
from tests.local.moto_cloud import CALLER, moto_cloud

VIEW, EDIT = f"{PREFIX}AmazonEKSViewPolicy", f"{PREFIX}AmazonEKSEditPolicy"


class Stack:
    """The providers over one account, and a cluster's properties."""

    def __init__(self, account: EksCloud) -> None:
        self.account = account
        self.clients = InProcess(account.cloud)
        self.eks = self.clients.eks
        self.cluster = Cluster(self.clients, timeout=5)
        self.properties: dict[str, Any] = {
            "Name": "demo",
            "Version": "1.33",
            "RoleArn": account.role,
            "ResourcesVpcConfig": {"SubnetIds": account.subnets, "EndpointPrivateAccess": "true"},
            "AccessConfig": {"AuthenticationMode": "API", "BootstrapClusterCreatorAdminPermissions": False},
            "Logging": {"ClusterLogging": {"EnabledTypes": [{"Type": "api"}, {"Type": "audit"}]}},
            "Tags": [{"Key": "a", "Value": "1"}],
        }

    def create(self, provider: ResourceProvider, properties: dict[str, Any]) -> Provisioned:
        recorder = RecordingDict(properties)
        made = provider.create(recorder, "Thing", "Stack", CALLER)
        assert list(recorder.unread()) == []
        return made

    def update(self, provider: ResourceProvider, identifier: str, old: dict[str, Any], new: dict[str, Any]) -> Provisioned:
        return updated(provider, identifier, old, new, logical_id="Thing", stack="Stack", caller=CALLER)

    def described(self) -> dict[str, Any]:
        found: dict[str, Any] = self.eks.describe_cluster(name="demo")["cluster"]
        return found


@pytest.fixture
def stack() -> Iterator[Stack]:
    with moto_cloud() as cloud:
        account = EksCloud(cloud)
        yield Stack(account)


@pytest.fixture
def demo(stack: Stack) -> Stack:
    stack.create(stack.cluster, stack.properties)
    return stack


def test_a_cluster_is_there_with_its_attributes_when_it_is_active(stack: Stack) -> None:
    made = stack.create(stack.cluster, stack.properties)
    found = stack.described()
    assert (made.physical_id, found["status"]) == ("demo", "ACTIVE")
    assert made.attributes["Endpoint"] == "https://127.0.0.1:6443"
    assert made.attributes["CertificateAuthorityData"] == found["certificateAuthority"]["data"]
    assert made.attributes["ClusterSecurityGroupId"] == found["resourcesVpcConfig"]["clusterSecurityGroupId"]
    assert made.attributes["OpenIdConnectIssuerUrl"] == found["identity"]["oidc"]["issuer"]
    assert found["resourcesVpcConfig"]["endpointPrivateAccess"] is True
    assert found["logging"]["clusterLogging"][0] == {"types": ["api", "audit"], "enabled": True}
    assert found["tags"] == {"a": "1"}


def test_a_cluster_that_fails_is_taken_away(stack: Stack) -> None:
    stack.clients.control_planes.fault = RuntimeError("no port")
    with pytest.raises(AwsError, match="no port"):
        stack.create(stack.cluster, stack.properties)
    assert stack.eks.list_clusters()["clusters"] == []


def test_a_cluster_without_a_name_gets_one(stack: Stack) -> None:
    del stack.properties["Name"]
    assert stack.create(stack.cluster, stack.properties).physical_id.startswith("Stack-Thing-")


def test_a_cluster_is_updated_in_place(demo: Stack) -> None:
    new = demo.properties | {"Version": "1.34", "DeletionProtection": True, "Tags": [{"Key": "b", "Value": "2"}]}
    new["Logging"] = {"ClusterLogging": {"EnabledTypes": [{"Type": "audit"}]}}
    made = demo.update(demo.cluster, "demo", demo.properties, new)
    found = demo.described()
    assert made.physical_id == "demo"
    assert (found["version"], found["deletionProtection"], found["tags"]) == ("1.34", True, {"b": "2"})
    assert found["logging"]["clusterLogging"][0]["types"] == ["audit"]
    del new["Logging"]
    demo.update(demo.cluster, "demo", {**new, "Logging": {"ClusterLogging": {"EnabledTypes": [{"Type": "audit"}]}}}, new)
    assert demo.described()["logging"]["clusterLogging"][0]["enabled"] is False


def test_an_authentication_mode_or_a_load_balancing_that_leaves_the_template_stays(demo: Stack) -> None:
    auto = {
        "ComputeConfig": {"Enabled": True},
        "StorageConfig": {"BlockStorage": {"Enabled": True}},
        "KubernetesNetworkConfig": {"IpFamily": "ipv4", "ElasticLoadBalancing": {"Enabled": True}},
    }
    demo.properties["KubernetesNetworkConfig"] = {"IpFamily": "ipv4"}
    demo.update(demo.cluster, "demo", demo.properties, demo.properties | auto)
    gone = demo.properties | auto | {"KubernetesNetworkConfig": {"IpFamily": "ipv4"}}
    gone["AccessConfig"] = {"BootstrapClusterCreatorAdminPermissions": False}
    assert demo.update(demo.cluster, "demo", demo.properties | auto, gone).physical_id == "demo"
    found = demo.described()
    assert found["kubernetesNetworkConfig"]["elasticLoadBalancing"] == {"enabled": True}
    assert found["accessConfig"] == {"authenticationMode": "API"}


def test_a_version_too_far_fails_the_update(demo: Stack) -> None:
    with pytest.raises(ClientError, match=r"1\.34 first"):
        demo.update(demo.cluster, "demo", demo.properties, demo.properties | {"Version": "1.35"})


def test_another_role_is_another_cluster(demo: Stack) -> None:
    new = demo.properties | {"RoleArn": demo.account.cloud.new_role("other", "eks.amazonaws.com"), "Name": "second"}
    assert demo.update(demo.cluster, "demo", demo.properties, new).physical_id == "second"


def test_a_cluster_is_deleted_once_and_again(demo: Stack) -> None:
    for _ in range(2):
        demo.cluster.delete("demo", demo.properties, CALLER)
    assert demo.eks.list_clusters()["clusters"] == []


def test_an_add_on(demo: Stack) -> None:
    addons = Addon(demo.clients, timeout=5)
    properties = {"ClusterName": "demo", "AddonName": "coredns", "ResolveConflicts": "OVERWRITE", "PreserveOnDelete": False}
    made = demo.create(addons, properties)
    assert made.physical_id == "demo|coredns"
    new = properties | {"AddonVersion": "v1.12.4-eksbuild.1", "Tags": [{"Key": "a", "Value": "1"}]}
    demo.update(addons, made.physical_id, properties, new)
    found = demo.eks.describe_addon(clusterName="demo", addonName="coredns")["addon"]
    assert (found["addonVersion"], found["tags"], found["status"]) == ("v1.12.4-eksbuild.1", {"a": "1"}, "DEGRADED")
    addons.delete(made.physical_id, new, CALLER)
    assert demo.eks.list_addons(clusterName="demo")["addons"] == []


def test_an_add_on_that_fails_is_taken_away(demo: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addons, "NODE_SECONDS", 0.0)
    with pytest.raises(AwsError, match="no node to run on"):
        demo.create(Addon(demo.clients, timeout=5), {"ClusterName": "demo", "AddonName": "cert-manager"})
    assert demo.eks.list_addons(clusterName="demo")["addons"] == []


def entry(demo: Stack, **members: Any) -> dict[str, Any]:
    scope = {"Type": "namespace", "Namespaces": ["team"]}
    policies = [{"PolicyArn": VIEW, "AccessScope": scope}]
    return {"ClusterName": "demo", "PrincipalArn": demo.account.node_role, "AccessPolicies": policies} | members


def associated(demo: Stack) -> dict[str, Any]:
    named = {"clusterName": "demo", "principalArn": demo.account.node_role}
    found = demo.eks.list_associated_access_policies(**named)["associatedAccessPolicies"]
    return {policy["policyArn"]: policy["accessScope"] for policy in found}


def test_an_access_entry_with_policies(demo: Stack) -> None:
    entries = AccessEntry(demo.clients)
    properties = entry(demo, KubernetesGroups=["a"], Username="me")
    made = demo.create(entries, properties)
    assert made.physical_id == f"{demo.account.node_role}|demo"
    assert associated(demo) == {VIEW: {"type": "namespace", "namespaces": ["team"]}}
    new = entry(demo, AccessPolicies=[{"PolicyArn": EDIT, "AccessScope": {"Type": "cluster"}}])
    demo.update(entries, made.physical_id, properties, new)
    assert associated(demo) == {EDIT: {"type": "cluster", "namespaces": []}}
    found = demo.eks.describe_access_entry(clusterName="demo", principalArn=demo.account.node_role)["accessEntry"]
    assert found["kubernetesGroups"] == []
    for _ in range(2):
        entries.delete(made.physical_id, new, CALLER)
    assert demo.eks.list_access_entries(clusterName="demo")["accessEntries"] == []


def test_an_entry_with_a_wrong_policy_is_taken_away(demo: Stack) -> None:
    policies = [{"PolicyArn": f"{PREFIX}None", "AccessScope": {"Type": "cluster"}}]
    with pytest.raises(ClientError, match="policyArn"):
        demo.create(AccessEntry(demo.clients), entry(demo, AccessPolicies=policies))
    assert demo.eks.list_access_entries(clusterName="demo")["accessEntries"] == []


def test_another_type_of_entry_is_a_new_one_that_the_name_refuses(demo: Stack) -> None:
    entries, old = AccessEntry(demo.clients), entry(demo, AccessPolicies=[])
    made = demo.create(entries, old)
    with pytest.raises(ClientError, match="in use"):
        demo.update(entries, made.physical_id, old, old | {"Type": "HYPERPOD_LINUX"})


def test_a_pod_identity_association(demo: Stack) -> None:
    identities = PodIdentityAssociation(demo.clients)
    properties = {"ClusterName": "demo", "Namespace": "team", "ServiceAccount": "runner", "RoleArn": demo.account.pods}
    made = demo.create(identities, properties)
    assert made.physical_id == made.attributes["AssociationArn"]
    new = properties | {"RoleArn": demo.account.new_pod_role("other"), "Tags": [{"Key": "a", "Value": "1"}]}
    assert demo.update(identities, made.physical_id, properties, new).physical_id == made.physical_id
    (summary,) = demo.eks.list_pod_identity_associations(clusterName="demo")["associations"]
    named = SimpleNamespace(**summary)
    found = demo.eks.describe_pod_identity_association(clusterName="demo", associationId=named.associationId)["association"]
    assert (found["roleArn"], found["tags"]) == (new["RoleArn"], {"a": "1"})
    with pytest.raises(ClientError, match="already exists"):
        demo.create(identities, properties)
    for _ in range(2):
        identities.delete(made.physical_id, new, CALLER)
    assert demo.eks.list_pod_identity_associations(clusterName="demo")["associations"] == []


def test_a_node_group(demo: Stack) -> None:
    groups = NodeGroup(demo.clients, timeout=5)
    scaling = {"MinSize": "1", "MaxSize": "2", "DesiredSize": "1"}
    properties: dict[str, Any] = {
        "ClusterName": "demo",
        "NodegroupName": "system",
        "NodeRole": demo.account.node_role,
        "Subnets": demo.account.subnets,
        "ScalingConfig": scaling,
        "Labels": {"a": "1"},
        "Tags": {"t": "1"},
        "ForceUpdateEnabled": True,
    }
    made = demo.create(groups, properties)
    assert made.physical_id == "demo/system"
    new = properties | {"ScalingConfig": scaling | {"DesiredSize": "2"}, "Labels": {"b": "2"}, "Tags": {"t": "2"}}
    demo.update(groups, made.physical_id, properties, new)
    found = demo.eks.describe_nodegroup(clusterName="demo", nodegroupName="system")["nodegroup"]
    assert (found["scalingConfig"]["desiredSize"], found["labels"], found["tags"]) == (2, {"b": "2"}, {"t": "2"})
    groups.delete(made.physical_id, new, CALLER)
    assert demo.eks.list_nodegroups(clusterName="demo")["nodegroups"] == []
