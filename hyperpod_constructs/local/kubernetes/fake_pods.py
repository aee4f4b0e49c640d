"""The pods of fake nodes: no container runs.

A pod that is placed on a fake node is Running at once. It stays so until somebody deletes it, or until it has run for as many
seconds as its annotation `embedded-aws/succeeds-after` says: then it has Succeeded. A pod that is deleted ends at once: it has
Failed, as one whose containers were killed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from hyperpod_constructs.local.kubernetes.client import KubernetesError
from hyperpod_constructs.local.kubernetes.interface import Object, ObjectsApi

log = logging.getLogger(__name__)

SUCCEEDS_AFTER = "embedded-aws/succeeds-after"
"""The annotation of a pod with the seconds after which it has Succeeded: a whole number of at most nine digits."""

_SECONDS = re.compile(r"[0-9]{1,9}")
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_ENDED = ("Succeeded", "Failed")
_CONDITIONS = ("PodScheduled", "Initialized", "ContainersReady", "Ready")


class FakePods:
    """The pods of the nodes of one control plane. `clock` gives seconds since the epoch."""

    def __init__(self, api: ObjectsApi, clock: Callable[[], float]) -> None:
        self._api, self._clock = api, clock

    def run(self, nodes: Collection[str]) -> None:
        """Bring the pods on these nodes further."""
        for pod in self._on(nodes):
            phase = _phase(pod)
            if pod["metadata"].get("deletionTimestamp"):
                self._end(pod)
            elif phase == "Pending":
                self._start(pod)
            elif phase == "Running" and self._is_done(pod):
                self._set(pod, {"phase": "Succeeded", **self._ended(pod, code=0, reason="Completed")})

    def fail(self, nodes: Collection[str], reason: str) -> None:
        """Let the pods on nodes fail that go."""
        for pod in self._on(nodes):
            if _phase(pod) not in _ENDED:
                message = f"node {pod['spec']['nodeName']} is gone"
                self._set(pod, {"phase": "Failed", "reason": reason, "message": message})

    def _on(self, nodes: Collection[str]) -> list[Object]:
        found = self._api.list("v1", "Pod") if nodes else []
        return [pod for pod in found if pod.get("spec", {}).get("nodeName") in nodes]

    def _is_done(self, pod: Object) -> bool:
        wanted = (pod["metadata"].get("annotations") or {}).get(SUCCEEDS_AFTER, "")
        if not isinstance(wanted, str) or not _SECONDS.fullmatch(wanted):
            return False
        with suppress(TypeError, ValueError):  # The time may be from a stranger.
            began = datetime.strptime(pod["status"].get("startTime"), _TIME).replace(tzinfo=UTC)
            return self._clock() >= began.timestamp() + int(wanted)
        return False

    def _start(self, pod: Object) -> None:
        now = self._now()
        states = [{**one, "ready": True, "started": True, "state": {"running": {"startedAt": now}}} for one in _containers(pod)]
        self._set(pod, {"phase": "Running", "startTime": now, "conditions": _conditions("True", now), "containerStatuses": states})

    def _end(self, pod: Object) -> None:
        """End a pod that is being deleted; one that is held after that waits for others."""
        if _phase(pod) not in _ENDED:
            self._set(pod, {"phase": "Failed", **self._ended(pod, code=137, reason="Error")})
        if pod["metadata"].get("deletionGracePeriodSeconds"):
            self._api.delete("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"], grace_seconds=0)

    def _ended(self, pod: Object, *, code: int, reason: str) -> dict[str, Any]:
        now = self._now()
        ended = {"terminated": {"exitCode": code, "reason": reason, "finishedAt": now}}
        states = [{**one, "ready": False, "started": False, "state": ended} for one in _containers(pod)]
        return {"conditions": _conditions("False", now), "containerStatuses": states}

    def _now(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).strftime(_TIME)

    def _set(self, pod: Object, status: Mapping[str, Any]) -> None:
        """Change the status of a pod. One that is gone meanwhile needs none, and a refusal concerns this pod alone."""
        metadata = pod["metadata"]
        try:
            self._api.patch("v1", "Pod", metadata["name"], {"status": status}, metadata["namespace"], "status")
        except KubernetesError as error:
            if error.code >= HTTPStatus.INTERNAL_SERVER_ERROR or error.code == HTTPStatus.TOO_MANY_REQUESTS:
                raise
            log.info("the status of the pod %s/%s is refused: %s", metadata["namespace"], metadata["name"], error)


def _phase(pod: Object) -> str:
    return str(pod.get("status", {}).get("phase", "Pending"))


def _conditions(state: str, now: str) -> list[dict[str, str]]:
    """A pod that has ended is not ready, and was placed and initialized all the same."""
    lasting = ("PodScheduled", "Initialized")
    return [{"type": kind, "status": "True" if kind in lasting else state, "lastTransitionTime": now} for kind in _CONDITIONS]


def _containers(pod: Object) -> list[dict[str, Any]]:
    return [
        {"name": container["name"], "image": container.get("image", ""), "imageID": "", "restartCount": 0}
        for container in pod["spec"].get("containers", ())
    ]
