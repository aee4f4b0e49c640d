"""The single checks, on a machine with simulated devices."""

from __future__ import annotations

import random
import stat
import string

import pytest
from node_health.checks import clock, custom, disk, efa, gpu, kernel_log, mounts, neuron
from node_health.checks.context import Context
from node_health.finding import REBOOT, REPLACE, Finding
from node_health.memory import Memory
from node_health.slurm import Node
from node_health.system import Result, Space

from .doubles import SETTINGS, Cluster, Machine

GPUS = "0, 00000000:10:1C.0, {failed}, {pending}\n1, 00000000:20:1C.0, 0, 0\n"


@pytest.fixture
def machine() -> Machine:
    return Cluster(["w0"])["w0"]


def context(machine: Machine, gres: str = "") -> Context:
    """A context with the memory on the machine's disk."""
    return Context(machine, SETTINGS, Memory(machine), Node("w0", "IDLE", "", "", gres), machine.monotonic() + 30)


def faults(found: list[Finding]) -> dict[str, str | None]:
    return {finding.fault: finding.action for finding in found}


def smi(output: str, code: int = 0) -> Result:
    return Result(code, output)


class TestKernelLog:
    def log(self, machine: Machine, *texts: str, first: int = 1, priority: int = 3) -> None:
        lines = [f"{priority},{first + index},{index},-;{text}\n" for index, text in enumerate(texts)]
        machine.files["/dev/kmsg"] = "".join(lines)
        machine.files.update({"/dev/nvidia0": "", "/dev/neuron0": ""})

    def xid(self, code: int, words: str = "pid=1, text") -> str:
        return f"NVRM: Xid (PCI:0000:b9:00): {code}, {words}"

    @pytest.mark.parametrize(
        ("code", "action"),
        [
            (79, REPLACE),
            (64, REPLACE),
            (74, REPLACE),
            (48, REPLACE),
            (119, REBOOT),
            (95, REBOOT),
            (13, None),
            (31, None),
            (94, None),
        ],
    )
    def test_each_code_asks_for_what_the_table_says(self, code: int, action: str | None) -> None:
        found = kernel_log.finding(self.xid(code))
        assert (None if found is None else found.action) == action

    @pytest.mark.parametrize(
        ("words", "asks"),
        [
            ("GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)", True),
            ("GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)", True),
            ("GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)", False),
        ],
    )
    def test_the_drivers_own_verdict_is_read_from_its_words(self, words: str, asks: bool) -> None:
        assert (kernel_log.finding(self.xid(154, words)) is not None) == asks

    @pytest.mark.parametrize(("count", "action"), [("3\n", REPLACE), ("0\n", None), ("", None)])
    def test_a_neuron_hardware_error_asks_for_a_replacement_where_a_device_counts_it(
        self, machine: Machine, count: str, action: str | None
    ) -> None:
        self.log(machine, "NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR instance-id=i-0 nd-id=0 action=TERMINATE_INSTANCE")
        machine.files["/sys/devices/virtual/neuron_device/neuron0/stats/hardware/sram_ecc_uncorrected"] = count
        assert faults(kernel_log.check(context(machine))) == {"neuron:SRAM_UNCORRECTABLE_ERROR": action}

    def test_a_fault_is_remembered_after_its_record_has_left_the_log(self, machine: Machine) -> None:
        self.log(machine, self.xid(79))
        first = context(machine)
        kernel_log.check(first)
        first.memory.save()
        self.log(machine, "something else", first=900)
        assert faults(kernel_log.check(context(machine))) == {"xid:79": REPLACE}

    def test_a_new_boot_starts_from_nothing(self, machine: Machine) -> None:
        self.log(machine, self.xid(79), first=500)
        first = context(machine)
        kernel_log.check(first)
        first.memory.save()
        machine.files["/proc/sys/kernel/random/boot_id"] = "another"
        self.log(machine, self.xid(119), first=1)
        assert faults(kernel_log.check(context(machine))) == {"xid:119": REBOOT}

    def test_a_record_that_was_read_is_not_read_again(self, machine: Machine) -> None:
        made = context(machine)
        self.log(machine, "quiet", first=7)
        kernel_log.check(made)
        self.log(machine, self.xid(79), first=7)
        assert kernel_log.check(made) == []

    def test_a_program_that_writes_to_the_kernels_log_is_not_the_kernel(self, machine: Machine) -> None:
        self.log(machine, self.xid(79), priority=11)
        assert kernel_log.check(context(machine)) == []

    def test_noise_is_never_a_fault(self) -> None:
        chance = random.Random(1)
        words = ["NVRM:", "Xid", "(PCI:0000:b9:00):", "79,", "\\x0a", ";", ",", "6,1,1,-;", " ", "NEURON_HW_ERR", *string.printable]
        for _ in range(3000):
            line = "".join(chance.choice(words) for _ in range(chance.randrange(30)))
            for record in kernel_log.parse(line):
                assert "Xid" in record.text or kernel_log.finding(record.text) is None
            assert kernel_log.finding("x" + line) is None or "NEURON_HW_ERR=" in line

    def test_every_xid_is_found_whatever_stands_around_it(self) -> None:
        chance = random.Random(2)
        noise = ["6,{n},1,-;usb 1-1: new device", " SUBSYSTEM=pci", "garbage", "", "12,{n},1,-;systemd: NVRM: Xid (PCI:0): 79, x"]
        for _ in range(300):
            codes = [chance.choice(sorted(kernel_log.XID_ACTIONS)) for _ in range(chance.randrange(5))]
            lines: list[str] = []
            for number, code in enumerate(codes, start=1):
                lines += [chance.choice(noise).format(n=number) for _ in range(chance.randrange(4))]
                address = f"{chance.randrange(65536):04x}:{chance.randrange(256):02x}:00"
                prefix = chance.choice(["PCI:", ""])
                lines.append(
                    f"{chance.randrange(8)},{number},{chance.randrange(10**9)},-,caller=T1;NVRM: Xid ({prefix}{address}): {code}, w"
                )
            found = [kernel_log.finding(record.text) for record in kernel_log.parse("\n".join(lines))]
            assert [finding.fault for finding in found if finding is not None] == [f"xid:{code}" for code in codes]


