"""Pod identity associations of the embedded EKS."""

from __future__ import annotations

from typing import Any

from tests.local.eks.conftest import EksCloud
from tests.local.eks.test_clusters import refused


def asked(eks: EksCloud, **members: Any) -> dict[str, Any]:
    return {"clusterName": "demo", "namespace": "team", "serviceAccount": "runner", "roleArn": eks.pods} | members


def test_an_association_is_made_changed_and_deleted(eks: EksCloud) -> None:
    eks.cluster()
    made = eks("CreatePodIdentityAssociation", **asked(eks, tags={"a": "1"}))["association"]
    named = {"clusterName": "demo", "associationId": made["associationId"]}
    assert eks("DescribePodIdentityAssociation", **named)["association"] == made
    assert "externalId" not in made
    other = eks.new_pod_role("other")
    changed = eks("UpdatePodIdentityAssociation", **named, roleArn=other, targetRoleArn=eks.pods)["association"]
    assert (changed["roleArn"], changed["namespace"]) == (other, "team")
    assert changed["externalId"]
    assert eks("ListPodIdentityAssociations", clusterName="demo", namespace="team")["associations"][0]["serviceAccount"] == "runner"
    assert eks("ListPodIdentityAssociations", clusterName="demo", namespace="none")["associations"] == []
    assert eks("ListTagsForResource", resourceArn=made["associationArn"])["tags"] == {"a": "1"}
    eks("DeletePodIdentityAssociation", **named)
    refused(eks, "DescribePodIdentityAssociation", "ResourceNotFoundException", **named)


def test_a_service_account_has_one(eks: EksCloud) -> None:
    eks.cluster()
    eks("CreatePodIdentityAssociation", **asked(eks))
    refused(eks, "CreatePodIdentityAssociation", "ResourceInUseException", **asked(eks))
    eks("CreatePodIdentityAssociation", **asked(eks, namespace="other"))
    eks("CreatePodIdentityAssociation", **asked(eks, serviceAccount="other"))


def test_the_role_must_trust_pods_with_both_actions(eks: EksCloud) -> None:
    eks.cluster()
    half = eks.new_pod_role("half", "sts:AssumeRole")
    for role in (half, eks.role, "arn:aws:iam::123456789012:role/nobody"):
        assert "sts:TagSession" in refused(eks, "CreatePodIdentityAssociation", **asked(eks, roleArn=role))


def test_a_policy_needs_sessions_without_tags(eks: EksCloud) -> None:
    eks.cluster()
    assert "disableSessionTags" in refused(eks, "CreatePodIdentityAssociation", **asked(eks, policy="{}"))
    eks("CreatePodIdentityAssociation", **asked(eks, policy="{}", disableSessionTags=True))
