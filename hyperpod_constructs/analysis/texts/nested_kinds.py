"""The parts of parameters that code writes as objects and lists: their members, and the kinds of these.

Source: https://docs.aws.amazon.com/boto3/latest/guide/error-handling.html (ParamValidationError)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.texts.parameter_kinds import misfit
from hyperpod_constructs.facts.sdk_inputs import Input, input_form
from hyperpod_constructs.facts.sdk_values import LIST, MAP, NUMBER, TRUE

KindOf = Callable[[ast.expr], tuple[str, str | None]]
"""The kind of what an expression gives, and the text that it is."""


class Misfit(NamedTuple):
    """A part that the operation does not take, in words."""

    says: str
    allowed: str


def misfits_below(node: ast.expr, client: str, kind: str, kind_of: KindOf, name: str) -> Iterator[Misfit]:
    """What is wrong in the parts of a parameter.

    :param kind: what the operation takes there.
    :param name: the parameter, and below it the member.
    """
    form = input_form(client, kind)
    own, text = kind_of(node)
    wanted = kind if form is None else LIST if form.is_list else MAP
    found = misfit(own, text, wanted) if own and wanted and not wanted.startswith(":") and (own, wanted) != (TRUE, NUMBER) else None
    if found is not None:
        yield Misfit(f"{name}, which {found[0]}", found[1])
    elif form is not None:
        yield from _members(node, form, name) if isinstance(node, ast.Dict) and form.each is None else ()
        for key, value, inner in _parts(node, form):
            yield from misfits_below(value, client, inner, kind_of, f"{name}.{key}" if key else name)


def _members(node: ast.Dict, form: Input, name: str) -> Iterator[Misfit]:
    """Members that an object does not have, or that it lacks."""
    given = [one.value if isinstance(one, ast.Constant) else None for one in node.keys]
    unknown = next((one for one in given if isinstance(one, str) and one not in form.members), None)
    lacking = [] if None in given else [one for one in form.required if one not in given]
    if unknown is not None:
        yield Misfit(f"{name}.{unknown}, which it does not take{meant(unknown, form.members)}", listed(form.members))
    elif lacking:
        yield Misfit(f"{name} without {lacking[0]}", listed(form.required))


def _parts(node: ast.expr, form: Input) -> Iterator[tuple[str, ast.expr, str]]:
    """The parts of an object or a list, each with its name and what is taken there."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            name = str(key.value) if isinstance(key, ast.Constant) else ""
            inner = form.members.get(name, "") if form.each is None else form.each
            yield name, value, inner
    elif isinstance(node, ast.List | ast.Tuple) and form.is_list:
        yield from (("", one, form.each or "") for one in node.elts)
    elif isinstance(node, ast.ListComp) and form.is_list:
        yield "", node.elt, form.each or ""
