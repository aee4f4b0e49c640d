"""Outputs that other stacks import: CloudFormation refuses to change or delete one while it is in use."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.plan.equality import Key, Spelled, leads_to, same
from hyperpod_constructs.plan.pairs import Pair, Pairs
from hyperpod_constructs.plan.verdict import Verdict
from hyperpod_constructs.templates.model import Template
from hyperpod_constructs.templates.raw import Raw, walk
from hyperpod_constructs.templates.values import ABSENT, Value

_SOURCE = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-importvalue.html"


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportChange:
    """An export in use that is removed or gets another value."""

    template: Template
    output: str
    property: str
    old: Value
    new: Value
    verdict: Verdict


def changed_exports(pairs: Pairs) -> Iterator[ExportChange]:
    """The imported exports of the old model that the new model lacks or gives another value."""
    importers = _importers(pairs)
    for old, new in pairs.templates:
        after = None if new is None else _exports(new)
        for export, output in _exports(old).items():
            users = _users(importers, export, old)
            if not users:
                continue
            if new is None or after is None or export not in after:
                if new is None or not _has_unknown_names(new):
                    yield _gone(new or old, output, export, users)
                continue
            one, other = _value(old, output), _value(new, after[export])
            if not same(one, other, pairs.key_of):
                verdict = _refused(f"the value of {export} would change", users)
                yield ExportChange(
                    template=new, output=after[export], property="Value", old=one.value, new=other.value, verdict=verdict
                )


def _gone(template: Template, output: str, export: str, users: list[str]) -> ExportChange:
    verdict = _refused(f"{export} would go", users)
    return ExportChange(template=template, output=output, property="Export", old=export, new=ABSENT, verdict=verdict)


def _refused(what: str, users: list[str]) -> Verdict:
    return Verdict(
        effect=Effect.REFUSED,
        why=f"{what}, but {', '.join(users)} imports it; an export in use cannot change",
        avoid=f"keep the output (in the CDK: exportValue), and deploy {', '.join(users)} without the import first",
        source=_SOURCE,
    )


def _exports(template: Template) -> dict[str, str]:
    """The exported names of a template with their outputs, without those under a false condition."""
    return {export: output for export, output in template.exports() if _holds(template, output)}


def _holds(template: Template, output: str) -> bool:
    condition = _declaration(template, output).get("Condition")
    return not isinstance(condition, str) or template.condition(condition) is not False


def _has_unknown_names(template: Template) -> bool:
    outputs = template.raw.get("Outputs")
    named = (
        [name for name, output in outputs.items() if isinstance(output, dict) and output.get("Export")]
        if isinstance(outputs, dict)
        else []
    )
    return template.rewritten or len(named) > len(list(template.exports()))


def _value(template: Template, output: str) -> Spelled:
    return Spelled(template.output(output), _declaration(template, output).get("Value"), template)


def _declaration(template: Template, output: str) -> Mapping[str, Raw]:
    outputs = template.raw.get("Outputs")
    found = outputs.get(output) if isinstance(outputs, dict) else None
    return found if isinstance(found, dict) else {}


class ExportsInUse:
    """The exports that a replacement changes, and the stacks of the old model that import them."""

    def __init__(self, pairs: Pairs, replaced: Collection[Key]) -> None:
        self._users: dict[Key, tuple[str, list[str]]] = {}
        if not replaced:
            return
        importers = _importers(pairs)
        for template in pairs.new.templates:
            for export, output in template.exports():
                users = _users(importers, export, template)
                if users:
                    for key in leads_to(template.output(output), replaced, pairs.key_of):
                        self._users.setdefault(key, (export, users))

    def refusal(self, pair: Pair) -> Verdict | None:
        """The verdict that refuses a replacement; `None` if no other stack imports the resource."""
        found = self._users.get(pair.key)
        if found is None:
            return None
        export, users = found
        return Verdict(
            effect=Effect.REFUSED,
            why=f"the update needs a new resource, but {', '.join(users)} imports the old one as {export}; "
            "an export in use cannot change",
            avoid=f"delete the importing stack first ({', '.join(users)}), or make the new resource beside this one",
            source=_SOURCE,
        )


def _importers(pairs: Pairs) -> Mapping[str, list[Template]]:
    return grouped((name, template) for template in pairs.old.templates for name in _imported(template))


def _users(importers: Mapping[str, list[Template]], export: str, exporter: Template) -> list[str]:
    """The templates that import a name in the account and region of its exporter."""
    return [user.name for user in importers.get(export, ()) if user.environment.is_beside(exporter.environment)]


def _imported(template: Template) -> set[str]:
    """The known names that a template imports."""
    names = set()
    for value in walk(dict(template.raw)):
        if isinstance(value, dict) and len(value) == 1 and "Fn::ImportValue" in value:
            name = template.resolver.resolve(value["Fn::ImportValue"])
            if isinstance(name, str):
                names.add(name)
    return names
