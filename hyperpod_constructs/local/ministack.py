"""The adapter of ministack, which has no plug-in interface: its private names stand here and in the modules `ministack_*.py`.

The version is pinned exactly, and a contract test guards each name.
"""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import ContextVar
from typing import Any, Protocol, cast
from urllib.parse import parse_qs

import ministack.app  # type: ignore[import-untyped]
from ministack.core import iam_actions, iam_evaluator, lambda_runtime, responses, router  # type: ignore[import-untyped]
from ministack.core.concurrency import run_reentrant  # type: ignore[import-untyped]
from ministack.services import cloudformation, iam, lambda_svc, s3, scheduler  # type: ignore[import-untyped]
from ministack.services.cloudformation import changesets, custom_resource, engine, handlers, helpers, provisioners, stacks  # type: ignore[import-untyped]

from hyperpod_constructs.facts import updates
from hyperpod_constructs.facts.schema import type_facts
from hyperpod_constructs.local.audit import audited
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.judging import Judge, Request, Response, answered, target
from hyperpod_constructs.local.provider import Provisioned, ResourceProvider, paths_that_create, paths_that_may_create, updated

Handler = Callable[..., Coroutine[Any, Any, Response]]
Parameters = Mapping[str, list[str]]
"""The parameters of a request of the query protocol."""

log = logging.getLogger(__name__)

asgi_application = ministack.app.app


def caller(endpoint: str) -> Caller:
    """Who calls, in the context of the current request or stack operation."""
    return Caller(account=responses.get_account_id(), region=responses.get_region(), endpoint=endpoint)


class Served(Protocol):
    """A service of ours on the wire."""

    def operation(self, request: Request) -> str | None:
        """The operation that `answer` gives this request to; None if it refuses the request."""

    def answer(self, request: Request) -> Response:
        """Answer one request."""


def serve(name: str, service: Served, *, target_prefix: str = "") -> None:
    """Serve a service of ours under its signing name. IAM is asked about the operation that the service says it will answer.

    It answers in a thread of its own, so it may block and may call back to the endpoint. `target_prefix` is that of the
    X-Amz-Target header of JSON services.
    """
    native = iam_actions.extract_iam_action

    def action(asked: str, *request: Any) -> str | None:
        # ministack takes any `Action` and any X-Amz-Target for the action, also where the service reads neither.
        if asked != name:
            return cast("str | None", native(asked, *request))
        operation = service.operation(cast(Request, request))
        return None if operation is None else f"{name}:{operation}"

    async def handle(method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, list[str]]) -> Response:
        response: Response = await run_reentrant(service.answer, (method, path, headers, body, query))
        return response

    iam_actions.extract_iam_action = action
    ministack.app.SERVICE_HANDLERS[name] = handle
    if target_prefix:
        router.SERVICE_PATTERNS[name] = {"target_prefixes": [f"{target_prefix}."], "host_patterns": []}
    iam_actions.SERVICE_TO_IAM_NAMESPACE[name] = name


def serve_operations(name: str, service: Served, operations: frozenset[str]) -> None:
    """Let a service of ours answer some operations of a JSON service of ministack, which does not know these."""
    native = ministack.app.SERVICE_HANDLERS[name]

    async def handle(method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, list[str]]) -> Response:
        request = (method, path, headers, body, query)
        mine = target(headers) in operations
        response: Response = await (run_reentrant(service.answer, request) if mine else native(*request))
        return response

    ministack.app.SERVICE_HANDLERS[name] = handle


def judge_requests(judges: Mapping[str, Judge]) -> None:
    """Refuse what the models of these services forbid, before a handler sees it. Call it once every handler is in place.

    An error of a handler is answered in AWS's shape, and stays an error of ours.
    """
    for name, judge in judges.items():
        ministack.app.SERVICE_HANDLERS[name] = _judged(judge, ministack.app.SERVICE_HANDLERS[name])


def _judged(judge: Judge, answer: Handler) -> Handler:
    async def handle(*request: Any) -> Response:
        refusal = judge.refusal(cast(Request, request)) if judge.reads(cast(Request, request)) else None
        if refusal is not None:
            return refusal
        try:
            response = await answer(*request)
        except Exception:
            log.exception("a handler failed")
            response = answered(judge.protocol, AwsError("InternalFailure", "the embedded aws failed; its log tells why", 500))
        return judge.excuse(cast(Request, request)) or response if response[0] >= 500 else response

    return handle


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

    _refuse_first("cloudformation", refusal)


def _refuse_first(name: str, refusal: Callable[[Parameters], Awaitable[Response | None]]) -> None:
    """Ask for a refusal of a service of the query protocol before its handler answers."""
    answer = ministack.app.SERVICE_HANDLERS[name]

    async def handle(method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, list[str]]) -> Response:
        found = {**dict(query), **parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)}
        response: Response = await refusal(found) or await answer(method, path, headers, body, query)
        return response

    ministack.app.SERVICE_HANDLERS[name] = handle


