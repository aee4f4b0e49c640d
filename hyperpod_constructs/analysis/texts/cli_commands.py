"""Commands of the AWS CLI in builds and in scripts elsewhere that it does not know, or with options that they do not take.

Sources: https://docs.aws.amazon.com/cli/latest/reference/ and
https://docs.aws.amazon.com/cli/latest/reference/eks/update-kubeconfig.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.answered_values import answered
from hyperpod_constructs.analysis.build_commands import build_of
from hyperpod_constructs.analysis.cli_calls import Line, lines_in
from hyperpod_constructs.analysis.schema.violation import listed, nearest
from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.cli import KUBECONFIG, OF_ALL, OWN_COMMANDS, SERVICES
from hyperpod_constructs.facts.sdk_calls import by_client, clients
from hyperpod_constructs.facts.sdk_shapes import parameters_of
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import UNKNOWN, Reference, shown

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WRITTEN = re.compile(r"[a-z][a-z0-9-]*")
_OTHERS, _WITH_MORE = ("help", "wait"), ("ec2", "emr")
"""Commands of all services, and services with many commands or options of the CLI's own."""
_REGION = re.compile(r"[a-z0-9-]*")
_AWS, _WITH_ANY_VALUE = "AWS::", ("AWS::CloudFormation::CustomResource", "AWS::CloudFormation::Stack", "AWS::SSM::Parameter")
"""Types of resources that have any attribute or value."""
_LIKE = 0.8
"""How alike a command or an option is at least that was meant."""
_FURTHER = ("cli", "configservice", "configure", "ddb", "deploy", "history", "login", "logout", "opsworkscm", "s3", "s3api", "sso")
"""Commands that are no clients of boto3."""


def build(project: Resource) -> Slips:
    """The first command of a build that the CLI does not know."""
    for slip in list(_of_run(build_of(project)))[:1]:
        yield slip.below("Source", "BuildSpec")


def of_script(script: Script) -> Slips:
    """The same of a script elsewhere."""
    return list(_of_run(script.run))[:1]


def _of_run(run: Run | None) -> Iterator[Slip]:
    if run is not None:
        yield from _slips(run.called)
        yield from (slip for line in lines_in(run.called, "aws") for slip in _of_region(line, run))


def _of_region(line: Line, run: Run) -> Iterator[Slip]:
    """Another text in the place of a region, such as an argument that is in the place of another one."""
    word = line.options.get("region")
    value = answered(run.value(word)) if isinstance(word, tuple) else UNKNOWN
    is_other = isinstance(value, Reference) and value.resource.type.startswith(_AWS) and value.resource.type not in _WITH_ANY_VALUE
    if is_other or (isinstance(value, str) and not _REGION.fullmatch(value)):
        service = " ".join(filter(None, (line.word(0), line.word(1))))
        yield _slip(f"the script gives aws {service} the region {shown(value)}", "a region such as us-west-2")


def _slips(commands: tuple[Command, ...]) -> Iterator[Slip]:
    for line in lines_in(commands, "aws"):
        service, name = line.word(0), line.word(1)
        if not _WRITTEN.fullmatch(service) or not _WRITTEN.fullmatch(name) or name in _OTHERS or service in _WITH_MORE:
            continue
        if service not in clients() and service not in _FURTHER:
            near = nearest(service, (*clients(), *_FURTHER))
            if near is not None:
                yield _slip(f"aws {service} is no service of the CLI; the nearest is {near}", near)
        else:
            yield from _of_service(line, service, name)


def _slip(message: str, allowed: str) -> Slip:
    return Slip(message, allowed, dead=True)


def _of_service(line: Line, service: str, name: str) -> Iterator[Slip]:
    operations = {} if service == "s3" else by_client(SERVICES.get(service, service)) or {}
    own, found = OWN_COMMANDS.get(service, ()), operations.get(name.replace("-", ""))
    if found is None and name not in own:
        known = [*own, *(_hyphened(one.name) for one in operations.values())]
        near = nearest(name, known, 0.0 if service == "s3" else _LIKE)
        if near is not None:
            yield _slip(f"aws {service} has no command {name}; the nearest is {near}", near)
        return
    taken = KUBECONFIG if name == "update-kubeconfig" else ()
    if found is not None:
        taken = frozenset(map(_hyphened, parameters_of(found.client, found.name) or ()))
    for option in line.options if taken else ():
        near = option if name == "update-kubeconfig" else nearest(option, taken, _LIKE)
        if near is not None and not _is_taken(option, {*taken, *OF_ALL}):
            told = f"; the nearest is {near}" if near != option else ""
            yield _slip(f"aws {service} {name} has no option --{option}{told}", listed(f"--{one}" for one in sorted(taken)))


def _is_taken(option: str, known: set[str]) -> bool:
    """Whether an option is one of some, or the beginning of one, or its opposite."""
    plain = option.removeprefix("no-").replace("-", "")
    return len(option) == 1 or any(one.replace("-", "").startswith(plain) for one in known)


def _hyphened(name: str) -> str:
    return _WORDS.sub("-", name).lower()


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(build, of_script)
