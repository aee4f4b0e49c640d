"""What operations are on, and what a state machine does that waits for its task: `api_calls.tsv` has date and sources."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows

RULES_OF_STATES = "arn:aws:events:{place}:rule/"
RULE_ACTIONS = ("events:PutTargets", "events:PutRule", "events:DescribeRule")
"""What a state machine does with the rule of EventBridge by which it waits for a task.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/service-integration-iam-templates.html
"""


CONTEXT_OF: Mapping[str, tuple[str, str]] = {
    "cloudwatch:PutMetricData": ("cloudwatch:namespace", "namespace"),
    "s3:PutObject": ("s3:x-amz-server-side-encryption", "serversideencryption"),
}
"""The key of conditions that a parameter of an action gives, with that parameter in small letters.

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/iam-cw-condition-keys-namespace.html and
https://docs.aws.amazon.com/AmazonS3/latest/userguide/amazon-s3-policy-keys.html (as of 2026-11-28)
"""

LACKED = ("s3:x-amz-server-side-encryption",)
"""Keys that a call lacks which has not their parameter: an object is then encrypted as its bucket says.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html (as of 2026-11-28)
"""


PIPELINE_STEPS: Mapping[str, str] = {
    "Model": "sagemaker:CreateModel",
    "Processing": "sagemaker:CreateProcessingJob",
    "Training": "sagemaker:CreateTrainingJob",
    "Transform": "sagemaker:CreateTransformJob",
    "Tuning": "sagemaker:CreateHyperParameterTuningJob",
}
"""What a pipeline of SageMaker calls for a step, by the type of the step, with the arguments of that.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/build-and-manage-access.html (as of 2026-11-27)
"""


class Waiting(NamedTuple):
    """What a state machine does that waits for its task.

    :param parameter: the parameter with the target, unless the actions are on everything or anything.
    :param on: the resource of the actions, in the words of `role_calls.tsv`.
    :param rule: the rule of EventBridge that tells of the end; none if the state machine asks for it.
    """

    parameter: str
    on: str
    actions: tuple[str, ...]
    rule: str
    source: str


class Job(NamedTuple):
    """What a service does as the role that an operation hands to it.

    :param role: the way to the role in the parameters.
    :param target: the way to what the action is on.
    :param on: the resource of the action, in the words of `role_calls.tsv`.
    """

    role: str
    target: str
    on: str
    action: str
    words: str


@cache
def jobs() -> Mapping[str, tuple[Job, ...]]:
    """By the operation that starts a job: what the job does."""
    found: dict[str, tuple[Job, ...]] = {}
    for kind, operation, *cells in rows("api_calls.tsv"):
        if kind == "job":
            found[operation] = (*found.get(operation, ()), Job(*cells))
    return found


@cache
def targets() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """By action: the parameters with targets, each with the resource in the words of `role_calls.tsv`."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for kind, *cells in rows("api_calls.tsv"):
        if kind == "call":
            action, parameter, on = cells
            found[action] = (*found.get(action, ()), (parameter, on))
    return found


@cache
def passes() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """By action: the ways to the roles that it hands over, each with the service that takes them."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for kind, *cells in rows("api_calls.tsv"):
        if kind == "pass":
            action, way, service = cells
            found[action] = (*found.get(action, ()), (way, service))
    return found


@cache
def waits() -> Mapping[str, Waiting]:
    """By integration of a state machine, such as `batch:submitJob`."""
    found = {}
    for kind, name, *cells in rows("api_calls.tsv"):
        if kind == "sync":
            parameter, on, actions, rule, source = cells
            found[name] = Waiting(parameter, on, tuple(actions.split()), rule, source)
    return found
