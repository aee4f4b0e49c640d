from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.cli.stacks import deployed, first_failure, latest_event
from tests.cli.conftest import StubbedTarget
from tests.cli.samples import answer_stack, event, refuse_stack

NAME = "HyperPod-Cluster"


def test_deployed_stack_tells_what_is_kept(target: StubbedTarget) -> None:
    answer_stack(target, NAME, [("Data", "AWS::S3::Bucket", "data-1"), ("Role", "AWS::IAM::Role", "role-1")], kept=("Data",))
    stack = deployed(target, NAME)
    assert stack is not None
    assert [resource.physical_id for resource in stack.kept] == ["data-1"]
    assert stack.template_of(stack.kept)["Resources"].keys() == {"Data"}
    target.assert_all_asked()


def test_a_template_in_yaml_tells_what_is_kept_too(target: StubbedTarget) -> None:
    answer_stack(target, NAME, [("Data", "AWS::S3::Bucket", "data-1")], template="Resources: {Data: {DeletionPolicy: Retain}}")
    stack = deployed(target, NAME)
    assert stack is not None
    assert [resource.physical_id for resource in stack.kept] == ["data-1"]


def test_stack_that_does_not_exist_is_none(target: StubbedTarget) -> None:
    refuse_stack(target, NAME)
    assert deployed(target, NAME) is None


def test_fails_when_cloudformation_refuses(target: StubbedTarget) -> None:
    target.refuse("cloudformation", "describe_stacks", "AccessDenied", "that role does not exist")
    with pytest.raises(ClientError, match="AccessDenied"):
        deployed(target, NAME)


def test_first_failure_is_the_oldest_since_the_mark_and_no_cancellation(target: StubbedTarget) -> None:
    newest_first = [
        event("5", "Gate", "CREATE_FAILED", "a consequence"),
        event("4", "Cluster", "CREATE_FAILED", "no capacity for ml.trn1.32xlarge"),
        event("3", "Role", "CREATE_FAILED", "Resource creation cancelled"),
        event("2", "Cluster", "CREATE_IN_PROGRESS"),
        event("1", "Other", "CREATE_FAILED", "of an earlier deployment"),
    ]
    target.answer("cloudformation", "describe_stack_events", {"StackEvents": newest_first}, StackName=NAME)
    failure = first_failure(target, NAME, since="1")
    assert failure is not None
    assert str(failure) == "Cluster (AWS::SageMaker::Cluster) CREATE_FAILED: no capacity for ml.trn1.32xlarge"


def test_no_event_since_the_mark_is_no_failure(target: StubbedTarget) -> None:
    events = {"StackEvents": [event("1", "Other", "CREATE_FAILED", "of an earlier deployment")]}
    target.answer("cloudformation", "describe_stack_events", events, StackName=NAME)
    target.answer("cloudformation", "describe_stack_events", events, StackName=NAME)
    assert first_failure(target, NAME, latest_event(target, NAME)) is None


def test_stack_without_events_has_no_mark_and_no_failure(target: StubbedTarget) -> None:
    refuse_stack(target, NAME, "describe_stack_events")
    refuse_stack(target, NAME, "describe_stack_events")
    assert latest_event(target, NAME) is None
    assert first_failure(target, NAME, None) is None
