"""Switches that a variable of the environment can set too, with the words for yes and no that the Makefile takes."""

from __future__ import annotations

import os

from hyperpod_constructs.cli.console import CliError

YES = ("1", "yes", "true", "on")
NO = ("0", "no", "false", "off")


def switched(given: bool | None, variable: str) -> bool | None:
    """A switch as the command line sets it, else as the variable says; `None` without either.

    :raises CliError: if the variable holds another word.
    """
    word = os.environ.get(variable, "")
    if given is not None or word == "":
        return given
    if word.lower() not in YES + NO:
        raise CliError(f"{variable}={word} is not known: write one of {', '.join(YES)}, {', '.join(NO)}")
    return word.lower() in YES
