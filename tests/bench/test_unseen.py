"""The runner of the unseen mistakes tells named ones from others, and right verdicts from wrong ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench import unseen
from bench.unseen import Judged, Named, Planned
from tests.unseen.cases import Mistake, Update, mistakes, updates


def _mistake(id: str) -> Mistake:
    return next(one for one in mistakes() if one.id == id)


def _update(id: str) -> Update:
    return next(one for one in updates() if one.id == id)


def _judged(directory: Path, mistake: Mistake) -> Judged:
    (one,) = unseen.judge(directory, [mistake])
    return one


def test_a_mistake_is_named_once(tmp_path: Path) -> None:
    one = _judged(tmp_path, _mistake("two-controllers"))
    assert one.named is Named.ONCE
    assert [finding.resource for finding in one.findings] == ["Cluster"]


def test_a_finding_at_another_resource_does_not_name(tmp_path: Path) -> None:
    one = _judged(tmp_path, replace(_mistake("two-controllers"), names=frozenset({"Vpc"})))
    assert one.named is Named.ELSEWHERE


def test_findings_of_the_base_do_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mistake = _mistake("two-controllers")
    first = _judged(tmp_path / "first", mistake)
    monkeypatch.setattr(unseen, "_unedited", lambda _: first.findings)
    second = _judged(tmp_path / "second", mistake)
    assert second.named is Named.NOT


def test_verdicts_of_updates(tmp_path: Path) -> None:
    shrinks = _update("lustre-shrinks-nested")
    right, wrong = unseen.compare(tmp_path, [shrinks, replace(shrinks, verdicts=("quiet",))])
    assert (right.said, right.is_right, wrong.is_right) == ("refused", True, False)


def test_the_report_lists_what_is_missed(tmp_path: Path) -> None:
    judged = _judged(tmp_path, _mistake("two-controllers"))
    missed = Judged(_mistake("ref-typo"), Named.NOT, ())
    lines = unseen.report([judged, missed], [Planned(_update("more-nodes"), "nothing")], {"slurm": []}, [judged])
    assert lines[0].split()[:5] == ["Mistakes", "named", "of", "by", "one"]
    assert [line.split() for line in lines[1:3]] == [["name", "2", "1", "0", "0", "1"], ["all", "2", "1", "0", "0", "1"]]
    assert "  name/ref-typo (slurm): no such resource" in lines
    assert "Updates judged rightly: 0 of 1" in lines
    assert "Correct templates without findings: 1 of 1" in lines
    assert "Correct variants without findings: 0 of 1" in lines


def test_some_mistakes_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert unseen.main(["--only", "two-controllers"]) == 0
    assert " at Cluster: " in capsys.readouterr().out


def test_a_mistake_of_the_second_set_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert unseen.main(["--set", "second", "--only", "no-partition"]) == 0
    assert "group/no-partition (operated)" in capsys.readouterr().out


def test_fails_for_a_mistake_of_the_other_set(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        unseen.main(["--set", "second", "--only", "two-scripts", "more-nodes-than-any"])
    assert "'more-nodes-than-any' is not a mistake of the second set" in capsys.readouterr().err


def test_fails_for_an_unknown_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        unseen.main(["--only", "two-controlers"])
    assert "'two-controlers' is not a mistake" in capsys.readouterr().err


def test_an_update_of_an_export_is_judged_with_the_stacks_that_import_it(tmp_path: Path) -> None:
    (planned,) = unseen.compare(tmp_path, [one for one in updates("sixth") if one.id == "export-renamed"])
    assert planned.said == "refused"
