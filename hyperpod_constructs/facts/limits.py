"""Limits of single values, in the words of an error. Those of properties stand in `limits.json`, generated from the schemas.

`limits.json` is written by `tools/generate_update_facts.py` and carries its date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hyperpod_constructs.facts.data import document
from hyperpod_constructs.facts.mistake import Mistake


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """A limit of a number or a text.

    :param least: the smallest number; none when not given.
    :param most: the largest number; none when not given.
    :param shortest: the smallest number of characters.
    :param longest: the largest number of characters; none when not given.
    :param pattern: the form of the whole text; any text when not given.
    :param words: the allowed texts in words; `{shortest}` and `{longest}` stand for the lengths.
    :param example: an allowed text.
    """

    least: int | None = None
    most: int | None = None
    shortest: int = 0
    longest: int | None = None
    pattern: str | None = None
    words: str = ""
    example: str = ""

    def mistake(self, name: str, found: str | int) -> Mistake | None:
        """A value outside the limit, with the nearest allowed one; `None` for an allowed value."""
        if self._allows(found):
            return None
        if isinstance(found, str):
            return Mistake(f"{name} is {found!r}; allowed: {self._texts()}", f'write {name}="{self._near(found)}"')
        return Mistake(f"{name} is {found}; allowed: {self._numbers()}", f"write {name}={self._nearest(found)}")

    def _allows(self, found: str | int) -> bool:
        if isinstance(found, str):
            long = self.longest is not None and len(found) > self.longest
            return len(found) >= self.shortest and not long and (self.pattern is None or _fits(self.pattern, found))
        return (self.least is None or found >= self.least) and (self.most is None or found <= self.most)

    def _texts(self) -> str:
        return self.words.format(shortest=self.shortest, longest=self.longest)

    def _numbers(self) -> str:
        return f"{self.least} or more" if self.most is None else f"{self.least} to {self.most}"

    def _near(self, found: str) -> str:
        """The nearest allowed text, as far as it is a matter of separators and length; else the example."""
        return next((text for text in _candidates(found, self.longest) if self._allows(text)), self.example)

    def _nearest(self, found: int) -> int | None:
        return self.least if self.least is not None and found < self.least else self.most


def property_limit(path: str, *, words: str = "", example: str = "") -> Limit:
    """The schema's limit of a property.

    :param path: such as `AWS::SageMaker::Cluster/InstanceGroups/*/InstanceCount`.
    :param words: the allowed texts in words; see `Limit`.
    :param example: an allowed text.
    """
    found = document("limits.json")["limits"][path]
    return Limit(
        least=found.get("minimum"),
        most=found.get("maximum"),
        shortest=found.get("minLength", 0),
        longest=found.get("maxLength"),
        pattern=found.get("pattern"),
        words=words,
        example=example,
    )


def _candidates(found: str, longest: int | None) -> Iterator[str]:
    path = "/".join(re.sub(r"[^a-zA-Z0-9._-]+", "-", part) for part in found.split("/") if part)
    for text in (re.sub(r"[^a-zA-Z0-9]+", "-", found).strip("-"), f"/{path}"):
        yield text
        yield text[:longest].rstrip("-/")


def _fits(pattern: str, text: str) -> bool:
    """Whether a schema's pattern is found in a text. Python's `$`, unlike a schema's, also matches before a final line feed."""
    strict = pattern.removesuffix("$") + r"\Z" if pattern.endswith("$") else pattern
    return re.search(strict, text) is not None
