"""The actions of services, with the types of resources that they work on: `iam_actions.tsv` has the source.

>>> service_actions("s3")["s3:listbucket"].types
{'accesspoint': ('s3', 'accesspoint/'), 'bucket': ('s3', '')}
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows

_OTHERS = "others"

FLAT: frozenset[tuple[str, str]] = frozenset(
    {
        ("codebuild", "project/"),
        ("eks", "cluster/"),
        ("elasticfilesystem", "file-system/"),
        ("firehose", "deliverystream/"),
        ("fsx", "file-system/"),
        ("kms", "key/"),
        ("sagemaker", "cluster/"),
        ("sagemaker", "domain/"),
        ("sns", ""),
        ("sqs", ""),
    }
)
"""Services and beginnings of resources whose names have no slash, and below which nothing lies (as of 2026-11-27).

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

UNLISTED = frozenset({"sns:receive"})
"""Actions in small letters that no list has, and that a service writes itself: the first policy of a topic has this one.

Source: https://docs.aws.amazon.com/sns/latest/dg/sns-access-policy-use-cases.html
"""

WHOLE: Mapping[str, tuple[str, ...]] = {"logs": ("", "log-group")}
"""Services that ask for their actions without resources on all of a kind, and so take a pattern for it beside `*`: its last part
without wildcards. A refused `logs:DescribeLogGroups` names `log-group::log-stream:`, which `log-group:*` covers.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/iam-identity-based-access-control-cwl.html
"""


BY_GUIDES: Mapping[str, str] = {
    "dynamodb:ListStreams": "stream",
    **dict.fromkeys(("states:SendTaskFailure", "states:SendTaskHeartbeat", "states:SendTaskSuccess"), "activity,statemachine"),
}
"""Types of resources on which guides and the CDK allow an action that has none in the reference (as of 2026-11-29).

Sources: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/iam-policy-read-stream-only.html,
https://docs.aws.amazon.com/step-functions/latest/dg/concept-create-iam-advanced.html and
https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.aws_stepfunctions.StateMachine.html#grantwbrtaskwbrresponseidentity
"""


class Together(NamedTuple):
    """A task of several calls.

    :param own: actions that are of no use outside of the task.
    :param others: further actions that it takes.
    :param unless: actions of other tasks that begin in the same way.
    :param allowed_by: the type of resources whose own policy may allow the rest, with the place of the policy.
    """

    words: str
    own: tuple[str, ...]
    others: tuple[str, ...]
    unless: tuple[str, ...] = ()
    allowed_by: tuple[str, str] = ("", "")


TOGETHER = (
    Together(
        "push an image",
        ("ecr:InitiateLayerUpload", "ecr:UploadLayerPart", "ecr:CompleteLayerUpload"),
        ("ecr:BatchCheckLayerAvailability", "ecr:GetAuthorizationToken", "ecr:PutImage"),
    ),
    Together("pull an image", ("ecr:GetDownloadUrlForLayer",), ("ecr:BatchGetImage", "ecr:GetAuthorizationToken")),
    Together(
        "pull an image",
        ("ecr:GetAuthorizationToken",),
        ("ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
        unless=("ecr:GetDownloadUrlForLayer", "ecr:InitiateLayerUpload", "ecr:PutImage", "ecr:UploadLayerPart"),
        allowed_by=("AWS::ECR::Repository", "RepositoryPolicyText"),
    ),
    Together("query metrics", ("aps:GetLabels",), ("aps:QueryMetrics",)),
    Together("query metrics", ("aps:GetSeries",), ("aps:QueryMetrics",)),
)
"""Tasks whose actions are allowed together (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-push-iam.html,
https://docs.aws.amazon.com/AmazonECR/latest/userguide/repository-policy-examples.html and
https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-and-IAM.html
"""


ON_SEVERAL: Mapping[str, tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]] = {
    "ec2:RunInstances": (
        "start an instance",
        (
            ("an image", ("arn:aws:ec2:?::image/?",)),
            ("an instance", ("arn:aws:ec2:?:?:instance/?",)),
            ("a network interface", ("arn:aws:ec2:?:?:network-interface/?",)),
            ("a subnet", ("arn:aws:ec2:?:?:subnet/?",)),
            ("a volume", ("arn:aws:ec2:?:?:volume/?",)),
        ),
    ),
    "ssm:SendCommand": (
        "send a command",
        (
            ("a document", ("arn:aws:ssm:?:?:document/?", "arn:aws:ssm:?::document/?")),
            ("an instance", ("arn:aws:ec2:?:?:instance/?", "arn:aws:ssm:?:?:managed-instance/?")),
        ),
    ),
    "ssm:StartSession": (
        "start a session",
        (
            (
                "a target, such as an instance or the cluster",
                (
                    *("arn:aws:ec2:?:?:instance/?", "arn:aws:ssm:?:?:managed-instance/?", "arn:aws:ecs:?:?:task/?"),
                    "arn:aws:sagemaker:?:?:cluster/?",
                ),
            ),
        ),
    ),
}
"""Actions that AWS asks for several resources in one call: the task, and the resources in words, each with their
ARNs, of which one is enough (as of 2026-11-29).

Sources: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ExamplePolicies_EC2.html#iam-example-runinstances,
https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-restrict-access-quickstart.html,
https://docs.aws.amazon.com/systems-manager/latest/userguide/run-command-setting-up.html,
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-run-jobs-slurm-access-nodes.html and
https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
"""


class Action(NamedTuple):
    """An action of a service.

    :param name: as AWS writes it, such as `s3:ListBucket`.
    :param types: the types of its resources, with the service of their ARNs and the beginning of the last field; none for an action
        that knows no resources.
    """

    name: str
    types: Mapping[str, tuple[str, str]]


def is_service(prefix: str) -> bool:
    """Whether a service has actions with this prefix."""
    found = _services()
    return prefix in found or prefix in found[_OTHERS][1].split()


def action_prefixes() -> tuple[str, ...]:
    """The prefixes of all actions of which the names are known."""
    return tuple(one for one in _services() if one != _OTHERS)


@cache
def service_actions(prefix: str) -> Mapping[str, Action] | None:
    """The actions of a service by their lowercase names; `None` if they are not known."""
    found = _services().get(prefix) if prefix != _OTHERS else None
    if found is None:
        return None
    begins = {kind: _form(begin, prefix) for kind, _, begin in (pair.rpartition("=") for pair in found[0].split())}
    actions: dict[str, Action] = {}
    of_types: dict[str, Mapping[str, tuple[str, str]]] = {}
    for word in found[1].split():
        name, _, listed = word.partition(":")
        types = listed or BY_GUIDES.get(f"{prefix}:{name}", "")
        if types not in of_types:
            of_types[types] = {kind: begins.get(kind, (prefix, "")) for kind in types.split(",") if kind}
        actions[f"{prefix}:{name}".lower()] = Action(f"{prefix}:{name}", of_types[types])
    return actions


def _form(text: str, service: str) -> tuple[str, str]:
    owner, found, begin = text.partition("@")
    return (owner, begin) if found else (service, text)


@cache
def _services() -> Mapping[str, tuple[str, str]]:
    return {service: (types, actions) for service, types, actions in rows("iam_actions.tsv")}
