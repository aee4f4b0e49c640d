"""What the embedded EKS asks of a control plane, of what starts it, and of what tells who may do what on it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.kubernetes.interface import ObjectsApi, RunningControlPlane


class ControlPlanes(Protocol):
    """Starts control planes."""

    def start(self, name: str, version: str, webhook: str) -> RunningControlPlane:
        """Start one, and return when it answers."""

    def forget(self, name: str) -> None:
        """Remove the state of a control plane that is gone."""


class Access(Protocol):
    """Tells a control plane whom tokens belong to, and keeps its RBAC objects in step with access policies."""

    def open(self, caller: Caller, cluster: str) -> str:
        """Take a cluster on; the address at which its control plane asks about tokens."""

    def attach(self, caller: Caller, cluster: str, api: ObjectsApi) -> None:
        """The control plane answers: write its RBAC objects from now on."""

    def close(self, caller: Caller, cluster: str) -> None:
        """Forget a cluster."""

    def set_entry(self, caller: Caller, cluster: str, entry: Mapping[str, Any]) -> None:
        """Let the principal of an access entry in."""

    def remove_entry(self, caller: Caller, cluster: str, principal: str) -> None:
        """Let a principal in no more; its policies go too."""

    def set_policy(self, caller: Caller, cluster: str, principal: str, policy: str, scope: Mapping[str, Any]) -> None:
        """Give a principal what a policy allows."""

    def remove_policy(self, caller: Caller, cluster: str, principal: str, policy: str) -> None:
        """Take a policy away."""


class Local:
    """Starts the control planes of this machine: the official binaries, or the double."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def start(self, name: str, version: str, webhook: str) -> RunningControlPlane:
        """Start one, and return when it answers."""
        from hyperpod_constructs.local.kubernetes.control_plane import start_control_plane

        directory = self._directory / name
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        control: RunningControlPlane = start_control_plane(name=name, version=version, token_webhook=webhook, directory=directory)
        return control

    def forget(self, name: str) -> None:
        """Remove its directory."""
        shutil.rmtree(self._directory / name, ignore_errors=True)
