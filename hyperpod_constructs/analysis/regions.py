"""The region of a stack: its own if it is known, else that of the zones of the subnets beside it."""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_constructs.analysis.networks import SUBNET
from hyperpod_constructs.facts.zones import region_of as region_of_zone
from hyperpod_constructs.templates.model import Resource, Template
from hyperpod_constructs.templates.values import as_str


def region_of(resource: Resource) -> str | None:
    """The region of a resource; `None` if nothing tells."""
    model = resource.template.model
    return own_region_of(resource) or model.cached((region_of, model), lambda: _region_of_zones(model.resources(SUBNET)))


def own_region_of(resource: Resource) -> str | None:
    """The region of a resource, by its own template alone."""
    template = resource.template
    return template.environment.region or template.model.cached((region_of, template), lambda: _of_template(template))


def _of_template(template: Template) -> str | None:
    return _region_of_zones([one for one in template.model.resources(SUBNET) if one.template is template])


def _region_of_zones(subnets: Sequence[Resource]) -> str | None:
    """The region of subnets; `None` if they are in several."""
    zones = (as_str(one.get(key)) for one in subnets for key in ("AvailabilityZone", "AvailabilityZoneId"))
    regions = {region_of_zone(zone) for zone in zones if zone is not None}
    return regions.pop() if len(regions) == 1 else None
