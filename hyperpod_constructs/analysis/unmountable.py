"""File systems of EFS whose policy lets nobody mount them: with a policy, clients without a role need a statement for everybody.

Source: https://docs.aws.amazon.com/efs/latest/ug/iam-access-control-nfs-efs.html
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.file_systems import mount_targets_of
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.policy_document import Statement, layer_of
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT

_MOUNT = "elasticfilesystem:ClientMount"


def unmountable(model: Model) -> Iterator[Resource]:
    """The file systems with mount targets that neither their policy nor that of a role lets anybody mount."""
    for system in model.resources("AWS::EFS::FileSystem"):
        layer = layer_of(system.get("FileSystemPolicy"))
        given = system.get("FileSystemPolicy") is not ABSENT and layer.complete and model.complete
        if given and mount_targets_of(system) and not any(map(_lets, layer.statements)) and not _may_be_mounted(model):
            yield system


def _lets(statement: Statement) -> bool:
    """Whether a statement lets, or may let, somebody mount who is no service."""
    return statement.effect != "Deny" and statement.principals("AWS") != () and statement.speaks_of(_MOUNT) is not False


def _may_be_mounted(model: Model) -> bool:
    """Whether a role of the model is allowed, or may be, to mount file systems."""
    return any(role_facts(role).may(_MOUNT) is not False for role in model.resources(ROLE))
