"""Names of calls that CloudTrail writes down, in filters of its lines and in patterns of its events.

Source: https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from hyperpod_constructs.analysis.texts.reading import HOLE, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.events import NO_SOURCES
from hyperpod_constructs.facts.sdk_calls import by_client
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource

_FILTER = "AWS::Logs::MetricFilter"
_SOURCE = re.compile(r"""\$\.eventSource\s{0,9}=\s{0,9}"?([\w.-]{1,99})""")
_NAME = re.compile(r"""\$\.eventName\s{0,9}=\s{0,9}"?(\w{1,99})""")
_HOST = re.compile(r"([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")
_VERSION = re.compile(r"\d{8}(?:v\d)?$|_\d{4}_\d\d_\d\d$")
_CLIENTS: Mapping[str, str] = {"monitoring": "cloudwatch", "elasticfilesystem": "efs", "states": "stepfunctions"}
"""Clients of boto3 whose name is not that of the service's host."""
_PRODUCTS = ("HyperPod", "SageMaker")


def lost_names(source: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names that are no operations of a service, each with the one that was surely meant."""
    host = _HOST.fullmatch(source)
    operations = None if host is None else by_client(_CLIENTS.get(host[1], host[1]))
    known = [one.name for one in (operations or {}).values()]
    for name in names:
        plain = _VERSION.sub("", name)
        near = _meant(plain, known, str(host and host[1])) if known and plain not in known else None
        if near is not None:
            yield name, near


def right_source(source: str) -> str | None:
    """The source of events that was meant by one that CloudTrail never writes."""
    host = _HOST.fullmatch(source)
    right = None if host is None else NO_SOURCES.get(host[1])
    return None if right is None else f"{right}.amazonaws.com"


def _meant(name: str, known: list[str], service: str) -> str | None:
    """The operation that was meant: it is spelled otherwise, or has not the name of the product in it."""
    shorter = [re.sub(word, "", name, flags=re.IGNORECASE) for word in (*_PRODUCTS, service)]
    return typo_of(name, known) or next((one for one in shorter if one in known), None)


def metric_filter(resource: Resource) -> Slips:
    """A filter for the calls of one service: they are its operations."""
    text = spelled(resource.get("FilterPattern")) or ""
    sources = {*_SOURCE.findall(text)}
    for source in sorted(sources):
        if right := right_source(source):
            yield Slip(f"CloudTrail writes no eventSource {source}, but {right}", right, ("FilterPattern",), text, dead=True)
            return
    for name, near in lost_names(sources.pop(), _NAME.findall(text)) if len(sources) == 1 and HOLE not in text else ():
        yield Slip(f"no call is named {name}; the nearest is {near}", near, ("FilterPattern",), text, dead=True)
        return


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_FILTER: metric_filter}
