"""Owners and modes that scripts and programs of nodes give."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.file_modes import kept_by, mode_of
from hyperpod_constructs.analysis.shell import run_of
from tests.analysis.node_states import said

SCRIPT = """#!/bin/bash
set -euo pipefail
install -d -m 1777 /fsx/logs
install -m 0600 -o slurm -g slurm /dev/null /opt/slurm/etc/slurmdbd.conf
mkdir -p /opt/enroot/cache
chmod 1777 /opt/enroot/cache
cat > /etc/enroot/enroot.conf <<'CONF'
ENROOT_CACHE_PATH /opt/enroot/cache/user-$(id -u)
CONF
name=ana
mkdir -p "/home/$name/.ssh"
chmod 700 "/home/$name/.ssh"
chown -R "$name:$name" "/home/$name"
"""
BATCH = "#!/bin/bash\n#SBATCH --output=/fsx/logs/%j.out\nsrun true\n"
PROGRAM = """
import os
from pathlib import Path

homes = Path("/homes")
for name in ("ana", "ben"):
    home = homes / name
    keys = home / ".ssh" / "authorized_keys"
    keys.parent.mkdir(mode=0o700, parents=True)
    keys.write_text("a")
    keys.chmod(0o600)
    keys.parent.chmod(0o700)
    for place in (home, keys.parent, keys):
        os.chown(place, 7001, 7000)
"""


@pytest.mark.parametrize(
    ("text", "before", "mode"),
    [
        ("0644", None, 0o644),
        ("u=rw,go=", 0o777, 0o600),
        ("go-rwx", 0o755, 0o700),
        ("+x", 0o644, 0o755),
        ("a+rwX,+t", 0o700, 0o1777),
        ("o+w", None, None),
        ("--reference=a", 0o644, None),
    ],
)
def test_modes_of_chmod(text: str, before: int | None, mode: int | None) -> None:
    assert mode_of(text, before) == mode


@pytest.mark.parametrize(
    ("text", "mode", "owner"),
    [
        ("cat > /a <<< b", 0o644, "root"),
        ("umask 077\ncat > /a <<< b", 0o600, "root"),
        ("(umask 077; cat > /a <<< b)", None, "root"),
        ("touch /b\nmv /b /a\nchown slurm: /a", 0o644, "slurm"),
        ("touch /a\nchmod $MODE /a", None, "root"),
        ("touch /a\nchmod 600 /*", None, None),
        ("touch /a\nsetfacl -m u:ana:r /a", None, "root"),
        ("sudo -u ana touch /b\ninstall -d -m 750 -o ana /a", 0o750, "ana"),
        ("touch /a\nchmod 600 /b/*.conf", 0o644, "root"),
    ],
)
def test_files_as_the_last_command_leaves_them(text: str, mode: int | None, owner: str | None) -> None:
    run = run_of((text,), {}, {})
    assert run is not None
    found = kept_by(run, text)["/a"]
    assert (found.mode, found.owner) == (mode, owner)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("install -d -m 1777", "install -d -m 0755", "makes /fsx/logs in line 3 for root alone, with the mode 0755: jobs of users"),
        ("install -d -m 1777", "mkdir -p", "makes /fsx/logs in line 3 for root alone"),
        ("install -d -m 1777", "install -d -m 0775 -g trainers", None),
        ("install -d -m 1777", "install -d -m 0755 -o ana", None),
        ("install -d -m 1777 /fsx/logs", "mkdir -p /fsx/logs\nchmod -R a+rwX /fsx", None),
        ("install -d -m 1777 /fsx/logs", 'mkdir -p /fsx/logs\nchmod "$MODE" /fsx/logs\nMODE=1777', None),
        ("install -m 0600 -o", "install -m 0644 -o", "leaves /opt/slurm/etc/slurmdbd.conf with the mode 0644"),
        ("install -m 0600 -o", "install -m 0640 -o", "so that others may read it: slurmdbd ends at once"),
        ("chmod 1777", "chmod 0755", "makes /opt/enroot/cache in line 5 for root alone"),
        ("chmod 1777 /opt/enroot/cache", "chmod 1777 /opt/enroot/*", None),
        ("chmod 700", "chmod 777", "so that others may write it: sshd passes over the keys"),
        ('chown -R "$name:$name" "/home/$name"', "true", "with root and the mode 0700: sshd reads the keys of a user as this user"),
        ('chown -R "$name:$name" "/home/$name"', 'chown "$name" "/home/$name/.ssh"', None),
        ('mkdir -p "/home/$name', 'sudo -u ana mkdir -p "/home/$name', None),
        ("name=ana", "install -m 0644 sudoers /etc/sudoers.d/ana\nname=ana", None),
        ("name=ana", "install -m 0664 sudoers /etc/sudoers.d/ana\nname=ana", "sudo refuses all commands"),
    ],
)
def test_modes_of_what_scripts_make(old: str, new: str, message: str | None) -> None:
    assert old in SCRIPT
    found = said({"start.sh": SCRIPT.replace(old, new) if old else SCRIPT, "job.sbatch": BATCH})
    assert [message in one[1] for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("keys.chmod(0o600)", "keys.chmod(600)", "gives the mode 600 in line 11, which is the number 0o1130 and not 0o600"),
        ("keys.parent.chmod(0o700)", "os.chmod(keys.parent, 700)", "gives the mode 700 in line 12"),
        ("mode=0o700", "mode=755", "gives the mode 755 in line 9"),
        ("keys.chmod(0o600)", "keys.chmod(384)", None),
        ("keys.chmod(0o600)", "keys.chmod(0o600)\n    os.umask(22)", "gives the mode 22 in line 12"),
        ("keys.chmod(0o600)", "keys.chmod(0o600)\n    os.umask(18)", None),
        ("keys.chmod(0o600)", "keys.chmod(0o600)\n    other(700)", None),
        ("(home, keys.parent, keys)", "(home,)", "leaves authorized_keys with root, and takes it from all others in line 11"),
        ("(home, keys.parent, keys)", "(home, keys)", "leaves .ssh with root"),
        ("(home, keys.parent, keys)", "everything(home)", None),
        ("os.chown(place, 7001, 7000)", "run('chown -R 7001 ' + str(place))", None),
        ('Path("/homes")', "Path.home()", None),
        ("homes / name\n", "Path('/root')\n", None),
    ],
)
def test_modes_and_keys_in_programs(old: str, new: str, message: str | None) -> None:
    assert old in PROGRAM
    text = PROGRAM.replace(old, new) if old else PROGRAM
    found = said({"start.sh": "#!/bin/bash\nset -e\npython3 users.py\n", "users.py": text})
    assert [message in one[1] for one in found] == [True] if message else found == []
