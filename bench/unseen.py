"""The rules and the plan before mistakes and updates by someone who has not read them: `python -m bench.unseen`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from hyperpod_constructs.facts.raw_parts import mapping
from hyperpod_constructs.plan.plan import PlanRow, plan
from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.rules.finding import Finding
from hyperpod_constructs.templates.loading import documents_of
from hyperpod_constructs.templates.model import Model, load
from tests.unseen.cases import SETS, Mistake, Update, bases, edited, files_of, mistakes, templates_of, updates, variants, write


class Named(StrEnum):
    """How the rules name a mistake."""

    ONCE = "by one finding"
    MORE = "by several findings"
    ELSEWHERE = "elsewhere only"
    NOT = "not"


_VERDICTS: Mapping[str, frozenset[str]] = {
    "no interruption": frozenset({"quiet"}),
    "rolling": frozenset({"effect"}),
    "replace": frozenset({"replaces"}),
    "data loss": frozenset({"loss"}),
    "refused": frozenset({"refused", "collides"}),
}
"""The plan's effects in the words of the updates; a collision is an update that the service refuses."""
_WORST_LAST = tuple(_VERDICTS)
_ROOT = "main.yaml"
"""The template that names the nested ones of its base."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A mistake with the findings that it adds to those of its base."""

    mistake: Mistake
    named: Named
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Planned:
    """An update with what the plan says of its resource: `nothing`, or its worst effect."""

    update: Update
    said: str

    @property
    def is_right(self) -> bool:
        """Whether that is one of the right verdicts."""
        return not _VERDICTS.get(self.said, frozenset()).isdisjoint(self.update.verdicts)


def findings_in_bases(of: str) -> dict[str, list[Finding]]:
    """The findings in each base of a set as its files have it; there should be none."""
    return {base: _check(list(files_of(base).values())) for base in bases(of)}


def judge(directory: Path, chosen: Sequence[Mistake]) -> list[Judged]:
    """These mistakes, or variants, before the rules."""
    return [_judged(mistake, directory / mistake.id) for mistake in chosen]


def compare(directory: Path, chosen: Sequence[Update]) -> list[Planned]:
    """These updates before the plan."""
    return [_planned(update, directory / update.id) for update in chosen]


def findings_with(mistake: Mistake, directory: Path) -> list[Finding]:
    """All findings in the templates of a mistake, those of its base among them."""
    return _check(write(edited(mistake.base, mistake.edits), directory))


def _judged(mistake: Mistake, directory: Path) -> Judged:
    known = Counter(_key(finding) for finding in _unedited(mistake.base))
    added = []
    for finding in findings_with(mistake, directory):
        if known[_key(finding)]:
            known[_key(finding)] -= 1
        else:
            added.append(finding)
    return Judged(mistake, _named(mistake, added), tuple(added))


def _named(mistake: Mistake, added: Sequence[Finding]) -> Named:
    if not added:
        return Named.NOT
    if not any(finding.resource in mistake.names for finding in added):
        return Named.ELSEWHERE
    return Named.ONCE if len(added) == 1 else Named.MORE


@cache
def _unedited(base: str) -> Sequence[Finding]:
    with TemporaryDirectory(prefix="hyperpod-unseen-") as directory:
        return _check(write(templates_of(base), Path(directory)))


def _check(paths: Sequence[Path]) -> list[Finding]:
    return list(check(load(paths), []))


def _key(finding: Finding) -> tuple[str, str, str | None, str]:
    return finding.rule, Path(finding.template).name, finding.resource, finding.path


def _planned(update: Update, directory: Path) -> Planned:
    old = _stacks(_changed(write(edited(update.base, update.before), directory / "old"), update))
    new = _stacks(_changed(write(edited(update.base, update.edits), directory / "new"), update))
    rows = [row for row in plan(old, new).rows if row.resource in (update.resource, f"Outputs/{update.resource}")]
    return Planned(update, _worst(rows))


def _changed(paths: Sequence[Path], update: Update) -> Sequence[Path]:
    """The root of nested stacks, or the one file that the update changes; all files for an export, which others import."""
    if any(path.name == _ROOT for path in paths):
        return [path for path in paths if path.name == _ROOT]
    before, after = edited(update.base, update.before), edited(update.base, update.edits)
    own = [path for path in paths if before[path.name] != after[path.name]]
    return paths if any(update.resource in mapping(after[path.name].get("Outputs")) for path in own) else own


def _stacks(paths: Sequence[Path]) -> Model:
    """The templates of these files; several are paired by the names of their files."""
    if len(paths) == 1:
        return load(paths)
    return Model([replace(document, name=Path(document.name).name) for document in documents_of(paths)])


