"""The real lifecycle scripts on real systemd and Slurm: boot, run again, replace, reboot, update, kill; in both modes.

The tests share one cluster per mode and run in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hyperpod_constructs.local.nodes import Image, VirtualNode
from tests.nodes.configuration import LUSTRE, OPENZFS
from tests.nodes.lifecycle import (
    UNITS,
    USERS,
    Cluster,
    boot_cluster,
    differences,
    end_state,
    every,
    log,
    look,
    outcomes,
    pids,
    put_program,
    reasons,
    scraping,
    settle,
    show,
)
from tests.patience import until

EXPECTED_STEPS = {
    ("on_init_complete", "Controller"): "install boot mounts users homes user_keys host_keys image limits log_rotation motd health "
    "metrics hooks restore slurm_settings reconfigure keep",
    (
        "on_init_complete",
        "Login",
    ): "install boot mounts users homes user_keys host_keys image limits log_rotation motd health metrics hooks",
    (
        "on_create",
        "Controller",
    ): "install boot mounts users homes user_keys host_keys limits log_rotation motd health metrics hooks "
    "munge agent slurm_settings accounting restore slurmdbd slurmctld reconfigure associations keep",
    (
        "on_create",
        "Login",
    ): "install boot mounts users homes user_keys host_keys limits log_rotation motd health metrics hooks munge slurmd",
}


@pytest.fixture(scope="module", params=["on_init_complete", "on_create"])
def cluster(request: pytest.FixtureRequest, image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    # Where the scripts own the node, the agent writes slurm.conf while they run.
    late = 1 if request.param == "on_create" else 0
    with boot_cluster(image, tmp_path_factory.mktemp("cluster"), request.param, workers=4, agent_seconds=late) as made:
        yield made


def sacct(node: VirtualNode, job: str) -> list[str]:
    fields = "--format=JobName,User,State"
    done = node.run(["sacct", "--allusers", "--noheader", "--parsable2", "--allocations", f"--jobs={job}", fields])
    return done.stdout.split("\n")[0].split("|")


def test_every_step_succeeds_on_every_node(cluster: Cluster) -> None:
    for node in cluster.rig.nodes:
        lines = log(node)
        assert [line for line in lines if "skipped: " in line or "failed: " in line] == []
        steps = EXPECTED_STEPS[cluster.mode, "Controller" if node.node_type == "Controller" else "Login"].split()
        if node.node_type == "Compute":
            steps.insert(steps.index("limits"), "containers")
        assert [name for name in outcomes(lines) if name != cluster.mode] == steps
        assert node.run(["systemctl", "--failed", "--plain", "--no-legend"]).stdout == ""


def test_a_step_of_a_user_runs_on_every_worker_and_is_accounted(cluster: Cluster) -> None:
    settle(cluster.rig)
    command = ["srun", "--partition=training", "--nodes=4", "--job-name=row", "sh", "-c", "hostname; echo $SLURM_JOB_ID"]
    said = cluster.login.run(command, user="alice").stdout.split()
    names, jobs = {word for word in said if word.startswith("ip-")}, {word for word in said if word.isdigit()}
    assert names == {node.name for node in cluster.workers}
    assert sacct(cluster.login, jobs.pop()) == ["row", "alice", "COMPLETED"]


def test_users_and_homes_are_the_same_on_every_node(cluster: Cluster) -> None:
    nodes = cluster.rig.nodes
    for user in USERS:
        name = str(user["name"])
        assert every(nodes, ["id", name]).startswith(f"uid={user['uid']}({name})")
        cluster.login.run(["tee", "seen"], user=name, input=name)
        assert every(nodes, ["cat", "seen"], name) == name
    assert every(nodes, ["sudo", "id", "-un"], "alice") == "root\n"
    assert every(nodes, ["cat", "/home/alice/.ssh/id_ed25519"]).startswith("-----BEGIN OPENSSH")
    ssh = ["ssh", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=accept-new", cluster.workers[0].name, "hostname"]
    assert cluster.login.run(ssh, user="bob").stdout == f"{cluster.workers[0].name}\n"


def test_homes_are_on_openzfs_and_state_is_on_lustre(cluster: Cluster) -> None:
    mounted = every(cluster.rig.nodes, ["grep", "-E", " /(home|fsx) ", "/proc/mounts"])
    assert [line.split()[:3] for line in mounted.splitlines()] == [
        [f"{LUSTRE['dns_name']}@tcp:/{LUSTRE['mount_name']}", "/fsx", "lustre"],
        [f"{OPENZFS['dns_name']}:/fsx", "/home", "nfs4"],
    ]
    assert {"alice", "bob"} <= {path.name for path in (cluster.rig.openzfs / OPENZFS["dns_name"]).iterdir()}
    assert {path.name for path in cluster.rig.shared.iterdir()} == {".hyperpod"}


def test_steps_have_the_limits_of_slurmd_whatever_the_shell_has(cluster: Cluster) -> None:
    said = cluster.login.run(["sh", "-c", "ulimit -l 64; ulimit -n 64; srun sh -c 'ulimit -l; ulimit -n'"]).stdout.split()
    worker = cluster.workers[0]
    limits = worker.read(f"/proc/{pids(worker)['slurmd']}/limits")
    memory, files = (re.search(rf"{name} +\S+ +(\S+)", limits, re.MULTILINE) for name in ("Max locked memory", "Max open files"))
    assert memory is not None
    assert files is not None
    assert said == [memory[1] if memory[1] == "unlimited" else str(int(memory[1]) // 1024), files[1]]
    assert memory[1] in ("unlimited", re.findall(r"Max locked memory +\S+ +(\S+)", worker.read("/proc/1/limits"))[0])


def test_slurm_has_our_settings(cluster: Cluster) -> None:
    said = cluster.login.run(["scontrol", "show", "config"]).stdout
    config = dict(re.findall(r"^(\w+)\s*= (.*?)\s*$", said, re.MULTILINE))
    expected = {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AuthInfo": "cred_expire=30",
        "HealthCheckInterval": "60 sec",
        "HealthCheckProgram": "/opt/hyperpod/bin/health_check",
        "PropagateResourceLimitsExcept": "MEMLOCK,NOFILE",
        "SchedulerParameters": "permit_job_expansion",
    }
    assert {name: config[name] for name in expected} == expected
    assert "hyperpod_prolog" in said
    assert cluster.rig.controller.run(["grep", "-c", "include", "/opt/slurm/etc/slurm.conf"]).stdout == "1\n"


def test_hooks_that_arrive_without_their_mode_become_executable(cluster: Cluster) -> None:
    worker, sent = cluster.workers[0], "/var/spool/slurmd/conf-cache/hyperpod_prolog"
    mode = ["stat", "--format=%a", sent]
    assert worker.run(mode).stdout == "755\n"
    # As slurmd writes what slurmctld has sent before this node registered.
    worker.run(["sh", "-euc", f"cp {sent} {sent}.new; chmod 644 {sent}.new; mv {sent}.new {sent}"])
    until(lambda: worker.run(mode).stdout == "755\n")


def test_hooks_run_and_broken_ones_drain_no_node(cluster: Cluster) -> None:
    worker = cluster.workers[0]
    hooks = {f"/opt/hyperpod/{kind}.d/broken": f"/run/seen-{kind}" for kind in ("prolog", "epilog")}
    for hook, seen in hooks.items():
        put_program(worker, hook, f"#!/bin/sh\ntouch {seen}\nexit 1\n")
    cluster.login.run(["srun", f"--nodelist={worker.name}", "true"])
    until(lambda: worker.run(["ls", *hooks.values()], check=False).returncode == 0)
    worker.run(["rm", *hooks, *hooks.values()])
    cluster.rig.await_idle()
    assert reasons(cluster.rig) == ""


def test_only_the_controller_touches_the_controller(cluster: Cluster) -> None:
    slurmctld = cluster.rig.controller.read("/var/log/slurm/slurmctld.log")
    assert slurmctld.count("_slurm_rpc_reconfigure_controller: completed") <= 1
    assert len(re.findall(r"slurmctld version \S+ started", slurmctld)) == (2 if cluster.mode == "on_init_complete" else 1)
    for node in [cluster.login, *cluster.workers]:
        assert not {"reconfigure", "slurmctld", "slurm_settings"} & outcomes(log(node)).keys()


def test_the_figures_are_told_by_a_program_that_is_not_root(cluster: Cluster) -> None:
    for node in cluster.rig.nodes:
        await_active(node, {"hyperpod-metrics"})
        uids = re.search(r"^Uid:\t(\d+)\t(\d+)", node.read(f"/proc/{pids(node)['hyperpod-metrics']}/status"), re.MULTILINE)
        assert uids is not None
        assert "0" not in uids.groups()


def test_prometheus_scrapes_every_node(cluster: Cluster) -> None:
    with scraping(cluster.rig) as query:
        told = "node_memory_MemTotal_bytes > 0"
        until(lambda: len(query(told)) == len(cluster.rig.nodes), "figures of all nodes", lambda: query("up"))
        found = {series["metric"]["__name__"] for series in query('{job="nodes", __name__!~"up|scrape_.*"}')}
        assert {name.rpartition("_")[0] for name in found} >= {
            "node_memory_MemAvailable",
            "node_filesystem_avail",
            "hyperpod_reader",
        }
        assert query("hyperpod_reader_up == 0") == []
        assert {series["metric"]["mountpoint"] for series in query("node_filesystem_size_bytes")} >= {"/"}


def test_a_second_run_changes_nothing(cluster: Cluster) -> None:
    nodes = cluster.rig.nodes
    before = {node: (look(node), pids(node)) for node in nodes}
    with ThreadPoolExecutor() as pool:
        runs = dict(zip(nodes, pool.map(cluster.run_scripts, nodes), strict=True))
    for node, (code, lines) in runs.items():
        assert code == 0, lines
        assert {name: said for name, said in outcomes(lines).items() if said != "ok, nothing to change"} == {cluster.mode: "ok"}
        files, processes = before[node]
        assert differences(look(node), files) == {}
        assert pids(node) == processes


def test_a_replaced_worker_rejoins_under_its_name_with_its_host_keys(cluster: Cluster) -> None:
    old = cluster.workers[1]
    public = old.read("/etc/ssh/ssh_host_ed25519_key.pub")
    new = cluster.rig.replace(old)
    assert (new.failure, new.name) == (None, old.name)
    assert new.instance_id != old.instance_id
    settle(cluster.rig)
    assert new.read("/etc/ssh/ssh_host_ed25519_key.pub") == public
    scan = cluster.login.run(["ssh-keyscan", "-t", "ed25519", new.name]).stdout
    assert public.split()[1] in scan
    assert cluster.login.run(["srun", f"--nodelist={new.name}", "hostname"], user="bob").stdout == f"{new.name}\n"


def await_active(node: VirtualNode, units: set[str]) -> None:
    until(lambda: all(show(node, unit, "ActiveState") == "active" for unit in units))


def test_every_role_comes_back_after_a_reboot(cluster: Cluster) -> None:
    controller, worker = cluster.rig.controller, cluster.workers[0]
    rebooted = [cluster.login, worker, controller]
    copy = "/fsx/.hyperpod/virtual/state/state.tar.gz"
    kept = controller.run(["stat", "-c", "%y", copy], check=False).stdout
    counts = {node: len(log(node)) for node in rebooted}
    active = {node: {unit for unit in UNITS if show(node, unit, "ActiveState") == "active"} for node in rebooted}
    worker.run(["touch", "/opt/dlami/nvme/enroot/data/lost"])
    with ThreadPoolExecutor() as pool:
        list(pool.map(VirtualNode.reboot, rebooted))
    for node in rebooted:
        await_active(node, active[node])
        assert " /fsx lustre " in node.read("/proc/mounts")
        assert {name for name in outcomes(log(node)[counts[node] :]) if name not in ("boot", "keep")} <= {"mounts", "containers"}
        for daemon in {"slurmd", "slurmctld"} & active[node]:
            times = [int(show(node, unit, "ActiveEnterTimestampMonotonic")) for unit in ("hyperpod-boot", daemon)]
            assert times == sorted(times)
    assert worker.run(["stat", "-c", "%a %n", "/opt/dlami/nvme/enroot/data"]).stdout.startswith("1777 ")
    assert worker.run(["ls", "/opt/dlami/nvme/enroot/data"]).stdout == ""
    assert controller.run(["stat", "-c", "%y", copy]).stdout > kept
    settle(cluster.rig)
    cluster.login.run(["srun", "--nodes=4", "true"], user="alice")


def update_controller(cluster: Cluster) -> VirtualNode:
    """A new root volume for the controller, with the last copy of its state on the shared file system."""
    cluster.rig.controller.run(["systemctl", "start", "hyperpod-keep.service"])
    new = cluster.rig.replace(cluster.rig.controller)
    assert new.failure is None
    settle(cluster.rig)
    return new


def test_a_software_update_of_the_controller_keeps_accounting_and_jobs(cluster: Cluster) -> None:
    login = cluster.login
    done = login.run(["srun", "--job-name=done", "printenv", "SLURM_JOB_ID"], user="alice").stdout.strip()
    batch = ["sbatch", "--parsable", "--hold", "--job-name=held", "--output=/dev/null", "--wrap=true"]
    held = login.run(batch, user="alice").stdout.strip()
    # Slurm itself sends and writes what has become of its jobs within seconds.
    until(lambda: sacct(login, done)[2:] == ["COMPLETED"])
    saved = ["grep", "-q", "held", "/var/spool/slurmctld/job_state"]
    until(lambda: cluster.rig.controller.run(saved, check=False).returncode == 0)
    controller = update_controller(cluster)
    assert "MISMATCH" not in controller.read("/var/log/slurm/slurmctld.log")
    assert sacct(login, done) == ["done", "alice", "COMPLETED"]
    assert login.run(["squeue", "--noheader", "--format=%i %T"]).stdout == f"{held} PENDING\n"
    login.run(["scontrol", "release", held], user="alice")
    until(lambda: sacct(login, held)[2:] == ["COMPLETED"])
    assert int(login.run(["srun", "printenv", "SLURM_JOB_ID"], user="bob").stdout) > int(held)


def test_killed_at_every_step_a_node_ends_like_an_undisturbed_one(cluster: Cluster) -> None:
    worker = cluster.workers[2]
    expected: list[dict[str, Any]] = [end_state(worker), end_state(cluster.rig.controller)]
    with cluster.killing():
        worker = cluster.rig.replace(worker)
        controller = update_controller(cluster)
    assert worker.failure is None
    for node, undisturbed in zip((worker, controller), expected, strict=True):
        steps = [line.split(" start: ")[1] for line in log(node) if " start: " in line]
        kills = int(next(line.split()[1] for line in log(node) if line.startswith("killed ")))
        assert kills == len(set(steps)), "\n".join(log(node))
        assert differences(end_state(node), undisturbed) == {}
    settle(cluster.rig)
