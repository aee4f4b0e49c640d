"""Texts and references against the pattern of a schema."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from functools import cache

from hyperpod_constructs.analysis.answers import Answer
from hyperpod_constructs.facts import lustre
from hyperpod_constructs.facts.arn_forms import FORMS as ARN_FORMS
from hyperpod_constructs.facts.property_schemas import FORMS
from hyperpod_constructs.facts.receivers import ARN_SOURCES
from hyperpod_constructs.templates.model import target_of
from hyperpod_constructs.templates.values import Reference, Text, Value, as_str

_LONGEST_MATCHED = 1024
"""Longer texts are not matched with a pattern: its time grows with the text."""
_WITHOUT_ARN = frozenset(
    {
        "AWS::EKS::Cluster",
        "AWS::IAM::Role",
        "AWS::KMS::Key",
        "AWS::Lambda::Function",
        "AWS::Logs::LogGroup",
        "AWS::S3::Bucket",
        "AWS::SQS::Queue",
    }
)
"""Types whose `Ref` is a name, an id or an address, where others give an ARN."""
_HOLE, _SERVICE, _OF_AN_ARN = "\ufffc", 2, 5
"""An unknown part, and the number of colons before the service and before the resource in an ARN."""
_LIKELY: Mapping[int, str] = {1: "aws", 3: "us-east-1", 4: "123456789012"}
"""The partition, a region and an account, by their place in an ARN."""
_FILLS = ("a", "a1", "123456789012")
"""Texts in the place of unknown parts."""
_ARN_FILL = "arn:aws:service:us-west-2:123456789012:kind/name"
_ANY_TEXT = r"[\s\S]*\S[\s\S]*"
"""What a schema means by `\\S`: a text with a character other than a space, wherever that is."""
_MAIL = "team@example.com"
_TOPIC = "arn:aws:sns:us-west-2:123456789012:alerts"
_SCHEMES = re.compile(r"\^?\(?((?:s3|https?)(?:\|(?:s3|https?))*)\)?:(?:\\?/){2}")
"""The begin of a pattern of addresses such as `s3://BUCKET/KEY`."""
_GROUP = re.compile(r"\((?:[^()\\]|\\.)*\)")
"""A group of a pattern without others in it."""
_ARN_OF = re.compile(r"\^?arn:(?:\[[^\]]*\]|[^:()\[]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*:([a-z][a-z0-9-]+):")
"""The begin of a pattern of ARNs of one service."""
_TOKEN = re.compile(
    r"\[(?!\^)(?P<class>\]?(?:\\[dwstnr\W]|[^\]\\])*)\]|\\[bAZ]|(?P<kind>\\[dws])|(?P<escaped>\\[^\w\s])"
    r"|\(\?[:=!]|\{\d*,?\d*\}|[()^$*+?|]|(?P<plain>[^\\.\[{])"
)
"""A part of a pattern: a class, an escaped or a plain character, or what takes none itself."""
_FLAGGED = re.compile(r"\(\?[^:=!]")
"""A part of a pattern that takes letters of both cases."""
_RANGE = re.compile(r"(?P<first>\\?[\s\S])(?:-(?P<last>\\?[^\]]))?")
_KINDS: Mapping[str, set[str]] = {
    r"\d": {*string.digits},
    r"\s": {*string.whitespace},
    r"\w": {*string.ascii_letters, *string.digits, "_"},
}
_KIND = re.compile(r":(?!aws:)([a-z][a-z-]+)\\?[:/]")
"""The kind of a resource in an ARN, or in a pattern of ARNs behind its service."""


def matches(pattern: str, value: Value) -> Answer:
    """Whether the whole text has this form."""
    if isinstance(value, Reference):
        return False if _gives_no(pattern, value) else None
    if isinstance(value, Text):
        return False if _begins_otherwise(pattern, value) or _is_of_others(pattern, value) or _excludes(pattern, value) else None
    text = as_str(value)
    if text is None or len(text) > _LONGEST_MATCHED or "{{" in text:
        return None
    return compiled(pattern).fullmatch(text) is not None


def _gives_no(pattern: str, reference: Reference) -> bool:
    """Whether a reference surely gives no text of this form: a name where an ARN or an address is, or another service's ARN."""
    target = target_of(reference)
    if _is_arn(reference):
        of = _ARN_OF.match(pattern)
        other = of is not None and (of[1] != ARN_SOURCES[target.type][0] or _is_of_another_kind(pattern[of.end() - 1 :], reference))
        return bool(_addresses(pattern)) or other or _is_of_mails(pattern)
    form = ARN_FORMS.get(target.type)
    if form is not None and reference.attribute in form.names - form.arns and _is_of_arns(pattern):
        return True
    named = reference.attribute is None and target.type in _WITHOUT_ARN
    return named and (pattern.removeprefix("^").startswith("arn:") or bool(_addresses(pattern)))


