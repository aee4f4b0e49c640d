"""Files in folders of configuration, and folders that the next boot takes away."""

from __future__ import annotations

import pytest

from tests.analysis.test_cron_files import said


def of(commands: str, **more: str) -> list[str]:
    return [message for _, message in said({"start.sh": f"#!/bin/bash\nset -euo pipefail\n{commands}\n", **more})]


def judge(found: list[str], message: str | None) -> None:
    assert [message in one for one in found] == [True] if message else found == []


def written(place: str, line: str) -> str:
    return f"cat > {place} <<'CONF'\n{line}\nCONF"


@pytest.mark.parametrize(
    ("place", "line", "message"),
    [
        ("/etc/tmpfiles.d/own.conf", "d /run/own 0755 root root -", None),
        ("/etc/tmpfiles.d/own", "d /run/own 0755 root root -", "which systemd passes over by its name"),
        ("/etc/tmpfiles.d/own.conf.disabled", "d /run/own 0755 root root -", None),
        ("/etc/tmpfiles.d/own.conf", "d! /run/own", None),
        ("/etc/tmpfiles.d/own.conf", "k /run/own 0755 root root -", "has k as the type of 'k /run/own"),
        ("/etc/tmpfiles.d/own.conf", "d run/own 0755 root root -", "which is no path from the root"),
        ("/etc/tmpfiles.d/own.conf", "d /run/own rwx root root -", "has rwx as the mode of /run/own"),
        ("/etc/tmpfiles.d/own.conf", "D /tmp/own 1777 root root 10dd", "has 10dd as the age"),
        ("/etc/tmpfiles.d/own.conf", "D /tmp/own 1777 root root 10d", None),
        ("/etc/sysctl.d/90-own.conf", "vm.swappiness = 10", None),
        ("/etc/sysctl.d/90-own", "vm.swappiness = 10", "which sysctl passes over by its name"),
        ("/etc/sysctl.d/90-own.conf", "vm.swappiness 10", "which gives no variable a value"),
        ("/etc/security/limits.d/own.conf", "* soft memlock unlimited", None),
        ("/etc/security/limits.d/own.conf", "* sotf memlock unlimited", "has sotf in"),
        ("/etc/security/limits.d/own.conf", "* soft memlok unlimited", "has memlok in"),
        ("/etc/security/limits.d/own.conf", "* soft memlock 64K", "has 64K as the value of memlock"),
        ("/etc/security/limits.d/own", "* soft memlock unlimited", "which pam_limits passes over"),
        ("/etc/sudoers.d/own.conf", "ubuntu ALL=(ALL) ALL", "which sudo passes over"),
        ("/etc/sudoers.d/own", "ubuntu ALL=(ALL) ALL", None),
        ("/etc/udev/rules.d/99-own.rules", 'KERNEL=="a"', None),
        ("/etc/udev/rules.d/99-own.conf", 'KERNEL=="a"', "which udev passes over"),
        ("/etc/profile.d/own", "export A=b", "which the shell passes over"),
    ],
)
def test_readers_of_folders_take_files(place: str, line: str, message: str | None) -> None:
    judge(of(written(place, line)), message)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("install -m 0755 a.sh /etc/cron.daily/a", None),
        ("install -m 0755 a.sh /etc/cron.daily/a.sh", "which run-parts passes over by its name"),
        ("install -m 0644 a.sh /etc/cron.daily/a", "which run-parts starts, without a bit by which it runs"),
    ],
)
def test_run_parts_starts_programs(command: str, message: str | None) -> None:
    judge(of(command, **{"a.sh": "#!/bin/bash\ntrue\n"}), message)


USED = "\ncat > /etc/own.conf <<'CONF'\npath /run/own/user\nCONF"
AGAIN = "\ncat > /etc/tmpfiles.d/own.conf <<'CONF'\nd /run/own 1777 root root -\nCONF"


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        (f"mkdir -p -m 1777 /run/own{USED}", "makes /run/own once, which /etc/own.conf needs: the next boot empties /run"),
        (f"install -d -m 1777 /run/own{USED}", "makes /run/own once"),
        (f"mkdir -p /run/own\nchown slurm /run/own{USED}", "makes /run/own once"),
        (f"mkdir -p /run/own{USED}", None),
        ("mkdir -p -m 1777 /run/own", None),
        ("mkdir -p -m 1777 /run/own\necho a > /run/own/b", None),
        (f"mkdir -p -m 1777 /run/own{USED}{AGAIN}", None),
        (f"mkdir -p -m 1777 /opt/own{USED}", None),
        (f"mkdir -p -m 1777 /run/own{USED.replace('/run/own', '/run/owner')}", None),
    ],
)
def test_folders_of_run_are_made_at_each_boot(commands: str, message: str | None) -> None:
    judge(of(commands), message)


def test_a_program_that_stays_may_make_the_folder_again() -> None:
    again = {"prolog.sh": "#!/bin/bash\nmkdir -p /run/own\n"}
    judge(of(f"mkdir -p -m 1777 /run/own{USED}", **again), None)
