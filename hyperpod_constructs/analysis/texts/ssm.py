"""Systems Manager: steps of automations, logs of sessions, defaults of parameters, and those who run documents.

Sources: https://docs.aws.amazon.com/systems-manager/latest/userguide/automation-actions.html,
https://docs.aws.amazon.com/systems-manager/latest/userguide/automation-aws-apis-calling.html,
https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-syntax-data-elements-parameters.html,
https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-logging-cloudwatch-logs.html and
https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_RegisterTaskWithMaintenanceWindow.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from hyperpod_constructs.analysis.schema.patterns import matches
from hyperpod_constructs.analysis.schema.violation import listed, meant, nearest, quoted
from hyperpod_constructs.analysis.state_machines import STATE_MACHINE, definition, definition_key, states
from hyperpod_constructs.analysis.texts.documents import content_of
from hyperpod_constructs.analysis.texts.integrations import integration_of
from hyperpod_constructs.analysis.texts.reading import HOLE, known, texts_in
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.sdk_calls import by_client, clients
from hyperpod_constructs.facts.text_words import SSM_ACTIONS, SSM_INPUTS, SSM_NEEDED, SSM_PLUGINS, SSM_PUBLIC, SSM_TYPES
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, Value, as_bool, as_str, at

DOCUMENT, PARAMETER = "AWS::SSM::Document", "AWS::SSM::Parameter"
ASSOCIATION, TASK = "AWS::SSM::Association", "AWS::SSM::MaintenanceWindowTask"
_TARGET, _GROUP = "AWS::SSM::MaintenanceWindowTarget", "AWS::Logs::LogGroup"
_NAMED = re.compile(r"\{\{\s{0,9}([\w.:-]{1,256})\s{0,9}\}\}")
_SPAN = re.compile(r"P(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?")
_INPUTS_OF_CALLS = ("Service", "Api", "PropertySelector", "DesiredValues")
_RUNNING = ("ssm:SendCommand", "ssm:StartAutomationExecution")
"""Calls that run a document."""
_RUNS = {"RUN_COMMAND": "Command", "AUTOMATION": "Automation"}
_PARAMETERS_OF = {"RUN_COMMAND": "MaintenanceWindowRunCommandParameters", "AUTOMATION": "MaintenanceWindowAutomationParameters"}
_WHOLE = re.compile(r"\^([^|]*)\$")
"""A pattern of the whole text, in which `matches` does not look for its choices."""
_OFTEN = re.compile(r"rate\((\d{1,4}) minutes?\)")
_LEAST_MINUTES = 30
"""Source: https://docs.aws.amazon.com/systems-manager/latest/userguide/reference-cron-and-rate-expressions.html"""


def document(resource: Resource) -> Slips:
    """The steps of an automation, the logs of a session, and the defaults of parameters."""
    content = content_of(resource)
    data, kind = content if isinstance(content, Mapping) else {}, known(resource.get("DocumentType"))
    steps = _steps(data) if kind == "Automation" else ()
    for slip in (*_defaults(data), *_types(data), *steps, *(_lacking(data) if kind in ("Automation", "Command") else ())):
        yield slip.below("Content")
    yield from _logs(resource, data) if kind == "Session" else ()


def _types(data: Mapping[str, Value]) -> Iterator[Slip]:
    """Types of parameters and of outputs of steps, and the ways to the outputs."""
    for name, one in mapping(data.get("parameters")).items():
        kind = known(mapping(one).get("type", ABSENT))
        if kind and kind not in SSM_TYPES and not kind.startswith(("AWS::", "List<")):
            yield Slip(
                f"the type of {name} is {kind}{meant(kind, SSM_TYPES)}", listed(SSM_TYPES), ("parameters", name, "type"), kind
            )
    for index, step in entries(data.get("mainSteps")):
        for number, one in entries(mapping(step).get("outputs", ABSENT)):
            kind, selector = (known(mapping(one).get(key, ABSENT)) for key in ("Type", "Selector"))
            path = ("mainSteps", index, "outputs", number)
            if kind and kind not in SSM_TYPES:
                yield Slip(f"the type of an output is {kind}{meant(kind, SSM_TYPES)}", listed(SSM_TYPES), (*path, "Type"), kind)
            elif selector and not selector.startswith("$"):
                yield Slip(f"the output is selected by {selector!r}", "a way that begins with $.", (*path, "Selector"), selector)


