"""The trust of roles that pods take by a token: its statements, what it demands of tokens, and what tokens say.

Source: https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.policy_document import Statement, listed, statements_of
from hyperpod_constructs.facts.addons import AUDIENCE, SUBJECT
from hyperpod_constructs.facts.principals import WEB_PROVIDERS
from hyperpod_constructs.templates.dependencies import raw_at
from hyperpod_constructs.templates.globs import glob
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, Value, as_str, at, shown

_ACTION = "sts:AssumeRoleWithWebIdentity"
_ISSUER = "OpenIdConnectIssuerUrl"
PROVIDER, CLUSTER = "AWS::IAM::OIDCProvider", "AWS::EKS::Cluster"
_WILD = re.compile(r"[*?]")
_FEDERATED = re.compile(r'"Federated"\s*:\s*"\$\{(\w+)\}"')
_BEGIN = re.compile(rf"^({SUBJECT}|system:|repo:)")
_ANY_OWNER = re.compile(r"(repo:)?[*?]+(/|$)")
"""The subject of repositories of whatever owner."""
_OF_POD = re.compile(rf"{SUBJECT}[a-z0-9-]+:[a-z0-9.-]+")


def trust_of(role: Resource) -> Iterator[Statement]:
    """The statements of the trust of a role, of a text in JSON too."""
    yield from statements_of(role.get("AssumeRolePolicyDocument")) or ()


def claims_of(statement: Statement, *, like: bool = False) -> Iterator[tuple[str, Value]]:
    """The keys of its conditions, with their values.

    :param like: only of those in which `*` is any text.
    """
    conditions = at(statement.raw, "Condition")
    for operator, keys in conditions.items() if isinstance(conditions, Mapping) else ():
        if not like or operator.lower().removesuffix("ifexists").endswith("stringlike"):
            yield from keys.items() if isinstance(keys, Mapping) else ()


def names_provider(value: Value) -> bool:
    """Whether a principal is a provider of web identities."""
    text = str(shown(value)) if isinstance(value, str | Text) else ""
    return ":oidc-provider/" in text or text in WEB_PROVIDERS or resource_of(value, PROVIDER) is not None


def is_of_services_alone(role: Resource) -> bool:
    """Whether only services may surely take a role."""
    principals = [at(one.raw, "Principal") for one in trust_of(role)]
    return bool(principals) and all(isinstance(one, Mapping) and list(one) == ["Service"] for one in principals)


def subjects_of(statement: Statement) -> Iterator[str]:
    """The subjects of pods that its conditions take."""
    for key, value in claims_of(statement):
        if key.endswith(":sub"):
            yield from (one for one in map(as_str, listed(value)) if one and one.startswith(SUBJECT))


def is_of_account(subject: str, accounts: Sequence[str]) -> bool:
    """Whether a subject, perhaps with wildcards, is that of one of some accounts."""
    return any(glob(subject, one) for one in accounts)


def is_of_pods(statement: Statement) -> bool:
    """Whether a statement is surely for the provider of a Kubernetes cluster of EKS."""
    principal = at(statement.raw, "Principal", "Federated")
    provider = resource_of(principal, PROVIDER)
    of_cluster = provider is not None and resource_of(provider.get("Url"), CLUSTER) is not None
    return of_cluster or "oidc.eks." in str(principal)


def foreign_audiences(statement: Statement) -> tuple[Resource, list[str]] | None:
    """The provider of a statement, with the audiences of which it demands one, if the provider takes none of them."""
    provider = resource_of(at(statement.raw, "Principal", "Federated"), PROVIDER)
    if provider is None or is_of_pods(statement) or statement.effect != "Allow":
        return None
    taken = [as_str(one) for one in listed(provider.get("ClientIdList"))]
    for key, value in claims_of(statement):
        asked = [as_str(one) for one in listed(value)] if key.endswith(":aud") else []
        if (
            asked
            and taken
            and None not in (*asked, *taken)
            and not any(glob(str(one), str(other)) for one in asked for other in taken)
        ):
            return provider, [str(one) for one in asked]
    return None


def with_scheme(role: Resource) -> Reference | None:
    """The address of an issuer where the trust of a role takes its name: in a claim, or in the ARN of the provider."""
    document = role.get("AssumeRolePolicyDocument")
    parts = document.parts if isinstance(document, Text) else ()
    for before, part, behind in zip(("", *parts), parts, (*parts[1:], ""), strict=False):
        of_claim = isinstance(behind, str) and behind.startswith((":aud", ":sub"))
        of_provider = isinstance(before, str) and before.endswith(":oidc-provider/")
        if isinstance(part, Reference) and part.attribute == _ISSUER and (of_claim or of_provider):
            return part
    return None


def both_host_and_principal(role: Resource) -> str | None:
    """The variable of a text that is the principal, and begins the claims: an issuer's name is no ARN, and an ARN is no name."""
    written = raw_at(role, ("AssumeRolePolicyDocument", "Fn::Sub"))
    text = written[0] if isinstance(written, list) and written else written
    federated = _FEDERATED.search(text) if isinstance(text, str) else None
    claims = () if federated is None else (f'${{{federated[1]}}}:{claim}"' for claim in ("aud", "sub"))
    return federated[1] if federated is not None and any(claim in str(text) for claim in claims) else None


