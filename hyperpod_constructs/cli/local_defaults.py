"""Settings of an app that have a default on the embedded AWS only."""

from __future__ import annotations

from dataclasses import replace

from hyperpod_constructs.cli.cdk import App
from hyperpod_constructs.cli.target import Target


def with_local_defaults(app: App, target: Target) -> App:
    """The app with its open settings filled in for the embedded AWS. An app that does not read them is not changed by them.

    Every zone of the embedded AWS has capacity, so the first one is the default. Its stacks need no termination protection, and its
    data may go. A database for accounting lies in the nodes' zone and another one. A control plane of Kubernetes lies in the first
    two zones, and takes the chart that stands in for the service's.
    """
    if app.assembly is not None:
        return app
    added = []
    if app.value("availability_zone_id") is None and app.value("availability_zone") is None:
        added.append(f"availability_zone_id={_zones(target)[0]}")
    if _is_on_kubernetes(app):
        if app.value("control_plane_zone_ids") is None:
            added.append(f"control_plane_zone_ids={','.join(_zones(target)[:2])}")
        if app.value("chart") is None:
            added.append("chart=stand-in")
    if _has_a_database(app) and app.value("accounting_zone_id") is None:
        added.append(f"accounting_zone_id={_other_zone(app, target)}")
    if app.value("termination_protection") is None:
        added.append("termination_protection=false")
    if app.value("retain_data") is not None and app.value("confirm_data_loss") is None:
        added.append("confirm_data_loss=true")
    return replace(app, context=(*app.context, *added))


def _zones(target: Target) -> list[str]:
    return sorted(zone["ZoneId"] for zone in target.client("ec2").describe_availability_zones()["AvailabilityZones"])


def _other_zone(app: App, target: Target) -> str:
    """A zone without the nodes, which are in the first one unless the app says another."""
    zones = target.client("ec2").describe_availability_zones()["AvailabilityZones"]
    first = min(zone["ZoneId"] for zone in zones)
    of_nodes = {app.value("availability_zone_id"), app.value("availability_zone")} - {None} or {first}
    return min(str(zone["ZoneId"]) for zone in zones if not of_nodes & {zone["ZoneId"], zone.get("ZoneName")})


def _has_a_database(app: App) -> bool:
    return app.value("accounting") == "true" or (app.value("accounting") is None and app.value("preset") == "production")


def _is_on_kubernetes(app: App) -> bool:
    return app.value("orchestrator") == "eks" or (app.value("orchestrator") is None and app.value("preset") == "kubernetes")
