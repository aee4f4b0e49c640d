"""Service quotas: their names, their values in the account, and what a cluster needs of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .. import answers
from ..aws import Patient
from .cluster_use import ON_DEMAND, PLAN, SPOT, ClusterUse, market_of
from .findings import Finding, as_warnings, error, warning
from .wanted import FileSystem, Group, Wanted

# Names in Service Quotas, as in the library's facts, which a function cannot import.
NODES_OF_TYPE = "{} for cluster usage"
SPOT_NODES_OF_TYPE = "{} for cluster spot instance usage"
NODES_OF_A_CLUSTER = "Maximum number instances allowed per SageMaker HyperPod cluster"
NODES_OF_ALL_CLUSTERS = "Total number of instances allowed across SageMaker HyperPod clusters"
SPOT_NODES_OF_ALL_CLUSTERS = "Total number of Spot instances allowed across SageMaker HyperPod clusters"
VOLUME_SIZE = "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance"
INTERFACES = "Network interfaces per Region"
FILE_SYSTEMS = "{} file systems"
FILE_SYSTEM_CAPACITY = "{} storage capacity"

_BY_TYPE = {ON_DEMAND: NODES_OF_TYPE, SPOT: SPOT_NODES_OF_TYPE}
_OF_ALL = {ON_DEMAND: NODES_OF_ALL_CLUSTERS, SPOT: SPOT_NODES_OF_ALL_CLUSTERS}


@dataclass(frozen=True, slots=True)
class Quota:
    """A quota of the account."""

    service: str
    code: str
    name: str
    value: float


class Quotas:
    """The account's quotas of one service, read page by page until every asked name is found."""

    def __init__(self, service_quotas: Patient, service: str) -> None:
        self._client, self._service = service_quotas, service
        self._found: dict[str, Quota] = {}

    def read(self, names: Iterable[str]) -> None:
        """Read the quotas with these names: the applied values, and the defaults where no value was applied."""
        missing = set(names)
        for operation in ("list_service_quotas", "list_aws_default_service_quotas"):
            for quota in self._listed(operation, missing):
                if quota.name in missing:
                    missing.discard(quota.name)
                    self._found[quota.name] = quota

    def get(self, name: str) -> Quota | None:
        """The quota of a name; `None` if the service does not list it."""
        return self._found.get(name)

    def _listed(self, operation: str, missing: set[str]) -> Iterator[Quota]:
        if not missing:
            return
        pages = answers.pages(lambda more: self._client.call(operation, ServiceCode=self._service, MaxResults=100, **more))
        for page, _ in pages:
            for item in answers.structures(page, "Quotas"):
                value = item.get("Value")
                if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
                    yield Quota(self._service, answers.text(item, "QuotaCode"), answers.text(item, "QuotaName"), float(value))
            if not missing:
                return


def names(wanted: Wanted, use: ClusterUse) -> set[str]:
    """The quotas of SageMaker that bear on what the deployment adds."""
    found: set[str] = set()
    for group in wanted.groups:
        if not use.more(group):
            continue
        found.add(NODES_OF_A_CLUSTER)
        if group.volume_gb:
            found.add(VOLUME_SIZE)
        market = ON_DEMAND if market_of(group) == PLAN else market_of(group)
        found.add(_OF_ALL[market])
        found |= {_BY_TYPE[market].format(kind) for kind in group.instance_types}
    return found


def check(quotas: Quotas, wanted: Wanted, use: ClusterUse) -> Iterator[Finding]:
    """What the quotas of SageMaker do not allow."""
    region = wanted.region
    for name in sorted(names(wanted, use)):
        if quotas.get(name) is None:
            yield warning(f"{name!r} is not in the list of Service Quotas in {region}, so it was not compared")
    yield from _types(quotas, wanted, use)
    yield from _mixed(quotas, wanted, use)
    yield from _totals(quotas, wanted, use)
    yield from _volumes(quotas, wanted, use)


def judged(
    quota: Quota | None, *, used: int, more: int, region: str, certain: bool = True, unit: str = "nodes"
) -> Iterator[Finding]:
    """The finding about a quota that does not admit `more` beside what is used."""
    if quota is None or more <= 0 or used + more <= quota.value:
        return
    text = (
        f"quota {quota.name!r} is {quota.value:g}, {used} in use, and this deployment adds {more} {unit}; "
        f"{_request(quota, used + more, region)}"
    )
    yield error(text) if certain else warning(f"{text} (whether it counts nodes of a training plan is not documented)")


