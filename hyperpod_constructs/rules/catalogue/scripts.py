"""Lifecycle scripts: their entry points, their bucket, and their upload."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.rules import mistakes
from hyperpod_constructs.rules.facts.clusters import Cluster, Orchestration, alike_groups_once, clusters, given, groups
from hyperpod_constructs.rules.facts.iam import ROLE
from hyperpod_constructs.rules.facts.uploads import bucket_name_prefix, uploads_of
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.mistakes import Mistake
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model
from hyperpod_constructs.rules.template.values import resource_of

_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterLifeCycleConfig.html"
_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_REFUSED = f"{_GUIDE}smcluster-getting-started-slurm-cli.html#smcluster-getting-started-slurm-cli-validation-errors"
_MIGRATION = f"{_GUIDE}sagemaker-hyperpod-slurm-api-config-migration.html"
_READABLE = "sagemaker-"


@rule(
    "HP-SCR-001",
    Level.ERROR,
    title="a group has OnCreate or OnInitComplete, not both",
    why='the service answers "OnCreate and OnInitComplete in LifeCycleConfig are mutually exclusive": with OnCreate the script '
    "sets everything up, with OnInitComplete the image does",
    fix="on Slurm keep OnInitComplete unless the script sets up and starts the scheduler itself, on EKS keep OnCreate",
    allowed="OnCreate, or OnInitComplete",
    source=_REFUSED,
)
@alike_groups_once
def one_entry_point(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        if given(group.get("LifeCycleConfig", "OnCreate")) and given(group.get("LifeCycleConfig", "OnInitComplete")):
            mistake = Mistake(
                f"instance group {group.label!r} has both OnCreate and OnInitComplete",
                "keep OnCreate"
                if cluster.on_eks
                else "keep OnInitComplete unless the script sets up and starts the scheduler itself",
            )
            yield group.hit(mistake, "LifeCycleConfig")


@rule(
    "HP-SCR-002",
    Level.ERROR,
    title="LifeCycleConfig has SourceS3Uri and an entry point",
    why='the service answers "LifeCycleConfig for instance group is incomplete"',
    fix="write SourceS3Uri with OnInitComplete or OnCreate, or on Slurm leave LifeCycleConfig out",
    allowed="SourceS3Uri with one of OnCreate and OnInitComplete",
    source=_REFUSED,
)
@alike_groups_once
def scripts_are_complete(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        if not given(group.get("LifeCycleConfig")):
            continue
        fix = "write SourceS3Uri with OnInitComplete or OnCreate, or leave LifeCycleConfig out"
        entries = [given(group.get("LifeCycleConfig", key)) for key in ("OnCreate", "OnInitComplete")]
        lacking = ["SourceS3Uri"] if given(group.get("LifeCycleConfig", "SourceS3Uri")) is False else []
        lacking += ["entry point"] if entries == [False, False] else []
        if lacking:
            mistake = Mistake(
                f"the lifecycle configuration of instance group {group.label!r} has no {' and no '.join(lacking)}",
                "write SourceS3Uri with OnCreate" if cluster.on_eks else fix,
            )
            yield group.hit(mistake, "LifeCycleConfig")


@rule(
    "HP-SCR-003",
    Level.ERROR,
    title=f"no {mistakes.LEGACY_FILE} beside Slurm configuration through the API",
    why='the service answers "The LifeCycleConfig cannot include both a SLURM Orchestrator Config and a '
    'provisioning_parameters.json file simultaneously"',
    fix=f"delete {mistakes.LEGACY_FILE} from the scripts, or leave Orchestrator.Slurm and every SlurmConfig out",
    allowed=f"scripts without {mistakes.LEGACY_FILE}",
    source=f"{_MIGRATION}#sagemaker-hyperpod-slurm-api-config-migration-ts-both-configs",
)
def configuration_is_in_one_place(model: Model) -> Iterator[Hit]:
    for cluster in clusters(model):
        if cluster.orchestration is not Orchestration.SLURM:
            continue
        for group in cluster.plain_groups:
            uri = group.get("LifeCycleConfig", "SourceS3Uri")
            holding = next((upload for upload in uploads_of(model, uri) if upload.holds(mistakes.LEGACY_FILE)), None)
            if holding is not None:
                yield group.hit(mistakes.legacy_file(holding.resource.logical_id), "LifeCycleConfig", "SourceS3Uri")
                break


@rule(
    "HP-SCR-004",
    Level.WARNING,
    title="scripts are in a bucket that the managed policy of HyperPod lets nodes read",
    why="AmazonSageMakerClusterInstanceRolePolicy reads buckets named sagemaker-* only; from another one nodes fetch no scripts, "
    "and the whole cluster rolls back",
    fix="name the bucket sagemaker-..., or make sure that the role may list it and get its objects",
    allowed="s3://sagemaker-..., or a role of these templates that may read the bucket",
    source=_API,
)
def scripts_are_readable_by_default(model: Model) -> Iterator[Hit]:
    seen: set[tuple[Cluster, str]] = set()
    for cluster, group in groups(model):
        prefix = bucket_name_prefix(group.get("LifeCycleConfig", "SourceS3Uri"))
        known = resource_of(group.get("ExecutionRole"), ROLE) is not None or (cluster, prefix) in seen
        seen.add((cluster, prefix))
        if prefix and not known and not prefix.startswith(_READABLE[: len(prefix)]):
            mistake = Mistake(
                f"the scripts of instance group {group.label!r} are in a bucket whose name does not begin with {_READABLE}",
                "name it so, or make sure that the role may list the bucket and get its objects",
            )
            yield group.hit(mistake, "LifeCycleConfig", "SourceS3Uri")


@rule(
    "HP-SCR-005",
    Level.WARNING,
    title="the cluster awaits the upload of its scripts",
    why="CloudFormation makes both at once: nodes that start before the upload ends find no scripts, and the cluster rolls back",
    fix="make the cluster depend on the upload (DependsOn)",
    allowed="a cluster that depends on the upload",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-dependson.html",
)
def uploads_are_awaited(model: Model) -> Iterator[Hit]:
    for cluster in clusters(model):
        late = {
            upload.resource: group
            for group in reversed(cluster.groups)
            for upload in uploads_of(model, group.get("LifeCycleConfig", "SourceS3Uri"))
            if not cluster.resource.awaits(upload.resource) and not upload.resource.awaits(cluster.resource)
        }
        for upload, group in late.items():
            mistake = Mistake(
                f"the cluster does not await {upload.logical_id}, which uploads the scripts of instance group {group.label!r}",
                f"add DependsOn: {upload.logical_id}",
            )
            yield group.hit(mistake, "LifeCycleConfig", "SourceS3Uri")
