"""Whole checks on a cluster of doubles: from a node's findings to the mark in slurmctld, or to none."""

from __future__ import annotations

import json
import signal

import pytest
from node_health import check, note, status
from node_health.settings import Settings
from node_health.system import Result

from .doubles import SETTINGS, Cluster, Machine

XID_79 = "3,{number},{number},-;NVRM: Xid (PCI:0000:b9:00): {code}, pid=7, GPU has fallen off the bus.\n"


def run(machine: Machine, settings: Settings = SETTINGS, times: int = 1) -> check.Outcome:
    """Check the node several times, a minute apart."""
    for _ in range(times):
        outcome = check.run(machine, settings, machine.name)
        machine.cluster.time += 60
    return outcome


def round_of_checks(cluster: Cluster, settings: Settings = SETTINGS, times: int = 1) -> None:
    """All nodes check at the same time, as under Slurm."""
    for _ in range(times):
        for machine in cluster.machines.values():
            check.run(machine, settings, machine.name)
        cluster.time += 60


def break_gpu(machine: Machine, code: int = 79, number: int = 1) -> None:
    machine.files["/dev/nvidia0"] = ""
    machine.files["/dev/kmsg"] = XID_79.format(code=code, number=number)


def test_a_healthy_node_is_silent_and_asks_slurmctld_next_to_nothing(cluster: Cluster) -> None:
    outcome = run(cluster["w0"], times=5)
    assert (outcome.code, outcome.findings, outcome.verdict.action) == (0, [], None)
    asked = [command for command in cluster["w0"].commands if command[0] == "scontrol"]
    assert len(asked) == 2  # Slurm's declaration, and the removal of a predecessor's note
    assert cluster.nodes["w0"]["extra"] == ""


def test_a_broken_gpu_is_marked_at_the_second_check_with_the_exact_reason(cluster: Cluster) -> None:
    break_gpu(cluster["w0"])
    assert run(cluster["w0"]).verdict.action is None
    assert note.parse(cluster.nodes["w0"]["extra"]).faults == ("xid:79",)
    outcome = run(cluster["w0"])
    assert outcome.code == 0, "a fault must not keep slurmd from registering"
    assert cluster.reasons == [("w0", "Action:Replace")]
    assert ["scontrol", "update", "node=w0", "state=fail", "reason=Action:Replace"] in [
        command[:5] for command in cluster["w0"].commands
    ]


def test_an_xid_that_a_reset_cures_asks_for_a_reboot(cluster: Cluster) -> None:
    break_gpu(cluster["w0"], code=119)
    run(cluster["w0"], times=2)
    assert cluster.reasons == [("w0", "Action:Reboot")]


def test_a_reboot_that_did_not_help_is_followed_by_a_replacement(cluster: Cluster) -> None:
    settings = SETTINGS._replace(max_marks_per_node_per_day=2)
    break_gpu(cluster["w0"], code=119)
    run(cluster["w0"], settings, times=2)
    cluster["w0"].files["/proc/sys/kernel/random/boot_id"] = "the next boot"
    cluster.nodes["w0"].update(state="IDLE", reason="")
    run(cluster["w0"], settings, times=3)
    assert cluster.reasons == [("w0", "Action:Reboot"), ("w0", "Action:Replace")]


def test_the_steps_of_a_marked_node_are_ended_and_its_batch_scripts_are_not(cluster: Cluster) -> None:
    machine = cluster["w0"]
    machine.live("7.0", 0, 1)
    machine.live("7.batch", 9)
    machine.ignores = {1001: signal.SIGTERM}
    break_gpu(machine)
    run(machine)
    assert machine.killed == []
    run(machine)
    assert machine.killed == [(1000, signal.SIGTERM), (1001, signal.SIGTERM)]
    assert machine.events.index("update w0 fail") < machine.events.index("kill 1000")
    machine.live("8.0", 2)
    run(machine)
    assert machine.killed[2:] == [(1001, signal.SIGKILL), (1002, signal.SIGTERM)]
    assert machine.pids["7.batch"] == {1009}


def test_an_operators_mark_ends_nothing_where_there_is_no_fault(cluster: Cluster) -> None:
    cluster.nodes["w0"].update(state="FAIL", reason="Action:Replace")
    cluster["w0"].live("7.0", 0)
    run(cluster["w0"], times=3)
    assert cluster["w0"].killed == []


def test_a_marked_node_is_not_marked_again(cluster: Cluster) -> None:
    break_gpu(cluster["w0"])
    run(cluster["w0"], SETTINGS._replace(max_marks_per_node_per_day=9), times=30)
    assert len(cluster.reasons) == 1


