"""What expressions and statements ask of the way on which they are followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from hyperpod_constructs.analysis.code_runs.things import Function, Object, Scope, Thing
from hyperpod_constructs.templates.values import Part, Value

if TYPE_CHECKING:
    import ast


@dataclass(frozen=True, slots=True)
class Around:
    """What code finds where it runs.

    :param variables: those of the environment.
    :param holes: by their name in the code, the parts of the template's text that are no characters.
    :param files: the texts of files in the folder in which it runs, by their names.
    :param data: the data of files that are there anyway, made anew with each call, by their paths.
    :param lacking: the paths of files that surely are not there, with what to say of them.
    :param arguments: the words behind its name; `None` for what is no program.
    :param name: its name as a module.
    :param made: the calls that were made before and cannot be made twice, as texts.
    """

    variables: Mapping[str, Thing] = field(default_factory=dict)
    holes: Mapping[str, Part] = field(default_factory=dict)
    files: Mapping[str, Value] = field(default_factory=dict)
    data: Mapping[str, Callable[[], Thing]] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[Value, ...] | None = None
    name: str = "index"
    made: frozenset[str] = frozenset()


class Way(Protocol):
    """One way through code."""

    around: Around
    attributes: dict[str, Thing]
    """What the code gives attributes of unknown things, by how it writes them."""
    yields: bool
    """Whether the function that runs gives one value after the other."""
    sees_address: bool
    """Whether the code takes the address for an answer."""
    caught: list[int]
    """The lines that catch a failure."""
    expected: list[str]
    """The names by which they do, but for those of all exceptions."""

    def may_go_on(self) -> bool:
        """Count a step; whether more of them may follow."""

    def give_up(self) -> None:
        """Note that something is not followed."""

    def deeper(self) -> AbstractContextManager[bool]:
        """One step down in an expression; whether that is too deep."""

    def side(self, node: ast.AST) -> bool:
        """Whether this way takes the one side at a place where both are possible."""

    def holds(self, test: ast.expr, scope: Scope) -> bool:
        """Whether this way takes a condition for true."""

    def misses(self, of: Object, key: str, node: ast.expr) -> None:
        """Note that an object has no item of this name."""

    def fail(self, node: ast.expr, says: str, *names: str) -> None:
        """Leave by an exception of these names.

        :raises Raised: always.
        """

    def own(self, function: Function) -> Thing:
        """What a function of the code gives without arguments."""

    def call(self, node: ast.Call, scope: Scope) -> Thing:
        """What a call gives."""

    def block(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        """Do statements one after the other."""

    def assign(self, target: ast.expr, thing: Thing, scope: Scope) -> None:
        """Give a name, several names, an attribute or an item a value."""

    def forget(self, nodes: Sequence[ast.stmt], scope: Scope) -> None:
        """Forget the names that statements give a value, and what they may change."""
