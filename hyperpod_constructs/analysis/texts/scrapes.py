"""Scrape configurations of Prometheus, in base64: jobs, discovery, relabelling, times.

Sources: https://prometheus.io/docs/prometheus/latest/configuration/configuration/ and
https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-collector-how-to.html
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping

from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.texts.reading import HOLE, from_yaml, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts import promql
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.values import Value

_PART = re.compile(r"(\d{1,9})(ms|[smhdwy])")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0, "y": 31_536_000.0}


def scrape_configuration(value: Value) -> Slips:
    """The configuration of a scraper."""
    text = spelled(value)
    if not text or HOLE in text:
        return
    try:
        plain = b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, ValueError):
        yield Slip("the configuration is not in base64", "YAML in base64 (Fn::Base64)")
        return
    data = from_yaml(plain)
    if isinstance(data, Slip):
        yield data
    else:
        yield from _configuration(mapping(data))


def _configuration(data: Mapping[str, Value]) -> Iterator[Slip]:
    jobs, own = data.get("scrape_configs"), mapping(data.get("global"))
    if not isinstance(jobs, tuple):
        yield Slip("the configuration has no list of scrape_configs", "scrape_configs, each with a job_name")
    yield from _strange("the configuration", data, promql.CONFIGURATION_KEYS)
    yield from _strange("global", own, promql.GLOBAL_KEYS)
    yield from _times("global", own, own)
    names: set[str] = set()
    for index, one in entries(jobs):
        job, place = mapping(one), f"scrape_configs/{index}"
        name = job.get("job_name")
        if name is None or str(name) in names:
            said = "has no job_name" if name is None else f"has the job_name {name} of another"
            yield Slip(f"{place} {said}", "a job_name of its own")
        names.add(str(name))
        yield from _job(place, job, own)


def _strange(place: str, data: Mapping[str, Value], names: Iterable[str]) -> Iterator[Slip]:
    known = list(names)
    for name in data:
        if name not in known and not name.endswith(promql.DISCOVERY):
            yield Slip(f"{place} has no {name}{meant(name, known)}", listed(known))


def _job(place: str, job: Mapping[str, Value], own: Mapping[str, Value]) -> Iterator[Slip]:
    yield from _strange(place, job, promql.JOB_KEYS)
    yield from _times(place, job, own)
    for index, one in entries(job.get(f"kubernetes{promql.DISCOVERY}")):
        role = mapping(one).get("role")
        if role not in promql.KUBERNETES_ROLES:
            says = f"has the role {role}{meant(str(role), promql.KUBERNETES_ROLES)}" if role is not None else "has no role"
            yield Slip(f"{place}/kubernetes{promql.DISCOVERY}/{index} {says}", listed(promql.KUBERNETES_ROLES))
    for index, one in entries(job.get("static_configs")):
        targets = mapping(one).get("targets")
        if targets is None or isinstance(targets, str):
            says = f"has the targets {targets}" if targets is not None else "has no targets"
            yield Slip(f"{place}/static_configs/{index} {says}", "a list of hosts with ports")
    for key in ("relabel_configs", "metric_relabel_configs"):
        for index, one in entries(job.get(key)):
            yield from _relabel(f"{place}/{key}/{index}", mapping(one))


def _relabel(place: str, one: Mapping[str, Value]) -> Iterator[Slip]:
    yield from _strange(place, one, promql.RELABEL_KEYS)
    action = str(one.get("action", "replace"))
    if action.lower() not in promql.RELABEL_ACTIONS:
        yield Slip(f"{place} has the action {action}{meant(action, promql.RELABEL_ACTIONS)}", listed(promql.RELABEL_ACTIONS))
    elif action.lower() in ("replace", "hashmod", "lowercase", "uppercase", "keepequal", "dropequal") and "target_label" not in one:
        yield Slip(f"{place} has the action {action} and no target_label", "a target_label")
    pattern = one.get("regex")
    if isinstance(pattern, str) and (wrong := _wrong_pattern(pattern)):
        yield Slip(f"regex of {place} {wrong}", "a regular expression")


def _wrong_pattern(pattern: str) -> str | None:
    """What is wrong with a pattern: parentheses and brackets alone, as Prometheus has another dialect than Python."""
    plain = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "", pattern)
    depth = 0
    for character in plain:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
    return "has parentheses that do not match" if depth else None


def _times(place: str, job: Mapping[str, Value], own: Mapping[str, Value]) -> Iterator[Slip]:
    """Targets answer before they are asked again."""
    interval = job.get("scrape_interval", own.get("scrape_interval", promql.DEFAULT_INTERVAL))
    timeout = job.get("scrape_timeout", own.get("scrape_timeout"))
    for name, given in (("scrape_interval", interval), ("scrape_timeout", timeout)):
        if given is not None and name in job and _seconds(given) is None:
            yield Slip(f"{name} of {place} is {given}", "a duration such as 30s or 1m")
    every, most = _seconds(interval), _seconds(timeout)
    here = "scrape_interval" in job or "scrape_timeout" in job
    if here and every is not None and most is not None and most > every:
        yield Slip(f"{place} asks each {interval}, and waits {timeout} for an answer", f"at most {interval}")


def _seconds(value: Value) -> float | None:
    text = str(value)
    parts = _PART.findall(text)
    return sum(float(number) * _SECONDS[unit] for number, unit in parts) if parts and "".join(map("".join, parts)) == text else None


JUDGES: Mapping[Language, Judge] = {Language.SCRAPES: scrape_configuration}
WHOLES: Mapping[str, WholeJudge] = {}
