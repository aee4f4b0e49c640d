"""The data that a resource holds: how much a deletion loses, and what saves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hyperpod_constructs.facts.data_holders import DATA_HOLDERS
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_bool, as_float, as_int, as_items, as_str, at


def lost(resource: Resource) -> str:
    """The data that the deletion of a resource that holds data loses, and how much, in words."""
    detail = _DETAIL.get(resource.type)
    return f"{DATA_HOLDERS[resource.type].lost}{'' if detail is None else detail(resource)}"


def survives(resource: Resource) -> str | None:
    """The reason why the data outlives its resource without a policy that keeps it; `None` if it does not."""
    reason = _SURVIVES.get(resource.type)
    return None if reason is None else reason(resource)


def is_given_up(resource: Resource) -> bool:
    """Whether its type promises nothing for long, as scratch file systems do, and its author wrote that it may be deleted.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
    """
    scratch = (as_str(resource.get("LustreConfiguration", "DeploymentType")) or "").startswith("SCRATCH_")
    return scratch and "Delete" in (as_str(resource.deletion_policy), as_str(resource.update_replace_policy))


def _amount(resource: Resource, name: str) -> str:
    size = as_float(resource.get(name))
    return "an unknown amount" if size is None else f"up to {size:g} GiB"


def _file_system(resource: Resource) -> str:
    kept = _KEPT.get(as_str(resource.get("FileSystemType")) or "", "")
    return f", {_amount(resource, 'StorageCapacity')}{kept}"


def _key(resource: Resource) -> str:
    days = as_int(resource.get("PendingWindowInDays")) or 30
    return f"; its deletion can be cancelled for {days} days"


def _is_emptied(resource: Resource) -> bool:
    """Whether CDK's custom resource empties the bucket before its deletion; CDK marks such a bucket by a tag."""
    tags = as_items(resource.get("Tags")) or ()
    return any(at(tag, "Key") == "aws-cdk:auto-delete-objects" and as_bool(at(tag, "Value")) for tag in tags)


def _bucket_survives(resource: Resource) -> str | None:
    if _is_emptied(resource):
        return None
    return "CloudFormation does not delete a bucket with objects: it stays in the account, outside the stack, at your cost"


def _repository_survives(resource: Resource) -> str | None:
    if as_bool(resource.get("EmptyOnDelete")) is True:
        return None
    return "CloudFormation does not delete a repository with images: it stays in the account, outside the stack, at your cost"


def _log_survives(resource: Resource) -> str | None:
    """The log of a function belongs to its function and holds no data of its own."""
    for function in resource.template.resources:
        if function.type == "AWS::Lambda::Function" and resource_of(function.get("LoggingConfig", "LogGroup")) is resource:
            return f"it holds only the log of {function.logical_id}"
    return None


def _protected_survives(resource: Resource) -> str | None:
    if as_bool(resource.get("DeletionProtection")) is not True:
        return None
    return "its deletion fails, because DeletionProtection is on: it stays in the account, at your cost"


def _database_survives(resource: Resource) -> str | None:
    if resource.get("DBClusterIdentifier") is not ABSENT:
        return "the data belongs to the database cluster, which stays"
    if resource.get("SourceDBInstanceIdentifier") is not ABSENT:
        return "it is a replica, and its source stays"
    return _protected_survives(resource)


_KEPT: Mapping[str, str] = {
    "LUSTRE": ", except files exported to S3; no final backup is taken",
    "OPENZFS": "; FSx takes a final backup, from which only a new file system is made",
    "WINDOWS": "; FSx takes a final backup, from which only a new file system is made",
}
"""What is left of a file system that is deleted as CloudFormation does it, without a word on backups.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_DeleteFileSystem.html (as of 2026-11-29)
"""

_DETAIL: Mapping[str, Callable[[Resource], str]] = {
    "AWS::EC2::Volume": lambda found: f", {_amount(found, 'Size')}",
    "AWS::FSx::FileSystem": _file_system,
    "AWS::KMS::Key": _key,
    "AWS::RDS::DBInstance": lambda found: f", {_amount(found, 'AllocatedStorage')}",
}
"""Details of the loss that the properties of a resource tell, appended to the words for its type."""

_SURVIVES: Mapping[str, Callable[[Resource], str | None]] = {
    "AWS::DocDB::DBCluster": _protected_survives,
    "AWS::ECR::Repository": _repository_survives,
    "AWS::Logs::LogGroup": _log_survives,
    "AWS::Neptune::DBCluster": _protected_survives,
    "AWS::RDS::DBCluster": _protected_survives,
    "AWS::RDS::DBInstance": _database_survives,
    "AWS::S3::Bucket": _bucket_survives,
}


SERVING: Mapping[str, str] = {
    "AWS::EC2::Instance": "it is terminated, with the volumes marked DeleteOnTermination",
    "AWS::EC2::NatGateway": "nodes behind it lose the internet",
    "AWS::EC2::Subnet": "the deletion fails unless it is empty",
    "AWS::EC2::VPC": "the deletion fails unless it is empty",
    "AWS::EC2::VPCEndpoint": "its users reach the service by another route, or not at all",
    "AWS::EKS::Cluster": "the control plane is deleted with every object in it: deployments, services, configuration",
    "AWS::SageMaker::Cluster": "every node goes, with its volumes, Slurm's queue and the accounting records on the controller",
}
"""Types without data whose removal still interrupts users, and how."""
