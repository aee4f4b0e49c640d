"""The control plane of the Kubernetes cluster: its role, its network, its key, and settings that go together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hyperpod_constructs.analysis.blocks import blocks_of
from hyperpod_constructs.analysis.clusters import Cluster, given
from hyperpod_constructs.analysis.control_plane_ways import side_of_control_plane
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters, joined
from hyperpod_constructs.analysis.near_misses import of_idle_groups
from hyperpod_constructs.analysis.networks import SUBNET
from hyperpod_constructs.analysis.placement import node_groups
from hyperpod_constructs.analysis.reachability import NODES
from hyperpod_constructs.analysis.resource_policies import KEY
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP
from hyperpod_constructs.analysis.traffic import Side, Traffic, group_lets
from hyperpod_constructs.analysis.ways import Hop
from hyperpod_constructs.facts import eks as facts
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_items, as_str, at, is_known

_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_API = "https://docs.aws.amazon.com/eks/latest/APIReference/"
_PARTS_OF_AUTO_MODE = (
    ("ComputeConfig", "Enabled"),
    ("KubernetesNetworkConfig", "ElasticLoadBalancing", "Enabled"),
    ("StorageConfig", "BlockStorage", "Enabled"),
)

_plane_error = partial(error, on=eks_clusters)


@_plane_error(
    "HP-CTL-002",
    title="the addresses of services are outside the VPC",
    why="EKS refuses a block of another form, and one that overlaps with the VPC; it cannot be changed later",
    fix=facts.service_block.fix,
    allowed=facts.SERVICE_BLOCKS_ALLOWED,
    source=f"{_API}API_KubernetesNetworkConfigRequest.html",
)
def services_are_outside_the_vpc(eks: EksCluster) -> Hit | None:
    block = as_str(eks.resource.get(*eks.services_path))
    known = [one.block for vpc in eks.vpcs for one in blocks_of(vpc).known]
    mistake = None if block is None else facts.service_block_mistake(block, known)
    return None if mistake is None else hit(eks, mistake, *eks.services_path)


@_plane_error(
    "HP-CTL-003",
    title="secrets, and nothing else, are encrypted with a key that can",
    why="EKS refuses other resources than secrets, and a key that cannot encrypt",
    fix="write Resources: [secrets], and the ARN of a symmetric key",
    allowed=f"{', '.join(facts.ENCRYPTED_RESOURCES)}; a key with the KeySpec SYMMETRIC_DEFAULT",
    source=f"{_API}API_EncryptionConfig.html",
)
def secrets_can_be_encrypted(eks: EksCluster) -> Iterator[Hit]:
    for index, config in enumerate(as_items(eks.resource.get("EncryptionConfig")) or ()):
        named = as_items(at(config, "Resources")) or ()
        if any(is_known(one) and one not in facts.ENCRYPTED_RESOURCES for one in named):
            text = f"{eks.resource.logical_id} encrypts other resources than secrets"
            yield hit(eks, text, "EncryptionConfig", index, "Resources")
        wrong = _wrong_key(at(config, "Provider", "KeyArn"))
        if wrong is not None:
            text = f"the key of {eks.resource.logical_id} {wrong}"
            yield hit(eks, text, "EncryptionConfig", index, "Provider", "KeyArn")


def _wrong_key(value: Value) -> str | None:
    key = resource_of(value, KEY)
    if key is None:
        return "is an alias" if ":alias/" in (as_str(value) or "") else None
    spec = as_str(key.get("KeySpec"))
    return f"({key.logical_id}) has the KeySpec {spec}" if spec not in (None, "SYMMETRIC_DEFAULT") else None


@_plane_error(
    "HP-CTL-004",
    at=("ComputeConfig",),
    title="the three parts of Auto Mode are on or off together",
    why="EKS refuses a cluster with a part of Auto Mode",
    fix="write the same Enabled for compute, load balancing and block storage; beside HyperPod's own nodes leave all three off",
    allowed="all on, or all off",
    source=f"{_GUIDE}automode-get-started-cli.html",
)
def auto_mode_is_whole(eks: EksCluster) -> str | None:
    values = {path: eks.resource.get(*path) for path in _PARTS_OF_AUTO_MODE}
    found = {path: False if given(value) is False else as_bool(value) for path, value in values.items()}
    if None in found.values() or len(set(found.values())) == 1:
        return None
    return f"Auto Mode of {eks.resource.logical_id}: " + ", ".join(
        f"{path[-2]} {'on' if on else 'off'}" for path, on in found.items()
    )


@_plane_error(
    "HP-CTL-005",
    at=("ResourcesVpcConfig", "EndpointPublicAccess"),
    title="the control plane has an endpoint",
    why="EKS refuses a cluster that nobody can reach",
    fix="set EndpointPrivateAccess to true",
    allowed="EndpointPrivateAccess or EndpointPublicAccess true",
    source=f"{_GUIDE}cluster-endpoint.html",
    silences=("HP-REACH-001",),
)
def the_control_plane_has_an_endpoint(eks: EksCluster) -> str | None:
    public, private = (eks.resource.get("ResourcesVpcConfig", f"Endpoint{kind}Access") for kind in ("Public", "Private"))
    closed = as_bool(public) is False and (private is ABSENT or as_bool(private) is False)
    return f"{eks.resource.logical_id} has neither a public nor a private endpoint" if closed else None


@_plane_error(
    "HP-CTL-007",
    title="subnets and security groups of the control plane are in one VPC",
    why="EKS refuses the cluster",
    fix="name subnets and security groups of one VPC",
    allowed=f"subnets of one VPC, and up to {facts.MOST_SECURITY_GROUPS} security groups of it",
    source=f"{_GUIDE}network-reqs.html",
    silences=("HP-EKS-012",),
)
def the_control_plane_is_in_one_vpc(eks: EksCluster) -> Iterator[Hit]:
    subnets = eks.in_network("SubnetIds", SUBNET) or ()
    groups = eks.in_network("SecurityGroupIds", SECURITY_GROUP) or ()
    own = subnets[0].get("VpcId") if subnets else ABSENT
    for key, listed in ("SubnetIds", subnets[1:]), ("SecurityGroupIds", groups):
        others = [one for one in listed if is_known((own, one.get("VpcId"))) and own not in (ABSENT, one.get("VpcId"))]
        if others:
            text = f"{others[0].logical_id} is in another VPC than {subnets[0].logical_id}"
            yield hit(eks, text, *eks.network_path(key), covers=_joining(eks))
            return


def _joining(eks: EksCluster) -> tuple[Resource, ...]:
    """The HyperPod clusters that join it."""
    return tuple(cluster.resource for cluster, other in joined(eks.resource.template.model) if other == eks)


_KUBELET = Traffic("tcp", range(10250, 10251))


def _mended(meant: Hop, text: str) -> Hit:
    """The hit at a control plane that has another group than the one that its nodes let in."""
    return hit(meant.resource, f"{text}, which {meant.says}", *meant.path)


@warning(
    "HP-CTL-006",
    on=joined,
    title="the nodes admit the control plane",
    why="the control plane calls nodes for kubectl logs and exec, and pods for the webhooks of operators: without a way in, both "
    "time out, and objects that a webhook judges are refused",
    fix="name the nodes' security group in ResourcesVpcConfig.SecurityGroupIds, or let TCP in from the control plane's group",
    allowed=f"{_KUBELET} and the ports of webhooks in, from the groups or the subnets of the control plane",
    source=f"{_GUIDE}sec-group-reqs.html",
    silences=("HP-REACH-010",),
)
def nodes_admit_the_control_plane(cluster: Cluster, eks: EksCluster) -> Hit | None:
    model, control = eks.resource.template.model, side_of_control_plane(eks)
    if not model.complete or not control.subnets or control.groups is None:
        return None
    for group in node_groups(model):
        if group.cluster is not cluster or group.security_groups is None or set(group.security_groups) & set(control.resources):
            continue
        nodes = Side(NODES, group.security_group_facts())
        if group_lets(nodes, "ingress", control, _KUBELET) is False:
            text = f"the security group of group {group.label!r} does not let {_KUBELET} in from {control.name}"
            meant = next(of_idle_groups(control, nodes, _KUBELET), None)
            return hit(group.security_groups[0], text) if meant is None else _mended(meant, text)
    return None
