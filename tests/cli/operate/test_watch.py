from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import typer
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError, SSLError

from hyperpod_constructs.cli.console import say
from hyperpod_constructs.cli.operate import watch
from hyperpod_constructs.cli.operate.patience import passing


def interrupting(after: int) -> Callable[[float], None]:
    """A sleep that the user ends."""
    slept = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == after:
            raise KeyboardInterrupt

    return sleep


def test_in_a_pipe_only_changes_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    texts = iter(["one", "one", "two"])
    with pytest.raises(typer.Exit) as ended:
        watch.show(lambda: say(next(texts)), watch=True, every=5, sleep=interrupting(3))
    assert ended.value.exit_code == 130
    assert capsys.readouterr().out == "one\ntwo\n"


def test_without_watching_it_draws_once(capsys: pytest.CaptureFixture[str]) -> None:
    watch.show(lambda: say("one"), watch=False, every=5, sleep=interrupting(1))
    assert capsys.readouterr().out == "one\n"


def test_in_a_terminal_it_stays_in_its_place_and_counts_what_does_not_fit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LINES", "5")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    def draw() -> None:
        for line in "abcdefg":
            say(line)

    with pytest.raises(typer.Exit):
        watch.show(draw, watch=True, every=5, sleep=interrupting(1))
    shown = capsys.readouterr().out
    assert shown.startswith("\x1b[Ha\x1b[K\n")
    assert shown.endswith("c\x1b[K\nand 4 more lines\x1b[K\n\x1b[J\x1b[0m")


def test_a_fault_stands_below_the_last_picture_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    looks: list[Callable[[], None]] = [lambda: say("a picture"), throttled, lambda: say("another")]

    with pytest.raises(typer.Exit):
        watch.show(lambda: looks.pop(0)(), watch=True, every=5, sleep=interrupting(3))
    first, second, third = capsys.readouterr().out.split("\x1b[H")[1:]
    assert "a picture" in first
    assert "a picture" in second
    assert "AWS throttles DescribeCluster" in second
    assert "the next look is in 10 s" in second
    assert "another" in third
    assert "throttles" not in third


def throttled() -> None:
    raise ClientError({"Error": {"Code": "ThrottlingException", "Message": "Rate exceeded"}}, "DescribeCluster")


def answered(code: str, status: int) -> ClientError:
    answer: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "Look")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ReadTimeoutError(endpoint_url="https://sagemaker"), "AWS does not answer: Read timeout"),
        (EndpointConnectionError(endpoint_url="https://sagemaker"), "AWS does not answer: Could not connect"),
        (answered("x", 503), "AWS fails at Look (x)"),
        (SSLError(endpoint_url="https://sagemaker", error=ValueError("untrusted")), None),
        (answered("ExpiredTokenException", 403), None),
        (ValueError(), None),
    ],
)
def test_what_passes_by_itself(error: Exception, sentence: str | None) -> None:
    assert (passing(error) or "").startswith(sentence or "")
    assert (passing(error) is None) == (sentence is None)
