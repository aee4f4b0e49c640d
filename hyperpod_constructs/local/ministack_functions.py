"""The adapter of ministack's Lambda functions in CloudFormation; `ministack.py` has the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ministack.core import lambda_runtime  # type: ignore[import-untyped]
from ministack.services import lambda_svc  # type: ignore[import-untyped]
from ministack.services.cloudformation import provisioners  # type: ignore[import-untyped]

from hyperpod_constructs.local import ministack
from hyperpod_constructs.local.aws_service import Caller

FUNCTION = "AWS::Lambda::Function"
ANSWER = """resolve({
              StatusCode: res.statusCode,"""
"""Where ministack's stand-in for the Lambda client of Node takes any answer of Invoke for a success."""
_ANSWER_OR_ERROR = """(res.statusCode < 400 ? resolve : (answer) => {
              let found = {};
              try { found = JSON.parse(answer.Payload.toString()); } catch (_) {}
              const error = new Error(found.Message || found.message || "Invoke answered " + answer.StatusCode);
              error.name = String(found.__type || found.Code || "ServiceException");
              reject(error);
            })({
              StatusCode: res.statusCode,"""


def place_functions(place: Callable[[Mapping[str, Any], str, Caller], dict[str, Any]], endpoint: str) -> None:
    """Give functions the `VpcConfig` of their templates, which ministack does not read; `place(config, role, caller)` judges it."""
    native = provisioners._RESOURCE_HANDLERS[FUNCTION]

    def config_of(properties: Mapping[str, Any]) -> dict[str, Any] | None:
        found = properties.get("VpcConfig")
        return None if found is None else place(found, properties["Role"], ministack.caller(endpoint))

    def keep(result: tuple[str, dict[str, str]], config: dict[str, Any] | None) -> tuple[str, dict[str, str]]:
        settings = lambda_svc._functions[result[0]]["config"]
        if config is not None:
            settings["VpcConfig"] = config
        else:
            settings.pop("VpcConfig", None)
        return result

    def create(logical_id: str, properties: dict[str, Any], stack: str) -> tuple[str, dict[str, str]]:
        config = config_of(properties)
        return keep(native["create"](logical_id, properties, stack), config)

    def update(physical_id: str, old: Any, new: dict[str, Any], stack: str, logical_id: str) -> tuple[str, dict[str, str]]:
        config = config_of(new)
        return keep(native["update"](physical_id, old, new, stack, logical_id), config)

    provisioners._RESOURCE_HANDLERS[FUNCTION] = {**native, "create": create, "update": update}


def fail_refused_invocations() -> None:
    """Let a function in Node fail when Lambda refuses its invocation of another one, as with the real client.

    The CDK's framework of custom resources is such a function: without this it reports a success though nothing ran.
    """
    lambda_runtime._NODEJS_WORKER_SCRIPT = lambda_runtime._NODEJS_WORKER_SCRIPT.replace(ANSWER, _ANSWER_OR_ERROR)
