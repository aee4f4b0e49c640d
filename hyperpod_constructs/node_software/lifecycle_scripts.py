"""The programs that run on nodes, as an immutable prefix in S3."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

from aws_cdk import Fn, RemovalPolicy, Stage, Token
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct, IDependable

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.deferred import deferred_text
from hyperpod_constructs._support.tokens import is_token
from hyperpod_constructs._support.tree import stack_of, within
from hyperpod_constructs._support.values import EntryPoint
from hyperpod_constructs.custom_resources.upload_names import CONFIGURATION_FILE, EXCLUDED
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.node_software.lifecycle_mode import LifecycleMode
from hyperpod_constructs.node_software.own_step import OwnStep
from hyperpod_constructs.node_software.script_text import check_script
from hyperpod_constructs.node_software.software import NodeSoftware

_ROOT = "lifecycle"
_HASH_LENGTH = 16
STEPS_FOLDER = "own"

Configuration = Mapping[str, Any]


def packaged_scripts() -> Path:
    """The directory of this library's own scripts: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "lifecycle"
    return inside if inside.is_dir() else package.parent / "lifecycle"


class BoundScripts(Protocol):
    """The scripts of one cluster in S3."""

    @property
    def source_s3_uri(self) -> str:
        """`SourceS3Uri` of the groups."""
        ...

    @property
    def awaited(self) -> IDependable | None:
        """The upload of the scripts, which the cluster awaits; `None` for scripts that exist already."""
        ...

    @property
    def bucket(self) -> s3.IBucket:
        """The scripts' bucket; nodes may read it below `root`."""
        ...

    @property
    def root(self) -> str:
        """The key prefix that nodes may read."""
        ...


class LifecycleScripts(ABC):
    """The source of a cluster's lifecycle scripts: `from_asset`, `from_bucket` or `none`.

    The `lifecycle_mode` of a group decides its entry point: `on_init_complete` runs after the image has set Slurm up,
    `on_create` runs instead of it.
    """

    software: NodeSoftware | None = None
    """The software that the scripts set up; `None` for scripts without a rendered configuration."""
    steps: Sequence[OwnStep] = ()
    """The user's scripts beside this library's own steps."""
    ours: bool = False
    """Whether they are this library's scripts."""

    def __init__(self, on_init_complete: str, on_create: str) -> None:
        self._entry_points = {LifecycleMode.ON_INIT_COMPLETE: on_init_complete, LifecycleMode.ON_CREATE: on_create}

    @staticmethod
    @checked
    def from_asset(
        *,
        path: str | Path | None = None,
        bucket: s3.IBucket | None = None,
        encryption_key: kms.IKey | None = None,
        software: NodeSoftware | None = None,
        steps: Sequence[OwnStep] = (),
        on_init_complete: EntryPoint = "on_init_complete.sh",
        on_create: EntryPoint = "on_create.sh",
    ) -> LifecycleScripts:
        """Upload a directory at deployment.

        The library renders a `config.json` beside the scripts. The prefix in S3 holds the hash of the content and every deploy-time
        value of `config.json`, so any change makes a new `SourceS3Uri`. The cluster awaits the upload. The old prefix stays for a
        rollback; all prefixes are deleted with the cluster. Running nodes keep their scripts until they are replaced or updated.

        :param path: the directory; the scripts of this library when not given.
        :param bucket: the target; a new encrypted bucket named `sagemaker-...` when not given.
        :param encryption_key: encrypts the new bucket; a key of S3 unless given. A bucket of yours has its own.
        :param software: the software that this library's scripts set up; the defaults of `NodeSoftware` when not given. It is the
            key `software` of `config.json`; your own scripts may read it too.
        :param steps: your scripts beside this library's steps, in their order; none when not given. They need this library's
            scripts, so give them without `path`.
        :param on_init_complete: the entry point of groups that run after the image's set-up.
        :param on_create: the entry point of groups that replace the image's set-up.
        :raises ValueError: for a shell script with CR line ends, without `#!` or with a mistake that `bash -n` finds (where there
            is a bash), a missing entry point, two steps of one name, steps beside a `path`, a key beside a `bucket`, or a
            `provisioning_parameters.json`: the service refuses this file beside a configuration through its API.

        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm.html
        """
        directory = packaged_scripts() if path is None else Path(path)
        if path is not None:
            _check_directory(directory)
        _check_steps(steps, path)
        configured = NodeSoftware() if software is None else software
        if bucket is not None and encryption_key is not None:
            raise ValueError("lifecycle scripts: encryption_key is for the new bucket, and bucket is given; leave one of them out")
        scripts = _AssetScripts(directory, bucket, encryption_key, configured, steps, on_init_complete, on_create)
        scripts.ours = path is None
        return scripts

    @staticmethod
    @checked
    def from_bucket(
        bucket: s3.IBucket,
        prefix: str,
        *,
        on_init_complete: EntryPoint = "on_init_complete.sh",
        on_create: EntryPoint = "on_create.sh",
    ) -> LifecycleScripts:
        """Use scripts that are in S3 already.

        Change the prefix with every change of the scripts, or nodes of one cluster differ.

        :param bucket: the nodes' role may read the prefix in it. The name need not start with `sagemaker-`.
        :param prefix: the directory in the bucket.
        :param on_init_complete: the entry point of groups that run after the image's set-up.
        :param on_create: the entry point of groups that replace the image's set-up.
        """
        return _BucketScripts(bucket, prefix.strip("/"), on_init_complete, on_create)

    @staticmethod
    def none() -> LifecycleScripts:
        """No scripts on any group: the image alone sets the nodes up (AMI of January 2026 or later)."""
        return _NoScripts("", "")

    @abstractmethod
    def bind(self, scope: Construct, configuration: Callable[[], Configuration]) -> BoundScripts | None:
        """Make the scripts' resources in `scope`.

        :param configuration: called at synthesis, when all groups are known.
        """

    def check(self, mode: LifecycleMode) -> None:  # noqa: B027  # scripts that this app does not see are not checked
        """Check that a group can run in this mode with these scripts.

        :raises ValueError: for a mode without its entry point.
        """

    def render(self, bound: BoundScripts | None, mode: LifecycleMode) -> sagemaker.CfnCluster.ClusterLifeCycleConfigProperty | None:
        """`LifeCycleConfig` of a group in this mode."""
        if bound is None or mode is LifecycleMode.NONE:
            return None
        entry_point = self._entry_points[mode]
        return sagemaker.CfnCluster.ClusterLifeCycleConfigProperty(
            source_s3_uri=bound.source_s3_uri,
            on_init_complete=entry_point if mode is LifecycleMode.ON_INIT_COMPLETE else None,
            on_create=entry_point if mode is LifecycleMode.ON_CREATE else None,
        )


