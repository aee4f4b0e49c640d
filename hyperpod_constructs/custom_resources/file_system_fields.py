"""Sets what CloudFormation lacks on a Lustre file system: root squash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from aws_cdk import CustomResource, Duration, Stack
from constructs import Construct

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs._support.statements import Statement
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import SquashNid
from hyperpod_constructs.custom_resources.provider import HandlerProvider
from hyperpod_constructs.facts import root_squash


class SquashedLustre(Protocol):
    """A Lustre file system with root squash."""

    @property
    def file_system_id(self) -> str:
        """Its id."""
        ...


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class LustreRootSquashConfiguration:
    """The user that root of a client becomes on a file system; see `FileSystemFields`.

    :param root_squash: `UID:GID`, such as `65534:65534` for nobody; both are other than 0.
    :param no_squash_nids: clients that keep the rights of root: at most 64 addresses or ranges, such as `10.0.1.6@tcp` or
        `10.0.[2-10].[1-255]@tcp`; none unless given.
    :raises ValueError: for ids or addresses of another form.

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreRootSquashConfiguration.html
    """

    root_squash: str
    no_squash_nids: Sequence[SquashNid] = ()

    def __post_init__(self) -> None:
        mistake = None if is_unknown(self.root_squash) else root_squash.ids_mistake("root_squash", self.root_squash)
        if mistake is not None:
            raise ValueError(f"LustreRootSquashConfiguration: {mistake}")
        if len(self.no_squash_nids) > root_squash.MOST_NIDS:
            raise ValueError(
                f"LustreRootSquashConfiguration: no_squash_nids has {len(self.no_squash_nids)} items; allowed: at most "
                f"{root_squash.MOST_NIDS}; write ranges such as 10.0.[2-10].[1-255]@tcp"
            )


class FileSystemFields(Construct):
    """Root squash of a Lustre file system: on its clients, root becomes a user without rights.

    The deployment waits until FSx has made the change, for some minutes. If another update of the file system is under way, it
    waits for that first. The values of the template win over others that were set by hand, at every update of this resource.

    A deletion switches root squash off, unless someone has set other ids meanwhile. It touches no other field of the file system.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/root-squash.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        file_system: SquashedLustre,
        root_squash: LustreRootSquashConfiguration,
        timeout: Duration | None = None,
    ) -> None:
        """
        :param file_system: a `LustreStorage`, or an imported file system. After a change, root squash of the old one is switched
            off.
        :param root_squash: the user and the group that root becomes, and the exempt clients. Programs of root on other nodes, also
            the steps of this library that make homes on the file system, then lack the rights of root there.
        :param timeout: time for one deployment, 5 minutes to 1 hour; 1 hour unless given.
        :raises ValueError: for a timeout out of these limits.
        """
        super().__init__(scope, id)
        name = file_system.file_system_id
        provider = HandlerProvider.of(self, "HyperPodFileSystemFieldsProvider", module="file_system_fields")
        properties: dict[str, Any] = {"FileSystemId": name, "RootSquash": root_squash.root_squash}
        if root_squash.no_squash_nids:
            properties["NoSquashNids"] = list(root_squash.no_squash_nids)
        #: The custom resource, to make other resources wait for it.
        self.resource: CustomResource = provider.add_resource(
            self,
            resource_type="Custom::HyperPodFileSystemFields",
            properties=properties,
            statements=[
                # DescribeFileSystems knows no resources.
                Statement(actions=["fsx:DescribeFileSystems"], resources=["*"]),
                Statement(
                    actions=["fsx:UpdateFileSystem"],
                    resources=[Stack.of(self).format_arn(service="fsx", resource="file-system", resource_name=name)],
                ),
            ],
            timeout=timeout,
        )
