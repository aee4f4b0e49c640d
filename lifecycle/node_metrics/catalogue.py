"""Every metric that the node can tell, with its kind and its meaning.

Sources of the names, read in November 2026:
- https://github.com/prometheus/node_exporter (memory, file systems)
- https://github.com/NVIDIA/dcgm-exporter, `etc/default-counters.csv` (GPUs)
- https://github.com/awslabs/awsome-distributed-ai, `4.validation_and_observability/3.efa-node-exporter` (EFA)
- https://awsdocs-neuron.readthedocs-hosted.com, `neuron-monitor-prometheus.py` (Neuron)
"""

from __future__ import annotations

from typing import Mapping, NamedTuple

GAUGE, COUNTER = "gauge", "counter"


class Metric(NamedTuple):
    kind: str
    help: str


class Sample(NamedTuple):
    """One value of a metric of the catalogue."""

    name: str
    labels: Mapping[str, str]
    value: float


EFA_COUNTERS = {
    "tx_bytes": "Bytes sent",
    "tx_pkts": "Packets sent",
    "rx_bytes": "Bytes received",
    "rx_pkts": "Packets received",
    "rx_drops": "Packets received and dropped",
    "rdma_read_bytes": "Bytes read by RDMA",
    "rdma_read_resp_bytes": "Bytes sent in answer to RDMA reads",
    "rdma_read_wr_err": "RDMA reads that failed",
    "rdma_write_bytes": "Bytes written by RDMA",
    "rdma_write_recv_bytes": "Bytes received by RDMA writes",
    "rdma_write_wr_err": "RDMA writes that failed",
    "retrans_pkts": "Packets sent again",
    "retrans_timeout_events": "Packets sent again after a timeout",
}
"""Counters of a port below `hw_counters`; the driver's version decides which there are."""

MEMORY_FIELDS = ("MemTotal", "MemAvailable", "MemFree", "Buffers", "Cached", "SwapTotal", "SwapFree")

CATALOGUE: dict[str, Metric] = {
    "DCGM_FI_DEV_GPU_UTIL": Metric(GAUGE, "GPU utilization in percent"),
    "DCGM_FI_DEV_MEM_COPY_UTIL": Metric(GAUGE, "Memory utilization in percent of the time"),
    "DCGM_FI_DEV_FB_USED": Metric(GAUGE, "Framebuffer memory in use, in MiB"),
    "DCGM_FI_DEV_FB_FREE": Metric(GAUGE, "Framebuffer memory free, in MiB"),
    "DCGM_FI_DEV_GPU_TEMP": Metric(GAUGE, "GPU temperature in degrees Celsius"),
    "DCGM_FI_DEV_POWER_USAGE": Metric(GAUGE, "Power draw in watts"),
    "DCGM_FI_DEV_SM_CLOCK": Metric(GAUGE, "Clock of the streaming multiprocessors in MHz"),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": Metric(COUNTER, "Uncorrectable memory errors since the driver was loaded"),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": Metric(COUNTER, "Memory rows remapped after uncorrectable errors"),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": Metric(GAUGE, "1 if a memory row could not be remapped"),
    **{f"node_memory_{name}_bytes": Metric(GAUGE, f"{name} of /proc/meminfo") for name in MEMORY_FIELDS},
    "neuroncore_utilization_ratio": Metric(GAUGE, "Utilization of a NeuronCore in use, 0 to 1"),
    "neuron_runtime_memory_used_bytes": Metric(GAUGE, "Memory that the Neuron runtimes use"),
    "hardware_ecc_events_total": Metric(COUNTER, "Uncorrected memory errors of a Neuron device since its driver was loaded"),
    **{f"node_amazonefa_{name}": Metric(COUNTER, f"{text} by an EFA port") for name, text in EFA_COUNTERS.items()},
    "node_filesystem_size_bytes": Metric(GAUGE, "Size of a local file system"),
    "node_filesystem_avail_bytes": Metric(GAUGE, "Space of a local file system that users may still fill"),
    "node_filesystem_files": Metric(GAUGE, "Inodes of a local file system"),
    "node_filesystem_files_free": Metric(GAUGE, "Free inodes of a local file system"),
    "hyperpod_reader_up": Metric(GAUGE, "1 if the last look at this set of figures succeeded"),
}