def _is_of_mails(pattern: str) -> bool:
    """Whether a pattern takes addresses of mail alone."""
    others = (_MAIL.replace("@", ":"), _TOPIC)
    return compiled(pattern).fullmatch(_MAIL) is not None and not any(compiled(pattern).fullmatch(one) for one in others)


def _is_of_another_kind(rest: str, reference: Reference) -> bool:
    """Whether the ARN of a reference has another kind of resource than a pattern.

    :param rest: the pattern behind the service.
    """
    form = ARN_FORMS.get(target_of(reference).type)
    own, wanted = None if form is None else _KIND.search(form.form, form.form.index("{")), _KIND.search(rest)
    return own is not None and wanted is not None and own[1] != wanted[1]


def other_words(pattern: str, reference: Reference) -> tuple[str, str]:
    """What a reference gives instead of a text of a form, and what is allowed, in words."""
    addresses, of = _addresses(pattern), _ARN_OF.match(pattern)
    if _is_of_mails(pattern):
        return "which is no address of mail", f"an address such as {_MAIL}"
    if addresses:
        return "which is no address", f"an address that begins with {' or '.join(addresses)}"
    return (
        ("which is another ARN", f"an ARN of {of[1]}")
        if of is not None and _is_arn(reference)
        else ("which is not an ARN", "an ARN")
    )


def _begins_otherwise(pattern: str, text: Text) -> bool:
    """Whether a text surely does not begin as the addresses of a pattern do."""
    first, addresses = text.parts[0], _addresses(pattern)
    if isinstance(first, Reference):
        return bool(addresses) and _gives_no(pattern, first)
    if not isinstance(first, str):
        return False
    if not addresses:
        return _is_of_arns(pattern) and not first.startswith("arn:") and not "arn:".startswith(first)
    empty = any(first.startswith(f"{one}/") for one in addresses)
    open_ended = not _is_name(text.parts[1])
    return empty or not any(first.startswith(one) or (open_ended and one.startswith(first)) for one in addresses)


def _is_of_others(pattern: str, text: Text) -> bool:
    """Whether a text is an ARN of another service than those of a pattern, or of another kind of resource, whatever its name."""
    fields = "".join(part if isinstance(part, str) else _HOLE for part in text.parts).split(":", _OF_AN_ARN)
    of = _ARN_OF.match(pattern) if _is_of_arns(pattern) and len(fields) > _OF_AN_ARN and fields[0] == "arn" else None
    if of is None or _HOLE in fields[_SERVICE]:
        return False
    own, wanted = _KIND.match(f":{fields[_OF_AN_ARN]}"), _KIND.search(pattern, of.end() - 1)
    return fields[_SERVICE] != of[1] or (own is not None and wanted is not None and own[1] != wanted[1])


def _is_name(part: Value) -> bool:
    """Whether a part of a text is the name of a bucket, which does not go on with the slashes of an address."""
    return isinstance(part, Reference) and part.attribute is None and target_of(part).type == "AWS::S3::Bucket"


@cache
def _is_of_arns(pattern: str) -> bool:
    """Whether a pattern takes ARNs alone: it begins so, and has no other choice."""
    plain, inner = pattern.removeprefix("^"), 1
    while inner:
        plain, inner = _GROUP.subn("", plain)
    return plain.startswith("arn:") and "|" not in plain