def _worst(rows: Iterable[PlanRow]) -> str:
    return max((row.effect.value for row in rows), key=_WORST_LAST.index, default="nothing")


def report(
    judged: Sequence[Judged], planned: Sequence[Planned], found: Mapping[str, Sequence[Finding]], harmless: Sequence[Judged]
) -> list[str]:
    """The figures, the mistakes that are not named by one finding, the wrong verdicts, and the findings in what is correct."""
    return [*_table(judged), "", *_misses(judged), "", *_wrong(planned), "", *_false(found), *_false_of_variants(harmless)]


def _table(judged: Sequence[Judged]) -> list[str]:
    by_kind: dict[str, Counter[Named]] = defaultdict(Counter)
    for one in judged:
        for kind in (one.mistake.kind, "all"):
            by_kind[kind][one.named] += 1
    order = [*sorted(kind for kind in by_kind if kind != "all"), "all"]
    head = f"{'Mistakes named':<16}{'of':>6}" + "".join(f"{named:>22}" for named in Named)
    return [head, *(_line(kind, by_kind[kind]) for kind in order)]


def _line(kind: str, counts: Counter[Named]) -> str:
    return f"{kind:<16}{counts.total():>6}" + "".join(f"{counts[named]:>22}" for named in Named)


def _misses(judged: Sequence[Judged]) -> list[str]:
    lines = []
    for named in (Named.NOT, Named.ELSEWHERE, Named.MORE):
        lines.append(f"Named {named}")
        lines += [f"  {_told(one)}" for one in judged if one.named is named]
    return lines


def _told(one: Judged) -> str:
    mistake = one.mistake
    added = ", ".join(f"{finding.rule} at {finding.resource}" for finding in one.findings)
    return f"{mistake.kind}/{mistake.id} ({mistake.base}): {mistake.why}" + (f" [{added}]" if added else "")


def _wrong(planned: Sequence[Planned]) -> list[str]:
    wrong = [one for one in planned if not one.is_right]
    lines = [f"Updates judged rightly: {len(planned) - len(wrong)} of {len(planned)}"]
    for one in wrong:
        right = " or ".join(one.update.verdicts)
        lines.append(f"  {one.update.id} ({one.update.base}): says {one.said}, right is {right}: {one.update.why}")
    return lines


def _false(found: Mapping[str, Sequence[Finding]]) -> list[str]:
    clean = sum(not findings for findings in found.values())
    lines = [f"Correct templates without findings: {clean} of {len(found)}"]
    for base, findings in found.items():
        lines += [f"  {base}: {finding.rule} at {finding.resource}: {finding.message}" for finding in findings]
    return lines


def _false_of_variants(harmless: Sequence[Judged]) -> list[str]:
    clean = sum(not one.findings for one in harmless)
    lines = [f"Correct variants without findings: {clean} of {len(harmless)}"]
    for one in harmless:
        lines += [f"  {_told(one)}: {finding.message}" for finding in one.findings]
    return lines


def main(arguments: Sequence[str]) -> int:
    """Print the report of all, or what the rules say of some mistakes."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.unseen", description="Judges mistakes and updates that no rule was written for."
    )
    parser.add_argument(
        "--only", nargs="+", metavar="ID", help="mistakes to show with their findings; the report of all unless given"
    )
    parser.add_argument("--set", choices=SETS, default=SETS[0], help="the set of mistakes and updates (default: %(default)s)")
    options = parser.parse_args(arguments)
    of = options.set
    for unknown in sorted({*(options.only or [])}.difference(mistake.id for mistake in [*mistakes(of), *variants(of)])):
        parser.error(f"argument --only: {unknown!r} is not a mistake of the {of} set")
    started = time.monotonic()
    with TemporaryDirectory(prefix="hyperpod-unseen-") as directory:
        place = Path(directory)
        if options.only:
            lines = _shown(options.only, of, place)
        else:
            lines = report(
                judge(place / "mistakes", mistakes(of)),
                compare(place / "updates", updates(of)),
                findings_in_bases(of),
                judge(place / "variants", variants(of)),
            )
    sys.stdout.write("\n".join([*lines, "", f"Took {time.monotonic() - started:.1f} s."]) + "\n")
    return 0


def _shown(ids: Sequence[str], of: str, directory: Path) -> list[str]:
    lines = []
    for one in judge(directory, [mistake for mistake in [*mistakes(of), *variants(of)] if mistake.id in ids]):
        lines.append(f"{_told(one)}; {one.mistake.source}")
        lines += [f"  {finding.rule} at {finding.resource}: {finding.message}" for finding in one.findings]
    return lines


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
