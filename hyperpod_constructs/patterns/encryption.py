"""One key for the parts that a pattern makes."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_constructs.cluster.instance_group import InstanceGroup
from hyperpod_constructs.cluster.restricted_group import RestrictedInstanceGroup
from hyperpod_constructs.cluster.storage_configs import EbsVolume
from hyperpod_constructs.custom_resources.provider import encrypt_handler_logs
from hyperpod_constructs.node_software.lifecycle_scripts import LifecycleScripts

Group = TypeVar("Group", InstanceGroup, RestrictedInstanceGroup)


def encrypted(group: Group, key: kms.IKey | None) -> Group:
    """The group with all its volumes encrypted, the root volume too. A volume with a key of its own keeps it."""
    if key is None:
        return group
    volumes = [volume if volume.kms_key is not None else replace(volume, kms_key=key) for volume in group.ebs_volumes]
    if not any(volume.root for volume in volumes):
        volumes.append(EbsVolume(root=True, kms_key=key))
    return replace(group, ebs_volumes=tuple(volumes))


def encrypted_parts(scope: Construct, key: kms.IKey | None, scripts: LifecycleScripts | None) -> LifecycleScripts | None:
    """Encrypt the logs of the functions in a pattern's stack.

    :return: the given scripts, else this library's in an encrypted bucket.
    """
    if key is None:
        return scripts
    encrypt_handler_logs(scope, key)
    return LifecycleScripts.from_asset(encryption_key=key) if scripts is None else scripts