class _NoScripts(LifecycleScripts):
    def bind(self, scope: Construct, configuration: Callable[[], Configuration]) -> BoundScripts | None:
        return None


class _BucketScripts(LifecycleScripts):
    def __init__(self, bucket: s3.IBucket, prefix: str, on_init_complete: str, on_create: str) -> None:
        super().__init__(on_init_complete, on_create)
        self.bucket = bucket
        self.root = prefix
        self.awaited: IDependable | None = None

    @cached_property
    def source_s3_uri(self) -> str:
        return f"s3://{self.bucket.bucket_name}/{self.root}".rstrip("/")

    def bind(self, scope: Construct, configuration: Callable[[], Configuration]) -> BoundScripts:
        return self


class _AssetScripts(LifecycleScripts):
    def __init__(
        self,
        directory: Path,
        bucket: s3.IBucket | None,
        encryption_key: kms.IKey | None,
        software: NodeSoftware,
        steps: Sequence[OwnStep],
        on_init_complete: str,
        on_create: str,
    ) -> None:
        super().__init__(on_init_complete, on_create)
        self.directory = directory
        self.bucket = bucket
        self.encryption_key = encryption_key
        self.software = software
        self.steps = tuple(steps)

    def check(self, mode: LifecycleMode) -> None:
        if mode is LifecycleMode.NONE:
            return
        name = self._entry_points[mode]
        if not (self.directory / name).is_file():
            found = ", ".join(sorted(file.name for file in self.directory.glob("*.sh"))) or "no shell script"
            argument = "on_create" if mode is LifecycleMode.ON_CREATE else "on_init_complete"
            raise ValueError(
                f"lifecycle scripts: {self.directory} has no entry point {name!r} for {mode.value}; found {found}; "
                f"name yours with {argument}=..."
            )
        if not self.ours:
            check_script(self.directory / name)

    def bind(self, scope: Construct, configuration: Callable[[], Configuration]) -> BoundScripts:
        directory = _with_steps(scope, self.directory, self.steps) if self.steps else self.directory
        return _UploadedScripts(scope, "LifecycleScripts", directory, self.bucket, self.encryption_key, configuration)


class _UploadedScripts(Construct):
    def __init__(
        self,
        scope: Construct,
        id: str,
        directory: Path,
        bucket: s3.IBucket | None,
        encryption_key: kms.IKey | None,
        configuration: Callable[[], Configuration],
    ) -> None:
        # Lambda functions and their framework are large modules; clusters without an upload do not load them.
        from hyperpod_constructs.custom_resources.scripts_upload import ScriptsUpload

        super().__init__(scope, id)
        within(self, scope)
        self.bucket = scripts_bucket(self, "Bucket", encryption_key=encryption_key) if bucket is None else bucket
        self.root = f"{_ROOT}/{self.node.addr[-8:]}-{_stack_piece()}"
        content, stack = content_hash(directory), stack_of(scope)
        self._prefix = f"{self.root}/{deferred_text(lambda: _version(content, configuration()))}"
        self._upload = ScriptsUpload(
            self,
            "Upload",
            directory=directory,
            bucket=self.bucket,
            root=self.root,
            prefix=self._prefix,
            configuration=deferred_text(lambda: stack.to_json_string(dict(configuration()))),
        )

    @cached_property
    def source_s3_uri(self) -> str:
        return f"s3://{self.bucket.bucket_name}/{self._prefix}"

    @property
    def awaited(self) -> IDependable:
        return self._upload


