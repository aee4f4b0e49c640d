"""The statements of a policy document, as IAM reads them.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.arns import Arn
from hyperpod_constructs.analysis.conditions import Context, holds, substituted
from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.templates.globs import glob, matches
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Part, Text, Value, as_str, at, parts_of

_NO_CONTEXT: Context = {}
_REGIONAL = ("logs", "states")


@dataclass(frozen=True)
class Call:
    """A call, as the policies see it."""

    action: str
    """Such as `s3:GetObject`."""
    resource: Value | None = None
    """The ARN, as a value of the model; an unknown end stands for any end. `"*"` asks for the action on everything, `None` for
    the action on anything."""
    context: Context = field(default_factory=dict)

    @cached_property
    def arn(self) -> Arn | None:
        """The ARN in its comparable forms."""
        return None if self.resource is None else Arn(self.resource)

    @cached_property
    def lowered(self) -> str:
        """The action as IAM compares it."""
        return self.action.lower()


@dataclass(frozen=True)
class Statement:
    """A statement of a policy."""

    raw: Mapping[str, Value]
    """The statement, resolved."""

    @cached_property
    def effect(self) -> str:
        """`Allow`, `Deny`, or `?` where it is not known."""
        return as_str(at(self.raw, "Effect")) or "?"

    @cached_property
    def actions(self) -> tuple[Value, ...]:
        """The patterns of `Action`, or of `NotAction`."""
        return listed(at(self.raw, "NotAction" if self.excludes_actions else "Action"))

    @cached_property
    def resources(self) -> tuple[Value, ...]:
        """The patterns of `Resource`, or of `NotResource`."""
        return listed(at(self.raw, "NotResource" if self.excludes_resources else "Resource"))

    @cached_property
    def excludes_actions(self) -> bool:
        """Whether it speaks of all but its actions."""
        return "NotAction" in self.raw

    @cached_property
    def excludes_resources(self) -> bool:
        """Whether it speaks of all but its resources."""
        return "NotResource" in self.raw

    @cached_property
    def conditional(self) -> bool:
        """Whether it counts only under a condition of the call."""
        return at(self.raw, "Condition") not in (ABSENT, {})

    @property
    def is_whole(self) -> bool:
        """Whether it has what IAM demands of a statement: an effect and actions."""
        return self.effect in ("Allow", "Deny", "?") and bool(self.actions) and not {"Action", "NotAction"} <= self.raw.keys()

    def applies(self, call: Call) -> bool | None:
        """Whether it speaks of a call, under its conditions; `None` if that is not known."""
        spoken = self.speaks_of(call.action)
        if spoken is False:
            return False
        covered = True if call.arn is None else self.covers(call.arn)
        if covered is False:
            return False
        held = holds(at(self.raw, "Condition"), call.context) if self.conditional else True
        return all_of((spoken, covered, held))

    def covers(self, arn: Arn) -> bool | None:
        """Whether an ARN is among its resources."""
        parts = parts_of(arn.value)
        if parts not in self._covered:
            self._covered[parts] = any_of(pattern.covers(arn) for pattern in self._patterns)
        answer = self._covered[parts]
        return answer if answer is None or not self.excludes_resources else not answer

    def principals(self, kind: str) -> tuple[Value, ...] | None:
        """The principals of a kind, such as `Service`; `None` if that is not known or the statement excludes principals."""
        if "NotPrincipal" in self.raw:
            return None
        principal = at(self.raw, "Principal")
        if principal == "*":
            return ("*",)
        found = at(principal, kind)
        return None if found is UNKNOWN else listed(found)

    def names_service(self, service: str, region: str | None = None) -> bool | None:
        """Whether a service, such as `sagemaker.amazonaws.com`, is among its principals.

        :param region: where the service acts, if that is known.
        """
        if "NotPrincipal" in self.raw and self.effect == "Deny":
            others = at(self.raw, "NotPrincipal")
            named = any_of(_is_service(one, service, region) for one in listed(at(others, "Service")))
            return None if named is None or not isinstance(others, Mapping) else not named
        found = self.principals("Service")
        return None if found is None else any_of(_is_service(one, service, region) for one in found)

    def speaks_of(self, action: str) -> bool | None:
        """Whether an action is among its actions; IAM ignores case there."""
        if action not in self._spoken:
            text = action.lower()
            found = any_of(_covers_action(pattern, text) for pattern in self._lowered_actions)
            self._spoken[action] = found if found is None or not self.excludes_actions else not found
        return self._spoken[action]

    @cached_property
    def _lowered_actions(self) -> list[str | list[Part] | None]:
        return [
            pattern.lower()
            if isinstance(pattern, str)
            else None
            if pattern is UNKNOWN
            else [part.lower() if isinstance(part, str) else part for part in parts_of(pattern)]
            for pattern in self.actions
        ]

    @cached_property
    def _spoken(self) -> dict[str, bool | None]:
        """Answers for actions: several resources are asked for with one action."""
        return {}

    @cached_property
    def _covered(self) -> dict[tuple[Part, ...], bool | None]:
        """Answers for ARNs, by their parts: several actions ask for one resource."""
        return {}

    @cached_property
    def _patterns(self) -> list[Arn]:
        return [Arn(substituted(pattern, _NO_CONTEXT)) for pattern in self.resources]


def _is_service(value: Value, service: str, region: str | None) -> bool | None:
    """Whether a principal is a service; China has its own suffix, and some services a principal for each region."""
    name, _, suffix = service.partition(".")
    patterns = (service, f"{service}.cn", *((f"{name}.{region or '*'}.{suffix}*",) if name in _REGIONAL else ()))
    if isinstance(value, Text):
        return any_of(value.matches(pattern) for pattern in patterns)
    return value == "*" or any(glob(pattern, value) for pattern in patterns) if isinstance(value, str) else None


def _covers_action(pattern: str | list[Part] | None, action: str) -> bool | None:
    if isinstance(pattern, str):
        return glob(pattern, action)
    return None if pattern is None else matches(pattern, (action,))


@dataclass(frozen=True)
class Layer:
    """Statements that are judged together: a role's own policies, its boundary, or the policy of a resource."""

    statements: tuple[Statement, ...]
    complete: bool = True
    """Whether these are all."""

    def denies(self, call: Call) -> bool | None:
        """Whether a statement denies a call; a layer that is not whole may always."""
        return self._answer("Deny", call)

    def allows(self, call: Call) -> bool | None:
        """Whether a statement allows a call, whatever another denies."""
        return self._answer("Allow", call)

    def _answer(self, effect: str, call: Call) -> bool | None:
        speaking = (one for one in self.statements if one.effect in (effect, "?"))
        answer = any_of(_unless_unknown(one, call) for one in speaking)
        return answer if self.complete or answer else None


