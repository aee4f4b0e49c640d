"""Input of the commands on templates. A mistake in it is one message; the exit code is 2."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_constructs._support.printable import printable
from hyperpod_constructs.cli.console import CliError, is_aws_error
from hyperpod_constructs.cost.errors import PriceFileError
from hyperpod_constructs.templates.errors import TemplateError

if TYPE_CHECKING:
    from hyperpod_constructs.cost.prices import Prices

ABOVE = 1
"""The exit code for a cost above the threshold."""
UNUSABLE = 2
STANDARD_INPUT = Path("-")


class Format(StrEnum):
    """The format of a result."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


@contextmanager
def usable_input() -> Iterator[None]:
    """Report unusable input, and also a mistake of this library, and end the command with exit code 2."""
    try:
        yield
    except (CliError, PriceFileError, TemplateError) as error:
        raise _unusable(str(error)) from None
    except BrokenPipeError:
        raise
    except Exception as error:
        if is_aws_error(error):
            raise
        from hyperpod_constructs.rules.failure import explained

        raise _unusable(f"this input cannot be judged, by a mistake of hyperpod: {explained(error)}; report it") from None


def check_threshold(fail_above: float | None) -> None:
    """Refuse a threshold that no sum can be compared with.

    :raises CliError: for a number below 0, and for what is no number.
    """
    if fail_above is not None and not 0 <= fail_above < math.inf:
        raise CliError(f"--fail-above is {fail_above}; allowed: a number of US dollars a month, 0 or more")


def is_above(what: str, usd_per_month: float, fail_above: float | None) -> bool:
    """Whether a sum is above the threshold; it is then said on stderr.

    :param what: the name of the sum.
    :param fail_above: the threshold, in US dollars a month; None is no threshold.
    """
    if fail_above is None or round(usd_per_month, 2) <= fail_above:
        return False
    message = f"hyperpod: {what} is {usd_per_month:,.2f} USD a month, above {fail_above:,.2f} (--fail-above)"
    _say_in_red(message)
    return True


def _unusable(message: str) -> SystemExit:
    _say_in_red(printable(f"hyperpod: {message}"))
    return SystemExit(UNUSABLE)


def _say_in_red(message: str) -> None:
    import typer

    typer.secho(message, fg="red", err=True)


@contextmanager
def standard_input(paths: Sequence[Path]) -> Iterator[None]:
    """Let the path `-` stand for a template from standard input.

    :param paths: the paths of the command line.
    """
    from hyperpod_constructs.templates.files import LARGEST_FILE, given

    if STANDARD_INPUT not in paths:
        yield
        return
    with given(STANDARD_INPUT, sys.stdin.buffer.read(LARGEST_FILE + 1)):
        yield


@contextmanager
def progress(title: str) -> Iterator[None]:
    """Show on the terminal's stderr that the command works; results go to stdout."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(printable(title)):
        yield


def read_prices(path: Path | None, *, series_per_node: float | None = None) -> Prices:
    """The user's prices, or those of the library.

    :param path: a JSON file; the library's prices when None.
    :param series_per_node: as in `Prices`; those of the file when None.
    :raises PriceFileError: if the file is no list of prices.
    """
    from hyperpod_constructs.cost.prices import Prices

    prices = Prices() if path is None else Prices.read(path)
    return prices if series_per_node is None else replace(prices, series_per_node=series_per_node)
