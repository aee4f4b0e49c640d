"""Calls of AWS by state machines, schedules, code of functions, builds and scripts, as the roles that these have.

>>> [(one.resource.logical_id, one.task.actions) for one in api_called(model)]
[('Curate', ('batch:SubmitJob',))]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from hyperpod_constructs.analysis.arns import s3_place
from hyperpod_constructs.analysis.build_commands import PROJECT, builds
from hyperpod_constructs.analysis.cli_calls import calls_in, cli_calls, lines_of
from hyperpod_constructs.analysis.code_runs.service_calls import OTHERS, CodeCall
from hyperpod_constructs.analysis.conditions import Context
from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.analysis.ends import End
from hyperpod_constructs.analysis.function_code import FUNCTION, calls_of
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.role_calls import Called, arn_on, named_in
from hyperpod_constructs.analysis.scripts import with_runners
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.state_machines import STATE_MACHINE, State, definition, states
from hyperpod_constructs.facts.api_calls import (
    CONTEXT_OF,
    LACKED,
    PIPELINE_STEPS,
    RULE_ACTIONS,
    RULES_OF_STATES,
    Job,
    Waiting,
    jobs,
    passes,
    targets,
    waits,
)
from hyperpod_constructs.facts.cli import OF_IMAGES
from hyperpod_constructs.facts.iam_actions import service_actions
from hyperpod_constructs.facts.permissions import Place, Task
from hyperpod_constructs.facts.role_calls import PASS_ROLE, PASSED_TO
from hyperpod_constructs.facts.sdk_calls import Operation, by_sdk
from hyperpod_constructs.facts.state_language import only_reads
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Text, Value, as_items, as_str, at, joined, parts_of, shown

_SCHEDULE = "AWS::Scheduler::Schedule"
_PIPELINE, _BODY = "AWS::SageMaker::Pipeline", ("PipelineDefinition", "PipelineDefinitionBody")
_INTEGRATION = re.compile(r"arn:.*:states:::(aws-sdk:)?([a-z0-9-]+):(\w+)(\.[\w:.]+)?")
_CALL_OF_SCHEDULE = re.compile(r"arn:.*:scheduler:::aws-sdk:([a-z0-9-]+):(\w+)")
_INVOKE = "lambda:InvokeFunction"
_MORE = (OTHERS, "extraargs")
"""Parameters in which others may be."""
_WRITE, _SOURCE, _VERSION = "s3:PutObject", "copysource", "VersionId"
_ODD = re.compile(r"[%?]|^arn:")
_FREE = ("sts:GetCallerIdentity", "sts:GetSessionToken")
"""Actions that everybody may do."""
_CODE_GUIDE = "https://docs.aws.amazon.com/lambda/latest/dg/lambda-intro-execution-role.html"
_BUILDS_GUIDE = "https://docs.aws.amazon.com/codebuild/latest/userguide/setting-up-service-role.html"
_SCRIPTS_GUIDE = "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_switch-role-ec2.html"
_IMAGES_GUIDE = "https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-push-iam.html"
_STATES_GUIDE = "https://docs.aws.amazon.com/step-functions/latest/dg/service-integration-iam-templates.html"
_SCHEDULES_GUIDE = "https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html"
_PIPELINES_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/build-and-manage-access.html"
_PROGRAMS = {
    FUNCTION: ("Role", "do what its code does", _CODE_GUIDE),
    PROJECT: ("ServiceRole", "do what its commands do", _BUILDS_GUIDE),
}
"""The property of the role, the words and the source for what has code or commands."""
_SERVICES = {"stepfunctions": "sfn"}
"""Services of optimized integrations, by their name in AWS's SDK where it is another one."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call of an operation.

    :param action: what a policy allows.
    :param parameters: those that are known, by their names in small letters.
    :param words: the call, after "may not".
    """

    action: str
    parameters: Mapping[str, Value]
    words: str
    source: str


def api_called(model: Model) -> Iterator[Called]:
    """The calls of a model whose roles it has."""
    for machine in model.resources(STATE_MACHINE):
        role = resource_of(machine.get("RoleArn"), ROLE)
        for state in states(definition(machine)) if role is not None else ():
            if role is not None:
                yield from _of_state(machine, role, state)
    for schedule in model.resources(_SCHEDULE):
        yield from _of_schedule(schedule)
    for pipeline in model.resources(_PIPELINE):
        yield from _of_pipeline(pipeline)
    for program in model.resources(FUNCTION, PROJECT):
        yield from code_calls(program)
    for project, build in builds(model):
        yield from _of_images(project, build)
    yield from _of_scripts(model)


def called_by(resource: Resource, role: Resource, call: ApiCall) -> Iterator[Called]:
    """A call on each of its targets, or on anything."""
    found = False
    for parameter, on in targets().get(call.action, ()):
        name, _, other = parameter.lower().partition("!")
        value = ABSENT if other in call.parameters else call.parameters.get(name, ABSENT)
        arn = None if value is ABSENT else arn_on(End((), resource, (), value), on, call.parameters)
        if arn is not None:
            found = True
            yield Called(resource, role, _task(call, (call.action,)), arn, named_in(value))
    if not found:
        yield Called(resource, role, _task(call, (call.action,)), UNKNOWN)
    yield from _reading(resource, role, call)
    yield from _passing(resource, role, call)
    for job in jobs().get(call.action, ()):
        yield from _of_job(resource, call, job)


def _of_job(resource: Resource, call: ApiCall, job: Job) -> Iterator[Called]:
    """What a service does as the role that a call hands to it."""
    role, (first, *_) = resource_of(_handed(call.parameters, job.role), ROLE), job.target.split("/")
    given = call.parameters.get(first.lower(), ABSENT)
    for _, value in place_in({first: given}, job.target) if role is not None and given is not ABSENT else ():
        arn = arn_on(End((), resource, (), value), job.on)
        if arn is not None and role is not None:
            task = replace(_task(replace(call, words=job.words), (job.action,)), context={})
            yield Called(resource, role, task, arn, named_in(value), f"the jobs of {resource.logical_id}")


def _reading(resource: Resource, role: Resource, call: ApiCall) -> Iterator[Called]:
    """The object that a copy reads.

    Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html
    """
    source = call.parameters.get(_SOURCE, ABSENT) if call.action == _WRITE else ABSENT
    bucket, key = (at(source, "Bucket"), at(source, "Key")) if isinstance(source, Mapping) else _cut(source)
    if ABSENT in (bucket, key) or bucket is UNKNOWN or (isinstance(source, Mapping) and _VERSION in source):
        return
    arn = arn_on(End((), resource, (), bucket), "arn:aws:s3:::{}/{Key}", {"key": key})
    if arn is not None:
        yield Called(resource, role, _task(replace(call, parameters={}), ("s3:GetObject",)), arn, named_in(bucket))


def _cut(source: Value) -> tuple[Value, Value]:
    """The bucket and the key of a path; `ABSENT` for one that is spelled in another way, or of a version."""
    place = s3_place(joined(["s3://", *parts_of(source)])) if isinstance(source, str | Text) else None
    odd = any(isinstance(part, str) and _ODD.search(part) for part in parts_of(source))
    return (ABSENT, ABSENT) if place is None or odd or "" in place else place


def _passing(resource: Resource, role: Resource, call: ApiCall) -> Iterator[Called]:
    """The roles that a call hands to a service."""
    for way, service in passes().get(call.action, ()):
        handed = _one(_handed(call.parameters, way))
        arn = None if handed is ABSENT else arn_on(End((), resource, (), handed), "iam")
        if arn is not None:
            yield Called(resource, role, replace(_task(call, (PASS_ROLE,)), context={PASSED_TO: service}), arn)


def _handed(parameters: Mapping[str, Value], way: str) -> Value:
    """The role at the end of a way through parameters."""
    path, _, beyond = way.partition(">")
    first, *others = path.split("/")
    value = at(parameters.get(first.lower(), ABSENT), *others)
    named = named_in(value) if beyond else None
    return value if not beyond else ABSENT if named is None else named.get(*beyond.split("/"))


def _one(value: Value) -> Value:
    """The item of a list that has one."""
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def _task(call: ApiCall, actions: tuple[str, ...]) -> Task:
    key, parameter = CONTEXT_OF.get(call.action, ("", ""))
    value = call.parameters.get(parameter, ABSENT)
    lacks = key in LACKED and value is ABSENT and "bucket" in call.parameters and call.parameters.keys().isdisjoint(_MORE)
    context: Context = {key: ABSENT} if lacks else {} if as_str(value) is None else {key: value}
    return Task(words=call.words, actions=actions, on=Place.ANYWHERE, source=call.source, context=context, by_service=True)


def _of_state(machine: Resource, role: Resource, state: State) -> Iterator[Called]:
    """The calls of a task."""
    resource = state.value.get("Resource", ABSENT)
    if as_str(state.value.get("Type", ABSENT)) != "Task" or resource is ABSENT:
        return
    words = f"do the task of its state {state.name}"
    integration = _INTEGRATION.fullmatch(_text(resource))
    if integration is None:
        arn = arn_on(End((), machine, (), resource), "function")
        if arn is not None:
            yield Called(machine, role, _task(ApiCall(_INVOKE, {}, words, _STATES_GUIDE), (_INVOKE,)), arn)
        return
    _, service, name, suffix = integration.groups()
    operation = operation_of(_SERVICES.get(service, service) if service != "states" else "sfn", name)
    if operation is not None:
        call = ApiCall(operation.action, _parameters(state.value), words, _STATES_GUIDE)
        yield from called_by(machine, role, call)
        waiting = waits().get(f"{service}:{name}") if (suffix or "").startswith(".sync") else None
        if waiting is not None:
            yield from _waiting(machine, role, call, waiting)


def _waiting(machine: Resource, role: Resource, call: ApiCall, waiting: Waiting) -> Iterator[Called]:
    """What a machine does that waits for a task."""
    value = call.parameters.get(waiting.parameter.lower(), UNKNOWN)
    arn = arn_on(End((), machine, (), value), waiting.on)
    call = replace(call, words=f"wait for the task: {call.words.removeprefix('do ')}", source=waiting.source)
    if arn is not None and waiting.actions:
        yield Called(machine, role, _task(call, waiting.actions), arn)
    rule = arn_on(End((), machine, (), ""), RULES_OF_STATES + waiting.rule) if waiting.rule else None
    if rule is not None:
        yield Called(machine, role, replace(_task(call, RULE_ACTIONS), fatal=True), rule)


def _of_schedule(schedule: Resource) -> Iterator[Called]:
    """The call of a schedule by AWS's SDK."""
    role = resource_of(schedule.get("Target", "RoleArn"), ROLE)
    found = _CALL_OF_SCHEDULE.fullmatch(_text(schedule.get("Target", "Arn")))
    operation = None if role is None or found is None or only_reads(found[2]) else operation_of(found[1], found[2])
    if role is not None and operation is not None:
        given = values_in(schedule.get("Target", "Input"))
        parameters = {key.lower(): value for key, value in given.items()} if isinstance(given, Mapping) else {}
        yield from called_by(schedule, role, ApiCall(operation.action, parameters, "make its call", _SCHEDULES_GUIDE))


