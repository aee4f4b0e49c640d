"""The key `scheduling` of `config.json`: lines of slurm.conf, partitions, and what the accounting database holds.

{"slurm_conf": {"PriorityType": "priority/multifactor"},
 "partitions": [{"name": "shared", "groups": ["workers"], "settings": {"MaxTime": "60"}}],
 "qos": [{"name": "urgent", "settings": {"Priority": "100", "Preempt": "normal"}}],
 "accounts": [{"name": "research", "parent": "root", "users": ["alice"], "settings": {"Fairshare": "40"}}]}
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from node_setup.errors import NodeSetupError
from node_setup.schema import check_choice, check_list, check_object, check_word

MOST = 1000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
USER = re.compile(r"[a-z_][a-z0-9_.-]{0,31}")
GROUP = re.compile(r"[A-Za-z0-9-]{1,63}")
VALUE = re.compile(r"[A-Za-z0-9_./:,=-]{1,1000}")
SLURM_CONF = (
    "PriorityType",
    "PriorityWeightQOS",
    "PriorityWeightFairshare",
    "PriorityWeightAge",
    "PriorityWeightPartition",
    "PriorityWeightJobSize",
    "PriorityDecayHalfLife",
    "PriorityMaxAge",
    "PreemptType",
    "PreemptMode",
    "PreemptParameters",
    "AccountingStorageEnforce",
    "AccountingStorageTRES",
)
PARTITION = ("PriorityTier", "PriorityJobFactor", "MaxTime", "DefaultTime", "MaxNodes", "QOS", "AllowAccounts", "AllowQos")
QOS = (
    "Priority",
    "Preempt",
    "PreemptMode",
    "PreemptExemptTime",
    "GraceTime",
    "MaxWall",
    "GrpTRES",
    "MaxTRESPerJob",
    "MaxTRESPerUser",
    "GrpJobs",
    "MaxJobsPerUser",
    "MaxSubmitJobsPerUser",
    "UsageFactor",
    "Flags",
)
ACCOUNT = ("Fairshare", "QOS", "DefaultQOS", "GrpTRES", "MaxTRESPerJob", "GrpJobs", "MaxJobs")


class Partition(NamedTuple):
    """A partition over groups of workers, over all of them if `groups` is empty."""

    name: str
    groups: list[str]
    settings: dict[str, str]


class Qos(NamedTuple):
    """A QOS with each of its settings as `sacctmgr show` prints it; an empty one is no limit."""

    name: str
    settings: dict[str, str]


class Account(NamedTuple):
    """An account, as a QOS."""

    name: str
    parent: str
    users: list[str]
    settings: dict[str, str]


class Scheduling(NamedTuple):
    slurm_conf: dict[str, str]
    partitions: list[Partition]
    qos: list[Qos]
    accounts: list[Account]


NOTHING = Scheduling({}, [], [], [])


def parse_scheduling(value: Any) -> Scheduling:
    check_object("scheduling", value, required=("slurm_conf", "partitions", "qos", "accounts"))
    return Scheduling(
        _settings("scheduling.slurm_conf", value["slurm_conf"], SLURM_CONF),
        [_partition(where, entry) for where, entry in _entries("partitions", value["partitions"])],
        [_qos(where, entry) for where, entry in _entries("qos", value["qos"])],
        [_account(where, entry) for where, entry in _entries("accounts", value["accounts"])],
    )


def _entries(key: str, value: Any) -> list[tuple[str, Any]]:
    entries = check_list(f"scheduling.{key}", value)
    if len(entries) > MOST:
        raise NodeSetupError(f"scheduling.{key} has {len(entries)} entries, the most are {MOST}")
    return [(f"scheduling.{key}[{index}]", entry) for index, entry in enumerate(entries)]


def _partition(where: str, value: Any) -> Partition:
    check_object(where, value, required=("name", "groups", "settings"))
    groups = _words(f"{where}.groups", value["groups"], GROUP)
    return Partition(_name(where, value), groups, _settings(f"{where}.settings", value["settings"], PARTITION))


def _qos(where: str, value: Any) -> Qos:
    check_object(where, value, required=("name", "settings"))
    return Qos(_name(where, value), _settings(f"{where}.settings", value["settings"], QOS))


def _account(where: str, value: Any) -> Account:
    check_object(where, value, required=("name", "parent", "users", "settings"))
    return Account(
        _name(where, value),
        check_word(f"{where}.parent", value["parent"], NAME),
        _words(f"{where}.users", value["users"], USER),
        _settings(f"{where}.settings", value["settings"], ACCOUNT),
    )


def _name(where: str, value: Any) -> str:
    return check_word(f"{where}.name", value["name"], NAME)


def _words(where: str, value: Any, pattern: re.Pattern[str]) -> list[str]:
    return [check_word(f"{where}[{index}]", word, pattern) for index, word in enumerate(check_list(where, value))]


def _settings(where: str, value: Any, allowed: tuple[str, ...]) -> dict[str, str]:
    """Keys that are known, with values that mean nothing but themselves to slurm.conf and sacctmgr."""
    found = check_object(where, value)
    for key, text in found.items():
        check_choice(f"a key of {where}", key, allowed)
        if text != "":
            check_word(f"{where}.{key}", text, VALUE)
    return {str(key): str(text) for key, text in found.items()}
