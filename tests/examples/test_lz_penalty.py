"""The LZ penalty is what a sliding-window coder would save, and it breaks loops."""

from __future__ import annotations

import json
import math
import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples.jobs import EXAMPLES, QUICK

Ask = Callable[..., Any]
QUICKLY = settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
WIDE = 128_256


@pytest.fixture(scope="module")
def ask(torch_python: Path) -> Iterator[Ask]:
    """Asks the code of the job, which runs in an environment of its own."""
    command = [torch_python, Path(__file__).with_name("lz_server.py")]
    environment = {"PYTHONPATH": f"{EXAMPLES}:{QUICK}", "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603
        assert server.stdin is not None
        assert server.stdout is not None
        heard = server.stdout

        def question(what: str, **options: Any) -> Any:
            print(json.dumps({"ask": what, **options}), file=server.stdin, flush=True)
            told = json.loads(heard.readline())
            if "error" in told:
                raise ValueError(told["error"])
            return told["answer"]

        yield question
        server.stdin.close()


class Coder:
    """A sliding-window coder without any shortcut: it writes a token, or how far back the longest match lies."""

    def __init__(self, vocabulary: int, window: int, buffer: int) -> None:
        self.literal = math.log2(vocabulary)
        self.window, self.buffer = window, buffer
        lengths = range(1, 1000)
        self.shortest = min(length for length in lengths if math.log2(window * length) <= length * self.literal + 1e-12)

    def bits(self, said: Sequence[int], token: int) -> float:
        """What the token takes after all that was said."""
        seen = list(said[-self.window :])
        text = [*seen, token]
        best: tuple[int, int] | None = None
        for end in range(self.buffer, len(seen)):
            length = 0
            while length <= self.buffer and text[end - length] == text[-1 - length]:
                length += 1
            distance = len(seen) - end
            if length >= self.shortest and (best is None or (length, -distance) > best):
                best = (length, -distance)
        return self.literal if best is None else min(self.literal, math.log2(-best[1]))


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    vocabulary = draw(st.integers(2, 40))
    buffer = draw(st.integers(1, 6))
    length = draw(st.integers(0, 60))
    # Few of the tokens occur, so that there are long matches.
    token = st.integers(0, min(vocabulary, draw(st.integers(1, 8))) - 1)
    row = st.lists(token, min_size=length, max_size=length)
    return {
        "tokens": draw(st.lists(row, min_size=1, max_size=3)),
        "vocabulary": vocabulary,
        "window": buffer + draw(st.integers(1, 40)),
        "buffer": buffer,
    }


@QUICKLY
@given(case=cases())
def test_penalty_is_what_the_coder_saves(ask: Ask, case: dict[str, Any]) -> None:
    coder = Coder(case["vocabulary"], case["window"], case["buffer"])
    found = ask("penalties", **case)
    for row, penalties in zip(case["tokens"], found, strict=True):
        expected = [coder.literal - coder.bits(row, token) for token in range(case["vocabulary"])]
        assert penalties == pytest.approx(expected, abs=1e-5)


@QUICKLY
@given(case=cases(), seed=st.integers(0, 999))
def test_other_names_for_the_tokens_change_nothing(ask: Ask, case: dict[str, Any], seed: int) -> None:
    names = random.Random(seed).sample(range(case["vocabulary"]), case["vocabulary"])
    renamed = ask("penalties", **{**case, "tokens": [[names[token] for token in row] for row in case["tokens"]]})
    for penalties, others in zip(ask("penalties", **case), renamed, strict=True):
        assert [others[name] for name in names] == penalties


def test_token_that_continues_a_repetition_has_the_largest_penalty(ask: Ask) -> None:
    tokens = ["ABCD".index(letter) for letter in "ABCABCAB"]
    ((*penalties,),) = ask("penalties", tokens=[tokens], vocabulary=4, window=8, buffer=4)
    assert penalties == pytest.approx([0, 0, 2 - math.log2(3), 0], abs=1e-6)


def test_of_a_large_vocabulary_single_tokens_are_matches_too(ask: Ask) -> None:
    """The coder then writes a distance for each token that it has seen: the nearest costs least, not the one that repeats."""
    assert [ask("shortest", vocabulary=size, window=512) for size in (WIDE, 512, 511, 16, 4)] == [1, 1, 2, 3, 6]
    tokens = ["ABCD".index(letter) for letter in "ABCABCAB"]
    ((*penalties,),) = ask("penalties", tokens=[tokens], vocabulary=WIDE, window=512, buffer=4)
    whole = math.log2(WIDE)
    assert penalties[:4] == pytest.approx([whole - 1, whole, whole - math.log2(3), 0], abs=1e-5)


def test_token_outside_the_window_has_no_penalty(ask: Ask) -> None:
    said = [7, *range(10, 18)]
    assert [ask("penalties", tokens=[said], vocabulary=64, window=window, buffer=1)[0][7] for window in (8, 9)] == [0, 0]
    ((*inside,),) = ask("penalties", tokens=[[9, *said]], vocabulary=64, window=10, buffer=1)
    assert inside[7] == pytest.approx(6 - math.log2(9), abs=1e-5)


def test_nearer_match_has_the_larger_penalty(ask: Ask) -> None:
    rows = [[1, 1, *range(2, 22 - distance), 40, *range(22 - distance, 21)] for distance in range(1, 20)]
    found = [row[40] for row in ask("penalties", tokens=rows, vocabulary=64, window=30, buffer=1)]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found)


