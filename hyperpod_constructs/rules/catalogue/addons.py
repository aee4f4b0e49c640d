"""Add-ons of the Kubernetes cluster: their order, and the identities of their pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.rules.facts.clusters import given, hit
from hyperpod_constructs.rules.facts.iam import ROLE, role_facts
from hyperpod_constructs.rules.facts.kubernetes import ADDON, EksCluster, eks_clusters, joined
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.mistakes import Mistake
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import as_items, as_str, at, resource_of

_TRAINING_OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
_INFERENCE = "amazon-sagemaker-hyperpod-inference"
_AGENT = "eks-pod-identity-agent"
_OPERATOR_NAMESPACE = "aws-hyperpod"
_BROKEN_VERSION = "v1.2.1-eksbuild.1"
_PODS = "pods.eks.amazonaws.com"
_OPERATOR_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html"
_POD_IDENTITIES = "https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html"

# Add-ons that become active only where a node runs their pods.
_NEED_NODES = (
    "amazon-sagemaker-hyperpod-observability",
    "amazon-sagemaker-hyperpod-taskgovernance",
    "amazon-sagemaker-spaces",
    "cert-manager",
    _INFERENCE,
    _TRAINING_OPERATOR,
)
# These are degraded until nodes come, and then heal; nothing that brings the nodes may wait for them.
_HEAL = ("aws-ebs-csi-driver", "aws-fsx-csi-driver", "aws-mountpoint-s3-csi-driver", "coredns", "metrics-server")
_NEED: Mapping[str, tuple[str, ...]] = {
    _INFERENCE: ("aws-fsx-csi-driver", "aws-mountpoint-s3-csi-driver", "cert-manager", "metrics-server"),
    _TRAINING_OPERATOR: ("cert-manager", _AGENT),
}


@rule(
    "HP-EKS-020",
    Level.WARNING,
    title="add-ons that need nodes come after the HyperPod cluster",
    why="without a node their pods never run, and the add-on fails or is degraded when its time is over",
    fix="make the add-on depend on the HyperPod cluster (DependsOn)",
    allowed="an add-on that depends on the HyperPod cluster",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/"
    "sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-governance.html",
)
def addons_come_after_nodes(model: Model) -> Iterator[Hit]:
    for cluster, eks in joined(model):
        for name in _NEED_NODES:
            addon = eks.addons.get(name)
            if addon is not None and eks.lacks_nodes and not addon.awaits(cluster.resource):
                text = f"add-on {name} does not await {cluster.resource.logical_id}, which brings the only nodes"
                yield hit(addon, (), Mistake(text, f"add DependsOn: {cluster.resource.logical_id}"))


@rule(
    "HP-EKS-021",
    Level.WARNING,
    title="the HyperPod cluster awaits no add-on that needs its nodes",
    why="each waits for the other, until the add-on is given up as degraded",
    fix="take the add-on out of what the HyperPod cluster depends on",
    allowed="a cluster that depends on vpc-cni, kube-proxy and eks-pod-identity-agent at most",
    source="https://docs.aws.amazon.com/eks/latest/userguide/managing-coredns.html",
    silences=("HP-EKS-020",),
)
def nodes_do_not_await_addons(model: Model) -> Iterator[Hit]:
    for cluster, eks in joined(model):
        for name in (*_NEED_NODES, *_HEAL):
            addon = eks.addons.get(name)
            if addon is not None and eks.lacks_nodes and cluster.resource.awaits(addon):
                text = f"the cluster awaits the add-on {name}, which needs the nodes that only the cluster brings"
                yield Hit(
                    cluster.resource, (), text, fix=f"let nothing of the cluster depend on {addon.logical_id}", covers=(addon,)
                )


@rule(
    "HP-EKS-022",
    Level.WARNING,
    title="add-ons come after the add-ons that they need",
    why="an operator that finds no certificates or no identity fails its first start, and the deployment with it",
    fix="make the add-on depend on those that it needs (DependsOn)",
    allowed="an add-on that depends on those it needs",
    source=_OPERATOR_GUIDE,
)
def addons_come_in_order(model: Model) -> Iterator[Hit]:
    for eks in eks_clusters(model):
        for name, needed in _NEED.items():
            addon = eks.addons.get(name)
            late = [other for other in needed if other in eks.addons and addon and not addon.awaits(eks.addons[other])]
            if addon is not None and late:
                names = ", ".join(eks.addons[other].logical_id for other in late)
                yield hit(addon, (), Mistake(f"add-on {name} does not await {', '.join(late)}", f"add DependsOn: {names}"))


@rule(
    "HP-EKS-023",
    Level.WARNING,
    title="pod identities need the add-on eks-pod-identity-agent",
    why="without the agent on the nodes pods get no credentials, and every call of theirs to AWS is refused",
    fix="add the add-on eks-pod-identity-agent",
    allowed="associations in a cluster with eks-pod-identity-agent",
    source="https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html",
)
def identities_have_an_agent(model: Model) -> Iterator[Hit]:
    for _, eks in joined(model):
        inline = [addon for addon in eks.addons.values() if as_items(addon.get("PodIdentityAssociations"))]
        users = [*eks.pod_identities, *inline]
        agent = any(as_str(addon.get("AddonName")) in (_AGENT, None) for addon in model.resources(ADDON))
        if users and not agent and not eks.is_automatic and not eks.charts and model.complete:
            text = f"a pod identity in a cluster whose add-ons are {', '.join(eks.addons) or 'none'}"
            yield hit(users[0], (), Mistake(text, f"add the add-on {_AGENT}"))


@rule(
    "HP-EKS-024",
    Level.ERROR,
    title="roles of pod identities trust pods.eks.amazonaws.com with sts:AssumeRole and sts:TagSession",
    why='EKS answers "Trust policy of the role provided is invalid" to the association',
    fix="let the role's trust policy allow both actions to pods.eks.amazonaws.com",
    allowed="sts:AssumeRole and sts:TagSession by pods.eks.amazonaws.com",
    source="https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html",
)
def identities_are_trusted(model: Model) -> Iterator[Hit]:
    for eks in eks_clusters(model):
        for user, path, role in _identities(eks):
            lacking = [action for action in ("sts:AssumeRole", "sts:TagSession") if role_facts(role).trusts(_PODS, action) is False]
            if lacking:
                text = f"{role.logical_id} does not trust {_PODS} with {' and '.join(lacking)}"
                yield hit(
                    user, path, Mistake(text, f"allow {' and '.join(lacking)} to {_PODS} in its trust policy"), user.get(*path)
                )


def _identities(eks: EksCluster) -> Iterator[tuple[Resource, tuple[str | int, ...], Resource]]:
    """Roles of pods with the place that names each."""
    places: list[tuple[Resource, tuple[str | int, ...]]] = [(one, ("RoleArn",)) for one in eks.pod_identities]
    for addon in eks.addons.values():
        items = as_items(addon.get("PodIdentityAssociations")) or ()
        places += [(addon, ("PodIdentityAssociations", index, "RoleArn")) for index in range(len(items))]
    for user, path in places:
        role = resource_of(at(user.get(), *path), ROLE)
        if role is not None:
            yield user, path, role


@rule(
    "HP-EKS-025",
    Level.ERROR,
    title=f"the training operator {_BROKEN_VERSION} has its pod identity in a resource of its own",
    why='EKS answers "Pod Identity feature is not supported for addon version" to an association inside this version of the add-on',
    fix="take PodIdentityAssociations out of the add-on, and write an AWS::EKS::PodIdentityAssociation before it",
    allowed="an AWS::EKS::PodIdentityAssociation beside the add-on",
    source="https://github.com/awslabs/awsome-distributed-training/issues/1075",
)
def the_operator_s_identity_is_separate(model: Model) -> Iterator[Hit]:
    for eks in eks_clusters(model):
        addon = eks.addons.get(_TRAINING_OPERATOR)
        if (
            addon is not None
            and as_str(addon.get("AddonVersion")) == _BROKEN_VERSION
            and given(addon.get("PodIdentityAssociations"))
        ):
            mistake = Mistake(
                f"a pod identity inside the add-on {_TRAINING_OPERATOR} {_BROKEN_VERSION}",
                "write an AWS::EKS::PodIdentityAssociation before the add-on, and take it out of here",
            )
            yield hit(addon, ("PodIdentityAssociations",), mistake)


@rule(
    "HP-EKS-026",
    Level.WARNING,
    title="the training operator comes after its pod identity",
    why="pods get an identity only when they start: an operator that was there first has none until somebody restarts it",
    fix="make the add-on depend on the association (DependsOn)",
    allowed="an add-on that depends on its association",
    source=_POD_IDENTITIES,
)
def identities_come_before_pods(model: Model) -> Iterator[Hit]:
    for eks in eks_clusters(model):
        addon = eks.addons.get(_TRAINING_OPERATOR)
        for identity in eks.pod_identities if addon is not None else ():
            ours = as_str(identity.get("Namespace")) == _OPERATOR_NAMESPACE
            if addon is not None and ours and not addon.awaits(identity):
                text = f"add-on {_TRAINING_OPERATOR} does not await {identity.logical_id}, the identity of its pods"
                yield hit(addon, (), Mistake(text, f"add DependsOn: {identity.logical_id}"))