def _of_pipeline(pipeline: Resource) -> Iterator[Called]:
    """The calls of a pipeline of SageMaker for its steps."""
    role, definition = resource_of(pipeline.get("RoleArn"), ROLE), values_in(pipeline.get(*_BODY))
    for step in as_items(at(definition, "Steps")) or () if role is not None else ():
        action, given = PIPELINE_STEPS.get(as_str(at(step, "Type")) or ""), at(step, "Arguments")
        if role is not None and action is not None and isinstance(given, Mapping):
            words = f"do its step {shown(at(step, 'Name'))}"
            parameters = {name.lower(): value for name, value in given.items()}
            yield from called_by(pipeline, role, ApiCall(action, parameters, words, _PIPELINES_GUIDE))


def code_calls(program: Resource) -> Iterator[Called]:
    """The calls in the code of a function or the commands of a build, each with the ARN on which it works."""
    property_, words, source = _PROGRAMS[program.type]
    role = resource_of(program.get(property_), ROLE)
    for one in program_calls(program) if role is not None else ():
        call = ApiCall(one.operation.action, one.parameters, words, source)
        if role is not None and _is_known(one.operation):
            yield from (found._replace(inside=not found.user) for found in called_by(program, role, call))


def program_calls(program: Resource) -> tuple[CodeCall, ...]:
    """The calls in the code of a function or the commands of a build; none of another resource."""
    return calls_of(program) if program.type == FUNCTION else cli_calls(program) if program.type == PROJECT else ()


