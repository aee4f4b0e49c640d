"""A double of a node with every kind of device: two GPUs, two Neuron devices, two EFA ports, two disks."""

from __future__ import annotations

import json

from node_health.system import Result

from ..node_health.doubles import Cluster, Machine

GPUS = """\
0, GPU-a1, NVIDIA H100 80GB HBM3, 97, 41, 60000, 21559, 61, 650.10, 1980, 0, 0, No
1, GPU-b2, NVIDIA H100 80GB HBM3, 93, 39, 70000, 11559, 66, 640.90, 1965, 2, 1, Yes
"""
RUNTIME = {
    "pid": 17,
    "neuron_runtime_tag": "a user's words",
    "report": {
        "neuroncore_counters": {
            "neuroncores_in_use": {"0": {"neuroncore_utilization": 80.0}, "1": {"neuroncore_utilization": 40.0}}
        },
        "memory_used": {"neuron_runtime_used_bytes": {"host": 1000, "neuron_device": 4000}},
    },
}
MEMINFO = (
    "MemTotal:  1000 kB\nMemFree:  200 kB\nMemAvailable:  250 kB\nBuffers: 10 kB\nCached: 40 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n"
)
MOUNTS = "/dev/root / ext4 rw 0 0\n/dev/nvme1n1 /opt/sagemaker ext4 rw 0 0\n10.1.0.9@tcp:/abcd /fsx lustre rw 0 0\n"
COUNTERS = (
    *("tx_bytes", "tx_pkts", "rx_bytes", "rx_pkts", "rx_drops", "rdma_read_bytes", "rdma_read_resp_bytes", "rdma_read_wr_err"),
    *("rdma_write_bytes", "rdma_write_recv_bytes", "rdma_write_wr_err", "retrans_pkts", "retrans_timeout_events"),
)


def full_machine() -> Machine:
    machine = Cluster(["w0"])["w0"]
    machine.files["/proc/meminfo"] = MEMINFO
    machine.files["/proc/self/mounts"] = MOUNTS
    machine.programs["nvidia-smi"] = lambda command, text: Result(0, GPUS)
    machine.programs["neuron-monitor"] = lambda command, text: reports(RUNTIME)
    for device in ("neuron0", "neuron1"):
        for name in ("sram_ecc_uncorrected", "mem_ecc_uncorrected"):
            machine.files[f"/sys/devices/virtual/neuron_device/{device}/stats/hardware/{name}"] = "3\n"
    for device in ("rdmap16s0", "rdmap32s0"):
        for position, name in enumerate(COUNTERS):
            machine.files[f"/sys/class/infiniband/{device}/ports/1/hw_counters/{name}"] = f"{position}\n"
    return machine


def reports(*runtimes: object) -> Result:
    """Neuron-monitor, which is ended at its deadline within its second report."""
    report = json.dumps({"neuron_runtime_data": list(runtimes)})
    return Result(None, f"{report}\n{report[:7]}")