def test_node_recovery_none_only_reports(cluster: Cluster) -> None:
    break_gpu(cluster["w0"])
    outcome = run(cluster["w0"], SETTINGS._replace(recovers=False), times=3)
    assert cluster.reasons == []
    assert "node_recovery is None" in outcome.verdict.why
    assert [finding.fault for finding in outcome.findings] == ["xid:79"]


def test_a_file_system_that_all_nodes_lost_marks_none(cluster: Cluster) -> None:
    cluster.shared_lost = True
    for machine in cluster.machines.values():
        machine.mount_hangs = True
    round_of_checks(cluster, SETTINGS._replace(max_marks_per_cluster_per_hour=99, max_marks_per_node_per_day=99), times=30)
    assert cluster.reasons == []


def test_a_file_system_that_one_node_lost_reboots_it(cluster: Cluster) -> None:
    cluster["w2"].mount_hangs = True
    round_of_checks(cluster, times=3)
    assert cluster.reasons == [("w2", "Action:Reboot")]


def test_nodes_that_see_a_shared_fault_one_after_another_are_not_marked(cluster: Cluster) -> None:
    """The first looks just after the loss; the others looked just before it, and each needs seconds to see it."""
    first, *others = cluster.machines.values()
    settings = SETTINGS._replace(max_marks_per_cluster_per_hour=99)
    first.mount_hangs = True
    round_of_checks(cluster, settings)
    for machine in others:
        machine.mount_hangs = True
    round_of_checks(cluster, settings, times=10)
    assert cluster.reasons == []


def test_a_node_that_is_alone_cannot_tell_whose_fault_a_lost_file_system_is() -> None:
    cluster = Cluster(["w0"])
    cluster["w0"].mount_hangs = True
    round_of_checks(cluster, times=3)
    assert cluster.reasons == []


def test_a_gpu_count_that_is_wrong_everywhere_marks_none(cluster: Cluster) -> None:
    for name, machine in cluster.machines.items():
        cluster.nodes[name]["gres"] = "gpu:h100:8(S:0-1)"
        machine.programs["nvidia-smi"] = lambda command, text: Result(0, "0, 00:1E.0, 0, 0\n")
    round_of_checks(cluster, times=10)
    assert cluster.reasons == []


def test_nodes_that_fail_together_stay_within_the_limit_of_the_cluster() -> None:
    cluster = Cluster([f"w{index}" for index in range(20)])
    for index in range(6):
        break_gpu(cluster[f"w{index}"], code=79)
    round_of_checks(cluster, times=10)
    assert len(cluster.reasons) == 2
    assert len({name for name, _ in cluster.reasons}) == 2


def test_marks_of_an_operator_count_for_the_cluster(cluster: Cluster) -> None:
    for name in ("w2", "w3"):
        cluster.nodes[name].update(state="FAIL", reason="Action:Replace")
    break_gpu(cluster["w0"])
    outcome = run(cluster["w0"], times=3)
    assert cluster.reasons == []
    assert "the cluster has 2 marks" in outcome.verdict.why


def test_the_limit_of_a_node_survives_its_replacement(cluster: Cluster) -> None:
    break_gpu(cluster["w0"])
    run(cluster["w0"], times=2)
    break_gpu(cluster.replace("w0"))
    outcome = run(cluster["w0"], times=60)
    assert cluster.reasons == [("w0", "Action:Replace")]
    assert "1 marks in a day" in outcome.verdict.why


def test_the_limit_of_a_node_survives_replacement_and_loss_of_the_shared_directory(cluster: Cluster) -> None:
    break_gpu(cluster["w0"])
    run(cluster["w0"], times=2)
    cluster.shared_lost = True
    cluster.files.clear()
    break_gpu(cluster.replace("w0"))
    run(cluster["w0"], times=60)
    assert cluster.reasons == [("w0", "Action:Replace")]


def test_the_limit_of_a_node_survives_replacement_and_loss_of_the_controllers_state(cluster: Cluster) -> None:
    break_gpu(cluster["w0"])
    run(cluster["w0"], times=2)
    break_gpu(cluster.replace("w0"))
    cluster.nodes["w0"]["extra"] = ""
    run(cluster["w0"], times=60)
    assert cluster.reasons == [("w0", "Action:Replace")]


def test_the_limit_of_the_cluster_survives_loss_of_the_shared_directory() -> None:
    cluster = Cluster([f"w{index}" for index in range(20)])
    round_of_checks(cluster)
    cluster.shared_lost = True
    for name in ("w0", "w1", "w2"):
        break_gpu(cluster[name])
        run(cluster[name], times=2)
        cluster.replace(name)
        run(cluster[name])
    assert [name for name, _ in cluster.reasons] == ["w0", "w1"]


