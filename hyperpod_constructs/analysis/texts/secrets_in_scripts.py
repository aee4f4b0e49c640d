"""Secrets that scripts read: as text where they are read as JSON, and of their keys only those that they have.

Sources: https://docs.aws.amazon.com/cli/latest/reference/secretsmanager/get-secret-value.html and
https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-output-format.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.by_name import named_resource
from hyperpod_constructs.analysis.cli_calls import Line, calls_in, lines_of
from hyperpod_constructs.analysis.database import SECRET, keys_of, secret_of
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Variable, plain
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.databases import KEYS_OF_ATTACHMENTS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_str

_READ, _COMMAND = "secretsmanager:GetSecretValue", ("secretsmanager", "get-secret-value")
_LOADED = r"\bloads?\((?:sys\.stdin(?:\.read\(\))?|sys\.argv\[\d\])\)\["
_TAKEN = re.compile(rf"""{_LOADED}["'](\w+)["']\]|^\.(\w+)$""")
"""A key that Python or jq takes of what it reads."""
_READERS = ("jq", "python", "python3")
_FUNCTION = re.compile(r"^[ \t]*(?:function[ \t]+)?([\w-]+)[ \t]*\(\)[ \t]*\{([^\n]*)\}[ \t]*$", re.MULTILINE)
"""A function in one line."""
_OF_ARGUMENT = re.compile(rf"""{_LOADED}sys\.argv\[\d\]\].*\$\{{?1\b|\bjq\b.*"\.\$\{{?1\}}?"|\bjq\b.*--arg\s+\w+\s+"?\$\{{?1\b""")
"""A reader that takes the key by the name that its function gets."""
_NAMES = re.compile(r"\$\{?([A-Za-z_]\w*)")
_WHOLE, _OUTPUT = "SecretString", "AWS_DEFAULT_OUTPUT"
_ALONE = re.compile(r"\$\(\s*aws\s+secretsmanager\s+get-secret-value[^|()]*\)")
"""The command whose whole output is the value of a variable."""
_MENDING = re.compile(r"aws\s+configure|fromjson|loads\(\s*(?:json\.)?loads|\btr\s+-d|#\\?\"|%\\?\"|:1:")
"""Ways to another output, and from a text in quotes to JSON."""


def of_script(script: Script) -> Slips:
    """The first mistake in how a script reads its secrets."""
    return [*_as_json(script), *_lacking(script)][:1]


def _lacking(script: Script) -> Iterator[Slip]:
    """The first key that a secret does not have, where the script reads one secret."""
    run = script.run
    secrets = set(_secrets(script.resource, run)) if run is not None else set()
    keys = keys_of(next(iter(secrets))) if len(secrets) == 1 else None
    for secret in secrets if keys else ():
        known = sorted({*(keys or ()), *KEYS_OF_ATTACHMENTS})
        for key, line in _keys(script, run) if run is not None else ():
            if key not in known:
                says = f"takes the key {key}, which {secret.logical_id} does not have{meant(key, known)}"
                yield Slip(f"the script {says} (line {line})", listed(sorted(keys or ())), dead=True)
                return


def _secrets(resource: Resource, run: Run) -> Iterator[Resource]:
    for call in calls_in(run, resource):
        given = call.parameters.get("secretid")
        secret = (secret_of(given) or named_resource(resource, given, SECRET)) if given is not None else None
        if secret is not None and call.operation.action == _READ:
            yield secret


def _keys(script: Script, run: Run) -> Iterator[tuple[str, int]]:
    """The keys that commands take of a variable with a secret in its name, or of what is sent to them."""
    takers = set(_takers(script.text))
    for command in run.commands:
        names = [piece.name for word in (*command.read, *command.words) for piece in word if isinstance(piece, Variable)]
        if command.name in _READERS and any(map(_is_secret, names)):
            for match in filter(None, map(_TAKEN.search, map(plain, command.arguments))):
                yield match[1] or match[2], command.line
        elif command.name in takers and len(command.arguments) == 1 and plain(command.arguments[0]):
            yield plain(command.arguments[0]), command.line


def _is_secret(name: str) -> bool:
    return "secret" in name.lower()


def _takers(text: str) -> Iterator[str]:
    """The functions of a script that take a key of a secret by the name that they get."""
    for found in _FUNCTION.finditer(text):
        if _OF_ARGUMENT.search(found[2]) and any(map(_is_secret, _NAMES.findall(found[2]))):
            yield found[1]


def _as_json(script: Script) -> Iterator[Slip]:
    """A secret that the CLI gives in quotes, as a text of JSON, and of which keys are taken nevertheless."""
    run = script.run
    if run is None or _OUTPUT in {*run.given, *run.set} or _MENDING.search(script.text) or not _takes_keys(script, run):
        return
    for line in lines_of(run, "aws") if _ALONE.search(script.text) else ():
        query, form = (_option(line, run, name) for name in ("query", "output"))
        if (line.word(0), line.word(1)) == _COMMAND and query == _WHOLE and form in (None, "json"):
            says = "reads a secret without --output text: that is a text in quotes, which has no keys"
            yield Slip(f"the script {says}", "--output text", dead=True)


def _option(line: Line, run: Run, name: str) -> str | None:
    """An option of a command; empty if its value is not known."""
    given = line.options.get(name)
    return None if given is None else (as_str(run.value(given)) or "") if isinstance(given, tuple) else ""


def _takes_keys(script: Script, run: Run) -> bool:
    return any(_takers(script.text)) or any(_keys(script, run))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(None, of_script)
