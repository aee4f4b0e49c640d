"""The Lambda functions behind a type of custom resource: one set per stack, shared by every resource of the type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aws_cdk import CustomResource, Duration, IgnoreMode, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import custom_resources as cr
from constructs import Construct

#: CloudFormation's limit for the answer of a custom resource
#: (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-cloudformation-customresource.html).
LONGEST = Duration.hours(1)

#: The handlers answer three minutes before their time is over; less than this leaves nothing to wait in.
SHORTEST = Duration.minutes(5)

_QUERY_INTERVAL = Duration.seconds(10)

# Only `handlers/` goes to Lambda, as the package `handlers`: its modules import each other relatively here and there.
_ASSET = str(Path(__file__).parent)
_LEFT_OUT = ["*", "!handlers", "!handlers/**", "**/__pycache__", "**/*.pyc"]


class HandlerProvider(Construct):
    """The CDK's Provider framework around two entry points, `on_event` and `is_complete`, of one module in `handlers/`.

    Made by `of`. The functions run on x86-64, which every region and partition has, and may write to one log group,
    whose entries are kept for a month and which is removed with the stack. What the handlers may do beyond that comes
    with each resource, see `add_resource`.
    """

    def __init__(self, scope: Construct, id: str, *, module: str, waits: bool = True) -> None:
        """Make the functions for `handlers/<module>.py`.

        :param module: name of the module, for example "readiness_gate".
        :param waits: whether an operation goes on after `on_event` returned; without, the module needs no `is_complete`.
        """
        super().__init__(scope, id)
        self.log_group = logs.LogGroup(self, "Logs", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY)
        #: The role of both handlers; each resource attaches a policy of its own to it.
        self.role = self._role("Role")
        self._provider = cr.Provider(
            self,
            "Framework",
            on_event_handler=self._function("OnEvent", f"handlers.{module}.on_event", Duration.minutes(3)),
            is_complete_handler=self._function("IsComplete", f"handlers.{module}.is_complete", Duration.minutes(5))
            if waits
            else None,
            query_interval=_QUERY_INTERVAL if waits else None,
            total_timeout=LONGEST if waits else None,
            log_group=self.log_group,
            framework_on_event_role=self._role("FrameworkOnEventRole"),
            framework_complete_and_timeout_role=self._role("FrameworkIsCompleteRole") if waits else None,
        )

    @classmethod
    def of(cls, scope: Construct, id: str, *, module: str, waits: bool = True) -> HandlerProvider:
        """The provider with this id in the stack of `scope`; made when the first resource of the stack asks for it.

        It is a child of the stack, so that its logical ids are the same whichever resource comes first.
        """
        stack = Stack.of(scope)
        existing = stack.node.try_find_child(id)
        if existing is None:
            return cls(stack, id, module=module, waits=waits)
        if not isinstance(existing, HandlerProvider):
            raise ValueError(
                f"{scope.node.path}: the stack has a construct {id!r} of another kind ({type(existing).__name__}); "
                "the id is taken for a custom resource provider, give the other construct another id"
            )
        return existing

    def add_resource(
        self,
        scope: Construct,
        *,
        resource_type: str,
        properties: Mapping[str, Any],
        statements: Sequence[iam.PolicyStatement],
        timeout: Duration,
    ) -> CustomResource:
        """Make a custom resource, `Resource` in `scope`, and the policy that it needs, `Policy` in `scope`.

        The policy belongs to the resource and not to the shared role, so that no resource waits for what another needs.

        :param resource_type: its type in the template, `Custom::...`.
        :param properties: what the handler parses; may hold tokens and lazy values.
        :param statements: what the handler may do for this resource, by ARN.
        :param timeout: of one create or update, 5 minutes to 1 hour; the handler answers three minutes before.
        :raises ValueError: when the timeout is out of these limits.
        """
        _check_timeout(scope, timeout)
        policy = iam.Policy(scope, "Policy", statements=list(statements), roles=[self.role])
        resource = CustomResource(
            scope,
            "Resource",
            service_token=self._provider.service_token,
            resource_type=resource_type,
            service_timeout=timeout,
            properties={**properties, "TimeoutSeconds": timeout.to_seconds()},
        )
        resource.node.add_dependency(policy)
        return resource

    def _function(self, id: str, handler: str, timeout: Duration) -> lambda_.Function:
        return lambda_.Function(
            self,
            id,
            code=lambda_.Code.from_asset(_ASSET, exclude=_LEFT_OUT, ignore_mode=IgnoreMode.DOCKER),
            handler=handler,
            runtime=lambda_.Runtime.PYTHON_3_14,
            architecture=lambda_.Architecture.X86_64,
            memory_size=256,
            timeout=timeout,
            role=self.role,
            log_group=self.log_group,
        )

    def _role(self, id: str) -> iam.Role:
        role = iam.Role(self, id, assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        self.log_group.grant_write(role)
        return role


def _check_timeout(scope: Construct, timeout: Duration) -> None:
    if timeout.is_unresolved():
        return
    seconds = timeout.to_seconds()
    if not SHORTEST.to_seconds() <= seconds <= LONGEST.to_seconds():
        raise ValueError(
            f"{scope.node.path}: timeout is {seconds:g} seconds; allowed: 300 to 3600, because CloudFormation waits "
            "for a custom resource for an hour at most; write Duration.hours(1)"
        )
