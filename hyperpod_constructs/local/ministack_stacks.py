"""CloudFormation's engine in ministack: providers of ours, and what it does otherwise than AWS.

Like `ministack.py`, it names private parts; a contract test guards each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, cast

from ministack.core.concurrency import run_reentrant  # type: ignore[import-untyped]
from ministack.services import cloudformation, lambda_svc  # type: ignore[import-untyped]
from ministack.services.cloudformation import changesets, custom_resource, engine, handlers, helpers, provisioners, stacks  # type: ignore[import-untyped]

from hyperpod_constructs.facts import updates
from hyperpod_constructs.facts.schema import type_facts
from hyperpod_constructs.local.audit import audited
from hyperpod_constructs.local.judging import Response
from hyperpod_constructs.local.ministack import Parameters, caller, refuse_first
from hyperpod_constructs.local.provider import Provisioned, ResourceProvider, paths_that_create, paths_that_may_create, updated


def check_templates(check: Callable[[str], str | None]) -> None:
    """Ask `check(template)` before a stack or change set is created or updated.

    It runs in a thread of its own, and answers None or the message of a ValidationError.
    """

    async def refusal(parameters: Parameters) -> Response | None:
        if helpers._p(parameters, "Action") in ("CreateStack", "UpdateStack", "CreateChangeSet"):
            template, failure = helpers._resolve_template(parameters)
            if template and not failure and (message := await run_reentrant(check, template)) is not None:
                rejected: Response = helpers._error("ValidationError", message)
                return rejected
        return None

    refuse_first("cloudformation", refusal)


def enforce_capabilities() -> None:
    """Refuse IAM resources that the request does not acknowledge; ministack does so under AUTH=true only."""
    handlers._capabilities_enforced = lambda: True


def run_in_worker_threads(type_names: frozenset[str]) -> None:
    """Run the handlers of these types off the event loop, so that they may block and call the endpoint."""
    native = stacks._runs_on_worker_thread
    stacks._runs_on_worker_thread = lambda name: name in type_names or native(name)


_INVOKED_FOR: ContextVar[str] = ContextVar("custom_resource_token", default="")


def fail_unanswered_custom_resources() -> None:
    """Fail a custom resource as soon as its function fails without an answer; AWS too has nothing to show until the timeout."""
    register, execute = custom_resource.register_token, lambda_svc._execute_function_with_config_scope

    def remember(token: str) -> Any:
        _INVOKED_FOR.set(token)
        return register(token)

    def execute_once(function: dict[str, Any], event: dict[str, Any]) -> dict[str, Any]:
        token = _INVOKED_FOR.get()
        _INVOKED_FOR.set("")
        result: dict[str, Any] = execute(function, event)
        entry = custom_resource._pending.get(token)
        if result.get("error") and entry is not None and entry["result"] is None:
            reason = f"the function failed and sent no answer, for which aws would wait until its timeout: {_text(result['body'])}"
            custom_resource.deliver_response(token, {"Status": "FAILED", "Reason": reason})
        return result

    custom_resource.register_token = remember
    lambda_svc._execute_function_with_config_scope = execute_once


def _text(body: Any) -> str:
    return body.decode("utf-8", "replace") if isinstance(body, bytes) else str(body)


def evaluate_whole_conditions() -> None:
    """Let conditions compute with Fn::Join, Fn::Sub, Fn::FindInMap and AWS::Region; ministack compares such a value unresolved.

    CDK's bootstrap template joins a list of policies so; without this its deployment role ends with an empty policy name.
    """
    native = engine._evaluate_conditions

    def evaluate(template: dict[str, Any], parameters: dict[str, Any]) -> Any:
        mappings = template.get("Mappings", {})

        def resolved(node: Any) -> Any:
            if isinstance(node, dict):
                pseudo = str(node.get("Ref", "")).startswith("AWS::")
                if pseudo or node.keys() & {"Fn::Join", "Fn::Sub", "Fn::FindInMap"}:
                    return engine._resolve_refs(node, {}, parameters, {}, mappings, "", "")
                return {key: resolved(value) for key, value in node.items()}
            return [resolved(value) for value in node] if isinstance(node, list) else node

        conditions = template.get("Conditions")
        return native({**template, "Conditions": resolved(conditions)} if conditions else template, parameters)

    for module in (engine, stacks, handlers, changesets):
        module._evaluate_conditions = evaluate


class _NoResourceChanges(list[Any]):
    """The changes of a change set that changes outputs only: an empty list, and yet something to execute."""

    def __bool__(self) -> bool:
        return True


def notice_changed_outputs() -> None:
    """Execute change sets that change only outputs; ministack calls them empty, so a new export would never exist."""
    resolve, compare = changesets._resolve_props_for_diff, changesets._diff_resources

    def with_outputs(template: dict[str, Any], *arguments: Any) -> dict[str, Any]:
        return {**resolve(template, *arguments), "Outputs": template.get("Outputs", {})} if template else {}

    def differences(old: dict[str, Any], new: dict[str, Any], *arguments: Any, **options: Any) -> list[Any]:
        changes: list[Any] = compare(old, new, *arguments, **options)
        outputs_only = not changes and old and old["Outputs"] != new.get("Outputs")
        return _NoResourceChanges() if outputs_only else changes

    changesets._resolve_props_for_diff = with_outputs
    changesets._diff_resources = differences


def keep_deleted_stacks() -> None:
    """Let a deleted stack be listed, and found by its id, after another one has taken its name; ministack forgets it then."""

    async def archive(parameters: Parameters) -> Response | None:
        if helpers._p(parameters, "Action") in ("CreateStack", "CreateChangeSet"):
            stack = cloudformation._stacks.get(helpers._p(parameters, "StackName"))
            if stack is not None and stack["StackStatus"] == "DELETE_COMPLETE":
                cloudformation._stacks[stack["StackId"]] = stack
        return None

    refuse_first("cloudformation", archive)


def date_deletions() -> None:
    """Give a deleted stack the time of its deletion, which ministack's lists leave out."""
    add = stacks._add_event

    def added(stack_id: str, stack_name: str, logical_id: str, type: str, status: str, *rest: Any, **options: Any) -> None:
        add(stack_id, stack_name, logical_id, type, status, *rest, **options)
        if (logical_id, type, status) == (stack_name, "AWS::CloudFormation::Stack", "DELETE_COMPLETE"):
            stack = handlers._resolve_stack(stack_id)
            if stack is not None:
                stack["DeletionTime"] = stacks.now_iso()

    stacks._add_event = added


