"""Functions and builds that work as soon as a resource is made, such as a custom resource, and what they lack then.

>>> [(one.resource.logical_id, one.late.logical_id) for one in early_calls(model)]
[('Chart', 'ChartEntry')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.api_calls import program_calls
from hyperpod_constructs.analysis.build_commands import PROJECT
from hyperpod_constructs.analysis.cluster_builds import cluster_builds
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.kubernetes import EksCluster
from hyperpod_constructs.analysis.order import Late
from hyperpod_constructs.facts.creation import CALLERS
from hyperpod_constructs.templates.dependencies import awaits, references
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import Reference, Value, as_str

_CUSTOM, _TOKEN = "Custom::", "ServiceToken"
_ROLES: Mapping[str, str] = {
    "AWS::Lambda::Function": "Role",
    "AWS::StepFunctions::StateMachine": "RoleArn",
    PROJECT: "ServiceRole",
}
"""What works as a role when it is called, with the property of the role."""
_STARTS = "codebuild:StartBuild"
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_COMMON = frozenset({"arn", "function", "lambda", "role", "service", "token"})
"""Words in names of functions and roles that tell nothing."""


def early_calls(model: Model) -> Iterator[Late]:
    """The resources whose function is called before it has its permissions or its access to a Kubernetes cluster."""
    callers = called_first(model)
    users = grouped((program, caller) for caller, programs in callers.items() for program in programs)
    said: set[tuple[Resource, Resource]] = set()
    for caller, programs in callers.items():
        for program in programs:
            shared, inner = len(users[program]) > 1, program is not programs[0]
            for policy in _policies(caller, program, shared=shared):
                bearer = program if shared or inner else caller
                if (bearer, policy) not in said:
                    said.add((bearer, policy))
                    yield Late(bearer, policy, f"a policy of the role as which {program.logical_id} is called at once")
        yield from _entries(caller, programs)


def called_first(model: Model) -> Mapping[Resource, tuple[Resource, ...]]:
    """By resource: the functions, state machines and builds that work as soon as it is made; computed once."""
    return model.cached(called_first, lambda: {one: tuple(_programs(one)) for one in model.resources() if _property(one)})


def _property(resource: Resource) -> str:
    """The property of a resource that names the function; empty for one that calls none."""
    return _TOKEN if resource.type.startswith(_CUSTOM) else CALLERS.get(resource.type, "")


def _programs(caller: Resource) -> Iterator[Resource]:
    """The function of a resource, the functions and state machines that this one names in turn, and the builds that they start.

    A custom resource can name the build itself, among the properties that its function gets.
    """
    waiting, seen = list(references(caller.get(_property(caller)))), set[Resource]()
    handed = [one for one in references(caller.get()) if one.type == PROJECT] if caller.type.startswith(_CUSTOM) else []
    while waiting:
        current = waiting.pop()
        if current not in seen and current.type in _ROLES:
            seen.add(current)
            yield current
            found = references(tuple(current.get(key) for key in ("Environment", "DefinitionString", "DefinitionSubstitutions")))
            waiting += (one for one in (*found, *handed) if one.type != PROJECT or _starts_builds(current))


def _starts_builds(program: Resource) -> bool:
    return any(one.operation.action == _STARTS for one in program_calls(program))


def _policies(caller: Resource, program: Resource, *, shared: bool) -> Iterator[Resource]:
    """The policies of a program's role that its caller should await; of a shared one, any policy is enough."""
    role = resource_of(program.get(_ROLES[program.type]), ROLE)
    known = () if role is None else [one.resource for one in role_facts(role).policies if one.resource is not role]
    late = [one for one in known if not awaits(caller, one) and not awaits(one, caller) and one.exists]
    yield from late if late and (not shared or len(late) == len(known)) else ()


def _entries(caller: Resource, programs: tuple[Resource, ...]) -> Iterator[Late]:
    """The access entries of a program's role, for the Kubernetes cluster that its caller or a property of a custom resource names,
    or a variable of the program, or on which a build works.
    """
    of_builds = [one.eks for one in cluster_builds(caller.template.model) if one.project in programs]
    whole = [one for one in caller.properties.values() if isinstance(one, Reference)] if caller.type.startswith(_CUSTOM) else []
    own = (EksCluster.of(one) for one in (caller.get("ClusterName"), *whole, *_variables(programs)))
    named = dict.fromkeys(eks for eks in (*own, *of_builds) if eks is not None)
    beside = [one for eks in named for one in eks.access_entries if one.template.root is caller.template.root]
    roles = {resource_of(one.get(_ROLES[one.type]), ROLE) for one in programs} - {None}
    for entry in beside:
        principal = resource_of(entry.get("PrincipalArn"), ROLE)
        its = principal in roles if programs else principal is None and _is_named_alike(caller, entry)
        if its and entry.exists and not awaits(caller, entry) and not awaits(entry, caller):
            yield Late(caller, entry, "the access of its function or its build to the Kubernetes cluster")


def _variables(programs: tuple[Resource, ...]) -> Iterator[Value]:
    """The variables of functions."""
    for found in (one.get("Environment", "Variables") for one in programs):
        yield from found.values() if isinstance(found, Mapping) else ()


def _is_named_alike(caller: Resource, entry: Resource) -> bool:
    """Whether a function and a role from elsewhere have a word of their names in common."""
    return not _words(caller, _TOKEN).isdisjoint(_words(entry, "PrincipalArn"))


def _words(resource: Resource, property_: str) -> set[str]:
    """The words in the name of a function or role, and in the name of the parameter that gives it."""
    properties = resource.raw.get("Properties")
    written = properties.get(property_) if isinstance(properties, dict) else None
    parameter = written.get("Ref") if isinstance(written, dict) else None
    name = re.split("[:/]", as_str(resource.get(property_)) or "")[-1]
    return {word.lower() for word in _WORD.findall(f"{parameter} {name}")} - _COMMON - {"none"}
