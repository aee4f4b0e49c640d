"""The handler of a cluster's fields before a service that fails, is at work, or answers late."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from hyperpod_constructs.custom_resources.handlers.cluster_fields import ClusterFields
from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.resource import is_complete, on_event

from .conftest import ARN, START, Clock
from .fake_aws import FakeAws, refused

OTHER = "arn:aws:sagemaker:us-west-2:123456789012:cluster/zyxwvutsrqpo"
DEFAULT = 86_400
FIELDS = {"AutoPatchConfig": {"IdleWaitWindowInSeconds": "7200"}}
GROUPS = [{"Name": "workers", "Kind": "InstanceGroups", "Fields": FIELDS}]


class Service:
    """Clusters with one group of workers, by ARN."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.groups = {arn: self._group(arn) for arn in (ARN, OTHER)}
        self.status = {ARN: "InService", OTHER: "InService"}
        self.aws = FakeAws({"DescribeCluster": self._describe, "UpdateCluster": self.update})

    def _group(self, arn: str) -> dict[str, Any]:
        return {
            "InstanceGroupName": "workers",
            "InstanceType": "ml.m5.xlarge",
            "TargetCount": 2,
            "ExecutionRole": "arn:aws:iam::123456789012:role/nodes",
            "AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "IdleWaitWindowInSeconds": DEFAULT if arn == ARN else 7200},
        }

    def _describe(self, **asked: Any) -> Mapping[str, Any]:
        arn = asked["ClusterName"]
        return {
            "ClusterArn": arn,
            "ClusterName": "demo",
            "ClusterStatus": self.status[arn],
            "InstanceGroups": [copy.deepcopy(self.groups[arn])],
        }

    def update(self, **asked: Any) -> Mapping[str, Any]:
        [group] = asked["InstanceGroups"]
        self.groups[asked["ClusterName"]].pop("AutoPatchConfig")
        self.groups[asked["ClusterName"]] |= {name: value for name, value in group.items() if name == "AutoPatchConfig"}
        return {"ClusterArn": asked["ClusterName"]}

    def window(self, arn: str = ARN) -> int:
        return int(self.groups[arn]["AutoPatchConfig"]["IdleWaitWindowInSeconds"])

    def event(self, kind: str, *, old: Mapping[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
        wanted = {"ClusterArn": ARN, "Groups": GROUPS, "TimeoutSeconds": "3600", **properties}
        return {
            "RequestType": kind,
            "RequestId": "request-1",
            "LogicalResourceId": "Fields",
            "PhysicalResourceId": f"fields|{ARN}",
            "ResourceProperties": wanted,
            **({} if old is None else {"OldResourceProperties": {**wanted, **old}}),
        }

    @property
    def handler(self) -> ClusterFields:
        return ClusterFields(self.aws, self.clock, self.clock.sleep)

    def start(self, event: dict[str, Any]) -> dict[str, Any]:
        return {**event, **on_event(self.handler, event, self.clock)}

    def look(self, event: dict[str, Any]) -> dict[str, Any]:
        return is_complete(self.handler, event)


@pytest.fixture
def service() -> Service:
    return Service()


def test_another_cluster_is_another_resource(service: Service) -> None:
    event = service.start({**service.event("Update"), "PhysicalResourceId": f"fields|{OTHER}"})
    assert (event["Replaces"], event["PhysicalResourceId"]) == (True, f"fields|{ARN}")
    assert service.window() == 7200


def test_a_rollback_resets_the_cluster_of_a_stopped_renaming(service: Service) -> None:
    service.start(service.event("Update", old={"ClusterArn": OTHER}))
    assert (service.window(), service.window(OTHER)) == (7200, DEFAULT)


def test_a_rollback_goes_on_without_the_permission_to_reset(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    def describe(**asked: Any) -> Mapping[str, Any]:
        if asked["ClusterName"] == OTHER:
            raise refused("DescribeCluster")
        return service._describe(**asked)

    service.aws.answers["DescribeCluster"] = describe
    service.start(service.event("Update", old={"ClusterArn": OTHER}))
    assert service.window() == 7200
    assert f"the fields of {OTHER} may stay: DescribeCluster: AccessDenied" in caplog.text


@pytest.mark.parametrize("member", ["ClusterStatus", "InstanceGroups"])
def test_an_answer_without_status_or_groups_changes_nothing(service: Service, member: str) -> None:
    def describe(**asked: Any) -> Mapping[str, Any]:
        return {name: value for name, value in service._describe(**asked).items() if name != member}

    service.aws.answers["DescribeCluster"] = describe
    with pytest.raises(OperationError, match=f"DescribeCluster: the answer has no {member}; nothing was changed"):
        service.start(service.event("Create"))
    assert service.aws.calls["UpdateCluster"] == 0


def test_an_unknown_kind_of_groups_is_refused(service: Service) -> None:
    groups = [{**GROUPS[0], "Kind": "Nodes"}]
    with pytest.raises(OperationError, match="is 'Nodes'; allowed: InstanceGroups or RestrictedInstanceGroups"):
        service.start(service.event("Create", Groups=groups))


def test_an_update_that_meets_another_one_is_asked_for_later(service: Service) -> None:
    service.aws.answers["UpdateCluster"] = refused("UpdateCluster", "ConflictException")
    event = service.start(service.event("Create"))
    assert service.look(event) == {"IsComplete": False}
    service.aws.answers["UpdateCluster"] = service.update
    assert service.look(event) == {"IsComplete": False}
    assert service.look(event)["IsComplete"] is True
    assert service.window() == 7200


def test_a_creation_without_an_answer_resets_the_fields(service: Service) -> None:
    def update(**asked: Any) -> Mapping[str, Any]:
        answer = service.update(**asked)
        if service.window() == 7200:
            raise ReadTimeoutError(endpoint_url="https://x")
        return answer

    service.aws.answers["UpdateCluster"] = update
    with pytest.raises(OperationError, match="ReadTimeoutError") as failure:
        service.start(service.event("Create"))
    assert service.window() == DEFAULT
    assert "not removed" not in str(failure.value)


def test_a_failed_creation_names_the_fields_that_it_could_not_reset(service: Service) -> None:
    def update(**asked: Any) -> Mapping[str, Any]:
        service.update(**asked)
        service.status[ARN] = "Updating"
        raise refused("UpdateCluster", "ValidationException", "no")

    service.aws.answers["UpdateCluster"] = update
    with pytest.raises(OperationError, match="ValidationException: no; not removed: the fields: the cluster is Updating"):
        service.start(service.event("Create"))
    assert service.clock.now < START + 180


def test_a_deletion_with_properties_that_cannot_be_read_leaves_the_fields(service: Service) -> None:
    event = service.event("Delete")
    del event["ResourceProperties"]["ClusterArn"]
    assert service.look(service.start(event)) == {"IsComplete": True}
    assert service.aws.requests == []


def test_a_deletion_of_an_unknown_id_does_nothing(service: Service) -> None:
    event = {**service.event("Delete"), "PhysicalResourceId": "AWSCDK::made-up"}
    assert service.look(service.start(event)) == {"IsComplete": True}
    assert service.aws.requests == []


def test_a_deletion_after_the_cluster_is_a_success(service: Service) -> None:
    service.aws.answers["DescribeCluster"] = refused("DescribeCluster", "ResourceNotFound")
    assert service.look(service.start(service.event("Delete"))) == {"IsComplete": True}


def test_an_error_of_a_deletion_is_the_cause(service: Service) -> None:
    service.aws.answers["DescribeCluster"] = refused("DescribeCluster", "ValidationException", "wrong")
    with pytest.raises(OperationError, match="DescribeCluster: ValidationException: wrong"):
        service.start(service.event("Delete"))


def test_a_deletion_waits_and_at_the_deadline_tells_what_remains(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    service.groups[ARN]["AutoPatchConfig"]["IdleWaitWindowInSeconds"] = 7200
    service.aws.answers["UpdateCluster"] = refused("UpdateCluster", "ConflictException")
    event = service.start(service.event("Delete"))
    assert service.look(event) == {"IsComplete": False}
    service.clock.now = START + 3600
    assert service.look(event) == {"IsComplete": True}
    assert "left as they are: workers: AutoPatchConfig" in caplog.text


def test_a_deletion_waits_for_a_cluster_at_work(service: Service) -> None:
    service.groups[ARN]["AutoPatchConfig"]["IdleWaitWindowInSeconds"] = 7200
    service.status[ARN] = "Updating"
    event = service.start(service.event("Delete"))
    assert service.look(event) == {"IsComplete": False}
    service.status[ARN] = "InService"
    assert service.look(event) == {"IsComplete": False}
    assert service.look(event) == {"IsComplete": True}
    assert service.window() == DEFAULT


def test_a_deletion_takes_a_whole_configuration_with_a_strategy_of_ours(service: Service) -> None:
    ours = {"PatchingStrategy": "DrainFirst", "DrainPolicy": {"OnDrainTimeout": "Force"}}
    groups = [{**GROUPS[0], "Fields": {"AutoPatchConfig": ours}}]
    service.groups[ARN]["AutoPatchConfig"] = ours
    event = service.start(service.event("Delete", Groups=groups))
    assert service.look(event) == {"IsComplete": True}
    assert "AutoPatchConfig" not in service.groups[ARN]
