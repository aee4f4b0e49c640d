"""Makes untrusted texts (of services, nodes, programs) safe to show: short, without control characters, without secrets.

Every pattern runs in linear time. Each repeat is possessive and follows a literal text or the start of a word, so no character is
tried from two starts; tests/handlers/test_redaction.py checks it.
"""

from __future__ import annotations

import re

from .assignments import without_assignments
from .forms import MASK, Counts, without_known_forms

__all__ = ["CUT", "MASK", "REACH", "Counts", "one_line", "redact"]

# Characters that are kept at each end of a longer text.
REACH = 20_000

CUT = " [...] "

# The replacement of one secret may uncover the next.
_PASSES = 5

# Blanks other than space, tab and line feed; some would break a line unexpectedly.
_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\xa0\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")

# Whole escape sequences, such as colours; then every character that controls a terminal or is invisible.
_CONTROL = re.compile(
    "\x1b\\[[0-9;:?<=>]*+[@-~]?"
    "|\x1b\\][^\x07\x1b\n]*+(?:\x07|\x1b\\\\)?"
    "|[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
    "|[\ud800-\udfff\U000e0000-\U000e007f]"
)


def redact(text: str, counts: Counts | None = None) -> str:
    """The text without control characters and with `***` for every secret; a very long one loses its middle.

    :param counts: the number of secrets by class, which this adds to.
    """
    text = _clean(_bounded(text))
    for _ in range(_PASSES):
        text, before = without_assignments(without_known_forms(text, counts), counts), text
        if text == before:
            break
    return text


def one_line(text: object, limit: int) -> str:
    """An untrusted value as one redacted line of at most `limit` characters. The cut comes after the redaction."""
    words = " ".join(redact(str(text)).split())
    return words if len(words) <= limit else words[: limit - len(CUT.rstrip())] + CUT.rstrip()


def _clean(text: str) -> str:
    return _CONTROL.sub("", _BREAKS.sub(lambda found: "\n" if found.group() == "\r\n" else " ", text))


def _bounded(text: str) -> str:
    """Both ends of a very long text. The head ends between two words and the tail starts with a line, so no secret is cut open."""
    if len(text) <= 2 * REACH:
        return text
    head, tail = text[: REACH - len(CUT)], text[-REACH:]
    blank = max(map(head.rfind, " \t\n"))
    _, line_feed, lines = tail.partition("\n")
    return head[: blank + 1] + CUT + line_feed + lines
