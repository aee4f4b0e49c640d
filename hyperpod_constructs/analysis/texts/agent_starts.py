"""The start of the CloudWatch agent on nodes: a configuration that it takes counts only when it starts again.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/start-CloudWatch-Agent-on-premise-SSM-onprem.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.node_programs import NodeFile, programs_of
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.scripts import scripts_for
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, on_nodes
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.analysis.texts.systemctl import controls
from hyperpod_constructs.analysis.written_texts import HOLE, text_of
from hyperpod_constructs.facts.texts import Language

_PROGRAM, _SERVICE = "amazon-cloudwatch-agent-ctl", "amazon-cloudwatch-agent.service"
_LEADING = 4
_TAKING, _STARTS = ("append-config", "fetch-config"), "start"
_ACTIONS = (*_TAKING, "cond-restart", "prep-restart", "remove-config", "set-log-level", _STARTS, "status", "stop")
_MODES = ("auto", "ec2", "onPremise", "onprem")
_OPTIONS = "-a", "-m", "-c", "-o", "-l"
"""Options with a value."""
_SOURCES = ("all", "default", "file:", "ssm:")
_STARTED, _LONGEST_LINE = re.compile(r"\b(?:re)?start\b"), 500
_MOST_LINES = 4000


class _Call(NamedTuple):
    """A command of the agent.

    :param values: the values of options by their letters.
    :param restarts: whether the agent starts again.
    """

    values: Mapping[str, str]
    restarts: bool
    by: NodeFile


def _mistakes(group: Group) -> Iterator[Mistake]:
    calls = list(_calls(group))
    for one in calls:
        yield from (Mistake(one.by, f"calls {_PROGRAM} {says}", allowed) for says, allowed in _words(one))
    taking = [one for one in calls if one.values.get("-a") in _TAKING]
    started = [one for one in calls if one.restarts or one.values.get("-a") in (_STARTS, "cond-restart")]
    if taking and not started and not _is_started(group):
        says = f"has the CloudWatch agent take a configuration by {taking[0].values['-a']} without -s, and nothing starts it"
        yield Mistake(taking[0].by, says, f"{taking[0].values['-a']} with -s")


def _calls(group: Group) -> Iterator[_Call]:
    own = {(one.resource, one.path): one for one in programs_of(group).files.values()}
    for script in scripts_for(group):
        run = script.run
        for command in run.called if run is not None else ():
            words = [text_of(word, run) for word in command.words] if run is not None else []
            begin = next((place for place, one in enumerate(words[:_LEADING], 1) if one.rpartition("/")[2] == _PROGRAM), 0)
            if begin:
                yield _read(words[begin:], own[script.resource, script.path])


def _read(words: list[str], by: NodeFile) -> _Call:
    values = {one: value for one, value in pairwise(words) if one in _OPTIONS}
    return _Call(values, "-s" in words or HOLE in words, by)


def _words(one: _Call) -> Iterator[tuple[str, str]]:
    """Words that the agent does not know."""
    for option, words in (("-a", _ACTIONS), ("-m", _MODES)):
        value = one.values.get(option, HOLE)
        if HOLE not in value and value not in words:
            yield f"with {option} {value}, which it does not know", listed(words)
    source = one.values.get("-c", HOLE)
    if HOLE not in source[:5] and not source.startswith(_SOURCES):
        yield f"with -c {source}, which says no place", f"file:{source}"


def _is_started(group: Group) -> bool:
    """Whether something else may start the agent."""
    if any(one.starts and (_SERVICE in one.units or None in one.units) for one in controls(group)):
        return True
    texts = (marked(one.text)[0] or "" for one in programs_of(group).files.values())
    lines = [line[:_LONGEST_LINE] for text in texts for line in text.splitlines()][:_MOST_LINES]
    return any("amazon-cloudwatch-agent" in line and _PROGRAM not in line and _STARTED.search(line) is not None for line in lines)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = on_nodes(_mistakes)
