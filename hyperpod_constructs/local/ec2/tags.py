"""Tags of one EC2 resource, found by its id. moto compiles a pattern for each look and compares it with the tags of all resources.

An answer holds a resource's tags twice, so that took more than half of the time in which a node's interface is made.
"""

from __future__ import annotations

from typing import Any


def look_up_by_id() -> None:
    """From now on moto's resources read their own tags only."""
    from moto.ec2.models.core import TaggedEC2Resource

    TaggedEC2Resource.get_tags = _tags  # type: ignore[assignment, method-assign]  # the whole purpose


def _tags(resource: Any) -> list[dict[str, str]]:
    """The tags of a resource, as moto's `describe_tags` returns them; none without an id."""
    from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE, get_prefix

    tags = resource.ec2_backend.tags.get(resource.id) if resource.id else None
    if not tags:
        return []
    kind = EC2_PREFIX_TO_RESOURCE.get(get_prefix(resource.id), "")
    return [{"resource_id": resource.id, "key": key, "value": value, "resource_type": kind} for key, value in tags.items()]