@cache
def _addresses(pattern: str) -> tuple[str, ...]:
    """The beginnings of the addresses of a pattern, such as `s3://`; none for a pattern of others."""
    found = _SCHEMES.match(pattern)
    return () if found is None else tuple(f"{one}://" for one in found[1].split("|"))


def _excludes(pattern: str, text: Text) -> bool:
    """Whether a character of the known parts is surely wrong: the text has no form with it, and has one with a letter instead."""
    known, arn = "".join(part for part in text.parts if isinstance(part, str)), _as_arn(text)
    if not _alphabet(pattern).issuperset(known) and _alphabet(pattern):
        return True
    if arn is not None and len(arn) <= _LONGEST_MATCHED and "{{" not in arn:
        return compiled(pattern).fullmatch(arn) is None
    if len(known) > _LONGEST_MATCHED or "{{" in known or any(_filled(pattern, text, fill, "") for fill in _FILLS):
        return any(map(_is_arn, text.parts)) and not any(_filled(pattern, text, fill, "", _ARN_FILL) for fill in _FILLS)
    capitals = "".join(dict.fromkeys(one for one in known if one.isupper()))
    return any(_filled(pattern, text, fill, wrong) for fill in _FILLS for wrong in (*dict.fromkeys(known), capitals))


def _as_arn(text: Text) -> str | None:
    """An ARN with a likely partition, region and account, if nothing else in it is unknown."""
    if any(isinstance(part, Reference) for part in text.parts):
        return None
    whole = "".join(part if isinstance(part, str) else _HOLE for part in text.parts)
    fields = whole.split(":", _OF_AN_ARN)
    if len(fields) <= _OF_AN_ARN or fields[0] != "arn":
        return None
    filled = ":".join(_LIKELY.get(index, one) if one == _HOLE else one for index, one in enumerate(fields))
    return None if _HOLE in filled else filled


def _filled(pattern: str, text: Text, fill: str, wrong: str, arn: str = "") -> bool:
    """Whether a text has the form once its unknown parts are filled.

    :param wrong: characters that are letters instead.
    :param arn: what fills the references that give an ARN.
    """
    letters = str.maketrans(wrong, "a" * len(wrong))
    parts = [part.translate(letters) if isinstance(part, str) else arn if arn and _is_arn(part) else fill for part in text.parts]
    return compiled(pattern).fullmatch("".join(parts)) is not None


def _is_arn(part: Value) -> bool:
    """Whether a part of a text is a reference that gives an ARN."""
    if not isinstance(part, Reference):
        return False
    _, given = ARN_SOURCES.get(target_of(part).type, ("", ()))
    return (part.attribute or "Ref") in given


@cache
def _alphabet(pattern: str) -> frozenset[str]:
    """The characters of all texts of a pattern; none if they may be any."""
    found: set[str] = set()
    place = len(pattern) if _FLAGGED.search(pattern) else 0
    while place < len(pattern):
        token = _TOKEN.match(pattern, place)
        if token is None:
            return frozenset()
        inner = token["class"] or token["kind"]
        found |= _of_class(inner) if inner else set(token["plain"] or (token["escaped"] or "")[1:])
        place = token.end()
    return frozenset(found)


def _of_class(text: str) -> set[str]:
    """The characters of a class such as `a-z0-9_.`."""
    found: set[str] = set()
    for one in _RANGE.finditer(text):
        first = one["first"].removeprefix("\\")
        if one["last"]:
            found |= {chr(code) for code in range(ord(first), ord(one["last"].removeprefix("\\")) + 1)}
        else:
            found |= _KINDS.get(one["first"], {first})
    return found


def form_words(pattern: str) -> str | None:
    """A pattern in words, if a reader needs them often."""
    return _forms().get(pattern)


@cache
def _forms() -> Mapping[str, str]:
    limits = [limit for limit in lustre.MEMBERS.values() if limit.pattern and limit.words]
    return {
        **FORMS,
        **{limit.pattern or "": limit.words.format(shortest=limit.shortest, longest=limit.longest) for limit in limits},
    }


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of the schemas."""
    return re.compile(_ANY_TEXT if pattern == r"\S" else pattern, re.ASCII)
