"""Rules on data repository associations: the links between file systems and S3."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from hyperpod_constructs.rules import lustre, repository_links
from hyperpod_constructs.rules.facts.clusters import given, hit
from hyperpod_constructs.rules.facts.file_systems import TIERING, Lustre
from hyperpod_constructs.rules.facts.placement import FILE_SYSTEM
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import (
    UNKNOWN,
    Part,
    Reference,
    Value,
    as_int,
    as_items,
    as_str,
    parts_of,
    resource_of,
    shown,
)

ASSOCIATION = "AWS::FSx::DataRepositoryAssociation"
_DOCS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html"
_API = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html"
_REFUSED = "FSx refuses the association, and the stack rolls back with the file system that it has just made"
_BUCKET = "AWS::S3::Bucket"


def _by_file_system(model: Model) -> list[list[Resource]]:
    """The associations that surely exist, together where they are of one file system."""
    found: dict[Resource | str, list[Resource]] = {}
    for association in model.resources(ASSOCIATION):
        owner = association.get("FileSystemId")
        key = owner.resource if isinstance(owner, Reference) else as_str(owner)
        if association.exists and key is not None:
            found.setdefault(key, []).append(association)
    return list(found.values())


def _linked(association: Resource) -> Lustre | None:
    owner = resource_of(association.get("FileSystemId"), FILE_SYSTEM)
    return None if owner is None else Lustre(owner)


@rule(
    "HP-FSX-040",
    Level.ERROR,
    title=f"a file system has at most {repository_links.MOST_LINKS} associations",
    why=_REFUSED,
    fix=repository_links.TOO_MANY.fix,
    allowed=f"at most {repository_links.MOST_LINKS}",
    source=_API,
)
def links_are_few(model: Model) -> Iterator[Hit]:
    """One hit, on the first that is too many."""
    for links in _by_file_system(model):
        for link in links[repository_links.MOST_LINKS :][:1]:
            message = f"it is association {repository_links.MOST_LINKS + 1} of its file system; {repository_links.TOO_MANY.message}"
            yield Hit(link, (), message, found=len(links))


@rule(
    "HP-FSX-041",
    Level.ERROR,
    title="associations of a file system link separate directories",
    why=_REFUSED,
    fix="choose directories of which none is in another; / only as the single one",
    allowed="a directory outside all others that are linked",
    source=_DOCS,
    silences=("HP-FSX-042",),
)
def directories_are_apart(model: Model) -> Iterator[Hit]:
    """Two associations overlap on the side of the file system."""
    for links in _by_file_system(model):
        for one, two in itertools.combinations(links, 2):
            paths = [as_str(link.get("FileSystemPath")) for link in (one, two)]
            if paths[0] is None or paths[1] is None or not repository_links.directories_overlap(paths[0], paths[1]):
                continue
            mistake = repository_links.overlapping_directories("FileSystemPath", paths[1], paths[0], one.logical_id)
            yield hit(two, ("FileSystemPath",), mistake, paths[1])


@rule(
    "HP-FSX-042",
    Level.ERROR,
    title="associations of a file system link separate prefixes",
    why=_REFUSED,
    fix="choose prefixes of which none is in another",
    allowed="a prefix outside all others that are linked",
    source=_DOCS,
)
def prefixes_are_apart(model: Model) -> Iterator[Hit]:
    """Two associations overlap on the side of S3."""
    for links in _by_file_system(model):
        for one, two in itertools.combinations(links, 2):
            if _overlap(one.get("DataRepositoryPath"), two.get("DataRepositoryPath")):
                yield _overlapping(one, two)


@rule(
    "HP-FSX-043",
    Level.WARNING,
    title="no two file systems export to one prefix",
    why="both write the same objects, and the last one wins: files are overwritten by another file system's",
    fix="give each file system a prefix of its own to export to, or let only one of them export (AutoExportPolicy)",
    allowed="one exporting file system for a prefix",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoexport-data-repo-dra.html",
)
def one_file_system_exports(model: Model) -> Iterator[Hit]:
    """Associations of two file systems, both with export, overlap on the side of S3."""
    for links, others in itertools.combinations(_by_file_system(model), 2):
        for one, two in itertools.product(links, others):
            both = all(as_items(link.get("S3", "AutoExportPolicy", "Events")) for link in (one, two))
            if both and _overlap(one.get("DataRepositoryPath"), two.get("DataRepositoryPath")):
                yield _overlapping(one, two)


def _overlapping(one: Resource, two: Resource) -> Hit:
    paths = [str(shown(link.get("DataRepositoryPath"))) for link in (one, two)]
    mistake = repository_links.overlapping_prefixes(paths[1], paths[0], one.logical_id)
    return hit(two, ("DataRepositoryPath",), mistake, two.get("DataRepositoryPath"))


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
    if isinstance(last, str):
        return (*parts[:-1], last.rstrip("/") + "/")
    return (*parts, "/")


@rule(
    "HP-FSX-044",
    Level.WARNING,
    title="deletions are exported only to buckets with versions",
    why="a file that somebody deletes is deleted in the bucket too, which holds the only other copy",
    fix="set VersioningConfiguration: {Status: Enabled} on the bucket, or leave DELETED out of AutoExportPolicy",
    allowed="NEW and CHANGED; DELETED with a versioned bucket",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoexport-data-repo-dra.html",
)
def deletions_can_be_undone(model: Model) -> Iterator[Hit]:
    """DELETED is exported to a bucket of the model that keeps no versions."""
    for link in model.resources(ASSOCIATION):
        path = ("S3", "AutoExportPolicy", "Events")
        events = as_items(link.get(*path)) or ()
        buckets = [resource_of(part, _BUCKET) for part in parts_of(link.get("DataRepositoryPath")) if isinstance(part, Reference)]
        bucket = next((found for found in buckets if found is not None), None)
        if bucket is None or "DELETED" not in [as_str(event) for event in events]:
            continue
        status = bucket.get("VersioningConfiguration", "Status")
        if given(status) is False or as_str(status) == "Suspended":
            message = f"deletions are exported to {bucket.logical_id}, which keeps no versions: {repository_links.EMPTIES_BUCKET}"
            yield Hit(link, path, message, found=events)


@rule(
    "HP-FSX-045",
    Level.ERROR,
    title="associations are on file systems that take them",
    why=_REFUSED,
    fix="take DeploymentType PERSISTENT_2 with StorageType SSD and FileSystemTypeVersion 2.15",
    allowed="Lustre 2.12 or 2.15, no SCRATCH_1, no Intelligent-Tiering",
    source=_API,
    silences=("HP-FSX-046", "HP-FSX-047"),
)
def file_systems_take_links(model: Model) -> Iterator[Hit]:
    """The file system is of a kind without associations."""
    for link in model.resources(ASSOCIATION):
        system = _linked(link)
        wrong = None if system is None else _without_links(system)
        if system is not None and wrong is not None:
            message = f"its file system is {wrong}, which takes no associations"
            yield Hit(link, ("FileSystemId",), message, found=link.get("FileSystemId"), covers=(system.resource,))


def _without_links(system: Lustre) -> str | None:
    kind = as_str(system.resource.get("FileSystemType"))
    if kind not in (None, "LUSTRE"):
        return f"of type {kind}"
    if system.deployment == "SCRATCH_1":
        return "of type SCRATCH_1"
    if system.storage == TIERING:
        return "an Intelligent-Tiering one"
    version = system.resource.get("FileSystemTypeVersion")
    old = as_str(version) == "2.10" or (given(version) is False and system.deployment in ("SCRATCH_2", "PERSISTENT_1"))
    return "of Lustre 2.10" if old else None


@rule(
    "HP-FSX-046",
    Level.ERROR,
    title="a file system with associations keeps no automatic backups",
    why="FSx cannot back up a file system that is linked to S3: it refuses the backups or the association",
    fix="set AutomaticBackupRetentionDays to 0 (the bucket holds the data), or link a second file system",
    allowed="0",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html",
)
def linked_ones_keep_no_backups(model: Model) -> Iterator[Hit]:
    """One hit for each file system."""
    for system in {link.resource: link for link in map(_linked, model.resources(ASSOCIATION)) if link is not None}.values():
        days = as_int(system.get("AutomaticBackupRetentionDays"))
        if days:
            mistake = lustre.backups_beside_associations("AutomaticBackupRetentionDays", days)
            yield hit(system.resource, system.path("AutomaticBackupRetentionDays"), mistake, days)


@rule(
    "HP-FSX-047",
    Level.ERROR,
    title="a file system is linked in one way",
    why=_REFUSED,
    fix="leave ImportPath, ExportPath, AutoImportPolicy and ImportedFileChunkSize of the file system out: the association "
    "does what they do",
    allowed="associations, or ImportPath",
    source=_API,
    silences=("HP-FSX-011",),
)
def links_are_of_one_kind(model: Model) -> Iterator[Hit]:
    """A file system with ImportPath has associations too."""
    for link in model.resources(ASSOCIATION):
        system = _linked(link)
        if system is not None and system.has("ImportPath"):
            message = f"it has an ImportPath, and {link.logical_id} is an association of it"
            yield Hit(system.resource, system.path("ImportPath"), message, found=system.get("ImportPath"))


@rule(
    "HP-FSX-048",
    Level.ERROR,
    title="directories of associations begin with a slash",
    why=_REFUSED,
    fix="write the directory from the root of the file system, such as /data",
    allowed="a path such as /data",
    source=_API,
)
def directories_are_absolute(model: Model) -> Iterator[Hit]:
    """The path does not begin with a slash."""
    for link in model.resources(ASSOCIATION):
        path = as_str(link.get("FileSystemPath"))
        if path is not None and not path.startswith("/"):
            yield hit(link, ("FileSystemPath",), repository_links.relative_directory("FileSystemPath", path), path)
