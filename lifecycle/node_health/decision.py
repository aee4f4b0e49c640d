"""Decides from findings on a mark, or on the reason against it. It is pure: all input is in the arguments."""

from __future__ import annotations

from typing import NamedTuple, Sequence

from node_health import note
from node_health.finding import REBOOT, REPLACE, Finding
from node_health.marks import DAY, HOUR, History
from node_health.settings import Settings
from node_health.slurm import Node

CLAIM_SECONDS = 600
SHARED_BY = 2
SURROUNDINGS_SHARE = 0.25
HARDWARE_SHARE = 0.5
SLURM_REASONS = (
    "batch job complete failure",
    "Duplicate jobid",
    "Epilog error",
    "gres/",
    "Job env setup error",
    "Kill task failed",
    "Low ",
    "Node unexpectedly rebooted",
    "Not responding",
    "Prolog error",
    "Prolog/Epilog failure",
    "SlurmdSpoolDir is full",
)
"""Beginnings of Slurm's own reasons for a node. Any other reason is an administrator's and stays.

Source: the callers of drain_nodes, set_node_down_ptr and slurm_update_node in Slurm 24.11
"""


class Situation(NamedTuple):
    """The input of a decision."""

    settings: Settings
    node: str
    now: float
    nodes: Sequence[Node]
    history: History

    @property
    def own(self) -> Node | None:
        return next((node for node in self.nodes if node.name == self.node), None)


class Verdict(NamedTuple):
    """The decision.

    :param action: the mark; `None` for no mark.
    :param why: the reason.
    :param marked: whether the node carries a mark now.
    """

    action: str | None
    why: str
    marked: bool = False


def decide(findings: Sequence[Finding], situation: Situation) -> Verdict:
    """The mark for these findings; each has been seen more than once."""
    asking = [finding for finding in findings if finding.action is not None]
    if not asking:
        return Verdict(None, "no fault asks for a mark")
    own_faults = [finding for finding in asking if not is_shared(finding, situation)]
    if not own_faults:
        return Verdict(None, f"other nodes have the same fault: {_names(asking)}; a new node would have it too")
    refusal = _refusal(situation)
    if refusal is not None:
        return refusal
    return Verdict(_action(own_faults, situation), _names(own_faults))


def is_shared(finding: Finding, situation: Situation) -> bool:
    """Whether the fault is common to many living nodes, and so not this node's own.

    For shared parts, a quarter of the nodes is enough; for a node's own hardware, it takes more than half; in both cases, at least
    two nodes. A single node cannot tell its own faults from those of its surroundings.
    """
    living = [node for node in situation.nodes if node.lives or node.name == situation.node]
    others = [node for node in living if node.name != situation.node]
    affected = 1 + sum(finding.fault in note.parse(node.extra).faults for node in others)
    if finding.hardware:
        return affected >= SHARED_BY and affected > len(living) * HARDWARE_SHARE
    return not others or (affected >= SHARED_BY and affected >= len(living) * SURROUNDINGS_SHARE)


def _refusal(situation: Situation) -> Verdict | None:
    settings, own = situation.settings, situation.own
    if not settings.recovers:
        return Verdict(None, "cluster.node_recovery is None: faults are only reported")
    if own is None:
        return Verdict(None, f"Slurm has no node {situation.node}")
    if own.action is not None:
        return Verdict(None, f"the node is already marked {own.action}", marked=True)
    if own.reason and not own.reason.startswith(SLURM_REASONS):
        return Verdict(None, f"the node has another reason, which stays: {own.reason}")
    if note.is_foreign(own.extra):
        return Verdict(None, f"the node's Extra in Slurm belongs to somebody else, so no mark can be recorded: {own.extra}")
    limit = _limit(situation)
    if limit is None and settings.shared_directory is not None and not situation.history.known:
        limit = f"{settings.shared_directory} does not tell the earlier marks of a node with this name"
    return None if limit is None else Verdict(None, limit)


def _limit(situation: Situation) -> str | None:
    settings = situation.settings
    of_node = len(situation.history.since(situation.node, DAY, situation.now))
    if of_node >= settings.max_marks_per_node_per_day:
        return f"the node has had {of_node} marks in a day, allowed are {settings.max_marks_per_node_per_day}"
    of_cluster = marks_of_cluster(situation)
    if of_cluster >= settings.max_marks_per_cluster_per_hour:
        return (
            f"the cluster has {of_cluster} marks of the last hour, pending or claimed, "
            f"allowed are {settings.max_marks_per_cluster_per_hour}"
        )
    return None


def marks_of_cluster(situation: Situation) -> int:
    """The number of marks in the last hour, together with other nodes that carry or claim one."""
    count = sum(len(situation.history.since(node, HOUR, situation.now)) for node in situation.history.nodes())
    for node in situation.nodes:
        if node.name == situation.node or situation.history.since(node.name, HOUR, situation.now):
            continue
        claim = note.parse(node.extra).claim
        count += node.action is not None or claim > situation.now - CLAIM_SECONDS
    return count


def _action(findings: Sequence[Finding], situation: Situation) -> str:
    """A replacement if a fault asks for it, or if a reboot of the last day has not helped; else a reboot."""
    rebooted = any(mark.action == REBOOT for mark in situation.history.since(situation.node, DAY, situation.now))
    return REPLACE if rebooted or any(finding.action == REPLACE for finding in findings) else REBOOT


def _names(findings: Sequence[Finding]) -> str:
    return ", ".join(finding.fault for finding in findings)
