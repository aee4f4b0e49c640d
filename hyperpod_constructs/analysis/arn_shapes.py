"""ARNs whose fields are none of AWS: too few, or a partition, a service, a region or an account that there cannot be.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from hyperpod_constructs.analysis.arns import Arn
from hyperpod_constructs.analysis.schema.violation import nearest
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.facts.iam_actions import action_prefixes, is_service
from hyperpod_constructs.facts.regions import REGIONS
from hyperpod_constructs.templates.values import Value

_HOLE = "\0"
_OPEN = re.compile(rf"[*?{_HOLE}]|\$\{{|\{{\{{")
_VARIABLE = re.compile(r"\$\{[^}]*\}")
_FIELDS = 6
_REGION = re.compile(r"[a-z]{2,4}((?:-[a-z]+)+)-\d+")
_ACCOUNT = re.compile(r"\d{12}|(aws|amazon|cloudfront|self|third)[a-z-]*")
_COMPASS = ("central", "east", "north", "northeast", "northwest", "south", "southeast", "southwest", "west")
_LONG, _NEAR = 5, 0.85
"""The fewest letters of the name of a service that is told from another one, and how like it is to the one that was meant."""


def mistaken_shape(pattern: Value) -> str | None:
    """Why a pattern is of nothing in AWS, in words; what is not known may be anything."""
    text = "".join(part if isinstance(part, str) else _HOLE for part in Arn(pattern).spelled)
    fields = _VARIABLE.sub("*", text).split(":", _FIELDS - 1)
    if fields[0] != "arn" or text == "arn":
        return None
    if len(fields) < _FIELDS:
        begin, *others = _OPEN.split(fields[-1])
        return None if others and "/" not in begin else f"has {len(fields)} of the {_FIELDS} fields of an ARN"
    _, _, service, region, account, _ = fields
    meant = None if _OPEN.search(service) else _meant_service(service)
    if meant is not None:
        return f"has the service {service}, and the ARN of one of {meant} has {meant}"
    found = None if _OPEN.search(region) or not region else mistaken_region(region)
    if found is not None:
        return f"has the region {region}, which {found}"
    if account and not _OPEN.search(account) and _ACCOUNT.fullmatch(account) is None:
        return f"has the account {account}, and an account has 12 digits"
    return None


@cache
def mistaken_region(text: str) -> str | None:
    """Why a text is no region, in words; one that may be a new region is none."""
    form = _REGION.fullmatch(text)
    if form is None:
        return "is no name of a region, such as us-west-2"
    if text in REGIONS:
        return None
    from difflib import get_close_matches  # kept off the import path: only an unknown region needs it

    words = {*_COMPASS, *(word for one in REGIONS for word in one.split("-")[1:-1])}
    for word in form[1].split("-")[1:]:
        near = [] if word in words else get_close_matches(word, sorted(words), n=3, cutoff=0.75)
        meant = sorted((text.replace(word, one) for one in near), key=lambda one: one not in REGIONS)
        if meant:
            return f"AWS does not have; did you mean {meant[0]}?"
    return None


@cache
def _meant_service(text: str) -> str | None:
    """The service whose name in ARNs a text nearly is; `None` for a known one, and one like no other."""
    known = {one.service for one in FORMS.values() if one.form.startswith("arn:")}
    if not text or text in known or is_service(text):
        return None
    if text.lower() in known or is_service(text.lower()):
        return text.lower()
    return near_service(text, (*known, *action_prefixes()))


def near_service(text: str, names: Iterable[str]) -> str | None:
    """The name of a service that a text nearly is; short names are like too many others."""
    return nearest(text, sorted(one for one in names if len(one) >= _LONG), _NEAR)
