"""IAM's evaluation in ministack: which resource and which further actions a request takes, and what a policy is.

Like `ministack.py`, it names private parts; a contract test guards each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import ministack.app  # type: ignore[import-untyped]
from ministack.core import iam_actions, iam_evaluator, responses, router  # type: ignore[import-untyped]
from ministack.services import iam  # type: ignore[import-untyped]
from ministack.services.cloudformation import helpers  # type: ignore[import-untyped]

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.judging import Request, Response, answered, target
from hyperpod_constructs.local.ministack import Parameters, refuse_first


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


def demand_dependents(service: str, dependents: Callable[[str, str, bytes], Iterable[tuple[str, str, Mapping[str, str]]]]) -> None:
    """Let IAM evaluate what requests to a service take beside their own action: action, resource and condition keys of each.

    `dependents` is asked with the service, the operation and the body. ministack evaluates with `auth` only, and so does this.
    """
    answer = ministack.app.SERVICE_HANDLERS[service]

    async def handle(method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, list[str]]) -> Response:
        key, region = router.extract_access_key_id(headers, query), router.extract_region(headers, query)
        for action, resource, context in dependents(service, target(headers), body) if ministack.app.AUTH else ():
            denied = iam_evaluator.enforce(key, action, service, region, resource_arn=resource, service_context=context)
            if denied is not None:
                return answered("json", _denial(denied, action, resource))
        response: Response = await answer(method, path, headers, body, query)
        return response

    ministack.app.SERVICE_HANDLERS[service] = handle


def _denial(denied: Any, action: str, resource: str) -> AwsError:
    if isinstance(denied, iam_evaluator.AuthError):
        return AwsError(denied.code, denied.message, 403)
    explicit = denied.decision == "Deny"
    return AwsError("AccessDeniedException", iam_actions.identity_denial_message(action, denied.principal_arn, resource, explicit))


def name_refused_resources(services: frozenset[str]) -> None:
    """Let the refusals of these services name the resource, as AWS does; ministack leaves it out."""
    native = iam_actions.access_denied_response

    def respond(service: str, action: str, principal: str, request_id: str, **given: Any) -> Response:
        decided_otherwise = any(given.get(name) for name in ("message", "error_code", "resource_policy_arn"))
        if service in services and not decided_otherwise:
            resource, explicit = given.get("resource_arn", "*"), given.get("explicit_deny", False)
            given["message"] = iam_actions.identity_denial_message(action, principal, resource, explicit)
        response: Response = native(service, action, principal, request_id, **given)
        return response

    iam_actions.access_denied_response = respond


_VARIABLE = re.compile(r"\$\{([A-Za-z0-9-]{1,40}:[^{}]{1,200})\}")


def fill_policy_variables() -> None:
    """Let IAM know variables in resources and conditions of policies, such as `${aws:userid}`; ministack takes them for text.

    A variable without a value stays as it is, so nothing matches it; so does one whose value would be a pattern.
    """
    native = iam_evaluator._first_match

    def first_match(context: Any, statements: Sequence[Any], effect: str) -> Any:
        def value(found: re.Match[str]) -> str:
            known = iam_evaluator._resolve_condition_key(found[1], context)
            return known if isinstance(known, str) and not set(known) & set("*?") else found[0]

        return native(context, [_filled(statement, value) for statement in statements], effect)

    iam_evaluator._first_match = first_match


def _filled(statement: Any, value: Callable[[re.Match[str]], str]) -> Any:
    members = {name: getattr(statement, name) for name in ("resources", "not_resources", "conditions")}
    if not any("${" in str(member) for member in members.values()):
        return statement

    def filled(member: Any) -> Any:
        if isinstance(member, dict):
            return {key: filled(one) for key, one in member.items()}
        return [filled(one) for one in member] if isinstance(member, list) else _VARIABLE.sub(value, str(member))

    return replace(statement, **{name: filled(member) for name, member in members.items()})


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
    refuse_first("iam", refusal)


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


def rename_access_key(account: str, old: str, new: str, secret: str) -> None:
    """Give an access key of the account another id and secret."""
    responses.set_request_account_id(account)
    record = iam._access_keys.pop(old)
    iam._access_keys[new] = {**record, "AccessKeyId": new, "SecretAccessKey": secret}