def test_longer_match_never_has_a_smaller_penalty(ask: Ask) -> None:
    """The same token at the same distance, after 0 to 6 tokens that are those of the buffer."""
    repeated = [2, 3, 4, 5, 6, 7]
    rows = [[1] * 8 + repeated + [9] + [1] * (12 - same) + [8] + repeated[6 - same :] for same in range(7)]
    found = [row[9] for row in ask("penalties", tokens=rows, vocabulary=16, window=64, buffer=6)]
    assert found == sorted(found)
    assert found[0] == 0 < found[-1]


def test_longest_match_counts_although_another_is_nearer(ask: Ask) -> None:
    repeated = [2, 3, 4, 5, 6, 7]
    said = [[1] * 8 + repeated + [9] + [1] * 5 + [9] + [8] + repeated]
    ((*penalties,),) = ask("penalties", tokens=said, vocabulary=512, window=64, buffer=6)
    assert penalties[9] == pytest.approx(9 - math.log2(14), abs=1e-5)


def test_processor_takes_the_strength_from_scores_and_leaves_prompts_out(ask: Ask) -> None:
    prompt, said = [5, 5, 5], [0, 1, 2, 0, 1]
    scores = [[0.5 * token for token in range(8)]]
    ((*penalties,),) = ask("penalties", tokens=[said], vocabulary=8, window=6, buffer=2)
    assert penalties[2] > 0 == penalties[5]
    ((*found,),) = ask("processed", tokens=[prompt + said], scores=scores, strength=0.4, window=6, buffer=2, prompt=3)
    assert found == pytest.approx([score - 0.4 * penalty for score, penalty in zip(scores[0], penalties, strict=True)], abs=1e-6)


@pytest.mark.parametrize(("window", "buffer"), [(4, 4), (4, 0)])
def test_fails_for_a_window_that_is_not_larger_than_the_buffer(ask: Ask, window: int, buffer: int) -> None:
    with pytest.raises(ValueError, match=f"buffer of {buffer} and window of {window}: give a buffer of at least 1"):
        ask("penalties", tokens=[[1]], vocabulary=8, window=window, buffer=buffer)


def test_small_model_loops_without_the_penalty_and_not_with_it(ask: Ask) -> None:
    """Each token of a bigram model has a favourite next one, and others not far behind."""
    source = random.Random(4)
    size, steps = 64, 400
    table = [[source.gauss(0, 1) for _ in range(size)] for _ in range(size)]
    options = {"table": table, "start": [[1, 2], [40, 3]], "steps": steps, "window": 128, "buffer": 8}
    for looping, free in zip(ask("decoded", **options, strength=0.0), ask("decoded", **options, strength=0.5), strict=True):
        assert period(looping[-100:]) is not None
        assert period(free[-100:]) is None
        assert len(set(free[-100:])) > 2 * len(set(looping[-100:]))


def period(tokens: Sequence[int]) -> int | None:
    """The length of a loop that was gone through at least twice."""
    return next((n for n in range(1, len(tokens) // 2 + 1) if list(tokens[n:]) == list(tokens[:-n])), None)
