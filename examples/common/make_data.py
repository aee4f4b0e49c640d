"""Write a token file: the bytes of text files, or a learnable synthetic text.

python make_data.py tokens.npy --synthetic 1000000
python make_data.py tokens.npy --text book.txt more.txt
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy
from numpy.typing import NDArray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--synthetic", type=int, metavar="TOKENS")
    source.add_argument("--text", type=Path, nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    tokens = synthetic(arguments.synthetic) if arguments.text is None else read(arguments.text)
    write(arguments.output, tokens)
    print(f"{arguments.output}: {len(tokens)} tokens")  # noqa: T201


def synthetic(count: int) -> NDArray[numpy.uint16]:
    """A random walk over bytes. The next token is near the last one, and a model learns that first."""
    steps = numpy.random.default_rng(0).integers(-3, 4, size=count)
    return (numpy.cumsum(steps) % 256).astype(numpy.uint16)


def read(files: list[Path]) -> NDArray[numpy.uint16]:
    return numpy.concatenate([numpy.fromfile(file, dtype=numpy.uint8) for file in files]).astype(numpy.uint16)


def write(output: Path, tokens: NDArray[numpy.uint16]) -> None:
    """Write the file under another name first, so that a starting job sees no file or the whole file."""
    output.parent.mkdir(parents=True, exist_ok=True)
    partial = output.with_name(f".{output.name}.{os.getpid()}")
    with partial.open("wb") as file:
        numpy.save(file, tokens)
        os.fsync(file.fileno())
    partial.replace(output)


if __name__ == "__main__":
    main()
