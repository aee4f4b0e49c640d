"""Identities of service accounts: the issuer of the Kubernetes cluster, and the trust of the roles of pods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.addons import Addon, addons
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.policy_document import Statement, listed, statements_of
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.facts.addons import AUDIENCE, SUBJECT, subjects
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.globs import glob
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_items, as_str, at

_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_ACTION = "sts:AssumeRoleWithWebIdentity"
_PROVIDER, _CLUSTER = "AWS::IAM::OIDCProvider", "AWS::EKS::Cluster"
_WILD = re.compile(r"[*?]")
_OF_POD = re.compile(rf"{SUBJECT}[a-z0-9-]+:[a-z0-9.-]+")


@error(
    "HP-WID-001",
    on=_PROVIDER,
    at=("ClientIdList",),
    title="the provider of a Kubernetes cluster is for STS",
    why="STS refuses the tokens of the pods (InvalidIdentityToken: incorrect token audience)",
    fix=f"write {AUDIENCE} in ClientIdList",
    allowed=AUDIENCE,
    source=f"{_EKS_GUIDE}enable-iam-roles-for-service-accounts.html",
)
def providers_are_for_sts(provider: Resource) -> str | None:
    audiences = [as_str(one) for one in as_items(provider.get("ClientIdList")) or ()]
    if resource_of(provider.get("Url"), _CLUSTER) is None or None in audiences or AUDIENCE in audiences:
        return None
    return f"the tokens of pods are for {AUDIENCE}, and not for {enumerated(one for one in audiences if one)}"


def _statements(role: Resource) -> Iterator[Statement]:
    """The statements of the trust of a role, of a text in JSON too."""
    yield from statements_of(role.get("AssumeRolePolicyDocument")) or ()


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
    return ":oidc-provider/" in text or resource_of(value, _PROVIDER) is not None


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
    accounts = subjects(addon.name)
    role = resource_of(addon.resource.get("ServiceAccountRoleArn"), ROLE)
    trusted = [one for statement in (_statements(role) if role else ()) for one in _subjects(statement)]
    if role is not None and _is_of_services_alone(role):
        text = f"{role.logical_id} trusts no provider of web identities, and the pods of {addon.name} take it by a token"
        yield hit(role, text, "AssumeRolePolicyDocument", covers=(addon.resource,))
    elif role is not None and accounts and trusted and not any(_fits(one, accounts) for one in trusted):
        text = f"{role.logical_id} is for {enumerated(trusted)}, and the pods of {addon.name} are {enumerated(accounts)}"
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
            yield from (one for one in map(as_str, listed(value)) if one and one.startswith(SUBJECT))


def _fits(subject: str, accounts: Sequence[str]) -> bool:
    return any(glob(subject, one) for one in accounts)


@error(
    "HP-WID-005",
    on=ROLE,
    at=("AssumeRolePolicyDocument",),
    title="the trust of a role of pods is for what their tokens say",
    why=f"the condition never holds, and STS refuses the pods (Not authorized to perform {_ACTION})",
    fix=f"write {AUDIENCE} for PROVIDER:aud, and {SUBJECT}NAMESPACE:ACCOUNT for PROVIDER:sub",
    allowed=f"{AUDIENCE}; {SUBJECT}NAMESPACE:ACCOUNT",
    source=f"{_EKS_GUIDE}associate-service-account-role.html",
)
def trust_is_for_tokens_of_pods(role: Resource) -> str | None:
    for one in _statements(role):
        for key, value in _claims(one) if one.effect == "Allow" and _is_of_pods(one) else ():
            texts = [text for text in map(as_str, listed(value)) if text is not None]
            is_right = {"aud": _is_audience, "sub": _is_subject}.get(key.rpartition(":")[2])
            if is_right is not None and len(texts) == len(listed(value)) and not any(map(is_right, texts)):
                return f"no token of a pod has {enumerated(texts)} as its {key.rpartition(':')[2]}"
    return None


def _is_of_pods(statement: Statement) -> bool:
    """Whether a statement is surely for the provider of a Kubernetes cluster of EKS."""
    principal = at(statement.raw, "Principal", "Federated")
    provider = resource_of(principal, _PROVIDER)
    of_cluster = provider is not None and resource_of(provider.get("Url"), _CLUSTER) is not None
    return of_cluster or "oidc.eks." in str(principal)


def _is_audience(text: str) -> bool:
    return glob(text, AUDIENCE)


def _is_subject(text: str) -> bool:
    """Whether a text may fit a subject of pods; one with wildcards, by what stands before them."""
    before, *others = _WILD.split(text)
    return bool(_OF_POD.fullmatch(text)) if not others else before.startswith(SUBJECT) or SUBJECT.startswith(before)


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
