"""Keys: their policies can be changed and let the services in that use them, and keys in use are enabled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.answers import any_of
from hyperpod_constructs.analysis.condition_words import idle_conditions
from hyperpod_constructs.analysis.documents import written
from hyperpod_constructs.analysis.guests import guests
from hyperpod_constructs.analysis.policy_document import Call, Statement, layer_of, listed
from hyperpod_constructs.analysis.resource_policies import KEY
from hyperpod_constructs.analysis.service_keys import KeyUse, key_uses
from hyperpod_constructs.analysis.texts.reading import spelled
from hyperpod_constructs.analysis.unfit_keys import UnfitKey, unfit_keys
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, as_bool, as_str, at, leaves, shown

_KMS = "https://docs.aws.amazon.com/kms/latest/developerguide/"
_CHANGE = "kms:PutKeyPolicy"
_ROLE = "AWS::IAM::Role"
_DEPLOYERS = ("cloudformation", "codebuild", "codepipeline", "ec2", "ecs-tasks", "lambda", "ssm", "states")
"""Services whose roles may deploy stacks."""
_HOLDERS = ("AWS::KMS::Alias", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy", "AWS::IAM::Role", "AWS::IAM::RolePolicy")


@error(
    "HP-KEY-001",
    on=KEY,
    title="somebody may change the policy of a key",
    why='KMS refuses it: "The new key policy will not allow you to update the key policy in the future"',
    fix=f"allow the account's root kms:*, or an administrator {_CHANGE}",
    allowed=f"{_CHANGE} for a principal of the account",
    source=f"{_KMS}key-policy-default.html",
)
def key_policies_can_be_changed(key: Resource) -> Iterator[Hit]:
    policy, path = key.get("KeyPolicy"), ("KeyPolicy",)
    if policy is ABSENT or as_bool(key.get("BypassPolicyLockoutSafetyCheck")) is True:
        return
    layer, call = layer_of(policy), Call(_CHANGE, None, {"kms:viaservice": ABSENT})
    allowing = (one for one in layer.statements if one.effect != "Deny" and _is_for_somebody(one, key))
    allowed = any_of(one.applies(call) for one in allowing)
    if layer.complete and allowed is False:
        yield Hit(key, path, f"nobody may change the policy of {key.logical_id} any more", doubts=((key, path),))


@error(
    "HP-KEY-002",
    title="the policy of a key lets the services in that use it as themselves",
    why="the service refuses the key, because its calls are refused: the permissions of roles do not count for it",
    fix="allow the service the missing actions in the key's policy; logs.REGION.amazonaws.com with a condition on the log groups",
    allowed="a statement of the key's policy for the service",
    source="https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html",
    silences=("HP-POL-002", "HP-POL-006"),
)
def keys_are_open_for_services(model: Model) -> Iterator[Hit]:
    return _closed(model, at_once=True)


def _is_for_somebody(statement: Statement, key: Resource) -> bool:
    """Whether a statement may be for whoever makes the key: roles that come with it for services alone are not."""
    principals = statement.principals("AWS")
    return principals is None or any(not _serves_only(resource_of(one, _ROLE), key) for one in principals)


def _serves_only(role: Resource | None, key: Resource) -> bool:
    """Whether a role of the key's template is surely for services alone that deploy no stacks."""
    trust = None if role is None or role.template is not key.template else layer_of(role.get("AssumeRolePolicyDocument"))
    allowing = [one for one in trust.statements if one.effect != "Deny"] if trust is not None and trust.complete else []
    principals = [at(one.raw, "Principal") for one in allowing]
    services = [as_str(name) for one in principals for name in listed(at(one, "Service"))]
    only = all(isinstance(one, Mapping) and set(one) == {"Service"} for one in principals)
    return bool(services) and only and all(one is not None and one.split(".")[0] not in _DEPLOYERS for one in services)


def _closed(model: Model, *, at_once: bool) -> Iterator[Hit]:
    """One hit for the users of a key that its policy does not let in; what is tried at once counts more."""
    lacking = [one for one in key_uses(model) if one.lacking]
    for key, found in grouped((one.key, one) for one in lacking).items():
        if key is not None and any(one.at_once for one in found) is at_once:
            first, *others = found
            texts = grouped((_words(one), one.resource.logical_id) for one in found)
            text = "; ".join(f"{words} for {enumerated(names)}" for words, names in texts.items())
            idle = next(_idle_conditions(key), None)
            path = idle or (("KeyPolicy",) if _lets_nobody_in(key, found) else None)
            place, path = (first.resource, first.path) if path is None else (key, path)
            covers = (key, *(one.resource for one in others))
            # Beside other keys, this may be the wrong one.
            doubts = (where for one in found for where in one.chosen if len(model.resources(KEY)) > 1)
            yield hit(place, f"the policy of {key.logical_id} does not let {text}", *path, covers=covers, doubts=doubts)


