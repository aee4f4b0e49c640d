"""What FSx refuses of data repository associations: too many, overlapping, or on a file system that cannot have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_constructs.facts import repository_links
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.fsx.checks import refusal
from hyperpod_constructs.local.fsx.state import Association, FileSystem


def check_association(file_system: FileSystem, existing: Iterable[Association], request: Mapping[str, Any], s3: Any) -> None:
    """Refuse a CreateDataRepositoryAssociation request that breaks a rule.

    :raises AwsError: with the cause of the refusal.
    """
    _check_file_system(file_system)
    path, repository = request["FileSystemPath"], request["DataRepositoryPath"]
    others = list(existing)
    most = repository_links.MOST_LINKS
    if len(others) >= most:
        raise AwsError(
            "ServiceLimitExceeded",
            f"{file_system.identifier} has {len(others)} associations; at most {most} are allowed",
        )
    if not path.startswith("/"):
        raise refusal(f"FileSystemPath {path!r} must begin with a slash")
    if not repository.startswith("s3://"):
        raise refusal(f"DataRepositoryPath {repository!r} must begin with s3://")
    if not _parts(path) and others:
        raise refusal(f"FileSystemPath / can only be that of the first association; {file_system.identifier} has {len(others)}")
    for other in others:
        for member in ("FileSystemPath", "DataRepositoryPath"):
            if _overlap(request[member], other.request[member]):
                raise refusal(
                    f"{member} {request[member]} overlaps with {other.request[member]} of {other.identifier};"
                    f" two associations of a file system cannot overlap"
                )
    bucket = repository.removeprefix("s3://").partition("/")[0]
    try:
        s3.head_bucket(Bucket=bucket)
    except ClientError as error:
        raise refusal(
            f"the bucket {bucket} of DataRepositoryPath cannot be reached: {error.response['Error']['Message']}"
        ) from error


def _check_file_system(file_system: FileSystem) -> None:
    name, lustre = file_system.identifier, file_system.request.get("LustreConfiguration", {})
    if file_system.kind != "LUSTRE":
        raise AwsError("UnsupportedOperation", f"{name} is {file_system.kind}; only LUSTRE has data repository associations")
    if file_system.lifecycle not in ("AVAILABLE", "UPDATING"):
        raise refusal(f"{name} is {file_system.lifecycle}; it must be AVAILABLE")
    if lustre.get("DeploymentType", "SCRATCH_1") == "SCRATCH_1" or file_system.request["FileSystemTypeVersion"] == "2.10":
        raise AwsError("UnsupportedOperation", f"{name}: SCRATCH_1 and Lustre 2.10 do not support data repository associations")
    if file_system.request.get("StorageType") == "INTELLIGENT_TIERING":
        raise AwsError(
            "UnsupportedOperation", f"{name}: StorageType INTELLIGENT_TIERING does not support data repository associations"
        )
    if "ImportPath" in lustre:
        raise refusal(f"{name} has an ImportPath, which excludes data repository associations")
    if lustre.get("AutomaticBackupRetentionDays"):
        raise refusal(f"{name} has automatic backups, which a file system with data repository associations cannot have")
    if lustre.get("CopyTagsToBackups"):
        raise refusal(f"{name} has CopyTagsToBackups, which a file system with data repository associations does not take")


def _parts(path: str) -> list[str]:
    return [part for part in path.removeprefix("s3://").split("/") if part]


def _overlap(one: str, other: str) -> bool:
    first, second = sorted((_parts(one), _parts(other)), key=len)
    return second[: len(first)] == first
