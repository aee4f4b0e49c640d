"""Names of one's own that nothing has: a text in the family of the names that the templates give to resources of its type.

>>> nobodys(model, "train-dead-letters", ["train-events", "train-dead-events"])
True

The family of a name is its first word. A name of another family may be that of something outside of the templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from hyperpod_constructs.analysis.texts.reading import HOLE, spelled
from hyperpod_constructs.templates.model import Model, Template
from hyperpod_constructs.templates.values import ABSENT, Value

_WORD = re.compile(rf"[^\W_{HOLE}]+(?!{HOLE})")
_OF_AWS = "aws"
_OF_ALL = ("alias", "sagemaker")
"""First words that names of many users have: those of aliases of keys, and of buckets, as the policies of SageMaker demand."""
_MORE = "0"
"""A word for a part of a name that nobody knows."""
_LEAST = 3
"""Shorter first words, such as `my`, are those of many."""


def nobodys(model: Model, name: str, names: Iterable[Value]) -> bool:
    """Whether a name is in the family of most other names, and none of them; these can have parts that nobody knows.

    The default of a parameter may name something outside of the templates, and other templates may add resources.
    """
    given = [spelled(one) for one in names if one is not ABSENT]
    if not model.complete or name in _defaults(model):
        return False
    own = [family for one in given if one is not None and (family := _family(one)) != _OF_AWS]
    family = _family(name)
    if None in given or own.count(family) * 2 <= len(own) or family == _OF_AWS or len(family) < _LEAST:
        return False
    return not any(_may_be(name, one) for one in given if one)


def is_shorter(name: str, names: Iterable[Value]) -> bool:
    """Whether a name has only words of another one, which has more."""
    words = {*_WORD.findall(name.lower())}
    return any(words < {*_WORD.findall((spelled(one) or "").lower().replace(HOLE, f"-{_MORE}"))} for one in names)


def _defaults(model: Model) -> set[object]:
    """The defaults of all parameters of a model; computed once."""
    return model.cached(_defaults, lambda: {one for template in model.templates for one in _defaults_of(template)})


def _defaults_of(template: Template) -> Iterator[str]:
    for one in template.document.section("Parameters").values():
        given = one.get("Default") if isinstance(one, dict) else None
        if isinstance(given, str):
            yield given


def _family(name: str) -> str:
    """The first word of a name; empty if a part of it is not known."""
    words = (found for found in _WORD.finditer(name) if found[0].lower() not in _OF_ALL)
    first = next(words, None)
    return first[0].lower() if first is not None and HOLE not in name[: first.start()] else ""


def _may_be(name: str, other: str) -> bool:
    """Whether a name is another one, whatever the parts that nobody knows turn out to be."""
    return re.fullmatch(".+".join(map(re.escape, other.split(HOLE))), name, re.DOTALL) is not None
