"""Fetches the service's chart: a commit of its repository, with the charts that it declares, each proven by a hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from hyperpod_constructs.cli.chart_git import revision_files
from hyperpod_constructs.cli.chart_repositories import archive_of
from hyperpod_constructs.eks.chart import HyperPodChart
from hyperpod_constructs.eks.chart_cache import LOCK_FILE, Locked, Record
from hyperpod_constructs.eks.chart_files import ChartError, Files
from hyperpod_constructs.eks.chart_tree import Declared, read_values, tree
from hyperpod_constructs.facts import chart as facts

GPU_OPERATOR = "gpu-operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the chart comes from.

    :param dependencies: what may be fetched beside it, and from where.
    """

    repository: str = facts.REPOSITORY
    path: str = facts.PATH
    dependencies: tuple[facts.Dependency, ...] = facts.DEPENDENCIES


@dataclass(frozen=True, slots=True)
class Fetched:
    """A complete chart.

    :param first: dependencies whose hash nobody has stated: neither a public source nor the lock file.
    """

    chart: HyperPodChart
    record: Record
    first: tuple[Locked, ...]


@dataclass(slots=True)
class Hashes:
    """The hashes that archives must have."""

    source: Source
    lock: Record | None
    frozen: bool
    first: list[Locked] = field(default_factory=list)

    def check(self, chart: Declared, archive: bytes) -> Locked:
        """Compare an archive with its known hash; without one, note that it is trusted for the first time.

        :raises ChartError: for another hash, and for an unknown one if the hashes are frozen.
        """
        found = Locked("/".join((*chart.parents, chart.name)), chart.version, hashlib.sha256(archive).hexdigest())
        known = self._known(chart, found.name)
        for who, stated in known:
            if stated != found.sha256:
                raise ChartError(
                    f"{chart}: the archive from {chart.repository} has the SHA-256 {found.sha256}; {who} states {stated}. it was "
                    "changed there or on its way; find out which before you write --update"
                )
        if known:
            return found
        if self.frozen:
            raise ChartError(f"{chart}: {LOCK_FILE} states no hash, and --frozen takes nothing new; run `{facts.FETCH}` without it")
        self.first.append(found)
        return found

    def _known(self, chart: Declared, name: str) -> list[tuple[str, str]]:
        """Who states a hash for this version, and which."""
        public = [one.sha256 for one in self.source.dependencies if (one.name, one.version) == (chart.name, chart.version)]
        locked = self.lock.dependencies if self.lock is not None else ()
        in_lock = [one.sha256 for one in locked if (one.name, one.version) == (name, chart.version)]
        stated = [("a public source", one) for one in public] + [(LOCK_FILE, one) for one in in_lock]
        return [(who, one) for who, one in stated if one is not None]


def fetch(source: Source, revision: str, *, lock: Record | None, frozen: bool, gpu_operator: bool) -> Fetched:
    """Get a revision of the chart with what it declares.

    :param revision: the commit's full id.
    :param lock: the project's record, whose hashes must be met.
    :param frozen: whether an unknown hash is an error.
    :param gpu_operator: whether the GPU operator's own chart is fetched too.
    :raises ChartError: for anything that is not proven, not allowed or not complete.
    """
    place = f"{source.repository} at {revision}"
    files = revision_files(source.repository, revision, source.path)
    hashes, locked = Hashes(source, lock, frozen), []
    added = dict(files)
    for chart in _wanted(files, place, gpu_operator):
        _check_repository(source, chart)
        archive = archive_of(chart)
        locked.append(hashes.check(chart, archive))
        added[f"{_folder(files, chart)}charts/{chart.name}-{chart.version}.tgz"] = archive
    complete = HyperPodChart(added, place)
    _check_operator(complete, gpu_operator)
    record = Record(revision=revision, dependencies=tuple(sorted(locked)), chart=complete.sha256)
    if lock is not None and lock != record:
        raise ChartError(f"{place}: the packed chart is not the one in {LOCK_FILE}; see what changed, then run it with --update")
    return Fetched(complete, record, tuple(hashes.first))


def _wanted(files: Files, place: str, gpu_operator: bool) -> Iterator[Declared]:
    for chart in tree(files, place).missing():
        if chart.is_remote and (not chart.parents or (gpu_operator and chart.parents == (GPU_OPERATOR,))):
            yield chart


def _check_repository(source: Source, chart: Declared) -> None:
    """Fetch nothing from where the facts name no repository: a chart may declare any address."""
    known = {one.repository.rstrip("/") for one in source.dependencies if one.name == chart.name}
    if chart.repository.rstrip("/") not in known:
        allowed = f"allowed for it: {', '.join(sorted(known))}" if known else "this release knows no chart of that name"
        raise ChartError(f"{chart}: declared from {chart.repository!r:.200}; {allowed}")


def _folder(files: Files, chart: Declared) -> str:
    """The folder of the chart that declares this one, with a slash at its end; empty for the outermost."""
    for path in files if chart.parents else ():
        folder, _, rest = path.removeprefix("charts/").partition("/")
        if rest == "Chart.yaml" and read_values({rest: files[path]}, rest).get("name") == chart.parents[-1]:
            return f"charts/{folder}/"
    return ""


def _check_operator(chart: HyperPodChart, wanted: bool) -> None:
    if wanted and (lacking := chart.missing_below(GPU_OPERATOR)):
        raise ChartError(f"{chart.place}: the archive of the GPU operator is not {', '.join(map(str, lacking))}")
