"""Updates of custom resources to which their function answers with another physical id.

CloudFormation takes such an update for a replacement: once it is done, it calls the function to delete the old id.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requesttypes-update.html
"""

from __future__ import annotations

from functools import partial

from hyperpod_constructs.analysis.answered_values import id_of
from hyperpod_constructs.analysis.custom_resources import PREFIXES
from hyperpod_constructs.plan.change import Change
from hyperpod_constructs.plan.row import Row, replaced
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import Value, is_known, shown

_SOURCE = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requesttypes-update.html"
_replaced = partial(
    replaced,
    why="its function answers with another physical id, and CloudFormation calls it again to delete what has the old one",
    source=_SOURCE,
)


def row_of_another_id(change: Change, old: Resource, new: Resource) -> Row | None:
    """The row of a changed property of which the function makes the physical id; `None` for any other."""
    if not new.type.startswith(PREFIXES):
        return None
    before, after = id_of(old), id_of(new)
    is_part = _holds(before, change.old) and _holds(after, change.new)
    return _replaced(change.path[0]) if is_part and shown(before) != shown(after) else None


def _holds(id_: Value, value: Value) -> bool:
    text = str(shown(value)) if is_known(value) else ""
    return bool(text) and is_known(id_) and text in str(shown(id_))
