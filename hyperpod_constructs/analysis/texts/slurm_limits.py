"""Batch scripts against the limits of the accounting and of partitions: a job that exceeds one waits for ever, or is refused.

Sources: https://slurm.schedmd.com/resource_limits.html, https://slurm.schedmd.com/qos.html and
https://slurm.schedmd.com/sacctmgr.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.batch_scripts import Batch, read_batch
from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.node_programs import NodeFile, programs_of
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.slurm_accounts import added
from hyperpod_constructs.analysis.slurm_texts import is_known, slurm_texts, spelled_file
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, of_slurm
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.facts import slurm_accounting as facts
from hyperpod_constructs.facts.slurm_configuration import SLURM
from hyperpod_constructs.facts.texts import Language

_TIME = re.compile(r"(?:(\d{1,5})-)?(\d{1,7})(?::(\d{1,4}))?(?::(\d{1,4}))?")
_GRES = re.compile(r"gpu(?::[A-Za-z][\w.-]*)?:(\d{1,4})")
_COUNT = re.compile(r"(\d{1,6})(?:-\d{1,6})?")


class _Job(NamedTuple):
    """A batch script; what is not known of it is empty."""

    file: NodeFile
    batch: Batch

    def value(self, name: str) -> str:
        """The value of an option; empty if it is not given, or not known."""
        found = self.batch.value(name) or ""
        return found if is_known(found) else ""

    @property
    def nodes(self) -> int:
        """The nodes that it asks for at least."""
        found = _COUNT.fullmatch(self.value("nodes"))
        return int(found[1]) if found is not None else 0

    @property
    def gpus(self) -> int:
        """The GPUs that it asks for on all nodes."""
        found = _GRES.fullmatch(self.value("gres")) or _GRES.fullmatch(f"gpu:{self.value('gpus-per-node')}")
        return int(found[1]) * self.nodes if found is not None else 0


class _Limit(NamedTuple):
    """A limit, and who has it in words."""

    value: str
    of: str
    name: str


def _jobs(group: Group) -> Iterator[_Job]:
    for file in programs_of(group).files.values():
        batch = read_batch(spelled_file(file) or "")
        if batch is not None and not batch.heterogeneous:
            yield _Job(file, batch)


def _enforced(group: Group, what: str) -> bool:
    lines = [line for text in slurm_texts(group) if text.kind == SLURM and (line := text.last("accountingstorageenforce"))]
    return any(value in facts.ENFORCED[what] for line in lines for value in line.value.lower().split(","))


def _qualities(group: Group) -> Iterator[Mistake]:
    """A quality of service that scripts give to nobody, or do not make."""
    found = added(group) if _enforced(group, "qos") else ()
    made = {name for one in found if one.kind == "qos" for name in one.names}
    given = [one.get(*facts.QOS_SETTINGS) for one in found if one.kind != "qos" and one.get(*facts.QOS_SETTINGS) != ""]
    granted = {name.lstrip("+-") for value in given for name in (value or "").split(",")}
    for job in _jobs(group) if None not in given and None not in made else ():
        name = job.value("qos")
        if not name or name in granted or _is_given_otherwise(group, name):
            continue
        if made and name not in made and name != facts.FIRST_QOS:
            known = [facts.FIRST_QOS, *sorted(filter(None, made))]
            yield Mistake(job.file, f"asks for QOS {name}, which no script makes", listed(known))
        elif granted:
            says = f"asks for QOS {name}, and scripts let users use {listed(sorted(granted))} alone: the job is refused"
            yield Mistake(job.file, says, listed(sorted(granted)))


def _accounts(group: Group) -> Iterator[Mistake]:
    """An account that scripts do not make, beside others that they make."""
    found = [one for one in added(group) if one.kind == "account"] if _enforced(group, "associations") else []
    made = sorted({name for one in found for name in one.names if name is not None})
    is_whole = all(None not in one.names for one in found)
    for job in _jobs(group) if made and is_whole else ():
        name = job.value("account")
        if name and name not in (*made, facts.FIRST_ACCOUNT):
            yield Mistake(job.file, f"asks for account {name}, which no script makes", listed(made))


def _is_given_otherwise(group: Group, name: str) -> bool:
    """Whether any file names a quality of service beside the setting, in a way that is not read otherwise."""
    form = re.compile(rf"qos(?:level)?[+]?=[\"']?[^\s\"']*\b{re.escape(name)}\b", re.IGNORECASE)
    return any(form.search(spelled_file(one) or name) for one in programs_of(group).files.values() if not _is_job(one))


def _is_job(file: NodeFile) -> bool:
    return read_batch(spelled_file(file) or "") is not None


def _limits(group: Group, job: _Job) -> Iterator[_Limit]:
    """The limits of the quality of service and the account of a job, which one command sets, and of its partition."""
    found = [one for one in added(group) if job.value(one.kind) and job.value(one.kind) in one.names]
    for one in found if _enforced(group, "limits") or _enforced(group, "qos") else ():
        if sum(other.kind == one.kind for other in found) == 1:
            yield from (_Limit(value, f"{one.kind} {job.value(one.kind)}", name) for name, value in one.settings if value)
    lines = [line for text in slurm_texts(group) for line in text.lines if line.name == "partitionname" and text.kind == SLURM]
    own = [line for line in lines if line.value == job.value("partition")]
    if len(own) == 1:
        yield from (_Limit(own[0].get(one), f"partition {own[0].value}", one) for one in ("maxtime", "maxnodes") if own[0].get(one))


def _exceeded(group: Group) -> Iterator[Mistake]:
    for job in _jobs(group):
        for limit in _limits(group, job):
            for asked, most, word in _compared(job, limit):
                yield Mistake(
                    job.file, f"asks for {asked}, and {limit.of} allows {most}: it never starts", f"{most} {word}".strip()
                )


def _compared(job: _Job, limit: _Limit) -> Iterator[tuple[str, str, str]]:
    """What a job asks for beyond a limit, and the limit in words."""
    if limit.name in (*facts.WALL, "maxtime"):
        asked, most = minutes(job.value("time")), minutes(limit.value)
        if asked is not None and most is not None and asked > most:
            yield f"the time {job.value('time')}", limit.value, ""
    elif limit.name in facts.NODES and limit.value.isdecimal() and job.nodes > int(limit.value):
        yield f"{job.nodes} nodes", limit.value, "nodes"
    elif limit.name in facts.RESOURCES:
        for name, _, value in (one.partition("=") for one in limit.value.lower().split(",")):
            wanted = {"node": job.nodes, "gres/gpu": job.gpus}.get(name, 0)
            if value.isdecimal() and len(value) < 8 and wanted > int(value):
                yield f"{wanted} {'nodes' if name == 'node' else 'GPUs'}", value, "nodes" if name == "node" else "GPUs"


def minutes(text: str) -> float | None:
    """A time of Slurm in minutes; `None` for one that is not known, or has no end."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    days, *numbers = (int(one) if one else 0 for one in found.groups())
    if found[1]:
        hours, rest, seconds = numbers
    else:
        given = [one for one, raw in zip(numbers, found.groups()[1:], strict=True) if raw is not None]
        hours, rest, seconds = given if len(given) == 3 else [0, *given, 0][:3]
    return days * 1440 + hours * 60 + rest + seconds / 60


_JUDGES: tuple[Callable[[Group], Iterator[Mistake]], ...] = (_qualities, _accounts, _exceeded)
JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_slurm(*_JUDGES)
