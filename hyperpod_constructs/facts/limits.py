"""Limits of single values, in the words of an error. Those of properties stand in `limits.json`, generated from the schemas and,
where they have none, from the newest service models.

`limits.json` is written by `tools/generate_update_facts.py` and carries its date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hyperpod_constructs.facts.data import document
from hyperpod_constructs.facts.mistake import Mistake


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """A limit of a number, a text or the length of a list.

    :param least: the smallest number; none when not given.
    :param most: the largest number; none when not given.
    :param shortest: the smallest number of characters.
    :param longest: the largest number of characters; none when not given.
    :param fewest: the smallest number of items of a list.
    :param most_items: the largest number of items of a list; none when not given.
    :param pattern: the form of the whole text; any text when not given.
    :param choices: the only allowed texts; any when empty.
    :param words: the allowed texts in words; `{shortest}` and `{longest}` stand for the lengths.
    :param example: an allowed text.
    """

    least: int | None = None
    most: int | None = None
    shortest: int = 0
    longest: int | None = None
    fewest: int = 0
    most_items: int | None = None
    pattern: str | None = None
    choices: tuple[str, ...] = ()
    words: str = ""
    example: str = ""

    def mistake(self, name: str, found: str | int | Sequence[object]) -> Mistake | None:
        """A value outside the limit, with the nearest allowed one; `None` for an allowed value."""
        if isinstance(found, Sequence) and not isinstance(found, str):
            return self._list_mistake(name, len(found))
        if self._allows(found):
            return None
        if isinstance(found, str):
            return Mistake(f"{name} is {found!r}; allowed: {self._texts()}", f'write {name}="{self._near(found)}"')
        return Mistake(f"{name} is {found}; allowed: {self._numbers()}", f"write {name}={self._nearest(found)}")

    def _list_mistake(self, name: str, count: int) -> Mistake | None:
        if count >= self.fewest and (self.most_items is None or count <= self.most_items):
            return None
        allowed = f"{self.fewest} or more" if self.most_items is None else f"{self.fewest} to {self.most_items}"
        return Mistake(f"{name} has {count} {'item' if count == 1 else 'items'}; allowed: {allowed}", f"give {allowed}")

    def _allows(self, found: str | int) -> bool:
        if isinstance(found, str):
            if self.choices and found not in self.choices:
                return False
            long = self.longest is not None and len(found) > self.longest
            return len(found) >= self.shortest and not long and (self.pattern is None or _fits(self.pattern, found))
        return (self.least is None or found >= self.least) and (self.most is None or found <= self.most)

    def _texts(self) -> str:
        if self.words:
            return self.words.format(shortest=self.shortest, longest=self.longest)
        return ", ".join(self.choices) or f"{self.shortest} to {self.longest} characters of the form {self.pattern}"

    def _numbers(self) -> str:
        return f"{self.least} or more" if self.most is None else f"{self.least} to {self.most}"

    def _near(self, found: str) -> str:
        """The nearest allowed text, as far as it is a matter of separators and length; else the example."""
        otherwise = self.example or next(iter(self.choices), "")
        return next((text for text in _candidates(found, self.longest) if self._allows(text)), otherwise)

    def _nearest(self, found: int) -> int | None:
        return self.least if self.least is not None and found < self.least else self.most


def property_limit(path: str, *, words: str = "", example: str = "") -> Limit:
    """The service's limit of a property, or of a member of a request.

    :param path: such as `AWS::SageMaker::Cluster/InstanceGroups/*/InstanceCount`, or `fsx:CreateDataRepositoryTask/Paths/*`.
    :param words: the allowed texts in words; see `Limit`.
    :param example: an allowed text.
    """
    found = document("limits.json")["limits"][path]
    return Limit(
        least=found.get("minimum"),
        most=found.get("maximum"),
        shortest=found.get("minLength", 0),
        longest=found.get("maxLength"),
        fewest=found.get("minItems", 0),
        most_items=found.get("maxItems"),
        pattern=found.get("pattern"),
        choices=tuple(found.get("enum", ())),
        words=words,
        example=example,
    )


def most_items(path: str) -> int:
    """The largest number of items of a list; `path` as for `property_limit`."""
    return int(document("limits.json")["limits"][path]["maxItems"])


def limits_below(prefix: str) -> tuple[str, ...]:
    """The limited paths below a path such as `fsx:CreateFileSystem/LustreConfiguration/`, without it."""
    found = document("limits.json")["limits"]
    return tuple(path.removeprefix(prefix) for path in found if path.startswith(prefix))


def _candidates(found: str, longest: int | None) -> Iterator[str]:
    path = "/".join(re.sub(r"[^a-zA-Z0-9._-]+", "-", part) for part in found.split("/") if part)
    for text in (re.sub(r"[^a-zA-Z0-9]+", "-", found).strip("-"), f"/{path}"):
        yield text
        yield text[:longest].rstrip("-/")


def _fits(pattern: str, text: str) -> bool:
    """Whether a text as a whole has the form of a pattern: some of the schema leave an end open, where the API's own do not.

    Python's `\\d` would match any script's digits.
    """
    return re.fullmatch(pattern.removeprefix("^").removesuffix("$"), text, re.ASCII) is not None
