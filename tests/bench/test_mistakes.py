"""The definition of a caught mistake."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.mistakes import CDK, CFN_LINT, OURS, Comparison, Finding, Verdict, table, verdict
from tests.rules.wrong_templates.sample import listed

FINDING = Finding("t.json", "Cluster", "E1", "it is wrong", True)
ONE_ERROR, SILENT = Verdict(1, 0), Verdict(0, 0)


@pytest.mark.parametrize(
    ("found", "of_correct", "expected"),
    [
        ([FINDING], [], ONE_ERROR),
        ([FINDING], [FINDING], SILENT),
        ([FINDING, FINDING], [FINDING], ONE_ERROR),
        ([], [FINDING], SILENT),
        ([FINDING, replace(FINDING, resource="Role")], [FINDING], ONE_ERROR),
        ([FINDING, replace(FINDING, rule="W1", is_error=False)], [], Verdict(1, 1)),
    ],
)
def test_only_new_mistakes_count(found: list[Finding], of_correct: list[Finding], expected: Verdict) -> None:
    assert verdict(found, of_correct) == expected


@pytest.mark.parametrize(
    ("said", "text", "qualities"),
    [
        (SILENT, "silent", (False, False, False)),
        (ONE_ERROR, "1 error", (True, True, True)),
        (Verdict(0, 1), "1 warning", (True, True, False)),
        (Verdict(2, 1), "2 errors, 1 warning", (True, False, False)),
    ],
)
def test_a_verdict_in_words(said: Verdict, text: str, qualities: tuple[bool, bool, bool]) -> None:
    assert str(said) == text
    assert (said.caught, said.one_finding, said.one_error) == qualities


def test_the_tools_are_side_by_side() -> None:
    fatal = next(mistake for mistake in listed() if mistake.warning is None)
    harmful = next(mistake for mistake in listed() if mistake.warning is not None)
    comparison = Comparison(
        [
            (fatal, {OURS: ONE_ERROR, CFN_LINT: SILENT, CDK: Verdict(0, 2)}),
            (harmful, {OURS: Verdict(0, 1), CFN_LINT: ONE_ERROR, CDK: SILENT}),
        ],
        {OURS: SILENT, CFN_LINT: SILENT, CDK: ONE_ERROR},
    )

    lines = [" ".join(line.split()) for line in table(comparison)]

    assert lines == [
        "hyperpod check cfn-lint CDK itself",
        "mistakes caught, of 2 2 1 1",
        "by exactly one finding 2 1 0",
        "sure to fail or to lose data, of 1 1 0 1",
        "by exactly one error 1 0 0",
        "on the correct templates silent silent 1 error",
        f"{fatal.rule} {fatal.name} 1 error silent 2 warnings",
        f"{harmful.rule} {harmful.name} 1 warning 1 error silent",
    ]
