"""The Lambda functions behind a type of custom resource: one set per stack, shared by every resource of the type."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from aws_cdk import CfnResource, CustomResource, Duration, IgnoreMode, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import custom_resources as cr
from constructs import Construct

from hyperpod_constructs._support.deferred import deferred_text
from hyperpod_constructs._support.statements import Statement, document
from hyperpod_constructs._support.tokens import is_token
from hyperpod_constructs._support.tree import stack_of, within
from hyperpod_constructs.encryption import encrypt_logs

_known_seconds: WeakKeyDictionary[Duration, int] = WeakKeyDictionary()


@cache
def minutes(count: int) -> Duration:
    """A time of so many minutes, whose length need not be asked for."""
    made = Duration.minutes(count)
    _known_seconds[made] = 60 * count
    return made


#: The handlers answer three minutes before their time is over; a shorter time leaves nothing for the wait.
_SHORTEST_SECONDS = 300
#: CloudFormation's limit for the answer of a custom resource.
#: Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-cloudformation-customresource.html
_LONGEST_SECONDS = 3600
_LONGEST_MINUTES = _LONGEST_SECONDS // 60

_DIGEST = re.compile("[0-9a-f]{64}")

# Only `handlers/` goes to Lambda, as the package `handlers`. Its modules import each other relatively, so they work in both places.
_ASSET = str(Path(__file__).parent)
_LEFT_OUT = ["*", "!handlers", "!handlers/**", "**/__pycache__", "**/*.pyc"]


class HandlerProvider(Construct):
    """The CDK's Provider framework around two entry points, `on_event` and `is_complete`, of one module in `handlers/`.

    Made by `of`. The functions run on x86-64, which exists in every region and partition. They may write to one log group. It keeps
    entries for a month and is removed with the stack. Each resource brings its further permissions, see `add_resource`.
    """

    def __init__(self, scope: Construct, id: str, *, module: str, waits: bool = True) -> None:
        """Make the functions for `handlers/<module>.py`.

        :param module: name of the module, for example "readiness_gate".
        :param waits: whether an operation goes on after `on_event`; yes unless given. If not, the module needs no `is_complete`.
        """
        super().__init__(scope, id)
        within(self, scope)
        self.log_group = _log_group(self)
        #: The role of both handlers; each resource attaches a policy of its own to it.
        self.role = self._role("Role")
        self._provider = cr.Provider(
            self,
            "Framework",
            on_event_handler=self._function("OnEvent", f"{module}.on_event", minutes(3)),
            is_complete_handler=self._function("IsComplete", f"{module}.is_complete", minutes(5)) if waits else None,
            query_interval=_query_interval() if waits else None,
            total_timeout=minutes(_LONGEST_MINUTES) if waits else None,
            log_group=self.log_group,
            framework_on_event_role=self._role("FrameworkOnEventRole"),
            framework_complete_and_timeout_role=self._role("FrameworkIsCompleteRole") if waits else None,
        )

    @classmethod
    def of(cls, scope: Construct, id: str, *, module: str, waits: bool = True) -> HandlerProvider:
        """The provider with this id in the stack of `scope`; the first resource of the stack makes it.

        It is a child of the stack, so its logical ids do not depend on the first resource.

        :raises ValueError: for a child of the stack with this id and another type.
        """
        stack = stack_of(scope)
        made = _providers.setdefault(stack, {})
        if id not in made:
            try:
                made[id] = cls(stack, id, module=module, waits=waits)
            except RuntimeError as error:
                raise _taken(scope, stack, id) or error from None
        return made[id]

    def add_resource(
        self,
        scope: Construct,
        *,
        resource_type: str,
        properties: Mapping[str, Any],
        statements: Sequence[Statement],
        timeout: Duration | None = None,
        deletes: bool = True,
    ) -> CustomResource:
        """Make a custom resource, `Resource` in `scope`, and its policy, `Policy` in `scope`.

        The policy belongs to the resource and not to the shared role, so that no resource waits for another's permissions.
        If a deletion needs it, its logical id changes with its text, so a change makes a new policy. CloudFormation keeps the old
        one until it has deleted a replaced resource.

        :param resource_type: its type in the template, `Custom::...`.
        :param properties: the handler's properties; may hold tokens and lazy values.
        :param statements: the handler's permissions for this resource, by ARN.
        :param timeout: time for one create or update, 5 minutes to 1 hour; 1 hour unless given. The handler answers three minutes
            earlier.
        :param deletes: whether the deletion of the resource calls AWS; yes unless given.
        :raises ValueError: for a timeout out of these limits.
        """
        time = minutes(_LONGEST_MINUTES) if timeout is None else timeout
        seconds = _checked_seconds(scope, time)
        allowed = document(statements)
        policy = iam.Policy(scope, "Policy", document=allowed, roles=[self.role])
        if deletes:
            _named_by_content(policy, allowed, stack_of(self))
        resource = CustomResource(
            scope,
            "Resource",
            service_token=self._provider.service_token,
            resource_type=resource_type,
            service_timeout=time,
            properties={**properties, "TimeoutSeconds": seconds},
        )
        resource.node.add_dependency(policy)
        return resource

    def _function(self, id: str, handler: str, timeout: Duration) -> lambda_.Function:
        return _function(self, id, handler, timeout, self.role, self.log_group)

    def _role(self, id: str) -> iam.Role:
        return _role(self, id, self.log_group)


class HandlerFunction(Construct):
    """One function of a module in `handlers/`, for events other than CloudFormation's, with a role and a log group of its own."""

    def __init__(self, scope: Construct, id: str, *, handler: str, timeout: Duration) -> None:
        """Make the function.

        :param handler: module and entry point, such as "openzfs_snapshots.on_schedule".
        :param timeout: time for one event.
        """
        super().__init__(scope, id)
        self.log_group = _log_group(self)
        #: Its role, for policies.
        self.role = _role(self, "Role", self.log_group)
        self.function = _function(self, "Function", handler, timeout, self.role, self.log_group)


