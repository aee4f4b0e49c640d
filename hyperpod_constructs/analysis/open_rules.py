"""Rules of security groups and network ACLs by which everybody comes in."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.near_misses import known_users_of_group, users_of_group
from hyperpod_constructs.analysis.security_groups import ALL_PORTS, INGRESS, SECURITY_GROUP, GroupRule, security_groups
from hyperpod_constructs.facts.private_services import DATA_BY_WEB, EVERYBODY, OPEN_TO_ALL, PUBLIC_SERVICES
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import as_bool, as_int, as_str

_ENTRY = "AWS::EC2::NetworkAclEntry"
_TRAFFIC = ("-1", "tcp", "udp")
_TCP_OF_ACL = (6, -1)


def open_rules(model: Model) -> Iterator[GroupRule]:
    """The rules that let everybody in where nobody of the internet has business.

    A group is judged that something has, or that is given to others. What is made for the internet, such as a load balancer, may
    have any port open, and others those of the web.
    """
    for group in model.resources(SECURITY_GROUP):
        types = {one.type for one in known_users_of_group(group)}
        if types.isdisjoint(PUBLIC_SERVICES) and (types or users_of_group(group) is None):
            web = types.isdisjoint(DATA_BY_WEB)
            rules = security_groups(model).of(group).in_direction("ingress")
            yield from (one for one in rules if _is_open(one) and not (web and _is_web(one)))
    yield from _of_strangers(model)


def _of_strangers(model: Model) -> Iterator[GroupRule]:
    """The same of groups that are not in the model, such as that of a control plane."""
    for resource in model.resources(INGRESS):
        rule = GroupRule("ingress", resource, (), resource.properties)
        if resource_of(resource.get("GroupId"), SECURITY_GROUP) is None and _is_open(rule) and not _is_web(rule):
            yield rule


def _is_open(rule: GroupRule) -> bool:
    return rule.is_open and rule.protocol in _TRAFFIC and rule.ports is not None


def _is_web(rule: GroupRule) -> bool:
    """Whether a rule is for a port of the web alone."""
    return rule.ports is not None and len(rule.ports) == 1 and rule.ports.start in OPEN_TO_ALL


def is_everything(rule: GroupRule) -> bool:
    """Whether a rule is for all ports."""
    return rule.ports is not None and rule.ports.start <= 1 and rule.ports.stop >= ALL_PORTS.stop - 1


def open_entries(model: Model) -> Iterator[tuple[Resource, range]]:
    """The entries of network ACLs that let everybody in by TCP, each with its ports."""
    for entry in model.resources(_ENTRY):
        sides = (as_str(entry.get("CidrBlock")), as_str(entry.get("Ipv6CidrBlock")))
        opens = as_str(entry.get("RuleAction")) == "allow" and not as_bool(entry.get("Egress"))
        first, last = (as_int(entry.get("PortRange", key)) for key in ("From", "To"))
        known = as_int(entry.get("Protocol")) in _TCP_OF_ACL and first is not None and last is not None
        if opens and known and any(one in EVERYBODY for one in sides):
            yield entry, range(first or 0, (last or 0) + 1)
