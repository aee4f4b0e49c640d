"""Links between directories of a Lustre file system and prefixes in S3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from aws_cdk import Aws, CfnTag, RemovalPolicy
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs._support.values import ChunkSize, FileSystemId, FileSystemPath
from hyperpod_constructs.facts import repository_links


class RepositoryEvent(StrEnum):
    """An event of a file or an object, carried to the other side."""

    NEW = "NEW"
    CHANGED = "CHANGED"
    DELETED = "DELETED"


IMPORTED_EVENTS = (RepositoryEvent.NEW, RepositoryEvent.CHANGED, RepositoryEvent.DELETED)
"""The events that an association imports by default."""
EXPORTED_EVENTS = (RepositoryEvent.NEW, RepositoryEvent.CHANGED)
"""The events that an association exports by default: a deletion stays in the file system."""


class DataRepositoryAssociation(Construct):
    """One directory of a Lustre file system that mirrors one prefix of a bucket; made by `add_data_repository`.

    Objects appear as files at once. The file system reads their content from S3 on first access, or ahead by `lfs hsm_restore`. It
    writes new and changed files back. **It does not carry the deletion of a file to S3, unless `RepositoryEvent.DELETED` is asked
    for**: then one `rm -rf` would empty the bucket, so the bucket must be versioned.

    A file system has at most eight associations. Neither their directories nor their prefixes overlap. The directory `/` must be
    the only one.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        file_system_id: FileSystemId,
        siblings: list[DataRepositoryAssociation],
        bucket: s3.IBucket,
        file_system_path: FileSystemPath,
        prefix: str = "",
        auto_import_events: Sequence[RepositoryEvent],
        auto_export_events: Sequence[RepositoryEvent],
        preload_metadata: bool,
        imported_file_chunk_size: ChunkSize | None,
        bucket_is_versioned: bool | None,
        removal_policy: RemovalPolicy,
    ) -> None:
        """
        :param file_system_id: the file system. A change of it, of path, bucket or prefix makes a new association beside the old,
            retained one. The service refuses it unless both path and prefix are new.
        :param siblings: the existing associations of the file system; this one joins them.
        :param bucket: in the file system's region. If this app owns the bucket's KMS key, the key's policy admits FSx.
        :param file_system_path: the directory, such as `/data`.
        :param prefix: key prefix in the bucket, such as `datasets/`; the whole bucket when empty.
        :param auto_import_events: S3 events that change the file system; none when empty.
        :param auto_export_events: file events that change the bucket; none when empty.
        :param preload_metadata: import the metadata of all objects at creation (`BatchImportMetaDataOnCreate`) instead of on
            access. It **cannot be changed later**: the property is create-only, and a replacement would overlap its predecessor.
        :param imported_file_chunk_size: MiB, 1 to 512000: the most of an imported file on one disk, hence its stripes; 1024 unless
            given. It applies to later imports.
        :param bucket_is_versioned: whether an imported bucket is versioned; this app cannot see it.
        :param removal_policy: follows the file system.
        :raises ValueError: for a ninth association, an overlap, a path without `/`, or the export of deletions to a bucket without
            versioning.
        """
        super().__init__(scope, id)
        self.file_system_path = file_system_path
        self.auto_export_events = tuple(auto_export_events)
        bucket_name = bucket.bucket_name
        self.data_repository_path = f"s3://{bucket_name}/{prefix.lstrip('/')}"
        self._bucket_and_prefix = (bucket_name, f"{prefix.strip('/')}/" if prefix.strip("/") else "")
        self._check_path()
        self._check_siblings(siblings)
        if RepositoryEvent.DELETED in auto_export_events and not _is_versioned(bucket, bucket_is_versioned):
            raise ValueError(
                f"{self.node.path}: auto_export_events holds DELETED, but the bucket is not known to be versioned: "
                f"{repository_links.EMPTIES_BUCKET}; make the bucket with versioned=True, write bucket_is_versioned=True for "
                "an imported one, or leave DELETED out"
            )
        self.resource = fsx.CfnDataRepositoryAssociation(
            self,
            "Resource",
            file_system_id=file_system_id,
            file_system_path=file_system_path,
            data_repository_path=self.data_repository_path,
            batch_import_meta_data_on_create=True if preload_metadata else None,
            imported_file_chunk_size=imported_file_chunk_size,
            s3=fsx.CfnDataRepositoryAssociation.S3Property(
                auto_import_policy=fsx.CfnDataRepositoryAssociation.AutoImportPolicyProperty(events=_values(auto_import_events))
                if auto_import_events
                else None,
                auto_export_policy=fsx.CfnDataRepositoryAssociation.AutoExportPolicyProperty(events=_values(auto_export_events))
                if auto_export_events
                else None,
            ),
            tags=[CfnTag(key="Name", value=placed(self, scope, id))],
        )
        self.resource.apply_removal_policy(removal_policy)
        self.resource.node.add_dependency(bucket)
        if (key := bucket.encryption_key) is not None:
            key.add_to_resource_policy(_key_statement())
        siblings.append(self)

    def _check_path(self) -> None:
        path = self.file_system_path
        if not is_unknown(path) and not path.startswith("/"):
            raise ValueError(f"{self.node.path}: {repository_links.relative_directory('file_system_path', path)}")

    def _check_siblings(self, siblings: Sequence[DataRepositoryAssociation]) -> None:
        mistake = repository_links.too_many() if len(siblings) >= repository_links.MOST_LINKS else None
        for other in siblings:
            if _overlap(self.file_system_path, other.file_system_path, repository_links.directories_overlap):
                mistake = mistake or repository_links.overlapping_directories(
                    "file_system_path", self.file_system_path, other.file_system_path, other.node.path
                )
            (bucket, prefix), (other_bucket, other_prefix) = self._bucket_and_prefix, other._bucket_and_prefix
            if bucket == other_bucket and _overlap(prefix, other_prefix, repository_links.prefixes_overlap):
                mistake = mistake or repository_links.overlapping_prefixes(
                    self.data_repository_path, other.data_repository_path, other.node.path
                )
        if mistake is not None:
            raise ValueError(f"{self.node.path}: {mistake}")


def _overlap(one: str, two: str, overlap: Callable[[str, str], bool]) -> bool:
    return one == two if is_unknown(one) or is_unknown(two) else overlap(one, two)


def _values(events: Sequence[RepositoryEvent]) -> list[str]:
    return [event.value for event in events]


def _is_versioned(bucket: s3.IBucket, said: bool | None) -> bool:
    if said is not None:
        return said
    resource = bucket.node.default_child
    return isinstance(resource, s3.CfnBucket) and resource.versioning_configuration is not None


def _key_statement() -> iam.PolicyStatement:
    """FSx makes a service-linked role per file system, which reads and writes the bucket.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html
    """
    role = (
        f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/aws-service-role/"
        "s3.data-source.lustre.fsx.*/AWSServiceRoleForFSxS3Access_*"
    )
    return iam.PolicyStatement(
        sid="FSxDataRepository",
        actions=["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"],
        principals=[iam.AnyPrincipal()],
        resources=["*"],
        conditions={"ArnLike": {"aws:PrincipalArn": role}, "StringEquals": {"kms:CallerAccount": Aws.ACCOUNT_ID}},
    )
