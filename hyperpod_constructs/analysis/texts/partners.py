"""Settings of machines, volumes and records that go with those of what they name: zones, signals, hosted zones.

Sources: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AttachVolume.html,
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-creationpolicy.html,
https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html and
https://docs.aws.amazon.com/Route53/latest/APIReference/API_AliasTarget.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.networks import SUBNET, Zone, network_facts, zone_of
from hyperpod_constructs.analysis.texts.reading import HOLE, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value, as_int, at

_INSTANCE, _TEMPLATE, _VOLUME = "AWS::EC2::Instance", "AWS::EC2::LaunchTemplate", "AWS::EC2::Volume"
_RESERVATION = "AWS::EC2::CapacityReservation"
_SIGNAL = re.compile(r"cfn-signal\b([^\n]*)")
_ASKED = re.compile(r"(?:--resource|-r)[ =]+(?:[\"']?)([A-Za-z0-9]+)")
_MAY_SIGNAL = re.compile(rf"cfn-signal|signal-resource|SignalResource|cfn-init|s3|curl|wget|git|http|include|{HOLE}", re.IGNORECASE)
"""Words of scripts that signal, or run what nobody knows."""
_ZONE_OF_ALIAS: Mapping[tuple[str, str], str] = {
    ("AWS::ElasticLoadBalancing::LoadBalancer", "DNSName"): "CanonicalHostedZoneNameID",
    ("AWS::ElasticLoadBalancing::LoadBalancer", "CanonicalHostedZoneName"): "CanonicalHostedZoneNameID",
    ("AWS::ElasticLoadBalancingV2::LoadBalancer", "DNSName"): "CanonicalHostedZoneID",
}
"""The attributes that are the name of a target of an alias, and its hosted zone."""


def attachment(resource: Resource) -> Slips:
    """A volume is attached in its zone."""
    volume, instance = resource_of(resource.get("VolumeId"), _VOLUME), resource_of(resource.get("InstanceId"), _INSTANCE)
    zone = None if instance is None else _zone_of_subnet(instance.get("SubnetId"))
    if volume is not None and instance is not None and zone is not None and zone_of(volume).is_same(zone) is False:
        message = f"{volume.logical_id} is in another zone than {instance.logical_id}"
        yield Slip(message, "a volume in the zone of its instance", ("VolumeId",))


def launch_template(resource: Resource) -> Slips:
    """A reservation is in the zone of the subnets of what draws on it."""
    path = ("LaunchTemplateData", "CapacityReservationSpecification", "CapacityReservationTarget", "CapacityReservationId")
    reservation = resource_of(resource.get(*path), _RESERVATION)
    for _, one in entries(resource.get("LaunchTemplateData", "NetworkInterfaces")) if reservation is not None else ():
        zone = _zone_of_subnet(mapping(one).get("SubnetId", ABSENT))
        if reservation is not None and zone is not None and zone_of(reservation).is_same(zone) is False:
            message = f"{reservation.logical_id} is in another zone than the subnet of the interfaces"
            yield Slip(message, "a reservation in the zone of the subnet", path)
            return


def _zone_of_subnet(value: Value) -> Zone | None:
    subnet = resource_of(value, SUBNET)
    return None if subnet is None else network_facts(subnet.template.model).subnet(subnet).zone


def signalled(resource: Resource) -> Slips:
    """What awaits signals is sent some: by its own user data, or by that of its launch template."""
    awaited = at(resource.policy("CreationPolicy"), "ResourceSignal")
    if not isinstance(awaited, Mapping) or as_int(awaited.get("Count", ABSENT)) == 0:
        return
    scripts = [spelled(one) for one in _scripts(resource)]
    texts = [text for text in scripts if text is not None]
    if len(texts) != len(scripts):
        return
    asked = [found[1] for text in texts for line in _SIGNAL.findall(text) if (found := _ASKED.search(line)) is not None]
    if asked and resource.logical_id not in asked and not any(HOLE in text for text in _lines(texts)):
        message = f"its script signals for {asked[0]}, and {resource.logical_id} awaits the signal"
        yield Slip(message, f"cfn-signal with --resource {resource.logical_id}", ("UserData",), asked[0])
    elif not any(map(_MAY_SIGNAL.search, texts)) and _has_known_source(resource):
        message = f"{resource.logical_id} awaits a signal, and its user data sends none"
        yield Slip(message, f"cfn-signal with --resource {resource.logical_id} in the user data", ("UserData",))


def _lines(texts: list[str]) -> Iterator[str]:
    """The names for which scripts signal, where a part of them is not known."""
    return (line for text in texts for line in re.findall(rf"(?:--resource|-r)[ =]+[^\s]*{HOLE}", text))


def _scripts(resource: Resource) -> Iterator[Value]:
    template = _template_of(resource)
    yield from _scripts_of(resource, "UserData")
    if template is not None:
        yield from _scripts_of(template, "LaunchTemplateData", "UserData")


def _scripts_of(owner: Resource, *path: str) -> Iterator[Value]:
    """The plain text of user data, if there is one; `None` for one that is not encoded by the template."""
    raw: object = owner.raw.get("Properties")
    for key in path:
        raw = raw.get(key) if isinstance(raw, dict) else None
    if raw is not None:
        encoded = isinstance(raw, dict) and set(raw) == {"Fn::Base64"}
        yield owner.template.resolver.resolve(raw["Fn::Base64"]) if encoded and isinstance(raw, dict) else None


def _template_of(resource: Resource) -> Resource | None:
    return resource_of(resource.get("LaunchTemplate", "LaunchTemplateId"), _TEMPLATE)


def _has_known_source(resource: Resource) -> bool:
    """Whether all that instances run at their start is in the template."""
    alone = resource.type == _INSTANCE and resource.get("LaunchTemplate") is ABSENT
    return alone or _template_of(resource) is not None


def managed_nodes(resource: Resource) -> Slips:
    """EKS merges its own user data with that of a launch template without an image, which is in parts for that."""
    template = resource_of(resource.get("LaunchTemplate", "Id"), _TEMPLATE)
    kind = resource.get("AmiType")
    linux = kind is ABSENT or (isinstance(kind, str) and kind.startswith(("AL2_", "AL2023_")))
    if template is None or not linux or template.get("LaunchTemplateData", "ImageId") is not ABSENT:
        return
    text = next((spelled(one) for one in _scripts_of(template, "LaunchTemplateData", "UserData")), None)
    if text is not None and text.lstrip().startswith(("#!", "#cloud-config")):
        message = f"the user data of {template.logical_id} is no MIME archive, with which EKS merges its own"
        yield Slip(message, "Content-Type: multipart/mixed with parts, or an image of your own", ("LaunchTemplate",))


def alias(resource: Resource) -> Slips:
    """The hosted zone of an alias is that of its target."""
    name, zone = resource.get("AliasTarget", "DNSName"), resource.get("AliasTarget", "HostedZoneId")
    if isinstance(name, Reference) and isinstance(zone, Reference):
        target = target_of(name)
        wanted = _ZONE_OF_ALIAS.get((target.type, name.attribute or ""))
        if wanted is not None and (target_of(zone) is not target or zone.attribute != wanted):
            message = f"the alias leads to {target.logical_id}, and its hosted zone is that of {target_of(zone).logical_id}"
            yield Slip(message, f"{target.logical_id}.{wanted}", ("AliasTarget", "HostedZoneId"), zone)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    "AWS::AutoScaling::AutoScalingGroup": signalled,
    _INSTANCE: signalled,
    _TEMPLATE: launch_template,
    "AWS::EC2::VolumeAttachment": attachment,
    "AWS::EKS::Nodegroup": managed_nodes,
    "AWS::Route53::RecordSet": alias,
}
