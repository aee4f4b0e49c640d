"""Root squash of FSx for Lustre: limits, and the words for mistakes (as of 2026-11-22).

Sources: https://docs.aws.amazon.com/fsx/latest/LustreGuide/root-squash.html and
https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreRootSquashConfiguration.html
"""

from __future__ import annotations

from hyperpod_constructs.facts.limits import most_items, property_limit
from hyperpod_constructs.facts.mistake import Mistake

_MEMBER = "fsx:CreateFileSystem/LustreConfiguration/RootSquashConfiguration"

HIGHEST_ID = 4_294_967_294
"""The highest user or group id."""

OFF = "0:0"
"""The ids of a file system without root squash."""

MOST_NIDS = most_items(f"{_MEMBER}/NoSquashNids")
"""Most exempt clients or ranges of clients."""

IDS = property_limit(f"{_MEMBER}/RootSquash", words="the ids of a user and a group, UID:GID, in digits", example="65534:65534")
"""The user and the group that root becomes."""

NID = property_limit(
    f"{_MEMBER}/NoSquashNids/*",
    words="the address of a client or a range of addresses, with @tcp, {shortest} to {longest} characters",
    example="10.0.1.6@tcp",
)
"""An exempt client; each part of its address may be a range, such as `10.0.[2-10].[1-255]@tcp`."""


def ids_mistake(name: str, found: str) -> Mistake | None:
    """Ids that FSx refuses: of another form, too high, or only one of them zero; `None` for allowed ones."""
    wrong = IDS.mistake(name, found)
    if wrong is not None:
        return wrong
    user, group = map(int, found.split(":"))
    if max(user, group) > HIGHEST_ID:
        return Mistake(f"{name} is {found!r}; allowed: ids from 0 to {HIGHEST_ID}", f'write {name}="{IDS.example}"')
    if (user == 0) != (group == 0):
        return Mistake(
            f"{name} is {found!r}; allowed: two ids other than 0, or {OFF}, which turns root squash off",
            f'write {name}="{IDS.example}"',
        )
    return None