def _lacking(data: Mapping[str, Value]) -> Iterator[Slip]:
    """Steps without an input that their action needs."""
    for index, one in entries(data.get("mainSteps")):
        inputs, needed = mapping(one).get("inputs", ABSENT), SSM_INPUTS.get(known(mapping(one).get("action", ABSENT)) or "", ())
        given = inputs if isinstance(inputs, Mapping) else ()
        lacking = [name for name in needed if name not in given] if given or inputs is ABSENT or inputs == {} else []
        if lacking:
            message = f"{known(mapping(one).get('action'))} has no input {lacking[0]}{meant(lacking[0], list(given))}"
            yield Slip(message, listed(needed), ("mainSteps", index, "inputs"))


def _logs(resource: Resource, data: Mapping[str, Value]) -> Iterator[Slip]:
    """A session that writes to encrypted logs only has a log group with a key."""
    place = ("inputs", "cloudWatchLogGroupName")
    written = resource.get("Content", *place)
    groups = [one for one in references(written if written is not ABSENT else resource.get("Content")) if one.type == _GROUP]
    if as_bool(at(data, "inputs", "cloudWatchEncryptionEnabled")) and len(groups) == 1 and groups[0].get("KmsKeyId") is ABSENT:
        message = f"sessions write to encrypted logs only, and {groups[0].logical_id} has no key"
        yield Slip(message, "a log group with KmsKeyId", ("Content", *place), written, doubts=(("Content",),), dead=True)


def _defaults(data: Mapping[str, Value]) -> Iterator[Slip]:
    """Defaults that their own parameter refuses."""
    for name, one in mapping(data.get("parameters")).items():
        default = mapping(one).get("default", ABSENT)
        wrong = _refused(mapping(one), default) if isinstance(default, str) else None
        if wrong is not None:
            yield Slip(f"the default of {name} is {quoted(default)}", wrong, ("parameters", name, "default"), default)


def _refused(parameter: Mapping[str, Value], value: str) -> str | None:
    """What a parameter allows, if it surely refuses a value."""
    pattern, allowed = known(parameter.get("allowedPattern", ABSENT)), parameter.get("allowedValues")
    words = [known(one) for _, one in entries(allowed)]
    if HOLE in value or "{{" in value:
        return None
    if words and None not in words and value not in words:
        return listed(words)
    return f"a text of the form {pattern}" if pattern and not _fits(pattern, value) else None


def _fits(pattern: str, value: str) -> bool:
    """Whether a text may fit a pattern; a pattern that Python does not take is believed."""
    try:
        return len(pattern) > 200 or re.search(pattern, value) is not None
    except re.error:
        return True


def _steps(data: Mapping[str, Value]) -> Iterator[Slip]:
    steps = [mapping(one) for _, one in entries(data.get("mainSteps"))]
    names = [known(one.get("name", ABSENT)) or "" for one in steps]
    for index, step in enumerate(steps):
        for slip in (*_action(step), *_ways(step, names), *_inputs(step)):
            yield slip.below("mainSteps", index)
    if "" not in names:
        known_names = {*mapping(data.get("parameters")), *mapping(data.get("variables")), *names}
        yield from _unknown(data, known_names)


def _action(step: Mapping[str, Value]) -> Iterator[Slip]:
    action = known(step.get("action", ABSENT))
    if action and action not in SSM_ACTIONS and action.startswith("aws:") and action not in SSM_PLUGINS:
        yield Slip(f"no automation has the action {action}{meant(action, SSM_ACTIONS)}", listed(SSM_ACTIONS), ("action",), action)


def _ways(step: Mapping[str, Value], names: list[str]) -> Iterator[Slip]:
    """Steps that come next, and are not there."""
    choices = [mapping(one) for _, one in entries(mapping(step.get("inputs")).get("Choices", ABSENT))]
    ways = [("nextStep", step), *(("NextStep", one) for one in choices), ("Default", mapping(step.get("inputs")))]
    of_branch = known(step.get("action", ABSENT)) == "aws:branch"
    for key, owner in ways:
        name = known(owner.get(key, ABSENT)) if key == "nextStep" or of_branch else None
        if name and "" not in names and name not in names:
            yield Slip(f"{key} names the step {name}, which is not there{meant(name, names)}", listed(names), (), name)
    for key in ("onFailure", "onCancel"):
        name = (known(step.get(key, ABSENT)) or "").removeprefix("step:")
        if (known(step.get(key, ABSENT)) or "").startswith("step:") and "" not in names and name not in names:
            yield Slip(f"{key} names the step {name}, which is not there{meant(name, names)}", listed(names), (key,), name)


