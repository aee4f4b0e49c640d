"""Jobs on nodes, as Slurm's controller tells them. What it answers is a stranger's: bounded, checked, and shown on one line.

Where the controller cannot be asked, the answer is the reason, never an error: an operator must be able to reboot a node of a
cluster that is broken.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from hyperpod_constructs.cli.console import CliError, is_aws_error
from hyperpod_constructs.cli.operate.choosing import running_node
from hyperpod_constructs.cli.operate.denied import said
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import Cluster, Node, list_nodes
from hyperpod_constructs.cli.operate.remote import Captured, captured
from hyperpod_constructs.cli.operate.sessions import SessionManager
from hyperpod_constructs.cli.target import TargetName, running_virtual_nodes
from hyperpod_constructs.custom_resources.handlers.redaction import one_line
from hyperpod_constructs.facts.session_manager import PLUGIN

MOST_JOBS = 1000

_CHARACTERS = 200
_REASON_CHARACTERS = 1000
_STATES = "RUNNING,SUSPENDED,COMPLETING,CONFIGURING,STAGE_OUT"
_END = "hyperpod-end"
_LINE = re.compile(r"hyperpod-job\|([0-9_+\[\]%,-]{1,64})\|([^|\s]{1,64})\|([^|\s]{1,4096})\|(.{0,1024})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}")
_PROGRAMS = ("aws", PLUGIN)


@dataclass(frozen=True, slots=True)
class Job:
    """A job that has nodes. `nodes` is Slurm's list of them, such as `ip-10-1-0-[4-7]`."""

    id: str
    user: str
    name: str
    nodes: str


@dataclass(frozen=True, slots=True)
class Jobs:
    """Jobs on some nodes, or the reason why they are not known."""

    found: tuple[Job, ...] = ()
    unknown: str | None = None


def jobs_on(place: Place, cluster: Cluster, nodes: Sequence[Node]) -> Jobs:
    """The jobs that run on the nodes; reasons take the place of errors."""
    if cluster.kubernetes is not None:
        return Jobs(unknown="Kubernetes knows them: kubectl get pods --all-namespaces --output wide")
    try:
        program = _on_controller(place, cluster, nodes)
        return Jobs() if program is None else _answered(captured(place, program))
    except CliError as error:
        return Jobs(unknown=one_line(str(error), _REASON_CHARACTERS))
    except Exception as error:
        if not is_aws_error(error) and not isinstance(error, OSError):
            raise
        return Jobs(unknown=one_line(str(error), _REASON_CHARACTERS))


def _question(names: Sequence[str | None]) -> str:
    """A line for a shell on the controller, with Slurm's names of the nodes.

    The names are checked, so nothing in them means anything to a shell.

    :raises CliError: if a name is not known, or is none of a node.
    """
    known = [name for name in names if name is not None and _NAME.fullmatch(name)]
    if len(known) < len(names):
        raise CliError("not every node has a name in Slurm")
    form = "hyperpod-job|%A|%u|%N|%j"
    asked = f"squeue --noheader --states={_STATES} --nodelist={','.join(known)} '--format={form}'"
    return f"PATH=/opt/slurm/bin:/usr/local/bin:/usr/bin:/bin; {asked} && echo {_END}"


def _on_controller(place: Place, cluster: Cluster, nodes: Sequence[Node]) -> list[str] | None:
    """The program of this machine that asks the controller for the jobs; `None` where no node runs any.

    :raises CliError: if there is no way to the controller.
    """
    group = next((group.name for group in cluster.groups if group.node_type == "Controller"), None)
    if group is None:
        raise CliError("the service names no controller to ask")
    if place.where is TargetName.LOCAL:
        booted = {node["InstanceId"]: node for node in running_virtual_nodes()}
        if not booted:
            return None
        controller = next((node for node in list_nodes(place, cluster, group) if node.id in booted), None)
        if controller is None:
            raise CliError("the controller does not run")
        # Virtual nodes have addresses of their own, and their names follow these.
        line = _question([booted[node.id]["Name"] if node.id in booted else None for node in nodes])
        SessionManager.of(place, cluster, controller).command(line).start(place)
        return [*booted[controller.id]["Command"], "sh", "-c", line]
    line = _question([None if node.host_name is None else node.host_name.partition(".")[0] for node in nodes])
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    if missing:
        raise CliError(f"{' and '.join(missing)} is not installed, and without Session Manager nobody can ask the controller")
    return SessionManager.of(place, cluster, running_node(place, cluster, name=None, group=group)).command(line).program


def _answered(found: Captured) -> Jobs:
    """The jobs in an answer. The banner of a session and everything else that is no job is passed over.

    :raises CliError: for an answer that does not come from Slurm, or not to its end.
    """
    lines = [line.rstrip("\r") for line in found.output.decode(errors="replace").split("\n")]
    if _END not in lines:
        raise CliError(said(found.errors.decode(errors="replace")) or "Slurm did not answer on the controller")
    matches = [match for line in lines if (match := _LINE.fullmatch(line))]
    if len(matches) > MOST_JOBS:
        return Jobs(unknown=f"the controller named more than {MOST_JOBS} jobs")
    return Jobs(tuple(_job(match) for match in matches))


def _job(match: re.Match[str]) -> Job:
    number, user, nodes, name = (one_line(text, _CHARACTERS) for text in match.groups())
    return Job(id=number, user=user, name=name, nodes=nodes)
