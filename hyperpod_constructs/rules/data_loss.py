"""Changes that lose data without a permission: a synthesis refuses them."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs._support.metadata import ALLOW_DATA_LOSS
from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.plan.plan import PlanRow, plan
from hyperpod_constructs.rules.finding import Finding, Level
from hyperpod_constructs.templates.model import Model

_RULE = "HP-LOSS-001"


def data_loss_violations(old: Model, new: Model) -> list[Finding]:
    """One finding for each resource whose data the change loses without a permission.

    The permission of a removed resource is read from the old templates: deploy it before the removal.
    """
    found: dict[tuple[str, str], Finding] = {}
    for row in _losses(old, new):
        found.setdefault((row.template, row.resource), _finding(row))
    return list(found.values())


def _losses(old: Model, new: Model) -> Iterator[PlanRow]:
    return (row for row in plan(old, new).rows if row.effect is Effect.DATA_LOSS and row.allowed is None)


def _finding(row: PlanRow) -> Finding:
    permission = f'{ALLOW_DATA_LOSS}: "why it may go" in its metadata (in the CDK: allow_data_loss="why it may go")'
    what = f"the change of {row.property}" if row.property else "the removal"
    return Finding(
        rule=_RULE,
        level=Level.ERROR,
        template=row.template,
        resource=row.resource,
        construct=row.construct,
        path=f"Properties/{row.property}" if row.property else "",
        found=row.new,
        allowed=f"a change that keeps the data, or {permission}",
        message=f"{what} loses data: {row.why}",
        fix=f"{row.avoid}; or, if the data may go, write {permission}, and deploy that before you remove the resource",
        source=row.source,
        fatal=True,
    )
