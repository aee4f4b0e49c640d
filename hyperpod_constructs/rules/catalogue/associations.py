"""Data repository associations: the links between file systems and S3."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial

from hyperpod_constructs.analysis.clusters import given
from hyperpod_constructs.analysis.file_systems import TIERING, Lustre
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.facts import lustre, repository_links
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource, resource_of, target_of
from hyperpod_constructs.templates.values import UNKNOWN, Part, Reference, Value, as_bool, as_int, as_items, as_str, parts_of, shown

ASSOCIATION = "AWS::FSx::DataRepositoryAssociation"
_GUIDE = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/"
_DOCS = f"{_GUIDE}create-dra-linked-data-repo.html"
_AUTO_EXPORT = f"{_GUIDE}autoexport-data-repo-dra.html"
_API = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html"
_REFUSED = "FSx refuses the association, and the stack rolls back with the file system that it has just made"
_OLDEST, _MIDDLE, _NEWEST = lustre.VERSIONS
_EVENTS = ("S3", "AutoExportPolicy", "Events")
_refused = partial(error, why=_REFUSED, source=_API)


def _by_file_system(model: Model) -> list[list[Resource]]:
    """The associations that surely exist, in one list for each file system."""
    found: dict[Resource | str, list[Resource]] = {}
    for association in model.resources(ASSOCIATION):
        owner = association.get("FileSystemId")
        key = target_of(owner) if isinstance(owner, Reference) else as_str(owner)
        if association.exists and key is not None:
            found.setdefault(key, []).append(association)
    return list(found.values())


def _pairs(model: Model) -> Iterator[tuple[Resource, Resource]]:
    """Associations of one file system, the later one first."""
    return ((two, one) for links in _by_file_system(model) for one, two in itertools.combinations(links, 2))


def _linked(model: Model) -> Iterator[tuple[Resource, Lustre]]:
    """The associations with their file system, if it is in the model."""
    for link in model.resources(ASSOCIATION):
        owner = resource_of(link.get("FileSystemId"), FILE_SYSTEM)
        if owner is not None:
            yield link, Lustre(owner)


@_refused(
    "HP-DRA-001",
    on=_by_file_system,
    title=f"a file system has at most {repository_links.MOST_LINKS} associations",
    fix=repository_links.too_many().fix,
    allowed=f"at most {repository_links.MOST_LINKS}",
    aliases=("HP-FSX-040",),
)
def links_are_few(links: list[Resource]) -> Hit | None:
    """One hit, on the first that is too many."""
    most = repository_links.MOST_LINKS
    message = f"it is association {most + 1} of its file system; {repository_links.too_many().message}"
    return Hit(links[most], (), message, found=len(links)) if len(links) > most else None


@_refused(
    "HP-DRA-002",
    on=_pairs,
    at=("FileSystemPath",),
    title="associations of a file system link separate directories",
    fix=repository_links.overlapping_directories.fix,
    allowed="a directory outside all other linked ones",
    source=_DOCS,
    silences=("HP-DRA-003",),
    aliases=("HP-FSX-041",),
)
def directories_are_apart(two: Resource, one: Resource) -> Mistake | None:
    second, first = (as_str(link.get("FileSystemPath")) for link in (two, one))
    if first is None or second is None or not repository_links.directories_overlap(first, second):
        return None
    return repository_links.overlapping_directories("FileSystemPath", second, first, one.logical_id)


@_refused(
    "HP-DRA-003",
    on=_pairs,
    at=("DataRepositoryPath",),
    title="associations of a file system link separate prefixes",
    fix=repository_links.overlapping_prefixes.fix,
    allowed="a prefix outside all other linked ones",
    source=_DOCS,
    aliases=("HP-FSX-042",),
)
def prefixes_are_apart(two: Resource, one: Resource) -> Mistake | None:
    if not _overlap(one.get("DataRepositoryPath"), two.get("DataRepositoryPath")):
        return None
    second, first = (str(shown(link.get("DataRepositoryPath"))) for link in (two, one))
    return repository_links.overlapping_prefixes(second, first, one.logical_id)


def _exporting_pairs(model: Model) -> Iterator[tuple[Resource, Resource]]:
    """Associations of two file systems, both with export."""
    for links, others in itertools.combinations(_by_file_system(model), 2):
        for one, two in itertools.product(links, others):
            if as_items(one.get(*_EVENTS)) and as_items(two.get(*_EVENTS)):
                yield two, one


@warning(
    "HP-DRA-004",
    on=_exporting_pairs,
    at=("DataRepositoryPath",),
    title="no two file systems export to one prefix",
    why="both write the same objects, and the last one wins: one file system overwrites the files of the other",
    fix="give each file system a prefix of its own to export to, or let only one of them export (AutoExportPolicy)",
    allowed="one exporting file system for a prefix",
    source=_AUTO_EXPORT,
    aliases=("HP-FSX-043",),
)
def one_file_system_exports(two: Resource, one: Resource) -> str | None:
    mistake = prefixes_are_apart(two, one)
    return None if mistake is None else mistake.message


def _overlap(one: Value, two: Value) -> bool:
    """Whether two prefixes surely overlap: the parts of the one begin those of the other."""
    first, second = sorted((_terminated(one), _terminated(two)), key=lambda parts: (len(parts), len(str(parts[-1]))))
    if UNKNOWN in first or UNKNOWN in second[: len(first)] or first[:-1] != second[: len(first) - 1]:
        return False
    ends, goes_on = first[-1], second[len(first) - 1]
    if not isinstance(ends, str) or not isinstance(goes_on, str):
        return False
    return repository_links.prefixes_overlap(goes_on, ends) if len(first) == len(second) else goes_on.startswith(ends)


def _terminated(path: Value) -> tuple[Part, ...]:
    """The parts of a prefix that ends with a slash, as the service reads it."""
    parts = parts_of(path)
    last = parts[-1]
    return (*parts[:-1], last.rstrip("/") + "/") if isinstance(last, str) else (*parts, "/")


@warning(
    "HP-DRA-005",
    on=ASSOCIATION,
    at=_EVENTS,
    title="deletions are exported only to buckets with versions",
    why="the deletion of a file deletes its only other copy, in the bucket",
    fix="set VersioningConfiguration: {Status: Enabled} on the bucket, or leave DELETED out of AutoExportPolicy",
    allowed="NEW and CHANGED; DELETED with a versioned bucket",
    source=_AUTO_EXPORT,
    aliases=("HP-FSX-044",),
)
def deletions_can_be_undone(link: Resource) -> str | None:
    parts = (
        resource_of(part, "AWS::S3::Bucket") for part in parts_of(link.get("DataRepositoryPath")) if isinstance(part, Reference)
    )
    bucket = next((found for found in parts if found is not None), None)
    if bucket is None or "DELETED" not in [as_str(event) for event in as_items(link.get(*_EVENTS)) or ()]:
        return None
    status = bucket.get("VersioningConfiguration", "Status")
    if given(status) is not False and as_str(status) != "Suspended":
        return None
    return f"deletions are exported to {bucket.logical_id}, which keeps no versions: {repository_links.EMPTIES_BUCKET}"


@_refused(
    "HP-DRA-006",
    on=_linked,
    title="associations are on file systems that take them",
    fix=f"take DeploymentType PERSISTENT_2 with StorageType SSD and FileSystemTypeVersion {_NEWEST}",
    allowed=f"Lustre {_MIDDLE} or {_NEWEST}, no SCRATCH_1, no Intelligent-Tiering",
    silences=("HP-DRA-007", "HP-DRA-008"),
    aliases=("HP-FSX-045",),
)
def file_systems_take_links(link: Resource, system: Lustre) -> Hit | None:
    wrong = _without_links(system)
    if wrong is None:
        return None
    text, doubts = f"its file system is {wrong}, which takes no associations", ("LustreConfiguration", "DeploymentType")
    return hit(link, text, "FileSystemId", covers=(system.resource,), doubts=[(system.resource, doubts)])


def _without_links(system: Lustre) -> str | None:
    kind = as_str(system.resource.get("FileSystemType"))
    if kind not in (None, "LUSTRE"):
        return f"of type {kind}"
    if system.deployment == "SCRATCH_1":
        return "of type SCRATCH_1"
    if system.storage == TIERING:
        return "an Intelligent-Tiering one"
    version = system.resource.get("FileSystemTypeVersion")
    oldest = as_str(version) == _OLDEST and system.deployment != "PERSISTENT_2"
    unsaid = given(version) is False and system.deployment in ("SCRATCH_2", "PERSISTENT_1")
    return f"of Lustre {_OLDEST}" if oldest or unsaid else None


@error(
    "HP-DRA-007",
    on=_linked,
    title="a file system with associations keeps no automatic backups",
    why="FSx cannot back up a file system that is linked to S3: it refuses the backups or the association",
    fix=lustre.backups_beside_associations.fix,
    allowed="0",
    source=f"{_GUIDE}using-backups-fsx.html",
    aliases=("HP-FSX-046",),
)
def linked_ones_keep_no_backups(_: Resource, system: Lustre) -> Hit | None:
    name = "AutomaticBackupRetentionDays"
    days = as_int(system.get(name))
    return hit(system, lustre.backups_beside_associations(name, days), "LustreConfiguration", name) if days else None


@_refused(
    "HP-DRA-008",
    on=_linked,
    title="a file system is linked in one way",
    fix="leave ImportPath, ExportPath, AutoImportPolicy and ImportedFileChunkSize of the file system out: the association "
    "replaces them",
    allowed="associations, or ImportPath",
    silences=("HP-FSX-011",),
    aliases=("HP-FSX-047",),
)
def links_are_of_one_kind(link: Resource, system: Lustre) -> Hit | None:
    message = f"it has an ImportPath, and {link.logical_id} is an association of it"
    return hit(system, message, "LustreConfiguration", "ImportPath") if system.has("ImportPath") else None


@_refused(
    "HP-DRA-009",
    on=ASSOCIATION,
    at=("FileSystemPath",),
    title="directories of associations begin with a slash",
    fix=repository_links.relative_directory.fix,
    allowed="a path such as /data",
    aliases=("HP-FSX-048",),
)
def directories_are_absolute(link: Resource) -> Mistake | None:
    path = as_str(link.get("FileSystemPath"))
    return None if path is None or path.startswith("/") else repository_links.relative_directory("FileSystemPath", path)


@error(
    "HP-DRA-010",
    on=_linked,
    title="a file system with associations copies no tags to backups",
    why="FSx takes CopyTagsToBackups on no file system that is linked to S3",
    fix=lustre.tags_beside_associations.fix,
    allowed="no CopyTagsToBackups",
    source="https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html",
)
def linked_ones_copy_no_tags(_: Resource, system: Lustre) -> Hit | None:
    name = "CopyTagsToBackups"
    said = lustre.tags_beside_associations(name)
    return hit(system, said, "LustreConfiguration", name) if as_bool(system.get(name)) else None
