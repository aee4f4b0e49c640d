"""What destroyed stacks have left behind, and why it may not be deleted. CloudFormation's records and tags are the evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from hyperpod_constructs.cli.cloudformation import stack_summaries, template_body
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.kept import KINDS, LOG_GROUP_TYPE, ServiceLog, look, recorded, reduced, service_logs
from hyperpod_constructs.cli.leftover_kinds import CLEANING, Family, Seen, size
from hyperpod_constructs.cli.operate.denied import in_words
from hyperpod_constructs.cli.operate.owner import holder
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import list_clusters
from hyperpod_constructs.cli.stacks import Resource

if TYPE_CHECKING:
    from hyperpod_constructs.cost.prices import Prices

MOST_NAMED = 20
GONE = "DELETE_COMPLETE"

_TAG = "aws:cloudformation:stack-id"
_LATE = timedelta(hours=1)
"""How long after the end of its stack a service may still make a log group."""
_UNTAGGED = "it has no tag of that stack, so it may be somebody else's"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """A thing that stayed when its stack went.

    :param stack: the id of the stack.
    :param left: when the stack was gone.
    :param usd_per_month: `None` if the price is unknown.
    :param reason: why it stayed.
    :param seen: what its service says; `None` if it may not be seen.
    :param objection: why it is never deleted here.
    """

    type: str
    id: str
    stack: str
    left: datetime
    usd_per_month: float | None
    reason: str
    seen: Seen | None
    objection: str | None

    @property
    def family(self) -> Family:
        """What it is asked for with."""
        return CLEANING[self.type].family

    @property
    def noun(self) -> str:
        """Its kind, for a person."""
        return KINDS[self.type].noun


def refusal(leftover: Leftover, seen: Seen | None, *, with_data: bool) -> str | None:
    """Why a leftover is not deleted now."""
    if leftover.objection is not None:
        return leftover.objection
    if seen is not None and seen.data and not with_data:
        return f"holds {seen.holds}: add --with-data"
    return None if seen is None or seen.in_use is None else f"in use by {seen.in_use}"


def find(place: Place, names: Sequence[str], prices: Prices) -> list[Leftover]:
    """What destroyed stacks of these names have left behind, in the order in which it can be deleted.

    :raises CliError: if no stack of these names was destroyed.
    """
    summaries = [one for one in stack_summaries(place.target) if one["StackStatus"] == GONE]
    gone = {one["StackId"]: one.get("DeletionTime", one["CreationTime"]) for one in summaries if one["StackName"] in names}
    if not gone:
        others = list(dict.fromkeys(one["StackName"] for one in summaries))[:MOST_NAMED]
        known = f"; destroyed were {', '.join(others)} (name one with --stack)" if others else ""
        raise CliError(f"no stack named {' or '.join(names)} was destroyed in the last 90 days{known}")
    return list(_Search(place, gone, prices).found())


class _Search:
    """A look for what stacks left behind; each thing of use to several is asked for once."""

    def __init__(self, place: Place, gone: Mapping[str, datetime], prices: Prices) -> None:
        self._place, self._gone, self._prices = place, gone, prices
        self._past = recorded(place.target, list(gone))
        self._templates: dict[str, Mapping[str, Any]] = {}
        self._clusters: dict[str, str] | None = None

    def found(self) -> Iterator[Leftover]:
        for type in KINDS:
            looked = [self._kept(one) for one in self._past.kept if one.type == type]
            if type == LOG_GROUP_TYPE:
                looked += [self._made(log) for log in service_logs(self._place.target, self._past)]
            yield from (one for one in looked if one is not None)

    def _kept(self, resource: Resource) -> Leftover | None:
        """A resource that a stack kept; `None` if it is gone, or somebody else's by now."""
        from botocore.exceptions import ClientError

        cleaning = CLEANING[resource.type]
        seen, objection = None, None
        try:
            answer = look(self._place.target, resource.type, resource.physical_id)
            if answer is None:
                return None
            seen = cleaning.seen(self._place, resource.physical_id, answer)
            stack = seen.tags.get(_TAG)
            if stack not in (None, resource.stack) or holder(self._place, resource.physical_id) is not None:
                return None
            objection = _UNTAGGED if cleaning.tagged and stack is None else self._user(resource.physical_id)
        except ClientError as error:
            objection = f"it cannot be looked at: {in_words(error)}"
        policy = self._template(resource.stack).get("Resources", {}).get(resource.logical_id, {}).get("DeletionPolicy", "unknown")
        return Leftover(
            type=resource.type,
            id=resource.physical_id,
            stack=resource.stack,
            left=self._gone[resource.stack],
            usd_per_month=self._cost(resource),
            reason=f"DeletionPolicy {policy} of {resource.logical_id}",
            seen=seen,
            objection=objection,
        )

    def _user(self, id: str) -> str | None:
        """A living cluster that names it, as an objection."""
        users = [name for name, described in self._living().items() if id in described]
        return f"the cluster {users[0]} uses it" if users else None

    def _living(self) -> dict[str, str]:
        """By its name: the description of each cluster, as text."""
        if self._clusters is None:
            client = self._place.client("sagemaker")
            self._clusters = {
                one["ClusterName"]: json.dumps(client.describe_cluster(ClusterName=one["ClusterArn"]), default=str)
                for one in list_clusters(self._place)
            }
        return self._clusters

    def _made(self, log: ServiceLog) -> Leftover | None:
        """A log group that a service made; `None` if what it is for is in a living stack. It has no tags, but it has an age."""
        from botocore.exceptions import ClientError

        try:
            if log.maker and holder(self._place, log.maker) is not None:
                return None
            objection = self._user(log.maker or log.name.rsplit("/", 1)[-1])
        except ClientError as error:
            objection = f"it cannot be looked at: {in_words(error)}"
        if objection is None and log.created > self._gone[log.stack] + _LATE:
            objection = "it was made when the stack was gone, so it may be somebody else's"
        return Leftover(
            type=LOG_GROUP_TYPE,
            id=log.name,
            stack=log.stack,
            left=self._gone[log.stack],
            usd_per_month=None,
            reason="a service made it, and no stack has it",
            seen=Seen(tags={}, holds=f"{size(log.stored_bytes)} of logs"),
            objection=objection,
        )

    def _template(self, stack: str) -> Mapping[str, Any]:
        """The template of a stack; empty where it may not be read."""
        from botocore.exceptions import ClientError

        if stack not in self._templates:
            try:
                self._templates[stack] = template_body(self._place.target, stack)
            except ClientError:
                self._templates[stack] = {}
        return self._templates[stack]

    def _cost(self, resource: Resource) -> float | None:
        """US dollars a month by the template; 0 for what is free."""
        from hyperpod_constructs.cost.estimate import hourly_cost
        from hyperpod_constructs.cost.prices import HOURS_PER_MONTH

        template = reduced(self._template(resource.stack), {resource.logical_id})
        if not template["Resources"]:
            return None
        prices = [row.usd_per_hour for row in hourly_cost(template, self._prices).rows]
        known = [price for price in prices if price is not None]
        return None if len(known) < len(prices) else round(sum(known) * HOURS_PER_MONTH, 2)


def age(leftover: Leftover) -> timedelta:
    """How long it has been left behind."""
    return datetime.now(UTC) - leftover.left