def _request(quota: Quota, value: int, region: str) -> str:
    return (
        f"ask for {value}: aws service-quotas request-service-quota-increase --region {region} --service-code {quota.service} "
        f"--quota-code {quota.code or 'CODE'} --desired-value {value}"
    )


def _types(quotas: Quotas, wanted: Wanted, use: ClusterUse) -> Iterator[Finding]:
    """Quotas of single types. A group with several types may take any of them: see `_mixed`."""
    needs: Counter[tuple[str, str]] = Counter()
    for group in wanted.groups:
        if len(group.instance_types) == 1:
            needs[group.instance_types[0], market_of(group)] += group.count
    for (kind, market), count in sorted(needs.items()):
        counted = ON_DEMAND if market == PLAN else market
        yield from judged(
            quotas.get(_BY_TYPE[counted].format(kind)),
            used=use.markets[kind, counted],
            more=count - use.own_markets[kind, market],
            region=wanted.region,
            certain=market != PLAN,
        )


def _mixed(quotas: Quotas, wanted: Wanted, use: ClusterUse) -> Iterator[Finding]:
    for group in wanted.groups:
        market, more = market_of(group), use.more(group)
        if len(group.instance_types) < 2 or market == PLAN or not more:
            continue
        found = [quotas.get(_BY_TYPE[market].format(kind)) for kind in group.instance_types]
        known = [quota for quota in found if quota is not None]
        free = sum(
            max(0, math.floor(quota.value) - use.markets[kind, market])
            for kind, quota in zip(group.instance_types, found, strict=True)
            if quota is not None
        )
        if len(known) == len(found) and more > free:
            listed = ", ".join(f"{quota.name!r} {quota.value:g} ({quota.code})" for quota in known)
            yield error(
                f"group {group.name!r} adds {more} nodes, and the quotas of its types leave {free} together: {listed}; "
                f"{_request(known[0], int(known[0].value) + more - free, wanted.region)}"
            )


def _totals(quotas: Quotas, wanted: Wanted, use: ClusterUse) -> Iterator[Finding]:
    total, own = sum(group.count for group in wanted.groups), use.own.total()
    yield from judged(quotas.get(NODES_OF_A_CLUSTER), used=own, more=total - own, region=wanted.region)
    for market, name in _OF_ALL.items():
        yield from judged(
            quotas.get(name), used=use.in_market(market), more=_more(wanted.groups, use, market), region=wanted.region
        )


def _more(groups: Iterable[Group], use: ClusterUse, market: str) -> int:
    """Nodes that a market gains; removed nodes make room for others."""
    mine = [group for group in groups if market_of(group) == market]
    own = sum(count for (_, at), count in use.own_markets.items() if at == market)
    return sum(group.count for group in mine) - own


def _volumes(quotas: Quotas, wanted: Wanted, use: ClusterUse) -> Iterator[Finding]:
    quota = quotas.get(VOLUME_SIZE)
    largest = max((group.volume_gb for group in wanted.groups if use.more(group)), default=0)
    yield from judged(quota, used=0, more=largest, region=wanted.region, unit="GB for a volume")


def file_system_names(systems: Iterable[FileSystem]) -> set[str]:
    """The quotas of FSx that bear on these file systems."""
    return {form.format(system.quota) for system in systems if system.quota for form in (FILE_SYSTEMS, FILE_SYSTEM_CAPACITY)}


def check_file_systems(
    quotas: Quotas, systems: Iterable[FileSystem], capacities: Mapping[str, Iterable[int]], region: str
) -> Iterator[Finding]:
    """What the quotas of FSx do not allow.

    :param systems: the new file systems.
    :param capacities: the capacity in GiB of each existing file system, by the name of its kind.
    """
    by_kind: dict[str, list[int]] = {}
    for system in systems:
        if system.quota:
            by_kind.setdefault(system.quota, []).append(system.capacity_gib)
    for kind, wanted in sorted(by_kind.items()):
        there = list(capacities.get(kind, ()))
        number, capacity = quotas.get(FILE_SYSTEMS.format(kind)), quotas.get(FILE_SYSTEM_CAPACITY.format(kind))
        yield from judged(number, used=len(there), more=len(wanted), region=region, unit="file systems")
        # The unit of the quota is not in its name, so a shortage is not proven.
        yield from as_warnings(judged(capacity, used=sum(there), more=sum(wanted), region=region, unit="GiB"))
