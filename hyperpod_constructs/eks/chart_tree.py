"""What the files of a Helm chart mean: its sub-charts, what it declares and lacks, and its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.eks.chart_files import ChartError, Files, Gathered, unpack

STAND_IN = "hyperpod-constructs/stand-in"
"""The annotation of a chart that only stands in for the service's."""

_ANY = "*"
"""In place of a version that YAML reads as a number: its text is lost, so nothing can be compared with it."""
_DEEPEST = 5
_LONGEST_YAML = 4 * 2**20
_ARCHIVE = ".tgz"

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Declared:
    """A chart that another one declares.

    :param parents: names of the charts around it, the outermost first; empty in the service's chart itself.
    :param found: the version that is there instead; `None` if there is none.
    """

    name: str
    version: str
    repository: str
    condition: str
    alias: str
    parents: tuple[str, ...]
    found: str | None = None

    def __str__(self) -> str:
        instead = "" if self.found is None else f" (it has {self.found})"
        return f"{'/'.join((*self.parents, self.name))} {self.version}{instead}"

    @property
    def is_remote(self) -> bool:
        """Whether it comes from a repository or registry."""
        return self.repository.startswith(("https:", "http:", "oci:"))


@dataclass(frozen=True, slots=True)
class Tree:
    """A chart with its sub-charts, each in a folder.

    :param files: content by path.
    :param charts: the sub-charts by their name.
    """

    files: Files
    name: str
    version: str
    charts: Mapping[str, Tree]
    declared: Sequence[Declared]
    is_stand_in: bool = False

    def missing(self) -> Iterator[Declared]:
        """What this chart declares and does not contain, then what its sub-charts lack."""
        for one in self.declared:
            found = self.charts.get(one.name)
            if found is None:
                yield one
            elif not _same(one.version, found.version):
                yield Declared(one.name, one.version, one.repository, one.condition, one.alias, one.parents, found.version)
        for chart in self.charts.values():
            yield from chart.missing()

    def values(self) -> dict[str, Any]:
        """The default values as Helm joins them: those of each sub-chart below its name, and this chart's own above them."""
        joined: dict[str, Any] = {}
        for one in self.declared:
            if (chart := self.charts.get(one.name)) is not None:
                joined[one.alias or one.name] = chart.values()
        return merged(joined, read_values(self.files, "values.yaml"))


def same_version(declared: str, found: str) -> bool:
    """Whether a version is the declared one: Helm takes it with and without a `v`."""
    return declared.removeprefix("v") == found.removeprefix("v")


def _same(declared: str, found: str) -> bool:
    """Whether a version satisfies what is declared; a range is left to Helm."""
    return any(sign in declared for sign in "^~<>=*xX |,") or same_version(declared, found)


def tree(files: Files, place: str) -> Tree:
    """Read a chart. An archive in `charts/` becomes a folder; beside a folder with the same chart it is left out.

    The service's repository holds one sub-chart as folder and as archive, and Helm takes either at random.

    :param place: the chart in words, for errors.
    :raises ChartError: for a chart without a readable Chart.yaml, and for two archives of one chart.
    """
    found = _tree(files, place, ())
    gathered = Gathered(place)
    for name, content in found.files.items():
        gathered.add(name, content)
    return found


def _tree(files: Files, place: str, parents: tuple[str, ...]) -> Tree:
    if len(parents) > _DEEPEST:
        raise ChartError(f"{place}: sub-charts lie more than {_DEEPEST} deep")
    if "Chart.yaml" not in files:
        raise ChartError(f"{place}: no Chart.yaml; give the directory of the chart")
    about = read_values(files, "Chart.yaml", place)
    name, version = (about.get(key) for key in ("name", "version"))
    if not isinstance(name, str) or not isinstance(version, str):
        raise ChartError(f"{place}: Chart.yaml needs a name and a version in quotes or with letters")
    inner = (*parents, name)
    charts = _charts(files, place, inner)
    own = {path: content for path, content in files.items() if not _in_sub_chart(path)}
    whole = own | {f"charts/{key}/{path}": data for key, chart in charts.items() for path, data in chart.files.items()}
    return Tree(
        dict(sorted(whole.items())),
        name,
        version,
        {chart.name: chart for _, chart in sorted(charts.items())},
        tuple(_declared(about, inner[1:], place)),
        (about.get("annotations") or {}).get(STAND_IN) == "true",
    )


