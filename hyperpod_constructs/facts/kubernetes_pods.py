"""Pods in objects of Kubernetes: what Kubernetes refuses about them although each field has a form that it takes.

Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/ (as of 2026-11-28)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_constructs.facts.raw_parts import items, mapping, part, text, twice
from hyperpod_constructs.facts.shapes import Unknown

_Object = Mapping[str, Any]
_OF_PODS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"), ("spec", "template")),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "Pod": (),
}
"""The place of the pods in an object."""
SELECTING = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
"""Kinds that select their pods by labels."""
_ENDING = ("CronJob", "Job")


def pods_in(found: _Object) -> tuple[tuple[str, ...], _Object] | None:
    """The template of the pods of an object with its place, or the object itself for a pod."""
    place = _OF_PODS.get(str(found.get("kind")))
    inner = None if place is None else part(found, *place)
    return (place, inner) if place is not None and isinstance(inner, Mapping) else None


def containers_in(pods: _Object) -> Iterator[tuple[tuple[str, ...], _Object]]:
    """The containers of pods with their places."""
    for key in ("initContainers", "containers"):
        for index, one in enumerate(items(part(pods, "spec", key))):
            if isinstance(one, Mapping):
                yield ("spec", key, str(index)), one


def pod_faults(kind: str, place: tuple[str, ...], pods: _Object, unknown: Unknown) -> Iterator[str]:
    """What is wrong with the pods of an object, in words.

    :param kind: the kind of the object.
    :param place: the place of the pods in it.
    :param unknown: whether a value is known only at the deployment.
    """
    policy = part(pods, "spec", "restartPolicy") or "Always"
    at = ".".join((*place, "spec"))
    if not unknown(policy) and kind in (*SELECTING, *_ENDING) and (policy == "Always") is (kind in _ENDING):
        allowed = "Never, OnFailure" if kind in _ENDING else "Always"
        if policy in ("Always", "Never", "OnFailure"):
            yield f"{at}.restartPolicy is {policy!r}; allowed for {kind}: {allowed}"
    names = [text(part(one, "name"), unknown) for _, one in containers_in(pods)]
    yield from (f"{at} has two containers with the name {name!r}" for name in twice(names))
    for inner, container in containers_in(pods):
        yield from _of_container(".".join((*place, *inner)), container, unknown)
    yield from _of_mounts(kind, place, pods, unknown)
    account = text(part(pods, "spec", "serviceAccountName"), unknown)
    if account and not _ACCOUNT.fullmatch(account):
        yield f"{at}.serviceAccountName is {account!r}; allowed: small letters, digits, '-' and '.'"
    for index, one in enumerate(items(part(pods, "spec", "tolerations"))):
        if part(one, "operator") == "Exists" and part(one, "value"):
            yield f"{at}.tolerations.{index} has the operator Exists and a value; allowed: one of both"
        elif not part(one, "key") and part(one, "operator") in (None, "Equal"):
            yield f"{at}.tolerations.{index} has no key, and the operator Equal; allowed without a key: Exists"


_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_ACCOUNT = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")


def _of_container(at: str, container: _Object, unknown: Unknown) -> Iterator[str]:
    asked, limits = (mapping(part(container, "resources", key)) for key in ("requests", "limits"))
    for name in (one for one in dict.fromkeys((*limits, *asked)) if "/" in str(one)):
        first, most = asked.get(name), limits.get(name)
        if unknown(first) or unknown(most):
            continue
        if most is None:
            yield f"{at}.resources.limits has no {name}, and requests have; devices need a limit"
        elif not str(most).isdecimal():
            yield f"{at}.resources.limits.{name} is {most!r}; allowed: a whole number, as devices are not divided"
        elif first is not None and str(first) != str(most):
            yield f"{at}.resources.requests.{name} is {first!r}; allowed: {most!r}, its limit"
    if "image" not in container:
        yield f"{at}.image is missing"
    own = text(container.get("name"), unknown)
    if own is not None and not _NAME.fullmatch(own):
        yield f"{at}.name is {own!r}; allowed: 63 small letters, digits and '-'"
    for probe in (one for one in _PROBES if isinstance(container.get(one), Mapping)):
        handlers = [one for one in _HANDLERS if container[probe].get(one) is not None]
        if len(handlers) != 1:
            yield f"{at}.{probe} has {' and '.join(handlers) or 'no handler'}; allowed: one of {', '.join(_HANDLERS)}"
    ports = [text(part(one, "name"), unknown) for one in items(container.get("ports"))]
    yield from (f"{at}.ports has the name {name!r} twice" for name in twice(ports))
    for port in ports:
        if port and not (len(port) <= 15 and _NAME.fullmatch(port)):
            yield f"{at}.ports has the name {port!r}; allowed: 15 small letters, digits and '-'"


def _of_mounts(kind: str, place: tuple[str, ...], pods: _Object, unknown: Unknown) -> Iterator[str]:
    """Mounts of volumes that the pods do not have; the sets of pods with state bring some themselves."""
    volumes = [text(part(one, "name"), unknown) for one in items(part(pods, "spec", "volumes"))]
    if kind == "StatefulSet" or None in volumes:
        return
    yield from (f"{'.'.join((*place, 'spec'))} has two volumes with the name {name!r}" for name in twice(volumes))
    for inner, container in containers_in(pods):
        for index, mount in enumerate(items(container.get("volumeMounts"))):
            name = text(part(mount, "name"), unknown)
            if name is not None and name not in volumes:
                yield f"{'.'.join((*place, *inner, 'volumeMounts', str(index)))} names the volume {name!r}, which the pods lack"
