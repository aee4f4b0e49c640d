"""How much an update disturbs, from harmless to impossible."""

from __future__ import annotations

from enum import StrEnum


class Effect(StrEnum):
    """The effect of a change, from harmless to impossible."""

    NO_INTERRUPTION = "no interruption"
    """Nothing that runs is interrupted."""
    ROLLING = "rolling"
    """Some nodes stop or restart while others run."""
    REPLACE = "replace"
    """A new resource replaces the old one, or the old one is removed."""
    DATA_LOSS = "data loss"
    """Stored data is lost for good."""
    REFUSED = "refused"
    """The service or CloudFormation fails the update."""

    @property
    def severity(self) -> int:
        """The rank of the effect: the higher, the worse."""
        return list(Effect).index(self)
