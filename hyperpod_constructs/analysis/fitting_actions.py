"""Whether actions of IAM are known, and work on the resources that a statement names with them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.analysis.arns import Arn
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.facts.iam_actions import FLAT, UNLISTED, WHOLE, Action, is_service, service_actions
from hyperpod_constructs.templates.globs import Digits, Segment, glob
from hyperpod_constructs.templates.values import Value, as_str

VARIABLE = re.compile(r"\$\{[\w-]+:[^}]+\}")
"""A variable of policies."""
_UNKNOWN, _NAME = "\0", "\1"
"""Parts of a pattern that are not known; the second ones are names without a slash."""
_ALONE = frozenset(("dynamodb", "ecr", "s3", "secretsmanager", "sns", "sqs"))
"""Services whose actions are on their own resources alone. Others take those of several: a session on a node is on its cluster."""
_WITH_SERVICE = 4
"""The fields of an ARN up to its service, and all others as one."""
_WILD, _ANY = re.compile(r"[*?\0\1]"), re.compile(r"[*?\0]")
_POINT_OBJECT, _OBJECTS = "accesspointobject", "object/"
_OF_STREAMS = ("logs", "log-stream")


def named_actions(statement: Statement) -> Iterator[Action]:
    """The known actions that a statement names without wildcards."""
    for text in filter(None, map(as_str, statement.actions)):
        found = (service_actions(text.lower().partition(":")[0]) or {}).get(text.lower())
        if found is not None:
            yield found


def unknown_action(text: str) -> str | None:
    """Why no action has a name, in words; `None` if one has it, or may."""
    lowered = text.lower()
    prefix, found, _ = lowered.partition(":")
    if not found or "*" in prefix or "?" in prefix:
        return None
    if not is_service(prefix):
        return f"no service has the prefix {prefix!r}"
    known = service_actions(prefix)
    if (
        known is None
        or lowered in known
        or lowered in UNLISTED
        or (_WILD.search(lowered) and any(glob(lowered, name) for name in known))
    ):
        return None
    from difflib import get_close_matches  # kept off the import path: only an unknown name needs it

    nearest = get_close_matches(lowered, known, n=1, cutoff=0.7)
    return f"no action is known as {text}{f'; did you mean {known[nearest[0]].name}?' if nearest else ''}"


def are_of_no_resource(statement: Statement) -> bool:
    """Whether all actions of a statement are known, and work on no resource."""
    found = list(named_actions(statement))
    return (
        bool(found)
        and not statement.excludes_actions
        and len(found) == len(statement.actions)
        and not any(one.types for one in found)
    )


def unfit_actions(statement: Statement) -> list[str]:
    """The actions that do not work on the resources. Guides list some without resources beside others: they count only alone."""
    named = [] if statement.excludes_resources else list(named_actions(statement))
    unfit = [action for action in named if not _works(action, statement)]
    return [action.name for action in unfit if action.types or len(unfit) == len(statement.actions)]


def strangers(statement: Statement) -> Iterator[Value]:
    """The resources of a service to which no action of a statement belongs, if all its actions are known."""
    named = [] if statement.excludes_resources else list(named_actions(statement))
    services = {service for action in named for service, _ in action.types.values()}
    known = (
        _ALONE.issuperset(services)
        and bool(services)
        and {action.name.lower() for action in named} == {str(one).lower() for one in statement.actions}
    )
    for pattern in statement.resources if known else ():
        first = Arn(pattern).spelled[0] if Arn(pattern).spelled else ""
        fields = first.split(":", 3) if isinstance(first, str) else []
        if len(fields) == _WITH_SERVICE and not any(glob(fields[2], service) for service in services):
            yield pattern


def _works(action: Action, statement: Statement) -> bool:
    """Whether an action may work on one of a statement's resources; one that knows no resources works on `*` alone."""
    return any(fits(action, pattern) for pattern in statement.resources)


def fits(action: Action, pattern: Value) -> bool:
    """Whether an action may work on what a pattern covers."""
    parts = Arn(pattern).spelled
    text = "".join(part if isinstance(part, str) else _NAME if isinstance(part, Digits | Segment) else _UNKNOWN for part in parts)
    fields = VARIABLE.sub("*", text).split(":", 5)
    if set(text) <= {"*", _UNKNOWN} or len(fields) < 6 or "${" in "".join(fields):
        return True
    owner, place, last = _WILD.sub("*", fields[2]), fields[3], fields[5]
    if not action.types and owner in WHOLE and _WILD.sub("", last).strip(":") in WHOLE[owner]:
        return True
    return any(
        glob(owner, service) and _is_of_type(service, type_, begin, place, last) for type_, (service, begin) in action.types.items()
    )


def _is_of_type(service: str, type_: str, begin: str, place: str, last: str) -> bool:
    """Whether a pattern, with this region and this last field, may be that of a type of resource."""
    literal = _WILD.split(last)[0]
    if service == "s3" and not begin and place and last.startswith("accesspoint/"):
        return False
    if service == "s3" and not begin:
        return ("/" not in last) if type_ == "bucket" else "/" in last or _ANY.search(last) is not None
    if service == "s3" and (not place or (type_ == _POINT_OBJECT and not _is_below_point(last))):
        return False
    if (service, type_) == _OF_STREAMS and ":log-stream:" not in last and not last.endswith(":") and not _ANY.search(last):
        return False
    if (service, begin) in FLAT and last.startswith(begin) and "/" in last[len(begin) :]:
        return False
    return literal.startswith(begin) or (literal != last and begin.startswith(literal))


def _is_below_point(last: str) -> bool:
    """Whether the last field of an ARN may be that of objects of an access point, which lie under `object/`."""
    point, _, key = last.removeprefix("accesspoint/").partition("/")
    begin = _ANY.split(key)[0]
    return _ANY.search(point) is not None or begin.startswith(_OBJECTS) or (begin != key and _OBJECTS.startswith(begin))