def _inputs(step: Mapping[str, Value]) -> Iterator[Slip]:
    inputs, action = mapping(step.get("inputs")), known(step.get("action", ABSENT)) or ""
    duration = known(inputs.get("Duration", ABSENT))
    if action == "aws:sleep" and duration and "{{" not in duration and not _SPAN.fullmatch(duration):
        yield Slip(f"the duration is {duration!r}", "a duration such as PT5M", ("inputs", "Duration"), duration)
    service, api = (known(inputs.get(key, ABSENT)) for key in ("Service", "Api"))
    if action.endswith(("AwsApi", "ResourceProperty")) and service and api and "{{" not in f"{service}{api}":
        yield from _call(service, api, [name for name in inputs if name not in _INPUTS_OF_CALLS])


def _call(service: str, api: str, given: list[str]) -> Iterator[Slip]:
    """A call of an operation that its service has, with the parameters that it needs."""
    operations = by_client(service)
    if service not in clients():
        yield Slip(f"no service is named {service}{meant(service, clients())}", "a service", ("inputs", "Service"), service)
    elif operations is not None:
        operation = operations.get(api.replace("_", "").lower())
        if operation is None:
            names = [one.name for one in operations.values()]
            yield Slip(
                f"{service} has no operation {api}{meant(api, names)}", "an operation of the service", ("inputs", "Api"), api
            )
        elif lacking := [name for name in operation.required if name not in given]:
            yield Slip(
                f"{api} is called without {lacking[0]}{meant(lacking[0], given)}",
                listed(operation.required),
                ("inputs",),
                dead=True,
            )


def _unknown(data: Mapping[str, Value], names: set[str]) -> Iterator[Slip]:
    """Names between braces that are neither parameters nor outputs of steps."""
    for key in ("assumeRole", "mainSteps", "outputs"):
        for text in texts_in(data.get(key, ABSENT)):
            for name in _NAMED.findall(text) if HOLE not in text else ():
                first = name.split(".")[0].split(":")
                if first[0] in ("global", "automation", "ssm", "variable", "ssm-secure", "loop"):
                    continue
                if first[0] not in names:
                    yield Slip(
                        f"{{{{ {name} }}}} is neither a parameter nor a step{meant(first[0], names)}", listed(sorted(names)), (key,)
                    )
                    return


def association(resource: Resource) -> Slips:
    """A document of the template, with parameters that it has, and not more often than each half hour."""
    often, rate = _OFTEN.fullmatch(known(resource.get("ScheduleExpression")) or ""), resource.get("ScheduleExpression")
    if often is not None and int(often[1]) < _LEAST_MINUTES:
        message = f"an association runs each {often[1]} minutes, and {_LEAST_MINUTES} are the least"
        yield Slip(message, f"rate({_LEAST_MINUTES} minutes)", ("ScheduleExpression",), rate)
    yield from _given(resource_of(resource.get("Name"), DOCUMENT), resource.get("Parameters"), ("Parameters",))
    yield from _given_to_public(known(resource.get("Name")) or "", resource.get("Parameters"), ("Parameters",))


def task(resource: Resource) -> Slips:
    """A document of the kind that the task runs, with parameters that it has, on targets of a window."""
    kind, run = known(resource.get("TaskType")) or "", resource_of(resource.get("TaskArn"), DOCUMENT)
    if run is not None and kind in _RUNS and (own := known(run.get("DocumentType"))) not in (None, _RUNS[kind]):
        message = f"the task runs a document of the type {_RUNS[kind]}, and {run.logical_id} is of the type {own}"
        yield Slip(message, f"a document of the type {_RUNS[kind]}", ("TaskArn",), resource.get("TaskArn"))
        return
    path = ("TaskInvocationParameters", _PARAMETERS_OF.get(kind, ""), "Parameters")
    yield from _given(run, resource.get(*path), path)
    yield from _given_to_public(known(resource.get("TaskArn")) or "", resource.get(*path), path)
    for index, one in entries(resource.get("Targets")):
        if known(mapping(one).get("Key", ABSENT)) == "WindowTargetIds":
            for place, value in entries(mapping(one).get("Values", ABSENT)):
                found = target_of(value) if isinstance(value, Reference) else None
                if found is not None and found.type.startswith("AWS::") and found.type != _TARGET:
                    message = f"{quoted(value)} is of {found.type}, and no target of a window"
                    yield Slip(message, f"a reference to {_TARGET}", ("Targets", index, "Values", place), value)


