"""Secrets that stand in templates, kept out of what is printed: messages of findings and rows of plans end in logs of others."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from hyperpod_constructs.analysis.bounded_json import read_json
from hyperpod_constructs.facts.exposure import SECRET_WORDS
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.raw import Raw

_NAME = re.compile(SECRET_WORDS)
_WHOLE = "SecretString"
"""A secret, whatever its name: a text, or JSON with names of its own."""
_ELSEWHERE = re.compile(r"arn:|.*\{\{resolve:|true$|false$|\$\{\w+\}$", re.DOTALL)
"""Texts that say where a secret lies, or whether there is one."""
_GIVEN = re.compile(r"(?<!\w)([A-Za-z_]\w*)[ \t]*[=:][ \t]*([\"']?)([^\s\"'`;()$]+)\2")
_SHORTEST, _MOST = 4, 256
_QUOTED = r"'[^']*'|\"[^\"]*\""
"""What a message quotes: hidden with all the rest where secrets are too many to look for."""
_HIDDEN = "(hidden)"


class Secrets:
    """Texts that nobody else may read.

    >>> Secrets({"hunter2"}).text("MasterUserPassword is 'hunter2'")
    "MasterUserPassword is '(hidden)'"
    """

    def __init__(self, texts: Collection[str]) -> None:
        """Secrets as they are written in a template."""
        spelled = {one for text in texts for one in (text, repr(text)[1:-1], json.dumps(text)[1:-1]) if len(one) >= _SHORTEST}
        self._too_many = len(texts) > _MOST
        words = "|".join(map(re.escape, sorted(spelled, key=lambda one: (-len(one), one))))
        self._pattern = re.compile(_QUOTED if self._too_many else words or "(?!)")

    def text(self, text: str) -> str:
        """A message without them."""
        return self._pattern.sub(_HIDDEN, text)

    def value(self, value: object) -> object:
        """Data in JSON without them."""
        if isinstance(value, str):
            return _HIDDEN if self._too_many else self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return {key: self.value(item) for key, item in value.items()} if isinstance(value, dict) else value


def secrets_of(model: Model) -> Secrets:
    """The secrets in the clear of all templates; computed once."""
    return model.cached(secrets_of, lambda: Secrets(set(_secrets(model))))


def _secrets(model: Model) -> Iterator[str]:
    for template in model.templates:
        parameters = template.raw.get("Parameters")
        for declared in parameters.values() if isinstance(parameters, dict) else ():
            if isinstance(declared, dict) and str(declared.get("NoEcho")).lower() == "true":
                yield from _of_value(declared.get("Default"))
        yield from _inside(template.raw.get("Resources"))


def _inside(raw: Raw) -> Iterator[str]:
    """The secrets under names that say so, in data, in lists of variables and in programs."""
    waiting: list[Raw] = [raw]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            name = node.get("Name")
            for key, item in node.items():
                given = name if key == "Value" and isinstance(name, str) else key
                yield from _of_value(item) if key == _WHOLE or _NAME.fullmatch(given) else ()
                waiting.append(item)
        elif isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, str) and ("=" in node or ":" in node):
            yield from (one for name, _, given in _GIVEN.findall(node) if _NAME.fullmatch(name) for one in _of_value(given))


def _of_value(raw: Raw) -> Iterator[str]:
    """The texts of a secret; those with secret names, if it is JSON."""
    for text in raw if isinstance(raw, list) else [raw]:
        if not isinstance(text, str) or _ELSEWHERE.match(text):
            continue
        try:
            data = read_json(text)
        except ValueError:
            data = None
        if isinstance(data, dict):
            yield from (item for name, item in data.items() if _NAME.fullmatch(name) and isinstance(item, str))
        elif len(text) >= _SHORTEST:
            yield text
