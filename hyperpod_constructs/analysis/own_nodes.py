"""Whether the nodes of a Kubernetes cluster are those that the templates have, with the labels and taints that stand there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperpod_constructs.analysis.build_commands import builds
from hyperpod_constructs.analysis.kubernetes import EksCluster, installs
from hyperpod_constructs.analysis.pod_places import Place
from hyperpod_constructs.analysis.shell_words import plain
from hyperpod_constructs.templates.values import ABSENT, shown

_BRINGING = ("autoscaler", "karpenter")
"""What is in the names of programs that bring nodes."""
_MARKING = ("label", "taint", "patch", "edit")
"""Commands of kubectl that may give nodes labels and taints."""
_POLICY = (*_BRINGING, "'ec2:*'", "ec2:createfleet", "ec2:runinstances")
_TELLING: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("AWS::IAM::ManagedPolicy", "PolicyDocument"): _POLICY,
    ("AWS::IAM::Policy", "PolicyDocument"): _POLICY,
    ("AWS::IAM::Role", "Policies"): _POLICY,
    ("AWS::Lambda::Function", "Code", "ZipFile"): (*_BRINGING, "patch_node", "/api/v1/nodes", "kubectl", "helm"),
}
"""What in policies and in the code of functions tells of other nodes, by type and property."""


def has_own_nodes(eks: EksCluster, places: Sequence[Place]) -> bool:
    """Whether nothing of a model tells of other nodes than those of its groups, or of other labels."""
    model = eks.resource.template.model
    known_charts = all(installs(chart, "hyperpod") for chart in eks.charts)
    if not model.complete or not known_charts or eks.resource.exists is not True or any(map(_grows, places)):
        return False
    for _, run in builds(model):
        for one in run.called:
            words = [plain(word).lower() for word in one.words]
            if any(name in word for word in words for name in _BRINGING):
                return False
            if one.name == "kubectl" and not {*_MARKING}.isdisjoint(words):
                return False
    texts = (
        (str(shown(one.get(*path))).lower(), words) for (type_, *path), words in _TELLING.items() for one in model.resources(type_)
    )
    return not any(word in text for text, words in texts for word in words)


def _grows(place: Place) -> bool:
    """Whether Karpenter may bring further nodes to a group of HyperPod."""
    return place.resource.get("AutoScaling", "Mode") not in (ABSENT, "Disable")
