"""Local users and groups of the node, from `/etc/passwd` and `/etc/group`, without those of a directory service."""

from __future__ import annotations

from typing import NamedTuple


class Account(NamedTuple):
    name: str
    uid: int
    gid: int
    home: str


class AccountGroup(NamedTuple):
    name: str
    gid: int
    members: list[str]


def parse_accounts(passwd: str) -> list[Account]:
    lines = [line.split(":") for line in passwd.splitlines()]
    return [Account(fields[0], int(fields[2]), int(fields[3]), fields[5]) for fields in lines if _is_entry(fields, 7)]


def parse_groups(group: str) -> list[AccountGroup]:
    lines = [line.split(":") for line in group.splitlines()]
    return [
        AccountGroup(fields[0], int(fields[2]), [name for name in fields[3].split(",") if name])
        for fields in lines
        if _is_entry(fields, 4)
    ]


def _is_entry(fields: list[str], count: int) -> bool:
    return len(fields) == count and not fields[0].startswith(("#", "+", "-")) and fields[2].isdigit()
