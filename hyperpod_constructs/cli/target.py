"""The place where a command works: the embedded AWS on this machine or the caller's account, behind one interface."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hyperpod_constructs.cli.console import CliError, step

if TYPE_CHECKING:
    from hyperpod_constructs.local.server import LocalAws, Silent

LOCAL_STATE = Path("build/local")
_BOOTSTRAP_STACK = "CDKToolkit"


class TargetName(StrEnum):
    """The targets, by their names on the command line."""

    LOCAL = "local"
    AWS = "aws"

    @property
    def assembly(self) -> Path:
        """The directory of this target's assembly. `deploy` writes it; `destroy` and `connect` read it."""
        return Path("build") / self.value / "cdk.out"


class Target(Protocol):
    """An account in a region, with clients, and with an environment for child processes."""

    @property
    def account(self) -> str:
        """The account id, 12 digits."""
        ...

    @property
    def region(self) -> str:
        """The region, such as us-west-2."""
        ...

    def client(self, service: str) -> Any:
        """A boto3 client."""
        ...

    def environment(self) -> dict[str, str]:
        """The complete environment of a child process."""
        ...


@dataclass(frozen=True, slots=True)
class AwsAccount:
    """The account of the caller's credentials.

    :ivar profile: the profile of the configuration; that of the environment unless given.
    :ivar endpoint_url: where requests go; AWS_ENDPOINT_URL, or AWS itself, unless given.
    """

    account: str
    region: str
    profile: str | None = None
    endpoint_url: str | None = None
    _sessions: list[Any] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of_caller(
        cls,
        environment: Mapping[str, str] | None = None,
        *,
        profile: str | None = None,
        region: str | None = None,
        endpoint_url: str | None = None,
    ) -> AwsAccount:
        """The account that STS names.

        :param environment: the variables; those of this process unless given.
        :param profile: the profile of the configuration; that of the environment unless given.
        :param region: the region; AWS_REGION, else AWS_DEFAULT_REGION, else the profile's, unless given.
        :param endpoint_url: where requests go; AWS_ENDPOINT_URL, or AWS itself, unless given.
        :raises CliError: without a region or without credentials, and for an endpoint that is no URL.
        """
        from botocore.exceptions import NoCredentialsError, ProfileNotFound
        from botocore.session import Session

        variables = os.environ if environment is None else environment
        if endpoint_url is not None and not endpoint_url.startswith(("https://", "http://")):
            raise CliError(f"--endpoint-url {endpoint_url}: write a URL, such as https://sagemaker.us-west-2.amazonaws.com")
        try:
            session = Session(profile=profile)
            region = region or variables.get("AWS_REGION") or variables.get("AWS_DEFAULT_REGION")
            region = region or session.get_config_variable("region")
            if region is None:
                raise CliError("no region is set: name one with AWS_REGION, such as AWS_REGION=us-west-2, or in your profile")
            sts: Any = session.create_client("sts", region, endpoint_url=endpoint_url)
            identity = sts.get_caller_identity()
        except NoCredentialsError:
            raise CliError(
                "no AWS credentials were found: sign in (`aws configure sso`, `aws sso login`) or set AWS_PROFILE; "
                "without an account, deploy to the embedded AWS with `--target local`"
            ) from None
        except ProfileNotFound as error:
            raise CliError(f"{error}: set AWS_PROFILE to one that `aws configure list-profiles` shows") from None
        return cls(identity["Account"], region, profile, endpoint_url, [session])

    def client(self, service: str) -> Any:
        """A client in this region. One session makes all of them, because each reads files of its own."""
        # Without boto3, whose transfers of files take a tenth of a second to import.
        from botocore.session import Session

        if not self._sessions:
            self._sessions.append(Session(profile=self.profile))
        return self._sessions[0].create_client(service, self.region, endpoint_url=self.endpoint_url)

    def environment(self) -> dict[str, str]:
        """The caller's environment, with this region, profile and endpoint."""
        given = {"AWS_PROFILE": self.profile, "AWS_ENDPOINT_URL": self.endpoint_url}
        named = {name: value for name, value in given.items() if value is not None}
        return {**os.environ, "AWS_REGION": self.region, "AWS_DEFAULT_REGION": self.region, **named}


