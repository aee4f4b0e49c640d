"""Queries of CloudWatch Logs Insights, and what a policy on lines finds in them.

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/protect-sensitive-log-data-types.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.schema.violation import listed, nearest
from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.log_queries import COMMANDS, IDENTIFIERS, OF_OTHERS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT

_QUERY, _GROUP = "AWS::Logs::QueryDefinition", "AWS::Logs::LogGroup"
_QUOTED = re.compile(r"""'[^'\n]*'|"[^"\n]*"|`[^`\n]*`|/(?:[^/\\\n]|\\.)+/|#[^\n]*""")
_WORD = re.compile(r"[A-Za-z]+")
_IDENTIFIER = "data-identifier/"


def query(text: str) -> Slips:
    """The first command of a query that the language does not have."""
    known_words = {one.lower() for one in COMMANDS}
    for part in _QUOTED.sub("''", text).split("|"):
        found = _WORD.match(part.strip())
        name = found[0] if found is not None and HOLE not in part else ""
        near = nearest(name, COMMANDS) if name and name.lower() not in known_words else None
        if near is not None or name.lower() in OF_OTHERS:
            end = f"; the nearest is {near}" if near else ""
            yield Slip(f"Logs Insights has no command {name}{end}", listed(COMMANDS), found=text, dead=True)
            return


def definition(resource: Resource) -> Slips:
    """A query that is kept, in the language of Logs Insights."""
    text = spelled(resource.get("QueryString"))
    if text and resource.get("QueryLanguage") in (ABSENT, "CWLI"):
        yield from (slip.below("QueryString") for slip in query(text))


def identifiers(group: Resource) -> Slips:
    """What a policy finds in lines is known by its name: a part of one is none."""
    for index, statement in entries(group.get("DataProtectionPolicy", "Statement")):
        for place, one in entries(mapping(statement).get("DataIdentifier", ABSENT)):
            name = (known(one) or "").rpartition(_IDENTIFIER)[2]
            begun = sorted(other for other in IDENTIFIERS if name and other.startswith(name))
            near = nearest(name, IDENTIFIERS) or next(iter(begun), None)
            if name not in IDENTIFIERS and _IDENTIFIER in str(one) and near is not None:
                path = ("DataProtectionPolicy", "Statement", index, "DataIdentifier", place)
                yield Slip(f"no data are identified by {name}; the nearest is {near}", "an identifier of AWS", path, one)
                return


def protection(group: Resource) -> Slips:
    """A policy that masks what it audits: both statements have the same identifiers."""
    yield from identifiers(group)
    path = ("DataProtectionPolicy", "Statement")
    lists = [[known(one) for _, one in entries(mapping(one).get("DataIdentifier", ABSENT))] for _, one in entries(group.get(*path))]
    if len(lists) == 2 and not any(None in one for one in lists) and sorted(map(str, lists[0])) != sorted(map(str, lists[1])):
        message = "the statement that masks has other identifiers than the one that audits"
        yield Slip(message, "the same identifiers in both", (*path, 1, "DataIdentifier"))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_QUERY: definition, _GROUP: protection}
