"""Slurm's partitions, qualities of service and accounts: limits of their values, and the words for mistakes (as of 2026-11-24).

Sources: https://slurm.schedmd.com/slurm.conf.html, https://slurm.schedmd.com/sacctmgr.html,
https://slurm.schedmd.com/qos.html and https://slurm.schedmd.com/preempt.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hyperpod_constructs.facts.clusters import SERVICE_PARTITION
from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.facts.mistake import Mistake, fixed_by

_NAME = "1 to {longest} lowercase letters, digits, '_' and '-', with a letter or digit first"
QOS_NAME = Limit(longest=32, pattern=r"[a-z0-9][a-z0-9_-]*", words=_NAME, example="urgent")
"""sacctmgr writes names of QOS and accounts in small letters."""
ACCOUNT_NAME = Limit(longest=32, pattern=r"[a-z0-9][a-z0-9_-]*", words=_NAME, example="research")
PARTITION_NAME = Limit(
    longest=32,
    pattern=r"[A-Za-z0-9][A-Za-z0-9_-]*",
    words="1 to {longest} letters, digits, '_' and '-', with a letter or digit first",
    example="shared",
)
USER_NAME = Limit(
    longest=32,
    pattern=r"[a-z_][a-z0-9_.-]*",
    words="an account of Linux: a lowercase letter or '_', then letters, digits, '_', '.' and '-', {longest} at most",
    example="alice",
)
TRES_NAME = Limit(
    longest=64,
    pattern=r"cpu|node|gres/[a-z][a-z0-9_]*",
    words="cpu, node, or gres/ with the name of a generic resource",
    example="gres/gpu",
)
AMOUNT = Limit(least=0, most=2**31 - 1)
PRIORITY = Limit(least=0, most=2**32 - 3)
"""Higher numbers stand for no value and for infinity."""
WEIGHT = Limit(least=0, most=2**31 - 1)
TIER = Limit(least=0, most=65_533)
SHARES = Limit(least=1, most=2**31 - 2)
SECONDS = Limit(least=0, most=7 * 24 * 3600)
MINUTES = Limit(least=1, most=366 * 24 * 60)
HOURS = Limit(least=0, most=366 * 24)

DEFAULT_QOS = "normal"
"""The QOS that every database of Slurm has, and that jobs without another one get."""
ROOT_ACCOUNT = "root"
"""The account above all others."""
OTHERS_ACCOUNT = "hyperpod"
"""The account of the users whom no account names."""
GRES = "gres/"

_KINDS = {"partitions": "partitions", "qos": "QOS", "accounts": "accounts"}
_RESERVED_PARTITIONS = ("all", "default", SERVICE_PARTITION)


@fixed_by("rename one of them, or leave it out")
def repeated(kind: str, name: str) -> str:
    """Two settings of one name."""
    return f"two {kind} are named {name!r}"


@fixed_by("define it too, or correct the name")
def unknown(where: str, kind: str, name: str, known: Iterable[str]) -> str:
    """A name that no setting defines."""
    return f"{where} names the {kind} {name!r}, which is not among {', '.join(sorted(known)) or 'any'}"


@fixed_by("let a QOS preempt only those below it")
def preempts_itself(names: Sequence[str]) -> str:
    """QOS that preempt each other, which sacctmgr refuses."""
    return f"the QOS {' preempts '.join(names)}, so a job could preempt itself"


@fixed_by(f"give each account a parent that leads to {ROOT_ACCOUNT}")
def own_ancestor(names: Sequence[str]) -> str:
    """Accounts that are each other's parents."""
    return f"the account {' is below '.join(names)}, so none of them leads to {ROOT_ACCOUNT}"


@fixed_by("choose another name; a job takes several partitions as --partition=one,two")
def reserved_partition(name: str) -> str:
    """A name with a meaning of its own."""
    why = "the service makes of all workers" if name == SERVICE_PARTITION else "Slurm takes for a word of its own"
    return f"the partition is named {name!r}, a name that {why}"


def is_reserved_partition(name: str) -> bool:
    """Whether a partition cannot have this name."""
    return name.lower() in _RESERVED_PARTITIONS