def _in_sub_chart(path: str) -> bool:
    return path.startswith("charts/") and ("/" in path[7:] or path.endswith(_ARCHIVE))


def _charts(files: Files, place: str, parents: tuple[str, ...]) -> dict[str, Tree]:
    """The sub-charts by their folder; archives only where no folder has the same chart."""
    folders: dict[str, dict[str, bytes]] = {}
    for path, content in files.items():
        if path.startswith("charts/") and "/" in path[7:]:
            folder, rest = path[7:].split("/", 1)
            folders.setdefault(folder, {})[rest] = content
    found = {folder: _tree(inner, f"{place}/charts/{folder}", parents) for folder, inner in folders.items()}
    in_folders = {chart.name for chart in found.values()}
    for path in sorted(files):
        if path.startswith("charts/") and "/" not in path[7:] and path.endswith(_ARCHIVE):
            chart = _tree(unpack(files[path], f"{place}/{path}"), f"{place}/{path}", parents)
            if chart.name in found and chart.name not in in_folders:
                raise ChartError(f"{place}: charts/ has two archives of {chart.name}; keep the one that Chart.yaml declares")
            if chart.name not in in_folders:
                found[chart.name] = chart
    return found


def _declared(about: Values, parents: tuple[str, ...], place: str) -> Iterator[Declared]:
    listed = about.get("dependencies") or []
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed):
        raise ChartError(f"{place}: the dependencies in Chart.yaml are not a list of entries")
    for one in listed:
        version = one.get("version")
        texts = [one.get("name"), version if isinstance(version, str) else _ANY]
        texts += [one.get(key, "") for key in ("repository", "condition", "alias")]
        if not all(isinstance(text, str) for text in texts) or not texts[0]:
            raise ChartError(f"{place}: a dependency in Chart.yaml has no name, or a value that is no text: {one!r:.120}")
        name, version, repository, condition, alias = texts
        yield Declared(name, version, repository, condition, alias, parents)


def read_values(files: Files, name: str, place: str = "the chart", most: int = _LONGEST_YAML) -> dict[str, Any]:
    """A YAML mapping of the chart; empty without the file.

    :param most: bytes of the longest file; 4 MiB unless given.
    :raises ChartError: if it is no mapping, or has aliases, with which a short text can grow beyond all bounds.
    """
    content = files.get(name, b"")
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise ChartError("reading a chart needs PyYAML; run `pip install 'hyperpod-constructs[eks]'`") from error
    if len(content) > most:
        raise ChartError(f"{place}: {name} is larger than {most // 2**20} MiB")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        alias = next((event.anchor for event in yaml.parse(content, loader) if isinstance(event, yaml.AliasEvent)), None)
        found = yaml.load(content, Loader=loader) if alias is None else None
    except (yaml.YAMLError, UnicodeError, ValueError, RecursionError) as error:
        raise ChartError(f"{place}: {name} is not readable: {str(error)[:300]}") from error
    if alias is not None:
        raise ChartError(f"{place}: {name} has the alias {alias[:80]!r}; write its value out")
    if found is not None and not isinstance(found, dict):
        raise ChartError(f"{place}: {name} is not a mapping")
    return dict(found or {})


def merged(below: Values, above: Values) -> dict[str, Any]:
    """Two trees of values, as Helm merges them: mappings key by key, anything else as a whole."""
    joined = {key: deepcopy(value) for key, value in below.items()}
    for key, value in above.items():
        under = joined.get(key)
        if isinstance(under, Mapping) and isinstance(value, Mapping):
            joined[key] = merged(under, value)
        else:
            joined[key] = deepcopy(value)
    return joined
