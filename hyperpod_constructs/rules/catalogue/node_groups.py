"""Nodes of EKS: managed groups with their launch templates, types and images, Fargate, and pods that must find a place on them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.clusters import given
from hyperpod_constructs.analysis.networks import SUBNET, ExitKind, network_facts
from hyperpod_constructs.analysis.object_places import unplaced_objects
from hyperpod_constructs.analysis.pod_places import Unplaced, unplaced
from hyperpod_constructs.facts.ec2_types import ACCELERATED, ROOT_DEVICES, impossible_type
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_items, as_str, at

_NODEGROUP, _TEMPLATE = "AWS::EKS::Nodegroup", "AWS::EC2::LaunchTemplate"
_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_REFUSED: Mapping[str, str] = {
    "HibernationOptions": "hibernation",
    "IamInstanceProfile": "an instance profile: that of the node role is taken",
    "InstanceInitiatedShutdownBehavior": "a behaviour at shutdown",
    "InstanceMarketOptions": "market options: CapacityType of the node group says them",
}
"""What EKS refuses in a launch template of a node group.

Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html (as of 2026-11-24)
"""
_GRAVITON = re.compile(r"(a1|[a-z]+\d+g[a-z]*)\.[a-z0-9-]+")


def _templates(model: Model) -> Iterator[tuple[Resource, Resource, Mapping[str, Value]]]:
    """The node groups with launch templates of the model, and the data of these."""
    for nodes in model.resources(_NODEGROUP):
        template = resource_of(nodes.get("LaunchTemplate", "Id"), _TEMPLATE)
        data = None if template is None else template.get("LaunchTemplateData")
        if template is not None and isinstance(data, Mapping):
            yield nodes, template, data


@error(
    "HP-NGR-001",
    on=_templates,
    title="launch templates of node groups have what EKS leaves to them",
    why="EKS refuses the node group (InvalidParameterException), and the stack rolls back",
    fix="take it out of the launch template, or of the node group",
    allowed="disks, groups, user data, tags and metadata options; an image without AmiType; types in one of the two",
    source=f"{_EKS_GUIDE}launch-templates.html",
)
def templates_are_taken(nodes: Resource, template: Resource, data: Mapping[str, Value]) -> Iterator[Hit]:
    for key, words in _REFUSED.items():
        if given(data.get(key, ABSENT)):
            yield hit(template, f"the launch template of {nodes.logical_id} has {words}", "LaunchTemplateData", key)
            return
    interfaces = as_items(data.get("NetworkInterfaces", ABSENT)) or ()
    if any(given(at(one, "SubnetId")) for one in interfaces):
        text = f"the launch template of {nodes.logical_id} has a subnet: those of the node group are taken"
        yield hit(template, text, "LaunchTemplateData", "NetworkInterfaces")
    elif given(data.get("InstanceType", ABSENT)) and given(nodes.get("InstanceTypes")):
        text = f"{template.logical_id} says the type of {nodes.logical_id} too"
        yield hit(nodes, text, "InstanceTypes")
    elif given(data.get("ImageId", ABSENT)):
        twice = [key for key in ("AmiType", "ReleaseVersion", "Version") if given(nodes.get(key)) and nodes.get(key) != "CUSTOM"]
        if twice:
            yield hit(nodes, f"{template.logical_id} has an image, and the node group {enumerated(twice)} too", twice[0])


@error(
    "HP-NGR-002",
    on=_NODEGROUP,
    at=("AmiType",),
    title="the image of a node group is for its instance types",
    why="EKS refuses the node group, or its nodes never join",
    fix="write the AmiType of the architecture and the accelerators of the types",
    allowed="an AmiType for Arm with types of Graviton, for x86 with others, for NVIDIA or Neuron with their accelerators",
    source=f"{_EKS_GUIDE}choosing-instance-type.html",
)
def images_fit_the_types(nodes: Resource) -> str | None:
    image = (as_str(nodes.get("AmiType")) or "").upper()
    template = resource_of(nodes.get("LaunchTemplate", "Id"), _TEMPLATE)
    own = None if template is None else as_str(template.get("LaunchTemplateData", "InstanceType"))
    types = [one for one in (*map(as_str, as_items(nodes.get("InstanceTypes")) or ()), own) if one]
    arms = [bool(_GRAVITON.fullmatch(one)) for one in types]
    if "ARM_64" in image or "X86_64" in image:
        other = next((one for one, arm in zip(types, arms, strict=True) if arm is not ("ARM_64" in image)), None)
        if other is not None:
            return f"the image {image} is not for {other}, which is {'Arm' if _GRAVITON.fullmatch(other) else 'x86_64'}"
    elif len(set(arms)) > 1:
        return f"types {enumerated(types)} are of two architectures"
    for word, pattern in ACCELERATED.items():
        strange = next((one for one in types if not pattern.match(one)), None)
        if word in image and strange is not None:
            return f"the image {image} is not for {strange}, which has no such accelerators"
    return None


@warning(
    "HP-NGR-006",
    on=_templates,
    title="disks of a launch template are those of the image",
    why="the root volume keeps its default size and encryption, and the volume of the template lies idle beside it",
    fix="write the name of the image's root volume",
    allowed="/dev/xvda for images of Amazon Linux and Bottlerocket, /dev/sda1 for those of Windows",
    source="https://karpenter.sh/docs/concepts/nodeclasses/",
)
def disks_are_those_of_the_image(nodes: Resource, template: Resource, data: Mapping[str, Value]) -> Iterator[Hit]:
    image = as_str(nodes.get("AmiType")) or ""
    root = next((device for family, device in ROOT_DEVICES.items() if image.startswith(family)), None)
    devices = [as_str(at(one, "DeviceName")) for one in as_items(data.get("BlockDeviceMappings", ABSENT)) or ()]
    if root is None or None in devices or root in devices:
        return
    for place, device in enumerate(devices):
        if device in ROOT_DEVICES.values():
            text = f"{device} is no root volume of {image}, the image of {nodes.logical_id}; that is {root}"
            yield hit(template, text, "LaunchTemplateData", "BlockDeviceMappings", place, "DeviceName")


_TYPED: Mapping[str, tuple[str, ...]] = {
    "AWS::EC2::CapacityReservation": ("InstanceType",),
    "AWS::EC2::Instance": ("InstanceType",),
    _TEMPLATE: ("LaunchTemplateData", "InstanceType"),
    _NODEGROUP: ("InstanceTypes",),
}
"""Types with instance types of EC2, and their place."""


@error(
    "HP-NGR-004",
    title="instance types are types of EC2",
    why="EC2 has no such type, and the stack rolls back",
    fix="write a type of EC2, such as the nearest",
    allowed="a family and one of its sizes, such as m7i.2xlarge",
    source="https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-types.html",
)
def types_are_of_ec2(model: Model) -> Iterator[Hit]:
    for resource in model.resources(*_TYPED):
        path = _TYPED[resource.type]
        value = resource.get(*path)
        listed = as_items(value) if resource.type == _NODEGROUP else None
        for place, one in enumerate(listed) if listed is not None else [(None, value)]:
            name = as_str(one)
            wrong = None if name is None else impossible_type(name)
            if wrong is not None:
                yield hit(resource, wrong, *path, *(() if place is None else (place,)))


@error(
    "HP-NGR-005",
    on="AWS::EKS::FargateProfile",
    title="pods on Fargate are in private subnets",
    why="EKS refuses a profile with a subnet that has a route to an internet gateway",
    fix="name subnets whose way out is a NAT gateway, or endpoints",
    allowed="subnets without a route to an internet gateway",
    source=f"{_EKS_GUIDE}fargate-profile.html",
)
def fargate_is_private(profile: Resource) -> Iterator[Hit]:
    for index, value in enumerate(as_items(profile.get("Subnets")) or ()):
        subnet = resource_of(value, SUBNET)
        exit_ = None if subnet is None else network_facts(profile.template.model).subnet(subnet).exit
        if subnet is not None and exit_ is not None and exit_.kind is ExitKind.INTERNET_GATEWAY:
            yield hit(profile, f"{subnet.logical_id} has a route to an internet gateway", "Subnets", index)


@warning(
    "HP-NGR-003",
    on=lambda model: (*unplaced(model), *unplaced_objects(model)),
    title="pods find nodes with their labels, tolerate the taints there, and ask for what a node has",
    why="the pods stay pending; without CoreDNS no pod of the cluster finds a name",
    fix="give nodes the label, take the taint away, let the pods tolerate it, or let them ask for less",
    allowed="a nodeSelector with labels of a group of nodes, tolerations for its taints, and resources of one node",
    source=f"{_EKS_GUIDE}node-taints-managed-node-groups.html",
    silences=("HP-ADD-020",),
)
def pods_find_nodes(one: Unplaced) -> Hit:
    return hit(one.resource, one.message, *one.path, covers=one.covers)
