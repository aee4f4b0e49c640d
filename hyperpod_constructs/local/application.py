"""Puts the embedded AWS together: ministack, moto's EC2, our services and providers behind one endpoint."""

from __future__ import annotations

import asyncio
import gc
import json
import secrets
import threading
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperpod_constructs.local import (
    function_networks,
    managed_policies,
    ministack,
    ministack_access,
    ministack_eks,
    ministack_functions,
    ministack_iam,
    ministack_layers,
    ministack_monitoring,
    ministack_operations,
    ministack_order,
    ministack_rds,
    ministack_stacks,
    session_manager,
)
from hyperpod_constructs.local.access import App, Guard, Owner, Receive, Scope, Send
from hyperpod_constructs.local.authorization import ResourceNames, dependents
from hyperpod_constructs.local.aws_service import Service
from hyperpod_constructs.local.clients import BotoClients, Clients
from hyperpod_constructs.local.control import PREFIX, Control
from hyperpod_constructs.local.ec2.routing import (
    Eip,
    FlowLog,
    NatGateway,
    Route,
    RouteTable,
    SubnetRouteTableAssociation,
    VpcEndpoint,
)
from hyperpod_constructs.local.ec2.security import SecurityGroup, SecurityGroupEgress, SecurityGroupIngress
from hyperpod_constructs.local.ec2.service import Ec2
from hyperpod_constructs.local.ec2.vpc import InternetGateway, Subnet, Vpc, VpcCidrBlock, VpcGatewayAttachment
from hyperpod_constructs.local.eks.access_providers import AccessEntry, PodIdentityAssociation
from hyperpod_constructs.local.eks.cluster_provider import Cluster
from hyperpod_constructs.local.eks.control_planes import Local
from hyperpod_constructs.local.eks.node_providers import Addon, NodeGroup
from hyperpod_constructs.local.eks.service import Eks
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.fsx.providers import DataRepositoryAssociationProvider, FileSystemProvider
from hyperpod_constructs.local.fsx.service import Fsx
from hyperpod_constructs.local.governance.kubernetes import KubernetesQueues
from hyperpod_constructs.local.governance.providers import ComputeQuotaProvider, SchedulerConfigProvider
from hyperpod_constructs.local.hyperpod.background import InThread
from hyperpod_constructs.local.hyperpod.provider import ClusterProvider
from hyperpod_constructs.local.hyperpod.service import HyperPod
from hyperpod_constructs.local.iam_role import Role
from hyperpod_constructs.local.json_protocol import JsonService
from hyperpod_constructs.local.judging import Judge, Request, target
from hyperpod_constructs.local.kubernetes_nodes import KubernetesNodes
from hyperpod_constructs.local.metrics.providers import providers as metrics_providers
from hyperpod_constructs.local.ministack_eks import Authenticator
from hyperpod_constructs.local.models import ServiceModels
from hyperpod_constructs.local.monitoring.providers import Budget, CompositeAlarm
from hyperpod_constructs.local.policy_documents import policy_problem, trust_problem
from hyperpod_constructs.local.provider import ResourceProvider
from hyperpod_constructs.local.quotas import ServiceQuotas
from hyperpod_constructs.local.rest_protocol import RestService
from hyperpod_constructs.local.s3.bucket import Bucket, BucketPolicy
from hyperpod_constructs.local.server import LocalAws
from hyperpod_constructs.local.session_manager import SessionManager
from hyperpod_constructs.local.template_check import TemplateCheck
from hyperpod_constructs.local.ticker import Ticker

if TYPE_CHECKING:
    from hyperpod_constructs.local.virtual_fleet import VirtualFleet

PROVIDERS: tuple[Callable[[Clients], ResourceProvider], ...] = (
    Bucket,
    BucketPolicy,
    ClusterProvider,
    SchedulerConfigProvider,
    ComputeQuotaProvider,
    DataRepositoryAssociationProvider,
    FileSystemProvider,
    Role,
    Vpc,
    VpcCidrBlock,
    Subnet,
    RouteTable,
    SubnetRouteTableAssociation,
    Route,
    InternetGateway,
    VpcGatewayAttachment,
    Eip,
    NatGateway,
    VpcEndpoint,
    SecurityGroup,
    SecurityGroupIngress,
    SecurityGroupEgress,
    FlowLog,
    Cluster,
    NodeGroup,
    Addon,
    AccessEntry,
    PodIdentityAssociation,
    CompositeAlarm,
    Budget,
)

