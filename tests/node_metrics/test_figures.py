"""The figures for CloudWatch, from two looks at a node."""

from __future__ import annotations

import pytest
from node_health.checks.context import Context
from node_metrics.figures import SETS, Reading, figures
from node_metrics.readers import READERS

from ..node_health.doubles import Machine


def look(context: Context, time: float) -> Reading:
    return Reading(time, [sample for read in READERS.values() for sample in read(context)])


def found(now: Reading, before: Reading | None = None) -> dict[str, float]:
    return {figure.name: figure.value for figure in figures(now, before)}


def test_levels_are_told_at_the_first_look(context: Context) -> None:
    assert found(look(context, 0)) == pytest.approx(
        {
            "gpu_utilization_percent": 95,
            "gpu_memory_used_percent": 100 * 70000 / 81559,
            "gpu_temperature_celsius": 66,
            "gpu_power_watts": 1291,
            "memory_used_percent": 75,
            "neuroncore_utilization_percent": 60,
            "neuron_memory_used_bytes": 4000,
            "disk_used_percent": 50,
        }
    )


def test_changes_are_told_from_the_second_look_on(machine: Machine, context: Context) -> None:
    before = look(context, 0)
    machine.files["/sys/class/infiniband/rdmap16s0/ports/1/hw_counters/tx_bytes"] = "600\n"
    machine.files["/sys/class/infiniband/rdmap16s0/ports/1/hw_counters/rx_drops"] = "9\n"
    changes = found(look(context, 60), before)
    assert (changes["efa_sent_bytes_per_second"], changes["efa_dropped_packets"]) == (10, 5)
    assert (changes["gpu_uncorrected_errors"], changes["neuron_uncorrected_errors"]) == (0, 0)


def test_a_counter_that_began_anew_tells_nothing(machine: Machine, context: Context) -> None:
    machine.files["/sys/class/infiniband/rdmap16s0/ports/1/hw_counters/tx_bytes"] = "600\n"
    before = look(context, 0)
    machine.files["/sys/class/infiniband/rdmap16s0/ports/1/hw_counters/tx_bytes"] = "5\n"
    assert "efa_sent_bytes_per_second" not in found(look(context, 60), before)


def test_a_lost_device_tells_nothing(machine: Machine, context: Context) -> None:
    before = look(context, 0)
    del machine.files["/sys/class/infiniband/rdmap32s0/ports/1/hw_counters/tx_bytes"]
    assert "efa_sent_bytes_per_second" not in found(look(context, 60), before)


def test_every_figure_belongs_to_one_set(context: Context) -> None:
    names = [name for names in SETS.values() for name in names]
    assert sorted(names) == sorted(found(look(context, 60), look(context, 0)))
