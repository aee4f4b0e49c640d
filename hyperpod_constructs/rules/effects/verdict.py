"""What one change comes to, with the policies, names and data of its resource."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hyperpod_constructs.rules.effects.effect import Effect, Row
from hyperpod_constructs.rules.effects.schema import type_facts
from hyperpod_constructs.rules.effects.stateful import KEEPING, SERVING, STATEFUL
from hyperpod_constructs.rules.template.documents import NESTED_STACK
from hyperpod_constructs.rules.template.model import Resource
from hyperpod_constructs.rules.template.values import as_str

_POLICIES = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html"
_NAMES = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html"


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """An effect with its reason, what to do instead, and where it is written down; `kept`: the old resource goes on to exist."""

    effect: Effect
    why: str
    avoid: str = ""
    source: str = ""
    kept: bool = False


def of_replacement(verdict: Verdict, old: Resource, new: Resource) -> Verdict:
    """What the replacement of a resource comes to: data can be lost, or the old one can be kept."""
    policy = as_str(new.update_replace_policy)
    if policy in KEEPING:
        return replace(
            verdict, why=f"{verdict.why}; the old one is kept, out of the stack, with what it holds and costs", kept=True
        )
    lost, survives = _lost(old, policy)
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
    """What it comes to that a resource is no longer in the template."""
    policy = as_str(old.deletion_policy)
    if policy in KEEPING:
        return Verdict(
            effect=Effect.NO_INTERRUPTION,
            why="leaves the stack, and stays in the account with what it holds and costs (DeletionPolicy)",
            source=_POLICIES,
            kept=True,
        )
    lost, survives = _lost(old, policy)
    if survives is not None:
        return Verdict(effect=Effect.NO_INTERRUPTION, why=survives, source=_POLICIES, kept=True)
    if lost is not None:
        return Verdict(effect=Effect.DATA_LOSS, why=f"is deleted: {lost}", avoid=_avoided("", "DeletionPolicy"), source=_POLICIES)
    if old.type == NESTED_STACK:
        if old.nested is not None:
            return Verdict(effect=Effect.NO_INTERRUPTION, why="is deleted, with what is in it")
        return Verdict(
            effect=Effect.REPLACE,
            why="is deleted with everything in it; what that is cannot be known here, because its template is not given",
            avoid="give its template too, or an assembly that holds it",
        )
    serving = SERVING.get(old.type)
    if serving is not None:
        return Verdict(effect=Effect.REPLACE, why=f"is deleted: {serving}")
    holds = "it holds no data" if _is_ours(old.type) else f"whether a resource of type {old.type} holds data is not known here"
    return Verdict(effect=Effect.NO_INTERRUPTION, why=f"is deleted; {holds}")


def _is_ours(resource_type: str) -> bool:
    """Whether this library makes resources of a type: what each of them holds is written down."""
    facts = type_facts(resource_type)
    return resource_type.startswith("Custom::HyperPod") or (facts is not None and bool(facts.properties))


def same_name(row: Row) -> Verdict:
    """A replacement that CloudFormation cannot make, because two resources would have one name."""
    return Verdict(
        effect=Effect.REFUSED,
        why="a new resource would have to take its place, but it has a name of its own, which two cannot have at a time",
        avoid=f"change the name too, or leave the name to CloudFormation; {row.avoid}".removesuffix("; "),
        source=_NAMES,
    )


def name_taken(by: Resource) -> Verdict:
    """A new resource that cannot be made, because one that leaves the template has its name."""
    return Verdict(
        effect=Effect.REFUSED,
        why=f"{by.logical_id}, which leaves its template, has the same name or place, and still has it when this one is made",
        avoid="keep the logical id (override_logical_id), move it with `cdk refactor`, or give the new one another name or place",
        source=_NAMES,
    )


def weaker_policy(old: Resource, new: Resource, name: str) -> Verdict | None:
    """A resource that holds data and is no longer kept by a policy: nothing happens now, but the next mistake loses it."""
    before, after = _policy(old, name), _policy(new, name)
    if new.type not in STATEFUL or before not in KEEPING or after in KEEPING:
        return None
    occasion = "its removal" if name == "DeletionPolicy" else "its replacement"
    return Verdict(
        effect=Effect.NO_INTERRUPTION,
        why=f"nothing now; from then on {occasion} deletes what it holds",
        avoid=f"keep {name}: Retain",
        source=_POLICIES,
    )


def _policy(resource: Resource, name: str) -> str | None:
    return as_str(resource.deletion_policy if name == "DeletionPolicy" else resource.update_replace_policy)


def _lost(resource: Resource, policy: str | None) -> tuple[str | None, str | None]:
    """What is lost when a resource is deleted, or why its data survives; neither of what holds none."""
    stateful = STATEFUL.get(resource.type)
    if stateful is None:
        return None, None
    survives = stateful.survives(resource)
    if survives is not None:
        return None, survives
    if stateful.snapshot and (policy == "Snapshot" or (policy is None and stateful.snapshot_by_default)):
        return None, "a last snapshot keeps its data"
    return stateful.lost(resource), None


def _avoided(avoid: str, policy: str) -> str:
    hint = f"set {policy}: Retain (in the CDK: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE), and deploy that first"
    return f"{avoid}; or {hint}" if avoid else hint
