"""Series that rules of Prometheus record: an expression asks for one that a rule of the same workspace records.

A name with colons is that of a recording rule. Rules elsewhere, as those of Kubernetes, may send theirs to the workspace too: a
name is missed only where it is in the family of those that are recorded.

Sources: https://prometheus.io/docs/practices/rules/ and https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-Ruler.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.texts.promql import LONGEST_EXPRESSION, names_in
from hyperpod_constructs.analysis.texts.reading import HOLE, from_yaml
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.promql import KUBERNETES_LEVELS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import Value

_NAMESPACE = "AWS::APS::RuleGroupsNamespace"
_MOST_RULES = 2000
_WORD = re.compile(r"[a-zA-Z0-9]+")


def namespace(resource: Resource) -> Slips:
    """The first expression that asks for a series which no rule records."""
    recorded, own = _recorded(resource), {one for one in _names(resource) if one}
    for place, expression in _expressions(resource) if recorded else ():
        for name in names_in(expression) if len(expression) <= LONGEST_EXPRESSION and HOLE not in expression else ():
            if ":" in name and name not in recorded and not typo_of(name, own) and any(_is_kin(name, one) for one in recorded):
                says = f"expr of {place} asks for {name}, which no rule of the workspace records"
                yield Slip(says, listed(recorded), ("Data",), dead=True)
                return


def _recorded(resource: Resource) -> list[str]:
    """The names that all rules of a workspace record; none if they are not all known."""
    workspace = resource_of(resource.get("Workspace"))
    found: list[str] = []
    if workspace is None or not resource.template.model.complete:
        return found
    for one in resource.template.model.resources(_NAMESPACE):
        names = list(_names(one)) if resource_of(one.get("Workspace")) in (workspace, None) else []
        if None in names:
            return []
        found += [name for name in names if name is not None]
    return list(dict.fromkeys(found))


def _names(resource: Resource) -> Iterator[str | None]:
    """The names that the rules of a namespace record; `None` for one that is not known."""
    data = _data(resource)
    if data is None:
        yield None
    for _, _, rule in _rules(data):
        name = rule.get("record")
        if name is not None or any(HOLE in key for key in rule):
            yield name if isinstance(name, str) and HOLE not in name else None


def _expressions(resource: Resource) -> Iterator[tuple[str, str]]:
    for group, index, rule in _rules(_data(resource)):
        expression = rule.get("expr")
        if isinstance(expression, str):
            yield f"groups/{group}/rules/{index}", expression


def _rules(data: Value) -> Iterator[tuple[int, int, Mapping[str, Value]]]:
    for group, one in entries(mapping(data).get("groups")):
        for index, rule in entries(mapping(one).get("rules")):
            if index < _MOST_RULES:
                yield group, index, mapping(rule)


def _data(resource: Resource) -> Value:
    """The rules of a namespace; `None` if they are not known."""
    data = resource.template.model.cached((namespace, resource), lambda: from_yaml(resource.get("Data")))
    return None if isinstance(data, Slip) or not isinstance(data, Mapping) else data


def _is_kin(name: str, recorded: str) -> bool:
    """Whether a name begins as a recorded one; where those of Kubernetes begin so too, whether more of the two is the same."""
    parts, others = name.split(":"), recorded.split(":")
    if parts[0] != others[0] or not parts[0]:
        return False
    same = sum(one == other for one, other in zip(parts, others, strict=False))
    return parts[0] not in KUBERNETES_LEVELS or (same > 1 and not {*_words(parts)}.isdisjoint(_words(others)))


def _words(parts: list[str]) -> list[str]:
    """The words between the level and the operation of a name."""
    return [word for part in parts[1:-1] for word in _WORD.findall(part.replace("_", " "))]


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_NAMESPACE: namespace}
