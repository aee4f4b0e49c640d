"""The conditions of statements, key by key: keys that are none or in no request of the actions, and values of another type."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.arn_fields import wrong_form
from hyperpod_constructs.analysis.condition_kinds import given_for
from hyperpod_constructs.analysis.conditions import Context, holds, taken_apart
from hyperpod_constructs.analysis.contexts import OF_ANY_ROLE, OF_ROLE, OF_SERVICE, OF_USERS
from hyperpod_constructs.analysis.documents import Written
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.people import is_of_users
from hyperpod_constructs.analysis.policy_document import Statement, listed, statements_of
from hyperpod_constructs.analysis.trust import is_assumed_by
from hyperpod_constructs.analysis.turned_conditions import turned
from hyperpod_constructs.facts.condition_keys import (
    ACCOUNT,
    ALWAYS,
    OF_SERVICES,
    PAST,
    VALUES,
    Key,
    is_listed,
    is_of_requests,
    is_taken,
    key_of,
    keys_like,
)
from hyperpod_constructs.facts.iam_actions import service_actions
from hyperpod_constructs.facts.kubernetes import PODS_PRINCIPAL, SESSION_TAGS
from hyperpod_constructs.facts.policies import Kind
from hyperpod_constructs.templates.globs import glob
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Text, Value, as_bool, as_float, as_str, at, shown

_Place = tuple[str | int, ...]
_FILE_SYSTEM, _ASSOCIATION = "AWS::EFS::FileSystem", "AWS::EKS::PodIdentityAssociation"
_OF_PRINCIPAL, _CONTEXT = "aws:principaltag/", "kms:encryptioncontext:"
_OF_ASSOCIATION = {"kubernetes-namespace": "Namespace", "kubernetes-service-account": "ServiceAccount"}
"""The tags of sessions of pods, with the property of an association that gives them."""
_OF_MOUNTS: Context = {"elasticfilesystem:accessedviamounttarget": "true"}
"""The keys of calls that mount a file system."""
_LOOKS = re.compile(r"\w+:(describe|list|getbucketlocation$)", re.IGNORECASE)
"""Guides name actions that only look beside others, and need them not."""
_NEGATED = re.compile("not|null")
_TYPED = re.compile("numeric|date|bool|ipaddress|notipaddress")
_FREE = re.compile(r"[./]")
"""Keys of identity providers have the address of the provider before their name."""
_VARIABLE = re.compile(r"\$\{|\{\{")
_LETTER = re.compile(r"[A-Za-z:/]")
_MARKS = re.compile(r"[*?]|\$\{|\{\{")
_PRIVATE = tuple(map(ipaddress.ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_KINDS: Mapping[str, tuple[str, ...]] = {
    "bool": ("Bool", "String"),
    "date": ("Date", "Numeric"),
    "ipaddress": ("IPAddress",),
    "notipaddress": ("IPAddress",),
    "numeric": ("Numeric", "Date"),
}
"""The types of keys that the operators compare; those of texts and ARNs compare any type."""


def idle_conditions(statement: Statement, caller: Context | None = None) -> Iterator[tuple[str, _Place]]:
    """The mistakes in the conditions of a statement: in words, with the place in the statement.

    :param caller: the keys of all calls that the statement is for, as far as they are known.
    """
    conditions = at(statement.raw, "Condition")
    for operator, keys in conditions.items() if isinstance(conditions, Mapping) else ():
        for name, value in keys.items() if isinstance(keys, Mapping) else ():
            words = _words(statement, operator, name, value)
            words = words or turned(statement, operator, name, of_users=caller is OF_USERS)
            if words is None and _is_whole(conditions) and _denies_all(statement, operator, name, value):
                words = f"{name} {shown(value)} denies all calls over TLS, and others are denied anyway"
            if words is None and caller and statement.effect == "Allow" and holds({operator: {name: value}}, caller) is False:
                words = f"{name} never fits {operator} in calls of these principals"
            if words:
                yield words, ("Condition", operator, name)


def _is_whole(conditions: Value) -> bool:
    """Whether a statement has only one condition."""
    found = conditions.values() if isinstance(conditions, Mapping) else ()
    return sum(len(keys) if isinstance(keys, Mapping) else 1 for keys in found) == 1


def _denies_all(statement: Statement, operator: str, name: str, value: Value) -> bool:
    """Whether a denial is for whoever comes over TLS."""
    turned = taken_apart(operator)[0] == "bool" and name.lower() == "aws:securetransport" and as_bool(value) is True
    return turned and statement.effect == "Deny"


def caller_of(one: Written) -> Context | None:
    """What is known of all calls that a statement is for: those of services, users, roles, or roles that only services assume."""
    if one.kind is Kind.RESOURCE:
        return OF_SERVICE if _is_of_services(one.statement) else _OF_MOUNTS if one.resource.type == _FILE_SYSTEM else None
    roles = holders(one.resource) if one.kind is Kind.IDENTITY else None
    trusts = [statement for role in roles or () for statement in statements_of(role.get("AssumeRolePolicyDocument")) or ()]
    if trusts and all(map(_is_of_services, trusts)):
        return {**OF_ROLE, **_tags(one.statement, roles or ())}
    return OF_ANY_ROLE if roles else OF_USERS if one.kind is Kind.IDENTITY and is_of_users(one.resource) else None


def _tags(statement: Statement, roles: Sequence[Resource]) -> Context:
    """The tags of sessions of pods for which a statement asks: those that EKS gives them, and none of a name like theirs."""
    if not roles or not all(role_facts(role).trusts(PODS_PRINCIPAL) for role in roles):
        return {}
    conditions = at(statement.raw, "Condition")
    keys = {name.lower() for found in (conditions.values() if isinstance(conditions, Mapping) else ()) for name in _keys(found)}
    asked = {
        key: key.removeprefix(_OF_PRINCIPAL)
        for key in keys
        if key.startswith((f"{_OF_PRINCIPAL}eks-", f"{_OF_PRINCIPAL}kubernetes-"))
    }
    known = _known_tags(roles) if asked else {}
    return {key: known.get(tag, UNKNOWN) if tag in SESSION_TAGS else ABSENT for key, tag in asked.items()}


def _known_tags(roles: Sequence[Resource]) -> Mapping[str, Value]:
    """The namespaces and the service accounts of the pods that have roles without a name, for which others could not look."""
    model = roles[0].template.model
    found = [one for one in model.resources(_ASSOCIATION) if resource_of(one.get("RoleArn"), ROLE) in roles]
    if not found or any(role.get("RoleName") is not ABSENT for role in roles):
        return {}
    values = {tag: tuple(one.get(name) for one in found) for tag, name in _OF_ASSOCIATION.items()}
    return {tag: ones for tag, ones in values.items() if all(as_str(one) is not None for one in ones)}


def _keys(conditions: Value) -> Iterable[str]:
    return conditions if isinstance(conditions, Mapping) else ()


def _is_of_services(statement: Statement) -> bool:
    principal = at(statement.raw, "Principal")
    return isinstance(principal, Mapping) and list(principal) == ["Service"]


def holders(policy: Resource) -> list[Resource] | None:
    """The roles with a policy, if they are known and nobody else has it."""
    if policy.type == ROLE:
        return [policy]
    found = [resource_of(one) for one in (*listed(policy.get("Roles")), *listed(policy.get("RoleName")))]
    others = any(policy.get(name) is not ABSENT for name in ("Groups", "Users"))
    known = [one for one in found if one is not None and one.type == ROLE]
    return known if known and len(known) == len(found) and not others else None


def _words(statement: Statement, operator: str, name: str, value: Value) -> str | None:
    key = key_of(name)
    if key is None:
        return _unknown(name) or _of_wildcards(operator, name, value)
    given = taken_apart(operator)[0] != "null"
    found = _of_type(operator, name, key) or (_of_form(name, key, value) if given else None) or _of_wildcards(operator, name, value)
    found = found or (_of_values(operator, name, value) if given else None) or _never(operator, name, value)
    return found or _idle(statement, operator, name) or _untrusting(statement, operator, name)


def _never(operator: str, name: str, value: Value) -> str | None:
    """A condition on what every request has, or on a time that is over."""
    base, (text, *others) = taken_apart(operator)[0], [as_str(one) for one in listed(value)] or [None]
    if name.lower() not in ALWAYS or text is None or others:
        return None
    if base == "null":
        return f"every call has {name}: the condition {'never' if text.lower() == 'true' else 'always'} holds"
    if base.startswith("dateless") and _is_over(text):
        return f"{text} is over: {name} is never before it"
    return None


def _untrusting(statement: Statement, operator: str, name: str) -> str | None:
    """Services to which no role of a statement can be passed, as none trusts them."""
    if name.lower() != "iam:passedtoservice" or statement.effect != "Allow" or not demands(operator, ABSENT):
        return None
    services = [as_str(one) for one in listed(at(statement.raw, "Condition", operator, name))]
    roles = [resource_of(one, ROLE) for one in statement.resources]
    pairs = [(role, service) for role in roles for service in services]
    if statement.excludes_resources or not all(_distrusts(role, service) for role, service in pairs) or not pairs:
        return None
    named = enumerated(dict.fromkeys(role.logical_id for role in roles if role is not None))
    return f"{named} cannot be passed to {enumerated(filter(None, services))}, which the trust does not name"


def _distrusts(role: Resource | None, service: str | None) -> bool:
    """Whether a role surely does not trust a service; one to which a resource gives it is a mistake of the trust."""
    if role is None or service is None or _MARKS.search(service):
        return False
    return role_facts(role).trusts(service) is False and not is_assumed_by(role, service)


def _is_over(text: str) -> bool:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return False
    return (found if found.tzinfo else found.replace(tzinfo=UTC)) < datetime.fromisoformat(PAST)


def _unknown(name: str) -> str | None:
    """A key that no service has, if the keys of its service are known."""
    prefix = name.lower().partition(":")[0]
    if _FREE.search(prefix) or not is_listed(prefix):
        return None
    from difflib import get_close_matches  # kept off the import path: only an unknown key needs it

    names = [key.name for service in ("aws", prefix) for key in keys_like(service)]
    near = get_close_matches(name, names, n=1, cutoff=0.8)
    return f"{name} is no key of conditions{f'; did you mean {near[0]}?' if near else ''}"


def _of_type(operator: str, name: str, key: Key) -> str | None:
    base = taken_apart(operator)[0]
    found = _TYPED.match(base)
    kind = key.kind.removeprefix("ArrayOf")
    if found is None or kind in _KINDS[found[0]]:
        return None
    return f"{name} is of the type {kind}, and {operator} compares others"


def _of_form(name: str, key: Key, value: Value) -> str | None:
    """A value that no request has for this key."""
    form, words = VALUES.get(name.lower(), ("", ""))
    for one in listed(value):
        text = as_str(one)
        if text is not None and form and not _MARKS.search(text) and re.fullmatch(form, text) is None:
            return f"{name} is compared with {text!r}, and is {words}"
        if form == ACCOUNT and isinstance(one, Text) and any(isinstance(part, str) and _LETTER.search(part) for part in one.parts):
            return f"{name} is compared with {shown(one)}, and is {words}"
        wrong = wrong_form(one) if key.kind.endswith("ARN") else None
        if wrong is not None:
            return f"{name} is compared with {shown(one)!r}, which {wrong}"
        given = given_for(name, key, one) if isinstance(one, Reference) else None
        if given is not None:
            return f"{name} is compared with {one!r}, which gives {given}"
    if name.lower() == "aws:sourceip" and _are_private(value):
        return f"{name} is the public address of the caller, or missing: it never is one of {shown(value)}"
    return None


def _are_private(value: Value) -> bool:
    texts = [as_str(one) for one in listed(value)]
    return bool(texts) and all(text is not None and _is_address(text) and _is_private(text) for text in texts)


def _is_private(text: str) -> bool:
    block = ipaddress.ip_network(text, strict=False)
    return any(block.version == one.version and block.subnet_of(one) for one in _PRIVATE)  # type: ignore[arg-type]


def _of_values(operator: str, name: str, value: Value) -> str | None:
    """A value that is none of the operator's type."""
    base = taken_apart(operator)[0]
    for one in listed(value):
        text = as_str(one)
        if text is not None and not _VARIABLE.search(text) and not _READERS.get(_stem(base), _any)(text):
            return f"{name} is compared with {text!r}, which {operator} does not read"
    return None


