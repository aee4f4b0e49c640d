"""The parameters that conditions compare with texts."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.templates.model import Template
from hyperpod_constructs.templates.parameters import compared
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import as_str


def comparisons(raw: Raw) -> Iterator[tuple[str, str]]:
    """The parameters that a condition compares with texts."""
    if isinstance(raw, list):
        for one in raw:
            yield from comparisons(one)
    elif isinstance(raw, dict):
        sides = raw.get("Fn::Equals")
        if isinstance(sides, list) and len(sides) == 2:
            for one, other in (sides, sides[::-1]):
                parameter, text = compared(one), text_of(other)
                if parameter is not None and text is not None:
                    yield parameter, text
        else:
            for one in raw.values():
                yield from comparisons(one)


def may_be_empty(template: Template, parameter: str) -> bool:
    """Whether a condition asks for the empty text of a parameter, so that nothing has to be given."""
    return (parameter, "") in comparisons([*template.document.section("Conditions").values()])


def text_of(raw: Raw) -> str | None:
    """The text that a side of a comparison is; `None` for a function."""
    return as_str(raw) if isinstance(raw, str | int | float | bool) else None
