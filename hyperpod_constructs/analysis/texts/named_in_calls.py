"""Names that calls of AWS get from a template: of a thing of the kind that the call is about, and not of another one.

The task of a state machine and the code of a function name a cluster, a table or the like by a text. It is a mistake where the
templates give that name to a cluster of another service, or nearly that name to a thing of the right kind.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeClusterNode.html and the other references of the calls
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.alone import types_of_users
from hyperpod_constructs.analysis.references.kinds import in_words, is_other
from hyperpod_constructs.analysis.state_machines import STATE_MACHINE, definition, definition_key, states
from hyperpod_constructs.analysis.texts.integrations import integration_of
from hyperpod_constructs.analysis.texts.near_arns import is_whole
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, mapping
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.named_by_text import IN_CALLS, NAMES, PARAMETER
from hyperpod_constructs.facts.reference_kinds import IN_CALLS as KINDS
from hyperpod_constructs.facts.template_parts import SERVERLESS, TRANSFORMED
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Model, Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value

_LEAST_FOLDERS = 2
"""Parameters in a folder of less are of several kinds."""


def machine(resource: Resource) -> Slips:
    """The parameters of tasks that name another thing than their call is about."""
    key = definition_key(resource)
    for state in states(definition(resource)):
        call = integration_of(state.value.get("Resource", ABSENT))
        operation = None if call is None else call.operation
        for field in ("Parameters", "Arguments") if operation is not None else ():
            for name, value in mapping(state.value.get(field, ABSENT)).items():
                wrong = None if operation is None else misnamed(resource.template.model, operation.action, name.lower(), value)
                if wrong is not None:
                    message = f"the state {state.name!r} gives {name} {wrong[0]}"
                    path = (key, *state.path, field, name) if isinstance(resource.get(key), Mapping) else (key,)
                    yield Slip(message, wrong[1], path, value, dead=True)


def misnamed(model: Model, action: str, parameter: str, value: Value) -> tuple[str, str] | None:
    """What a parameter of a call names instead of a thing of its kind, in words, with what is allowed.

    :param parameter: its name, in small letters.
    """
    service = action.partition(":")[0]
    kind = KINDS.get((service, parameter))
    if kind is not None and isinstance(value, Reference):
        return (in_words(value), kind.words) if is_other(value, kind) else None
    type_ = IN_CALLS.get((action, parameter)) or IN_CALLS.get((service, parameter))
    if type_ is not None and isinstance(value, Reference):
        target = target_of(value)
        return (f"{value!r}, which is of an {target.type}", f"the name of an {type_}") if _is_alike(target.type, type_) else None
    name = None if type_ is None else known(value)
    own = [] if type_ is None else [one for _, one in _names(model, type_)]
    if type_ is None or not name or not own or None in own or name in own:
        return None
    there = [one for one in own if one]
    others = (one for other in NAMES if _is_alike(other, type_) for one, chosen in _names(model, other) if chosen == name)
    other, near = next(others, None), typo_of(name, there)
    if other is not None:
        return f"{name}, the name of {other.logical_id}, which is an {other.type}", ", ".join(there)
    near = near if near is not None and is_whole(name, near) else _unread(model, name) if type_ == PARAMETER else None
    return None if near is None else (f"{name}; no {type_} is called so, but {near}", near)


def _unread(model: Model, name: str) -> str | None:
    """The one parameter that the templates make in the folder of a name, if nothing else takes its value."""
    folder = name.rpartition("/")[0]
    found = [(one, own) for one, own in _names(model, PARAMETER) if own and own.rpartition("/")[0] == folder]
    alone = folder.count("/") >= _LEAST_FOLDERS and len(found) == 1 and model.complete and not types_of_users(found[0][0])
    return found[0][1] if alone else None


def _names(model: Model, type_: str) -> Iterator[tuple[Resource, str | None]]:
    """The resources of a type with their names; `None` for one that is not known."""
    place = NAMES[type_].split("/")
    return ((one, known(one.get(*place))) for one in model.resources(type_))


def _is_alike(type_: str, other: str) -> bool:
    """Whether two types of different services have one word, such as clusters; a macro makes one type of its own of the other."""
    return (
        type_ != other
        and not type_.startswith(TRANSFORMED[SERVERLESS][0])
        and type_.rpartition("::")[2] == other.rpartition("::")[2]
    )


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {STATE_MACHINE: machine}
