"""A block of lines that is ours in a file that is not: between two marks, and the rest of the file stays as it is."""

from __future__ import annotations

BEGIN = "# begin hyperpod-constructs: written by the lifecycle scripts, changes are lost"
END = "# end hyperpod-constructs"


def with_block(text: str, lines: list[str], first: bool = False) -> str:
    """``text`` with these lines as its block, at the end unless ``first``; without lines, without a block."""
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
