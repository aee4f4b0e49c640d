"""Correct requests to the embedded HyperPod, broken by tests, and a client that checks every answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from botocore.model import ServiceModel
from botocore.validate import ParamValidator

from hyperpod_constructs.local.aws_service import Service
from hyperpod_constructs.local.constraints import violations
from hyperpod_constructs.local.hyperpod.service import HyperPod
from hyperpod_constructs.local.models import ServiceModels
from tests.local.moto_cloud import CALLER, Cloud


class Surroundings(Protocol):
    """The surroundings of a cluster."""

    role: str
    subnet: str
    security_group: str


@cache
def model(name: str) -> ServiceModel:
    """botocore's model of a service: the newest that `tools/setup.sh` installs, as the embedded AWS has it behind its endpoint."""
    newest = Path(sys.prefix) / "models/botocore/data"
    return ServiceModels(newest if newest.is_dir() else None).service(name)


def checked(service: Service) -> Callable[..., dict[str, Any]]:
    """`call("Operation", Parameter=…)`; request and answer must fit the service's model."""

    def call(operation: str, **parameters: Any) -> dict[str, Any]:
        shapes = model(service.name).operation_model(operation)
        assert shapes.input_shape is not None
        report = ParamValidator().validate(parameters, shapes.input_shape)
        assert not report.has_errors(), report.generate_report()
        answer = service.call(operation, parameters, CALLER)
        if shapes.output_shape is not None:
            report = ParamValidator().validate(answer, shapes.output_shape)
            assert not report.has_errors(), report.generate_report()
            assert violations(shapes.output_shape, answer) == []
        return answer

    return call


def new_hyperpod(cloud: Cloud) -> Callable[..., dict[str, Any]]:
    """An embedded HyperPod in the account."""
    return checked(HyperPod(cloud.faults, cloud.client, cloud.clock))


def group(cloud: Surroundings, name: str, node_type: str | None, count: int = 1, **members: Any) -> dict[str, Any]:
    """An instance group with scripts; a Compute group is in the partition `gpu`."""
    spec: dict[str, Any] = {
        "InstanceGroupName": name,
        "InstanceCount": count,
        "ExecutionRole": cloud.role,
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/v1/", "OnCreate": "on_create.sh"},
    }
    if "InstanceRequirements" not in members:
        spec["InstanceType"] = "ml.m5.xlarge"
    if node_type is not None:
        spec["SlurmConfig"] = {"NodeType": node_type}
        if node_type == "Compute":
            spec["SlurmConfig"]["PartitionNames"] = ["gpu"]
    return {key: value for key, value in (spec | members).items() if value is not None}


def cluster(cloud: Surroundings, *, continuous: bool = True, workers: int = 2, **members: Any) -> dict[str, Any]:
    """A CreateCluster request: a controller and workers in the account's subnet."""
    request: dict[str, Any] = {
        "ClusterName": "demo",
        "InstanceGroups": [group(cloud, "controller", "Controller"), group(cloud, "workers", "Compute", workers)],
        "Orchestrator": {"Slurm": {}},
        "VpcConfig": {"Subnets": [cloud.subnet], "SecurityGroupIds": [cloud.security_group]},
        "NodeRecovery": "Automatic",
    }
    if continuous:
        request["NodeProvisioningMode"] = "Continuous"
    return {key: value for key, value in (request | members).items() if value is not None}


def new_plan(call: Callable[..., dict[str, Any]], name: str = "one", zone: str = "us-west-2b", **search: Any) -> str:
    """The ARN of a new training plan for one ml.p4d.24xlarge in the zone of the account's subnet, which has started."""
    found = call("SearchTrainingPlanOfferings", **{"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 1} | search)
    offers = found["TrainingPlanOfferings"]
    offer = next(item for item in offers if item["ReservedCapacityOfferings"][0]["AvailabilityZone"] == zone)
    made = call("CreateTrainingPlan", TrainingPlanName=name, TrainingPlanOfferingId=offer["TrainingPlanOfferingId"])
    return str(made["TrainingPlanArn"])
