"""The principals of statements: those that AWS refuses, and those that never ask for the actions of a trust.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.arn_shapes import near_service
from hyperpod_constructs.analysis.policy_document import Statement, listed
from hyperpod_constructs.facts.iam_actions import is_service
from hyperpod_constructs.facts.policies import Kind
from hyperpod_constructs.facts.principals import ASKED, KINDS, SUFFIXES, WEB_PROVIDERS
from hyperpod_constructs.facts.role_users import role_users
from hyperpod_constructs.templates.model import resource_of, target_of
from hyperpod_constructs.templates.values import Reference, Text, Value, as_str, at, shown

_Place = tuple[str | int, ...]
_NAMED = ("AWS::IAM::Role", "AWS::IAM::User")
"""Types of principals whose `Ref` is a name."""
_AWS = re.compile(r"\*|\d{12}|A[A-Z0-9]{15,}|arn:aws[a-z-]*:(iam|sts)::(\d{12}|cloudfront):[^*?$]+")
_SERVICE = re.compile(r"\*|[a-z0-9-]+(\.[a-z0-9-]+)+")
_PROVIDER = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:(oidc|saml)-provider/.+")
_SAML, _SAML_TYPE = ":saml-provider/", "AWS::IAM::SAMLProvider"
_FORMS = {"AWS": _AWS, "Service": _SERVICE}


def mistaken_principals(statement: Statement, kind: Kind) -> Iterator[tuple[str, _Place]]:
    """The principals that AWS refuses: in words, with the place in the statement."""
    for word in ("Principal", "NotPrincipal"):
        given = at(statement.raw, word)
        if kind is Kind.TRUST and word == "NotPrincipal" and word in statement.raw:
            yield "the trust of a role has no NotPrincipal", (word,)
        elif isinstance(given, Mapping):
            yield from ((words, (word, *place)) for words, place in _in_map(given, kind))
        else:
            text = as_str(given)
            if text is not None and text != "*":
                yield f"the {word} is the text {text!r}, and not * or a kind with principals", (word,)
            elif text == "*" and kind is Kind.TRUST:
                yield f"the {word} is a bare *, which the trust of a role does not take", (word,)


def _in_map(given: Mapping[str, Value], kind: Kind) -> Iterator[tuple[str, _Place]]:
    if not given:
        yield "the principal names nobody", ()
    for name, value in given.items():
        found = listed(value)
        if name not in KINDS and name != "*":
            yield f"{name} is no kind of principals: {enumerated(KINDS)} are", (name,)
        elif not found:
            yield f"the principal names nobody of the kind {name}", (name,)
        elif name == "Federated" and kind is Kind.RESOURCE:
            yield "only the trust of a role has Federated principals", (name,)
        yield from ((words, (name,)) for one in found if (words := _mistake(name, one)) is not None)


def _mistake(kind: str, value: Value) -> str | None:
    if isinstance(value, Reference):
        named = kind == "AWS" and value.attribute is None and target_of(value).type in _NAMED
        return f"the Ref of {target_of(value).logical_id} is a name, and principals are ARNs" if named else None
    text = as_str(value)
    if not text:
        return None
    if kind in _FORMS and _FORMS[kind].fullmatch(text) is None:
        return f"{text!r} is no principal of the kind {kind}"
    if kind == "Federated" and text not in WEB_PROVIDERS and _PROVIDER.fullmatch(text) is None:
        return f"{text!r} is no provider of identities: those of an account have an ARN"
    meant = _meant_service(text) if kind == "Service" else None
    return None if meant is None else f"no service is known as {text}; did you mean {meant}?"


@cache
def _meant_service(text: str) -> str | None:
    """The service whose name nearly is a text; `None` for a known one, and one like no other."""
    name, suffix = next(((text.removesuffix(f".{one}"), one) for one in SUFFIXES if text.endswith(f".{one}")), (text, ""))
    if not suffix:
        name, suffix = text.partition(".")[0], SUFFIXES[0]
        return f"{name}.{suffix}" if f"{name}.{suffix}" in _known() else None
    if suffix == SUFFIXES[2] and f"{name}.{SUFFIXES[0]}" in _known():
        return f"{name}.{SUFFIXES[0]}"
    if suffix not in SUFFIXES[:2] or f"{name}.{SUFFIXES[0]}" in _known() or is_service(name.partition(".")[0]):
        return None
    near = near_service(name, (one.removesuffix(f".{SUFFIXES[0]}") for one in _known()))
    return f"{near}.{suffix}" if near else None


@cache
def _known() -> frozenset[str]:
    return frozenset(one.service for one in role_users())


def never_asked(statement: Statement) -> Iterator[str]:
    """The actions of the trust of a role that none of its principals asks for, in words; of web identities another rule speaks."""
    given = at(statement.raw, "Principal")
    kinds = {_kind_of(name, one) for name, value in given.items() for one in listed(value)} if isinstance(given, Mapping) else set()
    if statement.effect != "Allow" or statement.excludes_actions or not kinds or None in kinds or kinds == {"OIDC"}:
        return
    asked = {action for kind in kinds for action in ASKED[str(kind)]}
    for text in filter(None, map(as_str, statement.actions)):
        if text.lower().startswith("sts:") and not {"*", "?"} & set(text) and text.lower() not in asked:
            yield f"{text} is never asked for by principals of the kind {enumerated(sorted(map(str, kinds)))}"


def _kind_of(name: str, value: Value) -> str | None:
    """The kind of a principal, as trusts are asked; `None` for one that is not known."""
    if name in ("AWS", "Service"):
        return name
    text = str(shown(value)) if isinstance(value, str | Text) else ""
    provider = resource_of(value)
    if name != "Federated" or (not text and provider is None):
        return None
    return "SAML" if _SAML in text or (provider is not None and provider.type == _SAML_TYPE) else "OIDC"
