"""Rules and policies of a network firewall: numbers and variables of rules, and packets that reach none.

Sources: https://docs.aws.amazon.com/network-firewall/latest/developerguide/suricata-limitations-caveats.html,
https://docs.aws.amazon.com/network-firewall/latest/APIReference/API_RuleVariables.html and
https://docs.aws.amazon.com/network-firewall/latest/developerguide/stateless-default-actions.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.texts.reading import HOLE, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Value, as_items, as_str

_SOURCE = ("RuleGroup", "RulesSource")
_SID = re.compile(r"\bsid\s*:\s*(\d+)")
_VARIABLE = re.compile(r"(?<![\w$])([$@])([A-Za-z]\w*)")
_OWN = frozenset({"HOME_NET", "EXTERNAL_NET"})
"""Variables that a firewall has without being told."""
_SETS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "$": (("RuleVariables", "IPSets"), ("RuleVariables", "PortSets")),
    "@": (("ReferenceSets", "IPSetReferences"),),
}
_PAST = ("aws:pass", "aws:drop")


def rule_group(resource: Resource) -> Slips:
    """The numbers of rules, and the variables that they use."""
    text = spelled(resource.get(*_SOURCE, "RulesString"))
    lines = [line for line in (text or "").splitlines() if not line.lstrip().startswith("#")]
    place = (*_SOURCE, "RulesString")
    sids = [*_SID.findall("\n".join(lines)), *_sids(resource.get(*_SOURCE, "StatefulRules"))]
    twice = next((one for index, one in enumerate(sids) if one in sids[:index]), None)
    if twice is not None:
        path = place if text else (*_SOURCE, "StatefulRules")
        yield Slip(f"two rules have the number {twice}", "a sid of its own for each rule", path, twice)
    missing = next(_undefined(resource, lines), None)
    if missing is not None:
        name, kinds = missing
        yield Slip(f"the rules use {name}, which nothing defines", f"a set of this name in {kinds}", place, name)


def _sids(rules: Value) -> Iterator[str]:
    """The numbers of rules that are written as such."""
    for _, rule in entries(rules):
        for _, option in entries(mapping(rule).get("RuleOptions", ABSENT)):
            if as_str(mapping(option).get("Keyword", ABSENT)) == "sid":
                yield from (str(one) for one in as_items(mapping(option).get("Settings", ABSENT)) or ())


def _undefined(resource: Resource, lines: list[str]) -> Iterator[tuple[str, str]]:
    """The variables in the heads of rules that the group does not define, with the properties that do."""
    for sign, name in (found for line in lines if HOLE not in line for found in _VARIABLE.findall(line.partition("(")[0])):
        sets = [resource.get("RuleGroup", *path) for path in _SETS[sign]]
        known = {key for one in sets if isinstance(one, Mapping) for key in one}
        if name not in known | _OWN and all(one is ABSENT or isinstance(one, Mapping) for one in sets):
            yield sign + name, listed("/".join(path) for path in _SETS[sign])


def policy(resource: Resource) -> Slips:
    """Packets that the stateless engine passes or drops reach no stateful rule."""
    rules = resource.get("FirewallPolicy")
    stateful, stateless = (as_items(mapping(rules).get(f"{kind}RuleGroupReferences", ABSENT)) for kind in ("Stateful", "Stateless"))
    for index, action in entries(mapping(rules).get("StatelessDefaultActions", ABSENT)):
        if stateful and stateless == () and as_str(action) in _PAST:
            message = f"the default action of stateless rules is {as_str(action)}, so no packet reaches the stateful rules"
            yield Slip(message, "aws:forward_to_sfe", ("FirewallPolicy", "StatelessDefaultActions", index), action, dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    "AWS::NetworkFirewall::FirewallPolicy": policy,
    "AWS::NetworkFirewall::RuleGroup": rule_group,
}
