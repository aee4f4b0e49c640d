"""Decisions of single steps: conflicts, missing parts, settings of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from node_setup.commands import Completed
from node_setup.errors import NodeSetupError
from node_setup.registry import MODES
from node_setup.runner import run_steps

from .machine import KEY, SLURM_CONF, Machine, make_machine

INCLUDED = "/opt/slurm/etc/accounting.conf"


@pytest.fixture
def worker(tmp_path: Path) -> Machine:
    return make_machine(tmp_path / "node", "Compute", "on_init_complete")


@pytest.fixture
def controller(tmp_path: Path) -> Machine:
    return make_machine(tmp_path / "node", "Controller", "on_init_complete")


@pytest.fixture
def owner(tmp_path: Path) -> Machine:
    """A controller in the mode OnCreate, where the scripts do everything."""
    return make_machine(tmp_path / "node", "Controller", "on_create")


def test_users_have_their_ids_homes_groups_and_sudo(worker: Machine) -> None:
    worker.set_up("on_init_complete")
    assert "alice:x:10001:10001::/fsx/home/alice:/bin/bash\n" in worker.text("/etc/passwd")
    assert "docker:x:998:alice\n" in worker.text("/etc/group")
    assert worker.text("/etc/sudoers.d/90-hyperpod") == "alice ALL=(ALL:ALL) NOPASSWD: ALL\n"
    assert worker.path("/etc/sudoers.d/90-hyperpod").stat().st_mode & 0o777 == 0o440
    assert worker.text("/fsx/home/alice/.bashrc") == "# skeleton\n"
    assert worker.owners.of(worker.path("/fsx/home/alice").lstat()) == (10001, 10001)
    keys = worker.text("/fsx/home/alice/.ssh/authorized_keys")
    assert KEY in keys
    assert worker.text("/fsx/home/alice/.ssh/id_ed25519.pub").strip() in keys


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        (
            "/etc/passwd",
            "carol:x:10001:5::/:/bin/sh",
            "user alice has uid 10001 in config.json, but on this node carol has",
        ),
        ("/etc/passwd", "alice:x:5:5::/:/bin/sh", "user alice has uid 10001 in config.json, but on this node alice has uid 5"),
        ("/etc/group", "team:x:10001:", "user alice has gid 10001 in config.json, but on this node group team has gid 10001"),
        ("/etc/group", "alice:x:7:", "user alice has gid 10001 in config.json, but on this node group alice has gid 7"),
    ],
)
def test_fails_for_an_id_of_somebody_else(worker: Machine, file: str, line: str, message: str) -> None:
    worker.write(file, worker.text(file) + line + "\n")
    with pytest.raises(NodeSetupError) as raised:
        worker.set_up("on_init_complete")
    assert str(raised.value).startswith("users: " + message)
    assert not any(command.startswith(("useradd", "groupadd")) for command in worker.commands)


def test_fails_for_a_group_that_the_node_lacks(worker: Machine) -> None:
    worker.write("/etc/group", "root:x:0:\n")
    with pytest.raises(NodeSetupError, match=r"user alice should join group 'docker', which this node does not have"):
        worker.set_up("on_init_complete")


def test_a_user_who_is_removed_from_sudo_loses_it(worker: Machine) -> None:
    worker.set_up("on_init_complete")
    worker.config["software"]["users"][0]["sudo"] = False
    worker.set_up("on_init_complete")
    assert not worker.path("/etc/sudoers.d/90-hyperpod").exists()


def test_a_home_that_is_a_link_gets_no_keys(worker: Machine, tmp_path: Path) -> None:
    """A user must not make root write into another user's folder through a link."""
    worker.set_up("on_init_complete")
    ssh = worker.path("/fsx/home/alice/.ssh")
    ssh.rename(tmp_path / "moved")
    for path in (tmp_path / "moved").iterdir():
        path.unlink()
    ssh.symlink_to(tmp_path / "moved")
    worker.set_up("on_init_complete")
    assert list((tmp_path / "moved").iterdir()) == []
    assert any("alice: " in line and "/.ssh: is a link of uid 0, it must be a folder" in line for line in worker.skipped())


