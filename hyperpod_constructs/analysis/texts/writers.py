"""Who may write a metric of one's own, or what else roles allow: whether the templates have everybody who could.

What runs programs that no template has, such as nodes and functions from S3, may write if its role lets it. Agents of CloudWatch in
pods have namespaces of their own. Templates without a cluster may be a part of a deployment.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/iam-cw-condition-keys-namespace.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.function_code import FUNCTION
from hyperpod_constructs.analysis.iam import ROLE, aws_managed_name, role_facts, statements_of_aws
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.policy_document import Call, Layer, layer_of
from hyperpod_constructs.analysis.texts.reading import spelled
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, as_items, leaves

PUT = "cloudwatch:PutMetricData"
_OPERATORS = ("AmazonSageMakerHyperPodInferenceAccess",)
_AGENTS = ("CloudWatchAgentAdminPolicy", "CloudWatchAgentServerPolicy")
"""Policies for software of AWS, which writes into namespaces of its own; agents do so in pods."""
_PODS = ("pods.eks.amazonaws.com",)
_OWN_WORK = (
    *("backup.amazonaws.com", "eks.amazonaws.com", "grafana.amazonaws.com", "monitoring.rds.amazonaws.com"),
    "vpc-flow-logs.amazonaws.com",
)
"""Services that do with a role what the services themselves are for, and nothing that somebody writes for them."""
_PROFILE = "AWS::IAM::InstanceProfile"
_PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "AWS::Batch::JobDefinition": ("ContainerProperties/JobRoleArn",),
    "AWS::CodeBuild::Project": ("ServiceRole",),
    "AWS::EC2::Instance": ("IamInstanceProfile",),
    "AWS::EC2::LaunchTemplate": ("LaunchTemplateData/IamInstanceProfile/Arn", "LaunchTemplateData/IamInstanceProfile/Name"),
    "AWS::ECS::TaskDefinition": ("TaskRoleArn",),
    "AWS::EKS::Nodegroup": ("NodeRole",),
    "AWS::EKS::PodIdentityAssociation": ("RoleArn",),
    FUNCTION: ("Role",),
    "AWS::SageMaker::Cluster": ("InstanceGroups/*/ExecutionRole", "RestrictedInstanceGroups/*/ExecutionRole"),
}
"""What runs programs, with the places of its role."""
_READERS = re.compile(r"AWS::(CloudWatch|IAM)::|AWS::Logs::MetricFilter")
"""Types that name a namespace and write nothing into it by themselves; filters are known anyway."""


def are_known(model: Model, space: str) -> bool:
    """Whether nobody writes into a namespace but the filters of the templates, and the functions whose code they have."""
    return model.cached((are_known, space), lambda: bool(clusters(model)) and model.complete and not any(_others(model, space)))


def has_code(function: Resource) -> bool:
    """Whether the code of a function stands in its template."""
    return spelled(function.get("Code", "ZipFile")) is not None


def _others(model: Model, space: str) -> Iterator[bool]:
    """Whether something else may write into a namespace, of each thing that could."""
    call = Call(PUT, None, {"cloudwatch:namespace": space})
    yield from (role is None or may_call(role, call) for role in roles_elsewhere(model))
    words = re.compile(rf"""\bnamespace["'\s:=,-]+{re.escape(space)}(?![\w/.-])""", re.IGNORECASE)
    for one in model.resources():
        if not _READERS.match(one.type) and not (one.type == FUNCTION and has_code(one)):
            texts = [spelled(leaf) or "" for leaf in leaves(one.get())]
            yield any(words.search(text) or (one.type == FUNCTION and text == space) for text in texts)


def roles_elsewhere(model: Model, known: Iterable[Resource] = ()) -> Iterator[Resource | None]:
    """The roles of all but the functions whose code the templates have; `None` for a role that is not known.

    :param known: roles of others whose calls are known.
    """
    read = {*known}
    for type_, paths in _PROGRAMS.items():
        for one in model.resources(type_):
            for _, value in (place for path in paths for place in place_in(one.get(), path)):
                profile = resource_of(value, _PROFILE)
                named = (as_items(profile.get("Roles")) or (ABSENT,))[0] if profile is not None else value
                role = resource_of(named, ROLE)
                if type_ == FUNCTION and has_code(one):
                    read.update(() if role is None else (role,))
                else:
                    yield role
    yield from (role for role in model.resources(ROLE) if role not in read and not _is_only_of(role, _OWN_WORK))


def may_call(role: Resource, call: Call) -> bool:
    """Whether programs with a role may make a call; true where that is not known."""
    arns = as_items(role.get("ManagedPolicyArns")) if role.get("ManagedPolicyArns") is not ABSENT else ()
    elsewhere = [aws_managed_name(one) for one in arns or () if resource_of(one) is None]
    agents = (*_OPERATORS, *(_AGENTS if _is_only_of(role, _PODS) else ()))
    statements = {one: statements_of_aws(one) for one in elsewhere if one is not None and one not in agents}
    if arns is None or None in elsewhere or not all(statements.values()):
        return True
    layers = (*(one.layer for one in role_facts(role).policies), *map(Layer, statements.values()))
    return any(one.allows(call) is not False for one in layers)


def _is_only_of(role: Resource, services: tuple[str, ...]) -> bool:
    """Whether only some services assume a role."""
    trust = layer_of(role.get("AssumeRolePolicyDocument"))
    given = [one.principals(kind) for one in trust.statements for kind in ("Service", "AWS", "Federated")]
    names = [name for one in given for name in (one if one is not None else (UNKNOWN,))]
    return trust.complete and bool(names) and all(one in services for one in names)
