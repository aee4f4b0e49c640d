"""The commands of a build whose specification stands in its template, with the variables that they find.

Source: https://docs.aws.amazon.com/codebuild/latest/userguide/build-spec-ref.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.shell import Run, run_of
from hyperpod_constructs.analysis.shell_words import plain
from hyperpod_constructs.facts.builds import BUILD_PHASES, FETCHING, STARTERS
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Part, Text, Value, as_items, as_str, at, frozen, shown

PROJECT, _RULE = "AWS::CodeBuild::Project", "AWS::Events::Rule"
SPECIFICATION = ("Source", "BuildSpec")
"""The place of the specification in a build."""
_URL = re.compile(r"https?://([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,})(?=[/:]|$)")
_ELSEWHERE = ("amazonaws.com", "amazonaws.com.cn", ".aws", ".corp", ".internal", ".lan", ".local", ".localhost")
"""Ends of names that may be of hosts in a VPC."""
_ONCE = re.compile(r"==\s*[\"']Create[\"']")
_OF_SECRETS = ("parameter-store", "secrets-manager")


def build_of(project: Resource) -> Run | None:
    """What a build runs; `None` if that is not known. Computed once."""
    return project.template.model.cached((build_of, project), lambda: _build(project))


def hosts_of(run: Run | None) -> tuple[str, ...]:
    """The hosts in the internet from which a shell surely fetches something without a proxy."""
    if run is None or "*" in run.set or any(name.lower().endswith("_proxy") for name in (*run.given, *run.set)):
        return ()
    commands = (one for one in run.commands if one.name in FETCHING and not one.guarded)
    return tuple(dict.fromkeys(filter(None, (host_in(plain(word[:1])) for one in commands for word in one.arguments))))


def host_in(text: str) -> str | None:
    """The host in the internet of an address."""
    found = _URL.match(text)
    return None if found is None or found[1].endswith(_ELSEWHERE) else found[1]


def builds(model: Model) -> Iterator[tuple[Resource, Run]]:
    """The builds of a model whose commands are known."""
    for project in model.resources(PROJECT):
        build = build_of(project)
        if build is not None:
            yield project, build


def texts_of(project: Resource) -> tuple[str, ...]:
    """The commands of a build as they are written, with marks; none if they are not known, or not for a shell."""
    found = _specification(project)
    return () if found is None else tuple(_written(found[0]))


def starters_of(project: Resource) -> Sequence[Resource]:
    """What the templates have that starts a build; a rule that only hears of it does not."""
    model = project.template.model
    return model.cached(starters_of, lambda: grouped(_starts(model))).get(project, ())


def _starts(model: Model) -> Iterator[tuple[Resource, Resource]]:
    for one in model.resources(*STARTERS):
        for named in dict.fromkeys(references(one.get("Targets") if one.type == _RULE else one.get())):
            yield named, one


def is_repeated(project: Resource) -> bool:
    """Whether the templates surely start a build more than once: not only when a custom resource is created."""
    return any(one.type != "AWS::Lambda::Function" or _starts_again(one) for one in starters_of(project))


def _starts_again(function: Resource) -> bool:
    text = str(shown(function.get("Code", "ZipFile")))
    return "start_build" in text and _ONCE.search(text) is None


def _build(project: Resource) -> Run | None:
    specification = _specification(project)
    data, marks = specification or ({}, {})
    texts = tuple(_written(data))
    run = run_of(texts, {**_of_specification(data), **_of_project(project)}, marks) if texts else None
    return run._replace(set=run.set | {"*"}) if run is not None and _has_others(project) else run


def _specification(project: Resource) -> tuple[Mapping[str, Value], Mapping[str, Part]] | None:
    """The specification of a build for a shell, with the parts that its marks stand for."""
    value = project.get("Source", "BuildSpec")
    text, marks = marked(value) if isinstance(value, str | Text) else (None, {})
    data = _parsed(text) if text is not None and ("\n" in text or text.lstrip().startswith("{")) else None
    return None if data is None or _is_of_windows(project) else (data, marks)


def _is_of_windows(project: Resource) -> bool:
    return (as_str(project.get("Environment", "Type")) or "").startswith("WINDOWS")


def _parsed(text: str | None) -> Mapping[str, Value] | None:
    from hyperpod_constructs.templates.yaml_reading import parsed

    try:
        data = frozen(parsed(text or ""))
    except TemplateError:
        return None
    shell = as_str(at(data, "env", "shell")) or "sh"
    return data if isinstance(data, Mapping) and shell in ("sh", "/bin/sh", "bash") else None


def _written(data: Mapping[str, Value]) -> Iterator[str]:
    for phase in BUILD_PHASES:
        for key in ("commands", "finally"):
            yield from (one for one in as_items(at(data, "phases", phase, key)) or () if isinstance(one, str))


def _of_specification(data: Mapping[str, Value]) -> dict[str, Value]:
    """The variables of a specification; those of secrets are not known."""
    given = at(data, "env", "variables")
    secret = [at(data, "env", key) for key in _OF_SECRETS]
    names = [name for one in secret if isinstance(one, Mapping) for name in one]
    return {**dict.fromkeys(names, UNKNOWN), **(given if isinstance(given, Mapping) else {})}


def _of_project(project: Resource) -> dict[str, Value]:
    items = as_items(project.get("Environment", "EnvironmentVariables"))
    found = {as_str(at(one, "Name")): _value(one) for one in items or ()}
    return {name: value for name, value in found.items() if name is not None}


def _has_others(project: Resource) -> bool:
    """Whether a project may have variables that are not known."""
    written = project.get("Environment", "EnvironmentVariables")
    items = as_items(written)
    return written is not ABSENT and (items is None or any(as_str(at(one, "Name")) is None for one in items))


def _value(variable: Value) -> Value:
    kind = at(variable, "Type")
    return at(variable, "Value") if kind is ABSENT or as_str(kind) == "PLAINTEXT" else UNKNOWN
