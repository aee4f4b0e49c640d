"""Mounts that scripts ask for: their options, and their lines in the table of file systems."""

from __future__ import annotations

import pytest

from tests.analysis.node_states import said

MOUNTS = """#!/bin/bash
set -euo pipefail
add() {
  local what="$1" path="$2" type="$3" options="$4"
  mkdir -p "$path"
  if ! grep -qs " $path " /etc/fstab; then
    echo "$what $path $type $options 0 0" >> /etc/fstab
  fi
  mountpoint -q "$path" || mount "$path"
}
add 10.0.0.1@tcp:/abc /fsx lustre noatime,flock,_netdev,x-systemd.automount
add 10.0.0.2:/fsx /homes nfs nfsvers=4.2,hard,noatime,nconnect=8,rsize=1048576,timeo=600,_netdev
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("nconnect=8", "nconnect=32", "mounts by the type nfs in line 12 with nconnect=32"),
        ("nconnect=8", "nconnect=0", "with nconnect=0"),
        ("nconnect=8", "nconnect=16", None),
        ("nfsvers=4.2", "vers=4.3", "with vers=4.3"),
        ("rsize=1048576", "rsize=1M", "with rsize=1M"),
        ("hard,", "harrd,", "with harrd"),
        ("nfsvers=4.2,", "sec=krb5x,", "with sec=krb5x"),
        ("flock", "flok", "mounts by the type lustre in line 11 with flok"),
        ("flock", "localflock,context=system_u", None),
        ("nconnect=8", "nconnect=$CONNECTIONS", "takes the variable CONNECTIONS"),
        ("nconnect=8", "newoption=1", None),
        ("add 10.0.0.2:/fsx /homes nfs", "mount -t nfs -o nconnect=17 10.0.0.2:/fsx /homes #", "with nconnect=17"),
    ],
)
def test_options_of_mounts(old: str, new: str, message: str | None) -> None:
    assert old in MOUNTS
    found = said({"start.sh": MOUNTS.replace(old, new) if old else MOUNTS})
    assert [message in one[1] for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (">> /etc/fstab", "> /etc/fstab", "writes /etc/fstab anew in line 11: the lines of all other file systems are gone"),
        ('echo "$what $path $type $options 0 0" >> /etc/fstab', 'echo "$what $path $type $options 0 0" | tee /etc/fstab', "anew"),
        ('echo "$what $path $type $options 0 0" >> /etc/fstab', 'echo "$what $path $type $options 0 0" | tee -a /etc/fstab', None),
        ('echo "$what $path $type $options 0 0" >> /etc/fstab', "printf 'LABEL=a / ext4\\n' > /etc/fstab", None),
        ('  if ! grep -qs " $path " /etc/fstab; then\n', "  if true; then\n", "adds a line to /etc/fstab in line 11 with each run"),
        ('grep -qs " $path " /etc/fstab', "findmnt --fstab $path", None),
        ('  if ! grep -qs " $path " /etc/fstab; then\n', '  sed -i "\\# $path #d" /etc/fstab\n  if true; then\n', None),
        (MOUNTS[MOUNTS.index("  if") : MOUNTS.index('mount "$path')], '  echo "$what $path $type 0 0" >> /etc/fstab\n  ', None),
    ],
)
def test_lines_in_the_table_of_file_systems(old: str, new: str, message: str | None) -> None:
    assert old in MOUNTS
    found = said({"start.sh": MOUNTS.replace(old, new)})
    assert [message in one[1] for one in found] == [True] if message else found == []
