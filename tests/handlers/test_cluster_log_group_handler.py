"""The log group of a cluster, against the embedded services."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.custom_resources.handlers import resource
from hyperpod_constructs.custom_resources.handlers.cluster_log_group import ClusterLogGroup
from hyperpod_constructs.custom_resources.handlers.errors import OperationError

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefgh1234"
GROUP = "/aws/sagemaker/Clusters/demo/abcdefgh1234"


class Account:
    """A double of SageMaker and CloudWatch Logs, with the calls that change something."""

    def __init__(self, name: str = "demo", *refusals: str) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self._name = name
        self._refusals: Iterator[str] = iter(refusals)

    def describe_cluster(self, **asked: Any) -> dict[str, Any]:
        assert asked == {"ClusterName": ARN}
        return {"ClusterName": self._name} if self._name else {}

    def __getattr__(self, name: str) -> Any:
        def call(**asked: Any) -> dict[str, Any]:
            self.calls.append((name, asked))
            if code := next(self._refusals, ""):
                raise ClientError({"Error": {"Code": code, "Message": code}}, name)
            return {}

        return call


def run(account: Account, kind: str = "Create", **properties: str) -> dict[str, Any]:
    clock = iter(range(1000, 100_000))
    handler = ClusterLogGroup(lambda _: account, lambda: float(next(clock)), lambda _: None)
    event = {
        "RequestType": kind,
        "RequestId": "1",
        "StackId": "stack",
        "LogicalResourceId": "LogGroup",
        "PhysicalResourceId": f"cluster-log-group|{ARN}",
        "ResourceProperties": {"ClusterArn": ARN, "TimeoutSeconds": "300", **properties},
    }
    return resource.on_event(handler, event, clock=lambda: 1000.0)


def test_the_group_is_made_with_retention_and_key() -> None:
    account = Account()
    answer = run(account, RetentionInDays="30", KmsKeyArn="arn:key")
    assert answer == {"PhysicalResourceId": f"cluster-log-group|{ARN}", "Data": {"Name": GROUP}}
    assert account.calls == [
        ("create_log_group", {"logGroupName": GROUP}),
        ("associate_kms_key", {"logGroupName": GROUP, "kmsKeyId": "arn:key"}),
        ("put_retention_policy", {"logGroupName": GROUP, "retentionInDays": 30}),
    ]


def test_a_group_that_nodes_have_made_stays_as_it_is() -> None:
    account = Account("demo", "ResourceAlreadyExistsException")
    assert run(account, kind="Update")["Data"] == {"Name": GROUP}
    assert [name for name, _ in account.calls] == ["create_log_group"]


def test_a_new_policy_is_awaited() -> None:
    account = Account("demo", "AccessDeniedException")
    assert run(account)["Data"] == {"Name": GROUP}
    assert len(account.calls) == 2


def test_a_deletion_calls_nothing() -> None:
    account = Account()
    run(account, kind="Delete")
    assert account.calls == []


@pytest.mark.parametrize(
    ("account", "message"), [(Account("demo", "LimitExceeded"), "LimitExceeded"), (Account(""), "DescribeCluster shows no name")]
)
def test_fails(account: Account, message: str) -> None:
    with pytest.raises(OperationError, match=message):
        run(account)