def find_stacks_by_resource() -> None:
    """Let DescribeStackResources find the stack of a physical id, as AWS does; ministack takes names only."""

    async def find(parameters: Parameters) -> Response | None:
        wanted = helpers._p(parameters, "PhysicalResourceId")
        if helpers._p(parameters, "Action") != "DescribeStackResources" or not wanted or helpers._p(parameters, "StackName"):
            return None
        for stack in cloudformation._stacks.values():
            present = stack.get("_resources", {}).values() if stack["StackStatus"] != "DELETE_COMPLETE" else ()
            if any(resource.get("PhysicalResourceId") == wanted for resource in present):
                return cast(Response, handlers._describe_stack_resources({**parameters, "StackName": [stack["StackName"]]}))
        return cast(Response, helpers._error("ValidationError", f"Stack for {wanted} does not exist"))

    refuse_first("cloudformation", find)


def order_events() -> None:
    """Give stack events distinct, ascending times; with ministack's whole seconds the CLI shows them in a wrong order."""
    last = [0]

    def now() -> str:
        last[0] = max(last[0] + 1, time.time_ns() // 1_000_000)
        seconds, milliseconds = divmod(last[0], 1000)
        return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{milliseconds:03d}Z"

    stacks.now_iso = now


def provide(provider: ResourceProvider, endpoint: str) -> None:
    """Register a provider of ours for its type; the tags of the stack reach its property `Tags`, if it has one."""
    name = provider.type_name
    whole = {path for path in paths_that_create(name) if "/" not in path}
    provisioners._REPLACING_PROPERTIES[name] = tuple(sorted(whole))
    parts = {path.partition("/")[0] for path in updates.replacing(name) | paths_that_may_create(name)} - whole
    provisioners._CONDITIONALLY_REPLACING_PROPERTIES[name] = tuple(sorted(parts))
    facts = type_facts(name)
    if facts is not None and "Tags" in facts.properties:
        provisioners._STACK_TAG_PROPERTY[name] = ("Tags", "list")
    else:
        provisioners._STACK_TAG_PROPERTY.pop(name, None)

    def create(logical_id: str, properties: dict[str, Any], stack: str) -> tuple[str, dict[str, str]]:
        return _result(provider.create(properties, logical_id, stack, caller(endpoint)))

    def update(
        physical_id: str, old: dict[str, Any], new: dict[str, Any], stack: str, logical_id: str
    ) -> tuple[str, dict[str, str]]:
        where = caller(endpoint)
        return _result(updated(provider, physical_id, old, new, logical_id=logical_id, stack=stack, caller=where))

    def delete(physical_id: str, properties: dict[str, Any]) -> None:
        provider.delete(physical_id, properties, caller(endpoint))

    native = provisioners._RESOURCE_HANDLERS.get(name, {})
    kept = {key: native[key] for key in ("import",) if key in native}
    provisioners._RESOURCE_HANDLERS[name] = {
        **kept,
        "create": create,
        "update": update,
        "update_with_logical_id": True,
        "delete": delete,
    }


def _result(provisioned: Provisioned) -> tuple[str, dict[str, str]]:
    return provisioned.physical_id, dict(provisioned.attributes)


def audit_properties() -> None:
    """Put the audit around every handler that takes properties, ministack's own too."""
    for name, handler in provisioners._RESOURCE_HANDLERS.items():
        if "create" in handler and name not in _TAKEN_WHOLE:
            provisioners._RESOURCE_HANDLERS[name] = audited(name, handler, _updating)


_TAKEN_WHOLE = frozenset({"AWS::CloudFormation::CustomResource", "AWS::CloudFormation::Stack", "AWS::CDK::Metadata"})
"""Types with unread properties by design: they go to a Lambda function, to a nested stack, or nowhere (usage statistics)."""


def _updating() -> bool:
    """Whether a stack update runs the handler; the result can then be the existing resource."""
    return provisioners._DEFERRED_PREDECESSOR_DELETES.get() is not None
