"""The permission to lose what a resource holds."""

from __future__ import annotations

from aws_cdk import CfnResource
from constructs import Construct

from hyperpod_constructs._metadata import ALLOW_DATA_LOSS
from hyperpod_constructs.rules.effects.stateful import STATEFUL


def allow_data_loss(construct: Construct, reason: str) -> None:
    """Permit that a change loses what a construct's resource holds; `hyperpod plan` and the synthesis refuse it otherwise.

    Before the resource is taken out of the app, deploy the permission: it is then read from what is deployed.

    :param construct: such as a bucket, a key, a log group, or an L1.
    :param reason: why the data may go; for the next reader.
    :raises ValueError: if the reason is no text or empty, or the construct has no resource of its own, or one that holds no data.
    """
    path = construct.node.path
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError(f"{path}: allow_data_loss has no reason, found {reason!r}; write why the data may go")
    resource = construct if isinstance(construct, CfnResource) else construct.node.default_child
    if not isinstance(resource, CfnResource):
        raise ValueError(
            f"{path}: allow_data_loss needs a construct with a resource of its own, found {type(construct).__name__} without a "
            "default child; give the bucket, key or file system in it"
        )
    if resource.cfn_resource_type not in STATEFUL:
        raise ValueError(
            f"{path}: allow_data_loss is for a resource that holds data, found {resource.cfn_resource_type}; leave it out, or give "
            "the bucket, key, database or file system"
        )
    resource.add_metadata(ALLOW_DATA_LOSS, reason)
