"""Identities of service accounts: the issuer of the Kubernetes cluster, and the trust of the roles of pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.addons import Addon, addons
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.policy_document import Statement, statements_of
from hyperpod_constructs.analysis.texts.reading import HOLE, from_json, known
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.globs import glob
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Text, Value, as_items, as_str, at

_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_AUDIENCE, _ACTION = "sts.amazonaws.com", "sts:AssumeRoleWithWebIdentity"


@error(
    "HP-WID-001",
    on="AWS::IAM::OIDCProvider",
    at=("ClientIdList",),
    title="the provider of a Kubernetes cluster is for STS",
    why="STS refuses the tokens of the pods (InvalidIdentityToken: incorrect token audience)",
    fix=f"write {_AUDIENCE} in ClientIdList",
    allowed=_AUDIENCE,
    source=f"{_EKS_GUIDE}enable-iam-roles-for-service-accounts.html",
)
def providers_are_for_sts(provider: Resource) -> str | None:
    audiences = [as_str(one) for one in as_items(provider.get("ClientIdList")) or ()]
    if resource_of(provider.get("Url"), "AWS::EKS::Cluster") is None or None in audiences or _AUDIENCE in audiences:
        return None
    return f"the tokens of pods are for {_AUDIENCE}, and not for {enumerated(one for one in audiences if one)}"


def _statements(role: Resource) -> Iterator[Statement]:
    """The statements of the trust of a role, of a text in JSON too."""
    document = role.get("AssumeRolePolicyDocument")
    found = from_json(document) if isinstance(document, str | Text) else document
    yield from statements_of(found) or () if isinstance(found, Mapping) else ()


@error(
    "HP-WID-002",
    on=ROLE,
    at=("AssumeRolePolicyDocument",),
    title="a web identity takes a role by sts:AssumeRoleWithWebIdentity",
    why="STS refuses the pods: nobody may take the role by a token",
    fix=f"write {_ACTION} in the statement for the provider",
    allowed=_ACTION,
    source=f"{_EKS_GUIDE}associate-service-account-role.html",
)
def web_identities_have_their_action(role: Resource) -> str | None:
    for one in _statements(role):
        principal = at(one.raw, "Principal", "Federated")
        claims = any(key.endswith((":aud", ":sub")) for key, _ in _claims(one))
        oidc = principal is not ABSENT and (_names_provider(principal) or claims)
        if oidc and one.effect == "Allow" and one.speaks_of(_ACTION) is False:
            return f"the statement for a web identity allows {enumerated(map(str, one.actions))}"
    return None


def _names_provider(value: Value) -> bool:
    text = value if isinstance(value, str) else ""
    return ":oidc-provider/" in text or resource_of(value, "AWS::IAM::OIDCProvider") is not None


def _claims(statement: Statement) -> Iterator[tuple[str, Value]]:
    """The keys of its conditions, with their values."""
    conditions = at(statement.raw, "Condition")
    for keys in conditions.values() if isinstance(conditions, Mapping) else ():
        yield from keys.items() if isinstance(keys, Mapping) else ()


@warning(
    "HP-WID-003",
    on=addons,
    title="the role of an add-on is for the service account of its pods",
    why="the pods get no credentials, and each of their calls is refused",
    fix="write the namespace and the service account of the add-on's pods",
    allowed="system:serviceaccount:NAMESPACE:ACCOUNT of the add-on",
    source=f"{_EKS_GUIDE}add-ons-iam.html",
)
def roles_are_for_the_accounts_of_addons(addon: Addon) -> Iterator[Hit]:
    accounts = [f"system:serviceaccount:{one.namespace}:{one.service_account}" for one, _ in addon.identities]
    role = resource_of(addon.resource.get("ServiceAccountRoleArn"), ROLE)
    subjects = [one for statement in (_statements(role) if role else ()) for one in _subjects(statement)]
    if role is not None and _is_of_services_alone(role):
        text = f"{role.logical_id} trusts no provider of web identities, and the pods of {addon.name} take it by a token"
        yield hit(role, text, "AssumeRolePolicyDocument", covers=(addon.resource,))
    elif role is not None and accounts and subjects and not any(_fits(one, accounts) for one in subjects):
        text = f"{role.logical_id} is for {enumerated(subjects)}, and the pods of {addon.name} are {enumerated(accounts)}"
        yield hit(role, text, "AssumeRolePolicyDocument", covers=(addon.resource,))
    names = [one.service_account for one, _ in addon.identities]
    for index, one in enumerate(as_items(addon.resource.get("PodIdentityAssociations")) or ()):
        name = known(at(one, "ServiceAccount"))
        if name and names and name not in names:
            text = f"{addon.name} has no service account {name}"
            yield hit(addon.resource, text, "PodIdentityAssociations", index, "ServiceAccount", allowed=enumerated(names))


def _is_of_services_alone(role: Resource) -> bool:
    """Whether only services may surely take a role."""
    principals = [at(one.raw, "Principal") for one in _statements(role)]
    return bool(principals) and all(isinstance(one, Mapping) and list(one) == ["Service"] for one in principals)


def _subjects(statement: Statement) -> Iterator[str]:
    for key, value in _claims(statement):
        if key.endswith(":sub"):
            yield from (one for one in map(as_str, value if isinstance(value, tuple) else (value,)) if one and HOLE not in one)


def _fits(subject: str, accounts: list[str]) -> bool:
    return any(glob(subject, one) for one in accounts)


@warning(
    "HP-WID-004",
    on=ROLE,
    at=("AssumeRolePolicyDocument",),
    title="a role for web identities says whose",
    why="every token of the provider takes the role: any pod of the cluster, or any repository of the world",
    fix="add a condition on the subject: PROVIDER:sub",
    allowed="a condition on the subject, or on another claim than the audience",
    source="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_create_for-idp_oidc.html",
)
def web_identities_are_told_apart(role: Resource) -> str | None:
    for one in _statements(role):
        principal = at(one.raw, "Principal", "Federated")
        claims = [key for key, _ in _claims(one) if not key.endswith((":aud", ":iss"))]
        open_ = not claims and _are_known(at(one.raw, "Condition"))
        if principal is not ABSENT and _names_provider(principal) and one.effect == "Allow" and open_:
            return f"every identity of the provider may take {role.logical_id}"
    return None


def _are_known(conditions: Value) -> bool:
    """Whether all keys of conditions are known."""
    return conditions is ABSENT or (
        isinstance(conditions, Mapping) and all(isinstance(keys, Mapping) for keys in conditions.values())
    )
