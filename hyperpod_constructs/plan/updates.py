"""The updates of resources that both models have: their own changes, and those that follow from replacements of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hyperpod_constructs.analysis.networks import ENDPOINT, block_of
from hyperpod_constructs.facts.data_holders import POLICY_WORDS
from hyperpod_constructs.facts.schema import type_facts
from hyperpod_constructs.facts.updates import BLOCKS, HELD, MOVING, OF_ENDPOINTS, PLACES, naming
from hyperpod_constructs.plan.answered_ids import row_of_another_id
from hyperpod_constructs.plan.change import Change
from hyperpod_constructs.plan.difference import changes
from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.plan.equality import Key, Spelled, attributes_of, expression_of, leads_to, same
from hyperpod_constructs.plan.exports import ExportsInUse
from hyperpod_constructs.plan.pairs import Pair, Pairs
from hyperpod_constructs.plan.row import Row
from hyperpod_constructs.plan.table import row_of
from hyperpod_constructs.plan.verdict import (
    Verdict,
    block_taken,
    name_taken,
    of_removal,
    of_replacement,
    same_name,
    weaker_policy,
    wrong_policy,
)
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_str, shown

_TYPE_DOCS = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html"

_IN_THE_NEW_ONE = Verdict(effect=Effect.NO_INTERRUPTION, why="applies to the replacement that another change already causes")


@dataclass(frozen=True, kw_only=True, slots=True)
class Update:
    """A change of a resource with its verdict."""

    pair: Pair
    property: str
    old: Value
    new: Value
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class _Judged:
    change: Change
    row: Row
    follows: tuple[str, ...]


class Updates:
    """The changes of all resources that both models have.

    A replacement has another physical id, so every reference to it changes too, until no more resources are replaced. So do
    references to an attribute that changes with its resource.
    """

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs
        self._replaced: set[Key] = set()
        self._moved: dict[Key, str] = {}
        self._same_types = [pair for pair in pairs.common if pair.old.type == pair.new.type]

    def found(self) -> Iterator[Update]:
        """The changes, in the order of the resources."""
        judged = self._judged()
        exports = ExportsInUse(self._pairs, self._replaced)
        for pair in self._pairs.common:
            if pair.old.type != pair.new.type:
                yield _other_type(pair)
                continue
            for item in judged[pair.key]:
                verdict = self._verdict(pair, item, exports)
                path = "/".join(item.change.path)
                yield Update(pair=pair, property=path, old=item.change.old, new=item.change.new, verdict=verdict)
            yield from _policies(pair)
            yield from _existence(pair)

    def refusal(self, created: Resource) -> Verdict | None:
        """The verdict if a resource that goes still holds the name, place or block of a new one; valid after `found`."""
        identity = _identity(created)
        for gone in self._pairs.removed if identity else ():
            stays = self._pairs.in_one_stack(gone, created) or of_removal(gone).kept
            beside = gone.template.environment.is_beside(created.template.environment)
            if gone.type == created.type and stays and beside and self._have_one_name(gone, created, identity):
                return name_taken(gone)
        return self._block_taken(created)

    def _block_taken(self, created: Resource) -> Verdict | None:
        """The verdict if the block overlaps that of a subnet which leaves the same VPC only after this one is created."""
        block = block_of(created.get("CidrBlock")) if created.type in BLOCKS else None
        for old in self._pairs.old.resources(created.type) if block is not None else ():
            held = block_of(old.get("CidrBlock"))
            if held is not None and block is not None and held.overlaps(block) and self._is_in_one_vpc(old, created):
                return block_taken(old, held)
        return None

    def _is_in_one_vpc(self, old: Resource, new: Resource) -> bool:
        return self._pairs.in_one_stack(old, new) and self._have_one_name(old, new, ("VpcId",))

    def _judged(self) -> dict[Key, list[_Judged]]:
        judged = {pair.key: self._judge(pair) for pair in self._same_types}
        named = {pair.key: {self._pairs.key_of(found) for found in references(pair.new.properties)} for pair in self._same_types}
        fresh = self._newly_replaced(judged) | self._newly_moved(judged)
        while fresh:
            for pair in self._same_types:
                if named[pair.key] & fresh:
                    judged[pair.key] = self._judge(pair)
            fresh = self._newly_replaced(judged) | self._newly_moved(judged)
        return judged

    def _newly_moved(self, judged: dict[Key, list[_Judged]]) -> set[Key]:
        """The resources that stay, and have an attribute that changes."""
        found = {
            pair.key: MOVING[pair.new.type][1]
            for pair in self._same_types
            if pair.new.type in MOVING and pair.key not in self._moved
            if any(item.change.path[0] == MOVING[pair.new.type][0] for item in judged[pair.key])
        }
        self._moved |= found
        return set(found)

    def _moving(self, value: Value) -> list[str]:
        """The resources that stay, of which a value has an attribute that changes."""
        named = attributes_of(value, self._pairs.key_of) if self._moved else ()
        return [key[1] for key, attribute in named if key in self._moved and self._moved[key] == attribute]

    def _newly_replaced(self, judged: dict[Key, list[_Judged]]) -> set[Key]:
        found = {pair.key for pair in self._same_types if self._is_replaced(pair, judged[pair.key])} - self._replaced
        self._replaced |= found
        return found

    def _is_replaced(self, pair: Pair, judged: list[_Judged]) -> bool:
        return any(_replaces(item.row) for item in judged) and not self._keeps_its_name(pair)

    def _judge(self, pair: Pair) -> list[_Judged]:
        judged = []
        for change in changes(pair.old, pair.new, self._same):
            row = row_of_another_id(change, pair.old, pair.new) or row_of(change)
            follows = self._causes(change)
            if not follows or row.effect is not Effect.NO_INTERRUPTION:
                judged.append(_Judged(change, row, follows))
        return judged

    def _same(self, old: Spelled, new: Spelled) -> bool:
        stays = not leads_to(new.value, self._replaced, self._pairs.key_of) and not self._moving(new.value)
        return same(old, new, self._pairs.key_of) and stays

    def _causes(self, change: Change) -> tuple[str, ...]:
        """The replaced resources that cause the change of an unchanged expression."""
        old, new = (leads_to(value, self._replaced, self._pairs.key_of) for value in (change.old, change.new))
        return tuple(sorted(logical_id for _, logical_id in new)) if old and old == new else ()

    def _keeps_its_name(self, pair: Pair) -> bool:
        facts = type_facts(pair.new.type)
        identity = _identity(pair.new)
        if facts is None or not identity or facts.deletes_first:
            return False
        return self._have_one_name(pair.old, pair.new, identity)

    def _have_one_name(self, one: Resource, other: Resource, identity: tuple[str, ...]) -> bool:
        places = [(name, _spelled(one, name.rstrip("?")), _spelled(other, name.rstrip("?"))) for name in identity]
        return all((new.value is not ABSENT or name[-1] == "?") and self._same(old, new) for name, old, new in places)

    def _verdict(self, pair: Pair, item: _Judged, exports: ExportsInUse) -> Verdict:
        row = item.row
        moving = self._moving(item.change.new)
        because = f" (it refers to {', '.join(moving)}, which changes)" if moving else _looks_alike(item.change)
        because = f" (it refers to {', '.join(item.follows)}, which is replaced)" if item.follows else because
        verdict = Verdict(effect=row.effect, why=f"{row.reason(item.change)}{because}", avoid=row.avoid, source=row.source)
        if not _replaces(row):
            return _IN_THE_NEW_ONE if self._is_made_anew(pair, exports) else verdict
        if self._keeps_its_name(pair):
            return same_name(row, [name.rstrip("?") for name in _identity(pair.new)])
        refused = exports.refusal(pair) or self._block_taken(pair.new)
        if refused is not None:
            return refused
        return of_replacement(verdict, pair.old, pair.new)

    def _is_made_anew(self, pair: Pair, exports: ExportsInUse) -> bool:
        return pair.key in self._replaced and exports.refusal(pair) is None


def _identity(resource: Resource) -> tuple[str, ...]:
    """The properties whose values only one resource of its type has at a time; one with `?` may be left out."""
    if resource.type == ENDPOINT:
        kind = as_str(resource.get("VpcEndpointType")) or "Gateway"
        return OF_ENDPOINTS.get(kind, ()) if kind == "Gateway" or as_bool(resource.get("PrivateDnsEnabled")) else ()
    return PLACES.get(resource.type) or HELD.get(resource.type) or naming(resource.type)


def _spelled(resource: Resource, path: str) -> Spelled:
    """A property with its spelling, so that one that is partly unknown is compared too; `A>B` is B of the resource that A names."""
    path, _, inner = path.partition(">")
    found = Spelled(resource.properties, resource.raw.get("Properties", {}), resource.template)
    for key in path.split("/"):
        found = found.at(key)
    named = resource_of(found.value) if inner else None
    return found if named is None else _spelled(named, inner)


def _looks_alike(change: Change) -> str:
    """A hint for a change whose values look the same."""
    alike = shown(change.old) == shown(change.new)
    return " (the value looks the same, but a parameter, condition or mapping behind it changed)" if alike else ""


def _replaces(row: Row) -> bool:
    return row.effect is Effect.REPLACE and not row.part


def _other_type(pair: Pair) -> Update:
    verdict = Verdict(
        effect=Effect.REFUSED,
        why="CloudFormation does not change the type of a resource",
        avoid="give the new resource another logical id",
        source=_TYPE_DOCS,
    )
    return Update(pair=pair, property="Type", old=pair.old.type, new=pair.new.type, verdict=verdict)


def _existence(pair: Pair) -> Iterator[Update]:
    """A resource under a new, unknown condition, which may remove it."""
    before, after = pair.old.condition, pair.new.condition
    if after is None or pair.new.exists is True:
        return
    if before is not None and expression_of(pair.old.template, before) == expression_of(pair.new.template, after):
        return
    gone = of_removal(pair.old)
    why = f"whether condition {after} holds is unknown here; if it is false, the resource goes: {gone.why}"
    verdict = replace(gone, why=why, kept=False)
    yield Update(pair=pair, property="Condition", old=ABSENT if before is None else before, new=after, verdict=verdict)


def _policies(pair: Pair) -> Iterator[Update]:
    for name in POLICY_WORDS:
        old, new = pair.old.policy(name), pair.new.policy(name)
        verdict = (wrong_policy(pair.new, name) if shown(old) != shown(new) else None) or weaker_policy(pair.old, pair.new, name)
        if verdict is not None:
            yield Update(pair=pair, property=name, old=old, new=new, verdict=verdict)
