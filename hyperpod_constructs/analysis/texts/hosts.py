"""Addresses with a scheme or a port that lead to a resource of the templates: its host, and a port on which it listens.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-elasticloadbalancingv2-loadbalancer.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.listeners import known_port, lonely_listeners
from hyperpod_constructs.analysis.references.forms import gives_arn
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.listeners import BALANCERS, HOSTS, PLAIN, SECURE, USUAL_PORTS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of, target_of
from hyperpod_constructs.templates.values import Part, Reference, Text, as_int, as_str, placed_leaves

_LISTENER = "AWS::ElasticLoadBalancingV2::Listener"
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]{0,30})://\Z")
_PORT = re.compile(r":(\d{1,5})(?!\d)")
_PLACES: Mapping[str, tuple[str, ...]] = {
    "AWS::ApiGatewayV2::Integration": (),
    "AWS::CodeBuild::Project": ("Environment",),
    "AWS::ECS::TaskDefinition": ("ContainerDefinitions",),
    "AWS::Lambda::Function": ("Environment",),
    "AWS::SSM::Parameter": ("Value",),
    "AWS::SageMaker::Model": (),
}
"""The types whose texts may be addresses, and the property that has them; all properties for none."""


def addresses(resource: Resource) -> Slips:
    """The addresses of a resource that lead nowhere."""
    place = _PLACES[resource.type]
    for path, leaf in placed_leaves(resource.get(*place)):
        parts = leaf.parts if isinstance(leaf, Text) else ()
        for before, part, behind in zip(("", *parts), parts, (*parts[1:], ""), strict=False):
            wrong = _mistake(before, part, behind) if isinstance(part, Reference) else None
            if wrong is not None:
                message, allowed = wrong
                yield Slip(message, allowed, (*place, *path), leaf, dead=True)


def _mistake(before: Part, host: Reference, behind: Part) -> tuple[str, str] | None:
    """What is wrong with the host of an address, or with its port; with what is allowed."""
    scheme = _SCHEME.search(before) if isinstance(before, str) else None
    target, written = target_of(host), _PORT.match(behind) if isinstance(behind, str) else None
    name = f"{host.attribute or 'the Ref'} of {target.logical_id}"
    if scheme is not None and (gives_arn(host) or (target.type in BALANCERS and host.attribute not in HOSTS)):
        return f"the host of an address is {name}", f"the name of a host{', such as DNSName' if target.type in BALANCERS else ''}"
    ports = _ports(target) if host.attribute in HOSTS else {}
    known = scheme[1] if scheme is not None else ""
    port = int(written[1]) if written is not None else USUAL_PORTS.get(known)
    if not ports or port is None or (written is None and not _is_whole(behind)):
        return None
    if port not in ports:
        if any(one.resource is target for one in lonely_listeners(target.template.model)):
            return None  # its listener is at the wrong port
        return f"an address leads to port {port} of {target.logical_id}", f"{', '.join(map(str, ports))}, where it listens"
    if ports[port] in {"http": SECURE, "https": PLAIN}.get(known, ()):
        return f"an address of {known} leads to {target.logical_id}, which speaks {ports[port]} there", "the scheme of its listener"
    return None


def _is_whole(behind: Part) -> bool:
    """Whether a host ends here, with no port behind it."""
    return isinstance(behind, str) and behind[:1] in ("", "/", "?", '"', "'", ",", " ")


def _ports(target: Resource) -> dict[int, str]:
    """The ports on which a resource of the model surely listens, each with its protocol; none if others may be there."""
    model = target.template.model
    if target.type not in BALANCERS:
        port = known_port(target)
        return {} if port is None else {port: ""}
    own = [one for one in model.resources(_LISTENER) if resource_of(one.get("LoadBalancerArn")) in (target, None)]
    found = {as_int(one.get("Port")): as_str(one.get("Protocol")) or "" for one in own}
    sure = model.complete and all(resource_of(one.get("LoadBalancerArn")) is target and one.exists for one in own)
    return {port: protocol for port, protocol in found.items() if port is not None} if sure and None not in found else {}


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = dict.fromkeys(_PLACES, addresses)
