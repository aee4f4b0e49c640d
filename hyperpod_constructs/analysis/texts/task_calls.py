"""What the tasks of state machines call: an integration or an operation that is there, with the parameters that it needs.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/integrate-services.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.texts.integrations import integration_of
from hyperpod_constructs.analysis.texts.parameter_kinds import misfits
from hyperpod_constructs.analysis.texts.reading import is_open, texts_in
from hyperpod_constructs.analysis.texts.slip import Slip, mapping
from hyperpod_constructs.facts.sdk_calls import REQUIRED_CHOICES, Operation
from hyperpod_constructs.facts.sdk_shapes import parameters_of
from hyperpod_constructs.facts.state_language import INTEGRATIONS, JSONATA
from hyperpod_constructs.templates.values import ABSENT, Value

_WAITING = ".waitForTaskToken"


def task_mistakes(state: Mapping[str, Value], language: str) -> Iterator[Slip]:
    """An integration that Step Functions has, with the parameters that it needs."""
    call = integration_of(state.get("Resource", ABSENT))
    if call is None:
        return
    if call.by_sdk:
        yield from _of_sdk(call.service, call.name, call.waits, call.operations)
    elif any(one.startswith(f"{call.service}:") for one in INTEGRATIONS):
        yield from _optimized(f"{call.service}:{call.name}", call.waits, call.operation)
    if call.operation is not None:
        key = "Arguments" if language == JSONATA else "Parameters"
        yield from list(_parameters(state, call.operation, key)) or (_kinds(state, call.operation, key) if call.by_sdk else ())
    every = "\n".join(texts_in(state)) if call.waits == _WAITING else ""
    if call.waits == _WAITING and "$$.Task.Token" not in every and "states.context.Task.Token" not in every:
        yield Slip("waits for a token that it gives to nobody", "$$.Task.Token in its parameters", dead=True)


def _of_sdk(service: str, name: str, waits: str, operations: Mapping[str, Operation] | None) -> Iterator[Slip]:
    if waits not in ("", _WAITING):
        yield Slip(f"calls {service}:{name} with {waits}, which calls of the SDK do not take", f"none, or {_WAITING}")
    if service != service.lower():
        yield Slip(f"calls {service}; Step Functions writes it {service.lower()}", service.lower())
    if operations is None:
        return
    found = operations.get(name.lower())
    if found is None:
        names = [_written(one.name) for one in operations.values()]
        yield Slip(f"calls {name}, which {service} does not have{meant(name, names)}", "an operation of the service")
    elif name[0].isupper():
        yield Slip(f"calls {name}; Step Functions writes it {_written(found.name)}", _written(found.name))


def _written(name: str) -> str:
    return name[0].lower() + name[1:]


def _optimized(call: str, waits: str, operation: Operation | None) -> Iterator[Slip]:
    service, _, name = call.partition(":")
    ways = INTEGRATIONS.get(call)
    if ways is None:
        own = [one for one in INTEGRATIONS if one.startswith(f"{service}:")]
        if service in _LISTED_WHOLE:
            hint = f"; write aws-sdk:{call}" if operation is not None else meant(call, own)
            yield Slip(f"has the integration {call}, which Step Functions does not have{hint}", listed(own))
    elif waits and waits not in ways:
        yield Slip(f"has {name} with {waits}, which the integration does not take", listed(ways) or "none")


_LISTED_WHOLE = ("dynamodb", "events", "glue", "lambda", "sagemaker", "sns", "sqs", "states")
"""Services all of whose optimized integrations are known."""


def _parameters(state: Mapping[str, Value], operation: Operation, key: str) -> Iterator[Slip]:
    given = state.get(key, {})
    if not isinstance(given, Mapping) or any(is_open(name) for name in given):
        return
    names = {name.removesuffix(".$").lower() for name in given}
    lacking = [name for name in operation.required if name.lower() not in names]
    choice = REQUIRED_CHOICES.get(operation.action, ())
    if choice and names.isdisjoint(name.lower() for name in choice):
        yield Slip(f"calls {operation.name} without {listed(choice)}", f"one of {listed(choice)}", dead=True)
    elif lacking:
        message = f"calls {operation.name} without {lacking[0]}{meant(lacking[0], [one.removesuffix('.$') for one in given])}"
        yield Slip(message, f"{key} with {listed(operation.required)}", dead=True)
    else:
        yield from _unknown_parameters([name.removesuffix(".$") for name in given], operation)


def _kinds(state: Mapping[str, Value], operation: Operation, key: str) -> Iterator[Slip]:
    """Parameters of another kind than the operation takes."""
    for name, says, allowed in misfits(mapping(state.get(key, ABSENT)), operation):
        yield Slip(f"calls {operation.name} with {name}, which {says}", allowed, dead=True)
        return


def _unknown_parameters(given: Iterable[str], operation: Operation) -> Iterator[Slip]:
    """Parameters that the operation does not have, or that Step Functions writes with a capital."""
    known_ones = parameters_of(operation.client, operation.name)
    names = [f"{name[:1].upper()}{name[1:]}" for name in known_ones or ()]
    for name in given if known_ones is not None and operation.client not in _FREE else ():
        if name not in names:
            yield Slip(f"calls {operation.name} with {name}, which it does not take{meant(name, names)}", listed(names), dead=True)
            return


_FREE = ("eks", "s3")
"""Services of which Step Functions takes other parameters than the operation."""