@cache
def _platform() -> tuple[lambda_.Runtime, lambda_.Architecture]:
    return lambda_.Runtime.PYTHON_3_14, lambda_.Architecture.X86_64


@cache
def _functions() -> iam.ServicePrincipal:
    return iam.ServicePrincipal("lambda.amazonaws.com")


@cache
def _query_interval() -> Duration:
    return Duration.seconds(10)


def _log_group(scope: Construct) -> logs.LogGroup:
    group = logs.LogGroup(scope, "Logs", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY)
    stack = stack_of(scope)
    _logging.setdefault(stack, []).append(scope)
    if (key := _keys.get(stack)) is not None:
        encrypt_logs(scope, key)
    return group


def _role(scope: Construct, id: str, log_group: logs.LogGroup) -> iam.Role:
    role = iam.Role(scope, id, assumed_by=_functions())
    log_group.grant_write(role)
    return role


def _function(
    scope: Construct, id: str, handler: str, timeout: Duration, role: iam.Role, log_group: logs.LogGroup
) -> lambda_.Function:
    runtime, architecture = _platform()
    return lambda_.Function(
        scope,
        id,
        code=_code(stack_of(scope)),
        handler=f"handlers.{handler}",
        runtime=runtime,
        architecture=architecture,
        memory_size=256,
        timeout=timeout,
        role=role,
        log_group=log_group,
    )


_providers: WeakKeyDictionary[Stack, dict[str, HandlerProvider]] = WeakKeyDictionary()
_logging: WeakKeyDictionary[Stack, list[Construct]] = WeakKeyDictionary()
_keys: WeakKeyDictionary[Stack, kms.IKey] = WeakKeyDictionary()
_codes: WeakKeyDictionary[Stack, lambda_.Code] = WeakKeyDictionary()


def encrypt_handler_logs(scope: Construct, key: kms.IKey) -> None:
    """Encrypt the logs of all functions of a stack, also of those that are made later."""
    stack = stack_of(scope)
    _keys[stack] = key
    for logging in _logging.get(stack, ()):
        encrypt_logs(logging, key)


def _code(stack: Stack) -> lambda_.Code:
    """The code of all handlers of a stack, which is one asset."""
    if stack not in _codes:
        _codes[stack] = lambda_.Code.from_asset(_ASSET, exclude=_LEFT_OUT, ignore_mode=IgnoreMode.DOCKER)
    return _codes[stack]


def _taken(scope: Construct, stack: Stack, id: str) -> ValueError | None:
    """The error for an id that another construct of the stack has; `None` if none has it."""
    existing = stack.node.try_find_child(id)
    return (
        None
        if existing is None
        else ValueError(
            f"{scope.node.path}: the stack has a construct {id!r} of another kind ({type(existing).__name__}); "
            "the id is taken for a custom resource provider, give the other construct another id"
        )
    )


def _named_by_content(policy: iam.Policy, content: iam.PolicyDocument, stack: Stack) -> None:
    """Digests of assets do not count: no deletion needs an asset, and each edit of a script would make a new policy."""
    resource = policy.node.default_child
    assert isinstance(resource, CfnResource)
    base = stack.get_logical_id(resource)

    def logical_id() -> str:
        text = _DIGEST.sub("", json.dumps(stack.resolve(content), sort_keys=True))
        return base + hashlib.sha256(text.encode()).hexdigest()[:8]

    resource.override_logical_id(deferred_text(logical_id))


def _checked_seconds(scope: Construct, timeout: Duration) -> float:
    known = _known_seconds.get(timeout)
    seconds = timeout.to_seconds() if known is None else known
    if not is_token(seconds) and not _SHORTEST_SECONDS <= seconds <= _LONGEST_SECONDS:
        raise ValueError(
            f"{scope.node.path}: timeout is {seconds:g} seconds; allowed: 300 to 3600, because CloudFormation waits "
            "for a custom resource for an hour at most; write Duration.hours(1)"
        )
    return seconds
