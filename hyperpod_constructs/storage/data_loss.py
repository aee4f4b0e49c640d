"""The permission to lose the data of a resource."""

from __future__ import annotations

from aws_cdk import CfnResource
from constructs import Construct

from hyperpod_constructs._support.arguments import check_argument
from hyperpod_constructs._support.metadata import ALLOW_DATA_LOSS
from hyperpod_constructs.facts.data_holders import DATA_HOLDERS


def allow_data_loss(construct: Construct, reason: str) -> None:
    """Permit a change to lose the data of a construct's resource; `hyperpod plan` and the synthesis refuse it otherwise.

    Deploy the permission before you take the resource out of the app: the plan then reads it from the deployed template.

    :param construct: such as a bucket, a key, a log group, or an L1.
    :param reason: why the data may go; for the next reader.
    :raises TypeError: for another thing than a construct.
    :raises ValueError: for an empty reason, a reason that is not a text, a construct without a resource of its own, or a resource
        that holds no data.
    """
    check_argument(lambda: "allow_data_loss", "construct", construct, Construct)
    path = construct.node.path
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError(f"{path}: allow_data_loss has no reason, found {reason!r}; write why the data may go")
    resource = construct if isinstance(construct, CfnResource) else construct.node.default_child
    if not isinstance(resource, CfnResource):
        raise ValueError(
            f"{path}: allow_data_loss needs a construct with a resource of its own, found {type(construct).__name__} without a "
            "default child; give the bucket, key or file system in it"
        )
    if resource.cfn_resource_type not in DATA_HOLDERS:
        raise ValueError(
            f"{path}: allow_data_loss is for a resource that holds data, found {resource.cfn_resource_type}; leave it out, or give "
            "the bucket, key, database or file system"
        )
    resource.add_metadata(ALLOW_DATA_LOSS, reason)
