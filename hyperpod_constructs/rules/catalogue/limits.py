"""Limits of the service, and names that do not last."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from hyperpod_constructs.analysis.clusters import GROUPS, RESTRICTED_GROUPS, Cluster, clusters
from hyperpod_constructs.analysis.same_names import identity, same_names, shown_name
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts.updates import ONCE
from hyperpod_constructs.rules.finding import Hit, Level, hit
from hyperpod_constructs.rules.rule import rule, warning
from hyperpod_constructs.templates.model import Model, Resource, Template
from hyperpod_constructs.templates.values import Reference, Text, Value, as_items, leaves, parts_of

_DOCUMENT, _PARAMETER = "AWS::SSM::Document", "AWS::SSM::Parameter"
_TARGET = "sagemaker-cluster:"
# A target is sagemaker-cluster:<cluster id>_<group>-<instance id>; \0 stands for an unknown part.
_FIXED_TARGET = re.compile(rf"{_TARGET}[^\s_]{{1,100}}_[A-Za-z0-9\0-]{{0,100}}-(i-[0-9a-f]{{8,}}|\0)")


def _listed(cluster: Cluster, key: str) -> int:
    return len(as_items(cluster.get(key)) or ())


@warning(
    "HP-LIM-002",
    on=clusters,
    title=f"a cluster on EKS has at most {cluster_facts.MOST_GROUPS_ON_EKS} instance groups",
    why=f"the API takes {cluster_facts.MOST_GROUPS}, but the guide promises {cluster_facts.MOST_GROUPS_ON_EKS} on EKS; "
    "a quota can make the deployment fail",
    fix="merge groups of one kind of node, or ask AWS for the quota before the deployment",
    allowed=f"1 to {cluster_facts.MOST_GROUPS_ON_EKS}",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-create-cluster.html",
)
def groups_on_eks_are_not_too_many(cluster: Cluster) -> Hit | None:
    count = _listed(cluster, GROUPS) + _listed(cluster, RESTRICTED_GROUPS)
    if not cluster.on_eks or count <= cluster_facts.MOST_GROUPS_ON_EKS:
        return None
    return Hit(cluster.resource, (GROUPS,), f"{count} instance groups on EKS", found=count)


@warning(
    "HP-LIM-003",
    title="no output, document or parameter names a node by its instance id",
    why="a faulty node is replaced by one with another id, and the printed command connects to nothing",
    fix="ask for the node when the command runs: aws sagemaker list-cluster-nodes --instance-group-name-contains GROUP",
    allowed="a command that finds the node when it runs",
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
        found = next(filter(_is_fixed, leaves(resource.get(key))), None)
        if found is not None:
            text = f"{resource.logical_id} names a node by its instance id, which changes when the node is replaced"
            yield Hit(resource, (key,), text, found=found)


def _outputs(template: Template) -> Iterator[tuple[str, Value]]:
    declared = template.raw.get("Outputs")
    for name in declared if isinstance(declared, dict) else ():
        yield name, template.output(name)


def _is_fixed(value: Value) -> bool:
    """Whether a text holds a target of Session Manager with the id of an instance, literal or from the deployment."""
    if not isinstance(value, str | Text):
        return False
    written = "".join(part if isinstance(part, str) else "\0" for part in parts_of(value))
    return _TARGET in written and _FIXED_TARGET.search(written) is not None


_unique = partial(
    rule,
    fix="keep one with the settings of both, as one access entry for a role; where you choose the name, give one of them another",
    allowed="one resource of a name",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html",
)


@_unique(
    "HP-LIM-004",
    Level.ERROR,
    title="names are unique: of clusters in an account and region, of add-ons and quotas in their cluster, of routes in a table",
    why="the service refuses the second resource of a name, and its stack rolls back",
)
def names_are_unique(model: Model) -> Iterator[Hit]:
    return (_hit(first, second) for first, second, sure in same_names(model) if sure)


@_unique(
    "HP-LIM-005",
    Level.WARNING,
    title="stacks that may be in one account and region have no names in common",
    why="the service refuses the second resource of a name, unless the stacks are deployed to different accounts or regions",
)
def stacks_share_no_names(model: Model) -> Iterator[Hit]:
    return (_hit(first, second) for first, second, sure in same_names(model) if not sure)


def _hit(first: Resource, second: Resource) -> Hit:
    where = f"{first.template.name}:" if first.template is not second.template else ""
    text = f"{where}{first.logical_id} and {second.logical_id} are both {second.type} {shown_name(second)}"
    if second.type in ONCE:
        return hit(second, text)
    parts = [tuple(path.split("/")) for path in identity(second)]
    doubts = ((one, part) for one in (second, first) for part in parts if not isinstance(one.get(*part), Reference))
    return hit(second, text, *parts[-1], doubts=doubts)
