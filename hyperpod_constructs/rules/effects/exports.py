"""Outputs that other stacks import: CloudFormation refuses to change or delete one while it is in use."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hyperpod_constructs.rules.effects.comparison import Key, leads_to
from hyperpod_constructs.rules.effects.effect import Effect
from hyperpod_constructs.rules.effects.pairs import Pair, Pairs
from hyperpod_constructs.rules.effects.verdict import Verdict
from hyperpod_constructs.rules.template.model import Template
from hyperpod_constructs.rules.template.raw import walk

_SOURCE = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-importvalue.html"


class ExportsInUse:
    """The exports that a replacement would change, and the stacks of the old model that import them."""

    def __init__(self, pairs: Pairs, replaced: Collection[Key]) -> None:
        self._users: dict[Key, tuple[str, list[str]]] = {}
        if not replaced:
            return
        importers = _importers(pairs)
        for template in pairs.new.templates:
            for export, output in template.exports():
                users = importers.get(export, [])
                if users:
                    for key in leads_to(template.output(output), replaced, pairs.key_of):
                        self._users.setdefault(key, (export, users))

    def refusal(self, pair: Pair) -> Verdict | None:
        """Why a resource cannot be replaced; None if no other stack imports it."""
        found = self._users.get(pair.key)
        if found is None:
            return None
        export, users = found
        return Verdict(
            effect=Effect.REFUSED,
            why=f"a new resource would have to take its place, but {', '.join(users)} imports it as {export}, and an export "
            "that is in use cannot change",
            avoid=f"delete the importing stack first ({', '.join(users)}), or make the new resource beside this one",
            source=_SOURCE,
        )


def _importers(pairs: Pairs) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for template in pairs.old.templates:
        for name in _imported(template):
            users = found.setdefault(name, [])
            if template.name not in users:
                users.append(template.name)
    return found


def _imported(template: Template) -> set[str]:
    """The names that a template imports, as far as they are known."""
    names = set()
    for value in walk(dict(template.raw)):
        if isinstance(value, dict) and len(value) == 1 and "Fn::ImportValue" in value:
            name = template.resolver.resolve(value["Fn::ImportValue"])
            if isinstance(name, str):
                names.add(name)
    return names