def _lets_nobody_in(key: Resource, lacking: Sequence[KeyUse]) -> bool:
    """Whether a key has a statement for a service or its role, and no resource for which the service can use it."""
    services = {name for one in lacking for name in one.lacking}
    others = [one for one in key_uses(key.template.model) if one.key is key and services & set(one.services) and not one.lacking]
    named = any(_is_meant_for(statement, one) for statement in layer_of(key.get("KeyPolicy")).statements for one in services)
    return named and not others


def _is_meant_for(statement: Statement, service: str) -> bool:
    """Whether a statement names a service, or has the role of one among its principals or in its conditions."""
    if "." in service:
        return statement.names_service(service) is True
    texts = (leaf for key in ("Principal", "Condition") for leaf in leaves(at(statement.raw, key)))
    return any(service in (spelled(leaf) or "") for leaf in texts)


def _idle_conditions(key: Resource) -> Iterator[tuple[str | int, ...]]:
    """The places of the conditions in the policy of a key that never hold."""
    for one in written(key.template.model):
        for _, place in idle_conditions(one.statement) if one.resource is key else ():
            yield (*one.path, *place)


def _words(use: KeyUse) -> str:
    """What a policy does not let services do, in words."""
    return " nor ".join(f"{_named(name, use)} use {', '.join(actions)}" for name, actions in use.lacking.items())


def _named(service: str, use: KeyUse) -> str:
    return f"{service}, whose calls for it name no source," if use.is_limited_to_a_source(service) else service


@warning(
    "HP-KEY-004",
    title="the key of a topic, a queue or a bucket is open for the services that send there, and for whom the bucket lets in",
    why="it deploys, and every message is refused: the sender cannot encrypt it",
    fix="take a key of your own, and allow the service kms:Decrypt and kms:GenerateDataKey* in its policy",
    allowed="a key of your own whose policy names the sending services",
    source="https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html",
    silences=("HP-POL-002", "HP-POL-006"),
)
def keys_are_open_for_senders(model: Model) -> Iterator[Hit]:
    for one in key_uses(model):
        if one.key is None:
            text = f"{enumerated(one.services)} cannot use the key that AWS manages for {one.resource.logical_id}"
            yield hit(one.resource, text, *one.path)
    yield from _closed(model, at_once=False)
    for guest in guests(model):
        may = f"{shown(guest.principal)} {guest.does} in {guest.bucket.logical_id}"
        yield hit(guest.key, f"the policies let {may}, and not {', '.join(guest.lacking)} with its key", "KeyPolicy")


@error(
    "HP-KEY-003",
    title="keys in use are enabled",
    why="AWS refuses to encrypt and to decrypt with a disabled key (KMS.DisabledException)",
    fix="leave Enabled out, or set it to true",
    allowed="Enabled true",
    source=f"{_KMS}enabling-keys.html",
)
def keys_in_use_are_enabled(model: Model) -> Iterator[Hit]:
    for key in (one for one in model.resources(KEY) if as_bool(one.get("Enabled")) is False):
        users = [one for one in model.resources() if one is not key and one.type not in _HOLDERS and _uses(one, key)]
        if users:
            text = f"{key.logical_id} is disabled, and {', '.join(one.logical_id for one in users)} use it"
            yield hit(key, text, "Enabled")


def _uses(resource: Resource, key: Resource) -> bool:
    """Whether a resource surely names a key."""
    named = (one.references if isinstance(one, Text) else (one,) for one in leaves(resource.properties))
    return any(isinstance(one, Reference) and one.resource is key for some in named for one in some)


@error(
    "HP-KEY-005",
    title="resources are encrypted with keys that their service can use",
    why="the service refuses the key, and the stack rolls back",
    fix="take a symmetric key of your own, or leave the key out for the one that AWS manages",
    allowed="a symmetric key, or the one that AWS manages for the service",
    source=f"{_KMS}symm-asymm-choose-key-spec.html",
    silences=("HP-KEY-002", "HP-KEY-004"),
)
def keys_are_fit(model: Model) -> Iterator[Hit]:
    """One hit for an asymmetric key: on its only user beside another key, or on the key."""
    for key, found in grouped((one.key, one) for one in unfit_keys(model)).items():
        first, *others = found
        if key is None:
            yield from (hit(one.resource, one.words, *one.path) for one in found)
        elif not others and len(model.resources(KEY)) > 1:
            yield hit(first.resource, first.words, *first.path, covers=(key,))
        else:
            text = f"{key.logical_id} is a key of {as_str(key.get('KeySpec'))}, and {_users(found)} with symmetric ones"
            yield hit(key, text, "KeySpec", covers=tuple(one.resource for one in found))


def _users(found: Sequence[UnfitKey]) -> str:
    names = list(dict.fromkeys(one.resource.logical_id for one in found))
    return f"{enumerated(names)} encrypt{'s' if len(names) == 1 else ''}"
