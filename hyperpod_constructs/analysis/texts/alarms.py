"""Metric alarms of CloudWatch: statistics, periods and metric math.

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html,
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Statistics-definitions.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from hyperpod_constructs.analysis.schema.violation import listed, meant, nearest, quoted
from hyperpod_constructs.analysis.texts.metrics import asked_of, published
from hyperpod_constructs.analysis.texts.own_metrics import written
from hyperpod_constructs.analysis.texts.reading import known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping, rivals
from hyperpod_constructs.facts import metric_names
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_int, as_str

ALARM = "AWS::CloudWatch::Alarm"
_SIMPLE = ("SampleCount", "Average", "Sum", "Minimum", "Maximum")
_NUMBER = r"\d{1,12}(?:\.\d{1,10})?"
_EXTENDED = re.compile(
    rf"(?:p|tm|wm|tc|ts)(?:{_NUMBER})|IQM|(?:TM|WM|TC|TS)\((?:{_NUMBER}%)?:(?:{_NUMBER}%)?\)|"
    rf"(?:TM|WM|TC|TS|PR)\((?:{_NUMBER})?:(?:{_NUMBER})?\)"
)
_PERCENTILE = re.compile(r"(?:p|tm|wm|tc|ts)(\d[\d.]*)")
_EXTENDED_WORDS = "p99, p99.9, tm90, TM(10%:90%), PR(:300), IQM and so on"
_MISSING = ("breaching", "notBreaching", "ignore", "missing")
ACTIONS = ("AlarmActions", "OKActions", "InsufficientDataActions")
_HOUR, _DAY = 3600, 86_400


def extended_statistic(value: Value) -> Slips:
    """A percentile, a trimmed mean and the like."""
    text = known(value)
    if not text:
        return
    match = _PERCENTILE.fullmatch(text)
    if text in _SIMPLE:
        yield Slip(f"{text} is a Statistic, not an ExtendedStatistic", _EXTENDED_WORDS, found=text)
    elif len(text) > 60 or not _EXTENDED.fullmatch(text) or (match and float(match[1]) > 100):
        yield Slip(f"the statistic {quoted(text)} is none", _EXTENDED_WORDS, found=text)


def statistic(value: Value) -> Slips:
    """A statistic of a metric in a list: simple or extended."""
    text = known(value)
    if text and text not in _SIMPLE:
        near = nearest(text, _SIMPLE)
        if near and not _EXTENDED.fullmatch(text):
            yield Slip(
                f"the statistic {quoted(text)} is none; the nearest is {near}", f"{listed(_SIMPLE)}, {_EXTENDED_WORDS}", found=text
            )
        else:
            yield from extended_statistic(text)


def period(value: Value) -> Slips:
    """The seconds of a period."""
    seconds = as_int(value)
    if seconds is not None and not (seconds in (10, 20, 30) or (seconds > 0 and seconds % 60 == 0)):
        nearby = max(60, round(seconds / 60) * 60)
        yield Slip(f"the period has {seconds} seconds; the nearest is {nearby}", "10, 20, 30, or a multiple of 60", found=value)


def treatment(value: Value) -> Slips:
    """What missing data are to an alarm."""
    text = known(value)
    if text and text not in _MISSING:
        near = nearest(text, _MISSING)
        yield Slip(
            f"missing data are treated as {text!r}{f'; the nearest is {near}' if near else ''}", listed(_MISSING), found=text
        )


def together(alarm: Resource) -> Slips:
    """What the properties of an alarm demand of each other."""
    count, hits = as_int(alarm.get("EvaluationPeriods")), as_int(alarm.get("DatapointsToAlarm"))
    if count is not None and hits is not None and hits > count:
        yield Slip(f"{hits} of {count} periods are to breach", f"1 to {count}", ("DatapointsToAlarm",), hits)
    yield from _span(alarm, count)
    yield from _names_of_dimensions(alarm.get("Dimensions"), ("Dimensions",))
    metrics = alarm.get("Metrics")
    if isinstance(metrics, tuple):
        yield from _queries(alarm, metrics)
    else:
        yield from published(asked_of(alarm.properties, period=alarm.get("Period"), at=("Period",), model=alarm.template.model))
    yield from written(alarm)
    if as_bool(alarm.get("ActionsEnabled")) is False and any(alarm.get(one) not in (ABSENT, ()) for one in ACTIONS):
        yield Slip("the actions of the alarm are off", "ActionsEnabled: true", ("ActionsEnabled",), dead=True)
    named = as_str(alarm.get("Statistic")), as_str(alarm.get("ExtendedStatistic"))
    if all(named):
        yield rivals("Statistic", "ExtendedStatistic", named[1])
    low = as_str(alarm.get("EvaluateLowSampleCountPercentile"))
    if low and low not in ("evaluate", "ignore"):
        yield Slip(f"few samples are treated as {low!r}", "evaluate, ignore", ("EvaluateLowSampleCountPercentile",), low)


def _span(alarm: Resource, count: int | None) -> Slips:
    """Periods times seconds are at most a day, or a week for periods of an hour and more."""
    periods = [as_int(alarm.get("Period"))]
    periods += [
        as_int(mapping(mapping(query).get("MetricStat")).get("Period", ABSENT)) for _, query in entries(alarm.get("Metrics"))
    ]
    known_periods = [one for one in periods if one is not None]
    if count is None or not known_periods:
        return
    seconds = max(known_periods)
    most = 7 * _DAY if seconds >= _HOUR else _DAY
    if count * seconds > most:
        message = f"{count} periods of {seconds} seconds are {count * seconds:,} seconds"
        yield Slip(message, f"at most {most:,} seconds together, here {most // seconds} periods", ("EvaluationPeriods",), count)


def _names_of_dimensions(value: Value, path: tuple[str | int, ...]) -> Slips:
    names = [name for _, one in entries(value) if (name := known(mapping(one).get("Name", ABSENT)))]
    for name, times in Counter(names).items():
        if times > 1:
            yield Slip(f"the dimension {name} is there {times} times", "each name once", path, value)


def _queries(alarm: Resource, metrics: tuple[Value, ...]) -> Slips:
    ids = [known(mapping(query).get("Id", ABSENT)) for query in metrics]
    if None in ids or not all(isinstance(query, Mapping) for query in metrics):
        return
    known_ids = [one for one in ids if one]
    for index, id in enumerate(known_ids):
        if id in known_ids[:index]:
            yield Slip(f"two metrics have the id {id}", "different ids", ("Metrics", index, "Id"), id)
            return
    for index, query in enumerate(metrics):
        for slip in _query(alarm, mapping(query), known_ids):
            yield slip.below("Metrics", index)
    yield from _returned(metrics)
    band = known(alarm.get("ThresholdMetricId"))
    if band and band not in known_ids:
        yield Slip(f"no metric has the id {band}", f"one of {listed(known_ids)}", ("ThresholdMetricId",), band)
    elif band:
        expression = known(mapping(metrics[known_ids.index(band)]).get("Expression", ""))
        if expression is not None and "ANOMALY_DETECTION_BAND" not in expression:
            message = f"{band} is no band of expected values"
            yield Slip(message, "the id of an ANOMALY_DETECTION_BAND", ("ThresholdMetricId",), band)
    if any(alarm.get(name) is not ABSENT for name in ("MetricName", "Statistic", "Period", "Namespace")):
        yield Slip("Metrics excludes MetricName, Namespace, Period and Statistic", "one of the two", ("Metrics",))


def _returned(metrics: tuple[Value, ...]) -> Slips:
    """Exactly one metric is watched; a band that belongs to it counts too."""
    answers = [mapping(query).get("ReturnData", True) for query in metrics]
    if any(as_bool(answer) is None for answer in answers):
        return
    bands = [query for query in metrics if "ANOMALY_DETECTION_BAND" in (spelled(mapping(query).get("Expression", ABSENT)) or "")]
    watched = [index for index, answer in enumerate(answers) if as_bool(answer)]
    if len(watched) != 1 and not bands:
        many = f"{len(watched)} metrics return data" if watched else "no metric returns data"
        yield Slip(f"{many}, and an alarm watches one", "ReturnData: true of one, and false of all others", ("Metrics",))


def _query(alarm: Resource, query: Mapping[str, Value], ids: list[str]) -> Slips:
    stat, expression = query.get("MetricStat", ABSENT), query.get("Expression", ABSENT)
    if isinstance(stat, Mapping):
        metric = mapping(stat.get("Metric"))
        yield from _names_of_dimensions(metric.get("Dimensions"), ("MetricStat", "Metric", "Dimensions"))
        where, model = ("MetricStat", "Period"), alarm.template.model
        yield from published(asked_of(metric, *("MetricStat", "Metric"), period=stat.get("Period", ABSENT), at=where, model=model))
    if isinstance(stat, Mapping) and known(expression):
        yield rivals("MetricStat", "Expression", expression)
    text = known(expression)
    if text:
        for slip in metric_math(text, ids):
            yield slip.below("Expression")


_MATH_TOKEN = re.compile(r"\s+|\"[^\"]*\"|'[^']*'|[A-Za-z_]\w*|\d+(?:\.\d*)?|\.\d+|[-+*/^(),\[\]]|<=|>=|==|!=|&&|\|\||[<>]")


_LONGEST_MATH = 2048


def metric_math(text: str, ids: list[str]) -> Slips:
    """An expression of metric math, over metrics with these ids."""
    if len(text) > _LONGEST_MATH or text.lstrip().upper().startswith("SELECT "):
        return
    position, words, open_, before = 0, [], 0, ""
    tokens: list[str] = []
    while position < len(text):
        match = _MATH_TOKEN.match(text, position)
        if match is None:
            yield Slip(f"the expression {quoted(text)} has {text[position]!r} at column {position + 1}", _MATH, found=text)
            return
        token, position = match[0], match.end()
        open_ += (token in ("(", "[")) - (token in (")", "]"))
        if open_ < 0:
            break
        if _is_operand(before) and _is_operand(token):
            yield Slip(f"the expression {quoted(text)} has no operator between {before} and {token}", _MATH, found=text)
            return
        before = before if token.isspace() else token
        tokens += () if token.isspace() else (token,)
        if token[0].isalpha() or token[0] == "_":
            words.append(token)
    if open_:
        yield Slip(f"the parentheses of {quoted(text)} do not match", _MATH, found=text)
        return
    if "SEARCH" in words:
        yield Slip("an alarm takes no SEARCH, which yields many series", "metric math that yields one series", found=text)
    for word in words:
        if word[0].islower() and word not in ids:
            yield Slip(f"the expression names {word!r}, and no metric has this id", f"ids: {listed(ids)}", found=text)
            return
    yield from _calls(text, tokens)


def _calls(text: str, tokens: list[str]) -> Slips:
    """Functions that metric math does not have, or that are called with too few or too many arguments."""
    open_: list[tuple[str, int]] = []
    for before, token in pairwise(("", *tokens)):
        if token in ("(", "["):
            named = token == "(" and before.isupper() and len(before) > 1 and before not in ("AND", "OR")
            open_.append((before if named else "", 0))
        elif token == ",":
            open_[-1:] = [(name, commas + 1) for name, commas in open_[-1:]]
        elif token in (")", "]"):
            name, commas = open_.pop()
            count = commas if before == "(" else commas + 1
            least, most = metric_names.MATH_ARGUMENTS.get(name, (0, None))
            if name and name not in metric_names.MATH_ARGUMENTS:
                said = f"metric math has no function {name}{meant(name, metric_names.METRIC_FUNCTIONS)}"
                yield Slip(said, listed(metric_names.METRIC_FUNCTIONS), found=text)
                return
            if count < least or (most is not None and count > most):
                wanted = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
                yield Slip(f"the expression {quoted(text)} calls {name} with {count} arguments", f"{wanted} arguments", found=text)
                return
            if name == "FILL" and before[0].isupper() and before not in metric_names.FILL_WORDS:
                words = metric_names.FILL_WORDS
                said = f"the expression {quoted(text)} fills with {before}{meant(before, words)}"
                yield Slip(said, f"{listed(words)}, a number or a metric", found=text)
                return


def _is_operand(token: str) -> bool:
    """Whether a token is an id or a number; words such as AND stand between others."""
    return bool(token) and (token[0].isdigit() or (token[0].islower() and token[0].isalpha()))


_MATH = "metric math, such as 100 * errors / calls or IF(m1 > 5, 1, 0)"


JUDGES: Mapping[Language, Judge] = {
    Language.STATISTIC: statistic,
    Language.EXTENDED: extended_statistic,
    Language.PERIOD: period,
    Language.MISSING: treatment,
}
WHOLES: Mapping[str, WholeJudge] = {ALARM: together}
