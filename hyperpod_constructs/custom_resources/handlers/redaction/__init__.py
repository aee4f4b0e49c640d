"""Texts of strangers (services, nodes, programs) made fit to be shown: short, without control characters, without secrets.

Every pattern is linear by construction: a repeat is possessive, and what comes before it is a literal text or the start of a
word, so no character is tried from two starts. tests/handlers/test_redaction.py holds them to it.
"""

from __future__ import annotations

import re

from .assignments import without_assignments
from .forms import MASK, without_known_forms

__all__ = ["CUT", "MASK", "one_line", "redact"]

#: Characters that are looked at, at each end of a longer text.
REACH = 20_000

CUT = " [...] "

#: What replaces one secret may uncover the next.
_PASSES = 5

#: Blanks other than a space, a tab and a line feed; some would break a line where nobody expects it.
_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\xa0\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")

#: Colours and the like, whole; then every character that a terminal obeys or a reader cannot see.
_CONTROL = re.compile(
    "\x1b\\[[0-9;:?<=>]*+[@-~]?"
    "|\x1b\\][^\x07\x1b\n]*+(?:\x07|\x1b\\\\)?"
    "|[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
    "|[\ud800-\udfff\U000e0000-\U000e007f]"
)


def redact(text: str) -> str:
    """The text without control characters, with `***` for every secret, and with its middle cut out when it is very long."""
    text = _clean(_bounded(text))
    for _ in range(_PASSES):
        text, before = without_assignments(without_known_forms(text)), text
        if text == before:
            break
    return text


def one_line(text: object, limit: int) -> str:
    """A value of a stranger as one redacted line of at most `limit` characters: it is cut after it was redacted."""
    words = " ".join(redact(str(text)).split())
    return words if len(words) <= limit else words[: limit - len(CUT.rstrip())] + CUT.rstrip()


def _clean(text: str) -> str:
    return _CONTROL.sub("", _BREAKS.sub(lambda found: "\n" if found.group() == "\r\n" else " ", text))


def _bounded(text: str) -> str:
    """Both ends of a very long text. No secret is cut open: the head ends between two words, the tail starts with a line."""
    if len(text) <= 2 * REACH:
        return text
    head, tail = text[: REACH - len(CUT)], text[-REACH:]
    blank = max(map(head.rfind, " \t\n"))
    _, line_feed, lines = tail.partition("\n")
    return head[: blank + 1] + CUT + line_feed + lines
