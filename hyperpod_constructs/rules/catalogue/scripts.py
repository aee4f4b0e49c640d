"""Lifecycle scripts: their entry points, their bucket, and their upload."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from hyperpod_constructs.analysis.clusters import Cluster, Group, Orchestration, clusters, given, groups
from hyperpod_constructs.analysis.entry_points import Lacking, lacking, late_writers
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.uploads import bucket_name_prefix, uploads_of
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts.node_permissions import READABLE_BUCKETS
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import as_str, parts_of

_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterLifeCycleConfig.html"
_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_REFUSED = f"{_GUIDE}smcluster-getting-started-slurm-cli.html#smcluster-getting-started-slurm-cli-validation-errors"
_MIGRATION = f"{_GUIDE}sagemaker-hyperpod-slurm-api-config-migration.html"
_URI = ("LifeCycleConfig", "SourceS3Uri")
_FILES = (".sh", ".py", ".json", ".zip", ".gz", ".tgz")
_group_error = partial(error, on=groups, once=True, source=_API)


def _entry_points(group: Group) -> list[bool | None]:
    return [given(group.get("LifeCycleConfig", key)) for key in ("OnCreate", "OnInitComplete")]


@_group_error(
    "HP-SCR-001",
    title="a group has OnCreate or OnInitComplete, not both",
    why='the service answers "OnCreate and OnInitComplete in LifeCycleConfig are mutually exclusive": with OnCreate the script '
    "sets everything up, with OnInitComplete the image does",
    fix="on Slurm keep OnInitComplete unless the script sets up and starts the scheduler itself, on EKS keep OnCreate",
    allowed="OnCreate, or OnInitComplete",
    source=_REFUSED,
)
def one_entry_point(group: Group) -> Hit | None:
    if not all(_entry_points(group)):
        return None
    message = f"instance group {group.label!r} has both OnCreate and OnInitComplete"
    return hit(group, message, "LifeCycleConfig", allowed="OnCreate" if group.cluster.on_eks else None)


@_group_error(
    "HP-SCR-002",
    title="LifeCycleConfig has SourceS3Uri and an entry point",
    why='the service answers "LifeCycleConfig for instance group is incomplete"',
    fix="write SourceS3Uri with OnInitComplete or OnCreate (on EKS with OnCreate), or on Slurm leave LifeCycleConfig out",
    allowed="SourceS3Uri with one of OnCreate and OnInitComplete",
    source=_REFUSED,
)
def scripts_are_complete(group: Group) -> Hit | None:
    lacking = ["SourceS3Uri"] if given(group.get(*_URI)) is False else []
    lacking += ["entry point"] if _entry_points(group) == [False, False] else []
    if not lacking or not given(group.get("LifeCycleConfig")):
        return None
    message = f"the lifecycle configuration of instance group {group.label!r} has no {' and no '.join(lacking)}"
    return hit(group, message, "LifeCycleConfig", allowed="SourceS3Uri with OnCreate" if group.cluster.on_eks else None)


@error(
    "HP-SCR-003",
    on=clusters,
    title=f"no {cluster_facts.LEGACY_FILE} beside Slurm configuration through the API",
    why='the service answers "The LifeCycleConfig cannot include both a SLURM Orchestrator Config and a '
    'provisioning_parameters.json file simultaneously"',
    fix=cluster_facts.legacy_file.fix,
    allowed=f"scripts without {cluster_facts.LEGACY_FILE}, or a cluster without Orchestrator.Slurm and SlurmConfig",
    source=f"{_MIGRATION}#sagemaker-hyperpod-slurm-api-config-migration-ts-both-configs",
)
def configuration_is_in_one_place(cluster: Cluster) -> Hit | None:
    model = cluster.resource.template.model
    for group in cluster.plain_groups if cluster.orchestration is Orchestration.SLURM else ():
        for upload in uploads_of(model, group.get(*_URI)):
            if upload.holds(cluster_facts.LEGACY_FILE):
                return hit(group, cluster_facts.legacy_file(upload.resource.logical_id), *_URI)
    return None


@warning(
    "HP-SCR-004",
    on=clusters,
    title="scripts are in a bucket that the managed policy of HyperPod lets nodes read",
    why="AmazonSageMakerClusterInstanceRolePolicy reads buckets named sagemaker-* only; from another one nodes fetch no scripts, "
    "and the whole cluster rolls back",
    fix="name the bucket sagemaker-..., or make sure that the role may list it and get its objects",
    allowed="s3://sagemaker-..., or a role of these templates that may read the bucket",
    source=_API,
)
def scripts_are_readable_by_default(cluster: Cluster) -> Iterator[Hit]:
    first = {bucket_name_prefix(group.get(*_URI)): group for group in reversed(cluster.groups)}
    for prefix, group in first.items():
        if (
            prefix
            and resource_of(group.get("ExecutionRole"), ROLE) is None
            and not prefix.startswith(READABLE_BUCKETS[: len(prefix)])
        ):
            text = (
                f"the scripts of instance group {group.label!r} are in a bucket whose name does not begin with {READABLE_BUCKETS}"
            )
            yield hit(group, text, *_URI)


@warning(
    "HP-SCR-005",
    on=clusters,
    title="the cluster awaits the upload of its scripts",
    why="CloudFormation makes both at once: nodes that start before the upload ends find no scripts, and the cluster rolls back",
    fix="make the cluster depend on the upload (DependsOn)",
    allowed="a cluster that depends on the upload",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-dependson.html",
)
def uploads_are_awaited(cluster: Cluster) -> Iterator[Hit]:
    late = {upload: group for group in reversed(cluster.groups) for upload in _late(cluster, group)}
    for upload, group in late.items():
        text = f"the cluster does not await {upload.logical_id}, which uploads the scripts of instance group {group.label!r}"
        yield hit(group, text, *_URI)


def _late(cluster: Cluster, group: Group) -> Iterator[Resource]:
    """What uploads the scripts of a group, and is not surely made before the cluster."""
    found = (one.resource for one in uploads_of(cluster.resource.template.model, group.get(*_URI)))
    yield from (one for one in found if not awaits(cluster.resource, one) and not awaits(one, cluster.resource))
    yield from late_writers(group)


@_group_error(
    "HP-SCR-006",
    title="SourceS3Uri is the prefix of the scripts, and the entry point a file below it",
    why="nodes copy what is below the prefix and start the entry point in it: they find no script, and the cluster rolls back",
    fix="write the address of the folder in SourceS3Uri, and the name of the script in OnInitComplete or OnCreate",
    allowed="s3://BUCKET/PREFIX, and a name such as on_create.sh",
)
def scripts_are_below_a_prefix(group: Group) -> Iterator[Hit]:
    end = parts_of(group.get(*_URI))[-1]
    if isinstance(end, str) and end.endswith(_FILES):
        yield hit(group, f"SourceS3Uri of instance group {group.label!r} is the address of a file", *_URI)
    for key in ("OnCreate", "OnInitComplete"):
        name = as_str(group.get("LifeCycleConfig", key)) or ""
        if name.startswith(("s3://", "https://", "/")):
            text = f"{key} of instance group {group.label!r} is {name!r}, not a file below SourceS3Uri"
            yield hit(group, text, "LifeCycleConfig", key)


@_group_error(
    "HP-SCR-007",
    title="the entry point, and the files that scripts start and open, are uploaded",
    why="nodes do not find the script that they start, and the cluster rolls back",
    fix="write the name of an uploaded file and the place of the upload, or upload the script",
    allowed="a file of the upload",
)
def entry_points_are_uploaded(group: Group) -> Iterator[Hit]:
    return (_lacking(group, one) for one in lacking(group))


def _lacking(group: Group, one: Lacking) -> Hit:
    """A script that is not there, at the text that names it."""
    if one.at is None:
        return hit(group, one.message, *one.path)
    beside = ((group.resource, (*group.path, *_URI)),)
    return replace(hit(one.at, one.message, *one.path, doubts=beside), judged=group.resource)