@fixed_by("rename it: slurmctld does not start with two partitions of one name")
def partition_of_group(name: str, group: str) -> str:
    """A partition with the name of one that the service makes."""
    return f"the partition {name!r} has the name of the partition that the service makes of group {group!r}"


@fixed_by("name groups of workers, or leave groups out: then the partition has all workers")
def partition_without_group(name: str, group: str, known: Iterable[str]) -> str:
    """A partition over a group that the cluster has not."""
    return f"the partition {name!r} names the group {group!r}; groups of workers are {', '.join(known) or 'missing'}"


@fixed_by(
    "use this library's scripts (leave lifecycle_scripts and the controller's lifecycle_mode as they are), "
    "or leave partitions, qos, accounts and priority out and set Slurm up yourself"
)
def without_scripts(what: str) -> str:
    """Settings that no program on the controller would apply."""
    return (
        f"Orchestrator.slurm has {what}, which only this library's scripts write on the controller, into slurm.conf and the "
        "accounting database; this cluster does not run them there"
    )


def mistakes(scheduling: Mapping[str, Any]) -> Iterator[Mistake]:
    """Mistakes between the settings, as `config.json` has them."""
    named = {kind: [str(one["name"]) for one in scheduling[kind]] for kind in ("partitions", "qos", "accounts")}
    for kind, names in named.items():
        yield from (repeated(_KINDS[kind], name) for name in dict.fromkeys(names) if names.count(name) > 1)
    yield from (reserved_partition(name) for name in named["partitions"] if is_reserved_partition(name))
    yield from _unknown_names(scheduling, {*named["qos"], DEFAULT_QOS}, {*named["accounts"], ROOT_ACCOUNT})
    preempted = _cycle({one["name"]: _words(one, "Preempt") for one in scheduling["qos"]})
    if preempted is not None:
        yield preempts_itself(preempted)
    below = _cycle({one["name"]: [one["parent"]] for one in scheduling["accounts"]})
    if below is not None:
        yield own_ancestor(below)


def partition_mistakes(scheduling: Mapping[str, Any], workers: Mapping[str, str]) -> Iterator[Mistake]:
    """Partitions that name no group of workers, or have the name of a group's own.

    :param workers: the partition of each group of workers.
    """
    for one in scheduling["partitions"]:
        owner = next((group for group, own in workers.items() if own == one["name"]), None)
        if owner is not None:
            yield partition_of_group(one["name"], owner)
        yield from (partition_without_group(one["name"], group, workers) for group in one["groups"] if group not in workers)


def _unknown_names(scheduling: Mapping[str, Any], qos: set[str], accounts: set[str]) -> Iterator[Mistake]:
    for one in scheduling["qos"]:
        yield from _unknown(f"Qos {one['name']!r}", "QOS", _words(one, "Preempt"), qos)
    for one in scheduling["accounts"]:
        where = f"Account {one['name']!r}"
        yield from _unknown(where, "QOS", [*_words(one, "QOS"), *_words(one, "DefaultQOS")], qos)
        yield from _unknown(where, "account", [one["parent"]], accounts)
    for one in scheduling["partitions"]:
        where = f"Partition {one['name']!r}"
        yield from _unknown(where, "QOS", [*_words(one, "AllowQos"), *_words(one, "QOS")], qos)
        yield from _unknown(where, "account", _words(one, "AllowAccounts"), accounts | {OTHERS_ACCOUNT})


def _unknown(where: str, kind: str, names: Iterable[str], known: set[str]) -> Iterator[Mistake]:
    return (unknown(where, kind, name, known) for name in dict.fromkeys(names) if name not in known)


def _words(one: Mapping[str, Any], key: str) -> list[str]:
    return [word for word in str(one["settings"].get(key, "")).split(",") if word]


def _cycle(edges: Mapping[str, Iterable[str]]) -> list[str] | None:
    """The names along a way that comes back to its start; `None` without one."""
    done: set[str] = set()

    def walk(name: str, way: list[str]) -> list[str] | None:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return None
        found = next((found for other in edges.get(name, ()) if (found := walk(other, [*way, name]))), None)
        done.add(name)
        return found

    return next((found for name in edges if (found := walk(name, []))), None)
