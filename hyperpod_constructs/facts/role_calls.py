"""What services do as the roles of resources: `role_calls.tsv` has date and sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.property_schemas import Schema, opened

PASS_ROLE, PASSED_TO = "iam:PassRole", "iam:passedtoservice"
"""The action by which a caller hands a role to a service, and the key with that service.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html (as of 2026-11-27)
"""

AUTHORIZE, AUTHORIZED = "ec2:CreateNetworkInterfacePermission", "ec2:authorizedservice"
"""The action by which a service takes an interface in a VPC of the owner of its role, and the key with that service.

Source: https://docs.aws.amazon.com/codebuild/latest/userguide/auth-and-access-control-iam-identity-based-access-control.html
(as of 2026-11-30)
"""

OUTSIDE = frozenset(
    (
        "AWS::CloudTrail::Trail",
        "AWS::EC2::FlowLog",
        "AWS::Events::Rule",
        "AWS::KinesisFirehose::DeliveryStream",
        "AWS::Logs::SubscriptionFilter",
        "AWS::S3::Bucket",
        "AWS::SageMaker::MlflowTrackingServer",
        "AWS::Scheduler::Schedule",
        "AWS::StepFunctions::StateMachine",
    )
)
"""Types whose services call from networks of AWS, and so past no endpoint of the template. This follows from their APIs: none takes
a network for its calls, that of a tracking server neither.

Sources: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html#condition-keys-sourcevpce and
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateMlflowTrackingServer.html (as of 2026-11-27)
"""


class RoleCall(NamedTuple):
    """A call as the role of a resource.

    :param role: the way to the role.
    :param target: the way to what is called.
    :param on: the resource of the actions, in the words of the table.
    :param actions: all of them are taken; of names with `|` between them one is enough.
    :param tested: whether AWS tries it when the resource is made.
    :param chosen: whether a role that may do no part of it has not chosen it.
    :param place: where the schema `when` is met; always without one.
    """

    role: str
    target: str
    on: str
    actions: tuple[str, ...]
    words: str
    tested: bool
    chosen: bool
    place: str
    when: Schema | None
    hint: str
    source: str


@cache
def role_calls() -> Mapping[str, tuple[RoleCall, ...]]:
    """The calls by the type of the resource."""
    found: dict[str, tuple[RoleCall, ...]] = {}
    for type_, role, target, on, actions, words, marks, when, hint, source in rows("role_calls.tsv"):
        place, _, schema = when.rpartition(" ")
        condition = opened(json.loads(schema)) if schema else None
        marked = ("tested" in marks, "chosen" in marks)
        one = RoleCall(role, target, on, tuple(actions.split()), words, *marked, place, condition, hint, source)
        found[type_] = (*found.get(type_, ()), one)
    return found