def _of_scripts(model: Model) -> Iterator[Called]:
    """The calls in scripts of machines, nodes and containers, as the roles that these have."""
    for script, runner in with_runners(model):
        for one in calls_in(script.run, script.resource) if script.run is not None else ():
            call = ApiCall(
                one.operation.action, one.parameters, f"do what its script in {script.resource.logical_id} does", _SCRIPTS_GUIDE
            )
            if _is_known(one.operation):
                for found in called_by(script.resource, runner.role, call):
                    yield found._replace(user=found.user or runner.user, groups=() if found.user else runner.groups)


def _of_images(project: Resource, build: Run) -> Iterator[Called]:
    """What a build needs of the repositories from which it pulls and to which it pushes."""
    role = resource_of(project.get("ServiceRole"), ROLE)
    for line in lines_of(build, "docker") if role is not None else ():
        actions, image = OF_IMAGES.get(line.word(0), ()), build.value(line.words[-1]) if line.words else ABSENT
        arn = arn_on(End((), project, (), image), "image") if actions else None
        if arn is not None and role is not None:
            call = ApiCall("", {}, f"{line.word(0)} its image", _IMAGES_GUIDE)
            yield Called(project, role, _task(call, actions), arn, named_in(image), inside=True)


def operation_of(service: str, name: str) -> Operation | None:
    """An operation whose action is known."""
    found = (by_sdk(service) or {}).get(name.lower())
    return found if found is not None and _is_known(found) else None


def _is_known(operation: Operation) -> bool:
    """Whether the action of an operation is known; some take none."""
    known = service_actions(operation.action.partition(":")[0])
    return known is not None and operation.action.lower() in known and operation.action not in _FREE


def _text(value: Value) -> str:
    """The characters of an ARN; a part that is not known, such as the partition, is a question mark."""
    return "".join(part if isinstance(part, str) else "?" for part in parts_of(value)) if isinstance(value, str | Text) else ""


def _parameters(state: Mapping[str, Value]) -> Mapping[str, Value]:
    """The parameters of a task; what is taken from its input, or computed, is not known."""
    found: dict[str, Value] = {}
    for key in ("Parameters", "Arguments"):
        given = state.get(key, ABSENT)
        for name, value in given.items() if isinstance(given, Mapping) else ():
            computed = name.endswith(".$") or (isinstance(value, str) and value.startswith("{%"))
            found[name.removesuffix(".$").lower()] = UNKNOWN if computed else value
    return found
