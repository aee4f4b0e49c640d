#!/usr/bin/python3
"""Double of `srun --auto-resume=1`: without that option, and outside an allocation, it becomes the real `srun`.

Public protocol: when the step fails and the health agent has marked a node of the job, the job is shrunk to its healthy
nodes, expanded by new ones and the step is retried, with the lines that the service's documents show in the log; a job
with GRES is requeued instead. The batch host cannot be shrunk away. Not documented, and so a choice of this double: a node
that went down has left a job with --no-kill and is replaced too; when no node is marked for half a minute, or one that
cannot go is, the step's exit code is the answer.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

REAL = "/usr/bin/srun"
OPTION = "--auto-resume=1"
INFO = "[Auto Resume] Info:"
MARK_SECONDS = 30.0
EXPAND_SECONDS = 600
MARK = re.compile(r" Reason=Action:(Replace|Reboot) \[")


def main(arguments: list[str]) -> int:
    job = os.environ.get("SLURM_JOB_ID")
    step = [argument for argument in arguments if argument != OPTION]
    if OPTION not in arguments or job is None:
        os.execv(REAL, [REAL, *step])
    attempt = 0
    overlap: list[str] = []
    while True:
        code = subprocess.call([REAL, *overlap, *step])  # noqa: S603
        if code == 0:
            return 0
        say(f"{INFO} JobID: {job} StepID: {attempt} Initiating communication with cluster agent to diagnose health of nodes")
        marked = await_marks(job)
        if not marked:
            return code
        if has_gres(job):
            say(f"{INFO} Response from cluster agent: JobId={job}, ResumeAction=REQUEUE")
            scontrol("requeue", job)
            return code
        if os.environ["SLURMD_NODENAME"] in marked:
            return code
        say(f"{INFO} Response from cluster agent: JobId={job}, ResumeAction=RETRYSTEP")
        resize(job, marked)
        attempt += 1
        # The old step's cores stay accounted to it.
        overlap = ["--overlap"]
        say(f"{INFO} Retrying step. Attempt number: {attempt}")


def await_marks(job: str) -> set[str]:
    """The job's nodes that are marked, or that Slurm has taken from it, as soon as there is one."""
    deadline = time.monotonic() + MARK_SECONDS
    began_with = set(hostnames(os.environ["SLURM_JOB_NODELIST"]))
    while time.monotonic() < deadline:
        members = nodes(job)
        marked = began_with.difference(members).union(node for node in members if MARK.search(show(f"node {node}")))
        if marked:
            return marked
        time.sleep(0.5)
    return set()


def resize(job: str, marked: set[str]) -> None:
    """Shrinks the job, adds the nodes of a second job to it, and tells the next step of them."""
    say("Job failed - replacing nodes")
    say("Droping unhealthy nodes")
    healthy = [node for node in nodes(job) if node not in marked]
    if marked.intersection(nodes(job)):
        scontrol("update", f"JobId={job}", f"NodeList={','.join(healthy)}")
    say("Succesfully shrink job to retain healthy nodes " + ",".join(healthy))
    expansion = ["salloc", "--no-shell", f"--dependency=expand:{job}", f"--nodes={len(marked)}", *like(job)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "SALLOC_", "SBATCH_"))}
    done = subprocess.run(expansion, env=clean, capture_output=True, text=True, check=True, timeout=EXPAND_SECONDS)  # noqa: S603
    granted = re.search(r"Granted job allocation (\d+)", done.stderr)
    assert granted is not None, done.stderr
    scontrol("update", f"JobId={granted[1]}", "NumNodes=0")
    scontrol("update", f"JobId={job}", "NumNodes=ALL")
    say("Job Expansion complete")
    members = nodes(job)
    say("Updating to new node list " + ",".join(members))
    for name in ("SLURM_JOB_NODELIST", "SLURM_NODELIST"):
        os.environ[name] = ",".join(members)
    for name in ("SLURM_JOB_NUM_NODES", "SLURM_NNODES"):
        os.environ[name] = str(len(members))


def like(job: str) -> list[str]:
    """Options for nodes that are as much the job's as those that it has, and not one of them."""
    shown = show(f"job {job}")
    options = [f"--partition={os.environ['SLURM_JOB_PARTITION']}", f"--exclude={','.join(nodes(job))}"]
    if "OverSubscribe=NO" in shown:
        return [*options, "--exclusive"]
    numbers = re.search(r" NumNodes=(\d+) NumCPUs=(\d+)", shown)
    assert numbers is not None
    return [*options, "--ntasks-per-node=1", f"--cpus-per-task={int(numbers[2]) // int(numbers[1])}"]


def has_gres(job: str) -> bool:
    """Slurm takes an exclusive job for one with GRES as soon as the cluster has any, and refuses to expand it."""
    shown = show(f"job {job}")
    types = re.search(r"^GresTypes\s*= (\S+)", scontrol("show", "config"), re.MULTILINE)
    assert types is not None
    return "=gres" in shown or (types[1] != "(null)" and "OverSubscribe=NO" in shown)


def nodes(job: str) -> list[str]:
    found = re.search(r" NodeList=(\S+)", show(f"job {job}"))
    assert found is not None
    return hostnames(found[1])


def hostnames(listed: str) -> list[str]:
    return scontrol("show", "hostnames", listed).split()


def show(what: str) -> str:
    return scontrol("--oneliner", "show", *what.split())


def scontrol(*arguments: str) -> str:
    return subprocess.run(["scontrol", *arguments], capture_output=True, text=True, check=True).stdout  # noqa: S603


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
