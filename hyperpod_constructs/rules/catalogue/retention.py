"""Rules on what becomes of data when its resource is deleted or replaced."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.rules.effects.stateful import KEEPING, STATEFUL
from hyperpod_constructs.rules.facts.networks import VPC
from hyperpod_constructs.rules.facts.placement import FILE_SYSTEM, groups_of, subnets_of
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import ABSENT, Value, as_str, resource_of

_DELETION = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html"
_REPLACEMENT = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatereplacepolicy.html"
_SNAPSHOT = "Snapshot"

# What a team cannot make again, in a template of a cluster. Secrets, dashboards and logs are not among it.
_DATA = (
    "AWS::APS::Workspace",
    "AWS::EFS::FileSystem",
    FILE_SYSTEM,
    "AWS::FSx::Volume",
    "AWS::KMS::Key",
    "AWS::RDS::DBCluster",
    "AWS::RDS::DBInstance",
    "AWS::S3::Bucket",
)


def _loses(resource: Resource, policy: Value) -> bool:
    """Whether the data surely goes when the resource does, under this policy."""
    kind = STATEFUL[resource.type]
    written = as_str(policy)
    if policy is not ABSENT and written is None:
        return False
    if written in KEEPING or (written == _SNAPSHOT and kind.snapshot) or (policy is ABSENT and kind.snapshot_by_default):
        return False
    return kind.survives(resource) is None


@rule(
    "HP-RET-001",
    Level.WARNING,
    title="data outlives its stack",
    why="CloudFormation deletes what no DeletionPolicy keeps together with the stack, or as soon as it leaves the template",
    fix="write DeletionPolicy: RetainExceptOnCreate and UpdateReplacePolicy: Retain (in the CDK: "
    "RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)",
    allowed="Retain or RetainExceptOnCreate; Snapshot for a type that has snapshots",
    source=_DELETION,
    silences=("HP-RET-002",),
)
def data_outlives_the_stack(model: Model) -> Iterator[Hit]:
    """A stateful resource that is deleted with its stack."""
    for resource in model.resources(*_DATA):
        if resource.exists and _loses(resource, resource.deletion_policy):
            message = f"its deletion loses {STATEFUL[resource.type].lost(resource)}"
            yield Hit(resource, (), message, found=resource.deletion_policy)


@rule(
    "HP-RET-002",
    Level.WARNING,
    title="data outlives its replacement",
    why="a change of what is fixed at creation makes a new, empty resource, and CloudFormation deletes the old one",
    fix="write UpdateReplacePolicy: Retain (in the CDK: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)",
    allowed="Retain; Snapshot for a type that has snapshots",
    source=_REPLACEMENT,
)
def data_outlives_its_replacement(model: Model) -> Iterator[Hit]:
    """A stateful resource that is kept when it is deleted, and not when it is replaced."""
    for resource in model.resources(*_DATA):
        if resource.exists and _loses(resource, resource.update_replace_policy):
            message = f"its replacement loses {STATEFUL[resource.type].lost(resource)}"
            yield Hit(resource, (), message, found=resource.update_replace_policy)


@rule(
    "HP-RET-003",
    Level.WARNING,
    title="a file system that stays keeps its network",
    why="its interfaces stay in the subnet: the deletion of the stack hangs at subnet, group and VPC, and then fails",
    fix="write DeletionPolicy: RetainExceptOnCreate on its subnet, security groups and VPC too, or let the file system go with the "
    "stack",
    allowed="Retain or RetainExceptOnCreate on the subnet, the security groups and the VPC of a retained file system",
    source="https://docs.aws.amazon.com/vpc/latest/userguide/delete-vpc.html",
)
def network_stays_with_file_systems(model: Model) -> Iterator[Hit]:
    """One hit for each retained file system, with all that goes from under it."""
    for file_system in model.resources(FILE_SYSTEM):
        if as_str(file_system.deletion_policy) not in KEEPING:
            continue
        going = [resource for resource in _below(file_system) if _goes(resource)]
        if going:
            names = ", ".join(resource.logical_id for resource in going)
            yield Hit(file_system, (), f"it stays when its stack is deleted, and {names} cannot go from under it")


def _below(file_system: Resource) -> list[Resource]:
    """Subnets, security groups and VPCs in which a file system has its interfaces."""
    subnets = subnets_of(file_system) or ()
    networks = [resource_of(subnet.get("VpcId"), VPC) for subnet in subnets]
    found = [*subnets, *(groups_of(file_system) or ()), *(network for network in networks if network is not None)]
    return list(dict.fromkeys(found))


def _goes(resource: Resource) -> bool:
    policy = resource.deletion_policy
    return policy is ABSENT or as_str(policy) == "Delete"
