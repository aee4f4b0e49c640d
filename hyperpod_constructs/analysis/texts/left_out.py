"""Choices without a default: a value that none of their rules takes ends the execution with States.NoChoiceMatched.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/state-choice.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hyperpod_constructs.analysis.data_forms import Data, Known, read, steps_of
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Slip, entries, mapping
from hyperpod_constructs.templates.values import ABSENT, Value

_RULE = {"Variable", "StringEquals"}
_BESIDE = {"Next", "Comment", "Assign"}
_DEEPEST = 10
_OF_DELETED = "delet"
"""How states of what somebody deletes begin: a machine that waits for something does not await its end."""


def left_out(name: str, state: Mapping[str, Value], data: Known, others: Iterable[Mapping[str, Value]]) -> Iterator[Slip]:
    """The values of the one variable of a choice that none of its rules takes.

    :param others: the other states of the machine: one that compares the variable too has taken some of its values before.
    """
    rules = [pair for _, one in entries(state.get("Choices", ABSENT)) for pair in _rules(mapping(one), 0)]
    variables = {variable for variable, _ in rules}
    if "Default" in state or known(state.get("Type", ABSENT)) != "Choice" or len(variables) != 1 or ("", "") in rules:
        return
    variable = variables.pop()
    steps = steps_of(variable)
    found = read(data, steps) if steps else None
    may_be = (*found.words, *found.some) if isinstance(found, Data) else ()
    missing = [one for one in may_be if (variable, one) not in rules and not one.lower().startswith(_OF_DELETED)]
    if missing and not any(known(one.get("Type", ABSENT)) == "Choice" and f"'{variable}'" in str(one) for one in others):
        says = f"the choice {name!r} has no Default, and no rule for {listed(missing)}, which {variable} may be"
        yield Slip(says, "a Default, or a rule for each value", dead=True)


def _rules(rule: Mapping[str, Value], depth: int) -> Iterator[tuple[str, str]]:
    """The variable and the text of each comparison, of which one suffices; empty ones for any other rule."""
    keys = rule.keys() - _BESIDE
    if keys == {"Or"} and depth < _DEEPEST:
        for _, one in entries(rule["Or"]):
            yield from _rules(mapping(one), depth + 1)
        return
    variable, word = (known(rule.get(key, ABSENT)) for key in ("Variable", "StringEquals"))
    yield (variable, word) if keys == _RULE and variable and word is not None else ("", "")
