"""Data repository tasks of FSx for Lustre: limits, and the words for mistakes (as of 2026-11-22).

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryTask.html
"""

from __future__ import annotations

from dataclasses import replace

from hyperpod_constructs.facts.limits import most_items, property_limit
from hyperpod_constructs.facts.mistake import Mistake, fixed_by

_REQUEST = "fsx:CreateDataRepositoryTask"

EXPORT = "EXPORT_TO_REPOSITORY"
IMPORT = "IMPORT_METADATA_FROM_REPOSITORY"
RELEASE = "RELEASE_DATA_FROM_FILESYSTEM"

MOST_PATHS = most_items(f"{_REQUEST}/Paths")
"""Most paths of a task."""

PATH = replace(
    property_limit(f"{_REQUEST}/Paths/*", words="{shortest} to {longest} characters without line ends", example="data"), shortest=1
)
"""A path of a task. The model takes an empty one too, which names nothing."""

REPORT_PATH = property_limit(
    f"{_REQUEST}/Report/Path", words="s3://BUCKET/PREFIX, {shortest} to {longest} characters", example="s3://my-bucket/reports"
)
"""The place of a report."""

DAYS = property_limit(f"{_REQUEST}/ReleaseConfiguration/DurationSinceLastAccess/Value")
"""Days since the last access to a file."""

REPORT = {"Format": "REPORT_CSV_20191124", "Scope": "FAILED_FILES_ONLY"}
"""The only kind of report."""


def path_mistake(name: str, kind: str, path: str) -> Mistake | None:
    """A path of the other side, or of another form than this kind of task takes; `None` for a right one."""
    if kind == IMPORT and not path.startswith("s3://"):
        return Mistake(
            f"{name} holds {path!r}; an import reads paths in S3",
            "write s3://BUCKET/PREFIX; an association has it as data_repository_path",
        )
    if kind != IMPORT and path.startswith("s3://"):
        return Mistake(
            f"{name} holds {path!r}; this task reads paths in the file system", "write the directory without the mount point"
        )
    if kind == EXPORT and path.startswith("/"):
        return Mistake(
            f"{name} holds {path!r}; an export takes paths relative to the mount point",
            f'write "{path.lstrip("/")}"' if path.strip("/") else "leave the paths out: then all is exported",
        )
    return None


@fixed_by("leave the task out, or make the association with auto_export_events=()")
def export_beside_automatic_export(owner: str) -> str:
    """An export task of a file system that exports by itself.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/export-changed-data-meta-dra.html
    """
    return f"{owner} exports changes automatically, and FSx runs no export task beside that"
