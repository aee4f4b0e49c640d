"""ARNs and references where a property wants a thing of certain services.

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from hyperpod_constructs.analysis.schema.violation import listed, quoted
from hyperpod_constructs.analysis.texts.reading import HOLE, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts import receivers
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.facts.property_schemas import attributes, has_schema
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import target_of
from hyperpod_constructs.templates.values import Either, Reference, Text, Value


def service_of(value: Value) -> str | None:
    """The service of an ARN, as ARNs spell it; `None` if that is not known or it is surely no ARN."""
    if isinstance(value, Reference):
        return _of_reference(value) or None
    text = spelled(value) or ""
    return text.split(":")[2] if text.startswith("arn:") and text.count(":") >= 3 and HOLE not in text.split(":")[2] else None


def _of_reference(reference: Reference) -> str | None:
    """The service of the ARN that a reference gives; empty if it surely gives no ARN, `None` if nobody knows."""
    type_, attribute = target_of(reference).type, reference.attribute
    if type_ not in receivers.ARN_SOURCES:
        form = FORMS.get(type_)
        return "" if form is not None and attribute in form.names else None
    service, given = receivers.ARN_SOURCES[type_]
    if attribute is not None and attribute not in (attributes(type_) or (attribute,)):
        return None
    return service if (attribute or "Ref") in given else ""


def arn_of(value: Value, services: tuple[str, ...]) -> Slips:
    """An ARN of one of these services."""
    if isinstance(value, Either):
        return
    allowed = f"the ARN of {listed(receivers.THINGS.get(one, one) for one in services)}"
    if isinstance(value, Reference):
        found = _of_reference(value)
        if found == "":
            spelled_out = "Ref" if value.attribute is None else f"its {value.attribute}"
            target = target_of(value)
            service = receivers.ARN_SOURCES.get(target.type, ("", ()))[0]
            meant = "; write " + _right(target.logical_id, target.type) if service in services else ""
            yield Slip(
                f"{quoted(value)} is no ARN: {spelled_out} of {target.type} gives another value{meant}", allowed, found=value
            )
        elif found is not None and found not in services:
            yield Slip(f"{quoted(value)} is {_thing(found)}", allowed, found=value)
        elif found is None and _is_of_none(value, services):
            yield Slip(f"{quoted(value)} is that of an {target_of(value).type}", allowed, found=value)
        return
    text = spelled(value)
    if not text or text.startswith(HOLE):
        return
    parts = text.split(":")
    if not re.fullmatch(rf"arn|.*{HOLE}.*", parts[0]):
        yield Slip(f"{quoted(value)} is no ARN", allowed, found=value)
    elif len(parts) < 6 and HOLE not in text:
        yield Slip(f"{quoted(value)} is no whole ARN", allowed, found=value)
    elif len(parts) >= 3 and parts[2] and HOLE not in parts[2] and parts[2] not in services:
        yield Slip(f"{quoted(value)} is {_thing(parts[2])}", allowed, found=value)
    elif len(parts) >= 6 and parts[2] != "automate" and (wrong := _account(parts)):
        yield Slip(f"{quoted(value)} has {wrong}", "12 digits as the account", found=value)


def _is_of_none(reference: Reference, services: tuple[str, ...]) -> bool:
    """Whether a reference gives its resource, and nothing of these services has its type."""
    type_, attribute = target_of(reference).type, reference.attribute
    spaces = tuple(space for one in services for space in receivers.NAMESPACES.get(one, ("",)))
    gives = attribute in (None, "Arn", f"{type_.rpartition('::')[2]}Arn")
    other = has_schema(type_) and type_ not in receivers.ARN_SOURCES and not type_.startswith((*spaces, *receivers.HANDED_ON))
    return gives and other


def _thing(service: str) -> str:
    return f"the ARN of {receivers.THINGS.get(service, service)}"


def _right(logical_id: str, type_: str) -> str:
    attribute = receivers.ARN_SOURCES[type_][1][0]
    return f"!Ref {logical_id}" if attribute == "Ref" else f"!GetAtt {logical_id}.{attribute}"


def _account(parts: list[str]) -> str | None:
    account = parts[4]
    return None if not account or HOLE in account or re.fullmatch(r"\d{12}|aws", account) else f"the account {account!r}"


_LOG_GROUP = "AWS::Logs::LogGroup"


def log_streams_of(value: Value) -> Slips:
    """The ARN of a log group with all its streams: it ends with a colon and a star, as `Fn::GetAtt` gives it."""
    yield from arn_of(value, ("logs",))
    text = spelled(value) if not isinstance(value, Either | Reference) else None
    last = value.parts[-1] if isinstance(value, Text) else None
    ends_in_name = isinstance(last, Reference) and target_of(last).type == _LOG_GROUP and last.attribute is None
    if text and (re.match(rf"arn:[^:]*:logs:.*:log-group:[^:]*[^:{HOLE}]$", text) or ends_in_name):
        yield Slip(f"{quoted(value)} has no streams", "the ARN of the log group with :* at its end", found=value)


def without_streams(value: Value) -> Slips:
    """The ARN of a log group alone, as rules take it: no event comes to the one with all streams.

    Source: https://github.com/aws-samples/serverless-patterns/pull/221
    """
    given = isinstance(value, Reference) and target_of(value).type == _LOG_GROUP and value.attribute == "Arn"
    if given or re.fullmatch(r"arn:[^:]*:logs:.*:log-group:.*:\*", spelled(value) or ""):
        message = f"{quoted(value)} ends with :*, and no event comes to that"
        yield Slip(message, "the ARN of the log group without :* at its end", found=value, dead=True)


_SERVICES: Mapping[Language, tuple[str, ...]] = {
    Language.ACTION: receivers.ALARM_ACTIONS,
    Language.TOPIC: ("sns",),
    Language.QUEUE: ("sqs",),
    Language.QUEUE_OR_TOPIC: ("sqs", "sns"),
    Language.FUNCTION: ("lambda",),
    Language.SOURCE: receivers.EVENT_SOURCE_SERVICES,
    Language.RECEIVER: receivers.RECEIVERS,
    Language.SUBSCRIBER: receivers.LOG_SUBSCRIBERS,
}
JUDGES: Mapping[Language, Judge] = {
    **{language: partial(arn_of, services=services) for language, services in _SERVICES.items()},
    Language.LOG_GROUP: log_streams_of,
}
WHOLES: Mapping[str, WholeJudge] = {}
