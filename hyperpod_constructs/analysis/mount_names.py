"""The mount names of Lustre file systems of the templates: which one the service makes, and which words cannot be it.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html
"""

from __future__ import annotations

from hyperpod_constructs.analysis.file_systems import Lustre
from hyperpod_constructs.facts import lustre
from hyperpod_constructs.templates.model import Resource


def is_made_otherwise(system: Resource, name: str) -> bool:
    """Whether a written mount name is surely not that of a file system, since the service makes another one."""
    deployment = Lustre(system).deployment
    if deployment is None or Lustre(system).from_backup is not False:
        return False
    return not (deployment == "SCRATCH_1" and name == lustre.FIRST_MOUNT_NAME)
