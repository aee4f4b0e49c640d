"""Partitions, qualities of service (QOS) and accounts of a Slurm cluster, in the words of slurm.conf and sacctmgr.

The controller's scripts write them: partitions and the order of the queue into the file that slurm.conf includes, QOS and accounts
into the accounting database. The lines of the service's agent stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.values import GroupName
from hyperpod_constructs.facts import scheduling as facts
from hyperpod_constructs.facts.mistake import Mistake

QosName = Annotated[str, facts.QOS_NAME]
AccountName = Annotated[str, facts.ACCOUNT_NAME]
ExtraPartitionName = Annotated[str, facts.PARTITION_NAME]
UserName = Annotated[str, facts.USER_NAME]
QosPriority = Annotated[int, facts.PRIORITY]
Weight = Annotated[int, facts.WEIGHT]
Tier = Annotated[int, facts.TIER]
Shares = Annotated[int, facts.SHARES]
Seconds = Annotated[int, facts.SECONDS]
Minutes = Annotated[int, facts.MINUTES]
Hours = Annotated[int, facts.HOURS]
Amount = Annotated[int, facts.AMOUNT]
Tres = Mapping[str, Amount]


class PreemptMode(StrEnum):
    """The end of a job that a job of another QOS preempts.

    Slurm's `SUSPEND` is missing on purpose: a suspended job keeps the memory of its accelerators.
    """

    REQUEUE = "requeue"
    """The job goes back to the queue; a job that may not be requeued is cancelled."""
    CANCEL = "cancel"
    """The job ends."""


class QosFlag(StrEnum):
    """Exceptions of a QOS."""

    DENY_ON_LIMIT = "DenyOnLimit"
    """A job beyond a limit is refused when it is submitted; otherwise it waits for ever."""
    NO_RESERVE = "NoReserve"
    """Its waiting jobs keep no nodes free for themselves."""
    OVER_PART_QOS = "OverPartQOS"
    """Its limits count, not those of the partition's QOS."""
    PARTITION_MAX_NODES = "PartitionMaxNodes"
    """Its jobs may have more nodes than the partition's limit."""


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class Qos:
    """A quality of service: a priority, limits, and the jobs that give way to it. A job asks for one by `--qos`.

    :param name: lowercase letters, digits, `_` and `-`. `normal` is the QOS of jobs that ask for none; give it to change it.
    :param priority: its part in the priority of a job, relative to the highest of all QOS; 0 unless given.
    :param preempt: the QOS whose jobs end for its jobs when no node is free; none unless given.
    :param preempt_mode: the end of its own jobs when they are preempted; requeued unless given.
    :param grace_time_seconds: time of its own jobs between the warning of a preemption and their end; none unless given. The
        warning is the job's own signal (`sbatch --signal`), or SIGTERM.
    :param preempt_exempt_time_seconds: time for which its own jobs cannot be preempted after their start; none unless given.
    :param max_wall_minutes: longest time of a job; no limit unless given.
    :param grp_tres: most resources of all its running jobs, such as `{"node": 8, "gres/gpu": 64}`; no limit unless given.
    :param max_tres_per_job: most resources of a job; no limit unless given.
    :param max_tres_per_user: most resources of a user's running jobs; no limit unless given.
    :param grp_jobs: most running jobs; no limit unless given.
    :param max_jobs_per_user: most running jobs of a user; no limit unless given.
    :param max_submit_jobs_per_user: most waiting and running jobs of a user; no limit unless given.
    :param usage_factor: factor of its jobs' usage in the fair share; 1 unless given.
    :param flags: exceptions; jobs beyond a limit are refused unless others are given.
    :raises ValueError: for a name or a number outside its limits.

    Source: https://slurm.schedmd.com/qos.html
    """

    name: QosName
    priority: QosPriority = 0
    preempt: Sequence[QosName] = ()
    preempt_mode: PreemptMode = PreemptMode.REQUEUE
    grace_time_seconds: Seconds = 0
    preempt_exempt_time_seconds: Seconds = 0
    max_wall_minutes: Minutes | None = None
    grp_tres: Tres = field(default_factory=dict)
    max_tres_per_job: Tres = field(default_factory=dict)
    max_tres_per_user: Tres = field(default_factory=dict)
    grp_jobs: Amount | None = None
    max_jobs_per_user: Amount | None = None
    max_submit_jobs_per_user: Amount | None = None
    usage_factor: float | int = 1
    flags: Sequence[QosFlag] = (QosFlag.DENY_ON_LIMIT,)

    def __post_init__(self) -> None:
        _check_tres(f"Qos {self.name!r}", self.tres)
        if not 0 <= self.usage_factor <= 1000:
            raise ValueError(f"Qos {self.name!r}: usage_factor is {self.usage_factor}; allowed: 0 to 1000; write usage_factor=1")

    @property
    def tres(self) -> dict[str, Tres]:
        """Its limits of resources, by argument."""
        return {name: getattr(self, name) for name in ("grp_tres", "max_tres_per_job", "max_tres_per_user")}

    def render(self) -> dict[str, Any]:
        """The QOS in `config.json`, each value as `sacctmgr show` prints it; an empty one is no limit."""
        settings = {
            "Priority": str(self.priority),
            "Preempt": ",".join(sorted(set(self.preempt))),
            "PreemptMode": self.preempt_mode.value,
            "PreemptExemptTime": _time(self.preempt_exempt_time_seconds) if self.preempt_exempt_time_seconds else "",
            "GraceTime": _time(self.grace_time_seconds),
            "MaxWall": "" if self.max_wall_minutes is None else _time(self.max_wall_minutes * 60),
            "GrpTRES": _tres(self.grp_tres),
            "MaxTRESPerJob": _tres(self.max_tres_per_job),
            "MaxTRESPerUser": _tres(self.max_tres_per_user),
            "GrpJobs": _number(self.grp_jobs),
            "MaxJobsPerUser": _number(self.max_jobs_per_user),
            "MaxSubmitJobsPerUser": _number(self.max_submit_jobs_per_user),
            "UsageFactor": f"{float(self.usage_factor):f}",
            "Flags": ",".join(sorted({flag.value for flag in self.flags})),
        }
        return {"name": self.name, "settings": settings}


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """An account that users' jobs are charged to: a share of the cluster, and limits.

    :param name: lowercase letters, digits, `_` and `-`. Users whom no account names are in `hyperpod`; give it to change it.
    :param users: its users, by the names that the nodes know. The first account that names a user is the one of jobs that ask for
        none; a job asks for another one by `--account`. Users stay in an account that no longer names them.
    :param parent: the account above it; the cluster's own unless given.
    :param fair_share: its shares among the accounts of one parent; 1 unless given.
    :param qos: the QOS that its jobs may ask for; those of its parent, so all at last, unless given.
    :param default_qos: the QOS of jobs that ask for none; `normal` unless given.
    :param grp_tres: most resources of all its running jobs, such as `{"node": 8}`; no limit unless given.
    :param max_tres_per_job: most resources of a job; no limit unless given.
    :param grp_jobs: most running jobs; no limit unless given.
    :param max_jobs: most running jobs of each user; no limit unless given.
    :raises ValueError: for a name or a number outside its limits, or a default QOS that its jobs may not ask for.

    Source: https://slurm.schedmd.com/sacctmgr.html
    """

    name: AccountName
    users: Sequence[UserName] = ()
    parent: AccountName | None = None
    fair_share: Shares = 1
    qos: Sequence[QosName] = ()
    default_qos: QosName | None = None
    grp_tres: Tres = field(default_factory=dict)
    max_tres_per_job: Tres = field(default_factory=dict)
    grp_jobs: Amount | None = None
    max_jobs: Amount | None = None

    def __post_init__(self) -> None:
        if self.name == facts.ROOT_ACCOUNT:
            raise ValueError(
                f"Account {self.name!r}: this is Slurm's account above all others; choose another name, such as 'research'"
            )
        _check_tres(f"Account {self.name!r}", self.tres)
        if self.qos and self.default_qos is not None and self.default_qos not in self.qos:
            raise ValueError(
                f"Account {self.name!r}: default_qos is {self.default_qos!r}, which is not in its qos, {', '.join(self.qos)}; "
                f"add it there, or write default_qos={self.qos[0]!r}"
            )

    @property
    def tres(self) -> dict[str, Tres]:
        """Its limits of resources, by argument."""
        return {name: getattr(self, name) for name in ("grp_tres", "max_tres_per_job")}

    def render(self) -> dict[str, Any]:
        """The account in `config.json`, each value as `sacctmgr show` prints it; an empty one is its parent's, or no limit."""
        default = self.default_qos
        if default is None and self.qos and facts.DEFAULT_QOS not in self.qos:
            default = self.qos[0]
        settings = {
            "Fairshare": str(self.fair_share),
            "QOS": ",".join(sorted(set(self.qos))),
            "DefaultQOS": default or "",
            "GrpTRES": _tres(self.grp_tres),
            "MaxTRESPerJob": _tres(self.max_tres_per_job),
            "GrpJobs": _number(self.grp_jobs),
            "MaxJobs": _number(self.max_jobs),
        }
        parent = facts.ROOT_ACCOUNT if self.parent is None else self.parent
        return {"name": self.name, "parent": parent, "users": list(dict.fromkeys(self.users)), "settings": settings}


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class Partition:
    """A partition of your own over groups of workers, beside those that the service makes of each group and of all.

    It follows its groups: nodes that come, go or are replaced are there within a minute.

    :param name: letters, digits, `_` and `-`; neither `dev` nor the name of a group's partition.
    :param groups: the groups of workers in it; all unless given. Groups that share one partition of the service come together.
    :param priority_tier: jobs of a higher tier start first, whatever their priority; 1 unless given.
    :param priority_job_factor: its part in the priority of a job, relative to the highest of all partitions; 1 unless given.
    :param max_time_minutes: longest time of a job; no limit unless given.
    :param default_time_minutes: time of jobs that ask for none; the longest unless given.
    :param max_nodes: most nodes of a job; no limit unless given.
    :param qos: a QOS whose limits count for all its jobs; none unless given.
    :param allow_accounts: the accounts that may use it; all unless given.
    :param allow_qos: the QOS that may use it; all unless given.
    :raises ValueError: for a reserved name, or a number outside its limits.

    Source: https://slurm.schedmd.com/slurm.conf.html#SECTION_PARTITION-CONFIGURATION
    """

    name: ExtraPartitionName
    groups: Sequence[GroupName] = ()
    priority_tier: Tier = 1
    priority_job_factor: Tier = 1
    max_time_minutes: Minutes | None = None
    default_time_minutes: Minutes | None = None
    max_nodes: Amount | None = None
    qos: QosName | None = None
    allow_accounts: Sequence[AccountName] = ()
    allow_qos: Sequence[QosName] = ()

    def __post_init__(self) -> None:
        if facts.is_reserved_partition(self.name):
            raise ValueError(f"Partition: {facts.reserved_partition(self.name)}")
        longest, default = self.max_time_minutes, self.default_time_minutes
        if longest is not None and default is not None and default > longest:
            raise ValueError(
                f"Partition {self.name!r}: default_time_minutes is {default}, longer than max_time_minutes, {longest}; "
                f"write default_time_minutes={longest}"
            )

    def render(self) -> dict[str, Any]:
        """The partition in `config.json`."""
        settings = {
            "PriorityTier": str(self.priority_tier),
            "PriorityJobFactor": str(self.priority_job_factor),
            "MaxTime": "UNLIMITED" if self.max_time_minutes is None else str(self.max_time_minutes),
            "DefaultTime": _number(self.default_time_minutes),
            "MaxNodes": _number(self.max_nodes),
            "QOS": self.qos or "",
            "AllowAccounts": ",".join(self.allow_accounts),
            "AllowQos": ",".join(self.allow_qos),
        }
        return {"name": self.name, "groups": list(self.groups), "settings": {key: text for key, text in settings.items() if text}}


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class Priority:
    """The weights of a waiting job's priority: `priority/multifactor` adds each weight times a factor between 0 and 1.

    :param weight_qos: weight of the QOS; 100000 unless given, so that it decides first.
    :param weight_fairshare: weight of what an account still has of its share; 10000 unless given.
    :param weight_age: weight of the time in the queue; 1000 unless given.
    :param weight_partition: weight of the partition's `priority_job_factor`; 1000 unless given.
    :param weight_job_size: weight of the number of nodes; 0 unless given.
    :param decay_half_life_hours: time after which usage counts half; a week unless given. 0 never forgets.
    :param max_age_hours: time in the queue after which the age counts in full; a week unless given.
    :raises ValueError: for a number outside its limits.

    Source: https://slurm.schedmd.com/priority_multifactor.html
    """

    weight_qos: Weight = 100_000
    weight_fairshare: Weight = 10_000
    weight_age: Weight = 1_000
    weight_partition: Weight = 1_000
    weight_job_size: Weight = 0
    decay_half_life_hours: Hours = 7 * 24
    max_age_hours: Hours = 7 * 24

    def render(self) -> dict[str, str]:
        """The lines of slurm.conf."""
        return {
            "PriorityType": "priority/multifactor",
            "PriorityWeightQOS": str(self.weight_qos),
            "PriorityWeightFairshare": str(self.weight_fairshare),
            "PriorityWeightAge": str(self.weight_age),
            "PriorityWeightPartition": str(self.weight_partition),
            "PriorityWeightJobSize": str(self.weight_job_size),
            "PriorityDecayHalfLife": _time(self.decay_half_life_hours * 3600),
            "PriorityMaxAge": _time(self.max_age_hours * 3600),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Scheduling:
    """What a cluster's orchestrator says about the order of jobs, checked as a whole."""

    partitions: Sequence[Partition]
    qos: Sequence[Qos]
    accounts: Sequence[Account]
    priority: Priority | None

    @property
    def accounted(self) -> bool:
        """Whether Slurm must enforce QOS and associations, which takes an accounting database."""
        return bool(self.qos or self.accounts)

    @property
    def given(self) -> list[str]:
        """The names of the settings that are there."""
        return [name for name in self.__slots__ if getattr(self, name)]

    def mistake(self) -> Mistake | None:
        """The first mistake that spans several settings; `None` without one."""
        return next(facts.mistakes(self.render()), None)

    def render(self) -> dict[str, Any]:
        """The key `scheduling` of `config.json`."""
        return {
            "slurm_conf": self._slurm_conf(),
            "partitions": [partition.render() for partition in self.partitions],
            "qos": [qos.render() for qos in self.qos],
            "accounts": [account.render() for account in self.accounts],
        }

    def _slurm_conf(self) -> dict[str, str]:
        lines: dict[str, str] = {}
        if self.accounted or self.priority is not None:
            lines |= (Priority() if self.priority is None else self.priority).render()
        if self.accounted:
            lines["AccountingStorageEnforce"] = "associations,limits,qos"
        if any(qos.preempt for qos in self.qos):
            lines |= {"PreemptType": "preempt/qos", "PreemptMode": "REQUEUE", "PreemptParameters": "send_user_signal"}
        limits = [one.tres for one in self.qos] + [one.tres for one in self.accounts]
        counted = {name for each in limits for tres in each.values() for name in tres}
        if generic := sorted(name for name in counted if name.startswith(facts.GRES)):
            lines["AccountingStorageTRES"] = ",".join(generic)
        return lines


def _check_tres(where: str, limits: Mapping[str, Tres]) -> None:
    for argument, tres in limits.items():
        for name in tres:
            mistake = facts.TRES_NAME.mistake(f"a key of {argument}", name)
            if mistake is not None:
                raise ValueError(f"{where}: {mistake.message}; write {argument}={{{facts.TRES_NAME.example!r}: 8}}")


def _tres(limits: Tres) -> str:
    return ",".join(f"{name}={limits[name]}" for name in sorted(limits))


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _time(seconds: int) -> str:
    """Slurm's form of a time: days, hours, minutes and seconds."""
    days, rest = divmod(seconds, 24 * 3600)
    text = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{text}" if days else text
