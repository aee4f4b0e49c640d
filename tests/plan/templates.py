"""Small templates, and the plan between two of them."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.plan.plan import Plan, PlanRow, plan
from hyperpod_constructs.templates.model import Model

Template = dict[str, Any]


def template(**resources: Any) -> Template:
    return {"Resources": resources}


def resource(kind: str, *, keep: bool = False, **properties: Any) -> dict[str, Any]:
    policies = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"} if keep else {}
    return {"Type": kind, "Properties": properties, **policies}


def lustre(*, keep: bool = False, lustre: dict[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
    configuration = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250, **(lustre or {})}
    given = {"FileSystemType": "LUSTRE", "StorageCapacity": 2400, "SubnetIds": ["subnet-1"], **properties}
    return resource("AWS::FSx::FileSystem", keep=keep, LustreConfiguration=configuration, **given)


def group(name: str = "workers", *, node_type: str = "Compute", count: Any = 4, **members: Any) -> dict[str, Any]:
    slurm = {"NodeType": node_type, **({"PartitionNames": [name]} if node_type == "Compute" else {})}
    given = {"InstanceType": "ml.trn1.32xlarge", "InstanceCount": count, "SlurmConfig": slurm, **members}
    return {"InstanceGroupName": name, **{key: value for key, value in given.items() if value is not None}}


def cluster(*groups: dict[str, Any], **properties: Any) -> dict[str, Any]:
    return resource("AWS::SageMaker::Cluster", InstanceGroups=list(groups), **properties)


def change(old: Template, new: Template) -> Plan:
    return plan(Model.of({"old.json": old}), Model.of({"new.json": new}))


def rows(old: dict[str, Any], new: dict[str, Any]) -> tuple[PlanRow, ...]:
    """The rows of one resource that changes."""
    return change(template(Thing=old), template(Thing=new)).rows


def row(old: dict[str, Any], new: dict[str, Any]) -> PlanRow:
    (found,) = rows(old, new)
    return found
