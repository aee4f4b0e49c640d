"""What goes wrong around the lifecycle scripts: a node that fails, a lost file system, an agent that lags, a large cluster.

The tests share one cluster and run in their order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from hyperpod_constructs.local.nodes import File, Image, NodeSpec, VirtualNode
from hyperpod_constructs.local.nodes.doubles.health_agent import HealthAgent
from tests.nodes.configuration import SLURM_CONF
from tests.nodes.lifecycle import CONFIG, ENVIRONMENT, STATE, Cluster, boot_cluster, log, outcomes, put_program, settle, show
from tests.patience import until

RESOURCE_CONFIG = "/opt/ml/config/resource_config.json"
MANY = 1000
# The patience of a boot is minutes; a test need not wait for it.
IMPATIENT = "[Service]\nEnvironment=NODE_SETUP_MOUNT_SECONDS=2\n"


@pytest.fixture(scope="module")
def cluster(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with boot_cluster(image, tmp_path_factory.mktemp("cluster"), "on_create", workers=2) as made:
        yield made


@pytest.fixture
def worker(cluster: Cluster) -> VirtualNode:
    return cluster.workers[0]


def test_fails_on_one_worker_with_the_leaf_cause_while_the_others_work(cluster: Cluster) -> None:
    users = [{"name": "carol", "uid": 10003, "gid": 10003, "groups": ["nobodys"]}]
    config = {**CONFIG, "software": {**CONFIG["software"], "users": users}}
    spec = NodeSpec("workers", "Compute", 1)
    (node,) = cluster.rig.boot([spec], scripts=cluster.scripts, config=config, mode=cluster.mode, environment=ENVIRONMENT)
    try:
        cause = "users: user carol should join group 'nobodys', which this node does not have; the image makes groups"
        assert node.failure == log(node)[-1]
        assert log(node)[-1].endswith(f" failed: {cause}")
        assert show(node, "slurmd", "ActiveState") == "inactive"
        others = cluster.workers[:2]
        cluster.rig.await_idle(others)
        cluster.login.run(["srun", f"--nodelist={','.join(other.name for other in others)}", "true"], user="alice")
    finally:
        cluster.rig.remove(node)
    settle(cluster.rig)


def test_fails_without_a_resource_config(cluster: Cluster, worker: VirtualNode) -> None:
    whole = worker.read(RESOURCE_CONFIG)
    worker.run(["rm", RESOURCE_CONFIG])
    code, lines = cluster.run_scripts(worker, NODE_SETUP_ROLE_SECONDS="2")
    worker.put({RESOURCE_CONFIG: File(content=whole, mode=0o600)})
    assert code == 1
    assert lines[-1].endswith(f"failed: {RESOURCE_CONFIG}: cannot be read: No such file or directory")


def test_a_stale_resource_config_is_awaited_then_named(cluster: Cluster, worker: VirtualNode) -> None:
    whole = worker.read(RESOURCE_CONFIG)
    stale = json.loads(whole)
    stale["InstanceGroups"] = [group for group in stale["InstanceGroups"] if group["Name"] != "workers"]
    stale["InstanceGroups"].append({"Name": "workers", "InstanceType": "ml.m5.xlarge", "Instances": None})
    worker.put({RESOURCE_CONFIG: File(content=json.dumps(stale), mode=0o600)})
    code, lines = cluster.run_scripts(worker, NODE_SETUP_ROLE_SECONDS="2")
    assert code == 1
    assert f"{RESOURCE_CONFIG}: names no instance with an address of this node ({worker.address})" in lines[-1]
    worker.run(["sh", "-c", f"(sleep 3; printf '%s' \"$0\" > {RESOURCE_CONFIG}) >/dev/null 2>&1 &", whole])
    code, lines = cluster.run_scripts(worker)
    assert code == 0, lines
    settle(cluster.rig)


def test_a_lost_file_system_replaces_and_drains_no_node(cluster: Cluster) -> None:
    """First it fails everywhere; then a node reboots while whoever mounts it hangs."""
    rig = cluster.rig
    instances = [node.instance_id for node in rig.nodes]
    with HealthAgent(rig, find_dead=False) as agent:
        rig.fail_mount("fail")
        for node in rig.nodes:
            node.run(["umount", "--lazy", "/fsx"])
            node.run(["/opt/hyperpod/bin/health_check"], check=False)
        code, lines = cluster.run_scripts(cluster.login, NODE_SETUP_MOUNT_SECONDS="3")
        assert code == 1
        assert re.search(r" failed: mounts: mount -t lustre: ended with 110: mount.lustre: .* Connection timed out$", lines[-1])
        assert rig.controller.run(["systemctl", "start", "hyperpod-keep.service"], check=False).returncode != 0
        assert rig.controller.run(["ls", "/fsx"]).stdout == ""
        rig.fail_mount("hang")
        rebooted = cluster.workers[0]
        before = len(log(rebooted))
        put_program(rebooted, "/etc/systemd/system/hyperpod-boot.service.d/test.conf", IMPATIENT)
        rebooted.reboot()
        until(lambda: show(rebooted, "slurmd", "ActiveState") == "active")
        assert any(
            line.endswith("failed: mounts: mount -t lustre: ended with 124: not done after 2 s") for line in log(rebooted)[before:]
        )
        settle(rig)
        cluster.login.run(["srun", "--nodes=2", "true"])
        rig.fail_mount(None)
        rebooted.run(["systemctl", "revert", "hyperpod-boot.service"])
        for node in rig.nodes:
            node.run(["systemctl", "restart", "hyperpod-boot"])
            assert " /fsx lustre " in node.read("/proc/mounts")
        assert agent.actions == []
    assert [node.instance_id for node in rig.nodes] == instances
    settle(rig)
    cluster.login.run(["srun", "--nodes=2", "true"], user="alice")


def test_slurmctld_takes_our_settings_among_a_thousand_nodes(cluster: Cluster) -> None:
    controller = cluster.rig.controller
    lines = [f"NodeName=far-[1-{MANY}] NodeAddr=127.0.0.1 Port=1 CPUs=192 RealMemory=1000 State=UNKNOWN"]
    one_by_one = "".join(lines[0].replace(f"[1-{MANY}]", str(number)) + "\n" for number in range(1, MANY + 1))
    partition = f"PartitionName=far Nodes=far-[1-{MANY}] State=UP\n"
    controller.put({SLURM_CONF: File(content=controller.read(SLURM_CONF) + one_by_one + partition)})
    before = len(controller.read("/var/log/slurm/slurmctld.log"))
    controller.run(["rm", f"{STATE}/applied.json", "/opt/slurm/etc/hyperpod_prolog"])
    code, lines = cluster.run_scripts(controller)
    assert code == 0, lines
    assert [line for line in lines if "skipped: " in line] == []
    assert outcomes(lines)["reconfigure"] == "ok, 3 changes"
    said = controller.read("/var/log/slurm/slurmctld.log")[before:]
    assert (
        re.findall(
            r"(?:error|fatal): (?!.*far-).*(?:Prolog|Epilog|HealthCheck|AuthInfo|Propagate|Scheduler|parse|unrecognized).*", said
        )
        == []
    )
    count = controller.run(["sinfo", "--noheader", "--partition=far", "--format=%D"]).stdout.split()
    assert sum(map(int, count)) == MANY
    assert "cred_expire=30" in controller.run(["scontrol", "show", "config"]).stdout
    cluster.rig.await_idle()
    cluster.login.run(["srun", "--partition=training", "--nodes=2", "true"], user="alice")
