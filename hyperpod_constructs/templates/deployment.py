"""A deployment: the region and the values of parameters with which a model takes its stacks to be deployed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hyperpod_constructs.templates.doubts import Key
from hyperpod_constructs.templates.values import Value


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployment:
    """What a deployment gives to the outermost templates; by default the defaults of their parameters.

    :param region: of all stacks whose region is not known; unknown by default.
    :param given: the values of parameters.
    :param filled: the parameters whose values are not known, and not empty.
    """

    region: str | None = None
    given: Mapping[Key, Value] = field(default_factory=dict)
    filled: frozenset[Key] = frozenset()
