"""Limits of the service, and names that do not last."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.rules import mistakes
from hyperpod_constructs.rules.facts.clusters import GROUPS, RESTRICTED_GROUPS, clusters
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.mistakes import MOST_GROUPS, Mistake
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Template
from hyperpod_constructs.rules.template.values import Text, Value, as_items, as_str, parts_of

_MOST_ON_EKS = 20
_DOCUMENT, _PARAMETER = "AWS::SSM::Document", "AWS::SSM::Parameter"
_TARGET = "sagemaker-cluster:"
# A target is sagemaker-cluster:<cluster id>_<group>-<instance id>; \0 stands for what only the deployment knows.
_FIXED_TARGET = re.compile(rf"{_TARGET}[^\s_]{{1,100}}_[A-Za-z0-9\0-]{{0,100}}-(i-[0-9a-f]{{8,}}|\0)")
_FIX = "ask for the node when the command is run: aws sagemaker list-cluster-nodes --instance-group-name-contains GROUP"


@rule(
    "HP-LIM-001",
    Level.ERROR,
    title=f"a cluster has at most {MOST_GROUPS} instance groups",
    why="the service refuses the request",
    fix="merge groups of one kind of node, or make a second cluster",
    allowed=f"1 to {MOST_GROUPS}",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateCluster.html",
    silences=("HP-LIM-002",),
)
def groups_are_not_too_many(model: Model) -> Iterator[Hit]:
    for cluster in clusters(model):
        for key in (GROUPS, RESTRICTED_GROUPS):
            listed = [group for group in cluster.groups if group.path[0] == key]
            if len(as_items(cluster.get(key)) or ()) > MOST_GROUPS:
                name = next((group.name for group in listed if group.path[1] == MOST_GROUPS), None)
                yield cluster.hit(mistakes.group_beyond_limit(name), key, MOST_GROUPS)


@rule(
    "HP-LIM-002",
    Level.WARNING,
    title=f"a cluster on EKS has at most {_MOST_ON_EKS} instance groups",
    why=f"the API takes {MOST_GROUPS}, but the guide promises {_MOST_ON_EKS} on EKS; a quota can make the deployment fail",
    fix="merge groups of one kind of node, or ask AWS for the quota before the deployment",
    allowed=f"1 to {_MOST_ON_EKS}",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-create-cluster.html",
)
def groups_on_eks_are_not_too_many(model: Model) -> Iterator[Hit]:
    for cluster in clusters(model):
        count = sum(len(as_items(cluster.get(key)) or ()) for key in (GROUPS, RESTRICTED_GROUPS))
        if cluster.on_eks and count > _MOST_ON_EKS:
            mistake = Mistake(f"{count} instance groups on EKS", "merge groups of one kind of node, or ask for the quota first")
            yield Hit(cluster.resource, (GROUPS,), mistake.message, found=count, fix=mistake.fix)


@rule(
    "HP-LIM-004",
    Level.ERROR,
    title="names of clusters are unique in an account and region",
    why="the service refuses the second cluster of a name, and its stack rolls back",
    fix="give each cluster a name of its own, or none: then CloudFormation makes one",
    allowed="a name that no other cluster has",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateCluster.html",
)
def clusters_have_names_of_their_own(model: Model) -> Iterator[Hit]:
    seen: dict[tuple[str, str, str], str] = {}
    for cluster in clusters(model):
        name, place = as_str(cluster.get("ClusterName")), _place(cluster.resource.template)
        first = None if name is None else seen.setdefault((name, *place), cluster.resource.logical_id)
        if first is not None and first != cluster.resource.logical_id and cluster.resource.exists:
            mistake = Mistake(f"clusters {first} and {cluster.resource.logical_id} are both named {name!r}", "rename one")
            yield cluster.hit(mistake, "ClusterName")


def _place(template: Template) -> tuple[str, str]:
    """Account and region; where they are not known, each template is a place of its own."""
    account, region = template.environment.account, template.environment.region
    return (account, region) if account and region else (template.name, "")


@rule(
    "HP-LIM-003",
    Level.WARNING,
    title="no output, document or parameter names a node by its instance id",
    why="a faulty node is replaced by one with another id, and the command that was printed connects to nothing",
    fix=_FIX,
    allowed="a command that finds the node when it is run",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-run-jobs-slurm-access-nodes.html",
)
def nodes_are_not_named_by_id(model: Model) -> Iterator[Hit]:
    for template in model.templates if clusters(model) else ():
        nearest = sorted(clusters(model), key=lambda cluster: cluster.resource.template is not template)[0]
        for name, value in _outputs(template):
            if _is_fixed(value):
                text = f"output {name} names a node by its instance id, which changes when the node is replaced"
                yield Hit(nearest.resource, (), text, found=value)
    for resource in model.resources(_DOCUMENT, _PARAMETER):
        key = "Content" if resource.type == _DOCUMENT else "Value"
        found = next((text for text in _texts(resource.get(key)) if _is_fixed(text)), None)
        if found is not None:
            text = f"{resource.logical_id} names a node by its instance id, which changes when the node is replaced"
            yield Hit(resource, (key,), text, found=found)


def _outputs(template: Template) -> Iterator[tuple[str, Value]]:
    declared = template.raw.get("Outputs")
    for name in declared if isinstance(declared, dict) else ():
        yield name, template.output(name)


def _texts(value: Value) -> Iterator[Value]:
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, tuple):
            waiting.extend(current)
        elif isinstance(current, Mapping):
            waiting.extend(current.values())
        elif isinstance(current, Text) or as_str(current) is not None:
            yield current


def _is_fixed(value: Value) -> bool:
    """Whether a text holds a target of Session Manager with the id of an instance, literal or from the deployment."""
    if not isinstance(value, str | Text):
        return False
    written = "".join(part if isinstance(part, str) else "\0" for part in parts_of(value))
    if _TARGET not in written:
        return False
    return _FIXED_TARGET.search(written) is not None
