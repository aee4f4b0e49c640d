"""What stacks or a tag have cost, as Cost Explorer says: for `hyperpod cost --actual`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate.owner import TAG
from hyperpod_constructs.cli.operate.place import chosen, errors_explained
from hyperpod_constructs.cli.target import Target, TargetName
from hyperpod_constructs.cost.prices import HOURS_PER_MONTH
from hyperpod_constructs.custom_resources.handlers.redaction import one_line
from hyperpod_constructs.facts.cost_explorer import MOST_DAYS, REQUEST_USD

MOST_PAGES = 10
"""The most requests for one answer."""

METRIC = "UnblendedCost"
NOTHING = "the embedded AWS costs nothing: --actual is for your account, with --target aws"
_NAME_CHARACTERS = 60
_AMOUNT = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?")


@dataclass(frozen=True, slots=True)
class Scope:
    """The resources whose cost is asked for: those with one of these values of a cost allocation tag."""

    key: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.key} = {', '.join(self.values)}"


@dataclass(frozen=True, slots=True)
class ActualCost:
    """What a scope cost from the first day to the last, both complete days in UTC.

    :ivar by_service: US dollars, the highest first.
    :ivar costly_since: the first day with a cost; `None` if there is no cost at all.
    :ivar requests: the number of requests that were sent, each of which costs.
    """

    scope: Scope
    first: date
    last: date
    by_service: tuple[tuple[str, Decimal], ...]
    costly_since: date | None
    requests: int

    @property
    def hours(self) -> int:
        """The hours from the first day with a cost to the last day."""
        return 24 * ((self.last - (self.costly_since or self.first)).days + 1)

    @property
    def usd(self) -> Decimal:
        """The sum of all services."""
        return sum((amount for _, amount in self.by_service), Decimal(0))

    def per_hour(self, amount: Decimal) -> float:
        """An amount of the whole time, by the hour."""
        return float(amount) / self.hours

    def as_json(self) -> dict[str, Any]:
        """Plain data for a program."""
        return {
            "tag": self.scope.key,
            "values": list(self.scope.values),
            "first_day": self.first.isoformat(),
            "last_day": self.last.isoformat(),
            "costs_since": None if self.costly_since is None else self.costly_since.isoformat(),
            **self._sums(self.usd),
            "requests": self.requests,
            "services": [{"service": name, **self._sums(amount)} for name, amount in self.by_service],
        }

    def rows(self) -> list[tuple[str, str, str, str]]:
        """A row for each service, and the total."""
        return [
            (name, f"{amount:,.2f}", f"{self.per_hour(amount):,.3f}", f"{self.per_hour(amount) * HOURS_PER_MONTH:,.0f}")
            for name, amount in (*self.by_service, ("total", self.usd))
        ]

    def notes(self) -> list[str]:
        """What a reader must know of the sums."""
        paid = f"{self.requests} request{'s' if self.requests > 1 else ''} to Cost Explorer: {self.requests * REQUEST_USD:.2f} USD"
        if self.costly_since is None:
            return [
                f"Cost Explorer knows no cost of {self.scope} from {self.first} to {self.last}. "
                f"Activate {self.scope.key} as a cost allocation tag (Billing and Cost Management, in the management account of an "
                "organization). It may take a day until costs have it, and earlier costs do not get it by themselves.",
                paid,
            ]
        return [
            f"{METRIC} of {self.scope} in all regions from {self.first} to {self.last}, by the hour and month since "
            f"{self.costly_since}. Costs appear about a day late, and only with an active cost allocation tag, so the last day may "
            "be incomplete.",
            paid,
        ]

    def _sums(self, amount: Decimal) -> dict[str, float]:
        hourly = self.per_hour(amount)
        return {
            "usd": round(float(amount), 2),
            "usd_per_hour": round(hourly, 6),
            "usd_per_month": round(hourly * HOURS_PER_MONTH, 2),
        }


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to Cost Explorer, before an account is known.

    :ivar days: the complete days before today, in UTC.
    """

    scope: Scope
    days: int
    where: TargetName | None = None
    profile: str | None = None
    region: str | None = None
    endpoint_url: str | None = None

    def answer(self) -> ActualCost | None:
        """The cost; `None` on the embedded AWS, where nothing costs.

        :raises CliError: without the permission, and for an answer that cannot be used.
        """
        of_an_account = any(value is not None for value in (self.profile, self.region, self.endpoint_url))
        if self.where is not TargetName.AWS and not of_an_account:
            return None
        place = chosen(self.where, self.profile, self.region, self.endpoint_url)
        with errors_explained():
            return read(place.target, self.scope, self.days)


