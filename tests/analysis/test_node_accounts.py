"""Users that programs of nodes make."""

from __future__ import annotations

import pytest

from tests.analysis.node_states import said

SHELL = """#!/bin/bash
set -euo pipefail
mkdir -p /homes
mountpoint -q /homes || mount -t nfs 10.0.0.2:/fsx /homes
getent group trainers || groupadd --gid 7000 trainers
while IFS=, read -r name uid; do
  id "$name" > /dev/null 2>&1 && continue
  useradd --uid "$uid" --home-dir "/homes/$name" "$name"
done < users.csv
"""
PYTHON = """
import grp
import subprocess

def has(name):
    try:
        grp.getgrnam(name)
    except KeyError:
        return False
    return True

if not has("trainers"):
    subprocess.run(["groupadd", "--gid", "7000", "trainers"], check=True)
for name, uid in (("ana", "7001"), ("ben", "7002")):
    if not has(name):
        subprocess.run(["useradd", "--uid", uid, "--home-dir", f"/homes/{name}", name], check=True)
"""
MOUNT = "#!/bin/bash\nset -euo pipefail\nmkdir -p /homes\nmount -t nfs 10.0.0.2:/fsx /homes\npython3 users.py\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ('--uid "$uid" ', "", "makes a user in line 8 without a number, which is the next free one of each node"),
        ('--uid "$uid" ', '-u"$uid" ', None),
        ('--uid "$uid" --home-dir "/homes/$name"', '--home-dir "/var/lib/$name"', None),
        ('--uid "$uid" --home-dir "/homes/$name"', '--system --home-dir "/homes/$name"', None),
        ('--uid "$uid" --home-dir "/homes/$name"', "", None),
        ('  id "$name" > /dev/null 2>&1 && continue\n', "", None),
        (
            "getent group trainers || groupadd",
            "groupadd",
            "runs groupadd in line 5 with each run",
        ),
        ("useradd --uid", "useradd $OPTIONS --uid", "takes the variable OPTIONS"),
    ],
)
def test_users_made_by_a_shell(old: str, new: str, message: str | None) -> None:
    assert old in SHELL
    found = said({"start.sh": SHELL.replace(old, new) if old else SHELL, "users.csv": "ana,7001\n"})
    assert [message in one[1] for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ('"--uid", uid, ', "", "makes a user in line 16 without a number"),
        ('"--uid", uid, ', "*options, ", None),
        ("    if not has(name):\n", "    if True:\n", "runs useradd in line 16 with each run, which fails for one who is there"),
        ("    if not has(name):\n", "    if has(name):\n        continue\n    if True:\n", None),
        ("    if not has(name):\n", "    try:\n        subprocess.run(['id', name])\n    finally:\n", None),
        ("name], check=True)", "name])", None),
    ],
)
def test_users_made_by_python(old: str, new: str, message: str | None) -> None:
    assert old in PYTHON
    found = said({"start.sh": MOUNT, "users.py": PYTHON.replace(old, new) if old else PYTHON})
    assert [message in one[1] for one in found] == [True] if message else found == []
