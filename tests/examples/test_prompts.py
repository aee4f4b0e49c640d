"""Prompts are fanned out, and their results gathered, each exactly once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lz_penalty.prompts import read_prompts, read_results, share_of

from tests.examples.jobs import EXAMPLES

PROMPTS: list[dict[str, Any]] = [{"id": name, "tokens": [number, 1]} for number, name in enumerate("abcde")]


def lines(path: Path, *records: Any, end: str = "\n") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(json.dumps(record) for record in records) + end)
    return path


def gather(directory: Path) -> subprocess.CompletedProcess[str]:
    options = ["--prompts", directory / "prompts.jsonl", "--results", directory / "results", "--output", directory / "out.jsonl"]
    command = [sys.executable, str(EXAMPLES / "lz_penalty" / "gather.py"), *map(str, options)]
    environment = {"PYTHONPATH": str(EXAMPLES), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603


@pytest.mark.parametrize("shares", [1, 2, 3, 7])
def test_each_prompt_is_in_one_share(shares: int) -> None:
    ids = [prompt["id"] for prompt in PROMPTS]
    assert sorted(name for share in range(shares) for name in share_of(ids, share, shares)) == ids


@pytest.mark.parametrize("end", ["\n", ""])
def test_prompts_are_read_to_the_last_line(tmp_path: Path, end: str) -> None:
    path = lines(tmp_path / "prompts.jsonl", *PROMPTS, end=end)
    assert read_prompts(path, 8) == {"a": [0, 1], "b": [1, 1], "c": [2, 1], "d": [3, 1], "e": [4, 1]}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"id": "b", "tokens": [4, 8]}, "line 2: found"),
        ({"id": "b", "tokens": []}, "write an id, and tokens from 0 to 7"),
        ({"id": 7, "tokens": [1]}, "line 2: found"),
        ({"tokens": [1]}, "line 2: found"),
        ({"id": "b", "tokens": [True]}, "line 2: found"),
        ([], "line 2: found"),
        ({"id": "a", "tokens": [1]}, "more than one prompt has the id a"),
    ],
)
def test_fails_with_the_line_of_a_wrong_prompt(tmp_path: Path, wrong: Any, words: str) -> None:
    path = lines(tmp_path / "prompts.jsonl", PROMPTS[0], wrong)
    with pytest.raises(SystemExit, match=words):
        read_prompts(path, 8)


def test_fails_for_text_that_is_no_json_and_for_no_file(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a story\n")
    with pytest.raises(SystemExit, match="line 1: found a story; write an id"):
        read_prompts(tmp_path / "text", 8)
    with pytest.raises(SystemExit, match="no such file"):
        read_prompts(tmp_path / "none", 8)


def test_results_are_gathered_in_the_order_of_the_prompts_and_the_earlier_of_two_counts(tmp_path: Path) -> None:
    lines(tmp_path / "prompts.jsonl", *PROMPTS)
    done = [{"id": name, "tokens": [], "time": time} for time, name in enumerate("edcba")]
    lines(tmp_path / "results" / "7-0-0.jsonl", *done[:3])
    again = {"id": "e", "tokens": [9], "time": 9}
    lines(tmp_path / "results" / "7-0-1.jsonl", again, *done[3:])
    told = gather(tmp_path)
    assert (told.returncode, told.stderr) == (0, "")
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == done[::-1]


def test_fails_and_names_a_prompt_without_a_result(tmp_path: Path) -> None:
    lines(tmp_path / "prompts.jsonl", *PROMPTS)
    path = lines(tmp_path / "results" / "7-0-0.jsonl", *({"id": name, "tokens": [], "time": 1} for name in "abce"))
    with path.open("a") as file:
        file.write('{"id": "d", "tok')
    assert sorted(read_results(tmp_path / "results")) == ["a", "b", "c", "e"]
    told = gather(tmp_path)
    assert told.returncode == 1
    assert "1 of 5 prompts have no result, the first is d; submit the job again with the same RUN_DIR" in told.stderr
    assert not (tmp_path / "out.jsonl").exists()
