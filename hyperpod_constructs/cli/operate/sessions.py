"""Session Manager sessions on a node: the commands of the AWS CLI that open them, and what their output says."""

from __future__ import annotations

import base64
import json
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate.denied import in_words
from hyperpod_constructs.cli.operate.forwarding import Forward
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import Cluster, Node
from hyperpod_constructs.facts import session_manager

_OVERHEAD_CHARACTERS = 1000
SCRIPT_BYTES = (session_manager.PARAMETER_CHARACTERS - _OVERHEAD_CHARACTERS) // 4 * 3
"""The longest script that one session takes: it travels as a parameter, in base64."""

_ANNOUNCED = re.compile(rb"\s*(Starting|Exiting) session with SessionId: ", re.IGNORECASE)
_LINE_BYTES = 65_536


class RefusedError(CliError):
    """No session was started, so nothing was done on the node."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session to start.

    :ivar options: `--region`, and `--profile` and `--endpoint-url` where they are given.
    :ivar document: the session document; the account's own, which is a shell, when `None`.
    """

    target: str
    options: tuple[str, ...]
    document: str | None
    parameters: Mapping[str, str]

    @property
    def program(self) -> list[str]:
        """The command of the AWS CLI."""
        command = ["aws", "ssm", "start-session", "--target", self.target, *self.options]
        if self.document is not None:
            command += ["--document-name", self.document]
            command += ["--parameters", json.dumps(self._parameters())]
        return command

    def start(self, place: Place) -> None:
        """Start it at the embedded AWS, whose nodes are entered by another way: so both take the same permissions.

        :raises RefusedError: for a missing permission with the statement that grants it.
        """
        from botocore.exceptions import ClientError

        document = {} if self.document is None else {"DocumentName": self.document, "Parameters": self._parameters()}
        try:
            place.client("ssm").start_session(Target=self.target, **document)
        except ClientError as error:
            raise RefusedError(in_words(error)) from None

    def _parameters(self) -> dict[str, list[str]]:
        return {name: [value] for name, value in self.parameters.items()}


@dataclass(frozen=True, slots=True)
class SessionManager:
    """Sessions on one node.

    :ivar options: those of each session.
    """

    target: str
    options: tuple[str, ...]

    @classmethod
    def of(cls, place: Place, cluster: Cluster, node: Node) -> SessionManager:
        """Sessions on this node, with the options of the place."""
        options = ["--region", place.target.region]
        for option, name in (("--profile", "profile"), ("--endpoint-url", "endpoint_url")):
            if (value := getattr(place.target, name, None)) is not None:
                options += [option, str(value)]
        return cls(session_manager.session_target(cluster.id, node.group, node.id), tuple(options))

    def shell(self, user: str | None) -> Session:
        """A shell of root, or of that user."""
        if user is None:
            return self._session()
        return self._session(session_manager.INTERACTIVE_COMMAND, command=f"sudo -iu {user}")

    def port(self, number: int) -> Session:
        """Standard input and output, joined to a port of the node."""
        return self._session(session_manager.SSH, portNumber=str(number))

    def forward(self, forward: Forward) -> Session:
        """A port of this machine, joined to one of the node, or of a host that the node reaches."""
        ports = {"portNumber": str(forward.port), "localPortNumber": str(forward.local)}
        if forward.host is None:
            return self._session(session_manager.PORT, **ports)
        return self._session(session_manager.REMOTE_PORT, host=forward.host, **ports)

    def script(self, script: Script) -> Session:
        """The script, run by bash."""
        return self.command(script.command)

    def command(self, line: str) -> Session:
        """A line for root's shell, without a terminal."""
        return self._session(session_manager.NON_INTERACTIVE_COMMAND, command=line)

    def _session(self, document: str | None = None, **parameters: str) -> Session:
        return Session(self.target, self.options, document, parameters)


@dataclass(frozen=True, slots=True)
class Script:
    """Commands for bash, as root or as a user.

    The Session Manager plugin ends with 0 whatever the commands did, so their exit code comes as the last line of the output.

    :raises CliError: if they are too long for a session.
    """

    text: bytes
    user: str | None
    mark: str = field(default_factory=lambda: f"exit-{secrets.token_hex(16)}")

    def __post_init__(self) -> None:
        if len(self.text) > SCRIPT_BYTES:
            raise CliError(
                f"the commands have {len(self.text)} bytes, and a session takes {SCRIPT_BYTES}: "
                "put them into a file on the shared file system, and run that"
            )

    @property
    def command(self) -> str:
        """The program and its arguments; only base64 and fixed words stand within the quotes."""
        become = "" if self.user is None else f"sudo -iu {self.user} "
        coded = base64.b64encode(self.text).decode("ascii")
        return f"bash -c 'echo {coded} | base64 -d | {become}bash -s 2>&1; code=$?; echo; echo {self.mark}:$code'"

    def output(self, stream: IO[bytes]) -> Iterator[bytes | int]:
        """The output of the commands, and at last their exit code.

        The lines of the plugin about its session are left out.
        """
        ended = re.compile(rb"^" + self.mark.encode("ascii") + rb":(\d{1,3})\r?\n?$")
        held = b""
        while line := stream.readline(_LINE_BYTES):
            if found := ended.match(line):
                if held not in (b"\n", b"\r\n"):
                    yield held.removesuffix(b"\n").removesuffix(b"\r")
                yield int(found[1])
                return
            if not _ANNOUNCED.match(line) and held:
                yield held
            held = b"" if _ANNOUNCED.match(line) else line
        if held:
            yield held


def require_programs(command: Sequence[str], path: str) -> None:
    """Check that the AWS CLI and its Session Manager plugin are installed.

    :raises CliError: with the page that says how to install what is missing.
    """
    pages = {command[0]: session_manager.INSTALL_AWS_CLI, session_manager.PLUGIN: session_manager.INSTALL_PLUGIN}
    for program, page in pages.items():
        if shutil.which(program, path=path) is None:
            raise CliError(
                f"{program} is not installed, and a session needs the AWS CLI with its Session Manager plugin: "
                f"install it ({page}), or see the command with --print"
            )
