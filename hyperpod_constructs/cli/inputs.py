"""Input of the commands on templates. A mistake in it is one message; the exit code is 2."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hyperpod_constructs._support.printable import printable
from hyperpod_constructs.cli.console import CliError, is_aws_error

if TYPE_CHECKING:
    from hyperpod_constructs.cost.prices import Prices

UNUSABLE = 2


class Format(StrEnum):
    """The format of a result."""

    TEXT = "text"
    JSON = "json"


@contextmanager
def usable_input() -> Iterator[None]:
    """Report unusable input, and also a mistake of this library, and end the command with exit code 2."""
    from hyperpod_constructs.cost.prices import PriceFileError
    from hyperpod_constructs.templates.errors import TemplateError

    try:
        yield
    except (CliError, PriceFileError, TemplateError) as error:
        raise _unusable(str(error)) from None
    except (typer.Abort, typer.Exit, BrokenPipeError):
        raise
    except Exception as error:
        if is_aws_error(error):
            raise
        from hyperpod_constructs.rules.failure import explained

        raise _unusable(f"this input cannot be judged, by a mistake of hyperpod: {explained(error)}; report it") from None


def _unusable(message: str) -> typer.Exit:
    typer.secho(printable(f"hyperpod: {message}"), fg="red", err=True)
    return typer.Exit(UNUSABLE)


@contextmanager
def progress(title: str) -> Iterator[None]:
    """Show on the terminal's stderr that the command works; results go to stdout."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(printable(title)):
        yield


def read_prices(path: Path | None) -> Prices:
    """The user's prices, or those of the library.

    :param path: a JSON file; the library's prices when None.
    :raises PriceFileError: if the file is no list of prices.
    """
    from hyperpod_constructs.cost.prices import Prices

    return Prices() if path is None else Prices.read(path)
