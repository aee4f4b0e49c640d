"""Slurm's partitions, qualities of service and accounts: limits of their values, and the words for mistakes (as of 2026-11-24).

Sources: https://slurm.schedmd.com/slurm.conf.html, https://slurm.schedmd.com/sacctmgr.html,
https://slurm.schedmd.com/qos.html and https://slurm.schedmd.com/preempt.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hyperpod_constructs.facts.clusters import SERVICE_PARTITION
from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.facts.mistake import fixed_by

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


def cycle(edges: Mapping[str, Iterable[str]]) -> list[str] | None:
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
