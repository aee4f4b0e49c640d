"""`hyperpod connect`: a shell, commands or a port on a node, found anew at each call."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from hyperpod_constructs.cli import kubeconfig, kubectl
from hyperpod_constructs.cli.console import CliError, if_interrupted, say
from hyperpod_constructs.cli.operate import forwarding
from hyperpod_constructs.cli.operate.choosing import check_user, running_node
from hyperpod_constructs.cli.operate.completion import group_names, node_ids
from hyperpod_constructs.cli.operate.denied import said
from hyperpod_constructs.cli.operate.forwarding import Forward
from hyperpod_constructs.cli.operate.listing import ClusterName
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.reading import Cluster, Node, read_cluster
from hyperpod_constructs.cli.operate.sessions import SCRIPT_BYTES, Script, Session, SessionManager, require_programs
from hyperpod_constructs.cli.target import TargetName, running_virtual_nodes, virtual_command

app = typer.Typer(add_completion=False)

# A node cannot use the terminal of the host, so the shell gets a terminal on the node.
IN_TERMINAL = ("script", "--quiet", "--return", "/dev/null", "--command")
_READER = ("bash", "-s")
_SAID_BYTES = 8000


@app.command(
    epilog="Examples: `hyperpod connect`, `hyperpod connect i-0123456789abcdef0 --user ubuntu`, "
    "`echo sinfo | hyperpod connect`, `hyperpod connect ip-10-1-2-3 --forward 8888`. Commands from a pipe end with their exit code."
)
@placed
def connect(
    place: Place,
    node: Annotated[
        str | None,
        typer.Argument(metavar="[NODE]", help="Id, host name or group; the controller unless given.", autocompletion=node_ids),
    ] = None,
    cluster: ClusterName = None,
    group: Annotated[str | None, typer.Option("--group", help="A node of this group.", autocompletion=group_names)] = None,
    user: Annotated[str | None, typer.Option("--user", metavar="NAME", help="Be this user; root unless given.")] = None,
    forward: Annotated[
        str | None, typer.Option("--forward", metavar="PORT[:HOST:PORT]", help="Forward a port of this machine; also LOCAL:PORT.")
    ] = None,
    stdio: Annotated[
        int | None, typer.Option("--stdio", metavar="PORT", min=1, max=65535, help="Join a port of the node, as a ProxyCommand.")
    ] = None,
    only_print: Annotated[bool, typer.Option("--print", help="Print the command, do not run it.")] = False,
) -> None:
    """Open a shell on a node, run commands from a pipe, or forward a port; on Kubernetes without NODE, a shell with kubectl."""
    if user is not None:
        check_user(user)
    if sum(option is not None for option in (user, forward, stdio)) > 1:
        raise CliError("--user, --forward and --stdio exclude each other: a port has no user")
    wanted = None if forward is None else Forward.parse(forward)
    found = read_cluster(place, cluster)
    if found.kubernetes is not None and node is None and group is None:
        _enter_kubernetes(place, found.kubernetes, only_print=only_print)
        return
    chosen = _node(place, found, node, group)
    sessions = SessionManager.of(place, found, chosen)
    piped = wanted is None and stdio is None and not only_print and not sys.stdin.isatty()
    session = _session(sessions, user, wanted, stdio, piped=piped)
    if only_print:
        say(shlex.join(session.program))
    elif place.where is TargetName.LOCAL:
        session.start(place)
        _on_virtual(virtual_command(chosen.id), user, wanted, stdio)
    elif piped:
        with if_interrupted("perhaps the commands go on on the node"):
            raise typer.Exit(_run_script(place, sessions, user))
    else:
        raise typer.Exit(_run(place, session.program))


def _session(sessions: SessionManager, user: str | None, forward: Forward | None, stdio: int | None, *, piped: bool) -> Session:
    if forward is not None:
        return sessions.forward(forward)
    if stdio is not None:
        return sessions.port(stdio)
    return sessions.command(shlex.join(_READER)) if piped else sessions.shell(user)


def _node(place: Place, cluster: Cluster, name: str | None, group: str | None) -> Node:
    """On the embedded AWS, virtual nodes have names of their own too."""
    if place.where is TargetName.LOCAL and name is not None and name.startswith("ip-"):
        ids = {node["Name"]: node["InstanceId"] for node in running_virtual_nodes()}
        name = ids.get(name, name)
    return running_node(place, cluster, name=name, group=group)


def _on_virtual(node: Sequence[str], user: str | None, forward: Forward | None, stdio: int | None) -> None:
    if forward is not None:
        forwarding.serve(node, forward)
        return
    if stdio is not None:
        command = forwarding.relay(node, "127.0.0.1", stdio)
    elif sys.stdin.isatty():
        command = [*node, *IN_TERMINAL, "bash -l" if user is None else f"sudo -iu {user}"]
    else:
        command = [*node, *(() if user is None else ("sudo", "-iu", user)), *_READER]
    os.execvp(command[0], command)


def _enter_kubernetes(place: Place, name: str, *, only_print: bool) -> None:
    file = kubeconfig.write(place.target, place.where, name, kubeconfig.administrators(place.target, place.where))
    kubectl.enter(file, place.target.environment(), place.where.assembly.parent, only_print=only_print)


def _run(place: Place, command: Sequence[str]) -> int:
    """The exit code of a session that has the terminal; its keys, such as Ctrl-C, are for the node."""
    environment = place.target.environment()
    require_programs(command, environment.get("PATH", os.defpath))
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as session:  # noqa: S603
        before = [(number, signal.signal(number, signal.SIG_IGN)) for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP)]
        try:
            _explain(session)
            return session.wait()
        finally:
            for number, handler in before:
                signal.signal(number, handler)


def _run_script(place: Place, sessions: SessionManager, user: str | None) -> int:
    script = Script(sys.stdin.buffer.read(SCRIPT_BYTES + 1), user)
    command, environment = sessions.script(script).program, place.target.environment()
    require_programs(command, environment.get("PATH", os.defpath))
    # The plugin ends its session when standard input ends, so this pipe stays open.
    with subprocess.Popen(  # noqa: S603
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as session:
        try:
            code = _printed(script, session)
        except KeyboardInterrupt:
            session.kill()  # the plugin, if it is still there, ends with its standard input
            session.wait()
            raise
        if code is None:
            _explain(session)
            raise CliError("the session ended before the commands did, so their exit code is not known")
    return code


def _printed(script: Script, session: subprocess.Popen[bytes]) -> int | None:
    """Print what the commands print; their exit code, or `None` if the session says none."""
    assert session.stdout is not None
    code: int | None = None
    for piece in script.output(session.stdout):
        if isinstance(piece, int):
            code = piece
        else:
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    return code


def _explain(session: subprocess.Popen[bytes]) -> None:
    """Hand on what the AWS CLI says, and if it says that a permission is missing, the statement that grants it."""
    assert session.stderr is not None
    last = b""
    while piece := os.read(session.stderr.fileno(), 4096):
        sys.stderr.buffer.write(piece)
        sys.stderr.buffer.flush()
        last = (last + piece)[-_SAID_BYTES:]
    if (sentence := said(last.decode("utf-8", "replace"))) is not None:
        raise CliError(sentence)
