"""Quotas of users and groups on an OpenZFS file system, which CloudFormation cannot change in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from aws_cdk import CustomResource, Duration, Stack
from constructs import Construct

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs._support.statements import Statement
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs._support.values import QuotaId, QuotaSize
from hyperpod_constructs.custom_resources.provider import HandlerProvider
from hyperpod_constructs.facts import openzfs


class OpenZfsVolume(Protocol):
    """An OpenZFS file system with its root volume."""

    @property
    def root_volume_id(self) -> str | None:
        """The id of the volume."""
        ...


def volume_of(where: str, file_system: OpenZfsVolume) -> str:
    """The id of its root volume.

    :raises ValueError: for an imported file system without it.
    """
    found = file_system.root_volume_id
    if found is None:
        raise ValueError(
            f"{where}: the imported file system has no root_volume_id; write OpenZfsStorage.from_attributes(root_volume_id=...), "
            "which aws fsx describe-file-systems prints as RootVolumeId"
        )
    return found


def volume_arn(scope: Construct, volume: str) -> str:
    """The ARN of a volume. Its id is unique, whatever its file system."""
    return Stack.of(scope).format_arn(service="fsx", resource="volume", resource_name=f"*/{volume}")


class OpenZfsQuotaType(StrEnum):
    """The owner of a quota."""

    USER = "USER"
    GROUP = "GROUP"


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class OpenZfsQuota:
    """The most that a user or a group stores on a file system; see `OpenZfsQuotas`.

    :param type: a user unless given.
    :param id: the user's uid, or the group's gid, such as that of a `NodeUser`.
    :param storage_capacity_quota_gib: GiB, 1 or more. It may exceed the capacity.

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSUserOrGroupQuota.html
    """

    type: OpenZfsQuotaType = OpenZfsQuotaType.USER
    id: QuotaId
    storage_capacity_quota_gib: QuotaSize

    def render(self) -> dict[str, Any]:
        """The quota as a property of the custom resource."""
        return {"Type": self.type.value, "Id": self.id, "Gib": self.storage_capacity_quota_gib}


class OpenZfsQuotas(Construct):
    """Quotas of users and groups on the root volume of an OpenZFS file system, which nodes mount at `/home`.

    They change in place, while a change of `RootVolumeConfiguration` in CloudFormation replaces the file system. The deployment
    waits until FSx has made the change. If another update of the volume is under way, it waits for that first.

    A quota that leaves the list, or the deletion of this resource, takes the quota away, unless someone has set another one
    meanwhile. Quotas of ids that were never in the list stay as they are.

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateVolume.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        file_system: OpenZfsVolume,
        quotas: Sequence[OpenZfsQuota],
        timeout: Duration | None = None,
    ) -> None:
        """
        :param file_system: an `OpenZfsStorage`, or an imported file system with its `root_volume_id`. After a change, the quotas of
            the old one are taken away.
        :param quotas: one for each user or group, 500 at most.
        :param timeout: time for one deployment, 5 minutes to 1 hour; 1 hour unless given.
        :raises ValueError: for two quotas of one owner, for more than 500, for a file system without the id of its volume, or for a
            timeout out of these limits.
        """
        super().__init__(scope, id)
        path = placed(self, scope, id)
        volume = volume_of(path, file_system)
        _check(path, quotas)
        provider = HandlerProvider.of(self, "HyperPodOpenZfsQuotasProvider", module="openzfs_quotas")
        #: The custom resource, to make other resources wait for it.
        self.resource: CustomResource = provider.add_resource(
            self,
            resource_type="Custom::HyperPodOpenZfsQuotas",
            properties={"VolumeId": volume, "Quotas": [quota.render() for quota in quotas]},
            statements=[
                # DescribeVolumes knows no resources.
                Statement(actions=["fsx:DescribeVolumes"], resources=["*"]),
                Statement(actions=["fsx:UpdateVolume"], resources=[volume_arn(self, volume)]),
            ],
            timeout=timeout,
        )


def _check(path: str, quotas: Sequence[OpenZfsQuota]) -> None:
    mistake = openzfs.QUOTAS.mistake("quotas", quotas)
    if mistake is not None:
        raise ValueError(f"{path}: {mistake}")
    for (kind, owner), count in Counter((quota.type, quota.id) for quota in quotas).items():
        if count > 1:
            raise ValueError(f"{path}: {count} quotas are of {kind} {owner}; give each user and group one")