def scope_of(paths: Sequence[Path], stacks: Sequence[str], tag: str | None) -> Scope:
    """The scope that the options name; the stacks of the given assemblies unless they do.

    :raises CliError: if nothing names a stack or a tag.
    """
    from hyperpod_constructs.cli.assembly import Assembly

    if tag is not None:
        key, _, value = tag.partition("=")
        if not key or not value or stacks:
            raise CliError(f"--tag {tag}: write KEY=VALUE, such as --tag project=trainer, and no --stack beside it")
        return Scope(key, (value,))
    assemblies = [path for path in paths if (path / "manifest.json").is_file()]
    names = stacks or [stack.name for path in assemblies for stack in Assembly.read(path).stacks]
    if not names:
        raise CliError("a template does not say how its stack is named: write --stack NAME, or --tag KEY=VALUE, with --actual")
    return Scope(TAG, tuple(dict.fromkeys(names)))


def read(target: Target, scope: Scope, days: int, today: date | None = None) -> ActualCost:
    """Ask Cost Explorer. It has one endpoint for a partition, which boto3 finds from each region.

    :param days: complete days before today, 1 to 365.
    :param today: the day in UTC; the clock's unless given.
    :raises CliError: for an answer that cannot be used.
    """
    if not 1 <= days <= MOST_DAYS:
        raise CliError(f"--days {days}: write a number from 1 to {MOST_DAYS}")
    end = today or datetime.now(UTC).date()
    first, last = end - timedelta(days=days), end - timedelta(days=1)
    sums: dict[str, Decimal] = defaultdict(Decimal)
    since, requests = None, 0
    for page in _pages(target, scope, first, end):
        requests += 1
        for result in page.get("ResultsByTime", ()):
            for name, amount in _amounts(result):
                sums[name] += amount
                if amount:
                    day = _day(result, first, last)
                    since = day if since is None else min(since, day)
    ordered = sorted(((name, amount) for name, amount in sums.items() if amount), key=lambda pair: (-pair[1], pair[0]))
    return ActualCost(scope, first, last, tuple(ordered), since, requests)


def _pages(target: Target, scope: Scope, first: date, end: date) -> Iterator[Mapping[str, Any]]:
    from botocore.exceptions import ClientError

    client = target.client("ce")
    tagged = {"Tags": {"Key": scope.key, "Values": list(scope.values), "MatchOptions": ["EQUALS"]}}
    # A management account reads the costs of every member.
    mine = {"Dimensions": {"Key": "LINKED_ACCOUNT", "Values": [target.account]}}
    question: dict[str, Any] = {
        "TimePeriod": {"Start": first.isoformat(), "End": end.isoformat()},
        "Granularity": "DAILY",
        "Metrics": [METRIC],
        "GroupBy": [{"Type": "DIMENSION", "Key": "SERVICE"}],
        "Filter": {"And": [tagged, mine]},
    }
    for _ in range(MOST_PAGES):
        try:
            page = client.get_cost_and_usage(**question)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != "DataUnavailableException":
                raise
            raise CliError("Cost Explorer has no data of this account yet: turn it on, and ask again a day later") from None
        yield page
        token = page.get("NextPageToken")
        if not token:
            return
        if token == question.get("NextPageToken"):
            raise CliError("Cost Explorer gave the same page token twice: its answer cannot be used")
        question["NextPageToken"] = token
    raise CliError(f"the answer of Cost Explorer has more than {MOST_PAGES} pages, each of which costs: ask for fewer --days")


def _amounts(result: Mapping[str, Any]) -> Iterator[tuple[str, Decimal]]:
    for group in result.get("Groups", ()):
        names = group.get("Keys") or ["(no service)"]
        cost = group.get("Metrics", {}).get(METRIC, {})
        amount, unit = cost.get("Amount", ""), cost.get("Unit")
        if unit != "USD":
            raise CliError(f"Cost Explorer answers in {one_line(unit, 10)}; allowed: USD, the currency of the estimate")
        if _AMOUNT.fullmatch(amount) is None:
            raise CliError(f"Cost Explorer answered with the amount {one_line(amount, 40)!r}, which is no number of US dollars")
        yield one_line(names[0], _NAME_CHARACTERS), Decimal(amount)


def _day(result: Mapping[str, Any], first: date, last: date) -> date:
    text = result.get("TimePeriod", {}).get("Start", "")
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise CliError(f"Cost Explorer answered with the day {one_line(text, 40)!r}, which is no date") from None
    if not first <= day <= last:
        raise CliError(f"Cost Explorer answered with the day {day}; asked for: {first} to {last}")
    return day
