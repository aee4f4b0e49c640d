"""Updates of workspaces of Prometheus and Grafana."""

from __future__ import annotations

from hyperpod_constructs.facts.kubernetes import version_of
from hyperpod_constructs.plan.change import Change
from hyperpod_constructs.plan.row import Row, in_place, loses_data, refused
from hyperpod_constructs.templates.values import ABSENT, as_int, as_str

_DEFAULT_DAYS = 150
"""Days that metrics stay where no other number is given."""


def _ends_sooner(change: Change) -> bool:
    before, after = (_DEFAULT_DAYS if value is ABSENT else as_int(value) for value in (change.old, change.new))
    return before is not None and after is not None and after < before


PROMETHEUS: tuple[Row, ...] = (
    loses_data(
        "WorkspaceConfiguration/RetentionPeriodInDays",
        "metrics older than the new number of days are deleted",
        when=_ends_sooner,
        avoid="keep the number of days",
        source="https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-workspace-configuration.html",
    ),
    in_place("WorkspaceConfiguration/RetentionPeriodInDays", "metrics stay for the new number of days"),
    in_place("AlertManagerDefinition", "alerts go to the new receivers; those that are silenced stay so"),
)
RULES: tuple[Row, ...] = (
    in_place("Data", "the new rules take the place of all old ones of this name; an alert that waits begins to wait anew"),
)


def _goes_down(change: Change) -> bool:
    old, new = (version_of(as_str(value) or "") for value in (change.old, change.new))
    return old is not None and new is not None and new < old


GRAFANA: tuple[Row, ...] = (
    refused(
        "GrafanaVersion",
        "Grafana takes no workspace to an earlier version",
        when=_goes_down,
        avoid="keep the version; make a workspace of the earlier version beside it",
        source="https://docs.aws.amazon.com/grafana/latest/APIReference/API_UpdateWorkspaceConfiguration.html",
    ),
    in_place("GrafanaVersion", "the workspace is updated to the version, and cannot go back"),
    in_place("AuthenticationProviders", "people log in by the new provider, and need their roles there; dashboards stay"),
    in_place("DataSources", "sources of data that are set up already stay; their permissions are those of the role"),
)
