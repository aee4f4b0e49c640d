"""Pseudo parameters at places for another one: a region in an ARN, a host or an option is no account and no stack's name.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html,
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html and
https://docs.aws.amazon.com/general/latest/gr/rande.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.references.places import Call, Misreference, section
from hyperpod_constructs.facts.condition_keys import pseudo_parameters
from hyperpod_constructs.templates.dependencies import raw_at
from hyperpod_constructs.templates.raw import Raw

_VALUES = ("AccountId", "Partition", "Region", "StackId", "StackName", "URLSuffix")
_VARIABLE = re.compile(r"\$\{([^${}]*)\}")
_HOLE, _OPEN = "\ufffc", "[^\\s:/\"',]*"
_LONGEST = 200
"""The most characters beside a parameter that tell its place."""


class _Place(NamedTuple):
    """A place for one pseudo parameter: what is before it, and what is behind it."""

    wanted: tuple[str, ...]
    words: str
    before: re.Pattern[str]
    behind: re.Pattern[str]


def _place(wanted: str, words: str, before: str, behind: str = "") -> _Place:
    return _Place(tuple(wanted.split()), words, re.compile(f"(?:{before})\\Z"), re.compile(behind))


_BUCKETS_OF_AWS = (
    *(
        "amazon-ssm",
        "amazon-ssm-packages",
        "amazoncloudwatch-agent",
        "aws-patchmanager-macos",
        "aws-ssm",
        "aws-ssm-distributor-file",
    ),
    *("aws-ssm-document-attachments", "aws-windows-downloads", "patch-baseline-snapshot"),
)
"""Buckets from which nodes take agents and patches, before their region.

