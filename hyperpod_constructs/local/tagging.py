"""What an update changes of a resource's tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def tag_changes(old: Iterable[Mapping[str, str]], new: Iterable[Mapping[str, str]]) -> tuple[list[dict[str, str]], list[str]]:
    """The tags to set, and the keys to remove."""
    before = {tag["Key"]: tag["Value"] for tag in old}
    after = {tag["Key"]: tag["Value"] for tag in new}
    changed = [{"Key": key, "Value": value} for key, value in after.items() if before.get(key) != value]
    return changed, [key for key in before if key not in after]
