"""Lustre file systems as nodes and tasks see them, and those from outside the app."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from aws_cdk import RemovalPolicy
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs._support.values import ChunkSize, FileSystemId, FileSystemPath, LustreHost, MountName
from hyperpod_constructs.storage.data_repository import EXPORTED_EVENTS, IMPORTED_EVENTS, DataRepositoryAssociation, RepositoryEvent


class LustreSource(Protocol):
    """The addresses by which a node mounts a Lustre file system."""

    @property
    def file_system_id(self) -> str: ...
    @property
    def dns_name(self) -> str: ...
    @property
    def mount_name(self) -> str: ...
    @property
    def efa_enabled(self) -> bool: ...


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingLustre:
    """A Lustre file system from outside this app; see `LustreStorage.from_attributes`."""

    file_system_id: FileSystemId
    dns_name: LustreHost
    mount_name: MountName
    efa_enabled: bool = False
    _associations: list[DataRepositoryAssociation] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def associations(self) -> Sequence[DataRepositoryAssociation]:
        """The associations that `add_data_repository` has made."""
        return tuple(self._associations)

    @checked
    def add_data_repository(
        self,
        scope: Construct,
        id: str,
        *,
        bucket: s3.IBucket,
        file_system_path: FileSystemPath,
        prefix: str = "",
        auto_import_events: tuple[RepositoryEvent, ...] = IMPORTED_EVENTS,
        auto_export_events: tuple[RepositoryEvent, ...] = EXPORTED_EVENTS,
        preload_metadata: bool = False,
        imported_file_chunk_size: ChunkSize | None = None,
        bucket_is_versioned: bool | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> DataRepositoryAssociation:
        """Link a directory of the file system to a prefix of a bucket; see `DataRepositoryAssociation` for the parameters.

        The file system must be PERSISTENT_2 or SCRATCH_2 and have no automatic backups. Overlaps are found among the associations
        of this object; FSx refuses an overlap with others.

        :param scope: the parent of the association, in a stack of the file system's region.
        :param id: of the association in `scope`.
        :param removal_policy: by default the association outlives its stack, as the file system does.
        :raises ValueError: see `DataRepositoryAssociation`.

        Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html
        """
        return DataRepositoryAssociation(
            scope,
            id,
            file_system_id=self.file_system_id,
            siblings=self._associations,
            bucket=bucket,
            file_system_path=file_system_path,
            prefix=prefix,
            auto_import_events=auto_import_events,
            auto_export_events=auto_export_events,
            preload_metadata=preload_metadata,
            imported_file_chunk_size=imported_file_chunk_size,
            bucket_is_versioned=bucket_is_versioned,
            removal_policy=removal_policy,
        )