def _of_wildcards(operator: str, name: str, value: Value) -> str | None:
    """A wildcard that an operator takes for a character; an encryption context of one's own has any characters."""
    context = name.lower().removeprefix(_CONTEXT)
    if context != name.lower() and not context.startswith(OF_SERVICES):
        return None
    base = taken_apart(operator)[0]
    found = [one for one in listed(value) if base.startswith("string") and "equals" in base and _has_wildcard(one)]
    if not found:
        return None
    other = operator.replace("Equals", "Like")
    return f"{operator} takes the * of {shown(found[0])} for a character; with wildcards it is {other}"


def _has_wildcard(value: Value) -> bool:
    parts = value.parts if isinstance(value, Text) else (value,)
    return any(isinstance(part, str) and "*" in part.replace("${*}", "") for part in parts)


def _stem(base: str) -> str:
    found = _TYPED.match(base)
    return found[0] if found else "arn" if base.startswith("arn") else ""


def _any(_: str) -> bool:
    return True


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return as_float(text) is not None
    return True


def _is_arn(text: str) -> bool:
    return (
        text.startswith(("*", "?")) or (text.startswith("arn:") and text.count(":") > 4) or ("*" in text and text.startswith("arn"))
    )


_READERS: Mapping[str, Callable[[str], bool]] = {
    "arn": _is_arn,
    "bool": lambda text: as_bool(text) is not None,
    "date": _is_date,
    "ipaddress": _is_address,
    "notipaddress": _is_address,
    "numeric": lambda text: as_float(text) is not None,
}


