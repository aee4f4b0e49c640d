"""Add-ons of the Kubernetes cluster: names, versions, configurations, order, and the identities of their pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.addons import Addon, addons, addons_of, tolerates_nothing
from hyperpod_constructs.analysis.clusters import Cluster, given
from hyperpod_constructs.analysis.embedded import has_hole, parsed
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters, joined
from hyperpod_constructs.analysis.schema.violation import nearest
from hyperpod_constructs.facts import addon_versions
from hyperpod_constructs.facts import addons as facts
from hyperpod_constructs.facts import eks as eks_facts
from hyperpod_constructs.facts.addon_versions import is_lower
from hyperpod_constructs.facts.addons import COREDNS_TOLERATES, NO_INLINE_IDENTITY, POD_IDENTITY_AGENT, Nodes, named
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import ORDER, error, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Text, as_bool, as_items, as_str, at

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_TRAINING_OPERATOR, _BROKEN_VERSION = NO_INLINE_IDENTITY

_addon_warning, _joined_warning = partial(warning, on=addons), partial(warning, on=joined)
_eks_warning = partial(warning, on=eks_clusters)

# Add-ons that become active only when a node runs their pods.
_NEED_NODES = named(Nodes.NEEDS)
# These are degraded until nodes come, and then heal; nothing that brings the nodes may wait for them.
_HEAL = named(Nodes.HEALS)


@_addon_warning(
    "HP-ADD-009",
    at=("AddonVersion",),
    title="versions of add-ons fit HyperPod and the version of Kubernetes",
    why="EKS refuses the add-on, or it comes up and does not know HyperPod's nodes: with an old VPC CNI pods get no addresses",
    fix=addon_versions.low_version.fix,
    allowed="a version that the add-on has for this version of Kubernetes",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-prerequisites.html",
    aliases=("HP-EKS-009",),
)
def versions_fit(addon: Addon) -> Mistake | None:
    kubernetes = None if addon.eks is None else addon.eks.version
    if addon.version is None:
        return None
    wrong = addon_versions.version_mistake(addon.name, addon.version, kubernetes)
    wrong = wrong or addon_versions.later_version_mistake(addon.name, addon.version, kubernetes)
    return wrong or addon_versions.earlier_version_mistake(addon.name, addon.version, kubernetes)


@_addon_warning(
    "HP-ADD-027",
    at=("AddonName",),
    title="names of add-ons are names that EKS has",
    why="EKS refuses an add-on that it does not have, and the deployment with it",
    fix="write the name as aws eks describe-addon-versions prints it",
    allowed="a name that EKS has",
    source=f"{_EKS_GUIDE}workloads-add-ons-available-eks.html",
)
def names_are_known(addon: Addon) -> str | None:
    """A name that nearly is that of a known add-on, or begins as those of SageMaker; others may come from the marketplace.

    Names of the marketplace have a maker before an underscore.
    """
    known = (*facts.known_addons(), *eks_facts.OTHER_ADDONS)
    if addon.name in known:
        return None
    name = addon.name.lower()
    ours, others = name.startswith(facts.OF_SAGEMAKER), "_" in name
    within = next((one for one in known if name.endswith(f"-{one}")), None) if not others else None
    near = within or nearest(name, known, 0.0 if ours else 0.85 if others else 0.75)
    return f"{addon.name!r} is no add-on that EKS is known to have; did you mean {near!r}?" if near else None


@_addon_warning(
    "HP-ADD-028",
    at=("ConfigurationValues",),
    title="the configuration of an add-on fits its schema",
    why="EKS refuses the add-on: Json schema validation failed",
    fix="see aws eks describe-addon-configuration --addon-name NAME --addon-version VERSION",
    allowed="the keys and values of the add-on's schema",
    source=f"{_EKS_GUIDE}updating-an-add-on.html",
)
def configurations_fit(addon: Addon) -> str | None:
    written = addon.resource.get("ConfigurationValues")
    found = {} if written is ABSENT else addon.configuration
    begun = isinstance(written, Text) and str(written.parts[0]).lstrip().startswith("{")
    if found is None and ((isinstance(written, str) and written.strip()) or (begun and parsed(written, yaml=True) is None)):
        return f"the configuration of {addon.name} is neither an object of JSON nor of YAML"
    wrong = None if found is None else facts.configuration_mistake(addon.name, found, has_hole)
    return f"the configuration of {addon.name}: {wrong}" if wrong else None


@_eks_warning(
    "HP-ADD-020",
    title="add-ons that need nodes come after something that brings nodes",
    why="without a node their pods never run, and the add-on is degraded, or fails when its time is over",
    fix="make the add-on depend on the node group, the Fargate profile or the HyperPod cluster that brings its nodes (DependsOn)",
    allowed="an add-on that depends on what brings nodes without taints",
    source=f"{_EKS_GUIDE}managing-coredns.html",
    aliases=("HP-EKS-020",),
    because=ORDER,
)
def addons_come_after_nodes(eks: EksCluster) -> Iterator[Hit]:
    """Those that heal are judged beside groups of nodes, which are there in minutes; a HyperPod cluster takes longer."""
    sources = eks.sources_of_nodes
    for addon in eks.installed((*_NEED_NODES, *(_HEAL if eks.node_groups else ()))) if sources else ():
        if not any(awaits(addon, one) for one in sources):
            names = enumerated(one.logical_id for one in sources)
            yield hit(addon, f"add-on {addon.get('AddonName')} does not await {names}, which nodes come from")
        elif (tainted := _tainted_before(addon, sources)) is not None:
            text = f"the nodes of {tainted.logical_id}, which the add-on awaits, have taints that keep its pods out"
            yield Hit(addon, (), text, covers=(tainted,))


def _keeps_out(nodes: Resource) -> bool:
    """Whether all nodes of a group surely have a taint that is not for add-ons."""
    taints = [(as_str(at(one, "Key")), as_str(at(one, "Effect"))) for one in as_items(nodes.get("Taints")) or ()]
    return any(key not in (None, *COREDNS_TOLERATES) and effect in ("NO_SCHEDULE", "NO_EXECUTE") for key, effect in taints)


def _tainted_before(addon: Resource, sources: Iterable[Resource]) -> Resource | None:
    """What brings an add-on the only nodes that it awaits, with taints that its pods do not tolerate."""
    awaited = [one for one in sources if awaits(addon, one)]
    return awaited[0] if tolerates_nothing(addon) and all(_keeps_out(one) for one in awaited) else None


@_joined_warning(
    "HP-ADD-021",
    title="the HyperPod cluster awaits no add-on that needs its nodes",
    why="each waits for the other, until the add-on is given up as degraded",
    fix="take the add-on out of the dependencies of the HyperPod cluster",
    allowed="a cluster that depends on vpc-cni, kube-proxy and eks-pod-identity-agent at most",
    source=f"{_EKS_GUIDE}managing-coredns.html",
    silences=("HP-ADD-020",),
    aliases=("HP-EKS-021",),
)
def nodes_do_not_await_addons(cluster: Cluster, eks: EksCluster) -> Iterator[Hit]:
    for addon in eks.installed((*_NEED_NODES, *_HEAL)) if eks.lacks_nodes else ():
        if awaits(cluster.resource, addon):
            names = f"{addon.get('AddonName')} ({addon.logical_id})"
            text = f"the cluster awaits the add-on {names}, which needs the nodes that only the cluster brings"
            yield Hit(cluster.resource, (), text, covers=(addon,))


@_addon_warning(
    "HP-ADD-022",
    title="add-ons come after the add-ons that they need",
    why="an operator without certificates or an identity fails its first start, and the deployment with it",
    fix="make the add-on depend on its requirements (DependsOn)",
    allowed="an add-on that depends on its requirements",
    source=f"{_GUIDE}sagemaker-eks-operator-install.html",
    aliases=("HP-EKS-022",),
    because=ORDER,
)
def addons_come_in_order(addon: Addon) -> str | None:
    there = () if addon.eks is None else addon.eks.installed(addon.needed)
    late = ", ".join(f"{other.get('AddonName')} ({other.logical_id})" for other in there if not awaits(addon.resource, other))
    return f"add-on {addon.name} does not await {late}" if late else None


@_eks_warning(
    "HP-ADD-023",
    title="what add-ons and pod identities need is in the cluster",
    why="an operator without certificates fails its first start; without the pod identity agent on the nodes pods get no "
    "credentials, and AWS refuses every call of theirs",
    fix="add the add-on",
    allowed="add-ons with their prerequisites, and associations in a cluster with eks-pod-identity-agent",
    source=f"{_EKS_GUIDE}pod-id-agent-setup.html",
    aliases=("HP-EKS-023",),
)
def prerequisites_are_there(eks: EksCluster) -> Iterator[Hit]:
    """One hit for each missing add-on, on the first that needs it."""
    users: dict[str, Resource] = {}
    for addon in addons_of(eks):
        inline = (POD_IDENTITY_AGENT,) if as_items(addon.resource.get("PodIdentityAssociations")) else ()
        for name in (*addon.needed, *inline):
            users.setdefault(name, addon.resource)
    for identity in eks.pod_identities:
        users.setdefault(POD_IDENTITY_AGENT, identity)
    for name, user in users.items():
        if eks.lacks_addon(name) and not eks.may_bring(name):
            what = as_str(user.get("AddonName")) or "a pod identity"
            yield hit(user, f"{what} needs {name}, and the add-ons of the cluster are {', '.join(eks.addons) or 'none'}")


@_addon_warning(
    "HP-ADD-029",
    title="add-ons that work together have versions that do",
    why="EKS takes the pair, and the newer one does not find what it needs in the older one",
    fix="raise the version of the other add-on, or leave it out for the default of EKS",
    allowed="the lowest version that the add-on names, or a newer one",
    source=f"{_GUIDE}sagemaker-eks-operator-install.html",
)
def versions_go_together(addon: Addon) -> Iterator[Hit]:
    least = {} if addon.facts is None else {**addon.facts.prerequisites, **addon.facts.companions}
    for name, version in least.items():
        other = None if addon.eks is None else addon.eks.addons.get(name)
        found = None if other is None else as_str(other.get("AddonVersion"))
        if other is not None and found is not None and version is not None and is_lower(found, version):
            yield hit(other, f"{name} {found} beside {addon.name}, which needs v{version} or newer", "AddonVersion")


@error(
    "HP-ADD-025",
    on=eks_clusters,
    title=f"the training operator {_BROKEN_VERSION} has its pod identity in a resource of its own",
    why='EKS answers "Pod Identity feature is not supported for addon version" to an association inside this version of the add-on',
    fix="take PodIdentityAssociations out of the add-on, and write an AWS::EKS::PodIdentityAssociation before it",
    allowed="an AWS::EKS::PodIdentityAssociation beside the add-on",
    source="https://github.com/awslabs/awsome-distributed-training/issues/1075",
    aliases=("HP-EKS-025",),
    silences=("HP-ADD-037",),
)
def the_operator_s_identity_is_separate(eks: EksCluster) -> Iterator[Hit]:
    for addon in eks.installed([_TRAINING_OPERATOR]):
        if as_str(addon.get("AddonVersion")) == _BROKEN_VERSION and given(addon.get("PodIdentityAssociations")):
            text = f"a pod identity inside the add-on {_TRAINING_OPERATOR} {_BROKEN_VERSION}"
            yield hit(addon, text, "PodIdentityAssociations")


@_addon_warning(
    "HP-ADD-037",
    title="a service account of an add-on has one identity",
    why="EKS has one association for a service account: it refuses the second, or one of the two roles has no effect",
    fix="take PodIdentityAssociations out of the add-on, or the AWS::EKS::PodIdentityAssociation out of the template",
    allowed="an association in the add-on, or beside it",
    source=f"{_EKS_GUIDE}add-ons-iam.html",
    silences=("HP-ADD-026",),
)
def identities_are_given_once(addon: Addon) -> Iterator[Hit]:
    beside = {one.service_account: associations[0] for one, associations in addon.identities if associations}
    for index, inline in enumerate(as_items(addon.resource.get("PodIdentityAssociations")) or ()):
        other = beside.get(as_str(at(inline, "ServiceAccount")) or "")
        if other is not None and as_str(other.get("ServiceAccount")) is not None:
            text = f"{as_str(at(inline, 'ServiceAccount'))} of {addon.name} has an identity here, and {other.logical_id} is another"
            yield hit(addon, text, "PodIdentityAssociations", index, "ServiceAccount", covers=(other,))


@_addon_warning(
    "HP-ADD-038",
    title="identities of an add-on are for its service accounts",
    why="EKS refuses the add-on: it has no such service account",
    fix="write the service account that aws eks describe-addon-configuration prints",
    allowed="a service account of the add-on",
    source="https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAddonConfiguration.html",
    silences=("HP-ADD-030",),
)
def identities_are_for_accounts_of_the_addon(addon: Addon) -> Iterator[Hit]:
    for index, inline in enumerate(as_items(addon.resource.get("PodIdentityAssociations")) or ()):
        account = as_str(at(inline, "ServiceAccount"))
        near = None if account is None else facts.misspelled_account(addon.name, account)
        if near is not None:
            text = f"{addon.name} has no service account {account!r}; the nearest is {near}"
            yield hit(addon, text, "PodIdentityAssociations", index, "ServiceAccount")


@_addon_warning(
    "HP-ADD-026",
    title="add-ons come after the identities of their pods",
    why="pods get an identity only when they start: an earlier operator has no identity until somebody restarts it",
    fix="make the add-on depend on the association (DependsOn)",
    allowed="an add-on that depends on its association",
    source=f"{_EKS_GUIDE}pod-identities.html",
    aliases=("HP-EKS-026",),
    because=ORDER,
)
def identities_come_before_pods(addon: Addon) -> Iterator[str]:
    for one in addon.given_identities:
        if not awaits(addon.resource, one):
            yield f"add-on {addon.name} does not await {one.logical_id}, the identity of its pods"


_SHARED = ("default", "kube-system")
"""Namespaces where others have pods too."""


@_addon_warning(
    "HP-ADD-030",
    title="add-ons that call AWS have a role",
    why="the pods of the add-on have no credentials on HyperPod's nodes, which show theirs to pods of the host's network only",
    fix="write an AWS::EKS::PodIdentityAssociation for the service account, before the add-on",
    allowed="an association, or a role in the add-on",
    source=f"{_EKS_GUIDE}add-ons-iam.html",
)
def pods_have_a_role(addon: Addon) -> str | None:
    if addon.eks is None or not addon.eks.resource.template.model.complete or addon.has_own_role:
        return None
    lacking = [one for one, associations in addon.identities if not associations]
    return f"{addon.name} has no role for {lacking[0].namespace}/{lacking[0].service_account}" if lacking else None


@_eks_warning(
    "HP-ADD-031",
    title="identities of add-ons are in the namespace of their pods",
    why="EKS takes an association for a service account that does not exist, and the pods of the add-on get no credentials",
    fix="write the namespace of the add-on's service account",
    allowed="the namespace and the service account that the add-on has",
    source=f"{_EKS_GUIDE}pod-id-association.html",
    silences=("HP-ADD-030",),
)
def identities_are_where_the_pods_are(eks: EksCluster) -> Iterator[Hit]:
    pods = {account: (addon.facts.namespace, addon) for addon in addons_of(eks) if addon.facts for account in addon.facts.accounts}
    pods |= {one.service_account: (one.namespace, addon) for addon in addons_of(eks) for one, _ in addon.identities}
    for association in eks.pod_identities:
        account, namespace = (as_str(association.get(key)) for key in ("ServiceAccount", "Namespace"))
        right, addon = pods.get(account or "", (namespace, None))
        if addon is not None and namespace not in (right, None):
            text = f"the pods of {addon.name} are in {right}, and this identity is for {account} in {namespace}"
            yield hit(association, text, "Namespace", covers=(addon.resource,), doubts=((association, ("ServiceAccount",)),))
    for addon in addons_of(eks):
        lacking = [one for one, associations in addon.identities if not associations and one.namespace not in _SHARED]
        strange = [
            one for identity in lacking for one in eks.pod_identities if _is_strange(one, identity.namespace, addons_of(eks))
        ]
        if len(lacking) == 1 and len(strange) == 1 and not addon.has_own_role:
            text = (
                f"{addon.name} has no service account {as_str(strange[0].get('ServiceAccount'))}, but {lacking[0].service_account}"
            )
            yield hit(strange[0], text, "ServiceAccount", covers=(addon.resource,))


def _is_strange(association: Resource, namespace: str, installed: Iterable[Addon]) -> bool:
    """Whether an identity is in a namespace of an add-on, for an account that no add-on has."""
    account = as_str(association.get("ServiceAccount"))
    known = {name.rpartition(":")[2] for addon in installed for name in facts.subjects(addon.name)}
    return as_str(association.get("Namespace")) == namespace and account is not None and account not in known


@_addon_warning(
    "HP-ADD-035",
    at=("NamespaceConfig", "Namespace"),
    title="add-ons of SageMaker are in their own namespace",
    why="the service finds its operators in their own namespace only, and the identities of their pods are for it",
    fix="leave NamespaceConfig out",
    allowed="the add-on's own namespace",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-install-packages-using-helm-chart.html",
)
def addons_stay_in_their_namespace(addon: Addon) -> str | None:
    named, own = as_str(addon.resource.get("NamespaceConfig", "Namespace")), {one.namespace for one, _ in addon.identities}
    moved = named is not None and addon.name.startswith(facts.OF_SAGEMAKER) and named not in own and bool(own)
    return f"{addon.name} is in {named}; it belongs in {', '.join(sorted(own))}" if moved else None


@_joined_warning(
    "HP-ADD-036",
    title="a control plane without EKS's own add-ons gets those of the network",
    why="without the VPC CNI and kube-proxy no node is ever ready",
    fix="add the add-ons, or leave BootstrapSelfManagedAddons out: EKS then installs its own",
    allowed=f"{facts.VPC_CNI} and {facts.KUBE_PROXY}",
    source=f"{_EKS_GUIDE}eks-add-ons.html",
)
def the_network_s_addons_are_there(_: Cluster, eks: EksCluster) -> Hit | None:
    key = "BootstrapSelfManagedAddons"
    wanted = (facts.VPC_CNI, facts.KUBE_PROXY) if as_bool(eks.resource.get(key)) is False else ()
    missing = [name for name in wanted if eks.lacks_addon(name) and not eks.may_bring(name)]
    text = f"{eks.resource.logical_id} starts without EKS's own add-ons, and has no {' and no '.join(missing)}"
    return hit(eks, text, key) if missing else None


@_eks_warning(
    "HP-ADD-039",
    title="the network's add-ons come before the nodes",
    why="nodes are ready only with them: each waits for the other, until the nodes are given up",
    fix="take what brings the nodes out of DependsOn of the add-on, and let it await the add-on",
    allowed=f"{facts.VPC_CNI} and {facts.KUBE_PROXY} that await no nodes",
    source=f"{_EKS_GUIDE}eks-add-ons.html",
)
def the_network_s_addons_come_first(eks: EksCluster) -> Iterator[Hit]:
    alone = as_bool(eks.resource.get("BootstrapSelfManagedAddons")) is False and not eks.is_automatic
    for addon in eks.installed((facts.VPC_CNI, facts.KUBE_PROXY)) if alone else ():
        nodes = next((one for one in eks.sources_of_nodes if awaits(addon, one)), None)
        if nodes is not None:
            text = f"add-on {addon.get('AddonName')} awaits {nodes.logical_id}, whose nodes are ready only with it"
            yield hit(addon, text, covers=(nodes,))