def name_resources(arn_of: Callable[[str, Request], str | None]) -> None:
    """Let IAM evaluate requests of our services against the resource that `arn_of(service, request)` names."""
    native = iam_actions.extract_resource_arn

    def extract(service: str, method: str, path: str, headers: Mapping[str, str], body: bytes, *rest: Any) -> str:
        found = arn_of(service, (method, path, headers, body, {}))
        try:
            return found if found is not None else native(service, method, path, headers, body, *rest)
        except UnicodeDecodeError:  # It looks for names in JSON only, and a body of CBOR is no text.
            return "*"

    iam_actions.extract_resource_arn = extract


def rename_access_key(account: str, old: str, new: str, secret: str) -> None:
    """Give an access key of the account another id and secret."""
    responses.set_request_account_id(account)
    record = iam._access_keys.pop(old)
    iam._access_keys[new] = {**record, "AccessKeyId": new, "SecretAccessKey": secret}


def enforce_capabilities() -> None:
    """Refuse IAM resources that the request does not acknowledge; ministack does so under AUTH=true only."""
    handlers._capabilities_enforced = lambda: True


def run_in_worker_threads(type_names: frozenset[str]) -> None:
    """Run the handlers of these types off the event loop, so that they may block and call the endpoint."""
    native = stacks._runs_on_worker_thread
    stacks._runs_on_worker_thread = lambda name: name in type_names or native(name)


def add_aws_managed_policies(documents: Callable[[], Mapping[str, str]]) -> None:
    """Let IAM know every policy of AWS, not only the few dozen of ministack, and refuse to attach one that does not exist.

    `documents` gives their documents by what follows `:policy/` in their ARN; it is asked when an unknown one is met.
    """
    native = iam._lookup_policy

    def look_up(arn: str) -> Any:
        found = native(arn)
        prefix, _, name = arn.partition(":policy/")
        if found is None and prefix.endswith(":iam::aws") and name in documents():
            found = iam._aws_managed_policies[arn] = iam._make_aws_managed_record(name, documents()[name])
        return found

    async def refusal(parameters: Parameters) -> Response | None:
        attached = helpers._p(parameters, "PolicyArn") if helpers._p(parameters, "Action").startswith("Attach") else ""
        for arn in (attached, helpers._p(parameters, "PermissionsBoundary")):
            if arn and not iam.policy_known(arn):
                found: Response = iam._error(404, "NoSuchEntity", f"Policy {arn} does not exist or is not attachable.", ns="iam")
                return found
        return None

    iam._lookup_policy = look_up
    _refuse_first("iam", refusal)


def judge_policies(policy_problem: Callable[[Any], str | None], trust_problem: Callable[[Any], str | None]) -> None:
    """Refuse policies by their text, wherever IAM takes one; ministack looks at little more than their statements' effects.

    Each function answers the message of a MalformedPolicyDocument, or None.
    """
    of_policy, of_trust, store = iam_evaluator.validate_policy_document, iam._trust_policy_not_principal_error, iam.store_policy

    def store_valid(arn: str, name: str, path: str, document: Any, **options: Any) -> Any:
        if (problem := policy_problem(document)) is not None:
            raise ValueError(problem)
        return store(arn, name, path, document, **options)

    iam_evaluator.validate_policy_document = lambda document: policy_problem(document) or of_policy(document)
    iam._trust_policy_not_principal_error = lambda document: of_trust(document) or trust_problem(document)
    iam.store_policy = store_valid


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


def reset() -> None:
    """Forget the state of every ministack service and end the Lambda workers."""
    ministack.app._reset_all_state()


def end_lambda_workers() -> None:
    """End the processes of the warm Lambda functions."""
    lambda_runtime.reset()


def encrypt_with_aws_managed_key() -> None:
    """Let `aws:kms` without a key mean the account's key aws/s3, as on AWS; ministack refuses such an upload."""
    native = s3._resolve_sse_write_headers

    def resolve(headers: dict[str, str], bucket: str) -> Any:
        key = "x-amz-server-side-encryption-aws-kms-key-id"
        if headers.get("x-amz-server-side-encryption") == "aws:kms" and not headers.get(key):
            arn = f"arn:aws:kms:{responses.get_region()}:{responses.get_account_id()}:alias/aws/s3"
            headers = {**headers, key: arn}
        return native(headers, bucket)

    s3._resolve_sse_write_headers = resolve


def keep_targets_of_schedules() -> None:
    """Let a schedule keep its target with all members: ministack stores and later sends it as it came, without reading them."""
    native = scheduler._create_schedule
    scheduler._create_schedule = lambda name, body: native(name, copy.deepcopy(body))


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

    _refuse_first("cloudformation", archive)


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

    _refuse_first("cloudformation", find)


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
