"""A cluster set up by the real lifecycle scripts, and the views of its nodes."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.local.nodes import File, Image, NodeSpec, Rig, VirtualNode
from hyperpod_constructs.local.nodes.boot import LOG, STAGE, Mode
from tests.nodes.configuration import LIFECYCLE, LUSTRE, OPENZFS, WAIT_SECONDS, configuration
from tests.patience import PATIENCE

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBf2aK0m1Hh5pVpV0pVpV0pVpV0pVpV0pVpV0pVpV0pV alice@laptop"
USERS = [
    {"name": "alice", "uid": 10001, "gid": 10001, "groups": ["sudo"], "sudo": True, "ssh_keys": [KEY]},
    {"name": "bob", "uid": 10002, "gid": 10002},
]
CONFIG = configuration(
    ("controller", "login", "workers"),
    mounts=(LUSTRE, OPENZFS),
    homes="/home",
    users=USERS,
    accounting={"type": "local"},
    containers=True,
    health={"interval_seconds": 60},
    log_rotation=True,
    motd=True,
    metrics={"interval_seconds": 5, "sets": ["gpu", "memory", "neuron", "efa", "disk"], "port": 9190, "address": "0.0.0.0"},
)
# Nobody mounts the file system before these scripts do, so they need not wait for that.
ENVIRONMENT = {"NODE_SETUP_GRACE_SECONDS": "0"}
ENROOT = "#!/bin/sh\n# Double of enroot: it is only looked for.\n"
PROMETHEUS = Path("/usr/bin/prometheus")
STATE = "/var/lib/hyperpod"
UNITS = (
    *("munge", "mariadb", "slurmdbd", "slurmctld", "slurmd", "ssh"),
    *("hyperpod-boot", "hyperpod-hang", "hyperpod-metrics", "hyperpod-keep-at-shutdown", "hyperpod-keep.timer"),
)

# Dies where a step begins, the first time at the first one, then at the second, and so on.
KILLED = """\
import os, signal, sys
from node_setup import __main__, log

left = int(sys.argv[2])
whole = log.Log.line


def line(self, text):
    global left
    whole(self, text)
    left -= text.startswith("start: ")
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


log.Log.line = line
sys.exit(__main__.main([sys.argv[1]], dict(os.environ)))
"""
KILLING_ENTRY = """\
#!/bin/sh
cd "$(dirname "$0")"
number=1
while python3 -B killed.py {mode} $number >>{log} 2>&1; [ $? -eq 137 ]; do
    number=$((number + 1))
done
echo "killed $((number - 1)) times" >>{log}
exec ./undisturbed.sh
"""

# Every file that the scripts may write.
LOOK = r"""
import json, os, re, stat, sys
found = {}
for folder in ("/etc", "/opt/hyperpod", "/opt/slurm/etc", "/var/lib/hyperpod", "/home", "/fsx/.hyperpod"):
    for place, _, names in os.walk(folder):
        for name in [".", *names]:
            path = os.path.normpath(os.path.join(place, name))
            status = os.lstat(path)
            content = ""
            if stat.S_ISREG(status.st_mode):
                content = open(path, "rb").read().decode("utf-8", "backslashreplace")
            elif stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            found[path] = [stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid,
                           content, status.st_mtime_ns]
json.dump(found, sys.stdout)
"""
ASK = """
import sys, urllib.parse, urllib.request
address = "http://127.0.0.1:9090/api/v1/query?" + urllib.parse.urlencode({"query": sys.argv[1]})
print(urllib.request.urlopen(address, timeout=30).read().decode())
"""
# Passwords, and the ids of instances.
RANDOM = re.compile(r"(?<=StoragePass=)\w+|(?<=\"slurmdbd\": \")\w+|\bi-[0-9a-f]{17}\b")
# What the machine, or a copy of the state, has written.
PASSING = re.compile(
    r"/etc/(machine-id|mtab|\.pwd\.lock|passwd-|group-|shadow-|gshadow-|subuid-|subgid-|hosts|resolv\.conf)"
    r"|/var/lib/hyperpod/(accounting_password|(state_ready|manifest)\.json|health(/.*)?)|/fsx/\.hyperpod/[^/]+/state(/.*)?"
)
# The folders of these, whose times they change.
PASSED = re.compile(r"/etc|/var/lib/hyperpod|/fsx/\.hyperpod/[^/]+")


@dataclass(frozen=True, slots=True)
class Cluster:
    rig: Rig
    mode: Mode
    scripts: Path

    @property
    def login(self) -> VirtualNode:
        return self.rig.node("login", 0)

    @property
    def workers(self) -> list[VirtualNode]:
        return self.rig.group("workers")

    @contextmanager
    def killing(self) -> Iterator[None]:
        """Scripts that begin meanwhile are killed at the start of each of their steps, one after another."""
        entry, undisturbed = self.scripts / f"{self.mode}.sh", self.scripts / "undisturbed.sh"
        (self.scripts / "killed.py").write_text(KILLED)
        entry.rename(undisturbed)
        entry.write_text(KILLING_ENTRY.format(mode=self.mode, log=LOG))
        entry.chmod(0o755)
        try:
            yield
        finally:
            undisturbed.replace(entry)

    def run_scripts(self, node: VirtualNode, **environment: str) -> tuple[int, list[str]]:
        """The exit code of one more run of the node's scripts, and the lines that it logged."""
        before = len(log(node))
        given = {"NODE_SETUP_UPLOAD_SECONDS": "0", **ENVIRONMENT, **environment}
        done = node.run([f"{STAGE}/{self.mode}.sh"], environment=given, timeout=PATIENCE, check=False)
        return done.returncode, log(node)[before:]


