"""What boots the nodes of a cluster. Without a fleet nodes are records: they run at once, and their scripts do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from hyperpod_constructs.local.hyperpod.state import Cluster, Node, Outcome, Spec

Recovery = Literal["Action:Replace", "Action:Reboot"]
"""What a node's reason in Slurm asks of the service, exactly so."""


class Fleet(Protocol):
    """Boots, reboots and ends nodes. Every method returns at once; what takes time goes on behind it."""

    def objection(self, specs: Sequence[Spec], settings: Spec) -> str | None:
        """Why a cluster of these groups cannot be booted, in one sentence."""

    def launch(self, cluster: Cluster, nodes: Sequence[Node]) -> None:
        """Begin to boot nodes that have an instance id, with new disks, and to run their scripts. A node whose logical id was
        launched before takes the place of that one.
        """

    def outcome(self, node: Node) -> Outcome | None:
        """How the node's latest boot ended; None while it goes on."""

    def marks(self) -> Mapping[str, Recovery]:
        """The instance ids of nodes that are to be replaced or rebooted now, having no job. May take seconds."""

    def busy(self) -> frozenset[str]:
        """The instance ids of nodes with jobs, and of those that may have some. May take seconds."""

    def reboot(self, nodes: Sequence[Node]) -> None:
        """Begin to reboot nodes with their disks."""

    def terminate(self, nodes: Sequence[Node]) -> None:
        """End nodes and forget their disks."""


class Records:
    """No fleet: every node is up as soon as it is launched."""

    def objection(self, specs: Sequence[Spec], settings: Spec) -> str | None:
        """Records hold any cluster."""
        return None

    def launch(self, cluster: Cluster, nodes: Sequence[Node]) -> None:
        """Nothing boots."""

    def outcome(self, node: Node) -> Outcome | None:
        """Its log says that nothing ran."""
        scripts = node.spec.get("LifeCycleConfig")
        if scripts is None:
            return Outcome(None, ())
        entry = f"{scripts['SourceS3Uri'].rstrip('/')}/{scripts.get('OnCreate', scripts.get('OnInitComplete'))}"
        said = "This is the embedded AWS: no node booted and no lifecycle script ran."
        return Outcome(None, (said, f"On AWS, {node.instance_id} of instance group {node.group} would run {entry} now."))

    def marks(self) -> Mapping[str, Recovery]:
        """Records do not break."""
        return {}

    def busy(self) -> frozenset[str]:
        """Records have no jobs."""
        return frozenset()

    def reboot(self, nodes: Sequence[Node]) -> None:
        """Nothing reboots."""

    def terminate(self, nodes: Sequence[Node]) -> None:
        """Nothing ends."""
