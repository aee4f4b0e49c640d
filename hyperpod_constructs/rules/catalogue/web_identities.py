"""Identities of service accounts: the issuer of the Kubernetes cluster, and the trust of the roles of pods."""

from __future__ import annotations

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.account_roles import Stranger, strangers
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.web_identities import (
    CLUSTER,
    PROVIDER,
    claims_of,
    mistake_in_claims,
    names_provider,
    takes_every_identity,
    trust_of,
)
from hyperpod_constructs.facts.addons import AUDIENCE, SUBJECT
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_items, as_str, at

_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_ACTION = "sts:AssumeRoleWithWebIdentity"


@error(
    "HP-WID-001",
    on=PROVIDER,
    at=("ClientIdList",),
    title="the provider of a Kubernetes cluster is for STS",
    why="STS refuses the tokens of the pods (InvalidIdentityToken: incorrect token audience)",
    fix=f"write {AUDIENCE} in ClientIdList",
    allowed=AUDIENCE,
    source=f"{_EKS_GUIDE}enable-iam-roles-for-service-accounts.html",
)
def providers_are_for_sts(provider: Resource) -> str | None:
    audiences = [as_str(one) for one in as_items(provider.get("ClientIdList")) or ()]
    if resource_of(provider.get("Url"), CLUSTER) is None or None in audiences or AUDIENCE in audiences:
        return None
    return f"the tokens of pods are for {AUDIENCE}, and not for {enumerated(one for one in audiences if one)}"


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
    for one in trust_of(role):
        principal = at(one.raw, "Principal", "Federated")
        claims = any(key.endswith((":aud", ":sub")) and not key.lower().startswith("saml:") for key, _ in claims_of(one))
        oidc = principal is not ABSENT and (names_provider(principal) or claims)
        if oidc and one.effect == "Allow" and one.speaks_of(_ACTION) is False:
            return f"the statement for a web identity allows {enumerated(map(str, one.actions))}"
    return None


@warning(
    "HP-WID-003",
    on=strangers,
    title="the role of an add-on or a chart is for the service account of its pods",
    why="the pods get no credentials, and each of their calls is refused",
    fix="write the namespace and the service account of the pods",
    allowed="system:serviceaccount:NAMESPACE:ACCOUNT of the pods",
    source=f"{_EKS_GUIDE}add-ons-iam.html",
    silences=("HP-PERM-002",),
)
def roles_are_for_the_accounts_of_pods(one: Stranger) -> Hit:
    return hit(one.resource, one.message, *one.path, allowed=one.allowed, covers=one.covers)


@error(
    "HP-WID-005",
    on=ROLE,
    title="the trust of a role for web identities is for what their tokens say",
    why=f"the condition never holds, and STS refuses the pods (Not authorized to perform {_ACTION})",
    fix=f"write {AUDIENCE} for PROVIDER:aud, and {SUBJECT}NAMESPACE:ACCOUNT for PROVIDER:sub",
    allowed=f"{AUDIENCE}; {SUBJECT}NAMESPACE:ACCOUNT",
    source=f"{_EKS_GUIDE}associate-service-account-role.html",
)
def trust_is_for_tokens(role: Resource) -> Hit | None:
    found, place = mistake_in_claims(role), "AssumeRolePolicyDocument"
    return None if found is None else Hit(role, (place,), found[0], role.get(place), part=found[1])


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
    return f"every identity of the provider may take {role.logical_id}" if takes_every_identity(role) else None
