"""`hyperpod plan`: the effects and the cost of an update.

Exit codes for CI: 0 nothing dangerous, 2 unusable input, 3 replacement, 4 loss of data, 5 refused by the service.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hyperpod_constructs._support.printable import printable
from hyperpod_constructs.cli.console import CliError, folds, say
from hyperpod_constructs.cli.cost import say_unpriced, unpriced_markdown
from hyperpod_constructs.cli.inputs import ABOVE, Format, is_above, progress, read_prices, usable_input
from hyperpod_constructs.cli.markdown import code, plain
from hyperpod_constructs.cli.markdown import table as markdown_table
from hyperpod_constructs.cli.tables import Cell, differing, paragraph, shortened, table
from hyperpod_constructs.cli.target import Target, TargetName

if TYPE_CHECKING:
    from hyperpod_constructs.cost.change import CostChange, ResourceCost
    from hyperpod_constructs.plan.plan import Plan, PlanRow
    from hyperpod_constructs.templates.model import Model

_STYLES = {"refused": "bold red", "data loss": "bold red", "replace": "bold yellow", "rolling": "yellow"}
_ASSEMBLY = Path("cdk.out")


def plan(old: Path, new: Path, *, form: Format, prices: Path | None, fail_above: float | None = None) -> None:
    """Print the plan from one template or assembly to another; the exit code is that of the worst effect, else of the cost."""
    from hyperpod_constructs.plan.previous import previous_model
    from hyperpod_constructs.templates.model import load

    with usable_input(), progress("reading"):
        after = load([new])
        before = previous_model(old, after)
    _report(before, after, form=form, prices=prices, fail_above=fail_above)


def plan_deployed(
    target: Target,
    where: TargetName,
    stacks: Sequence[str],
    new: Path | None,
    *,
    form: Format,
    prices: Path | None,
    fail_above: float | None = None,
) -> None:
    """Print the plan from deployed stacks.

    :param target: the account of the stacks.
    :param where: the same by name.
    :param stacks: names of stacks.
    :param new: the template or assembly; unless given, the newer of `cdk.out` and the assembly that `hyperpod deploy` wrote for the
        target. Its path and time are then printed.
    :param form: text, JSON or Markdown.
    :param prices: a file of prices; those of the library unless given.
    :param fail_above: the highest increase of the cost, in US dollars a month; no limit unless given.
    """
    from hyperpod_constructs.cli.deployed_models import deployed_models

    with usable_input(), progress(f"reading {', '.join(stacks)}"):
        chosen = _assembly(where) if new is None else new
        models = deployed_models(target, stacks, chosen)
    if new is None:
        written = datetime.fromtimestamp(_manifest(chosen).stat().st_mtime).astimezone()
        typer.echo(printable(f"new: {chosen}, synthesized {written:%Y-%m-%d %H:%M:%S %Z}"), err=True)
    _report(*models, form=form, prices=prices, fail_above=fail_above)


def _assembly(where: TargetName) -> Path:
    found = [candidate for candidate in (_ASSEMBLY, where.assembly) if _manifest(candidate).is_file()]
    if not found:
        raise CliError(f"neither {where.assembly} nor {_ASSEMBLY} holds an assembly: run `cdk synth` first, or name the template")
    return max(found, key=lambda candidate: _manifest(candidate).stat().st_mtime)


def _manifest(assembly: Path) -> Path:
    return assembly / "manifest.json"


def _report(old: Model, new: Model, *, form: Format, prices: Path | None, fail_above: float | None) -> None:
    from hyperpod_constructs.cost.change import cost_change
    from hyperpod_constructs.plan.plan import plan as compute

    with usable_input(), progress("comparing"):
        found = compute(old, new)
        cost = cost_change(old, new, found, read_prices(prices))
    with usable_input():
        if form is Format.JSON:
            typer.echo(json.dumps(_json(found, cost), indent=2))
        elif form is Format.MARKDOWN:
            typer.echo("\n".join(_markdown(found, cost)))
        else:
            _print(found, cost)
    above = is_above("the increase of the cost", (cost.new - cost.old) * cost.hours_per_month, fail_above)
    raise typer.Exit(found.exit_code or (ABOVE if above else 0))


def _json(found: Plan, cost: CostChange) -> dict[str, object]:
    rows = [
        {**row.to_dict(), "usd_per_hour_change": None if change is None else change.usd_per_hour}
        for row, change in _with_cost(found.rows, cost)
    ]
    return {
        "effect": found.worst.value,
        "exit_code": found.exit_code,
        "rows": rows,
        "notes": list(found.notes),
        "cost": cost.to_dict(),
    }


def _with_cost(rows: Iterable[PlanRow], cost: CostChange) -> list[tuple[PlanRow, ResourceCost | None]]:
    """Each row; the first row of a resource with the change of its cost."""
    seen = set()
    result = []
    for row in rows:
        key = row.template, row.resource
        result.append((row, None if key in seen else cost.by_resource.get(key)))
        seen.add(key)
    return result


def _shown(found: Plan, cost: CostChange) -> list[tuple[PlanRow, ResourceCost | None]]:
    """The rows without new resources that cost nothing by themselves."""
    return [(row, change) for row, change in _with_cost(found.rows, cost) if not _is_made(row) or change]


def _markdown(found: Plan, cost: CostChange) -> list[str]:
    shown = _shown(found, cost)
    lines = [f"### Plan: {found.worst.value}", ""]
    if shown:
        columns = ("effect", "resource", "property", "change", "USD/hour")
        cells = _cells(shown)
        rows = [(effect, code(name), code(property), code(change), usd) for effect, name, property, change, usd in cells]
        lines += markdown_table(columns, rows, numbers=1)
    if created := len(found.rows) - len(shown):
        lines += ["", f"{created} resources without a price of their own are created."]
    if not found.rows:
        lines.append("No changes.")
    lines.append("")
    for (effect, why, avoid, source, allowed), members in _reasons(row for row, _ in shown):
        places = ", ".join(code(" ".join(filter(None, (_name(row), row.property)))) for row in members)
        texts = (("", why), ("Instead: ", avoid), ("Permitted: ", allowed or ""), ("Source: ", source))
        lines.append(f"- **{effect}** {places}: {' '.join(f'{label}{plain(text)}.' for label, text in texts if text)}")
    lines += [f"- Note: {plain(note)}" for note in found.notes]
    lines += ["", *(f"{line[0].upper()}{line[1:]}." for line in _cost_lines(cost)), *unpriced_markdown(cost.label, cost.unpriced)]
    return lines


def _print(found: Plan, cost: CostChange) -> None:
    shown = _shown(found, cost)
    created = len(found.rows) - len(shown)
    if shown:
        _print_table(shown)
    if created:
        say(f"{created} resources without a price of their own are created")
    if not found.rows:
        say("no changes")
    _print_reasons(row for row, _ in shown)
    for note in found.notes:
        paragraph(note, indent="note: ", hanging="      ")
    _print_cost(cost)
    say(f"worst effect: {found.worst.value}", style=_STYLES.get(found.worst.value))


def _is_made(row: PlanRow) -> bool:
    """Whether a row is a new resource without a problem."""
    return not row.property and row.old is None and row.effect.value == "no interruption"


def _print_table(rows: Sequence[tuple[PlanRow, ResourceCost | None]]) -> None:
    """One line for each row in a pipe. Where lines fold, the resource has a line of its own, above its changes."""
    cells = _cells(rows)
    if folds():
        stacked = [(effect, _stacked(name, property, change), cost) for effect, name, property, change, cost in cells]
        table(("effect", "change", "USD/hour"), stacked, numbers=1, whole=1)
    else:
        table(("effect", "resource", "property", "change", "USD/hour"), cells, numbers=1)


def _cells(rows: Sequence[tuple[PlanRow, ResourceCost | None]]) -> list[tuple[str, str, str, str, str]]:
    places = Counter((row.template, row.resource) for row, _ in rows)
    return [
        (row.effect.value, _name(row), row.property, _change(row), _cost(change, places[row.template, row.resource]))
        for row, change in rows
    ]


def _cost(change: ResourceCost | None, rows: int) -> str:
    """The change of a resource's cost; a resource with several rows has one cost in all."""
    if change is None:
        return ""
    return f"{change} in all" if rows > 1 else str(change)


