"""The readers on a double of a node: what devices tell, and what strangers say."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from node_health.checks.context import Context
from node_health.system import Result
from node_metrics.catalogue import CATALOGUE
from node_metrics.readers import MOST_DEVICES, READERS, ReaderError, number

from ..node_health.doubles import Cluster, Machine
from .machines import GPUS, RUNTIME, reports


def values(context: Context, reader: str, name: str) -> list[float]:
    return [sample.value for sample in READERS[reader](context) if sample.name == name]


def test_every_metric_of_the_catalogue_is_told(context: Context) -> None:
    told = {sample.name for read in READERS.values() for sample in read(context)}
    assert told == set(CATALOGUE) - {"hyperpod_reader_up"}


def test_a_node_without_devices_tells_its_memory_and_its_disks() -> None:
    machine = Cluster(["w0"])["w0"]
    machine.files["/proc/meminfo"] = "MemTotal: 4 kB\n"
    context = Context(machine, *_rest(machine))
    assert {name for name, read in READERS.items() if read(context)} == {"memory", "disk"}


def _rest(machine: Machine) -> Any:
    from node_health.memory import Memory
    from node_health.settings import Settings

    return Settings(), Memory(machine), None, machine.monotonic() + 60


def test_gpus_have_the_labels_and_units_of_the_dcgm_exporter(context: Context) -> None:
    first = READERS["gpu"](context)[0]
    assert first.name == "DCGM_FI_DEV_GPU_UTIL"
    assert first.labels == {"gpu": "0", "UUID": "GPU-a1", "device": "nvidia0", "modelName": "NVIDIA H100 80GB HBM3"}
    assert values(context, "gpu", "DCGM_FI_DEV_FB_USED") == [60000, 70000]
    assert values(context, "gpu", "DCGM_FI_DEV_ROW_REMAP_FAILURE") == [0, 1]


def test_a_figure_that_a_gpu_does_not_have_is_left_out(machine: Machine, context: Context) -> None:
    machine.programs["nvidia-smi"] = lambda command, text: Result(
        0, GPUS.replace("650.10", "[N/A]").replace(", Yes", ", [Unknown]")
    )
    assert values(context, "gpu", "DCGM_FI_DEV_POWER_USAGE") == [640.9]
    assert values(context, "gpu", "DCGM_FI_DEV_ROW_REMAP_FAILURE") == [0]


def test_an_older_driver_is_asked_without_the_newer_fields(machine: Machine, context: Context) -> None:
    def old(command: Any, text: str) -> Result:
        if "remapped_rows" in command[1]:
            return Result(2, 'Field "remapped_rows.failure" is not a valid field to query.\n')
        return Result(0, "".join(line.rsplit(", ", 2)[0] + "\n" for line in GPUS.splitlines()))

    machine.programs["nvidia-smi"] = old
    assert values(context, "gpu", "DCGM_FI_DEV_GPU_UTIL") == [97, 93]
    assert values(context, "gpu", "DCGM_FI_DEV_ROW_REMAP_FAILURE") == []


def test_fails_with_the_words_of_a_driver_that_has_lost_a_gpu(machine: Machine, context: Context) -> None:
    machine.programs["nvidia-smi"] = lambda command, text: Result(15, "", "Unable to determine the device handle\x1b[2J\n")
    with pytest.raises(ReaderError, match=r"nvidia-smi ends with 15: Unable to determine the device handle\\x1b\[2J"):
        READERS["gpu"](context)


def test_more_rows_than_a_node_can_have_gpus_are_not_read(machine: Machine, context: Context) -> None:
    row = GPUS.splitlines()[0].partition(",")[2]
    machine.programs["nvidia-smi"] = lambda command, text: Result(0, "".join(f"{index},{row}\n" for index in range(1000)))
    assert len(values(context, "gpu", "DCGM_FI_DEV_GPU_UTIL")) == MOST_DEVICES


def test_memory_is_in_bytes(context: Context) -> None:
    assert values(context, "memory", "node_memory_MemTotal_bytes") == [1000 * 1024]


def test_runtimes_of_neuron_share_cores_and_memory(machine: Machine, context: Context) -> None:
    other = {"report": {"memory_used": {"neuron_runtime_used_bytes": {"host": 1, "neuron_device": 2}}}}
    machine.programs["neuron-monitor"] = lambda command, text: reports(RUNTIME, other)
    assert values(context, "neuron", "neuroncore_utilization_ratio") == [0.8, 0.4]
    assert values(context, "neuron", "neuron_runtime_memory_used_bytes") == [1001, 4002]
    assert values(context, "neuron", "hardware_ecc_events_total") == [3, 3, 3, 3]


@pytest.mark.parametrize(
    "runtimes",
    [
        [None],
        [{"report": 7}],
        [{"report": {"neuroncore_counters": {"neuroncores_in_use": {"0\n": {"neuroncore_utilization": 1}}}}}],
        3,
    ],
)
def test_what_is_no_report_of_neuron_is_left_out(machine: Machine, context: Context, runtimes: Any) -> None:
    machine.programs["neuron-monitor"] = lambda command, text: Result(None, json.dumps({"neuron_runtime_data": runtimes}) + "\n")
    assert values(context, "neuron", "neuroncore_utilization_ratio") == []
    assert values(context, "neuron", "neuron_runtime_memory_used_bytes") == [0, 0]


@pytest.mark.parametrize("output", ["", "no JSON\n", "[1]\n", '{"a": ' * 10_000])
def test_fails_without_a_report_of_neuron(machine: Machine, context: Context, output: str) -> None:
    machine.programs["neuron-monitor"] = lambda command, text: Result(None, output)
    with pytest.raises(ReaderError, match="neuron-monitor has no report within 4 s"):
        READERS["neuron"](context)


def test_a_counter_of_efa_that_the_driver_does_not_have_is_left_out(machine: Machine, context: Context) -> None:
    del machine.files["/sys/class/infiniband/rdmap16s0/ports/1/hw_counters/retrans_pkts"]
    assert len(values(context, "efa", "node_amazonefa_retrans_pkts")) == 1
    assert len(values(context, "efa", "node_amazonefa_tx_bytes")) == 2


def test_disks_are_the_local_ones(context: Context) -> None:
    assert {sample.labels["mountpoint"] for sample in READERS["disk"](context)} == {"/", "/opt/sagemaker"}


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e19", "", "[N/A]", "9" * 400, None, True, [], math.nan, 10**400])
def test_what_is_no_number_within_reason_is_none(value: object) -> None:
    assert number(value) is None


@pytest.mark.parametrize(("value", "expected"), [("12.5", 12.5), (0, 0.0), (" 7\n", 7.0)])
def test_numbers_and_their_texts_are_read(value: object, expected: float) -> None:
    assert number(value) == expected
