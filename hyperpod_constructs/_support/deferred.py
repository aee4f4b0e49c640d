"""Values and checks at synthesis: adapters from functions to the objects that jsii expects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import jsii
from aws_cdk import (
    Annotations,
    Aspects,
    IAnyProducer,
    IAspect,
    IResolvable,
    IResolveContext,
    IStableAnyProducer,
    IStableListProducer,
    IStableStringProducer,
    Lazy,
)
from constructs import Construct, IConstruct


def deferred_text(produce: Callable[[], str]) -> str:
    """A token for a text that `produce` returns at synthesis."""
    return Lazy.string(_Text(produce))


def deferred_value(produce: Callable[[], Any]) -> IResolvable:
    """A token for a value that `produce` returns at synthesis."""
    return Lazy.any(_Value(produce))


def resolved_value(produce: Callable[[], Any]) -> IResolvable:
    """A token for a value that `produce` reads from resolved values of the same stack.

    It is called at each look: what a reference to another stack becomes is known after the first.
    """
    return Lazy.uncached_any(_Fresh(produce))


def deferred_list(produce: Callable[[], list[str]]) -> list[str]:
    """A token for a list of texts that `produce` returns at synthesis."""
    return Lazy.list(_List(produce))


def check_at_synthesis(construct: Construct, mistakes: Callable[[], Sequence[str]], *, resource: Construct) -> None:
    """Report each of `mistakes` as an error of the construct.

    An exception at synthesis would reach the user as an error of jsii.

    :param construct: named in the error.
    :param mistakes: called once at each synthesis, after all later additions.
    :param resource: the construct's resource, the subject of the check.
    """

    check_together_at_synthesis(lambda: ((construct, mistake) for mistake in mistakes()), resource=resource)


def check_together_at_synthesis(mistakes: Callable[[], Iterable[tuple[Construct, str]]], *, resource: Construct) -> None:
    """Report mistakes of several constructs of one app, each as an error of its construct; see `check_at_synthesis`.

    :param resource: any resource of the app that is visited at synthesis.
    """

    def check() -> None:
        for construct, mistake in mistakes():
            Annotations.of(construct).add_error(mistake)

    _visit(resource, check)


def warn_at_synthesis(construct: Construct, warnings: Callable[[], Mapping[str, str]], *, resource: Construct) -> None:
    """Report each of `warnings`, by its id, as a warning of the construct; see `check_at_synthesis`."""

    def warn() -> None:
        for id, warning in warnings().items():
            Annotations.of(construct).add_warning_v2(f"hyperpod-constructs:{id}", warning)

    _visit(resource, warn)


_visits: WeakKeyDictionary[IConstruct, list[Callable[[], None]]] = WeakKeyDictionary()
"""What to do at each resource."""


def _visit(resource: Construct, action: Callable[[], None]) -> None:
    actions = _visits.setdefault(resource, [])
    if not actions:
        Aspects.of(resource).add(_visitor())
    actions.append(action)


@cache
def _visitor() -> _Visitor:
    """The one aspect of all checks: another one would be another call into jsii for each resource."""
    return _Visitor()


@jsii.implements(IStableStringProducer)
class _Text:
    def __init__(self, produced: Callable[[], str]) -> None:
        self._produced = produced

    def produce(self) -> str:
        return self._produced()


@jsii.implements(IStableListProducer)
class _List:
    def __init__(self, produced: Callable[[], list[str]]) -> None:
        self._produced = produced

    def produce(self) -> list[str]:
        return self._produced()


@jsii.implements(IStableAnyProducer)
class _Value:
    def __init__(self, produced: Callable[[], Any]) -> None:
        self._produced = produced

    def produce(self) -> Any:
        return self._produced()


@jsii.implements(IAnyProducer)
class _Fresh:
    def __init__(self, produced: Callable[[], Any]) -> None:
        self._produced = produced

    def produce(self, context: IResolveContext) -> Any:  # the interface has it
        return self._produced()


@jsii.implements(IAspect)
class _Visitor:
    def visit(self, node: IConstruct) -> None:
        for action in _visits.get(node, ()):
            action()
