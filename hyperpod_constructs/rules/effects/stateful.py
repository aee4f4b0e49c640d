"""What holds data, how much, and what becomes of it when its resource goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hyperpod_constructs.rules.template.model import Resource
from hyperpod_constructs.rules.template.values import ABSENT, as_bool, as_float, as_int, as_items, as_str, at, resource_of

KEEPING = frozenset({"Retain", "RetainExceptOnCreate"})
"""Policies with which CloudFormation leaves a resource alone: it stays, out of the stack."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stateful:
    """A type of resource that holds data.

    lost: what is gone with it, and how much, for a person.
    survives: says why the data outlives the resource after all, or None; asked when no policy keeps it.
    snapshot: CloudFormation can make a snapshot first (policy Snapshot).
    snapshot_by_default: it does so without a policy.
    """

    lost: Callable[[Resource], str]
    survives: Callable[[Resource], str | None] = lambda resource: None
    snapshot: bool = False
    snapshot_by_default: bool = False


def _amount(resource: Resource, name: str) -> str:
    size = as_float(resource.get(name))
    return "an unknown amount" if size is None else f"up to {size:g} GiB"


def _file_system(resource: Resource) -> str:
    kind = as_str(resource.get("FileSystemType")) or "FSx"
    exported = " that no association exported to S3" if kind == "LUSTRE" else ""
    return f"all files of the {kind} file system{exported}, {_amount(resource, 'StorageCapacity')}; no final backup is taken"


def _key(resource: Resource) -> str:
    days = as_int(resource.get("PendingWindowInDays")) or 30
    return f"everything that the key encrypts; its deletion can be cancelled for {days} days"


def _is_emptied(resource: Resource) -> bool:
    """CDK marks a bucket that its custom resource empties before the deletion."""
    tags = as_items(resource.get("Tags")) or ()
    return any(at(tag, "Key") == "aws-cdk:auto-delete-objects" and as_bool(at(tag, "Value")) for tag in tags)


def _bucket_survives(resource: Resource) -> str | None:
    if _is_emptied(resource):
        return None
    return "CloudFormation does not delete a bucket that holds objects: they stay, out of the stack, at your cost"


def _repository_survives(resource: Resource) -> str | None:
    if as_bool(resource.get("EmptyOnDelete")) is True:
        return None
    return "a repository that holds images is not deleted: they stay, out of the stack, at your cost"


def _log_survives(resource: Resource) -> str | None:
    """The log of a function is no data of anybody; it goes with its function."""
    for function in resource.template.resources:
        if function.type == "AWS::Lambda::Function" and resource_of(function.get("LoggingConfig", "LogGroup")) is resource:
            return f"it holds only what {function.logical_id} logged"
    return None


def _protected(resource: Resource) -> str | None:
    if as_bool(resource.get("DeletionProtection")) is not True:
        return None
    return "its deletion fails, because DeletionProtection is on: it stays, at your cost"


def _database_survives(resource: Resource) -> str | None:
    if resource.get("DBClusterIdentifier") is not ABSENT:
        return "the data is the database cluster's, which stays"
    return _protected(resource)


def _said(text: str) -> Callable[[Resource], str]:
    return lambda resource: text


STATEFUL: Mapping[str, Stateful] = {
    "AWS::APS::Workspace": Stateful(lost=_said("all metrics of the workspace, up to 150 days")),
    "AWS::DocDB::DBCluster": Stateful(lost=_said("all databases of the cluster"), survives=_protected, snapshot=True),
    "AWS::DynamoDB::GlobalTable": Stateful(lost=_said("all items of the table")),
    "AWS::DynamoDB::Table": Stateful(lost=_said("all items of the table"), snapshot=True),
    "AWS::EC2::Volume": Stateful(lost=lambda found: f"the volume's data, {_amount(found, 'Size')}", snapshot=True),
    "AWS::ECR::Repository": Stateful(lost=_said("all images of the repository"), survives=_repository_survives),
    "AWS::EFS::FileSystem": Stateful(lost=_said("all files of the EFS file system")),
    "AWS::FSx::FileSystem": Stateful(lost=_file_system),
    "AWS::FSx::Volume": Stateful(lost=_said("all files of the volume")),
    "AWS::Grafana::Workspace": Stateful(lost=_said("dashboards, alerts and users of the workspace")),
    "AWS::KMS::Key": Stateful(lost=_key),
    "AWS::Logs::LogGroup": Stateful(lost=_said("all events of the log group"), survives=_log_survives),
    "AWS::Neptune::DBCluster": Stateful(lost=_said("all graphs of the cluster"), survives=_protected, snapshot=True),
    "AWS::OpenSearchService::Domain": Stateful(lost=_said("all indices of the domain")),
    "AWS::RDS::DBCluster": Stateful(
        lost=_said("all databases of the cluster"), survives=_protected, snapshot=True, snapshot_by_default=True
    ),
    "AWS::RDS::DBInstance": Stateful(
        lost=lambda found: f"all databases of the instance, {_amount(found, 'AllocatedStorage')}",
        survives=_database_survives,
        snapshot=True,
        snapshot_by_default=True,
    ),
    "AWS::Redshift::Cluster": Stateful(lost=_said("all databases of the cluster"), snapshot=True),
    "AWS::S3::Bucket": Stateful(lost=_said("all objects of the bucket, with their versions"), survives=_bucket_survives),
    "AWS::SageMaker::MlflowTrackingServer": Stateful(lost=_said("all runs with their metrics; artifacts stay in S3")),
    "AWS::SageMaker::NotebookInstance": Stateful(lost=_said("all files on the volume of the notebook")),
    "AWS::SecretsManager::Secret": Stateful(lost=_said("the secret's value, with all versions")),
}

SERVING: Mapping[str, str] = {
    "AWS::EC2::Instance": "it is terminated, with the volumes that go with it",
    "AWS::EC2::NatGateway": "nodes behind it lose the internet",
    "AWS::EC2::Subnet": "what lives in it must be gone first",
    "AWS::EC2::VPC": "what lives in it must be gone first",
    "AWS::EC2::VPCEndpoint": "what uses it reaches the service by another way, or not at all",
    "AWS::EKS::Cluster": "the control plane goes with every object in it: deployments, services, configuration",
    "AWS::SageMaker::Cluster": "every node goes, with its volumes, Slurm's queue, and the accounting records on the controller",
}
"""Types whose removal stops something that people use, and what."""
