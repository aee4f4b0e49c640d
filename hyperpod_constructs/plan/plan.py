"""The plan of an update: every change between two models, with its effect.

>>> found = plan(load([Path("deployed.json")]), load([Path("cdk.out")]))
>>> found.worst
<Effect.DATA_LOSS: 'data loss'>
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from hyperpod_constructs._support.metadata import ALLOW_DATA_LOSS
from hyperpod_constructs.analysis.hidden import secrets_of
from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.plan.exports import changed_exports
from hyperpod_constructs.plan.pairs import Pairs
from hyperpod_constructs.plan.updates import Updates
from hyperpod_constructs.plan.verdict import Verdict, of_removal
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, Value, at, shown

EXIT_CODES = {Effect.NO_INTERRUPTION: 0, Effect.ROLLING: 0, Effect.REPLACE: 3, Effect.DATA_LOSS: 4, Effect.REFUSED: 5}

_WITH_ITS_STACK = Verdict(
    effect=Effect.NO_INTERRUPTION, why="stays in its nested stack, because DeletionPolicy keeps the stack", kept=True
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanRow:
    """One change of a resource.

    :param property: the path of the property; empty if the whole resource is created or removed.
    :param allowed: the written reason that permits a loss of data; `None` if the loss is not permitted.
    :param kept: whether the old resource stays in the account, outside the stack.
    """

    template: str
    resource: str
    type: str
    construct: str | None
    property: str
    old: object
    new: object
    effect: Effect
    why: str
    avoid: str = ""
    source: str = ""
    allowed: str | None = None
    kept: bool = False

    def to_dict(self) -> dict[str, object]:
        """The row as plain data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The rows, the worst first, and notes on the parts that no plan can compare."""

    rows: tuple[PlanRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def worst(self) -> Effect:
        """The worst effect; a permitted loss of data does not count."""
        found = (row.effect for row in self.rows if not (row.effect is Effect.DATA_LOSS and row.allowed is not None))
        return max(found, key=lambda effect: effect.severity, default=Effect.NO_INTERRUPTION)

    @property
    def exit_code(self) -> int:
        """0 nothing dangerous, 3 replacement, 4 loss of data, 5 refused by the service."""
        return EXIT_CODES[self.worst]


def plan(old: Model, new: Model) -> Plan:
    """The plan of the update from one model to the other.

    Templates pair by name, or directly if each model has only one. A stack outside the new model stays as it is.
    """
    pairs = Pairs(old, new)
    updates = Updates(pairs)
    rows = [*_updated(updates), *_created(pairs, updates), *_removed(pairs), *_exported(pairs)]
    rows.sort(key=lambda row: -row.effect.severity)
    before, after = secrets_of(old), secrets_of(new)
    rows = [replace(row, old=before.value(row.old), new=after.value(row.new)) for row in rows]
    return Plan(rows=tuple(rows), notes=tuple(_notes(pairs)))


def permission(resource: Resource) -> str | None:
    """The written reason that permits the loss of a resource's data; `None` without one."""
    found = at(resource.metadata, ALLOW_DATA_LOSS)
    return found if isinstance(found, str) and found.strip() else None


def _updated(updates: Updates) -> Iterable[PlanRow]:
    for update in updates.found():
        yield _row(update.pair.new, update.property, update.old, update.new, update.verdict, permission(update.pair.new))


def _created(pairs: Pairs, updates: Updates) -> Iterable[PlanRow]:
    created = Verdict(effect=Effect.NO_INTERRUPTION, why="is created")
    for resource in pairs.created:
        yield _row(resource, "", ABSENT, resource.type, updates.refusal(resource) or created, None)


def _removed(pairs: Pairs) -> Iterable[PlanRow]:
    for resource in pairs.removed:
        kept = pairs.stays_with_its_stack(resource)
        verdict = _WITH_ITS_STACK if kept else _renamed(of_removal(resource), pairs.created_like(resource))
        yield _row(resource, "", resource.type, ABSENT, verdict, permission(resource))


def _exported(pairs: Pairs) -> Iterable[PlanRow]:
    for change in changed_exports(pairs):
        yield PlanRow(
            template=change.template.name,
            resource=f"Outputs/{change.output}",
            type="Output",
            construct=None,
            property=change.property,
            old=shown(change.old),
            new=shown(change.new),
            **_judged(change.verdict),
        )


def _renamed(verdict: Verdict, candidates: list[Resource]) -> Verdict:
    """A verdict with a hint on the logical id, if the removed resource may have been renamed."""
    if verdict.effect.severity < Effect.REPLACE.severity or not candidates:
        return verdict
    names = ", ".join(resource.logical_id for resource in candidates)
    hint = f"if {names} is the same resource, keep the logical id (override_logical_id) or move it with `cdk refactor`"
    return replace(verdict, avoid=f"{hint}; {verdict.avoid}".removesuffix("; "))


def _row(resource: Resource, name: str, old: Value, new: Value, verdict: Verdict, allowed: str | None) -> PlanRow:
    return PlanRow(
        template=resource.template.name,
        resource=resource.logical_id,
        type=resource.type,
        construct=resource.construct_path,
        property=name,
        old=shown(old),
        new=shown(new),
        allowed=allowed if verdict.effect is Effect.DATA_LOSS else None,
        **_judged(verdict),
    )


def _judged(verdict: Verdict) -> dict[str, Any]:
    return {field.name: getattr(verdict, field.name) for field in fields(verdict)}


def _notes(pairs: Pairs) -> Iterable[str]:
    for name in pairs.only_old:
        yield f"{name} exists only in the old deployment; this update does not touch it"
    for name in pairs.rewritten:
        yield f"{name} has a transform, which can change any property; its changes are not in this plan"
    for name in pairs.looped:
        yield f"{name} makes resources in a loop (Fn::ForEach); they are not in this plan"
    for name in pairs.unread:
        yield f"the template of nested stack {name} is not given both before and after; its changes are not in this plan"
