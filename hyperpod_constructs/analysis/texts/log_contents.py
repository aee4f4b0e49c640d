"""Filters and queries that ask a log group for lines which nothing writes there.

A group has what its writers write: the audit of a control plane, the calls of a trail, records of flows, lines of builds. A filter
for fields of one kind finds none of them in a group of another kind. Programs may write any lines, so a group to which a function,
a container or an agent may write is believed, unless the code of the function says nothing.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.alone import types_of_users
from hyperpod_constructs.analysis.by_name import named_resource
from hyperpod_constructs.analysis.function_code import FUNCTION
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.texts.reading import known, spelled
from hyperpod_constructs.analysis.texts.service_logs import GROUP, fields_asked, group_written_by
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.log_contents import CONTENTS, FLOWS, Content
from hyperpod_constructs.facts.log_groups import READERS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import Value, as_str, leaves

_NAME, _PATTERN, _QUERY = "LogGroupName", "FilterPattern", "QueryString"
_NAMES = "LogGroupNames/*"
_QUOTED, _SAYS = re.compile(r'"([^"\\]{3,100})"'), re.compile(r"\b(?:print|logg?(?:ing|er)?|stdout|stderr)\b|console\.")
_OF_LAMBDA = re.compile(r"(?i)error|exception|traceback|timed out|START|END|REPORT|INIT|memory|warn|runtime|exit")
"""Words of lines that Lambda itself writes."""
_ACTION = re.compile(r"\w\s{0,9}=\s{0,9}\"?(?:ACCEPT|REJECT)\b")
_ABSENCE = re.compile(r"NOT\s+EXISTS|!=")
_HIDDEN = re.compile(r"""'[^'\n]*'|"[^"\n]*"|/(?:[^/\\\n]|\\.)+/|#[^\n]*""")
_WORD = re.compile(r"(?<![\w.@$`-])[A-Za-z_]\w*")
_MADE = re.compile(r"\bas\s+(\w+)|^\s*(?:fields|display).*?(?<!\w)(\w{1,128})\s{0,9}=", re.MULTILINE)


class Written(NamedTuple):
    """What a group has.

    :param by: who writes it, in words.
    """

    by: str
    content: Content


def filter_of(resource: Resource) -> Slips:
    """A filter that asks for lines of another kind than its group has, or for those of another function."""
    yield from _of_another_function(resource)
    pattern, found = spelled(resource.get(_PATTERN)) or "", written_to(resource, resource.get(_NAME))
    asked, lists = fields_asked(pattern), pattern.lstrip().startswith("[") and bool(_ACTION.search(pattern))
    if not found or (not asked and not lists) or any(one.content is FLOWS for one in found):
        return
    never = lists if not asked else not any(_may_have(one.content, asked, pattern) for one in found)
    if never:
        kind = FLOWS if lists else _kind_of(asked)
        names = set().union(*(one.content.fields for one in found))
        lost = sorted(asked - names) if kind is None else []
        near = meant(lost[0], names) if lost else ""
        what = kind.name if kind is not None else f"a field {' or '.join(lost)}"
        message = f"the filter asks for {what}, and {_says(found)}{near}"
        allowed = _right(resource.template.model, kind) or listed(sorted(names)) or "a field of the lines in the group"
        yield Slip(message, allowed, (_PATTERN if kind is None else _NAME,), dead=True)


def _of_another_function(resource: Resource) -> Slips:
    """A filter for a text that the code of another function has, where the one that writes to its group has it nowhere."""
    pattern, model = known(resource.get(_PATTERN)) or "", resource.template.model
    text, group = _QUOTED.fullmatch(pattern.strip()), named_resource(resource, resource.get(_NAME), GROUP)
    codes = {one: spelled(one.get("Code", "ZipFile")) for one in model.resources(FUNCTION)} if text and group is not None else {}
    here = [one for one in codes if group_written_by(one) is group]
    if text is None or group is None or len(here) != 1 or _has_others(group, {FUNCTION}) or not _is_silent(codes[here[0]], text[1]):
        return
    there = [one for one, code in codes.items() if _may_say(code or "", text[1]) and group_written_by(one) is not None]
    if there:
        right = group_written_by(there[0])
        message = f"the code of {here[0].logical_id} says {text[1]} nowhere, and that of {there[0].logical_id} does"
        yield Slip(message, right.logical_id if right is not None else "", (_NAME,), dead=True)