def test_after_a_day_a_node_may_be_marked_again(cluster: Cluster) -> None:
    break_gpu(cluster["w0"])
    run(cluster["w0"], times=2)
    cluster.time += 24 * 3600
    break_gpu(cluster.replace("w0"))
    run(cluster["w0"], times=2)
    assert len(cluster.reasons) == 2


def test_a_new_node_takes_back_its_predecessors_note(cluster: Cluster) -> None:
    break_gpu(cluster["w0"])
    run(cluster["w0"], times=2)
    run(cluster.replace("w0"))
    told = note.parse(cluster.nodes["w0"]["extra"])
    assert told.faults == ()
    assert len(told.marks) == 1


def test_an_administrators_reason_is_left_alone(cluster: Cluster) -> None:
    cluster.nodes["w0"].update(state="IDLE+DRAIN", reason="new cables on Monday")
    break_gpu(cluster["w0"])
    assert "another reason, which stays: new cables on Monday" in run(cluster["w0"], times=3).verdict.why
    assert cluster.reasons == []


@pytest.mark.parametrize("reason", ["Kill task failed", "Duplicate jobid", "Prolog/Epilog failure"])
def test_slurms_own_reason_gives_way(cluster: Cluster, reason: str) -> None:
    cluster.nodes["w0"].update(state="IDLE+DRAIN", reason=reason)
    break_gpu(cluster["w0"])
    run(cluster["w0"], times=2)
    assert cluster.reasons == [("w0", "Action:Replace")]


def test_somebody_elses_text_is_left_alone(cluster: Cluster) -> None:
    cluster.nodes["w0"]["extra"] = "rack 7"
    break_gpu(cluster["w0"])
    run(cluster["w0"], times=3)
    assert cluster.nodes["w0"]["extra"] == "rack 7"
    assert cluster.reasons == []


def test_a_controller_that_is_down_is_asked_again(cluster: Cluster) -> None:
    cluster.down = True
    break_gpu(cluster["w0"])
    assert run(cluster["w0"], times=3).verdict.why == "slurmctld does not answer"
    cluster.down = False
    run(cluster["w0"], times=6)
    assert cluster.reasons == [("w0", "Action:Replace")]


def test_a_chained_program_runs_first_and_gives_the_exit_code(cluster: Cluster) -> None:
    machine = cluster["w0"]
    machine.programs["/opt/nhc"] = lambda command, text: Result(7, f"args {command[1:]}\n")
    outcome = check.run(machine, SETTINGS, "w0", ["/opt/nhc", "-v"])
    assert (outcome.code, outcome.output) == (7, "args ['-v']\n")
    assert machine.commands[0] == ["/opt/nhc", "-v"]
    assert check.REPORT in machine.files


def test_a_chained_program_runs_where_health_is_switched_off(cluster: Cluster) -> None:
    cluster["w0"].programs["/opt/nhc"] = lambda command, text: Result(3)
    assert check.run(cluster["w0"], Settings(enabled=False), "w0", ["/opt/nhc"]).code == 3
    assert len(cluster["w0"].commands) == 1


@pytest.mark.parametrize(("result", "code"), [(Result(None, pid=9), 124), (Result(-9), 137)])
def test_a_chained_program_that_is_killed_fails(cluster: Cluster, result: Result, code: int) -> None:
    cluster["w0"].programs["/opt/nhc"] = lambda command, text: result
    assert check.run(cluster["w0"], SETTINGS, "w0", ["/opt/nhc"]).code == code


def test_a_check_that_breaks_is_reported_and_the_others_run(cluster: Cluster) -> None:
    cluster["w0"].files["/var/lib/hyperpod/health/memory.json"] = json.dumps({"baseline": {"efa": "many"}})
    break_gpu(cluster["w0"])
    faults = [finding.fault for finding in run(cluster["w0"]).findings]
    assert faults == ["xid:79", "broken:efa"]


def test_a_flapping_fault_is_not_confirmed(cluster: Cluster) -> None:
    for _ in range(10):
        cluster["w0"].mount_hangs = not cluster["w0"].mount_hangs
        run(cluster["w0"])
    assert cluster.reasons == []


def test_the_table_shows_findings_and_marks(cluster: Cluster) -> None:
    break_gpu(cluster["w0"])
    run(cluster["w0"], times=2)
    lines = status.table(cluster["w0"]).splitlines()
    assert lines[0] == "1 faults, checked 60 s ago"
    assert lines[2].startswith("xid:79  Action:Replace  GPU 0000:b9:00: ")
    assert lines[3] == "decision: Action:Replace: xid:79"
    assert lines[4].startswith("marked 20")
    assert lines[4].endswith("Action:Replace")
