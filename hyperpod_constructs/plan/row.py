"""A row of the update table: the effect that a change of one property has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial

from hyperpod_constructs.plan.change import Change
from hyperpod_constructs.plan.effect import Effect


@dataclass(frozen=True, slots=True)
class Row:
    """The effect that a change of one property has.

    :param effect: the effect.
    :param path: the property, such as `LustreConfiguration/EfaEnabled`; `*` stands for the name of an item.
    :param why: the reason for the user, as a text or as a function of the change.
    :param avoid: the alternative; empty by default.
    :param when: the condition under which the row applies; by default it always does. The first applicable row counts.
    :param source: the address of the documentation; the resource schema by default.
    :param part: whether only a part of the resource is replaced, so that references to it stay the same.
    """

    effect: Effect
    path: str
    why: str | Callable[[Change], str]
    _: KW_ONLY
    avoid: str = ""
    when: Callable[[Change], bool] | None = None
    source: str = ""
    part: bool = False

    def applies(self, change: Change) -> bool:
        """Whether the row applies to the change."""
        return self.when is None or self.when(change)

    def reason(self, change: Change) -> str:
        """The reason for the effect."""
        return self.why if isinstance(self.why, str) else self.why(change)


in_place = partial(Row, Effect.NO_INTERRUPTION)
rolling = partial(Row, Effect.ROLLING)
replaced = partial(Row, Effect.REPLACE)
loses_data = partial(Row, Effect.DATA_LOSS)
refused = partial(Row, Effect.REFUSED)
