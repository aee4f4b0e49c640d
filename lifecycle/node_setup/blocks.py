"""Our block of lines in a foreign file: it stands between two marks, and the rest of the file stays unchanged."""

from __future__ import annotations

BEGIN = "# begin hyperpod-constructs: written by the lifecycle scripts, changes are lost"
END = "# end hyperpod-constructs"


def with_block(text: str, lines: list[str], first: bool = False) -> str:
    """The text with these lines as its block; no lines remove the block.

    :param first: whether the block goes to the beginning; by default it goes to the end.
    """
    rest = without_block(text)
    if not lines:
        return rest
    block = "\n".join([BEGIN, *lines, END]) + "\n"
    if first:
        return block + rest
    return (rest if not rest or rest.endswith("\n") else rest + "\n") + block


def without_block(text: str) -> str:
    kept = []
    inside = False
    for line in text.splitlines(keepends=True):
        if line.strip() == BEGIN:
            inside = True
        elif line.strip() == END:
            inside = False
        elif not inside:
            kept.append(line)
    return "".join(kept)