Source: https://docs.aws.amazon.com/systems-manager/latest/userguide/ssm-agent-technical-details.html (as of 2026-11-29)
"""
_PLACES = (
    _place("Partition", "the partition of an ARN", r"(?<![\w-])arn:", ":"),
    _place("Region", "the region of an ARN", rf"(?<![\w-])arn:{_OPEN}:[a-z0-9-]+:", ":"),
    _place("AccountId", "the account of an ARN", rf"(?<![\w-])arn:{_OPEN}:[a-z0-9-]+:{_OPEN}:", r"[:/]"),
    _place("Region", "the region of a service's name", r"\bcom\.amazonaws\.", r"\."),
    _place("AccountId", "the account of a registry", r"(?<![\w.-])", r"\.dkr\.ecr\."),
    _place("Region", "the region of a registry", r"\.dkr\.ecr(?:-fips)?\.", r"\."),
    _place("URLSuffix", "the domain of a registry", rf"\.dkr\.ecr(?:-fips)?\.{_OPEN}\.", r"/"),
    _place(
        "Region", "the region of a host", r"[a-z0-9]\.", rf"\.(?:amazonaws\.com|api\.aws|{_HOLE}URLSuffix{_HOLE})(?![\w.-]*\.vpce)"
    ),
    _place("AccountId", "the account of logs of AWS", r"(?<![\w-])AWSLogs/", r"/|\Z"),
    _place("Region", "the region of a bucket of AWS", rf":s3:::(?:{'|'.join(_BUCKETS_OF_AWS)})-", r"[/*]|\Z"),
    _place("Region", "the region of a bucket of AWS", r":s3:::prod-", "-starport-layer-bucket"),
    _place("AccountId", "the account of CDK's assets", r"\bcdk-[a-z0-9]+-assets-", "-"),
    _place("Region", "the region of CDK's assets", rf"\bcdk-[a-z0-9]+-assets-{_OPEN}-", r"(?![\w-])"),
    _place(
        "Region",
        "a region",
        r"(?i:--region[ =]|(?<![A-Za-z])(?:AWS_|AWS_DEFAULT_)?REGION[\"']?\s{0,9}[:=]\s{0,9})[\"']?",
        r"(?![\w-])",
    ),
    _place("StackName StackId", "a stack", r"\bcfn-(?:init|signal|hup)\b[^\n|;&]*\s--stack[ =][\"']?", r"(?![\w-])"),
)
_KEYS = (
    (re.compile(r"(?i)(?:.*[a-z_-])?region"), ("Region",)),
    (re.compile(r"(?:AWS_)?ACCOUNT_ID|Source(?:Account|Owner)|(?:Peer)?OwnerId|PeerOwner|AccountId"), ("AccountId",)),
    (re.compile(r"(?:CFN_)?STACK_NAME|[Ss]tackName"), ("StackName", "StackId")),
)
"""Names of properties and variables that say what their value is."""
_FORMS = {"AccountId": re.compile(r"\d{12}"), "Region": re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d")}
_OWN_KEYS = ("Condition", "Tags", "Outputs")
"""What holds keys with other rules."""


def wrong_pseudo_parameters(call: Call) -> Iterator[Misreference]:
    """The pseudo parameter of a call that surely gives another value than its place has."""
    text = _text(call.name, call.argument)
    said = _in_text(text) if text is not None else _alone(call) or _of_mapping(call)
    if said is not None:
        given, wanted, words = said
        message = f"AWS::{given} stands for {words}, which is AWS::{wanted}"
        yield call.mistake(message, call.argument if isinstance(call.argument, str) else text, f"AWS::{wanted}")


def _text(name: str, argument: Raw) -> str | None:
    """The text of a function, pseudo parameters between two holes and other variables as one."""
    if name == "Fn::Sub":
        written = argument[0] if isinstance(argument, list) and argument else argument
        own = argument[1] if isinstance(argument, list) and len(argument) == 2 else {}
        return _spelled(written, own if isinstance(own, dict) else {}) if isinstance(written, str) else None
    if name == "Fn::Join" and isinstance(argument, list) and len(argument) == 2 and isinstance(argument[1], list):
        delimiter, items = argument
        return delimiter.join(map(_item, items)) if isinstance(delimiter, str) and isinstance(items, list) else None
    return None


def _spelled(written: str, own: Mapping[str, Raw]) -> str:
    return _VARIABLE.sub(lambda found: _HOLE if found[1] in own else _shown(found[1]), written)


def _item(value: Raw) -> str:
    if isinstance(value, str):
        return value
    name = value.get("Ref") if isinstance(value, dict) and len(value) == 1 else None
    return _shown(name) if isinstance(name, str) else _HOLE


def _shown(name: str) -> str:
    pseudo = name.removeprefix("AWS::")
    return f"{_HOLE}{pseudo}{_HOLE}" if name.startswith("AWS::") and pseudo in _VALUES else _HOLE


_SHOWN = re.compile(f"{_HOLE}({'|'.join(_VALUES)}){_HOLE}")


def _in_text(text: str) -> tuple[str, str, str] | None:
    """The first pseudo parameter at a place for another one: what is given, what is wanted, and the place in words."""
    for found in _SHOWN.finditer(text):
        before, behind = text[max(0, found.start() - _LONGEST) : found.start()], text[found.end() : found.end() + _LONGEST]
        place = next((one for one in _PLACES if one.before.search(before) and one.behind.match(behind)), None)
        if place is not None and found[1] not in place.wanted:
            return found[1], place.wanted[0], place.words
    return None


def _alone(call: Call) -> tuple[str, str, str] | None:
    """A pseudo parameter as the value of a property, a variable or the like that says what it has."""
    name = call.argument.removeprefix("AWS::") if call.name == "Ref" and isinstance(call.argument, str) else ""
    if name not in _VALUES or call.argument != f"AWS::{name}" or call.written() != call.argument:
        return None
    key = _key(call)
    wanted = next((wanted for pattern, wanted in _KEYS if pattern.fullmatch(key)), None)
    return (name, wanted[0], key) if wanted is not None and name not in wanted else None


def _of_mapping(call: Call) -> tuple[str, str, str] | None:
    """A pseudo parameter that chooses from a mapping by something else than the keys of the mapping are."""
    argument = call.argument if call.name == "Fn::FindInMap" and isinstance(call.argument, list) else []
    name, chosen = argument[:2] if len(argument) > 1 else (None, None)
    keys = section(call.template, "Mappings").get(name) if isinstance(name, str) else None
    given = str(chosen.get("Ref")).removeprefix("AWS::") if isinstance(chosen, dict) else ""
    if not isinstance(keys, dict) or given not in _VALUES:
        return None
    wanted = next((one for one, form in _FORMS.items() if all(form.fullmatch(key) for key in keys)), given)
    return (given, wanted, f"a key of the mapping {name}") if wanted != given else None


def _key(call: Call) -> str:
    """The name that a value has: its key, or the name beside it in a list of variables."""
    path: Sequence[str | int] = call.path
    if not path or any(one in _OWN_KEYS for one in path) or pseudo_parameters(str(path[-1])) is not None:
        return ""
    if path[-1] in ("Value", "value") and len(path) > 1:
        beside = raw_at(call.owner, path[:-1])
        name = next((beside[one] for one in ("Name", "name") if isinstance(beside, dict) and isinstance(beside.get(one), str)), "")
        return str(name)
    key = next((one for one in reversed(path) if isinstance(one, str)), "")
    return "AccountId" if key == "AWS" and "Principal" in path else key
