"""Code that waits longer than its function may run, or than CloudFormation waits for the function.

A wait is known where its seconds are numbers: one sleep, a loop of so many rounds, a waiter, or the patience of a connection whose
failure the code handles. A function may also leave the answer to a build that it starts.

Sources: https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html and
https://boto3.amazonaws.com/v1/documentation/api/latest/guide/clients.html#waiters
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from hyperpod_constructs.analysis.build_commands import PROJECT
from hyperpod_constructs.analysis.custom_resources import PREFIXES, made_by
from hyperpod_constructs.analysis.first_calls import called_first
from hyperpod_constructs.analysis.function_answers import tree_of
from hyperpod_constructs.analysis.function_code import FUNCTION, calls_of
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_int, as_str

if TYPE_CHECKING:
    import ast

_DEFAULT, _MOST = 3, 900
"""The seconds that a function may run if its template does not say it, and at most."""
_LEFT = "get_remaining_time_in_millis"
_TIMED_OUT = re.compile(r"OSError|IOError|Exception|URLError|(?i:timeout)|socket\.error")
_IN_JAVASCRIPT = re.compile(r"\bsetTimeout\(\s*[\w.]+\s*,\s*(\d{1,9})\s*\)")
_START, _INVOKE, _ANSWER = "codebuild:StartBuild", "lambda:InvokeFunction", "ResponseURL"
_PATIENCE, _LONGEST = "ServiceTimeout", 3600
"""The property with the seconds that CloudFormation waits for an answer, and how long it waits by default."""
_LEAST = 5
"""The fewest minutes that a build can be given."""


class Wait(NamedTuple):
    """A wait in some code.

    :param least: whether the function cannot even run so long.
    """

    line: int
    seconds: float
    words: str
    least: bool = False


def waits(function: Resource) -> Slips:
    """The longest wait of a function, against the seconds that it may run."""
    given = function.get("Timeout")
    most = _DEFAULT if given is ABSENT else as_int(given)
    tree = tree_of(function)
    code = as_str(function.get("Code", "ZipFile")) or ""
    if most is not None and _LEFT in code and tree is not None and _polls(tree) and not _goes_on(function):
        yield from _build(function, most)
    if most is None or _LEFT in code:
        return
    found = [*_in_python(tree)] if tree is not None else [*_in_javascript(code)] if "setTimeout" in code else []
    long = [one for one in found if one.seconds > most or (one.least and one.seconds == most)]
    if long:
        worst = max(long, key=lambda one: one.seconds)
        message = f"line {worst.line} of the code {worst.words} {worst.seconds:g} seconds, and the function runs for {most}"
        yield Slip(message, f"more than {worst.seconds:g} seconds, or a shorter wait", ("Timeout",), given, dead=True)
    elif tree is not None and _polls(tree):
        yield from _build(function, most)
        yield from _impatient(function, most)


def _in_javascript(code: str) -> Iterator[Wait]:
    for found in _IN_JAVASCRIPT.finditer(code):
        yield Wait(code.count("\n", 0, found.start()) + 1, int(found[1]) / 1000, "waits", least=True)


def _in_python(tree: ast.Module) -> Iterator[Wait]:
    import ast  # few templates have code

    numbers = _numbers(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.For):
            rounds = _rounds(node.iter, numbers)
            slept = sum(_slept(one.value, numbers) or 0 for one in node.body if isinstance(one, ast.Expr))
            if rounds and slept:
                yield Wait(node.lineno, rounds * slept, f"waits {rounds:g} times {slept:g} seconds:")
        elif isinstance(node, ast.Call):
            seconds = _slept(node, numbers)
            if seconds:
                yield Wait(node.lineno, seconds, "sleeps", least=True)
            yield from _of_waiter(node)
        elif isinstance(node, ast.Try) and any(
            one.type is None or _TIMED_OUT.search(ast.unparse(one.type)) for one in node.handlers
        ):
            yield from _patience(node)


def _numbers(tree: ast.Module) -> Mapping[str, float]:
    """Names at the top of a module that are numbers and are given once."""
    import ast

    given = [one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and len(node.targets) == 1:
            value = _number(node.value, {})
            if value is not None and given.count(node.targets[0].id) == 1:
                found[node.targets[0].id] = value
    return found


def _number(node: ast.expr, numbers: Mapping[str, float]) -> float | None:
    import ast

    if isinstance(node, ast.Name):
        return numbers.get(node.id)
    value = node.value if isinstance(node, ast.Constant) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _slept(node: ast.expr, numbers: Mapping[str, float]) -> float | None:
    """The seconds of `time.sleep(…)`."""
    import ast

    is_sleep = isinstance(node, ast.Call) and ast.unparse(node.func) in ("time.sleep", "sleep")
    return _number(node.args[0], numbers) if isinstance(node, ast.Call) and is_sleep and node.args else None


def _rounds(node: ast.expr, numbers: Mapping[str, float]) -> float | None:
    """The rounds of `range(…)`, from nought to a number."""
    import ast

    is_range = isinstance(node, ast.Call) and ast.unparse(node.func) == "range" and len(node.args) == 1
    return _number(node.args[0], numbers) if isinstance(node, ast.Call) and is_range else None


def _of_waiter(node: ast.Call) -> Iterator[Wait]:
    """The time of a waiter that says itself how it waits: it does not sleep before its first look."""
    import ast

    given = next((one.value for one in node.keywords if one.arg == "WaiterConfig"), None)
    keys = [one.value if isinstance(one, ast.Constant) else None for one in given.keys] if isinstance(given, ast.Dict) else []
    values = [_number(one, {}) for one in given.values] if isinstance(given, ast.Dict) else []
    config = dict(zip(keys, values, strict=True))
    delay, attempts = config.get("Delay"), config.get("MaxAttempts")
    if delay is not None and attempts is not None:
        yield Wait(node.lineno, delay * max(attempts - 1, 0), "waits up to")


def _patience(node: ast.Try) -> Iterator[Wait]:
    """How long calls wait for an answer, where the code does something else without one."""
    import ast

    for one in (inner for statement in node.body for inner in ast.walk(statement)):
        given = [each.value for each in one.keywords if each.arg == "timeout"] if isinstance(one, ast.Call) else []
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "settimeout":
            given = one.args
        seconds = _number(given[0], {}) if given else None
        if seconds and isinstance(one, ast.Call):
            yield Wait(one.lineno, seconds, "waits for an answer", least=True)


def _polls(tree: ast.Module) -> bool:
    """Whether the code sleeps in a loop without a known end, or lets a waiter wait."""
    import ast

    loops = (node for node in ast.walk(tree) if isinstance(node, ast.While))
    sleeps = any(isinstance(one, ast.Call) and ast.unparse(one.func).endswith("sleep") for loop in loops for one in ast.walk(loop))
    return sleeps or any(isinstance(one, ast.Attribute) and one.attr == "get_waiter" for one in ast.walk(tree))


def _goes_on(function: Resource) -> bool:
    """Whether a function may call itself before its time is over."""
    return any(call.operation.action == _INVOKE for call in calls_of(function))


def _build(function: Resource, most: int) -> Slips:
    """A build for which a function waits, and that may take longer."""
    started = [call for call in calls_of(function) if call.operation.action == _START]
    named = [resource_of(call.parameters.get("projectname", ABSENT), PROJECT) for call in started]
    projects = [*dict.fromkeys(_handed(function))] if named == [None] else named
    limits = [as_int(one.get("TimeoutInMinutes")) for one in projects if one is not None]
    if len(limits) == 1 and limits[0] is not None and limits[0] * 60 > most < _MOST:
        message = f"the function waits for a build of up to {limits[0] * 60:,} seconds, and runs for {most}"
        yield Slip(message, f"more than {limits[0] * 60:,} seconds", ("Timeout",), function.get("Timeout"), dead=True)


def _handed(function: Resource) -> Iterator[Resource]:
    """The builds that custom resources name to the function that starts them."""
    made = set(made_by(function))
    for caller, programs in called_first(function.template.model).items():
        if caller in made:
            yield from (one for one in programs if one.type == PROJECT)


def _impatient(function: Resource, most: int) -> Slips:
    """A custom resource that gives up while its function still waits for what it makes."""
    for one in made_by(function):
        patience = as_int(one.get(_PATIENCE))
        if patience is not None and patience < most:
            message = f"the function waits for up to {most} seconds, and CloudFormation for {patience} of them at {one.logical_id}"
            beside = ((one, (_PATIENCE,)),)
            yield Slip(message, f"at most {patience} seconds", ("Timeout",), function.get("Timeout"), dead=True, beside=beside)
            return


def answers(project: Resource) -> Slips:
    """A build that answers CloudFormation itself, and may take longer than that waits for it."""
    limit = as_int(project.get("TimeoutInMinutes"))
    callers = called_first(project.template.model).items() if limit is not None else ()
    for custom, (maker, *others) in ((one, programs) for one, programs in callers if one.type.startswith(PREFIXES) and programs):
        patience = _LONGEST if custom.get(_PATIENCE) is ABSENT else as_int(custom.get(_PATIENCE))
        hands_on = project in others and _ANSWER in (as_str(maker.get("Code", "ZipFile")) or "")
        if hands_on and limit is not None and patience is not None and patience < limit * 60:
            message = f"the build, which answers, may take {limit * 60:,} seconds, and CloudFormation waits for {patience:,}"
            place, beside = ("TimeoutInMinutes",), ((custom, (_PATIENCE,)),)
            allowed = f"at most {patience // 60} minutes" if patience >= _LEAST * 60 else f"a longer {_PATIENCE}"
            yield Slip(f"{message} of them at {custom.logical_id}", allowed, place, limit, dead=True, beside=beside)
            return


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {FUNCTION: waits, PROJECT: answers}
