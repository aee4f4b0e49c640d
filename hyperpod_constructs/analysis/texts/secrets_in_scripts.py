"""Keys that scripts take of a secret which they have read: keys that it has.

Source: https://docs.aws.amazon.com/cli/latest/reference/secretsmanager/get-secret-value.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.cli_calls import calls_in
from hyperpod_constructs.analysis.database import keys_of, secret_of
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Variable, plain
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.databases import KEYS_OF_ATTACHMENTS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource

_READ = "secretsmanager:GetSecretValue"
_TAKEN = re.compile(r"""\bloads?\((?:sys\.stdin(?:\.read\(\))?)\)\[["'](\w+)["']\]|^\.(\w+)$""")
"""A key that Python or jq takes of what it reads."""
_READERS = ("jq", "python", "python3")


def of_script(script: Script) -> Slips:
    """The first key that a secret does not have, where the script reads one secret."""
    run = script.run
    secrets = set(_secrets(script.resource, run)) if run is not None else set()
    keys = keys_of(next(iter(secrets))) if len(secrets) == 1 else None
    for secret in secrets if keys else ():
        known = sorted({*(keys or ()), *KEYS_OF_ATTACHMENTS})
        for key, line in _keys(run) if run is not None else ():
            if key not in known:
                says = f"takes the key {key}, which {secret.logical_id} does not have{meant(key, known)}"
                yield Slip(f"the script {says} (line {line})", listed(sorted(keys or ())), dead=True)
                return


def _secrets(resource: Resource, run: Run) -> Iterator[Resource]:
    for call in calls_in(run, resource):
        secret = secret_of(call.parameters.get("secretid")) if call.operation.action == _READ else None
        if secret is not None:
            yield secret


def _keys(run: Run) -> Iterator[tuple[str, int]]:
    """The keys that commands take of a variable with a secret in its name, or of what is sent to them."""
    for command in run.commands:
        names = [piece.name for word in (*command.read, *command.words) for piece in word if isinstance(piece, Variable)]
        if command.name in _READERS and any("secret" in name.lower() for name in names):
            for match in filter(None, map(_TAKEN.search, map(plain, command.arguments))):
                yield match[1] or match[2], command.line


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(None, of_script)
