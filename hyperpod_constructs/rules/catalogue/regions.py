"""Regions: a stack names what is in its own one."""

from __future__ import annotations

from hyperpod_constructs.analysis.references.places import entry
from hyperpod_constructs.analysis.regions import Stranger, strangers
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error


@error(
    "HP-REG-001",
    title="zones, endpoints, keys, plans and clusters that a stack names are of its region",
    why="they are known in their own region only: the service refuses the request, or reserved capacity is never used",
    fix="name one of the stack's region, or deploy to the other region (AWS_REGION)",
    allowed="the region of the stack",
    source="https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/regional-services.html",
    on=strangers,
    aliases=("HP-CAP-011",),
)
def names_are_of_the_region(one: Stranger) -> Hit:
    if one.parameter is not None:
        text = f"its value {one.claim.text!r} and {one.home} are of two regions"
        template, name = one.parameter
        return hit(entry(template, "Parameters", name), text, doubts=((one.claim.resource, one.claim.path),))
    if one.rule is not None:
        template, name = one.rule
        text = f"it lets the stack only into other regions than {one.home}"
        return hit(entry(template, "Rules", name), text, doubts=((one.claim.resource, one.claim.path),))
    return hit(one.claim.resource, f"{one.claim.text!r} is of another region than the stack's, {one.home}", *one.claim.path)
