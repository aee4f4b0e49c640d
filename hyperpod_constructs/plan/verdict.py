"""The verdict on one change: its effect, once policies, names and data of the resource count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from hyperpod_constructs.facts.data_holders import DATA_HOLDERS, KEEPING_POLICIES, POLICY_WORDS
from hyperpod_constructs.facts.schema import type_facts
from hyperpod_constructs.plan import stateful
from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.plan.row import Row
from hyperpod_constructs.templates.documents import NESTED_STACK
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_str

_POLICIES = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html"
_SUBNETS = "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html"
_NAMES = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html"


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The judgement of one change.

    :param effect: the effect of the change.
    :param why: the reason, for the user.
    :param avoid: the alternative; empty by default.
    :param source: the address of the documentation; empty by default.
    :param kept: whether the old resource stays in the account, outside the stack.
    """

    effect: Effect
    why: str
    avoid: str = ""
    source: str = ""
    kept: bool = False


_IN_TWO_STEPS = "keep the old value, or take the resource away in one deployment and add it in the next"

_harmless = partial(Verdict, effect=Effect.NO_INTERRUPTION)
_refused = partial(Verdict, effect=Effect.REFUSED, source=_NAMES)


def of_replacement(verdict: Verdict, old: Resource, new: Resource) -> Verdict:
    """The verdict on a replacement: it can lose data, or keep the old resource."""
    policy = as_str(new.update_replace_policy)
    if policy in KEEPING_POLICIES:
        return replace(
            verdict,
            why=f"{verdict.why}; the old resource stays in the account, outside the stack, with its data and its cost",
            kept=True,
        )
    lost, survives = _lost(old, policy or "Delete")
    if survives is not None:
        return replace(verdict, why=f"{verdict.why}; {survives}")
    if lost is None:
        return verdict
    return Verdict(
        effect=Effect.DATA_LOSS,
        why=f"{verdict.why}, and the old one is deleted: {lost}",
        avoid=_avoided(verdict.avoid, "UpdateReplacePolicy"),
        source=verdict.source or _POLICIES,
    )


def of_removal(old: Resource) -> Verdict:
    """The verdict on the removal of a resource from its template."""
    policy = as_str(old.deletion_policy)
    if policy in KEEPING_POLICIES:
        why = "leaves the stack and stays in the account, with its data and its cost (DeletionPolicy)"
        return _harmless(why=why, source=_POLICIES, kept=True)
    lost, survives = _lost(old, policy)
    if survives is not None:
        return _harmless(why=survives, source=_POLICIES, kept=True)
    if lost is not None:
        return Verdict(effect=Effect.DATA_LOSS, why=f"is deleted: {lost}", avoid=_avoided("", "DeletionPolicy"), source=_POLICIES)
    if old.type == NESTED_STACK:
        if old.nested is not None:
            return _harmless(why="is deleted with its resources")
        return Verdict(
            effect=Effect.REPLACE,
            why="is deleted with all its resources; they are unknown here, because its template is not given",
            avoid="give its template too, or an assembly that holds it",
        )
    serving = stateful.SERVING.get(old.type)
    if serving is not None:
        return Verdict(effect=Effect.REPLACE, why=f"is deleted: {serving}")
    holds = "it holds no data" if _is_ours(old.type) else f"whether a resource of type {old.type} holds data is unknown here"
    return _harmless(why=f"is deleted; {holds}")


def _is_ours(resource_type: str) -> bool:
    """Whether this library creates the type, so that its data is known."""
    facts = type_facts(resource_type)
    return resource_type.startswith("Custom::HyperPod") or (facts is not None and bool(facts.properties))


def same_name(row: Row, names: Sequence[str]) -> Verdict:
    """A replacement that fails, because the old resource still holds the name.

    :param names: the properties that name it: its own name, or its place in a cluster, which nobody wants to change.
    """
    free = len(names) == 1 and names[0].endswith("Name")
    other = "change the name too, or leave the name to CloudFormation" if free else _IN_TWO_STEPS
    holds = "the name" if free else " and ".join(names)
    return _refused(
        why=f"the update needs a new resource, but the old one still holds {holds}",
        avoid=f"{other}; {row.avoid}".removesuffix("; "),
    )


def name_taken(by: Resource) -> Verdict:
    """A creation that fails, because a removed resource still holds the name."""
    return _refused(
        why=f"{by.logical_id} leaves the template, but still holds the same name or place when this resource is created",
        avoid="keep the logical id (override_logical_id), move it with `cdk refactor`, or give the new one another name or place",
    )


def block_taken(by: Resource, block: object) -> Verdict:
    """A creation that fails, because another subnet of the VPC holds a part of the block until the update is done."""
    return _refused(
        why=f"the new block overlaps {block} of {by.logical_id}, which is deleted only after this resource is created",
        avoid="take a block that no subnet of the VPC had before",
        source=_SUBNETS,
    )


def wrong_policy(new: Resource, name: str) -> Verdict | None:
    """A verdict if a policy has a word that CloudFormation does not take there, or a snapshot of a type that has none."""
    policy = as_str(new.policy(name))
    holder = DATA_HOLDERS.get(new.type)
    without = policy == "Snapshot" and holder is not None and not holder.snapshot
    if policy is None or (policy in POLICY_WORDS[name] and not without):
        return None
    words = [word for word in POLICY_WORDS[name] if not (without and word == policy)]
    return _refused(
        why=f"{name} of {new.type} does not take the word {policy}: CloudFormation refuses the template",
        avoid=f"write one of {', '.join(words)}",
        source=_POLICIES,
    )


def weaker_policy(old: Resource, new: Resource, name: str) -> Verdict | None:
    """A verdict if no policy keeps the data any longer: nothing happens now, but the next mistake loses it."""
    before, after = as_str(old.policy(name)), as_str(new.policy(name))
    if new.type not in DATA_HOLDERS or before not in KEEPING_POLICIES or after in KEEPING_POLICIES:
        return None
    occasion = "its removal" if name == "DeletionPolicy" else "its replacement"
    why = f"nothing happens now; from then on, {occasion} deletes its data"
    return _harmless(why=why, avoid=f"keep {name}: Retain", source=_POLICIES)


def _lost(resource: Resource, policy: str | None) -> tuple[str | None, str | None]:
    """The data that a deletion loses, and the reason why the data survives; at most one of the two."""
    holder = DATA_HOLDERS.get(resource.type)
    if holder is None:
        return None, None
    survives = stateful.survives(resource)
    if survives is not None:
        return None, survives
    if holder.snapshot and (policy == "Snapshot" or (policy is None and holder.snapshot_by_default)):
        return None, "a last snapshot keeps its data"
    return stateful.lost(resource), None


def _avoided(avoid: str, policy: str) -> str:
    hint = f"set {policy}: Retain (in the CDK: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE), and deploy that first"
    return f"{avoid}; or {hint}" if avoid else hint