JUDGED: Mapping[str, tuple[str, str | None]] = {
    **{name: (name, None) for name in ("cloudformation", "ec2", "events", "iam", "kms", "lambda", "logs", "s3", "secretsmanager")},
    **{name: (name, None) for name in ("sns", "ssm", "sts")},
    "monitoring": ("cloudwatch", "query"),
    "states": ("stepfunctions", None),
}
"""ministack's names of the services whose requests are judged by botocore's model, with its name there and the protocol; those
that deployments of the CDK use. Our own services judge theirs themselves.
"""

ADMINISTRATOR = "administrator"


class Application:
    """The ASGI application: behind the guard, the emulator's own paths, and everything else to ministack."""

    def __init__(
        self,
        control: Control,
        auth: bool,
        warm_up: Callable[[], None],
        stop: Callable[[], None],
        guard: Callable[[App], App],
    ) -> None:
        self.started = asyncio.Event()
        self._control = control
        self._auth = auth
        self._warm_up = warm_up
        self._guarded = guard(self._answer)
        self.stop = stop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one connection."""
        await self._guarded(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(PREFIX):
            await self._answer_control(scope, receive, send)
            return
        if scope["type"] == "websocket" and self._auth:
            await send({"type": "websocket.close", "code": 1008})  # no operation has one, so IAM cannot judge it
            return
        if scope["type"] == "http" and self._auth:
            # The loopback connection stands for TLS: policies that require aws:SecureTransport must hold.
            scope["headers"] = [*scope["headers"], (b"x-forwarded-proto", b"https")]
        if scope["type"] == "lifespan":
            send = self._announcing(send)
        await ministack.asgi_application(scope, receive, send)

    def _announcing(self, send: Send) -> Send:
        async def announce(message: MutableMapping[str, Any]) -> None:
            await send(message)
            if message["type"] == "lifespan.startup.complete":
                self.started.set()
                threading.Thread(target=self._warm_up, name="warm-up", daemon=True).start()

        return announce

    async def _answer_control(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        status, answer = await self._control.answer(scope["method"], scope["path"], body)
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


def application(aws: LocalAws, data: Path | None, directory: Path) -> Application:
    """The application that serves this AWS; `data` is a botocore data folder, or None for the installed one. Virtual nodes keep
    their disks under `directory`.
    """

    def caller() -> Any:
        return ministack.caller(aws.endpoint)

    models = ServiceModels(data)
    ec2 = Ec2(caller)
    ministack.serve("ec2", ec2)
    clients, faults, names = BotoClients(aws.secret_access_key, data), Faults(), ResourceNames()
    fleet = _virtual_fleet(directory, clients) if aws.nodes else None
    owner = Owner(aws.access_key_id, aws.secret_access_key)
    authenticator = Authenticator(aws.endpoint, lambda key: owner.credential(key) or behind.credential(key))
    behind = ministack_access.Ministack(authenticator.awaits)
    authenticator.install()
    eks = Eks(faults, clients, Local(directory / "kubernetes"), authenticator, tasks=InThread())
    queues = KubernetesQueues(eks.api)
    hyperpod = HyperPod(
        faults,
        clients,
        fleet=fleet,
        tasks=InThread(),
        kubernetes=eks.api,
        queues=queues,
        send_event=ministack_monitoring.send_event,
    )
    services: list[Service] = [hyperpod, Fsx(faults, clients), ServiceQuotas(faults)]
    providers = [*(kind(clients) for kind in PROVIDERS), *metrics_providers(clients)]
    for provider in providers:
        ministack_stacks.provide(provider, aws.endpoint)
    for service in services:
        wire = JsonService(service, models.service(service.name), caller, names)
        ministack.serve(wire.signing_name, wire, target_prefix=wire.target_prefix)
    eks_wire = RestService(eks, models.service(eks.name), caller, principal=ministack_eks.principal)
    ministack.serve(eks_wire.signing_name, eks_wire)
    sessions = JsonService(SessionManager(hyperpod), models.service("ssm"), caller, principal=ministack_access.user_id)
    ministack.serve_operations("ssm", sessions, session_manager.OPERATIONS)
    ministack.serve_operations("logs", ministack_monitoring.LogKeys(), ministack_monitoring.LogKeys.OPERATIONS)
    ministack_monitoring.keep_keys_of_topics()
    ministack_monitoring.keep_tags_of_dashboards()
    ministack_functions.place_functions(lambda config, role, who: function_networks.place(config, role, clients, who), aws.endpoint)
    ministack_rds.manage(clients, aws.endpoint)
    wrapped = {ministack_functions.FUNCTION, ministack_rds.INSTANCE}
    ministack_stacks.run_in_worker_threads(frozenset(provider.type_name for provider in providers) | wrapped)
    own = frozenset({"ec2", eks_wire.signing_name, *(models.service(service.name).signing_name for service in services)})
    ministack_operations.read_requests_once(models.service, own, aws.auth)
    ministack_iam.add_aws_managed_policies(managed_policies.documents)
    ministack_iam.judge_policies(policy_problem, trust_problem)
    ministack_stacks.audit_properties()
    template_check = TemplateCheck(aws.region)
    ministack_stacks.check_templates(template_check.check)
    ministack_stacks.enforce_capabilities()

    def resource(service: str, request: Request) -> str | None:
        method, path, headers, body, _ = request
        if service == eks.name:
            return eks.arn(*eks_wire.routed(method, path), caller())
        return names.arn(service, target(headers), body, caller())

    ministack_iam.name_resources(resource)
    ministack_iam.name_refused_resources(own)
    ministack_iam.fill_policy_variables()
    for name in (hyperpod.name, SessionManager.name):
        ministack_iam.demand_dependents(name, lambda service, operation, body: dependents(service, operation, body, caller()))
    ministack_layers.keep_layers_runnable()
    ministack_functions.fail_refused_invocations()
    ministack.encrypt_with_aws_managed_key()
    ministack.keep_targets_of_schedules()
    ministack_monitoring.evaluate_alarms_as_aws()
    ministack_monitoring.announce_alarms()
    ministack_monitoring.count_invocations()
    ministack_monitoring.filter_log_events_as_aws()
    ministack_stacks.evaluate_whole_conditions()
    ministack_stacks.fail_unanswered_custom_resources()
    ministack_stacks.notice_changed_outputs()
    ministack_stacks.order_events()
    ministack_stacks.keep_deleted_stacks()
    ministack_stacks.find_stacks_by_resource()
    ministack_order.shuffle(aws.seed)
    ministack_stacks.date_deletions()
    ministack_access.trust_the_guard()
    ministack_access.give_functions_sessions_of_their_roles()
    ministack.judge_requests({name: Judge(models.service(model), protocol) for name, (model, protocol) in JUDGED.items()})

    def set_faults(wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        faults.assign(Faults.from_json(wanted))
        return faults.to_json()

    administrator = [lambda: make_administrator(aws)] if aws.auth else []
    control = Control(
        [*services, eks],
        [ministack.reset, ec2.reset, lambda: faults.assign(Faults()), *administrator],
        set_faults,
        fleet.running if fleet is not None else list,
    )

    tickers = [
        Ticker(KubernetesNodes(eks.api, [hyperpod.recover, lambda _: eks.nodes()]).tend),
        Ticker(ministack_monitoring.tend_alarms),
    ]
    if fleet is not None:
        tickers.append(Ticker(hyperpod.tend))

    def stop() -> None:
        for ticker in tickers:
            ticker.stop()
        ministack.end_lambda_workers()
        eks.reset()
        if fleet is not None:
            fleet.close()

    def guard(app: App) -> App:
        host = aws.endpoint.partition("://")[2]
        return Guard(app, host, owner, behind)

    return Application(control, aws.auth, lambda: warm_up(template_check.load, ec2.load), stop, guard)


def warm_up(*loads: Callable[[], None]) -> None:
    """Load, and start the garbage collector, which looks at nothing of what is loaded by then."""
    try:
        for load in loads:
            load()
    finally:
        gc.freeze()
        gc.enable()


def _virtual_fleet(directory: Path, clients: Clients) -> VirtualFleet:
    """The fleet of virtual nodes. Its module is loaded only where it is asked for: it runs as root on Linux."""
    from hyperpod_constructs.local.virtual_fleet import VirtualFleet

    return VirtualFleet(directory / "nodes", clients)


def with_credentials(aws: LocalAws) -> LocalAws:
    """The AWS that `server.start` answers: with a random key of its owner, who with `auth` is made by `make_administrator`."""
    return replace(aws, access_key_id=f"AKIA{secrets.token_hex(8).upper()}", secret_access_key=secrets.token_hex(20))


def make_administrator(aws: LocalAws) -> None:
    """Create the user with the key that `aws` holds; call it again after every reset."""
    iam = replace(aws, access_key_id=aws.account).client("iam")
    iam.create_user(UserName=ADMINISTRATOR)
    iam.attach_user_policy(UserName=ADMINISTRATOR, PolicyArn="arn:aws:iam::aws:policy/AdministratorAccess")
    made = iam.create_access_key(UserName=ADMINISTRATOR)["AccessKey"]["AccessKeyId"]
    ministack_iam.rename_access_key(aws.account, made, aws.access_key_id, aws.secret_access_key)
