"""Access entries and access policies of the embedded EKS."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.facts import eks as facts
from hyperpod_constructs.local.aws_service import Caller
from tests.local.eks.conftest import PREFIX, EksCloud
from tests.local.eks.test_clusters import refused
from tests.local.moto_cloud import CALLER

VIEW = f"{PREFIX}AmazonEKSViewPolicy"
CLUSTER, TEAM = {"type": "cluster"}, {"type": "namespace", "namespaces": ["team-*"]}


@pytest.mark.parametrize("kind", facts.ENTRY_TYPES)
def test_every_type_of_entry(eks: EksCloud, kind: str) -> None:
    eks.cluster()
    entry = eks("CreateAccessEntry", clusterName="demo", principalArn=eks.node_role, type=kind)["accessEntry"]
    assert entry["type"] == kind
    assert eks("DescribeAccessEntry", clusterName="demo", principalArn=eks.node_role)["accessEntry"] == entry
    assert eks("ListAccessEntries", clusterName="demo")["accessEntries"] == [eks.node_role]
    assert eks.access.entries["demo", eks.node_role]["type"] == kind


def test_the_service_names_the_nodes_of_hyperpod(eks: EksCloud) -> None:
    eks.cluster()
    asked = {"clusterName": "demo", "principalArn": eks.node_role, "type": "HYPERPOD_LINUX"}
    assert "the service names those" in refused(eks, "CreateAccessEntry", **asked, kubernetesGroups=["mine"])
    assert eks("CreateAccessEntry", **asked)["accessEntry"]["kubernetesGroups"] == ["system:nodes"]


def test_an_entry_changes_and_goes(eks: EksCloud) -> None:
    eks.cluster()
    named = {"clusterName": "demo", "principalArn": eks.node_role}
    made = eks("CreateAccessEntry", **named, kubernetesGroups=["a"], tags={"t": "1"})["accessEntry"]
    assert made["username"] == "arn:aws:sts::123456789012:assumed-role/node-group/{{SessionName}}"
    assert eks.access.entries["demo", eks.node_role]["username"] == ""
    changed = eks("UpdateAccessEntry", **named, kubernetesGroups=["b"], username="me")["accessEntry"]
    assert (changed["kubernetesGroups"], changed["username"]) == (["b"], "me")
    assert eks.access.entries["demo", eks.node_role]["username"] == "me"
    refused(eks, "CreateAccessEntry", "ResourceInUseException", **named)
    assert eks("ListTagsForResource", resourceArn=made["accessEntryArn"])["tags"] == {"t": "1"}
    eks("DeleteAccessEntry", **named)
    assert eks.access.entries == {}
    refused(eks, "DescribeAccessEntry", "ResourceNotFoundException", **named)


@pytest.mark.parametrize(
    ("principal", "words"),
    [
        ("arn:aws:iam::123456789012:role/nobody", "does not exist"),
        ("arn:aws:iam::999999999999:role/nodes", "account 123456789012"),
        ("arn:aws:sts::123456789012:assumed-role/nodes/me", "invalid principal"),
        ("nodes", "invalid principal"),
    ],
)
def test_a_principal_must_exist(eks: EksCloud, principal: str, words: str) -> None:
    eks.cluster()
    assert words in refused(eks, "CreateAccessEntry", clusterName="demo", principalArn=principal)


@pytest.mark.parametrize(
    "members",
    [
        {"username": "system:admin"},
        {"kubernetesGroups": ["system:masters"]},
        {"type": "PEOPLE"},
        {"username": "ministack:eks:access:0123456789abcdef01234567"},
        {"kubernetesGroups": ["team", "ministack:eks:access:0123456789abcdef01234567"]},
    ],
)
def test_reserved_names_and_unknown_types_are_refused(eks: EksCloud, members: dict[str, Any]) -> None:
    eks.cluster()
    refused(eks, "CreateAccessEntry", clusterName="demo", principalArn=eks.node_role, **members)


def test_entries_need_the_authentication_mode(eks: EksCloud) -> None:
    eks.cluster(accessConfig={"authenticationMode": "CONFIG_MAP"})
    message = refused(eks, "CreateAccessEntry", "InvalidRequestException", clusterName="demo", principalArn=eks.node_role)
    assert "API, API_AND_CONFIG_MAP" in message


def test_policies_of_an_entry(eks: EksCloud) -> None:
    eks.cluster()
    named = {"clusterName": "demo", "principalArn": eks.node_role}
    eks("CreateAccessEntry", **named)
    made = eks("AssociateAccessPolicy", **named, policyArn=VIEW, accessScope=TEAM)["associatedAccessPolicy"]
    assert made["accessScope"] == TEAM
    assert eks.access.policies["demo", eks.node_role, VIEW] == TEAM
    assert eks("ListAssociatedAccessPolicies", **named)["associatedAccessPolicies"] == [made]
    assert eks("ListAccessEntries", clusterName="demo", associatedPolicyArn=VIEW)["accessEntries"] == [eks.node_role]
    eks("DisassociateAccessPolicy", **named, policyArn=VIEW)
    assert eks.access.policies == {}
    refused(eks, "DisassociateAccessPolicy", "ResourceNotFoundException", **named, policyArn=VIEW)
    names = [policy["name"] for policy in eks("ListAccessPolicies")["accessPolicies"]]
    assert "AmazonEKSClusterAdminPolicy" in names


@pytest.mark.parametrize(
    ("policy", "scope"),
    [
        ("arn:aws:iam::aws:policy/AdministratorAccess", CLUSTER),
        (f"{PREFIX}AmazonEKSEverythingPolicy", CLUSTER),
        (VIEW, {"type": "namespace"}),
        (VIEW, {"type": "namespace", "namespaces": ["Team"]}),
        (VIEW, {"type": "cluster", "namespaces": ["team"]}),
    ],
)
def test_wrong_policies_and_scopes_are_refused(eks: EksCloud, policy: str, scope: dict[str, object]) -> None:
    eks.cluster()
    named = {"clusterName": "demo", "principalArn": eks.node_role}
    eks("CreateAccessEntry", **named)
    refused(eks, "AssociateAccessPolicy", **named, policyArn=policy, accessScope=scope)
    assert eks.access.policies == {}


def test_nodes_have_no_policies(eks: EksCloud) -> None:
    eks.cluster()
    named = {"clusterName": "demo", "principalArn": eks.node_role}
    eks("CreateAccessEntry", **named, type="HYPERPOD_LINUX")
    refused(eks, "AssociateAccessPolicy", "InvalidRequestException", **named, policyArn=VIEW, accessScope=CLUSTER)


def create_as(eks: EksCloud, principal: str, **members: object) -> None:
    caller = Caller(CALLER.account, CALLER.region, CALLER.endpoint, principal)
    eks.eks.call("CreateCluster", eks.request(**members), caller)
    eks.tick()


def test_who_creates_a_cluster_is_its_administrator(eks: EksCloud) -> None:
    create_as(eks, eks.role)
    assert eks("ListAccessEntries", clusterName="demo")["accessEntries"] == [eks.role]
    admin = f"{PREFIX}AmazonEKSClusterAdminPolicy"
    assert eks.access.policies["demo", eks.role, admin]["type"] == "cluster"


def test_who_creates_a_cluster_is_nobody_by_choice(eks: EksCloud) -> None:
    access = {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False}
    create_as(eks, eks.role, accessConfig=access)
    assert eks("ListAccessEntries", clusterName="demo")["accessEntries"] == []
    assert eks.access.entries == {}
