"""Sets marks within the cluster's limits, even if nodes fail at the same moment, and without a lock.

A node first writes a claim into its text in slurmctld and then reads all texts. slurmctld orders the writes: of the nodes that
proceed, the last one has seen the claims of all others, so the limit always holds. A node that sees too many claims withdraws its
own and asks again at its next check.

The two programs of a node, its checks and its hang detector, take turns. Each rewrites the whole text; from an old reading, it
would erase the other's mark.
"""

from __future__ import annotations

import random
from typing import Sequence

from node_health import note
from node_health.decision import Situation, Verdict, decide
from node_health.finding import Finding
from node_health.marks import DAY, History, Mark, gather, learn, record
from node_health.settings import Settings
from node_health.shared import SharedDirectory
from node_health.slurm import Slurm
from node_health.system import System

JITTER_SECONDS = 3.0
LOCK = "/run/node_health/marking.lock"
LOCK_SECONDS = 30.0
BUSY = "another program of this node is deciding now"


class Marker:
    """Decides on marks of one node and sets them."""

    def __init__(self, system: System, settings: Settings, slurm: Slurm, shared: SharedDirectory) -> None:
        self._system = system
        self._settings = settings
        self._slurm = slurm
        self._shared = shared

    def request(self, findings: Sequence[Finding]) -> Verdict:
        """Mark the node if these findings call for it and nothing speaks against it."""
        with self._system.alone(LOCK, LOCK_SECONDS) as alone:
            return self._request(findings) if alone else Verdict(None, BUSY)

    def tell(self, findings: Sequence[Finding]) -> str | None:
        """Report the node's faults to the others, and return the reason of a failure; `None` on success."""
        with self._system.alone(LOCK, LOCK_SECONDS) as alone:
            return self._tell(findings) if alone else BUSY

    def learn(self) -> None:
        """Copy the history of marks for this node's name, for a time when no other source answers."""
        learn(self._system, self._slurm.node, self._shared)

    def _request(self, findings: Sequence[Finding]) -> Verdict:
        verdict, situation = self._decide(findings)
        if verdict.action is None or situation is None or situation.own is None:
            return verdict
        self._system.sleep(random.random() * JITTER_SECONDS)
        before = situation.own.extra
        told = _note(findings, situation.history, self._slurm.node, self._system.now(), note.parse(before).faults)
        if not self._slurm.set_extra(str(told._replace(claim=int(self._system.now())))):
            return Verdict(None, "slurmctld did not take the claim")
        verdict, situation = self._decide(findings)
        if verdict.action is None or situation is None:
            self._slurm.set_extra(before)
            return verdict
        mark = Mark(int(self._system.now()), verdict.action)
        marked = told._replace(marks=(*told.marks, mark.time), action=mark.action)
        if not self._slurm.mark(mark.action, str(marked)):
            # The claim stays: slurmctld may have set the mark without an answer, and the text records it.
            return Verdict(None, f"slurmctld did not take the mark {verdict.action}")
        record(self._system, self._slurm.node, self._shared, mark, situation.history)
        return verdict._replace(marked=True)

    def _tell(self, findings: Sequence[Finding]) -> str | None:
        own = self._slurm.own()
        if own is None:
            return "slurmctld does not answer, or has no such node"
        if note.is_foreign(own.extra):
            return f"the node's Extra in Slurm belongs to somebody else: {own.extra}"
        # Without the shared directory, which may be the reported fault itself.
        history = gather(self._system, own.name, None, [own])
        told = str(_note(findings, history, own.name, self._system.now()))
        return None if told == own.extra or self._slurm.set_extra(told) else "slurmctld did not take the note"

    def _decide(self, findings: Sequence[Finding]) -> tuple[Verdict, Situation | None]:
        nodes = self._slurm.nodes()
        if nodes is None:
            return Verdict(None, "slurmctld does not answer"), None
        history = gather(self._system, self._slurm.node, self._shared, nodes)
        situation = Situation(self._settings, self._slurm.node, self._system.now(), nodes, history)
        return decide(findings, situation), situation


def _note(findings: Sequence[Finding], history: History, node: str, now: float, faults: Sequence[str] = ()) -> note.Note:
    marks = history.since(node, DAY, now)
    asking = {finding.fault for finding in findings if finding.action is not None}
    return note.Note(tuple(sorted(asking.union(faults))), tuple(mark.time for mark in marks), marks[-1].action if marks else "")
