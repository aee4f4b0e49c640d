"""`hyperpod clean`: what destroyed stacks have left behind, with its cost, deleted kind by kind."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperpod_constructs.cli.assembly import Assembly
from hyperpod_constructs.cli.console import INTERRUPTED, CliError, if_interrupted, say
from hyperpod_constructs.cli.inputs import progress, read_prices, usable_input
from hyperpod_constructs.cli.kept import KINDS, look
from hyperpod_constructs.cli.leftover_kinds import CLEANING, Family
from hyperpod_constructs.cli.leftovers import Leftover, age, find, refusal
from hyperpod_constructs.cli.operate.asking_again import patient
from hyperpod_constructs.cli.operate.batches import ALL_FAILED, SOME_FAILED, agreed, somebody_is_there
from hyperpod_constructs.cli.operate.denied import in_words
from hyperpod_constructs.cli.operate.listing import As, Column, Output, show
from hyperpod_constructs.cli.operate.patience import not_taken, passing
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.tables import paragraph

app = typer.Typer(add_completion=False)

LOOK_SECONDS = 3.0
WAIT_SECONDS = 1800.0
"""How long a network waits for the end of a file system or a database."""

_REFUSED, _PERHAPS_DELETED, _PERHAPS_EMPTIED = "refused", "perhaps deleted", "perhaps emptied"
_NOT_DONE = (_REFUSED, _PERHAPS_DELETED, _PERHAPS_EMPTIED)
_DELETE = f"Delete this kind; repeatable. Unless given, it asks for each. KIND: {', '.join(Family)}."
_COLUMNS = (
    Column("kind", "kind"),
    Column("id", "id"),
    Column("stack", "stack"),
    Column("holds", "holds"),
    Column("reason", "why it stayed", long=True),
    Column("age_seconds", "since", number=True),
    Column("usd_per_month", "USD/month", number=True),
)
_OUTCOMES = (Column("kind", "kind"), Column("id", "id"), Column("result", "result"), Column("note", "reason", long=True))
_ALL = (*_COLUMNS[:5], *_OUTCOMES[2:], *_COLUMNS[5:])


@app.command(
    epilog="Examples: `hyperpod clean`, `hyperpod clean --delete log-groups --yes`, "
    "`hyperpod clean --stack HyperPod-Foundation --delete file-systems --delete networks --with-data`. "
    "Exit codes: 0 everything that was asked for is deleted, 1 nothing is, 3 a part is, 130 interrupted.",
)
@placed
def clean(
    place: Place,
    stack: Annotated[
        list[str] | None,
        typer.Option(
            "--stack", metavar="NAME", help="Name of a destroyed stack; repeatable; those of the last deployment unless given."
        ),
    ] = None,
    delete: Annotated[list[Family] | None, typer.Option("--delete", metavar="KIND", help=_DELETE)] = None,
    with_data: Annotated[
        bool, typer.Option("--with-data", help="Also buckets that are not empty, and file systems and databases with their data.")
    ] = False,
    prices: Annotated[Path | None, typer.Option("--prices", metavar="FILE", help="Your own prices, as JSON.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; the kinds must be named with --delete.")] = False,
    output: As = Output.TABLE,
) -> None:
    """List what destroyed stacks left behind, with its age and cost, and delete the kinds that you choose."""
    named = tuple(dict.fromkeys(delete or ()))
    if yes and not named:
        raise CliError(f"--yes needs the kinds to delete: add --delete, with one of {', '.join(Family)}")
    place = patient(place)
    with usable_input():
        used = read_prices(prices)
    with progress("looking"):
        found = find(place, stack or _deployed(place), used)
    if not found:
        show(_ALL, [], output) if output is Output.JSON else say("Nothing is left behind.")
        return
    if output is Output.TABLE or not named:
        _list(found, output, used.label, with_data=with_data)
    if not yes and not somebody_is_there():
        if named:
            raise CliError("this would delete what is listed, and nobody is there to ask: add --yes")
        if output is Output.TABLE:
            typer.echo("Nobody is there to ask, so nothing was deleted; a script adds --delete KIND and --yes.", err=True)
        return
    if not named and output is not Output.TABLE:
        return
    chosen = named if yes else _asked(found, named or tuple(Family), with_data=with_data)
    _carry_out(place, [one for one in found if one.family in chosen], output, with_data=with_data)


def _deployed(place: Place) -> list[str]:
    """The names of the stacks of the last deployment."""
    try:
        return [entry.name for entry in Assembly.read(place.where.assembly).stacks]
    except FileNotFoundError:
        raise CliError(f"nothing was deployed from {place.where.assembly}: name the destroyed stacks with --stack") from None


def _list(found: Sequence[Leftover], output: Output, label: str, *, with_data: bool) -> None:
    rows = [_row(one, output) | {"note": refusal(one, one.seen, with_data=with_data)} for one in found]
    show(_ALL if output is not Output.TABLE else _COLUMNS, rows, output)
    if output is not Output.TABLE:
        return
    say()
    for one, row in zip(found, rows, strict=True):
        if row["note"] is not None:
            paragraph(f"{one.id}: {row['note']}")
    monthly = sum(one.usd_per_month or 0 for one in found)
    unknown = ", and what has no known price (-)" if any(one.usd_per_month is None for one in found) else ""
    paragraph(f"Together {monthly:,.2f} USD a month{unknown}. Prices: {label}.")


def _row(leftover: Leftover, output: Output) -> dict[str, Any]:
    monthly = leftover.usd_per_month
    return {
        "kind": leftover.noun,
        "id": leftover.id,
        "stack": leftover.stack.split("/")[1],
        "holds": None if leftover.seen is None else leftover.seen.holds,
        "reason": leftover.reason,
        "age_seconds": age(leftover),
        "usd_per_month": monthly if monthly is None or output is Output.JSON else f"{monthly:,.2f}",
    }


def _asked(found: Sequence[Leftover], families: Sequence[Family], *, with_data: bool) -> tuple[Family, ...]:
    """The families that the user wants to delete. A part of a network that is in use may be free once a file system is gone."""
    chosen = []
    for family in Family:
        free = [one for one in found if one.family is family and family in families and _is_open(one, with_data=with_data)]
        if not free:
            continue
        monthly = sum(one.usd_per_month or 0 for one in free)
        cost = f", {monthly:,.2f} USD a month" if monthly else ""
        data = ", with the data" if any(one.seen is not None and one.seen.data for one in free) else ""
        say()
        if agreed(f"Delete {len(free)} of {family.replace('-', ' ')} for good{data}{cost}?"):
            chosen.append(family)
    if not chosen:
        raise CliError("nothing was deleted")
    return tuple(chosen)


def _is_open(leftover: Leftover, *, with_data: bool) -> bool:
    return leftover.objection is None and (with_data or leftover.seen is None or not leftover.seen.data)


@dataclass(slots=True)
class _Outcome:
    """What became of the leftovers: a result and a reason by id."""

    results: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    changed: bool = False
    interrupted: bool = False

    def begin(self, leftover: Leftover, result: str) -> None:
        """Note, before a call, what it will perhaps have done if no answer comes."""
        self.changed = True
        self.results[leftover.id] = result, None

    def row(self, leftover: Leftover) -> dict[str, str | None]:
        result, note = self.results.get(leftover.id, ("not asked for", None))
        return {"result": result, "note": note}

    @property
    def done(self) -> int:
        """How many are deleted, or will be."""
        return sum(result not in _NOT_DONE for result, _ in self.results.values())

    @property
    def code(self) -> int:
        if self.interrupted:
            return INTERRUPTED
        return 0 if self.done == len(self.results) else SOME_FAILED if self.done else ALL_FAILED


def _carry_out(place: Place, chosen: Sequence[Leftover], output: Output, *, with_data: bool) -> None:
    """Delete, in order, and print what became of each."""
    outcome = _Outcome()
    try:
        with progress("deleting"):
            _delete_all(place, chosen, outcome, with_data=with_data)
    except KeyboardInterrupt:
        outcome.interrupted = True
    columns = _OUTCOMES if output is Output.TABLE else _ALL
    with if_interrupted("what was asked for goes on: hyperpod clean lists what is left"):
        if output is Output.TABLE:
            say()
        show(columns, [_row(one, output) | outcome.row(one) for one in chosen], output)
    if outcome.interrupted:
        changed = f": {outcome.done} of {len(chosen)} were deleted; what started goes on"
        typer.echo(f"interrupted{changed if outcome.changed else '; nothing was changed'}", err=True)
    raise typer.Exit(outcome.code)


def _delete_all(place: Place, chosen: Iterable[Leftover], outcome: _Outcome, *, with_data: bool) -> None:
    started: list[Leftover] = []
    for leftover in chosen:
        if leftover.family is Family.NETWORKS:
            _wait(place, started, outcome)
            started = []
        outcome.results[leftover.id] = result = _deleted(place, leftover, outcome, with_data=with_data)
        if CLEANING[leftover.type].waits and result[0] != _REFUSED:
            started.append(leftover)


def _deleted(place: Place, leftover: Leftover, outcome: _Outcome, *, with_data: bool) -> tuple[str, str | None]:
    """Look once more, then delete: the result, and the reason of a refusal."""
    from botocore.exceptions import BotoCoreError, ClientError

    cleaning = CLEANING[leftover.type]
    if leftover.objection is not None:
        return _REFUSED, leftover.objection
    try:
        answer = look(place.target, leftover.type, leftover.id)
        if answer is None:
            return "deleted", None
        seen = cleaning.seen(place, leftover.id, answer)
        if (reason := refusal(leftover, seen, with_data=with_data)) is not None:
            return _REFUSED, reason
    except (BotoCoreError, ClientError) as error:
        return _REFUSED, in_words(error)
    return _carried_out(place, leftover, outcome, data=seen.data)


def _carried_out(place: Place, leftover: Leftover, outcome: _Outcome, *, data: bool) -> tuple[str, str | None]:
    """Delete the data, if the service wants that first, and the thing: the result, and the reason of a refusal."""
    from botocore.exceptions import BotoCoreError, ClientError

    client, cleaning = place.client(KINDS[leftover.type].service), CLEANING[leftover.type]
    emptied = ""
    try:
        if data and cleaning.empty is not None:
            outcome.begin(leftover, _PERHAPS_EMPTIED)
            cleaning.empty(client, leftover.id)
            emptied = "its data is deleted, and then: "
        outcome.begin(leftover, _PERHAPS_DELETED)
        cleaning.delete(client, leftover.id)
    except (BotoCoreError, ClientError, ValueError) as error:
        answered = passing(error) is None or not_taken(error) is not None
        return _REFUSED if answered else outcome.results[leftover.id][0], f"{emptied}{in_words(error)}"
    return cleaning.done, None


def _wait(place: Place, started: Sequence[Leftover], outcome: _Outcome) -> None:
    """Wait until file systems and databases are gone, which keep their network in use. A look that fails ends the wait for one."""
    from botocore.exceptions import BotoCoreError, ClientError

    end = time.monotonic() + WAIT_SECONDS
    for leftover in started:
        with contextlib.suppress(BotoCoreError, ClientError):
            while (there := look(place.target, leftover.type, leftover.id)) is not None and time.monotonic() < end:
                time.sleep(LOOK_SECONDS)
            if there is None:
                outcome.results[leftover.id] = "deleted", None
