"""Names in dimensions of metrics: a cluster of EKS is asked for by its own name, and not by that of the HyperPod cluster on it.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/aws-services-cloudwatch-metrics.html
"""

from __future__ import annotations

from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.facts.metric_names import DIMENSION_VALUES, KINDS
from hyperpod_constructs.facts.updates import naming
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT


def name_key(resource: Resource) -> str:
    """The property with the name of a resource; empty if it has none, or several."""
    keys = naming(resource.type)
    return keys[0] if len(keys) == 1 and "/" not in keys[0] else ""


def of_another_kind(namespace: str, dimension: str, given: str | None, model: Model | None) -> tuple[str, str] | None:
    """What has the name that a dimension gives, if that is only something of another kind, and the names that are meant.

    All that the dimension may mean have other names; nobody gives a resource without a name this one.
    """
    kind = KINDS.get((namespace, dimension))
    types = (kind,) if kind else tuple(DIMENSION_VALUES.get(dimension, ()))
    if model is None or not given or not types or not model.complete:
        return None
    meant = model.resources(*types)
    names = [known(value) for one in meant if (value := one.get(name_key(one))) is not ABSENT]
    other = next((one for one in _alike(model, types) if known(one.get(name_key(one))) == given), None)
    if other is None or not meant or None in names or given in names:
        return None
    return f"the name of {other.logical_id}, an {other.type}", f"the name of {listed(one.logical_id for one in meant)}"


def _alike(model: Model, types: tuple[str, ...]) -> list[Resource]:
    """The resources with names whose types end as one of some types, and are none of them: clusters of another service."""
    ends = {one.rpartition("::")[2] for one in types}
    return [one for one in model.resources() if one.type not in types and one.type.rpartition("::")[2] in ends and name_key(one)]
