"""Deliveries: the receivers of messages, calls and logs let the services in that send them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.deliveries import Refused, deliveries, refused
from hyperpod_constructs.analysis.links import links
from hyperpod_constructs.rules.finding import Hit, Level, hit
from hyperpod_constructs.rules.rule import ORDER, error, rule
from hyperpod_constructs.templates.model import Model, Resource

_NOTIFICATIONS = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/grant-destinations-permissions-to-s3.html"
_open = partial(
    rule,
    fix="allow the service the action in the policy of the receiver (of a function: an AWS::Lambda::Permission), with the resource "
    "that sends as aws:SourceArn",
    allowed="a statement for the service that sends, with a condition that its resource meets",
    silences=("HP-PERM-001", "HP-PERM-002", "HP-POL-002", "HP-POL-006"),
)


def _hits(model: Model, *, tested: bool) -> Iterator[Hit]:
    """One hit for each policy, or where a receiver has none that is meant, for each receiver; what is tried at once counts more."""
    for same in grouped((_place(one) or one.delivery.receiver, one) for one in refused(model)).values():
        if any(one.delivery.facts.tested for one in same) is not tested:
            continue
        first = same[0]
        services = dict.fromkeys(one.delivery.facts.service for one in same)
        users = list(dict.fromkeys(one.delivery.sender for one in same))
        receivers = enumerated(dict.fromkeys(one.delivery.receiver.logical_id for one in same))
        actions = enumerated(dict.fromkeys(one.delivery.call.action for one in same))
        whose = f"the policy of {receivers} does not let" if first.place is not users[0] else f"no policy of {receivers} lets"
        text = f"{whose} {enumerated(services)} make {actions} for {enumerated(one.logical_id for one in users)}"
        yield hit(first.place, text, *first.path, covers=tuple(one for one in users if one is not first.place))


def _place(one: Refused) -> Resource | None:
    return None if one.place is one.delivery.sender else one.place


@_open(
    "HP-DLV-001",
    Level.ERROR,
    title="receivers let the services in that try them when a resource is made",
    why="the service tries the receiver, is refused, and the stack rolls back",
    source=_NOTIFICATIONS,
)
def receivers_are_open_at_once(model: Model) -> Iterator[Hit]:
    yield from _hits(model, tested=True)
    denials = ((policy.resource, (policy, call, link)) for link in links(model) for policy, call in link.denials)
    for place, found in grouped(denials).items():
        calls = enumerated(dict.fromkeys(call.action for _, call, _ in found))
        users = tuple(dict.fromkeys(link.resource for _, _, link in found))
        names = enumerated(one.logical_id for one in users)
        text = (
            f"the policy of {found[0][2].bucket.logical_id} denies {calls} to FSx, which links {names} to it from outside the VPC"
        )
        yield hit(place, text, *found[0][0].path, covers=users)


@_open(
    "HP-DLV-002",
    Level.WARNING,
    title="receivers let the services in that send to them",
    why="it deploys, and no message, call or log ever arrives",
    source="https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html",
)
def receivers_are_open(model: Model) -> Iterator[Hit]:
    return _hits(model, tested=False)


@error(
    "HP-DLV-003",
    title="what tries a receiver awaits the policy that lets it in",
    why="CloudFormation may make the resource before the policy, and the service is refused",
    fix="name the policy or the permission in DependsOn of the resource",
    allowed="DependsOn on the policy of the receiver",
    source=_NOTIFICATIONS,
    because=ORDER,
)
def receivers_are_open_before(model: Model) -> Iterator[Hit]:
    seen: set[tuple[Resource, Resource]] = set()
    for one in deliveries(model):
        policy = None if one.is_refused else one.comes_early
        if policy is not None and (one.sender, policy) not in seen:
            seen.add((one.sender, policy))
            text = f"it does not await {policy.logical_id}, which lets {one.facts.service} into {one.receiver.logical_id}"
            yield Hit(one.sender, (), text)
