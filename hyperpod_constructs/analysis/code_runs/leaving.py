"""How a way leaves a block of code: it returns, fails, leaves a loop, or is not followed any further."""

from __future__ import annotations

from hyperpod_constructs.analysis.code_runs.things import Thing


class Left(Exception):  # noqa: N818 - the way leaves a block, which is no error
    """The way leaves a block."""


class Returned(Left):
    """A function returns."""

    def __init__(self, value: Thing) -> None:
        self.value = value


class Broken(Left):
    """The way leaves a loop, or its turn.

    :param ends: whether it leaves the loop.
    """

    def __init__(self, *, ends: bool) -> None:
        self.ends = ends


class Raised(Left):
    """Something fails.

    :param names: the class of the exception and its special bases; none if it is not known.
    """

    def __init__(self, *names: str) -> None:
        self.names = names


class Ended(Left):
    """The way is not followed any further."""