class TestGpu:
    def check(self, machine: Machine, result: Result, gres: str = "gpu:h100:2(S:0-1)") -> dict[str, str | None]:
        machine.programs["nvidia-smi"] = lambda command, text: result
        return faults(gpu.check(context(machine, gres)))

    def test_a_node_without_the_program_has_nothing_to_check(self, machine: Machine) -> None:
        assert gpu.check(context(machine, "gpu:8")) == []

    @pytest.mark.parametrize(
        ("result", "expected"),
        [
            (smi(GPUS.format(failed=0, pending=0)), {}),
            (smi(GPUS.format(failed=1, pending=0)), {"gpu:remap": REPLACE}),
            (smi(GPUS.format(failed=0, pending=1)), {"gpu:remap_pending": None}),
            (smi("0, 00:10, [N/A], [N/A]\n1, 00:20, [N/A], [N/A]\n"), {}),
            (smi("0, 00:10, 0, 0\n"), {"gpu:count": REBOOT}),
            (Result(None, pid=5), {"gpu:hung": REBOOT}),
            (smi("0, 00:10, 0, 0\n1, 00:20, [GPU is lost], [GPU is lost]\n"), {"gpu:lost": REBOOT}),
            (Result(9, error="couldn't communicate with the NVIDIA driver"), {"gpu:driver": REBOOT, "gpu:count": REBOOT}),
        ],
    )
    def test_what_the_program_shows(self, machine: Machine, result: Result, expected: dict[str, str | None]) -> None:
        assert self.check(machine, result) == expected

    def test_a_driver_on_a_node_without_gpus_is_no_fault(self, machine: Machine) -> None:
        assert self.check(machine, Result(9, error="no driver"), gres="") == {}

    def test_a_gpu_that_was_there_before_is_missed_without_a_declaration(self, machine: Machine) -> None:
        made = context(machine)
        machine.programs["nvidia-smi"] = lambda command, text: smi(GPUS.format(failed=0, pending=0))
        assert gpu.check(made) == []
        machine.programs["nvidia-smi"] = lambda command, text: smi("0, 00:10, 0, 0\n")
        assert faults(gpu.check(made)) == {"gpu:count": REBOOT}


