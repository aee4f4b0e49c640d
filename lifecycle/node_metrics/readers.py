"""The readers, one for each set: each looks at the node and returns its samples.

Programs and drivers are strangers: what is no finite number is left out, and so are rows beyond the number of devices of a node. A
device that is not there has no samples; one that does not answer is an error of its set.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Sequence

from node_health.bounds import load, shown
from node_health.checks.context import Context
from node_health.checks.disk import PATHS
from node_health.checks.kernel_log import NEURON_COUNTERS
from node_health.checks.mounts import mounted
from node_health.devices import EFA_DEVICES, ask_gpus, efa_devices, neuron_counter, neuron_devices, table

from node_metrics.catalogue import EFA_COUNTERS, MEMORY_FIELDS, Sample

MOST_DEVICES = 64
MOST_CORES = 1024
MOST_VALUE = 1e18
GPU_SECONDS = 12.0
NEURON_SECONDS = 4.0
NEURON_CONFIG = Path(__file__).parent / "neuron_monitor.json"
NEURON_REPORT = 1024 * 1024
PLACES = ("host", "neuron_device")
MEMORY_LINE = re.compile(r"(\w+):\s+(\d{1,18}) kB")
GPU_LABELS = ("index", "uuid", "name")
GPU_FIELDS = {
    "utilization.gpu": "DCGM_FI_DEV_GPU_UTIL",
    "utilization.memory": "DCGM_FI_DEV_MEM_COPY_UTIL",
    "memory.used": "DCGM_FI_DEV_FB_USED",
    "memory.free": "DCGM_FI_DEV_FB_FREE",
    "temperature.gpu": "DCGM_FI_DEV_GPU_TEMP",
    "power.draw": "DCGM_FI_DEV_POWER_USAGE",
    "clocks.sm": "DCGM_FI_DEV_SM_CLOCK",
    "ecc.errors.uncorrected.volatile.total": "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
    "remapped_rows.uncorrectable": "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "remapped_rows.failure": "DCGM_FI_DEV_ROW_REMAP_FAILURE",
}
OLD_GPU_FIELDS = [name for name in GPU_FIELDS if not name.startswith("remapped_rows.")]
WORDS = {"Yes": 1.0, "No": 0.0}


class ReaderError(Exception):
    """A set of figures cannot be read now; the message says why."""


def gpu(context: Context) -> list[Sample]:
    program = context.system.find("nvidia-smi")
    if program is None:
        return []
    fields = [",".join([*GPU_LABELS, *names]) for names in (GPU_FIELDS, OLD_GPU_FIELDS)]
    answer = ask_gpus(context, program, fields, "csv,noheader,nounits", GPU_SECONDS)
    if answer.code != 0:
        said = shown(answer.last_line, 200) or "nothing"
        raise ReaderError(f"nvidia-smi {'does not answer' if answer.code is None else f'ends with {answer.code}'}: {said}")
    rows = [row for row in table(answer.output) if len(row) > len(GPU_LABELS) and row[0].isdigit()]
    return [sample for row in rows[:MOST_DEVICES] for sample in _gpu(row)]


def _gpu(row: Sequence[str]) -> Iterator[Sample]:
    index, uuid, name = (shown(text, 80) for text in row[: len(GPU_LABELS)])
    labels = {"gpu": index, "UUID": uuid, "device": f"nvidia{index}", "modelName": name}
    for metric, text in zip(GPU_FIELDS.values(), row[len(GPU_LABELS) :]):
        value = WORDS.get(text, number(text))
        if value is not None:
            yield Sample(metric, labels, value)


def memory(context: Context) -> list[Sample]:
    lines = dict(MEMORY_LINE.findall(context.system.read("/proc/meminfo") or ""))
    return [Sample(f"node_memory_{name}_bytes", {}, float(lines[name]) * 1024) for name in MEMORY_FIELDS if name in lines]


def neuron(context: Context) -> list[Sample]:
    devices = neuron_devices(context.system)[:MOST_DEVICES]
    events = [
        Sample("hardware_ecc_events_total", {"neuron_device_index": device[len("neuron") :], "event_type": name}, value)
        for device in devices
        for name in NEURON_COUNTERS
        if (value := number(neuron_counter(context.system, device, name))) is not None
    ]
    program = context.system.find("neuron-monitor")
    if program is None or not devices:
        return events
    # The program reports without end, and ends when it is told to: one complete report is enough.
    answer = context.run("neuron-monitor", [program, "-c", str(NEURON_CONFIG)], NEURON_SECONDS)
    reports = (load(line, NEURON_REPORT) for line in answer.output.splitlines())
    report = next((found for found in reports if isinstance(found, dict)), None)
    if report is None:
        said = shown(answer.last_line, 200) or "nothing"
        raise ReaderError(f"neuron-monitor has no report within {NEURON_SECONDS:.0f} s: {said}")
    return events + list(_runtimes(report))


def _runtimes(report: Mapping[str, Any]) -> Iterator[Sample]:
    """Utilization by core, and memory of all runtimes together: their names are the users', and would be labels without end."""
    cores: dict[str, float] = {}
    used = dict.fromkeys(PLACES, 0.0)
    for runtime in _items(report.get("neuron_runtime_data"))[:MOST_CORES]:
        parts = _object(_object(runtime).get("report"))
        in_use = _object(_object(parts.get("neuroncore_counters")).get("neuroncores_in_use"))
        for core, counters in list(in_use.items())[:MOST_CORES]:
            value = number(_object(counters).get("neuroncore_utilization"))
            if core.isdigit() and len(core) < 6 and value is not None:
                cores[core] = cores.get(core, 0.0) + value
        taken = _object(_object(parts.get("memory_used")).get("neuron_runtime_used_bytes"))
        for place in PLACES:
            used[place] += number(taken.get(place)) or 0.0
    for core, percent in sorted(cores.items(), key=lambda item: int(item[0]))[:MOST_CORES]:
        yield Sample("neuroncore_utilization_ratio", {"neuroncore": core}, percent / 100)
    for place, total in used.items():
        yield Sample("neuron_runtime_memory_used_bytes", {"memory_location": place}, total)


