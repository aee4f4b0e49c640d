"""Sessions that are allowed on instances of EC2, where the templates have nodes of HyperPod alone: their target is the cluster.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-run-jobs-slurm-access-nodes.html
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.arns import Arn
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.policy_document import Statement, statements_of
from hyperpod_constructs.facts.policies import DOCUMENTS
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.documents import NESTED_STACK
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import Value, as_str

_START, _ANY = "ssm:StartSession", "instance/*"
_CLUSTER, _DOCUMENT = "AWS::SageMaker::Cluster", "AWS::SSM::Document"
_WITH_INSTANCES = (
    "AWS::AutoScaling::AutoScalingGroup",
    "AWS::Batch::ComputeEnvironment",
    "AWS::EC2::EC2Fleet",
    "AWS::EC2::Instance",
    "AWS::EC2::LaunchTemplate",
    "AWS::EC2::SpotFleet",
    "AWS::EKS::Nodegroup",
    "AWS::ImageBuilder::InfrastructureConfiguration",
)
"""Types by which a template may have instances of EC2."""


def mistaken_targets(resource: Resource, statement: Statement) -> Iterator[str]:
    """What is wrong with the targets of sessions by a document of the model, in words."""
    model = resource.template.model
    if not model.complete or not model.resources(_CLUSTER) or _may_have_instances(model) or not _starts(statement):
        return
    targets = [one for one in statement.resources if not _is_document(one)]
    alone = [one.raw for one in _statements(resource) if one.speaks_of(_START) is not False] == [statement.raw]
    own = _names_own(statement, model) or _is_for_nodes(resource, statement, targets)
    if own and alone and targets and all(map(_is_instance, targets)):
        yield f"{_START} on instances of EC2: the templates have none, and the target of a node is the ARN of its cluster"


def _may_have_instances(model: Model) -> bool:
    """Whether a template has instances of EC2, or a nested stack is not known."""
    return bool(model.resources(*_WITH_INSTANCES)) or any(one.nested is None for one in model.resources(NESTED_STACK))


def _names_own(statement: Statement, model: Model) -> bool:
    """Whether a statement names a document of the model, by a reference or by its name."""
    named = model.resources(_DOCUMENT)
    names = {f"document/{name}" for one in named if (name := as_str(one.get("Name"))) is not None}
    return any(one in references(statement.resources) for one in named) or any(
        _fields(one)[5] in names for one in statement.resources
    )


def _is_for_nodes(resource: Resource, statement: Statement, targets: list[Value]) -> bool:
    """Whether a policy is for people of a cluster of the model, and names no certain instances beside it."""
    clusters = (one for other in _statements(resource) for one in references(other.resources) if one.type == _CLUSTER)
    return any(clusters) and not statement.conditional and all(_fields(one)[5] == _ANY for one in targets)


def _starts(statement: Statement) -> bool:
    named = statement.effect == "Allow" and not statement.excludes_resources and not statement.excludes_actions
    return named and _START.lower() in [str(one).lower() for one in statement.actions]


def _statements(resource: Resource) -> Iterator[Statement]:
    """All statements of a resource."""
    for path, _ in DOCUMENTS.get(resource.type, ()):
        for _, value in place_in(resource.get(), path):
            yield from statements_of(value) or ()


def _is_instance(pattern: Value) -> bool:
    return _fields(pattern)[2] == "ec2" and _fields(pattern)[5].startswith("instance/")


def _is_document(pattern: Value) -> bool:
    return _fields(pattern)[2] == "ssm" and _fields(pattern)[5].startswith("document/")


def _fields(pattern: Value) -> list[str]:
    """The fields of an ARN; empty ones for another text."""
    text = "".join(part if isinstance(part, str) else "?" for part in Arn(pattern).spelled)
    found = text.split(":", 5)
    return found if len(found) == 6 else [""] * 6
