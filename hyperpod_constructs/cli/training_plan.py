"""`hyperpod training-plan`: offers of training plans with the command that would buy one, and the plans of the account.

Nothing here buys: CreateTrainingPlan takes the fee of the whole plan at once.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from hyperpod_constructs.cli.console import CliError, is_aws_error, say
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.tables import paragraph, table
from hyperpod_constructs.cli.target import TargetName
from hyperpod_constructs.facts.instance_types import PLANNED_TYPES
from hyperpod_constructs.facts.training_plans import COUNTS, MOST_DAYS, TARGET

app = typer.Typer(no_args_is_help=True, help="Search for reserved capacity, and list yours. Nothing here buys.")

_Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program.")]

_UNKNOWN = "-"


@dataclass(frozen=True, slots=True)
class Block:
    """Capacity of one type in one zone for one time; what the service leaves out is `None`."""

    instance_type: str
    count: int
    zone: str
    start: datetime | None
    end: datetime | None

    @classmethod
    def of(cls, found: Mapping[str, Any], zone_ids: Mapping[str, str]) -> Block:
        """The block of an offer or of a plan."""
        name = found.get("AvailabilityZone", _UNKNOWN)
        return cls(
            found["InstanceType"],
            found.get("InstanceCount", found.get("TotalInstanceCount", 0)),
            found.get("AvailabilityZoneId") or zone_ids.get(name, name),
            found.get("StartTime"),
            found.get("EndTime"),
        )

    def as_json(self) -> dict[str, object]:
        """The block for a program."""
        return {
            "instance_type": self.instance_type,
            "instances": self.count,
            "zone": self.zone,
            "start": _iso(self.start),
            "end": _iso(self.end),
        }


@dataclass(frozen=True, slots=True)
class Offer:
    """An offer of a plan, which may be in several blocks."""

    id: str
    hours: int | None
    fee: str | None
    currency: str
    blocks: Sequence[Block]

    @classmethod
    def of(cls, found: Mapping[str, Any], zone_ids: Mapping[str, str]) -> Offer:
        """An offer of SearchTrainingPlanOfferings."""
        blocks = [Block.of(block, zone_ids) for block in found.get("ReservedCapacityOfferings", ())]
        return cls(
            found["TrainingPlanOfferingId"],
            found.get("DurationHours"),
            found.get("UpfrontFee"),
            found.get("CurrencyCode", ""),
            blocks,
        )

    def command(self, region: str) -> str:
        """The command that buys it, under a name made of type and start."""
        first = self.blocks[0] if self.blocks else None
        kind = "plan" if first is None else first.instance_type.removeprefix("ml.").replace(".", "-")
        day = "" if first is None or first.start is None else f"-{first.start.astimezone(UTC):%Y%m%d}"
        words = ["aws", "sagemaker", "create-training-plan", "--region", region, "--training-plan-name", f"{kind}{day}"]
        return shlex.join([*words, "--training-plan-offering-id", self.id])

    def as_json(self, region: str) -> dict[str, object]:
        """The offer for a program."""
        return {
            "offering_id": self.id,
            "hours": self.hours,
            "upfront_fee": self.fee,
            "currency": self.currency,
            "blocks": [block.as_json() for block in self.blocks],
            "command": self.command(region),
        }


@app.command(
    epilog="Example: `hyperpod training-plan search --instance-type ml.p5.48xlarge --count 4 --duration-hours 48 --target aws`."
)
@placed
def search(
    place: Place,
    instance_type: Annotated[str, typer.Option("--instance-type", metavar="TYPE", help="Such as ml.p5.48xlarge.")],
    count: Annotated[int, typer.Option("--count", min=1, metavar="N", help="Instances to reserve.")],
    duration_hours: Annotated[
        int, typer.Option("--duration-hours", min=1, metavar="N", help="Hours; the service sells whole days.")
    ],
    start_after: Annotated[
        datetime | None,
        typer.Option(
            "--start-after",
            metavar="DATE",
            formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M"],
            help="Earliest start (UTC), such as 2026-12-01; now unless given.",
        ),
    ] = None,
    offer: Annotated[
        int, typer.Option("--offer", min=1, metavar="N", help="Print the command of this offer; the first unless given.")
    ] = 1,
    as_json: _Json = False,
) -> None:
    """Show offers for a cluster with their fees, and the command that would buy one. It is never run."""
    if instance_type not in PLANNED_TYPES:
        raise CliError(f"{instance_type} is not sold by training plan: write one of {', '.join(sorted(PLANNED_TYPES))}")
    target = place.target
    wanted: dict[str, Any] = {
        "InstanceType": instance_type,
        "InstanceCount": count,
        "DurationHours": duration_hours,
        "TargetResources": [TARGET],
    }
    if start_after is not None:
        wanted["StartTimeAfter"] = start_after.replace(tzinfo=UTC)
    found = place.client("sagemaker").search_training_plan_offerings(**wanted)["TrainingPlanOfferings"]
    if not found:
        raise CliError(_nothing(wanted, target.region))
    zone_ids = _zone_ids(place)
    offers = [Offer.of(item, zone_ids) for item in found]
    if as_json:
        typer.echo(json.dumps([item.as_json(target.region) for item in offers], indent=2))
        return
    if offer > len(offers):
        raise CliError(f"there is no offer {offer}: write --offer with a number from 1 to {len(offers)}")
    _show_offers(offers)
    _show_command(offers[offer - 1], offer, target.region, place.where)


@app.command("list")
@placed
def list_plans(place: Place, as_json: _Json = False) -> None:
    """List the training plans of the account in this region."""
    pages = place.client("sagemaker").get_paginator("list_training_plans").paginate()
    plans = [plan for page in pages for plan in page["TrainingPlanSummaries"]]
    if as_json:
        typer.echo(json.dumps([_plan_as_json(plan) for plan in plans], indent=2))
    elif plans:
        columns = ("name", "status", "instances", "zone", "start and end (UTC)")
        table(columns, [_plan_row(plan) for plan in plans])
    else:
        say(f"there is no training plan in {place.target.region}; `hyperpod training-plan search` shows offers")


def _show_offers(offers: Sequence[Offer]) -> None:
    currencies = {offer.currency for offer in offers if offer.fee is not None}
    [currency] = currencies if len(currencies) == 1 else [""]
    rows = [
        (
            str(number),
            tuple(block.zone for block in offer.blocks),
            tuple(_minute(block.start) for block in offer.blocks),
            tuple(_minute(block.end) for block in offer.blocks),
            _UNKNOWN if offer.hours is None else str(offer.hours),
            tuple(str(block.count) for block in offer.blocks),
            _fee(offer, "" if currency else offer.currency),
        )
        for number, offer in enumerate(offers, 1)
    ]
    columns = ("#", "zone", "start (UTC)", "end (UTC)", "hours", "count", f"fee ({currency})" if currency else "fee")
    table(columns, rows, numbers=3, whole=4)


def _show_command(offer: Offer, number: int, region: str, where: TargetName) -> None:
    say()
    if where is TargetName.LOCAL:
        paragraph("In the embedded AWS nothing is paid, and the fee is what EC2 asks on demand: no public table has that of plans.")
        aim = 'the AWS CLI reaches it after eval "$(hyperpod local env)"'
    else:
        aim = "hyperpod never runs it"
    paragraph(f"This command buys offer {number}, for {_fee(offer, offer.currency)} at once, used or not; {aim}:")
    say()
    say(offer.command(region))


def _nothing(wanted: Mapping[str, Any], region: str) -> str:
    start = f" from {wanted['StartTimeAfter']:%Y-%m-%d %H:%M} UTC" if "StartTimeAfter" in wanted else ""
    counts = ", ".join(map(str, COUNTS))
    asked = f"{wanted['InstanceCount']} x {wanted['InstanceType']} for {wanted['DurationHours']} hours{start} in {region}"
    return (
        f"no offer of {asked}: vary --count (plans have {counts} instances), --duration-hours (whole days, at most {MOST_DAYS}), "
        "--start-after, --instance-type, or --region"
    )


def _zone_ids(place: Place) -> Mapping[str, str]:
    """The ids of the zones by their names, which differ between accounts; empty if the caller may not ask."""
    try:
        zones = place.client("ec2").describe_availability_zones()["AvailabilityZones"]
    except Exception as error:
        if not is_aws_error(error):
            raise
        return {}
    return {zone["ZoneName"]: zone["ZoneId"] for zone in zones}


def _plan_row(plan: Mapping[str, Any]) -> tuple[str | tuple[str, ...], ...]:
    blocks = [Block.of(block, {}) for block in plan.get("ReservedCapacitySummaries", ())]
    types = dict.fromkeys(block.instance_type for block in blocks)
    free = f"{plan.get('AvailableInstanceCount', '?')} of {plan.get('TotalInstanceCount', '?')} free"
    zones = dict.fromkeys(block.zone for block in blocks)
    times = (_minute(plan.get("StartTime")), _minute(plan.get("EndTime")))
    return plan["TrainingPlanName"], plan["Status"], (*types, free), tuple(zones), times


def _plan_as_json(plan: Mapping[str, Any]) -> dict[str, object]:
    return {
        "name": plan["TrainingPlanName"],
        "arn": plan["TrainingPlanArn"],
        "status": plan["Status"],
        "start": _iso(plan.get("StartTime")),
        "end": _iso(plan.get("EndTime")),
        "instances": plan.get("TotalInstanceCount"),
        "free": plan.get("AvailableInstanceCount"),
        "targets": plan.get("TargetResources", []),
        "blocks": [Block.of(block, {}).as_json() for block in plan.get("ReservedCapacitySummaries", ())],
    }


def _fee(offer: Offer, currency: str) -> str:
    if offer.fee is None:
        return "an unknown fee" if currency else _UNKNOWN
    try:
        number = f"{float(offer.fee):,.2f}"
    except ValueError:
        number = offer.fee
    return f"{number} {currency}".rstrip()


def _minute(moment: datetime | None) -> str:
    return _UNKNOWN if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