def embedded_aws(*, auth: bool | None = None, nodes: bool | None = None, seed: int | None = None) -> LocalAws:
    """The embedded AWS of this directory; started unless it runs.

    :param auth: whether it evaluates IAM policies; None takes the running one as it is, and starts one without.
    :param nodes: whether it boots a virtual node for every instance; None as for `auth`.
    :param seed: of the order in which resources are worked on; None takes that of the running one, or a random one.
    :raises CliError: if it does not start, if it runs with other options and has deployments, or if the extra `local` is not
        installed.
    """
    server = _server()
    running = running_embedded_aws()
    if running is not None and auth in (None, running.auth) and nodes in (None, running.nodes) and seed in (None, running.seed):
        return running
    if nodes is True:
        _check_nodes()
    if running is not None:
        auth, nodes = (running.auth if auth is None else auth), (running.nodes if nodes is None else nodes)
        _end_empty(running, auth=auth, nodes=nodes, seed=seed)
    models = Path(sys.prefix) / "models/botocore/data"
    try:
        with step("starting the embedded AWS"):
            started: LocalAws = server.start(
                LOCAL_STATE, auth=auth is True, nodes=nodes is True, seed=seed, models=models if models.is_dir() else None
            )
    except server.LocalAwsError as error:
        raise CliError(str(error)) from error
    return started


def _end_empty(running: LocalAws, *, auth: bool, nodes: bool, seed: int | None) -> None:
    """Stop an embedded AWS without deployments, so that one with other options can start in its place."""
    stacks = [stack["StackName"] for stack in running.client("cloudformation").describe_stacks()["Stacks"]]
    deployed = sorted(name for name in stacks if name != _BOOTSTRAP_STACK)
    if deployed:
        order = "" if seed is None else f" --seed {seed}"
        options = f"--{'' if auth else 'no-'}auth --{'' if nodes else 'no-'}nodes{order}"
        present = f"--{'' if running.auth else 'no-'}auth --{'' if running.nodes else 'no-'}nodes --seed {running.seed}"
        raise CliError(
            f"the embedded AWS runs with {present}, and has the stacks {', '.join(deployed)}; to lose them and start it with "
            f"{options}: hyperpod local stop && hyperpod local start {options}"
        )
    with step("stopping the embedded AWS, which has no deployment and other options"):
        stop_embedded_aws()


def running_embedded_aws() -> LocalAws | None:
    """The embedded AWS of this directory, or None if it does not run.

    :raises CliError: if it belongs to another user.
    """
    server = _server()
    try:
        aws: LocalAws | None = server.running(LOCAL_STATE)
    except server.LocalAwsError as error:
        raise CliError(str(error)) from error
    return aws


def found_embedded_aws() -> LocalAws | Silent | None:
    """The embedded AWS of this directory, also if it does not answer yet; None if it does not run.

    :raises CliError: if it belongs to another user.
    """
    server = _server()
    try:
        found: LocalAws | Silent | None = server.look(LOCAL_STATE)
    except server.LocalAwsError as error:
        raise CliError(str(error)) from error
    return found


def running_virtual_nodes() -> list[dict[str, Any]]:
    """The virtual nodes of the embedded AWS of this directory. The list is empty if it does not run or boots no nodes."""
    aws = running_embedded_aws()
    nodes: list[dict[str, Any]] = [] if aws is None else _server().virtual_nodes(aws)
    return nodes


def virtual_command(instance_id: str) -> list[str]:
    """The command of this machine that starts a program on a virtual node.

    :raises CliError: if the node is not a virtual one.
    """
    for running in running_virtual_nodes():
        if running["InstanceId"] == instance_id:
            return list(running["Command"])
    raise CliError(
        "this embedded AWS boots no nodes, so there is no shell to open: start one with nodes "
        "(hyperpod local stop; hyperpod deploy --nodes), see the command with --print, or use a real cluster with --target aws"
    )


def stop_embedded_aws() -> int:
    """Stop the embedded AWS of this directory, and return the number of removed rigs of virtual nodes that a crashed one left.

    It is no error if it does not run.

    :raises CliError: if it cannot be stopped.
    """
    server = _server()
    try:
        undone: int = server.stop(LOCAL_STATE)
    except server.LocalAwsError as error:
        raise CliError(str(error)) from error
    return undone


def reset_embedded_aws(aws: LocalAws) -> None:
    """Delete every deployment in the embedded AWS."""
    _server().reset(aws)


def _check_nodes() -> None:
    from hyperpod_constructs.local.nodes.requirements import missing

    if (sentence := missing()) is not None:
        raise CliError(sentence)


def _server() -> Any:
    try:
        from hyperpod_constructs.local import server
    except ModuleNotFoundError as error:
        raise CliError(
            f"the embedded AWS needs {error.name}, which is not installed: pip install 'hyperpod-constructs[local]'"
        ) from error
    return server
