"""The command line that all jobs share."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    run_directory: Path
    checkpoint_directory: Path
    data: Path
    model: str
    steps: int
    global_batch: int
    micro_batch: int
    checkpoint_every: int
    keep: int
    learning_rate: float
    seed: int
    join_seconds: float
    collective_seconds: float
    pause_seconds: float

    @property
    def sample_file(self) -> Path:
        return self.run_directory / "samples.jsonl"

    @property
    def complete_file(self) -> Path:
        """The mark of a complete job, with its number of steps, so that a longer run does not count as complete."""
        return self.run_directory / f"complete-{self.steps}"


Kind = TypeVar("Kind", bound=Settings)


def parse(arguments: list[str] | None = None) -> Settings:
    return read(Settings, make_parser(), arguments)


def read(kind: type[Kind], parser: argparse.ArgumentParser, arguments: list[str] | None = None) -> Kind:
    """The settings of a job, which may have more of them than the others."""
    values = vars(parser.parse_args(arguments))
    if values["checkpoint_directory"] is None:
        values["checkpoint_directory"] = values["run_directory"] / "checkpoints"
    return kind(**values)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--run-directory", type=Path, required=True, help="on the shared file system; the same for every restart")
    parser.add_argument("--checkpoint-directory", type=Path, help="default: checkpoints in the run directory")
    parser.add_argument("--data", type=Path, required=True, help="token file written by common/make_data.py")
    parser.add_argument("--model", default="tiny", help="a size of the job's model")
    parser.add_argument("--steps", type=positive, default=100)
    parser.add_argument("--global-batch", type=positive, default=8, help="samples per step, for any number of ranks")
    parser.add_argument("--micro-batch", type=positive, default=8, help="samples per forward pass of one rank")
    parser.add_argument("--checkpoint-every", type=positive, default=50, help="steps between two checkpoints")
    parser.add_argument("--keep", type=positive, default=2, help="good checkpoints to keep")
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--join-seconds", type=float, default=600, help="seconds of silence after which a peer is lost, until the first step"
    )
    parser.add_argument("--collective-seconds", type=float, default=600, help="the same, from the first step on")
    parser.add_argument("--pause-seconds", type=float, default=0, help="seconds of sleep in every step, to watch a small model run")
    return parser


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value}: must be 1 or more")
    return value