def is_audience(text: str) -> bool:
    """Whether a text may fit the audience of all tokens of pods."""
    return glob(text, AUDIENCE)


def is_subject(text: str) -> bool:
    """Whether a text may fit a subject of pods; one with wildcards, by what stands before them."""
    before, *others = _WILD.split(text)
    return bool(_OF_POD.fullmatch(text)) if not others else before.startswith(SUBJECT) or SUBJECT.startswith(before)


def takes_every_identity(role: Resource) -> bool:
    """Whether the trust of a role surely asks a web identity for nothing but its audience."""
    for one in trust_of(role):
        principal, conditions = at(one.raw, "Principal", "Federated"), at(one.raw, "Condition")
        known = conditions is ABSENT or (
            isinstance(conditions, Mapping) and all(isinstance(keys, Mapping) for keys in conditions.values())
        )
        told = {key for key, value in claims_of(one, like=True) if _is_any(key, value)}
        free = (":iss",) if as_str(principal) in WEB_PROVIDERS else (":aud", ":iss")
        asked = any(not key.endswith(free) and key not in told for key, _ in claims_of(one))
        taken = one.effect == "Allow" and one.speaks_of(_ACTION) is not False
        if principal is not ABSENT and names_provider(principal) and taken and known and not asked:
            return True
    return False


def _is_any(key: str, value: Value) -> bool:
    """Whether a claim takes every subject of its provider: all pods of a cluster, or all repositories of the world."""
    texts = [as_str(one) for one in listed(value)] if key.endswith(":sub") else []
    return any(one is not None and "*" in one and (not _BEGIN.sub("", one).strip("*:/") or _ANY_OWNER.match(one)) for one in texts)


def mistake_in_claims(role: Resource) -> tuple[str, Reference | None] | None:
    """What the trust of a role demands that no token says, in words; with the reference that is wrong in its text."""
    address, shared = with_scheme(role), both_host_and_principal(role)
    if shared is not None:
        return f"{shared} is the name of the issuer in the claims, and the principal is the ARN of its provider", None
    if address is not None:
        return f"{address.attribute} begins with https://, and claims and providers are named without it", address
    for one in trust_of(role):
        foreign = foreign_audiences(one)
        if foreign is not None:
            return f"{foreign[0].logical_id} takes no token for {enumerated(foreign[1])}", None
        for key, value in claims_of(one) if one.effect == "Allow" and is_of_pods(one) else ():
            texts = [text for text in map(as_str, listed(value)) if text is not None]
            is_right = {"aud": is_audience, "sub": is_subject}.get(key.rpartition(":")[2])
            if is_right is not None and len(texts) == len(listed(value)) and not any(map(is_right, texts)):
                return f"no token of a pod has {enumerated(texts)} as its {key.rpartition(':')[2]}", None
    return None
