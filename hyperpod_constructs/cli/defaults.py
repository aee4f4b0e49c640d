"""What the reference app asks of its user on AWS, and what has a default in the embedded AWS."""

from __future__ import annotations

from hyperpod_constructs.cli.cdk import App
from hyperpod_constructs.cli.target import Target


def with_local_defaults(app: App, target: Target) -> App:
    """The app of cdk.json with the context that it leaves open, for the embedded AWS; another app is returned as it is.

    There every zone has capacity, so its first one is the default, and nothing needs protection against termination.
    """
    if app.command is not None:
        return app
    added = []
    if app.value("availability_zone_id") is None and app.value("availability_zone") is None:
        zones = target.client("ec2").describe_availability_zones()["AvailabilityZones"]
        added.append(f"availability_zone_id={min(zone['ZoneId'] for zone in zones)}")
    if app.value("termination_protection") is None:
        added.append("termination_protection=false")
    return App(context=(*app.context, *added))
