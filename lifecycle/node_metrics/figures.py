"""The few figures of a node that CloudWatch keeps: each is a metric of its own there, and costs by the month."""

from __future__ import annotations

from typing import Callable, Iterable, NamedTuple, Sequence

from node_metrics.catalogue import Sample

BYTES_PER_SECOND = "Bytes/Second"


class Figure(NamedTuple):
    name: str
    unit: str
    value: float


class Reading(NamedTuple):
    """The samples of one look at the node, with its time in seconds."""

    time: float
    samples: Sequence[Sample]

    def values(self, name: str) -> list[float]:
        return [sample.value for sample in self.samples if sample.name == name]


def figures(now: Reading, before: Reading | None) -> list[Figure]:
    """The figures that the samples allow. Those of counters need an earlier look, and are left out after a counter began anew."""
    found = [Figure(name, unit, value) for name, unit, of in LEVELS if (value := of(now)) is not None]
    if before is not None and now.time > before.time:
        for name, unit, counter in CHANGES:
            grown = _grown(now.values(counter), before.values(counter))
            if grown is not None:
                found.append(Figure(name, unit, grown / (now.time - before.time) if unit == BYTES_PER_SECOND else grown))
    return found


def _grown(now: Sequence[float], before: Sequence[float]) -> float | None:
    grown = sum(now) - sum(before)
    return grown if now and len(now) == len(before) and grown >= 0 else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _sum(values: Sequence[float]) -> float | None:
    return sum(values) if values else None


def _gpu_memory(now: Reading) -> float | None:
    return _fullest(
        _used(used, used + free) for used, free in zip(*(now.values(f"DCGM_FI_DEV_FB_{kind}") for kind in ("USED", "FREE")))
    )


def _memory(now: Reading) -> float | None:
    total, left = (now.values(f"node_memory_{name}_bytes") for name in ("MemTotal", "MemAvailable"))
    return _used(total[0] - left[0], total[0]) if total and left else None


def _disk(now: Reading) -> float | None:
    pairs = zip(now.values("node_filesystem_size_bytes"), now.values("node_filesystem_avail_bytes"))
    return _fullest(_used(size - free, size) for size, free in pairs)


def _used(used: float, size: float) -> float:
    return 100 * used / size if size else 0.0


def _fullest(percents: Iterable[float]) -> float | None:
    return max(percents, default=None)


def _neuron_utilization(now: Reading) -> float | None:
    ratio = _mean(now.values("neuroncore_utilization_ratio"))
    return None if ratio is None else 100 * ratio


def _neuron_memory(now: Reading) -> float | None:
    name, place = "neuron_runtime_memory_used_bytes", "neuron_device"
    return _sum([sample.value for sample in now.samples if sample.name == name and sample.labels["memory_location"] == place])


LEVELS: Sequence[tuple[str, str, Callable[[Reading], float | None]]] = (
    ("gpu_utilization_percent", "Percent", lambda now: _mean(now.values("DCGM_FI_DEV_GPU_UTIL"))),
    ("gpu_memory_used_percent", "Percent", _gpu_memory),
    ("gpu_temperature_celsius", "None", lambda now: max(now.values("DCGM_FI_DEV_GPU_TEMP"), default=None)),
    ("gpu_power_watts", "None", lambda now: _sum(now.values("DCGM_FI_DEV_POWER_USAGE"))),
    ("memory_used_percent", "Percent", _memory),
    ("neuroncore_utilization_percent", "Percent", _neuron_utilization),
    ("neuron_memory_used_bytes", "Bytes", _neuron_memory),
    ("disk_used_percent", "Percent", _disk),
)
CHANGES = (
    ("gpu_uncorrected_errors", "Count", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"),
    ("neuron_uncorrected_errors", "Count", "hardware_ecc_events_total"),
    ("efa_sent_bytes_per_second", BYTES_PER_SECOND, "node_amazonefa_tx_bytes"),
    ("efa_received_bytes_per_second", BYTES_PER_SECOND, "node_amazonefa_rx_bytes"),
    ("efa_dropped_packets", "Count", "node_amazonefa_rx_drops"),
)
SETS: dict[str, Sequence[str]] = {
    "gpu": tuple(name for name, *_ in (*LEVELS, *CHANGES) if name.startswith("gpu_")),
    "memory": ("memory_used_percent",),
    "neuron": tuple(name for name, *_ in (*LEVELS, *CHANGES) if name.startswith("neuron")),
    "efa": tuple(name for name, *_ in CHANGES if name.startswith("efa_")),
    "disk": ("disk_used_percent",),
}
"""The figures by the set of samples that they come from."""
