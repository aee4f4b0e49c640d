"""When the lifecycle scripts of a group run."""

from __future__ import annotations

from enum import StrEnum


class LifecycleMode(StrEnum):
    """The part of the image and of the lifecycle scripts in the set-up of a group's nodes."""

    ON_INIT_COMPLETE = "OnInitComplete"
    """The image sets everything up; then the script runs."""
    ON_CREATE = "OnCreate"
    """Only the script runs, and must set up and start Slurm."""
    NONE = "None"
    """Only the image sets the nodes up; no script runs."""
