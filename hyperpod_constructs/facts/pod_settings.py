"""Settings of pods in configurations of add-ons, values of charts and objects: what a key takes wherever it stands.

The names are Kubernetes' own, and charts keep their meaning. A map of other names, such as the containers of a driver below
`resources`, is not judged.

Sources: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/,
https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ and
https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/ (as of 2026-11-26)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hyperpod_constructs.facts.shapes import shape_mistakes

QUANTITY = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+|[munkMGTPE]|[KMGTPE]i)?"
"""An amount of a resource, such as `500m`, `2` or `256Mi`."""

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
"""The effects of taints."""

_TEXT: Mapping[str, Any] = {"type": ["string", "null"], "words": "a text; numbers and true need quotes"}
_TEXTS: Mapping[str, Any] = {"type": ["object", "null"], "values": _TEXT, "words": "names with texts"}
_COUNT: Mapping[str, Any] = {"type": ["integer", "null"], "minimum": 0, "words": "a whole number, without quotes"}
_AMOUNTS: Mapping[str, Any] = {
    "type": ["object", "null"],
    "values": {
        "type": ["string", "number", "null"],
        "pattern": f"None|{QUANTITY}",
        "words": "an amount such as 500m of cpu or 256Mi of memory",
    },
    "words": "names of resources with amounts",
}
_TOLERATION: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "key": _TEXT,
        "operator": {"type": "string", "enum": ["Equal", "Exists", "Lt", "Gt"]},
        "value": _TEXT,
        "effect": {"type": "string", "enum": ["", *EFFECTS]},
        "tolerationSeconds": _COUNT,
    },
    "words": "an object such as key, operator, value and effect",
}


def _one_of(*words: str) -> Mapping[str, Any]:
    return {"type": ["string", "null"], "enum": [None, *words], "words": f"one of {', '.join(words)}"}


SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "accessModes": {
        "type": ["array", "null"],
        "items": {"enum": ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]},
        "words": "a list of modes",
    },
    "affinity": {"type": ["object", "null"], "words": "an object"},
    "containerPort": _COUNT,
    "imagePullPolicy": _one_of("Always", "IfNotPresent", "Never"),
    "maxReplicas": _COUNT,
    "minReplicas": _COUNT,
    "nodeSelector": _TEXTS,
    "persistentVolumeReclaimPolicy": _one_of("Retain", "Delete", "Recycle"),
    "podAnnotations": _TEXTS,
    "podLabels": _TEXTS,
    "replicaCount": _COUNT,
    "replicas": _COUNT,
    "tolerations": {"type": ["array", "null"], "items": _TOLERATION, "words": "a list of tolerations"},
    "volumeBindingMode": _one_of("Immediate", "WaitForFirstConsumer"),
    "topologySpreadConstraints": {"type": ["array", "null"], "words": "a list of constraints"},
}
"""The forms of values, by key."""

_UNITS: Mapping[str, float] = {
    **{f"{one}i": 1024.0**power for power, one in enumerate("KMGTPE", 1)},
    **{one: 1000.0**power for power, one in enumerate("kMGTPE", 1)},
    **{"m": 1e-3, "u": 1e-6, "n": 1e-9},
}
_OF_RESOURCES = ("limits", "requests")
_RESOURCES = ("cpu", "memory", "ephemeral-storage")


def setting_mistakes(value: object, unknown: Callable[[object], bool], path: tuple[str, ...] = ()) -> Iterator[str]:
    """What Kubernetes refuses about settings of pods anywhere in a value, in words.

    :param unknown: whether a value is known only at the deployment.
    """
    if isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from setting_mistakes(item, unknown, (*path, str(index)))
    if not isinstance(value, Mapping):
        return
    yield from _of_pairs(value, path)
    for key, part in value.items():
        name, place = str(key), (*path, str(key))
        shape = _AMOUNTS if _is_amounts(name, part) else SETTINGS.get(name)
        if shape is not None:
            yield from shape_mistakes(shape, part, unknown, place)
        else:
            yield from setting_mistakes(part, unknown, place)


def _of_pairs(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """What is asked for beyond its limit, and a least number above the most."""
    asked, limits = (value.get(name) for name in ("requests", "limits"))
    least, most = (value.get(name) for name in ("minReplicas", "maxReplicas"))
    pairs = [("minReplicas", least, "maxReplicas", most)]
    if isinstance(asked, Mapping) and isinstance(limits, Mapping):
        pairs += [(f"requests.{one}", asked[one], f"limits.{one}", limits[one]) for one in asked if one in limits]
    for name, low, other, high in pairs:
        numbers = _number(low), _number(high)
        if numbers[0] is not None and numbers[1] is not None and numbers[0] > numbers[1]:
            yield f"{'.'.join((*path, name))} is {low!r}, above {other}, which is {high!r}"


def _number(value: object) -> float | None:
    """The amount in single units; `None` for a text of another form."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    found = re.fullmatch(QUANTITY, str(value))
    if found is None:
        return None
    unit = next((one for one in _UNITS if str(value).endswith(one)), "")
    return float(str(value).removesuffix(unit)) * _UNITS.get(unit, 1.0)


def _is_amounts(name: str, value: object) -> bool:
    """Whether a value is what containers ask for, by names of resources alone."""
    named = isinstance(value, Mapping) and all(key in _RESOURCES or "/" in str(key) for key in value)
    return name in _OF_RESOURCES and named