class TestNeuron:
    @pytest.mark.parametrize(
        ("result", "fault"),
        [
            (Result(0, '[{"neuron_device": 0}, {"neuron_device": 1}]'), None),
            (Result(0, '[{"neuron_device": 0}]'), "neuron:count"),
            (Result(1, "no driver"), "neuron:driver"),
            (Result(None, pid=5), "neuron:hung"),
        ],
    )
    def test_devices_are_compared_with_the_declared_ones(self, machine: Machine, result: Result, fault: str | None) -> None:
        machine.programs["neuron-ls"] = lambda command, text: result
        assert list(faults(neuron.check(context(machine, "neuron:2")))) == ([] if fault is None else [fault])

    def test_a_node_without_devices_has_none_to_miss(self, machine: Machine) -> None:
        machine.programs["neuron-ls"] = lambda command, text: Result(1, "no devices")
        assert neuron.check(context(machine)) == []


class TestEfa:
    def device(self, machine: Machine, name: str, state: str = "4: ACTIVE") -> None:
        machine.files[f"/sys/class/infiniband/{name}/ports/1/state"] = state

    def on_bus(self, machine: Machine, count: int) -> None:
        for index in range(count):
            machine.files[f"/sys/bus/pci/devices/{index}/vendor"] = "0x1d0f\n"
            machine.files[f"/sys/bus/pci/devices/{index}/device"] = "0xefa1\n"

    def test_one_device_for_each_function_on_the_bus(self, machine: Machine) -> None:
        self.on_bus(machine, 2)
        self.device(machine, "rdmap0s1")
        assert faults(efa.check(context(machine))) == {"efa:count": REBOOT}
        self.device(machine, "rdmap0s2")
        assert efa.check(context(machine)) == []

    def test_a_device_that_left_the_bus_too_is_remembered(self, machine: Machine) -> None:
        made = context(machine)
        self.device(machine, "rdmap0s1")
        assert efa.check(made) == []
        machine.files.clear()
        assert faults(efa.check(made)) == {"efa:count": REBOOT}

    def test_a_port_that_is_down(self, machine: Machine) -> None:
        self.device(machine, "rdmap0s1", "1: DOWN")
        assert faults(efa.check(context(machine))) == {"efa:port": REBOOT}


class TestMounts:
    def test_silence_in_less_time_than_is_due_asks_for_nothing(self, machine: Machine) -> None:
        machine.mount_hangs = True
        late = context(machine)
        late.deadline = machine.monotonic() + 9
        assert faults(mounts.check(late)) == {"mount:/fsx": None}
        late.deadline = machine.monotonic() + 10
        assert faults(mounts.check(late)) == {"mount:/fsx": REBOOT}

    def test_mounted_and_answering(self, machine: Machine) -> None:
        assert mounts.check(context(machine)) == []

    @pytest.mark.parametrize("table", ["", "auto /fsx autofs rw 0 0\n"])
    def test_not_mounted(self, machine: Machine, table: str) -> None:
        machine.files["/proc/self/mounts"] = table
        assert faults(mounts.check(context(machine))) == {"mount:/fsx": REBOOT}

    def test_read_only_is_noted(self, machine: Machine) -> None:
        machine.files["/proc/self/mounts"] = "10.1.0.9@tcp:/abcd /fsx lustre ro,flock 0 0\n"
        assert faults(mounts.check(context(machine))) == {"readonly:/fsx": None}

    def test_a_hung_child_gets_no_second_beside_it(self, machine: Machine) -> None:
        machine.mount_hangs = True
        made = context(machine)
        machine.files["/proc/4000/stat"] = "4000 (python) D " + " ".join(["0"] * 18 + ["5", "0"])
        for _ in range(3):
            assert faults(mounts.check(made)) == {"mount:/fsx": REBOOT}
        assert len(machine.commands) == 1
        del machine.files["/proc/4000/stat"]
        machine.mount_hangs = False
        assert mounts.check(made) == []

    def test_a_mount_of_some_groups_is_missed_only_where_it_was(self, machine: Machine) -> None:
        made = Context(
            machine, SETTINGS._replace(mounts=(), group_mounts=("/fsx", "/home")), Memory(machine), None, machine.now() + 9
        )
        assert mounts.check(made) == []
        machine.files["/proc/self/mounts"] = ""
        assert faults(mounts.check(made)) == {"mount:/fsx": REBOOT}


