"""One interface to a Kubernetes control plane on 127.0.0.1, and the choice between its two implementations."""

from __future__ import annotations

import os
from pathlib import Path

from hyperpod_constructs.local.kubernetes.interface import BINARIES, ControlPlane, ControlPlaneError, KubernetesApi, Object

__all__ = ["BINARIES", "ControlPlane", "ControlPlaneError", "KubernetesApi", "Object", "start_control_plane"]

_LIMITS = {"double": "; it stores and judges objects, schedules nothing and runs no containers", "official binaries": ""}


def start_control_plane(*, name: str, version: str, token_webhook: str, directory: Path) -> ControlPlane:
    """Start a control plane and wait until it is ready.

    Where the variable `HYPERPOD_KUBERNETES` names a directory with the official server binaries, they run. Otherwise a double
    does: it stores and judges objects; it schedules nothing and runs no containers.

    :param name: name of the cluster, for messages.
    :param version: minor version such as `1.34`. The official binaries have a version of their own.
    :param token_webhook: URL of a TokenReview webhook, which authenticates bearer tokens.
    :param directory: keeps keys and, for the official binaries, data; it is made with mode 0700.
    :raises ControlPlaneError: if the control plane does not start.
    """
    found = _start(name, version, token_webhook, directory)
    print(f"kubernetes control plane of {name}: {found.kind}, {found.endpoint}{_LIMITS[found.kind]}", flush=True)  # noqa: T201
    return found


def _start(name: str, version: str, token_webhook: str, directory: Path) -> ControlPlane:
    binaries = os.environ.get(BINARIES)
    if binaries:
        from hyperpod_constructs.local.kubernetes.official import start_official

        return start_official(Path(binaries), name=name, token_webhook=token_webhook, directory=directory)
    from hyperpod_constructs.local.kubernetes.double import start_double

    return start_double(name=name, version=version, token_webhook=token_webhook, directory=directory)
