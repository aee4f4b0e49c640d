"""Roles of pods: a service account of Kubernetes takes one by an association."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.tree import stack_of
from hyperpod_constructs._support.values import Namespace
from hyperpod_constructs.eks.base import KubernetesControlPlane
from hyperpod_constructs.facts.addons import Identity
from hyperpod_constructs.facts.kubernetes import PODS_PRINCIPAL


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class PodIdentity:
    """A service account that takes a role.

    :param namespace: the service account's.
    :param service_account: its name.
    :param role: it must trust `pods.eks.amazonaws.com` with `sts:AssumeRole` and `sts:TagSession`.
    """

    namespace: Namespace
    service_account: str
    role: iam.IRole


def pod_role(
    scope: Construct,
    id: str,
    *,
    control_plane: KubernetesControlPlane,
    identity: Identity,
    policy: iam.PolicyDocument | None,
) -> PodIdentity:
    """A role for pods of one cluster, with the managed policy of the facts and this policy.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
    """
    of_this_cluster = {"aws:SourceAccount": stack_of(scope).account, "aws:SourceArn": control_plane.cluster_arn}
    service = iam.ServicePrincipal(PODS_PRINCIPAL, conditions={"StringEquals": of_this_cluster})
    managed = [] if identity.managed_policy is None else [iam.ManagedPolicy.from_aws_managed_policy_name(identity.managed_policy)]
    role = iam.Role(
        scope,
        id,
        assumed_by=iam.SessionTagsPrincipal(service),
        description=f"Pods of {identity.namespace}/{identity.service_account}",
        managed_policies=managed,
        inline_policies=None if policy is None else {"Pods": policy},
    )
    return PodIdentity(namespace=identity.namespace, service_account=identity.service_account, role=role)


def associate(scope: Construct, id: str, *, cluster_name: str, identity: PodIdentity) -> eks.CfnPodIdentityAssociation:
    """Give a service account its role, in a resource of its own: some add-ons refuse it inside."""
    return eks.CfnPodIdentityAssociation(
        scope,
        id,
        cluster_name=cluster_name,
        namespace=identity.namespace,
        service_account=identity.service_account,
        role_arn=identity.role.role_arn,
    )