def _may_say(code: str, text: str) -> bool:
    """Whether a line of code that writes one has a text, which is more than the name of an exception."""
    return (":" in text or " " in text) and any(text in line and _SAYS.search(line) for line in code.splitlines())


def _is_silent(code: str | None, text: str) -> bool:
    """Whether code surely writes no line with a text: it has it nowhere, and says nothing by which data could have it."""
    return code is not None and text not in code and not _SAYS.search(code) and not _OF_LAMBDA.search(text)


def query_of(resource: Resource) -> Slips:
    """A query for fields that no line of its groups has."""
    text = _HIDDEN.sub("''", spelled(resource.get(_QUERY)) or "")
    made = {name for pair in _MADE.findall(text) for name in pair}
    kind = _kind_of(frozenset(_WORD.findall(text)) - made)
    groups = [value for _, value in place_in(resource.get(), _NAMES)]
    found = [written_to(resource, one) for one in groups]
    for index, written in enumerate(found) if kind is not None and all(found) else ():
        if kind is not None and all(one.content is not kind for every in found for one in every):
            message = f"the query asks for {kind.name}, and {_says(written)}"
            yield Slip(message, _right(resource.template.model, kind) or kind.name, ("LogGroupNames", index), dead=True)
            return


def written_to(reader: Resource, value: Value) -> list[Written]:
    """What is written to a group that somebody names; nothing if others may write to it."""
    group = named_resource(reader, value, GROUP)
    name = known(value if group is None else group.get(_NAME)) or ""
    writers = [] if group is None else list(_writers(group))
    if group is not None and _has_others(group, {one.type for one, _ in writers}):
        return []
    by_name = [Written(f"the groups of {one.begin}", one) for one in CONTENTS if one.begin and name.startswith(one.begin)]
    return [Written(one.logical_id, content) for one, content in writers] or by_name


def _writers(group: Resource) -> Iterator[tuple[Resource, Content]]:
    """The resources that write to a group."""
    for content in CONTENTS:
        for type_, place in content.writers.items():
            for one in group.template.model.resources(type_):
                values = [value for _, value in place_in(one.get(), place)] if place else []
                named = any(named_resource(one, value, GROUP) is group for value in values)
                if one.exists and (named if place else group_written_by(one) is group):
                    yield one, content


def _has_others(group: Resource, writers: set[str]) -> bool:
    """Whether anything else names a group, by a reference or in a text, and so may write to it."""
    known_types, name = READERS | writers | {GROUP}, as_str(group.get(_NAME))
    if not types_of_users(group) <= known_types:
        return True
    others = (one for one in group.template.model.resources() if name and one.type not in known_types)
    return any(name in (spelled(leaf) or "") for one in others for leaf in leaves(one.get()) if name)


def _may_have(content: Content, asked: frozenset[str], pattern: str) -> bool:
    """Whether a line may have the fields that a pattern asks for."""
    if content.fields and not _ABSENCE.search(pattern):
        return bool(asked & content.fields) if "||" in pattern else asked <= content.fields
    return all(not asked & one.telling for one in CONTENTS if one is not content)


def _kind_of(asked: frozenset[str]) -> Content | None:
    """The kind of lines that alone has one of some fields."""
    found = [one for one in CONTENTS if asked & one.telling]
    return found[0] if len(found) == 1 else None


def _says(found: list[Written]) -> str:
    return " and ".join(f"{one.by} writes {one.content.name}" for one in found[:2])


def _right(model: Model, kind: Content | None) -> str:
    """The group with a kind of lines; empty if it is not there."""
    groups = [one for one in model.resources(GROUP) if any(content is kind for _, content in _writers(one))]
    return f"{groups[0].logical_id}, with {kind.name}" if groups and kind is not None else ""


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    "AWS::Logs::MetricFilter": filter_of,
    "AWS::Logs::QueryDefinition": query_of,
    "AWS::Logs::SubscriptionFilter": filter_of,
}