def test_nodes_share_a_users_key(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    machines = [
        make_machine(tmp_path / f"node{index}", "Compute", "on_init_complete", tmp_path / "shared", f"node{index}")
        for index in range(2)
    ]
    for machine in machines:
        machine.set_up("on_init_complete")
    assert (tmp_path / "shared/home/alice/.ssh/id_ed25519").read_text(encoding="utf-8") == "private of alice from node0"


def test_a_replaced_node_keeps_its_host_keys(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    machines = [
        make_machine(tmp_path / name, "Compute", "on_init_complete", tmp_path / "shared", node)
        for name, node in (("first", "ip-10-1-0-5"), ("second", "ip-10-1-0-5"), ("other", "ip-10-1-0-7"))
    ]
    for machine in machines:
        machine.write("/etc/ssh/ssh_host_ed25519_key", f"private of {machine.root.name}", 0o600)
        machine.set_up("on_init_complete")
    keys = [machine.text("/etc/ssh/ssh_host_ed25519_key") for machine in machines]
    assert keys == ["private of first", "private of first", "private of other"]
    assert machines[1].text("/etc/ssh/ssh_host_ed25519_key.pub") == "ssh-ed25519 first\n"
    kept = tmp_path / "shared/.hyperpod/abc123/host_keys"
    assert kept.stat().st_mode & 0o777 == 0o700
    assert (kept / "ip-10-1-0-5/ssh_host_ed25519_key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("disks", "place"), [(["/opt/dlami/nvme", "/opt/sagemaker"], "/opt/dlami/nvme"), (["/opt/sagemaker"], "/opt/sagemaker")]
)
def test_docker_and_enroot_are_on_the_same_disk(worker: Machine, disks: list[str], place: str) -> None:
    mounts = worker.text("/proc/mounts").splitlines()[0] + "\n"
    worker.write("/proc/mounts", mounts + "".join(f"/dev/x {disk} xfs rw 0 0\n" for disk in disks))
    worker.path(place).mkdir(parents=True, exist_ok=True)
    worker.set_up("on_init_complete")
    assert json.loads(worker.text("/etc/docker/daemon.json")) == {"log-driver": "local", "data-root": f"{place}/docker"}
    assert f"ENROOT_DATA_PATH {place}/enroot/data/user-$(id -u)" in worker.text("/etc/enroot/enroot.conf").splitlines()[:3]
    assert worker.path(f"{place}/enroot/data").stat().st_mode & 0o7777 == 0o1777


@pytest.mark.parametrize(("mode", "owner"), [(0o777, 0), (0o775, 0), (0o1777, 1000), (0o755, 1000)])
def test_containers_stay_where_they_are_if_others_can_change_the_disk(worker: Machine, mode: int, owner: int) -> None:
    """Another could put his folder in place of the daemon's, whose programs run as root."""
    disk = "/opt/dlami/nvme"
    status = worker.path(disk).stat()
    worker.owners.by_inode[(status.st_dev, status.st_ino)] = (owner, owner)
    worker.path(disk).chmod(mode)
    worker.set_up("on_init_complete")
    assert "data-root" not in worker.text("/etc/docker/daemon.json")
    assert worker.text("/etc/enroot/enroot.conf") == "ENROOT_DATA_PATH /tmp\n"
    assert f"containers: {disk}: belongs to uid {owner} and has mode {mode:04o}" in worker.skipped()[0]


def test_containers_stay_where_they_are_without_a_disk(worker: Machine) -> None:
    worker.write("/proc/mounts", worker.text("/proc/mounts").splitlines()[0] + "\n")
    worker.set_up("on_init_complete")
    assert "data-root" not in worker.text("/etc/docker/daemon.json")


def test_a_best_effort_step_that_fails_is_reported_and_skipped(worker: Machine) -> None:
    worker.write("/etc/docker/daemon.json", "{")
    worker.set_up("on_init_complete")
    assert [line.split(": is not JSON")[0] for line in worker.skipped()] == ["containers: /etc/docker/daemon.json"]


def test_a_slurmd_with_low_limits_is_restarted(worker: Machine) -> None:
    worker.write("/proc/77/limits", "Max locked memory         8388608              8388608              bytes\n")
    worker.set_up("on_init_complete")
    assert worker.commands.count("systemctl restart slurmd.service") == 1


def test_fails_when_the_limits_stay_low(worker: Machine) -> None:
    worker.limits = "8388608"
    worker.write("/proc/77/limits", "Max locked memory         8388608              8388608              bytes\n")
    with pytest.raises(NodeSetupError, match=r"limits: slurmd.service: its processes may lock less memory than unlimited"):
        worker.set_up("on_init_complete")


def test_fails_for_sssd_that_the_image_lacks(worker: Machine) -> None:
    worker.path("/usr/bin/sssd").unlink()
    with pytest.raises(NodeSetupError, match=r"sssd: software.sssd is set, but this image has no SSSD"):
        worker.set_up("on_init_complete")


def test_slurms_logs_are_left_to_the_image_that_rotates_them(worker: Machine) -> None:
    worker.write("/etc/logrotate.d/slurm", "/var/log/slurm/slurmd.log {\n}\n")
    worker.set_up("on_init_complete")
    assert "/var/log/slurm" not in worker.text("/etc/logrotate.d/hyperpod")


def test_settings_go_to_the_included_file_only(controller: Machine) -> None:
    before = controller.text("/opt/slurm/etc/slurm.conf")
    controller.set_up("on_init_complete")
    assert controller.text("/opt/slurm/etc/slurm.conf") == before
    settings = controller.text(INCLUDED).splitlines()
    assert settings[0] == "AccountingStorageType=accounting_storage/slurmdbd"
    assert "HealthCheckProgram=/opt/hyperpod/bin/health_check" in settings
    assert "HealthCheckInterval=30" in settings
    assert "Prolog=hyperpod_prolog" in settings


def test_the_controller_is_reconfigured_once_and_by_itself(controller: Machine, tmp_path: Path) -> None:
    controller.set_up("on_init_complete")
    assert controller.commands.count("scontrol reconfigure") == 1
    worker = make_machine(tmp_path / "worker", "Compute", "on_create")
    worker.set_up("on_create")
    assert not any("reconfigure" in command or "slurmctld" in command.replace("is-enabled", "") for command in worker.effects)


def test_a_health_check_that_is_set_before_is_chained(controller: Machine) -> None:
    controller.write("/opt/slurm/etc/slurm.conf", "HealthCheckProgram=/usr/sbin/nhc\n" + SLURM_CONF)
    controller.set_up("on_init_complete")
    assert "HealthCheckProgram=/opt/hyperpod/bin/health_check" in controller.text(INCLUDED)


def test_a_health_check_that_is_set_after_is_reported(controller: Machine) -> None:
    controller.write("/opt/slurm/etc/slurm.conf", SLURM_CONF + "HealthCheckProgram=/usr/sbin/nhc\nProlog=/etc/prolog.d/*\n")
    controller.set_up("on_init_complete")
    assert "HealthCheckProgram=" not in controller.text(INCLUDED)
    assert "\nProlog=" not in controller.text(INCLUDED)
    assert any(line.startswith("slurm_settings: slurm.conf sets HealthCheckProgram after") for line in controller.skipped())


def test_the_figures_are_told_without_roots_rights(worker: Machine) -> None:
    worker.set_up("on_init_complete")
    unit = worker.text("/etc/systemd/system/hyperpod-metrics.service")
    assert "DynamicUser=yes" in unit
    assert worker.commands.count("systemctl restart --no-block hyperpod-metrics.service") == 1
    worker.config["software"]["metrics"]["interval_seconds"] = 30
    (worker.source / "config.json").write_text(json.dumps(worker.config), encoding="utf-8")
    worker.set_up("on_init_complete")
    assert worker.commands.count("systemctl restart --no-block hyperpod-metrics.service") == 2


def test_a_node_without_metrics_has_no_such_unit(worker: Machine) -> None:
    del worker.config["software"]["metrics"]
    worker.set_up("on_init_complete")
    assert not worker.path("/etc/systemd/system/hyperpod-metrics.service").exists()


def test_fails_without_an_included_file(owner: Machine) -> None:
    owner.write("/opt/slurm/etc/slurm.conf", SLURM_CONF.replace("include", "#include"))
    with pytest.raises(NodeSetupError, match=r"agent: .* includes neither hyperpod_constructs.conf nor accounting.conf"):
        owner.set_up("on_create")


def test_fails_for_a_slurm_conf_that_never_comes(owner: Machine) -> None:
    owner.path("/opt/slurm/etc/slurm.conf").unlink()
    with pytest.raises(NodeSetupError, match=r"agent: .*slurm.conf: the service's agent has not written"):
        owner.set_up("on_create")


def test_fails_for_an_image_that_started_no_daemon(worker: Machine) -> None:
    worker.active.discard("slurmd.service")
    with pytest.raises(NodeSetupError, match=r"image: slurmd.service is not active"):
        worker.set_up("on_init_complete")


@pytest.mark.parametrize("mode", ["on_init_complete", "on_create"])
def test_a_login_node_needs_the_controller_and_no_daemon(tmp_path: Path, mode: str) -> None:
    login = make_machine(tmp_path / "node", "Login", mode)
    login.active.discard("slurmd.service")
    login.broken.add("slurmd.service")
    login.set_up(mode)
    assert "slurmd.service" not in login.active
    login.answers = "DOWN"
    with pytest.raises(NodeSetupError, match="scontrol ping does not say UP, so Slurm's commands do not reach the controller"):
        login.set_up(mode)


def test_fails_for_a_worker_whose_daemon_does_not_start(tmp_path: Path) -> None:
    worker = make_machine(tmp_path / "node", "Compute", "on_create")
    worker.broken.add("slurmd.service")
    with pytest.raises(NodeSetupError, match="slurmd: "):
        worker.set_up("on_create")


GRES = ["GresTypes=gpu", "AccountingStorageTRES=gres/gpu"]


@pytest.mark.parametrize(
    ("mode", "gpus", "accounting", "expected"),
    [
        ("on_create", True, True, GRES),
        ("on_create", True, False, GRES[:1]),
        ("on_create", False, True, []),
        ("on_init_complete", True, True, []),
    ],
)
def test_gpus_are_declared_where_the_scripts_own_slurm(
    tmp_path: Path, mode: str, gpus: bool, accounting: bool, expected: list[str]
) -> None:
    controller = make_machine(tmp_path / "node", "Controller", mode)
    if gpus:
        controller.config["groups"]["workers"] = {**controller.config["groups"]["workers"], "gpus": True}
    if not accounting:
        del controller.config["software"]["accounting"]
    controller.set_up(mode)
    settings = controller.text(INCLUDED).splitlines()
    assert [line for line in GRES if line in settings] == expected


def test_accounting_is_ready_before_the_controller_starts(owner: Machine) -> None:
    owner.set_up("on_create")
    commands = [command for command in owner.commands if command.startswith(("systemctl start", "mariadb", "sacctmgr --immediate"))]
    order = [
        "systemctl start mariadb.service",
        "mariadb",
        "systemctl start slurmdbd.service",
        "systemctl start slurmctld.service",
        "sacctmgr --immediate add account hyperpod Description=users of config.json Organization=hyperpod",
        "sacctmgr --immediate add user alice Account=hyperpod",
    ]
    positions = [commands.index(command) for command in order]
    assert positions == sorted(positions)
    conf = owner.path("/opt/slurm/etc/slurmdbd.conf")
    assert conf.stat().st_mode & 0o777 == 0o600
    assert owner.owners.of(conf.lstat()) == (64030, 64030)
    assert f"StoragePass={owner.database.password}\n" in conf.read_text(encoding="utf-8")
    assert not any(str(owner.database.password) in command for command in owner.commands)
    assert "AccountingStorageHost=10.1.0.4" in owner.text(INCLUDED)
    assert owner.commands.count("scontrol reconfigure") == 0


def test_a_client_that_repeats_the_failed_statement_does_not_bring_its_password_to_the_log(
    owner: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(arguments: list[str], text: str, environment: object) -> Completed:
        return Completed(1, "", f"ERROR 1064 (42000) at line 2: near '{text.splitlines()[1]}'" if text else "denied")

    monkeypatch.setattr(owner, "_mariadb", refuse)
    with pytest.raises(NodeSetupError, match=r"ERROR 1064 .* IDENTIFIED BY '\*\*\*'"):
        owner.set_up("on_create")
    password = owner.text("/var/lib/hyperpod/accounting_password").strip()
    assert len(password) == 48
    assert password not in owner.log.getvalue()


def external(machine: Machine) -> None:
    machine.config["software"]["accounting"] = {
        "type": "external",
        "host": "db.example",
        "secret_arn": "arn:x",
        "region": "us-west-2",
    }


def test_an_external_database_is_read_from_the_secret(owner: Machine) -> None:
    external(owner)
    owner.set_up("on_create")
    conf = owner.text("/opt/slurm/etc/slurmdbd.conf")
    assert "StorageHost=db.example\nStoragePort=3306\nStorageLoc=slurm_acct_db\nStorageUser=admin\nStoragePass=pw\n" in conf
    assert not any(command.startswith("mariadb") for command in owner.commands)


@pytest.mark.parametrize(
    ("secret", "message"),
    [
        ("", "arn:x: the secret of the accounting database cannot be read: An error occurred (AccessDeniedException)"),
        ("x", "arn:x: must be a JSON object with the keys username and password"),
        ('{"username": "a"}', "arn:x: must be a JSON object with the keys username and password"),
        (
            '{"username": "a", "password": "a b"}',
            "arn:x: slurmdbd.conf cannot contain a blank, a quote or an unprintable character",
        ),
        (
            '{"username": "a#b", "password": "b"}',
            "arn:x: slurmdbd.conf cannot contain a blank, a quote or an unprintable character",
        ),
    ],
)
def test_fails_for_a_secret_that_cannot_be_used(owner: Machine, secret: str, message: str) -> None:
    external(owner)
    owner.secret = secret
    with pytest.raises(NodeSetupError) as raised:
        owner.set_up("on_create")
    assert message in str(raised.value)
    assert not any(command.startswith("systemctl start slurmctld") for command in owner.commands)


def test_fails_for_a_controller_that_does_not_listen(tmp_path: Path) -> None:
    worker = make_machine(tmp_path / "node", "Compute", "on_create")
    worker.listens = False
    with pytest.raises(NodeSetupError, match=r"slurmd: slurmctld does not listen on 10.1.0.4:6817"):
        worker.set_up("on_create")


def test_a_file_system_that_nobody_mounts_is_mounted(tmp_path: Path) -> None:
    worker = make_machine(tmp_path / "node", "Compute", "on_create")
    worker.write("/proc/mounts", "")
    worker.set_up("on_create")
    assert any(command.startswith("mount -t lustre -o noatime,flock fs-0123456789abcdef0") for command in worker.commands)


def test_programs_that_the_scripts_no_longer_have_are_removed(worker: Machine) -> None:
    worker.set_up("on_init_complete")
    worker.write("/opt/hyperpod/node_setup/steps/old.py", "")
    worker.set_up("on_init_complete")
    assert not worker.path("/opt/hyperpod/node_setup/steps/old.py").exists()


def test_what_the_scripts_mounted_once_is_awaited_from_nobody_after_a_reboot(tmp_path: Path) -> None:
    worker = make_machine(tmp_path / "node", "Compute", "on_create")
    worker.set_up("on_create")
    worker.write("/proc/mounts", "")
    node = worker.node("boot")
    started = node.clock.monotonic()
    run_steps(node, MODES["boot"])
    assert node.clock.monotonic() == started
    assert worker.commands[-1].startswith("mount -t lustre")


def test_a_limit_that_systemd_itself_cannot_raise_is_taken(worker: Machine) -> None:
    """In a container whose first process has a limit and may not raise it."""
    low = "Max locked memory         8388608              8388608              bytes\n"
    worker.limits = "8388608"
    for pid in ("1", "77"):
        worker.write(f"/proc/{pid}/limits", low)
    worker.write("/proc/1/status", "CapEff:\t00000000b8ecf5ff\n")
    worker.set_up("on_init_complete")
    assert "systemctl restart slurmd.service" not in worker.commands


def test_fails_for_a_low_limit_that_systemd_could_raise(worker: Machine) -> None:
    low = "Max locked memory         8388608              8388608              bytes\n"
    worker.limits = "8388608"
    for pid in ("1", "77"):
        worker.write(f"/proc/{pid}/limits", low)
    worker.write("/proc/1/status", "CapEff:\t00000000b9ecf5ff\n")
    with pytest.raises(NodeSetupError, match=r"limits: slurmd.service: its processes may lock less memory than unlimited"):
        worker.set_up("on_init_complete")


def test_a_requeued_job_need_not_wait_two_minutes(controller: Machine) -> None:
    controller.set_up("on_init_complete")
    settings = controller.text(INCLUDED).splitlines()
    assert "AuthInfo=cred_expire=30" in settings
    assert "SchedulerParameters=permit_job_expansion" in settings


def test_an_image_that_takes_job_expansion_away_is_reported(controller: Machine) -> None:
    controller.write("/opt/slurm/etc/slurm.conf", SLURM_CONF + "SchedulerParameters=defer\nAuthInfo=socket=/run/munge\n")
    controller.set_up("on_init_complete")
    assert "SchedulerParameters" not in controller.text(INCLUDED)
    assert "AuthInfo" not in controller.text(INCLUDED)
    assert "sets SchedulerParameters without permit_job_expansion, so no job can take" in controller.log.getvalue()


def test_a_slurmd_with_few_open_files_is_restarted_once(worker: Machine) -> None:
    few = "Max open files            131072               131072               files\n"
    worker.write("/proc/77/limits", few + worker.text("/proc/77/limits"))
    worker.set_up("on_init_complete")
    worker.write("/proc/77/limits", few + worker.text("/proc/77/limits"))
    worker.set_up("on_init_complete")
    assert worker.commands.count("systemctl restart slurmd.service") == 1
