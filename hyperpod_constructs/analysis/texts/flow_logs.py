"""The formats of flow logs, and the filters that read their records.

Sources: https://docs.aws.amazon.com/vpc/latest/userguide/flow-log-records.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

from hyperpod_constructs.analysis.by_name import named_resource
from hyperpod_constructs.analysis.schema.violation import listed, nearest, quoted
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.flow_logs import DEFAULT, FIELDS, OTHERS, VALUES, WORDS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT

_FLOW_LOG, _LOG_GROUP = "AWS::EC2::FlowLog", "AWS::Logs::LogGroup"
_FORMAT, _PATTERN = "LogFormat", "FilterPattern"
_LIST = re.compile(r"\[([^\[\]%()|&]*)\]")
_OF_ACTION = re.compile(r"(?<!\w)\w{1,64}\s{0,9}=\s{0,9}(ACCEPT|REJECT)")
_OTHER_CASE = re.compile(r"action\s*=\s*(?!ACCEPT$|REJECT$)((?i:accept|reject))")
_EQUAL = re.compile(r"\s*\w{1,64}\s{0,9}=\s{0,9}([\w*-]+)\s*")
_TERM = re.compile(r'([-?]?)(?:"((?:[^"\\]|\\.)*)"|(\w[\w.-]*))')
_PLAIN = re.compile(r"[\d.:/-]*|[0-9a-f.:-]+|eni-[0-9a-f]*")
_RECORD = "the fields of a record in order, of a flow log that writes them"
_FIELD = re.compile(r"\$\{([^{}]{0,255})\}")


def flow_log(resource: Resource) -> Slips:
    """The format of a flow log: fields as `${field}`, each with a name that flow logs have."""
    text = known(resource.get(_FORMAT))
    if not text:
        return
    fields = _FIELD.findall(text)
    if not fields:
        yield Slip("the format of the flow log has no field", "fields such as ${srcaddr} ${dstaddr} ${action}", (_FORMAT,), text)
    for field in fields:
        near = OTHERS.get(field.lower()) or typo_of(field, FIELDS)
        if near:
            yield Slip(f"no flow log has the field {field}; the nearest is {near}", f"${{{near}}}", (_FORMAT,), text)
            return


def record_filter(resource: Resource) -> Slips:
    """A filter of the records of flow logs: the action has its place in them, and what it counts is written down."""
    text = (known(resource.get(_PATTERN)) or "").strip()
    pattern, flows = _LIST.fullmatch(text), _flows_to(resource)
    if flows and text.startswith("{"):
        yield Slip("the filter reads JSON, and flow logs write words with spaces between them", _RECORD, (_PATTERN,), dead=True)
    elif flows and all(one.get(_FORMAT) is ABSENT for one in flows) and (term := _strange(text)):
        message = f"the filter asks for {quoted(term)}, and {flows[0].logical_id} writes records of flows without such words"
        yield Slip(message, _RECORD, ("LogGroupName",), resource.get("LogGroupName"), dead=True)
    for place, field in enumerate(pattern[1].replace('"', "").split(",") if pattern and flows else ()):
        found = _OF_ACTION.fullmatch(field.strip())
        if other := _OTHER_CASE.fullmatch(field.strip()):
            message = f"the filter asks for {other[1]}, and flow logs write {other[1].upper()}"
            yield Slip(message, "ACCEPT, REJECT", (_PATTERN,), dead=True)
            return
        if "..." in field:
            return
        if other_value := _other_value(flows, place, field):
            yield other_value
            return
        if found and (said := _never(flows, place, found[1])):
            yield Slip(f"the filter asks for {found[1]} in field {place + 1}, and {said}", _RECORD, (_PATTERN,), dead=True)
            return


def _other_value(flows: list[Resource], place: int, field: str) -> Slip | None:
    """A word that the field at a place never has."""
    found, fields = _EQUAL.fullmatch(field), {one for flow in flows for one in _fields_of(flow)[place : place + 1]}
    values = VALUES.get(fields.pop(), ()) if len(fields) == 1 and all(map(_fields_of, flows)) else ()
    if found is None or not values or any(fnmatchcase(one, found[1]) for one in values) or found[1] in VALUES["action"]:
        return None
    near = nearest(found[1].upper(), values)
    message = f"the filter asks for {found[1]} in field {place + 1}, and flow logs write {near or listed(values)}"
    return Slip(message, listed(values), (_PATTERN,), dead=True)


def _never(flows: list[Resource], place: int, action: str) -> str | None:
    """Why no record has an action at a place."""
    fields = {one for flow in flows for one in _fields_of(flow)[place : place + 1]}
    if all(map(_fields_of, flows)) and "action" not in fields:
        return f"{' or '.join(sorted(fields)) or 'nothing'} is there"
    kinds = {known(flow.get("TrafficType")) for flow in flows}
    other = "ACCEPT" if action == "REJECT" else "REJECT"
    return f"{flows[0].logical_id} writes down only what is {other}" if kinds == {other} else None


def _strange(pattern: str) -> str | None:
    """A term that every match must have, and that no record has: a word with letters which are those of no id and no word there."""
    terms = [] if pattern.startswith("[") or "%" in pattern else _TERM.findall(pattern)
    never = [body for sign, quoted_, bare in terms if sign != "-" and (body := quoted_ or bare) and not _is_of_record(body)]
    choices = [sign for sign, _, _ in terms if sign == "?"]
    return never[0] if never and (not choices or len(never) == len(terms)) else None


def _is_of_record(term: str) -> bool:
    """Whether the words of a term may be in a record."""
    return all(_PLAIN.fullmatch(word) or any(word in one for one in WORDS) for word in term.split())


def _flows_to(reader: Resource) -> list[Resource]:
    """The flow logs that write to the group of a filter."""
    group = named_resource(reader, reader.get("LogGroupName"), _LOG_GROUP)
    flows = group.template.model.resources(_FLOW_LOG) if group is not None else ()
    return [one for one in flows if named_resource(one, one.get("LogGroupName"), _LOG_GROUP) is group]


def _fields_of(flow: Resource) -> tuple[str, ...]:
    """The fields of a record; none if they are not known."""
    return DEFAULT if flow.get(_FORMAT) is ABSENT else tuple(_FIELD.findall(known(flow.get(_FORMAT)) or ""))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_FLOW_LOG: flow_log, "AWS::Logs::MetricFilter": record_filter}
