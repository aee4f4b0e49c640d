"""Names and ids of availability zones, and their region (as of 2026-11-21). Importing this module does not start jsii.

Source: https://docs.aws.amazon.com/ram/latest/userguide/working-with-az-ids.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hyperpod_constructs.facts.mistake import Mistake

# Local Zones (usw2-lax1-az1) and Wavelength Zones (use1-wl1-bos-wlz1) have the place between the region and the number.
_ZONE_ID = re.compile(r"(?P<region>[a-z]+\d)(-[a-z]+\d+){0,2}(-az|-[a-z]+-wlz)\d+")
_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d")
ZONE_NAME = re.compile(rf"{_REGION.pattern}(?:[a-z]|(?:-[a-z0-9]+){{2,}})")
"""Names such as us-west-2a, and of Local and Wavelength Zones: us-west-2-lax-1a, us-east-1-wl1-bos-wlz-1.

Source: https://docs.aws.amazon.com/local-zones/latest/ug/available-local-zones.html
"""
WRITE_ZONE = (
    "write a zone of the stack's region (ids look like usw2-az4, names like us-west-2a), or deploy to the region of the zone "
    "(AWS_REGION)"
)
_OF_THREE = (
    "af-south-1", "ap-east-1", "ap-east-2", "ap-northeast-3", "ap-south-1", "ap-south-2", "ap-southeast-1", "ap-southeast-2",
    "ap-southeast-3", "ap-southeast-4", "ap-southeast-5", "ap-southeast-6", "ap-southeast-7", "ca-west-1", "eu-central-1",
    "eu-central-2", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-3", "il-central-1", "me-central-1",
    "me-south-1", "mx-central-1", "sa-east-1", "us-east-2", "us-west-1",
)  # fmt: skip
ZONES: Mapping[str, int] = {
    **dict.fromkeys(_OF_THREE, 3),
    **{"ap-northeast-1": 4, "ap-northeast-2": 4, "ca-central-1": 4, "eu-west-2": 4, "us-east-1": 7, "us-west-2": 4},
}
"""The highest number of a zone in a region, and so its last letter (as of 2026-11-28).

In us-east-1 the page names six zones, and announces one more for 2026 without its id; ca-central-1 has no zone 3. The page lacks
GovCloud and China.

Source: https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html
"""
MOST_ZONES = max(ZONES.values())
"""Most zones of a region: `Fn::GetAZs` gives no more."""
_WORDS = (("gov", "g"), ("north", "n"), ("south", "s"), ("central", "c"), ("east", "e"), ("west", "w"))


def zone_prefix(region: str) -> str:
    """The region's part of a zone id: `usw2` for `us-west-2`, `apse1` for `ap-southeast-1`."""
    area, *direction, number = region.split("-")
    words = "".join(direction)
    return f"{area}{''.join(initial for word, initial in _WORDS if word in words)}{number}"


def region_of(zone: str) -> str | None:
    """The region of a zone, by its name or its id; `None` for another text."""
    found = _ZONE_ID.fullmatch(zone)
    if found is None:
        named = re.match(rf"({_REGION.pattern})[a-z]$", zone)
        return None if named is None else named[1]
    parts = re.fullmatch(r"([a-z]{2})(g?)([nsc]?[ew]?)(\d)", found["region"])
    if parts is None or not parts[3]:
        return None
    names = {initial: word for word, initial in _WORDS}
    direction = "".join(names[initial] for initial in parts[3])
    return "-".join((parts[1], *(("gov",) if parts[2] else ()), direction, parts[4]))


def region_prefix(zone: str) -> str | None:
    """The region's part of a zone id; `None` for any other text."""
    match = _ZONE_ID.fullmatch(zone)
    return None if match is None else match["region"]


def is_beyond(zone: str) -> bool:
    """Whether a zone, by its name or its id, comes after the last one of its region."""
    most = ZONES.get(region_of(zone) or "")
    plain = re.fullmatch(rf"(?:{_REGION.pattern}(?P<letter>[a-z])|[a-z]+\d-az(?P<number>\d+))", zone)
    if most is None or plain is None:
        return False
    return (int(plain["number"]) if plain["number"] else ord(plain["letter"]) - ord("a") + 1) > most


def is_zone_id(text: str) -> bool:
    """Whether a text is the id of a zone, such as `usw2-az4`."""
    return _ZONE_ID.fullmatch(text) is not None


def ids_are_of(ids: Iterable[str], name: str) -> bool:
    """Whether zone ids can be of the region of a zone's name, such as `us-west-2a`; true where that is not known."""
    region = re.match(_REGION, name)
    found = (_ZONE_ID.fullmatch(one) for one in ids)
    return region is None or any(one is None or one["region"] == zone_prefix(region[0]) for one in found)


def name_mistake(name: str, zone: str, id_name: str) -> Mistake | None:
    """A zone id in the place of a name; `None` for any other text.

    :param name: of the property or parameter for names of zones.
    :param id_name: of the property or parameter for ids.
    """
    if not _ZONE_ID.fullmatch(zone):
        return None
    return Mistake(f"{name} {zone!r} is a zone id, which belongs in {id_name}", WRITE_ZONE)


def id_mistake(name: str, zone: str, region: str | None, other_name: str) -> Mistake | None:
    """A text that is not a zone id, or a zone id of another region; `None` for a zone id that fits.

    :param name: of the property or parameter for ids.
    :param region: the stack's region; `None` if it is unknown.
    :param other_name: of the property or parameter for names of zones.
    """
    match = _ZONE_ID.fullmatch(zone)
    if match is None:
        return Mistake(f"{name} {zone!r} is not a zone id; a name belongs in {other_name}", WRITE_ZONE)
    if region is None or not _REGION.fullmatch(region) or "iso" in region or match["region"] == zone_prefix(region):
        return None
    return Mistake(f"{name} {zone!r} is not in region {region}, whose zone ids start with {zone_prefix(region)}-az", WRITE_ZONE)


def absent_mistake(name: str, zone: str) -> Mistake | None:
    """A zone that its region does not have; only rules ask, whose finding can be accepted when the region has grown."""
    return Mistake(f"{name} {zone!r} is no zone of its region", WRITE_ZONE) if is_beyond(zone) else None