class TestDisk:
    def test_space_and_inodes_are_noted(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(machine, "space", lambda path: Space(1, 100, 1, 100))
        assert faults(disk.check(context(machine))) == {"disk:space:/": None, "disk:inodes:/": None}

    def test_a_root_that_the_kernel_turned_read_only(self, machine: Machine) -> None:
        machine.files["/proc/self/mounts"] = "/dev/root / ext4 ro,errors=remount-ro 0 0\n"
        assert faults(disk.check(context(machine))) == {"disk:readonly": REPLACE}


class TestClock:
    TRACKING = "A9FEA97B,169.254.169.123,4,1700000000.1,{offset},0.0,0.0,-3.1,0.0,0.0,0.0,0.0,16.1,{leap}\n"

    @pytest.mark.parametrize(
        ("result", "expected"),
        [
            (Result(0, TRACKING.format(offset="0.00002", leap="Normal")), {}),
            (Result(0, TRACKING.format(offset="-3.5", leap="Normal")), {"clock:offset": None}),
            (Result(0, TRACKING.format(offset="0.0", leap="Not synchronised")), {"clock:free": None}),
            (Result(1, error="506 Cannot talk to daemon"), {"clock:chrony": None}),
        ],
    )
    def test_a_wrong_clock_is_noted(self, machine: Machine, result: Result, expected: dict[str, None]) -> None:
        machine.programs["chronyc"] = lambda command, text: result
        assert faults(clock.check(context(machine))) == expected


class TestCustom:
    PATH = "/opt/hyperpod/checks.d/fan"

    def check(self, machine: Machine, result: Result) -> list[Finding]:
        machine.files[self.PATH] = "#!/bin/sh"
        machine.programs[self.PATH] = lambda command, text: result
        return custom.check(context(machine))

    @pytest.mark.parametrize(
        ("result", "detail", "action"),
        [
            (Result(1, "all fans checked\nfan 3 stands still\n"), "fan 3 stands still", None),
            (Result(1, "Action:Replace fan 3 stands still\n"), "fan 3 stands still", REPLACE),
            (Result(1, "Action:Reboot\n"), "exit code 1", REBOOT),
            (Result(1, "action:replace please\n"), "action:replace please", None),
            (Result(2), "exit code 2", None),
            (Result(None, "", pid=5), "/opt/hyperpod/checks.d/fan does not end in 15 s", None),
        ],
    )
    def test_the_last_line_is_the_reason(self, machine: Machine, result: Result, detail: str, action: str | None) -> None:
        assert self.check(machine, result) == [Finding("check:fan", detail, action)]

    def test_exit_code_0_is_health_whatever_it_prints(self, machine: Machine) -> None:
        assert self.check(machine, Result(0, "Action:Replace nothing")) == []

    @pytest.mark.parametrize(("owner", "mode"), [(1000, 0o755), (0, 0o775), (0, 0o757)])
    def test_a_file_that_others_could_have_written_is_not_run(self, machine: Machine, owner: int, mode: int) -> None:
        machine.owners[self.PATH] = owner
        machine.modes[self.PATH] = stat.S_IFREG | mode
        found = self.check(machine, Result(0))
        assert "is not run: write chown root" in found[0].detail
        assert machine.commands == []

    def test_a_file_that_is_no_program_is_passed_over(self, machine: Machine) -> None:
        machine.modes[self.PATH] = stat.S_IFREG | 0o644
        assert self.check(machine, Result(1)) == []

    def test_what_there_is_no_time_for_is_named(self, machine: Machine) -> None:
        machine.files[self.PATH] = "#!/bin/sh"
        late = Context(machine, SETTINGS, Memory(machine), None, machine.monotonic())
        assert "took all of Slurm's time" in custom.check(late)[0].detail