@checked
def scripts_bucket(scope: Construct, id: str, *, encryption_key: kms.IKey | None = None) -> s3.Bucket:
    """An encrypted, private bucket for lifecycle scripts.

    Its name starts with `sagemaker-`, as the service asks, and ends in a piece of the stack's id, so that no two collide.
    It is deleted with its stack. CloudFormation deletes only an empty bucket, so each cluster removes its own scripts.

    :param encryption_key: encrypts the scripts; a key of S3 unless given.
    """
    return s3.Bucket(
        scope,
        id,
        bucket_name=Fn.join("-", ["sagemaker-hyperpod", scope.node.addr[-8:], _stack_piece()]),
        encryption=s3.BucketEncryption.S3_MANAGED if encryption_key is None else s3.BucketEncryption.KMS,
        encryption_key=encryption_key,
        bucket_key_enabled=None if encryption_key is None else True,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        enforce_ssl=True,
        removal_policy=RemovalPolicy.DESTROY,
    )


@cache
def _stack_piece() -> str:
    """The last twelve hexadecimal digits of the stack's id; every creation of a stack has a new id."""
    uuid = {"Fn::Select": [2, {"Fn::Split": ["/", {"Ref": "AWS::StackId"}]}]}
    return Token.as_string({"Fn::Select": [4, {"Fn::Split": ["-", uuid]}]})


def content_hash(directory: Path) -> str:
    """A digest of the names, contents and execute bits of a directory's files, without compiled Python."""
    digest = hashlib.sha256()
    for file in _files(directory):
        content = file.read_bytes()
        executable = bool(file.stat().st_mode & 0o100)
        digest.update(f"{file.relative_to(directory).as_posix()}\0{executable}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _files(directory: Path) -> list[Path]:
    found: list[Path] = []
    for folder, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not name.endswith(EXCLUDED)]
        found += [Path(folder, name) for name in names if not name.endswith(EXCLUDED)]
    return sorted(file for file in found if file.is_file())


def _check_directory(directory: Path) -> None:
    if not directory.is_dir():
        raise ValueError(f"lifecycle scripts: {directory} is not a directory; write the path of the scripts' directory")
    files = {file.relative_to(directory).as_posix(): file for file in _files(directory)}
    if cluster_facts.LEGACY_FILE in files:
        raise ValueError(f"lifecycle scripts: {cluster_facts.legacy_file(str(directory))}")
    if CONFIGURATION_FILE in files:
        raise ValueError(
            f"lifecycle scripts: {directory} holds {CONFIGURATION_FILE}, but the cluster renders that file; rename yours"
        )
    for name, file in files.items():
        if name.endswith(".sh"):
            check_script(file)


def _check_steps(steps: Sequence[OwnStep], path: str | Path | None) -> None:
    names = [step.step_name for step in steps]
    if steps and path is not None:
        raise ValueError(
            f"lifecycle scripts: steps ({', '.join(names)}) run beside this library's scripts, and path {str(path)!r} replaces "
            "them; leave path out, or call the steps from your own entry point"
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"lifecycle scripts: two steps are named {', '.join(twice)}; give each its own: OwnStep(name=...)")


def _with_steps(scope: Construct, directory: Path, steps: Sequence[OwnStep]) -> Path:
    """A directory in the assembly with the scripts and the steps. CDK copies or publishes assets from there after this process."""
    stage = Stage.of(scope)
    assert stage is not None  # every construct of an app is in one
    made = Path(stage.asset_outdir) / f"hyperpod-scripts-{scope.node.addr}"
    shutil.rmtree(made, ignore_errors=True)
    for file in _files(directory):
        target = made / file.relative_to(directory)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    (made / STEPS_FOLDER).mkdir()
    for step in steps:
        shutil.copy(step.path, made / STEPS_FOLDER / step.step_name)
    return made


def _version(content: str, configuration: Configuration) -> str:
    """The last part of the key prefix: the hash of scripts and configuration, then every deploy-time value, each once."""
    values: dict[str, int] = {}
    known = json.dumps(_without_tokens(configuration, values), sort_keys=True)
    digest = hashlib.sha256(f"{content}\0{known}".encode()).hexdigest()
    return "/".join([digest[:_HASH_LENGTH], *values])


def _without_tokens(value: Any, values: dict[str, int]) -> Any:
    """The value with a number in place of each token; `values` records the numbers, in order of first appearance."""
    if isinstance(value, Mapping):
        return {str(_without_tokens(key, values)): _without_tokens(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_tokens(item, values) for item in value]
    if isinstance(value, str) and is_token(value):
        return {"token": values.setdefault(value, len(values))}
    return value
