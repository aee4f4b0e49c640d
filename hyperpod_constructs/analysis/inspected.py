"""What the rules of a firewall are for: they let something through, and know the addresses of those who go out through it.

Sources: https://docs.aws.amazon.com/network-firewall/latest/developerguide/stateful-rule-groups-domain-names.html and
https://docs.aws.amazon.com/network-firewall/latest/developerguide/suricata-rule-evaluation-order.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hyperpod_constructs.analysis.networks import Subnet, block_of
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_items, as_str, at

_POLICY, _GROUP = "AWS::NetworkFirewall::FirewallPolicy", "AWS::NetworkFirewall::RuleGroup"
_LIST = ("RuleGroup", "RulesSource", "RulesSourceList")
_HOME = ("RuleGroup", "RuleVariables", "IPSets", "HOME_NET", "Definition")


def unpassed(firewall: Resource, behind: Iterable[Subnet]) -> Iterator[tuple[Resource, str]]:
    """The policy or the group of rules by which surely nothing of a subnet passes, and why.

    :param behind: the subnets that go out through the firewall.
    """
    policy = resource_of(firewall.get("FirewallPolicyArn"), _POLICY)
    groups = None if policy is None else _groups(policy)
    if policy is None or groups is None:
        return
    if _drops(policy) and all(as_str(one.get(*_LIST, "GeneratedRulesType")) == "DENYLIST" for one in groups):
        text = f"{policy.logical_id} drops by default, and no rule lets anything through {firewall.logical_id}"
        yield (groups[0] if groups else policy), text
    for group in groups:
        for subnet in behind if group.get(*_LIST) is not ABSENT else ():
            if _is_abroad(subnet, as_items(group.get(*_HOME))):
                name, wall = subnet.resource.logical_id, firewall.logical_id
                yield group, f"its HOME_NET has no address of {name}, which goes out through {wall}: no rule is for its traffic"


def _groups(policy: Resource) -> list[Resource] | None:
    """The stateful groups of a policy; `None` if one is not of the model, or others may let something through before."""
    body = policy.get("FirewallPolicy")
    named = at(body, "StatefulRuleGroupReferences")
    items = () if named is ABSENT else as_items(named)
    found = [resource_of(at(one, "ResourceArn"), _GROUP) for one in items or ()]
    known = [one for one in found if one is not None]
    alone = at(body, "StatelessRuleGroupReferences") in (ABSENT, ())
    return known if items is not None and alone and len(known) == len(found) else None


def _drops(policy: Resource) -> bool:
    actions = as_items(policy.get("FirewallPolicy", "StatefulDefaultActions")) or ()
    return any((as_str(one) or "").startswith("aws:drop") for one in actions)


def _is_abroad(subnet: Subnet, home: tuple[Value, ...] | None) -> bool:
    """Whether a subnet surely has no address in a list of blocks."""
    blocks = [block_of(one) for one in home or ()]
    known = [one for one in blocks if one is not None]
    return subnet.cidr is not None and bool(known) and len(known) == len(blocks) and not any(map(subnet.cidr.overlaps, known))