def machine(resource: Resource) -> Slips:
    """The documents of the template that states run, with parameters that they have."""
    key = definition_key(resource)
    for state in states(definition(resource)):
        call = integration_of(state.value.get("Resource", ABSENT))
        action = None if call is None or call.operation is None else call.operation.action
        for field in ("Parameters", "Arguments") if action in _RUNNING else ():
            data = mapping(state.value.get(field, ABSENT))
            given = {name.removesuffix(".$"): value for name, value in mapping(data.get("Parameters", ABSENT)).items()}
            path = (key, *state.path, field, "Parameters") if isinstance(resource.get(key), Mapping) else ()
            known_ = "Parameters.$" not in data and not isinstance(data.get("Parameters"), str | Text)
            found = _given(resource_of(data.get("DocumentName", ABSENT), DOCUMENT), given, path) if known_ else ()
            for slip in found:
                message = f"the state {state.name!r}: {slip.message}"
                yield replace(slip, message=message, path=slip.path if path else (key,))


def _given(run: Resource | None, given: Value, path: tuple[str | int, ...]) -> Iterator[Slip]:
    """Parameters that the document that is run does not have, or refuses."""
    content, given = None if run is None else content_of(run), {} if given is ABSENT else given
    if run is None or not isinstance(content, Mapping) or not isinstance(given, Mapping):
        return
    own = mapping(content.get("parameters"))
    for name, value in given.items():
        if name not in own:
            message = f"{run.logical_id} has no parameter {name}{meant(name, own)}"
            yield Slip(message, listed(own) or "no parameters", (*path, name), value)
            continue
        for _, one in entries(value if isinstance(value, tuple) else (value,)):
            text = known(one)
            wrong = None if text is None else _refused(mapping(own[name]), text)
            if wrong is not None:
                yield Slip(f"{name} is {quoted(text)}, which {run.logical_id} refuses", wrong, (*path, name), value)
    lacking = [name for name, one in own.items() if "default" not in mapping(one) and name not in given]
    if lacking and all(name in own for name in given):
        yield Slip(f"{run.logical_id} is run without {lacking[0]}, which has no default", listed(own), path)


def _given_to_public(name: str, given: Value, path: tuple[str | int, ...]) -> Iterator[Slip]:
    """A parameter that is nearly one of a document of AWS, and one that such a document needs."""
    own = SSM_PUBLIC.get(name, ())
    for key, value in mapping(given).items():
        near = nearest(key, own) if own and key not in own else None
        if near is not None:
            yield Slip(f"{name} has no parameter {key}; the nearest is {near}", listed(own), (*path, key), value)
            return
    needed = SSM_NEEDED.get(name)
    if needed is not None and (given is ABSENT or (isinstance(given, Mapping) and needed not in given)):
        yield Slip(f"{name} is run without {needed}", f"{needed}: a list of commands", path)


def parameter(resource: Resource) -> Slips:
    """A parameter whose value fits its own pattern."""
    pattern, value = as_str(resource.get("AllowedPattern")), known(resource.get("Value"))
    whole = _WHOLE.fullmatch(pattern or "")
    other = value is None and whole is not None and matches(whole[1], resource.get("Value")) is False
    if pattern and (other or (value is not None and not _fits(pattern, value))):
        given = resource.get("Value")
        message = f"Value is {quoted(given)}, and AllowedPattern {pattern}"
        yield Slip(message, f"a text of the form {pattern}", ("Value",), given, doubts=(("AllowedPattern",),))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    ASSOCIATION: association,
    DOCUMENT: document,
    PARAMETER: parameter,
    STATE_MACHINE: machine,
    TASK: task,
}
