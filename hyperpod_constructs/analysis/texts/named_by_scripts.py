"""Names that commands of the AWS CLI in builds and scripts give to calls: of a thing of the kind that the call is about.

Source: https://docs.aws.amazon.com/cli/latest/reference/ssm/get-parameter.html and the other references of the commands
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.build_commands import build_of
from hyperpod_constructs.analysis.cli_calls import calls_in
from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.named_in_calls import misnamed
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import UNKNOWN, Text

_DECRYPTED = "withdecryption"
"""What is encrypted is made outside of templates, which cannot make a SecureString."""


def build(project: Resource) -> Slips:
    """The first command of a build that names another thing than its call is about."""
    for slip in list(_slips(project, build_of(project)))[:1]:
        yield slip.below("Source", "BuildSpec")


def of_script(script: Script) -> Slips:
    """The same of a script elsewhere."""
    return list(_slips(script.resource, script.run))[:1]


def _slips(resource: Resource, run: Run | None) -> Iterator[Slip]:
    for call in calls_in(run, resource) if run is not None else ():
        for name, value in call.parameters.items() if _DECRYPTED not in call.parameters else ():
            known = not isinstance(value, Text) or UNKNOWN not in value.parts
            wrong = misnamed(resource.template.model, call.operation.action, name, value) if known else None
            if wrong is not None:
                yield Slip(f"the script calls {call.operation.action} with {name} as {wrong[0]}", wrong[1], dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(build, of_script)