def demands(operator: str, value: Value) -> bool:
    """Whether an operator holds only for a key that is there."""
    base, quantifier, optional = taken_apart(operator)
    if base == "null":
        return [as_str(one) for one in listed(value)] == ["false"]
    return not (optional or quantifier == "forallvalues" or _NEGATED.search(base))


def _idle(statement: Statement, operator: str, name: str) -> str | None:
    """A key that calls of the actions surely lack."""
    value = at(statement.raw, "Condition", operator, name)
    if statement.excludes_actions or not is_of_requests(name) or not demands(operator, value):
        return None
    without: list[str] = []
    for pattern in statement.actions:
        text = as_str(pattern)
        taken = None if text is None else _takes(text, name)
        if taken is None or (taken and "*" in str(text)):
            return None
        without += [] if taken or (len(statement.actions) > 1 and _LOOKS.search(str(text))) else [str(text)]
    if not without:
        return None
    return f"calls of {', '.join(without)} never have {name}"


def _takes(pattern: str, key: str) -> bool | None:
    """Whether one of the actions of a pattern takes a key; `None` if they are not all known."""
    prefix = pattern.lower().partition(":")[0]
    known = service_actions(prefix)
    if known is None:
        return None
    answers = [is_taken(action, key) for action in known if glob(pattern.lower(), action)]
    return None if None in answers or not answers else True in answers
