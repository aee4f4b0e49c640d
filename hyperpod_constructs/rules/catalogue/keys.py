"""Keys: their policies can be changed and let the services in that use them, and keys in use are enabled."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.contexts import OF_SERVICE
from hyperpod_constructs.analysis.policy_document import Call, layer_of
from hyperpod_constructs.analysis.resource_policies import KEY
from hyperpod_constructs.facts.policies import KEY_USERS, KeyUser
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import error
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, Value, as_bool, leaves

_KMS = "https://docs.aws.amazon.com/kms/latest/developerguide/"
_CHANGE = "kms:PutKeyPolicy"
_HOLDERS = ("AWS::KMS::Alias", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy", "AWS::IAM::Role", "AWS::IAM::RolePolicy")


@error(
    "HP-KEY-001",
    on=KEY,
    at=("KeyPolicy",),
    title="somebody may change the policy of a key",
    why='KMS refuses it: "The new key policy will not allow you to update the key policy in the future"',
    fix=f"allow the account's root kms:*, or an administrator {_CHANGE}",
    allowed=f"{_CHANGE} for a principal of the account",
    source=f"{_KMS}key-policy-default.html",
)
def key_policies_can_be_changed(key: Resource) -> str | None:
    policy = key.get("KeyPolicy")
    if policy is ABSENT or as_bool(key.get("BypassPolicyLockoutSafetyCheck")) is True:
        return None
    layer, call = layer_of(policy), Call(_CHANGE)
    allowing = (one for one in layer.statements if one.effect != "Deny" and one.principals("AWS") != ())
    allowed = any_of(one.applies(call) for one in allowing)
    return f"nobody may change the policy of {key.logical_id} any more" if layer.complete and allowed is False else None


@error(
    "HP-KEY-002",
    title="the policy of a key lets the services in that use it as themselves",
    why="the service refuses the key, because its calls are refused: the permissions of roles do not count for it",
    fix="allow the service the missing actions in the key's policy; logs.REGION.amazonaws.com with a condition on the log groups",
    allowed="a statement of the key's policy for the service",
    source="https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html",
)
def keys_are_open_for_services(model: Model) -> Iterator[Hit]:
    for type_, use in KEY_USERS.items():
        for resource in model.resources(type_):
            key = resource_of(resource.get(use.key), KEY)
            lacking = [] if key is None else _lacking(key, use)
            if key is not None and lacking:
                text = f"the policy of {key.logical_id} does not let {use.service} use {', '.join(lacking)}"
                yield hit(resource, text, use.key)


def _lacking(key: Resource, use: KeyUser) -> list[str]:
    """The actions that the policy of a key surely does not allow a service; the default policy allows it none."""
    layer = layer_of(key.get("KeyPolicy"))
    known = layer.complete or key.get("KeyPolicy") is ABSENT
    context = {one: value for one, value in OF_SERVICE.items() if one != "sts:externalid"}
    return [
        action
        for action in use.actions
        if known
        and any_of(
            all_of((one.names_service(use.service), one.applies(Call(action, None, context))))
            for one in layer.statements
            if one.effect != "Deny"
        )
        is False
    ]


def _disabled(model: Model) -> list[Resource]:
    return [key for key in model.resources(KEY) if as_bool(key.get("Enabled")) is False]


@error(
    "HP-KEY-003",
    title="keys in use are enabled",
    why="AWS refuses to encrypt and to decrypt with a disabled key (KMS.DisabledException)",
    fix="leave Enabled out, or set it to true",
    allowed="Enabled true",
    source=f"{_KMS}enabling-keys.html",
)
def keys_in_use_are_enabled(model: Model) -> Iterator[Hit]:
    disabled = _disabled(model)
    for key in disabled:
        users = [one for one in model.resources() if one is not key and one.type not in _HOLDERS and _names(one, key)]
        if users:
            text = f"{key.logical_id} is disabled, and {', '.join(one.logical_id for one in users)} use it"
            yield hit(key, text, "Enabled")


def _names(resource: Resource, key: Resource) -> bool:
    return any(one.resource is key for value in leaves(resource.properties) for one in _references(value))


def _references(value: Value) -> tuple[Reference, ...]:
    return value.references if isinstance(value, Text) else (value,) if isinstance(value, Reference) else ()
