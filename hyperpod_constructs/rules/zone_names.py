"""Names and ids of availability zones: which is which, and of which region. Starts no jsii.

https://docs.aws.amazon.com/ram/latest/userguide/working-with-az-ids.html
"""

from __future__ import annotations

import re

from hyperpod_constructs.rules.mistakes import Mistake

_ZONE_ID = re.compile(r"(?P<region>[a-z]+\d)-az\d+")
_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d")
_WORDS = (("gov", "g"), ("north", "n"), ("south", "s"), ("central", "c"), ("east", "e"), ("west", "w"))


def zone_prefix(region: str) -> str:
    """`us-west-2` is `usw2` and `ap-southeast-1` is `apse1` in zone ids."""
    area, *direction, number = region.split("-")
    words = "".join(direction)
    return f"{area}{''.join(initial for word, initial in _WORDS if word in words)}{number}"


def name_mistake(name: str, zone: str, id_name: str) -> Mistake | None:
    """A zone id where a name belongs.

    :param name: of the property or parameter; `id_name` is that of the one for ids.
    """
    if not _ZONE_ID.fullmatch(zone):
        return None
    return Mistake(f"{name} {zone!r} is a zone id", f"write {id_name}={zone!r}")


def id_mistake(name: str, zone: str, region: str | None, other_name: str) -> Mistake | None:
    """What is no zone id, or one of another region.

    :param region: where the stack is, or None if that is not known.
    :param other_name: of the property or parameter for names of zones.
    """
    match = _ZONE_ID.fullmatch(zone)
    if match is None:
        return Mistake(
            f"{name} {zone!r} is not a zone id", f"zone ids look like usw2-az4 (a name such as us-west-2a goes into {other_name})"
        )
    if region is None or not _REGION.fullmatch(region) or "iso" in region or match["region"] == zone_prefix(region):
        return None
    return Mistake(
        f"{name} {zone!r} is not in region {region}, whose zone ids start with {zone_prefix(region)}-az",
        "choose a zone of that region, or set AWS_REGION to the zone's own",
    )