def efa(context: Context) -> list[Sample]:
    return [sample for device in efa_devices(context.system)[:MOST_DEVICES] for sample in _ports(context, device)]


def _ports(context: Context, device: str) -> Iterator[Sample]:
    ports = f"{EFA_DEVICES}/{device}/ports"
    for port in context.system.names(ports)[:MOST_DEVICES]:
        for name in EFA_COUNTERS:
            value = number(context.system.read(f"{ports}/{port}/hw_counters/{name}"))
            if value is not None:
                yield Sample(f"node_amazonefa_{name}", {"device": shown(device, 80), "port": shown(port, 80)}, value)


def disk(context: Context) -> list[Sample]:
    """Local file systems only: a look at a shared one may never return, and CloudWatch has its figures already."""
    present = mounted(context.system.read("/proc/self/mounts") or "")
    return [sample for path in PATHS if path in present for sample in _space(context, path)]


def _space(context: Context, path: str) -> Iterator[Sample]:
    space = context.system.space(path)
    if space is not None:
        values = {"size_bytes": space.size, "avail_bytes": space.free, "files": space.inodes, "files_free": space.free_inodes}
        for name, value in values.items():
            yield Sample(f"node_filesystem_{name}", {"mountpoint": path}, float(value))


READERS: dict[str, Callable[[Context], list[Sample]]] = {
    "gpu": gpu,
    "memory": memory,
    "neuron": neuron,
    "efa": efa,
    "disk": disk,
}


def number(value: object) -> Any:
    """A finite number of 0 or more within reason, from a number or its text; `None` for anything else, such as `[N/A]`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value[:40] if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and 0 <= found <= MOST_VALUE else None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