@contextmanager
def boot_cluster(image: Image, directory: Path, mode: Mode, workers: int, agent_seconds: float = 0) -> Iterator[Cluster]:
    scripts = directory / "scripts"
    shutil.copytree(LIFECYCLE, scripts, ignore=shutil.ignore_patterns("__pycache__", ".mypy_cache"))
    enroot = directory / "enroot"
    enroot.write_text(ENROOT)
    enroot.chmod(0o755)
    binds = {enroot: "/usr/bin/enroot"}
    if PROMETHEUS.exists():
        binds[PROMETHEUS] = "/usr/bin/prometheus"
    with Rig.create(directory / "rig", image=image, wait_seconds=WAIT_SECONDS, binds=binds) as rig:
        specs = [NodeSpec("controller", "Controller", 1), NodeSpec("login", "Login", 1), NodeSpec("workers", "Compute", workers)]
        nodes = rig.boot(specs, scripts=scripts, config=CONFIG, mode=mode, environment=ENVIRONMENT, agent_seconds=agent_seconds)
        assert {node.name: node.failure for node in nodes if node.failure} == {}
        rig.await_idle()
        yield Cluster(rig, mode, scripts)


def log(node: VirtualNode) -> list[str]:
    return node.read(LOG).splitlines()


def look(node: VirtualNode) -> dict[str, list[Any]]:
    """Every file that the scripts may write, with type, mode, owner, content and, where nothing else changes it, time."""
    found = json.loads(node.run(["python3", "-c", LOOK]).stdout)
    kept = {path: entry for path, entry in found.items() if not PASSING.fullmatch(path)}
    return {path: entry[:-1] if PASSED.fullmatch(path) else entry for path, entry in kept.items()}


def end_state(node: VirtualNode) -> dict[str, Any]:
    """The node as the scripts left it, without the differences between runs."""
    state: dict[str, Any] = {path: [*entry[:4], RANDOM.sub("…", entry[4])] for path, entry in look(node).items()}
    state["units"] = {unit: show(node, unit, "ActiveState") + " " + show(node, unit, "UnitFileState") for unit in UNITS}
    return state


def differences(state: dict[str, Any], expected: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    keys = sorted({*state, *expected})
    return {key: (state.get(key), expected.get(key)) for key in keys if state.get(key) != expected.get(key)}


def show(node: VirtualNode, unit: str, name: str) -> str:
    return node.run(["systemctl", "show", f"--property={name}", "--value", unit]).stdout.strip()


def pids(node: VirtualNode) -> dict[str, str]:
    return {unit: show(node, unit, "MainPID") for unit in UNITS if not unit.endswith(".timer")}


def outcomes(lines: Sequence[str]) -> dict[str, str]:
    """The outcome of each step in these lines of the log."""
    ends = (re.search(r" end: (\w+): (.*) after [0-9.]+ s$", line) for line in lines)
    return {end[1]: end[2] for end in ends if end is not None}


def put_program(node: VirtualNode, path: str, text: str) -> None:
    node.put({path: File(content=text, mode=0o755)})


def settle(rig: Rig, nodes: Sequence[VirtualNode] | None = None) -> None:
    """Every worker idle, and none with a reason not to be."""
    rig.await_idle(nodes)
    assert reasons(rig) == ""


def reasons(rig: Rig) -> str:
    """Why nodes are drained or down, in Slurm's words."""
    return rig.controller.run(["sinfo", "--noheader", "--list-reasons"]).stdout


def every(nodes: Sequence[VirtualNode], command: Sequence[str], user: str = "root") -> str:
    """The command's output; it must be the same on each of the nodes."""
    said = {node.name: node.run(command, user=user).stdout for node in nodes}
    assert len(set(said.values())) == 1, said
    return said.popitem()[1]


@contextmanager
def scraping(rig: Rig) -> Iterator[Callable[[str], list[dict[str, Any]]]]:
    """A real Prometheus on the controller that scrapes every node over the network; it answers queries."""
    if not PROMETHEUS.exists():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("run tools/setup_nodes.sh: prometheus is not installed")
    targets = [f"{node.address}:9190" for node in rig.nodes]
    scrape = {"job_name": "nodes", "scrape_interval": "1s", "static_configs": [{"targets": targets}]}
    controller = rig.controller
    controller.put({"/run/prometheus/config.yml": File(content=json.dumps({"scrape_configs": [scrape]}))})
    options = ["--config.file=/run/prometheus/config.yml", "--storage.tsdb.path=/run/prometheus/data"]
    controller.run(["systemd-run", "--quiet", "--unit=prometheus", "prometheus", *options, "--web.listen-address=127.0.0.1:9090"])

    def query(expression: str) -> list[dict[str, Any]]:
        done = controller.run(["python3", "-c", ASK, expression], check=False)
        found: list[dict[str, Any]] = json.loads(done.stdout)["data"]["result"] if done.returncode == 0 else []
        return found

    try:
        yield query
    finally:
        controller.run(["systemctl", "stop", "prometheus"], check=False)
        controller.run(["rm", "-rf", "/run/prometheus"])
