"""`hyperpod cost`, and the cost of a deployment before it is confirmed and after it was destroyed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hyperpod_constructs.cli.console import say
from hyperpod_constructs.cli.inputs import ABOVE, Format, is_above, progress, read_prices, usable_input
from hyperpod_constructs.cli.markdown import code, plain
from hyperpod_constructs.cli.markdown import table as markdown_table
from hyperpod_constructs.cli.tables import paragraph, table

if TYPE_CHECKING:
    from hyperpod_constructs.cli.operate.actual_cost import ActualCost, Asked
    from hyperpod_constructs.cost.estimate import CostEstimate

_COLUMNS = ("resource", "what", "USD/hour", "USD/month")
_ACTUAL_COLUMNS = ("service", "USD", "USD/hour", "USD/month")
_WITHOUT = "without traffic, requests and taxes"


def cost(
    paths: Sequence[Path],
    *,
    form: Format,
    prices: Path | None,
    series_per_node: float | None = None,
    fail_above: float | None = None,
    asked: Asked | None = None,
) -> None:
    """Print the cost of these templates and assemblies together.

    :param series_per_node: the series of metrics that a node sends to Prometheus; those of the file of prices unless given.
    :param asked: what Cost Explorer is asked beside the estimate; it is not asked unless given.
    :raises typer.Exit: with code 1 above the threshold, and with code 2 if a template cannot be read.
    """
    from hyperpod_constructs.cost.estimate import model_cost
    from hyperpod_constructs.templates.model import load

    with usable_input(), progress("reading"):
        estimate = model_cost(load(paths), read_prices(prices, series_per_node=series_per_node))
    if form is Format.TEXT:
        with usable_input():
            _print(estimate)
    actual = None if asked is None else asked.answer()
    with usable_input():
        if form is Format.JSON:
            beside = {} if asked is None else {"actual": None if actual is None else actual.as_json()}
            typer.echo(json.dumps({**as_json(estimate), **beside}, indent=2))
        elif form is Format.MARKDOWN:
            typer.echo("\n".join([*_markdown(estimate), *(() if asked is None else _actual_markdown(actual))]))
        elif asked is not None:
            _print_actual(actual)
    if is_above("the cost", estimate.usd_per_month, fail_above):
        raise typer.Exit(ABOVE)


def as_json(estimate: CostEstimate) -> dict[str, object]:
    """The estimate as plain data; an unknown price is null."""
    return {
        "label": estimate.label,
        "usd_per_hour": round(estimate.usd_per_hour, 6),
        "usd_per_month": round(estimate.usd_per_month, 2),
        "unpriced": sorted(set(estimate.unpriced)),
        "resources": [
            {
                "template": row.template,
                "resource": row.logical_id,
                "construct": row.construct,
                "type": row.resource_type,
                "what": row.what,
                "usd_per_hour": row.usd_per_hour,
                "usd_per_month": None if row.usd_per_hour is None else round(_monthly(row.usd_per_hour), 2),
            }
            for row in estimate.rows
        ],
    }


def _rows(estimate: CostEstimate) -> list[tuple[str, str, str, str]]:
    """The priced parts."""
    return [
        (row.construct or row.logical_id, row.what, f"{row.usd_per_hour:,.3f}", f"{_monthly(row.usd_per_hour):,.0f}")
        for row in estimate.rows
        if row.usd_per_hour is not None
    ]


def _markdown(estimate: CostEstimate) -> list[str]:
    total = ("**total**", "", f"**{estimate.usd_per_hour:,.3f}**", f"**{estimate.usd_per_month:,.0f}**")
    rows = [(code(name), plain(what), *sums) for name, what, *sums in _rows(estimate)]
    return [*markdown_table(_COLUMNS, [*rows, total], numbers=2), *unpriced_markdown(estimate.label, estimate.unpriced)]


def unpriced_markdown(label: str, unpriced: Sequence[str]) -> list[str]:
    """The source of the prices, and the parts without a known price, in Markdown."""
    lines = ["", f"Prices: {plain(label)}; {_WITHOUT}."]
    if unpriced:
        lines += ["", "Not in the sum, because the price is not known:", ""]
        lines += [f"- {plain(what)}{f' ({times} times)' if times > 1 else ''}" for what, times in sorted(Counter(unpriced).items())]
    return lines


def _print(estimate: CostEstimate) -> None:
    rows = [*_rows(estimate), ("total", "", f"{estimate.usd_per_hour:,.3f}", f"{estimate.usd_per_month:,.0f}")]
    table(_COLUMNS, rows, numbers=2)
    say_unpriced(estimate.label, estimate.unpriced)


def _print_actual(actual: ActualCost | None) -> None:
    from hyperpod_constructs.cli.operate.actual_cost import NOTHING

    say()
    if actual is None:
        say(NOTHING)
        return
    if actual.by_service:
        table(_ACTUAL_COLUMNS, actual.rows(), numbers=3)
    for note in actual.notes():
        paragraph(note)


def _actual_markdown(actual: ActualCost | None) -> list[str]:
    from hyperpod_constructs.cli.operate.actual_cost import NOTHING

    if actual is None:
        return ["", plain(NOTHING)]
    rows = [(plain(name), *sums) for name, *sums in actual.rows()]
    drawn = markdown_table(_ACTUAL_COLUMNS, rows, numbers=3) if actual.by_service else []
    return ["", *drawn, *(line for note in actual.notes() for line in ("", plain(note)))]


def say_unpriced(label: str, unpriced: Sequence[str]) -> None:
    """Print the source of the prices, and the parts without a known price."""
    paragraph(f"prices: {label}; {_WITHOUT}", hanging="        ")
    if unpriced:
        say("price not known, so not in the sum (give it with --prices FILE):")
        for what in sorted(set(unpriced)):
            times = unpriced.count(what)
            say(f"  {what}{f' ({times} times)' if times > 1 else ''}")


def say_hourly_cost(label: str, templates: Iterable[Mapping[str, Any]]) -> None:
    """Print the hourly cost of these templates in three lines: the sum, the source of the prices, the unpriced parts."""
    from hyperpod_constructs.cost.estimate import hourly_cost
    from hyperpod_constructs.cost.prices import HOURS_PER_MONTH, LABEL

    estimates = [hourly_cost(template) for template in templates]
    total = sum(estimate.usd_per_hour for estimate in estimates)
    month = total * HOURS_PER_MONTH
    say(f"{label}  about {total:,.2f} USD an hour ({month:,.0f} USD a month), {_WITHOUT}")
    say(f"{' ' * len(label)}  prices: {LABEL}")
    unpriced = sorted({name for estimate in estimates for name in estimate.unpriced})
    if unpriced:
        say(f"{' ' * len(label)}  price not known, so not in the sum: {', '.join(unpriced)}")


def _monthly(usd_per_hour: float) -> float:
    from hyperpod_constructs.cost.prices import HOURS_PER_MONTH

    return usd_per_hour * HOURS_PER_MONTH
