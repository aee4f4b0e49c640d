"""Endpoints of services, from the table that `tools/generate_service_models.py` derives from botocore's rules."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from botocore.exceptions import EndpointProviderError, NoRegionError

from .models import MODELS, Service

TABLE = MODELS / "endpoint-templates.json"


class Endpoint(NamedTuple):
    """Where a service answers, and the region in signatures."""

    url: str
    region: str


def endpoint(service: Service) -> Endpoint:
    """The endpoint in the region of the environment; the environment may name one, such as the embedded AWS.

    :raises NoRegionError: if the environment names no region.
    :raises EndpointProviderError: for a kind of endpoint that the service does not have.
    """
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise NoRegionError
    kinds = [kind for kind in ("FIPS", "DUALSTACK") if os.environ.get(f"AWS_USE_{kind}_ENDPOINT", "").lower() == "true"]
    own = f"AWS_ENDPOINT_URL_{service.metadata['serviceId'].replace(' ', '_').upper()}"
    url = os.environ.get(own) or os.environ.get("AWS_ENDPOINT_URL")
    if not url:
        return listed(service.name, region, " ".join(kinds))
    if kinds:
        raise EndpointProviderError(msg=f"AWS_USE_{kinds[0]}_ENDPOINT and an endpoint of one's own exclude each other: {url}")
    return Endpoint(url, region)


def listed(service: str, region: str, kind: str) -> Endpoint:
    """The endpoint of a service in a region.

    :param kind: "FIPS", "DUALSTACK", both with a space between them, or empty.
    :raises EndpointProviderError: if the service has none of this kind.
    """
    table = _table()
    found = next((each for each in table["partitions"] if region in each["regions"] or re.match(each["pattern"], region)), None)
    partition = found or table["partitions"][0]
    places = table["services"][service][kind]
    url, signed = next(places[place] for place in (region, partition["name"], "*") if place in places)
    if not url:
        raise EndpointProviderError(msg=f"{service} has no {kind} endpoint in {region}")
    return Endpoint(url.format(region=region, dns=partition["dns"], dual=partition["dual"]), signed.format(region=region))


@cache
def _table() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(TABLE.read_bytes())
    return found