def _unless_unknown(statement: Statement, call: Call) -> bool | None:
    """Whether a statement applies; one whose effect is not known may."""
    answer = statement.applies(call)
    return None if answer and statement.effect == "?" else answer


def layer_of(document: Value) -> Layer:
    """The layer of a resolved policy document."""
    statements = statements_of(document)
    return Layer(statements or (), statements is not None and all(one.is_whole for one in statements))


def joint(layers: Iterable[Layer]) -> Layer:
    """Several layers as one."""
    found = tuple(layers)
    return Layer(tuple(one for layer in found for one in layer.statements), all(layer.complete for layer in found))


def statements_of(document: Value) -> tuple[Statement, ...] | None:
    """The statements of a resolved policy document, or of its text; `None` if not all of them are known."""
    raw = at(values_in(document) if isinstance(document, str | Text) else document, "Statement")
    items = raw if isinstance(raw, tuple) else (raw,)
    statements = tuple(Statement(item) for item in items if isinstance(item, Mapping))
    return statements if len(statements) == len(items) else None


def listed(value: Value) -> tuple[Value, ...]:
    """One value or a list, as a list; no value is the empty list."""
    if value is ABSENT or value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def values_with_places(statement: Statement) -> Iterator[tuple[tuple[str | int, ...], Value]]:
    """The texts of a statement in which IAM puts variables."""
    word = "NotResource" if statement.excludes_resources else "Resource"
    raw = at(statement.raw, word)
    for index, value in enumerate(statement.resources):
        yield (word, index) if isinstance(raw, tuple) else (word,), value
    conditions = at(statement.raw, "Condition")
    for operator, keys in conditions.items() if isinstance(conditions, Mapping) else ():
        for name, values in keys.items() if isinstance(keys, Mapping) else ():
            yield from ((("Condition", operator, name), value) for value in listed(values))
