"""Names of Kubernetes in what installs charts by Helm: in a custom resource, and in the environment of the function behind it.

Sources: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ and
https://helm.sh/docs/chart_template_guide/builtin_objects/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.custom_resources import makers
from hyperpod_constructs.analysis.kubernetes import is_foreign
from hyperpod_constructs.analysis.schema.patterns import matches
from hyperpod_constructs.facts.kubernetes import NAMESPACE, RELEASE, SERVICE_ACCOUNT
from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import Value, as_str, shown

_HELM = "helm"
_ENVIRONMENT = ("Environment", "Variables")
_KINDS: Mapping[str, tuple[re.Pattern[str], Limit]] = {
    "a namespace": (re.compile(r"(?<!metric)(?<!metrics)(?<!cloudwatch)namespace$"), NAMESPACE),
    "a release": (re.compile(r"releasename$|^release$"), RELEASE),
    "a service account": (re.compile(r"serviceaccount(name)?$"), SERVICE_ACCOUNT),
}
"""What a property or a variable names, by its name in small letters."""


class UnfitName(NamedTuple):
    """A name that Kubernetes does not take."""

    resource: Resource
    path: tuple[str, ...]
    message: str
    allowed: str


def unfit_names(model: Model) -> Iterator[UnfitName]:
    """The names that Kubernetes surely does not take, each where it is written."""
    for chart in (one for one in model.resources() if is_foreign(one) and _is_of_helm(one)):
        yield from _of(chart, (), chart.properties)
        maker = makers(model).get(chart)
        if maker is not None:
            yield from _of(maker, _ENVIRONMENT, maker.get(*_ENVIRONMENT))


def _is_of_helm(resource: Resource) -> bool:
    return _HELM in f"{resource.type} {resource.logical_id} {' '.join(resource.properties)}".lower()


def _of(resource: Resource, path: tuple[str, ...], values: Value) -> Iterator[UnfitName]:
    for key, value in values.items() if isinstance(values, Mapping) else ():
        word = re.sub("[^a-z]", "", key.lower())
        for kind, (names, limit) in _KINDS.items():
            if names.search(word) and value != "" and _is_none(value, limit):
                words = limit.words.format(shortest=limit.shortest, longest=limit.longest)
                yield UnfitName(resource, (*path, key), f"{key} is {shown(value)!r}, which is no name of {kind}", words)


def _is_none(value: Value, limit: Limit) -> bool:
    text = as_str(value)
    return matches(limit.pattern or "", value) is False or (text is not None and len(text) > (limit.longest or len(text)))