def _stacked(name: str, property: str, change: str) -> Cell:
    return (name, f"  {property}: {change}") if property else f"{name}: {change}"


def _name(row: PlanRow) -> str:
    return row.construct or row.resource


def _change(row: PlanRow) -> str:
    if not row.property:
        return "new" if row.old is None else "gone"
    if row.old == row.new:
        return "known after the update"
    old, new = differing(row.old, row.new)
    return f"{shortened(old)} -> {shortened(new)}"


_Reason = tuple[str, str, str, str, str | None]


def _reasons(rows: Iterable[PlanRow]) -> list[tuple[_Reason, list[PlanRow]]]:
    """Effect, reason, alternative, source and permission, with the rows of which they are true."""
    groups: dict[_Reason, list[PlanRow]] = {}
    for row in rows:
        if not _is_made(row):
            groups.setdefault((row.effect.value, row.why, row.avoid, row.source, row.allowed), []).append(row)
    return list(groups.items())


def _print_reasons(rows: Iterable[PlanRow]) -> None:
    """Reason and alternative; rows with equal texts share one paragraph."""
    groups = _reasons(rows)
    for (effect, why, avoid, source, allowed), members in groups:
        say()
        places = ", ".join(" ".join(filter(None, (_name(row), row.property))) for row in members)
        paragraph(f"{effect}: {places}", hanging="  ", style=_STYLES.get(effect))
        for label, text in (("why", why), ("instead", avoid), ("permitted", allowed or ""), ("source", source)):
            if text:
                paragraph(text, indent=f"  {label:<10}", hanging=" " * 12)
    if groups:
        say()


def _print_cost(cost: CostChange) -> None:
    first, *others = _cost_lines(cost)
    say(first)
    for line in others:
        say(f"      {line}")
    say_unpriced(cost.label, cost.unpriced)


def _cost_lines(cost: CostChange) -> list[str]:
    """The sums before and after, and what they contain and leave out."""
    change = cost.new - cost.old
    more = f"({change:+,.3f} an hour, {change * cost.hours_per_month:+,.0f} a month)"
    lines = [f"cost: {cost.old:,.3f} -> {cost.new:,.3f} USD an hour {more}"]
    if cost.kept:
        lines.append(f"with {cost.kept:,.3f} USD an hour for resources kept outside the stack")
    if cost.incomplete:
        lines.append("without changes of unknown price, marked ?")
    return lines
