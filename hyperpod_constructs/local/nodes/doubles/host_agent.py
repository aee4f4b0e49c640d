"""Double of the host agent: writes `resource_config.json` on every node, and Slurm's configuration on the controller.

Written from the service's documents and what public scripts expect of the result. What only tests need is marked so in
the text of `slurm.conf`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from hyperpod_constructs.local.nodes.node import File, VirtualNode

RESOURCE_CONFIG = "/opt/ml/config/resource_config.json"
SLURM = "/opt/slurm/etc"
INSTANCE_TYPE = "ml.m5.xlarge"
REAL_MEMORY_MIB = 2000
_LONGEST_NAME = 40

SLURM_CONF = """\
# Written by the host agent: do not edit.
ClusterName={cluster}
SlurmctldHost={controller.name}({controller.address})
SlurmUser=slurm
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmctldPidFile=/run/slurmctld/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.pid
SlurmctldParameters=enable_configless
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=permit_job_expansion
TaskPlugin=task/none
ReturnToService=1
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
include accounting.conf
# For virtual nodes: no control groups, declared hardware, and waits that suit a test.
ProctrackType=proctrack/linuxproc
SlurmdParameters=config_overrides
BatchStartTimeout=120
# A ping waits for a lost node MessageTimeout and 2 s, and slurmctld notes the answers of the others after it. It leaves out who was
# heard a third of SlurmdTimeout ago. With a limit below twice the sum of both, a loaded slurmctld calls a healthy node down too.
MessageTimeout=7
TCPTimeout=2
SlurmdTimeout=30
SlurmctldTimeout=10
KillWait=3
UnkillableStepTimeout=55
"""


def resource_config(nodes: Sequence[VirtualNode], cluster: str) -> str:
    """The file of the service, of its documented form."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for node in nodes:
        instance = {
            "InstanceName": f"{node.group}-{node.index + 1}",
            "AgentIpAddress": node.address,
            "CustomerIpAddress": node.address,
            "InstanceId": node.instance_id,
        }
        groups.setdefault(node.group, []).append(instance)
    arn = f"arn:aws:sagemaker:us-west-2:111122223333:cluster/{cluster}"
    listed = [{"Name": name, "InstanceType": INSTANCE_TYPE, "Instances": instances} for name, instances in groups.items()]
    document = {"ClusterType": "Slurm", "ClusterConfig": {"ClusterArn": arn, "ClusterName": cluster}, "InstanceGroups": listed}
    return json.dumps(document, indent=1)


def _slurm_name(cluster: str) -> str:
    """The cluster's name for Slurm, which takes 40 characters: with more, the names of its tables are too long for MariaDB.

    How the service shortens a name is not documented.

    Source: https://slurm.schedmd.com/slurm.conf.html#OPT_ClusterName
    """
    if len(cluster) <= _LONGEST_NAME:
        return cluster
    digest = hashlib.sha256(cluster.encode()).hexdigest()[:8]
    return f"{cluster[: _LONGEST_NAME - len(digest) - 1]}-{digest}"


def slurm_files(nodes: Sequence[VirtualNode], cluster: str, partitions: Mapping[str, str]) -> dict[str, File]:
    """The agent's files in Slurm's directory on the controller. `partitions` names the partition of each group."""
    controller = next(node for node in nodes if node.node_type == "Controller")
    daemons = [node for node in nodes if node is not controller]
    lines = [SLURM_CONF.format(cluster=_slurm_name(cluster), controller=controller), *map(_node_line, daemons)]
    workers = [node for node in nodes if node.node_type == "Compute"]
    by_partition: dict[str, list[str]] = {"dev": [node.name for node in workers]} if workers else {}
    for node in workers:
        by_partition.setdefault(partitions.get(node.group, node.group), []).append(node.name)
    for name, members in by_partition.items():
        default = "YES" if name == "dev" else "NO"
        lines.append(f"PartitionName={name} Nodes={','.join(members)} Default={default} MaxTime=INFINITE State=UP")
    devices = [
        f"NodeName={node.name} Name=gpu File=/dev/nvidia[0-{node.hardware.gpus - 1}]" for node in daemons if node.hardware.gpus
    ]
    if devices:
        lines.append("GresTypes=gpu")
    return {
        f"{SLURM}/cgroup.conf": File(content="CgroupPlugin=disabled\n"),
        f"{SLURM}/gres.conf": File(content="".join(f"{line}\n" for line in devices).replace("[0-0]", "0")),
        f"{SLURM}/slurm.conf": File(content="\n".join(lines) + "\n"),
    }


def _node_line(node: VirtualNode) -> str:
    gres = f" Gres=gpu:{node.hardware.gpus}" if node.hardware.gpus else ""
    return (
        f"NodeName={node.name} NodeAddr={node.address} CPUs={node.hardware.cpus} RealMemory={REAL_MEMORY_MIB}{gres} State=UNKNOWN"
    )
