"""Two mistakes that have nothing in common are two findings: none is taken for a consequence of the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.unseen import Judged, Named, findings_with, judge
from tests.unseen.cases import SETS, Mistake, mistakes
from tests.unseen.pairs import Pair, both, every_base, pairs

OF_EACH_BASE = 2
RESTING = {
    # The right zone of the subnet is not known, so nobody knows whether the file system is in it.
    frozenset({"lustre-other-zone", "zone-name-as-id"}),
}
"""Pairs of which one mistake is only sure when the other is mended."""


def _names(judged: Judged, mistake: Mistake) -> bool:
    return any(finding.resource in mistake.names for finding in judged.findings)


def _missed(directory: Path, pair: Pair) -> list[str]:
    """The mistakes of a pair that are named alone, and not together."""
    (together,) = judge(directory / "both", [both(pair)])
    missed = [one for one in pair if not _names(together, one)]
    return [one.mistake.id for one in judge(directory / "alone", missed) if one.named in (Named.ONCE, Named.MORE)]


@pytest.mark.parametrize("base", every_base())
def test_both_mistakes_of_a_pair_are_named(base: str, tmp_path: Path) -> None:
    for number, pair in enumerate(pairs(base, OF_EACH_BASE)):
        if frozenset(one.id for one in pair) not in RESTING:
            assert _missed(tmp_path / str(number), pair) == [], both(pair).id


def test_there_are_pairs_and_they_are_always_the_same() -> None:
    assert sum(len(pairs(base, OF_EACH_BASE)) for base in every_base()) >= 70
    assert pairs("lab", OF_EACH_BASE) == pairs("lab", OF_EACH_BASE)
    assert len({both(pair).id for pair in pairs("lab", 50)}) == 50


FAR = 24
"""Mistakes that are looked at in a folder far away, spread over all sets."""


@pytest.mark.parametrize("number", range(FAR))
def test_a_long_path_of_a_template_hides_no_mistake(number: int, tmp_path: Path) -> None:
    permissions = [one for of in SETS for one in mistakes(of) if one.kind == "permission"]
    some = permissions[number * len(permissions) // FAR :]
    mistake, near = next((one, found) for one in some if (found := findings_with(one, tmp_path / one.id)))
    same = findings_with(mistake, tmp_path.joinpath(*["a-folder-with-a-long-name"] * 20))
    assert [(one.rule, one.resource, one.path) for one in same] == [(one.rule, one.resource, one.path) for one in near]
