"""One run of all checks, as Slurm's HealthCheckProgram.

Slurm kills the program after 60 seconds, and a starting slurmd registers only after the program has ended with 0. So faults never
change the exit code: it is 0, or that of the chained program.

slurmctld asks for the next run even if the last one still runs. Two runs at once would overwrite each other's memory.
"""

from __future__ import annotations

import json
import traceback
from typing import Any, Callable, NamedTuple, Sequence

from node_health.checks import clock, custom, disk, efa, gpu, kernel_log, mounts, neuron
from node_health.checks.context import Context
from node_health.decision import Verdict
from node_health.ending import end_steps
from node_health.finding import Finding
from node_health.log import log
from node_health.marking import Marker
from node_health.memory import DIRECTORY, Memory
from node_health.settings import Settings
from node_health.shared import SharedDirectory
from node_health.slurm import Node, Slurm
from node_health.system import System

REPORT = f"{DIRECTORY}/report.json"
CHECKS: tuple[Callable[[Context], list[Finding]], ...] = (
    kernel_log.check,
    gpu.check,
    neuron.check,
    efa.check,
    mounts.check,
    disk.check,
    clock.check,
    custom.check,
)
LOCK = "/run/node_health/check.lock"
BUDGET_SECONDS = 30.0
CHAIN_SECONDS = 20.0
DECLARED_SECONDS = 3600
NOT_ENDED = 124
RETRY_INTERVALS = 5


class Outcome(NamedTuple):
    """The exit code, and the output of the chained program."""

    code: int
    output: str
    findings: list[Finding]
    verdict: Verdict


def run(system: System, settings: Settings, node: str, chain: Sequence[str] = ()) -> Outcome:
    """Run the chained program and every check. A confirmed fault of the node's own marks the node and ends its steps."""
    code, output = _chain(system, chain)
    if not settings.enabled:
        return Outcome(code, output, [], Verdict(None, "config.json has no software.health: nothing is checked"))
    with system.alone(LOCK, 0) as alone:
        if not alone:
            return Outcome(code, output, [], Verdict(None, "another check of this node is running"))
        findings, verdict = _alone(system, settings, node)
    return Outcome(code, output, findings, verdict)


def _alone(system: System, settings: Settings, node: str) -> tuple[list[Finding], Verdict]:
    """One check, while no other check of this node runs. After a failure, the next check starts with an empty memory."""
    memory = Memory(system)
    try:
        return _checked(system, settings, node, memory)
    except Exception as error:
        log(system, f"the check failed, and the next one starts with an empty memory: {traceback.format_exc()}")
        memory.forget()
        return [], Verdict(None, f"the check failed: {type(error).__name__}")


def _checked(system: System, settings: Settings, node: str, memory: Memory) -> tuple[list[Finding], Verdict]:
    slurm, shared = Slurm(system, node), SharedDirectory(system, settings.shared_directory)
    begun = system.monotonic()
    context = Context(system, settings, memory, _declared(system, memory, slurm), begun + BUDGET_SECONDS)
    findings = [finding for check in CHECKS for finding in _found(check, context)]
    confirmed = _confirm(memory, findings, system.now(), settings.interval_seconds, system.monotonic() - begun)
    marker = Marker(system, settings, slurm, shared)
    _tell(marker, memory, findings)
    if not findings:
        marker.learn()
    verdict = _decide(marker, memory, confirmed, system.now(), RETRY_INTERVALS * settings.interval_seconds)
    if verdict.marked:
        end_steps(system, memory, slurm)
    _report(system, memory, findings, verdict, shared.problem)
    return findings, verdict


def _chain(system: System, chain: Sequence[str]) -> tuple[int, str]:
    if not chain:
        return 0, ""
    result = system.run(chain, CHAIN_SECONDS)
    code = NOT_ENDED if result.code is None else result.code
    return code if code >= 0 else 128 - code, result.output + result.error


def _declared(system: System, memory: Memory, slurm: Slurm) -> Node | None:
    """Slurm's declaration of the node, asked once an hour, because a thousand nodes check at the same second."""
    kept = memory.table("declared")
    if not 0 <= system.now() - kept.get("time", 0) < DECLARED_SECONDS:
        own = slurm.own()
        if own is None:
            return None
        kept.update(time=system.now(), gres=own.gres)
    return Node(slurm.node, "", "", "", str(kept["gres"]))


def _found(check: Callable[[Context], list[Finding]], context: Context) -> list[Finding]:
    """The findings of a check. A broken check is a finding too, and the other checks still run."""
    try:
        return check(context)
    except Exception as error:
        name = check.__module__.rpartition(".")[2]
        log(context.system, traceback.format_exc())
        return [Finding(f"broken:{name}", f"the check {name} failed: {type(error).__name__}: {error}"[:200])]


def _confirm(memory: Memory, findings: Sequence[Finding], now: float, interval: int, seconds: float) -> list[Finding]:
    """The faults that ask for a mark and have lasted for long enough.

    A fault of the node's own hardware needs a second look only. A fault that other nodes may share waits until each of them has
    completed and reported a check of its own, which may take as many `seconds` as here.
    """
    asking = [finding for finding in findings if finding.action is not None]
    before = memory.table("first_seen")
    seen = {finding.fault: min(float(before.get(finding.fault, now)), now) for finding in asking}
    slowest = max(seconds, float(memory.values.get("slowest", 0))) if asking else 0.0
    memory.values.update(first_seen=seen, slowest=slowest)
    due = {True: interval / 2, False: interval * 1.5 + slowest}
    return [found for found in asking if found.fault in before and now - seen[found.fault] >= due[found.hardware]]


def _tell(marker: Marker, memory: Memory, findings: Sequence[Finding]) -> None:
    """Report changed faults to the other nodes. The first check always reports, because a predecessor's faults do not count."""
    faults: Any = sorted({finding.fault for finding in findings if finding.action is not None})
    if memory.values.get("told") != faults and marker.tell(findings) is None:
        memory.values["told"] = faults


def _decide(marker: Marker, memory: Memory, confirmed: Sequence[Finding], now: float, pause: float) -> Verdict:
    """Ask for a mark. After a refusal, the same faults ask again only after a pause.

    Otherwise, in a cluster without its file system, every node would read all nodes from slurmctld at each check.
    """
    if not confirmed:
        memory.values["refused"] = {}
        return Verdict(None, "no fault that asks for a mark has lasted for long enough")
    refused, faults = memory.table("refused"), sorted(finding.fault for finding in confirmed)
    if refused.get("faults") == faults and 0 <= now - refused["time"] < pause:
        return Verdict(None, refused["why"])
    verdict = marker.request(confirmed)
    memory.values["refused"] = {} if verdict.marked else {"faults": faults, "time": now, "why": verdict.why}
    return verdict


def _report(system: System, memory: Memory, findings: Sequence[Finding], verdict: Verdict, problem: str | None) -> None:
    said = [f"{finding.fault}: {finding.detail}" for finding in findings] + ([verdict.why] if findings else [])
    said += [] if problem is None else [problem]
    if memory.values.get("said") != said:
        memory.values["said"] = said
        for line in said or ["no faults"]:
            log(system, line)
    if verdict.action is not None:
        log(system, f"marked {verdict.action} for {verdict.why}")
    document = {"time": int(system.now()), "findings": findings, "action": verdict.action, "why": verdict.why}
    problem = memory.save()
    try:
        system.write(REPORT, json.dumps(document))
    except OSError as error:
        problem = f"{REPORT}: {error.strerror}"
    if problem is not None:
        log(system, problem)
