"""Carries a mark out, so that nodes that fail at the same moment stay within the limits without a lock.

A node first writes a claim into slurmctld's text for it, then reads all texts. slurmctld orders the writes: of the nodes that go
ahead the one that claimed last has seen the claims of all others, so there are never more than the limit allows. One that sees
too many takes its claim back and asks again at its next check.

The programs of one node, its checks and its detector of hangs, take turns: each writes the whole text anew, and one that had read
it before the other's mark would take that mark back.
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
BUSY = "another program of this node decides just now"


class Marker:
    """Decides and marks for one node."""

    def __init__(self, system: System, settings: Settings, slurm: Slurm, shared: SharedDirectory) -> None:
        self._system = system
        self._settings = settings
        self._slurm = slurm
        self._shared = shared

    def request(self, findings: Sequence[Finding]) -> Verdict:
        """Marks the node when these findings call for it and nothing speaks against it."""
        with self._system.alone(LOCK, LOCK_SECONDS) as alone:
            return self._request(findings) if alone else Verdict(None, BUSY)

    def tell(self, findings: Sequence[Finding]) -> str | None:
        """Tells the node's faults to the others. Returns why it could not, ``None`` when it did."""
        with self._system.alone(LOCK, LOCK_SECONDS) as alone:
            return self._tell(findings) if alone else BUSY

    def learn(self) -> None:
        """Finds out how often nodes of this name were marked, for when nobody tells any more."""
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
            # The claim stays: slurmctld may have taken the mark without an answer, and its text tells of it.
            return Verdict(None, f"slurmctld did not take the mark {verdict.action}")
        record(self._system, self._slurm.node, self._shared, mark, situation.history)
        return verdict._replace(marked=True)

    def _tell(self, findings: Sequence[Finding]) -> str | None:
        own = self._slurm.own()
        if own is None:
            return "slurmctld does not answer, or has no such node"
        if note.is_foreign(own.extra):
            return f"the node's Extra in Slurm is somebody else's: {own.extra}"
        # Without the shared directory: it may be the fault that is told.
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
