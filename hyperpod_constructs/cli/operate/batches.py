"""Operations on nodes, batch by batch: which nodes, what is lost, a question, and what became of each node."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import typer

from hyperpod_constructs.cli.console import INTERRUPTED, CliError, Interrupted, if_interrupted, say
from hyperpod_constructs.cli.operate.choosing import named_nodes
from hyperpod_constructs.cli.operate.completion import group_names, node_ids
from hyperpod_constructs.cli.operate.jobs import Jobs, jobs_on
from hyperpod_constructs.cli.operate.listing import As, ClusterName, Column, Output, show
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.reading import Cluster, Node, list_nodes, read_cluster
from hyperpod_constructs.cli.tables import paragraph
from hyperpod_constructs.custom_resources.handlers.redaction import one_line

SOME_FAILED = 3
ALL_FAILED = 1
CODES = "Exit codes: 0 every node was taken, 1 none was, 3 some were not, 130 interrupted."

Nodes = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NODE]...", help="Ids of nodes, such as i-0123456789abcdef0, or host names.", autocompletion=node_ids),
]
WholeGroup = Annotated[str | None, typer.Option("--group", help="All nodes of this instance group.", autocompletion=group_names)]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]

MOST_SHOWN = 20
"""The most nodes, and the most jobs, that are shown one by one before a question."""

Send = Callable[[Any, Cluster, Sequence[Node]], Mapping[str, Any]]

_MESSAGE_CHARACTERS = 1000
_JOB_COLUMNS = (Column("id", "job"), Column("user", "user"), Column("name", "name"), Column("nodes", "nodes"))
_COLUMNS = (
    Column("node", "node"),
    Column("group", "group"),
    Column("result", "result"),
    Column("reason", "reason", long=True),
)


@dataclass(frozen=True, slots=True)
class Operation:
    """A batch operation of SageMaker on nodes.

    :ivar verb: the command's name.
    :ivar summary: the first sentence of its help.
    :ivar call: the operation, as a method of boto3's client.
    :ivar most: the most nodes of one call.
    :ivar loses: what the user is told before it asks.
    :ivar spares_controllers: whether the service refuses it for Slurm controllers.
    :ivar needs_update: whether the service takes it only in clusters whose software was updated once.
    :ivar send: makes the request in another form than `NodeIds`: it takes a client, the cluster and the nodes.
    :ivar objection: why the service leaves a node out; every node is asked for unless given.
    :ivar check: raises a `CliError` for nodes that do not go together.
    """

    verb: str
    summary: str
    call: str
    most: int
    loses: str
    spares_controllers: bool
    needs_update: bool = False
    send: Send | None = None
    objection: Callable[[Cluster, Node], str | None] | None = None
    check: Callable[[Sequence[Node]], None] | None = None

    def request(self, client: Any, cluster: Cluster, nodes: Sequence[Node]) -> Mapping[str, Any]:
        """Ask for a batch, and return the answer; its `Failed` has the nodes that were refused."""
        if self.send is not None:
            return self.send(client, cluster, nodes)
        answer: Mapping[str, Any] = getattr(client, self.call)(ClusterName=cluster.arn, NodeIds=[node.id for node in nodes])
        return answer


@dataclass(slots=True)
class _Outcome:
    """What became of the nodes: the reason of a refusal by id, and empty for a node that was taken.

    An interruption, or a lost answer, leaves it open whether the service took the nodes of the batch under way.
    """

    reasons: dict[str, str] = field(default_factory=dict)
    unsure: frozenset[str] = frozenset()
    interrupted: bool = False
    lost: str | None = None

    def add(self, batch: Sequence[Node], answer: Mapping[str, Any]) -> None:
        refused = {failed.get("NodeId", ""): _reason(failed) for failed in answer.get("Failed", ())}
        self.reasons |= {node.id: refused.get(node.id, "") for node in batch}

    def row(self, node: Node) -> dict[str, str | None]:
        reason = self.reasons.get(node.id)
        if reason is None:
            result = "perhaps started" if node.id in self.unsure else "not asked for"
        else:
            result = "refused" if reason else "started"
        return {"node": node.id, "group": node.group, "result": result, "reason": reason or None}

    @property
    def code(self) -> int:
        refused = sum(bool(reason) for reason in self.reasons.values())
        if self.interrupted:
            return INTERRUPTED
        if self.lost is not None:
            return SOME_FAILED if self.reasons else ALL_FAILED
        return 0 if not refused else ALL_FAILED if refused == len(self.reasons) else SOME_FAILED


def command(operation: Operation) -> typer.Typer:
    """The command of an operation."""
    app = typer.Typer(add_completion=False)
    verb = operation.verb
    examples = f"Examples: `hyperpod {verb} i-0123456789abcdef0`, `hyperpod {verb} --group workers --yes`. {CODES}"

    @app.command(verb, help=operation.summary, epilog=examples)
    @placed
    def run(
        place: Place,
        nodes: Nodes = None,
        group: WholeGroup = None,
        cluster: ClusterName = None,
        yes: Yes = False,
        output: As = Output.TABLE,
    ) -> None:
        carry_out(operation, place, cluster=cluster, names=nodes or (), group=group, yes=yes, output=output)

    return app


def carry_out(
    operation: Operation,
    place: Place,
    *,
    cluster: str | None,
    names: Sequence[str],
    group: str | None,
    yes: bool,
    output: Output,
) -> None:
    """Do an operation: choose the nodes, say what is lost, ask, and print what became of each node.

    :raises CliError: for nodes that are not there, if nobody can be asked, and if the answer is no.
    """
    found = read_cluster(place, cluster)
    chosen = _chosen(operation, place, found, names, group)
    left_out = _left_out(operation, found, chosen)
    fit = [node for node in chosen if node.id not in left_out]
    if not yes:
        _ask(operation, place, found, fit)
    with _first_update_explained(operation, chosen):
        outcome = _sent(operation, place, found, fit, left_out)
    with if_interrupted(f"what was asked for goes on: hyperpod nodes --cluster {found.name}"):
        show(_COLUMNS, [outcome.row(node) for node in chosen], output)
    if outcome.interrupted:
        typer.echo(f"interrupted: {len(outcome.reasons)} of {len(chosen)} nodes were answered for; what started goes on", err=True)
    if outcome.lost is not None:
        typer.echo(
            f"{len(outcome.reasons)} of {len(chosen)} nodes were answered for, then the answer was lost: {outcome.lost}", err=True
        )
    raise typer.Exit(outcome.code)


def _chosen(operation: Operation, place: Place, cluster: Cluster, names: Sequence[str], group: str | None) -> list[Node]:
    if bool(names) == (group is not None):
        raise CliError(f"name the nodes to {operation.verb}, or one group of them with --group")
    if group is None:
        chosen = named_nodes(place, cluster, names)
    else:
        chosen = [node for node in list_nodes(place, cluster, group) if node.id]
    if not chosen:
        raise CliError(f"group {group} has no nodes to {operation.verb}")
    controllers = {known.name for known in cluster.groups if known.node_type == "Controller"}
    spared = [node.id for node in chosen if node.group in controllers]
    if operation.spares_controllers and spared:
        group = next(node.group for node in chosen if node.id == spared[0])
        raise CliError(
            f"{spared[0]} is the Slurm controller, and the service does not {operation.verb} it: "
            f"leave it out, or renew its root volume (hyperpod update-software --group {group})"
        )
    return chosen


def _left_out(operation: Operation, cluster: Cluster, chosen: Sequence[Node]) -> dict[str, str]:
    """The reasons of the nodes that the service leaves out.

    :raises CliError: if it leaves all out, or if the others do not go together.
    """
    if operation.objection is None:
        return {}
    found = {node.id: f"left out: {why}" for node in chosen if (why := operation.objection(cluster, node))}
    if len(found) == len(chosen):
        raise CliError(f"no node to {operation.verb}: {next(iter(found.values()))}")
    if operation.check is not None:
        operation.check([node for node in chosen if node.id not in found])
    return found


def _ask(operation: Operation, place: Place, cluster: Cluster, chosen: Sequence[Node]) -> None:
    if not somebody_is_there():
        raise CliError(f"this would {operation.verb} {_counted(chosen)} of {cluster.name}, and nobody is there to ask: add --yes")
    show((*_COLUMNS[:2], Column("status", "health")), [_before(node) for node in chosen[:MOST_SHOWN]], Output.TABLE)
    if len(chosen) > MOST_SHOWN:
        say(f"and {len(chosen) - MOST_SHOWN} more nodes")
    say()
    show_jobs(jobs_on(place, cluster, chosen))
    paragraph(operation.loses)
    agree(f"{operation.verb.capitalize()} {_counted(chosen)} of {cluster.name}?")


def show_jobs(jobs: Jobs) -> None:
    """Print the jobs on nodes, before a question."""
    if jobs.unknown is not None:
        paragraph(f"Jobs on these nodes are unknown: {jobs.unknown}")
    elif jobs.found:
        show(_JOB_COLUMNS, [asdict(job) for job in jobs.found[:MOST_SHOWN]], Output.TABLE)
        if len(jobs.found) > MOST_SHOWN:
            say(f"and {len(jobs.found) - MOST_SHOWN} more jobs")
    else:
        say("No job runs on these nodes.")
    say()


def agree(question: str) -> None:
    """Ask for a yes.

    :raises CliError: for a no.
    :raises Interrupted: for Ctrl-C in the place of an answer.
    """
    if not agreed(question):
        raise CliError("nothing was done")


def agreed(question: str) -> bool:
    """The answer to a question.

    :raises Interrupted: for Ctrl-C in the place of an answer.
    """
    try:
        return typer.confirm(question)
    except typer.Abort:
        raise Interrupted("nothing was done") from None


def _counted(nodes: Sequence[Node]) -> str:
    return f"{len(nodes)} node{'' if len(nodes) == 1 else 's'}"


def somebody_is_there() -> bool:
    """Whether a question can be answered: standard input is a terminal."""
    return sys.stdin.isatty()


def _before(node: Node) -> dict[str, str]:
    return {"node": node.id, "group": node.group, "status": node.status}


def _sent(operation: Operation, place: Place, cluster: Cluster, chosen: Sequence[Node], left_out: Mapping[str, str]) -> _Outcome:
    """Ask for all nodes, batch by batch. A batch that the service refuses is the reason of its nodes, and hides no other."""
    from botocore.exceptions import BotoCoreError, ClientError

    client, outcome = place.client("sagemaker"), _Outcome(dict(left_out))
    asked = False
    try:
        for first in range(0, len(chosen), operation.most):
            batch = chosen[first : first + operation.most]
            outcome.unsure = frozenset(node.id for node in batch)
            try:
                outcome.add(batch, operation.request(client, cluster, batch))
            except ClientError as error:
                if not asked:
                    raise
                outcome.reasons |= {node.id: one_line(str(error), _MESSAGE_CHARACTERS) for node in batch}
            except BotoCoreError as error:
                outcome.lost = one_line(str(error), _MESSAGE_CHARACTERS)
                break
            asked = True
    except KeyboardInterrupt:
        outcome.interrupted = True
    return outcome


@contextmanager
def _first_update_explained(operation: Operation, chosen: Sequence[Node]) -> Iterator[None]:
    """Point to the software update that the service wants first, if it refuses a request and none of the nodes shows one."""
    from botocore.exceptions import ClientError

    try:
        yield
    except ClientError as error:
        invalid = error.response.get("Error", {}).get("Code") == "ValidationException"
        if not invalid or not operation.needs_update or any(node.updated is not None for node in chosen):
            raise
        raise CliError(
            f"AWS answered: {one_line(str(error), _MESSAGE_CHARACTERS)}. None of these nodes shows a software update, "
            "and the service wants one first: hyperpod update-software"
        ) from None


def _reason(failed: Mapping[str, Any]) -> str:
    code = failed.get("ErrorCode") or failed.get("Code") or "refused"
    return one_line(f"{code}: {failed.get('Message', '')}", _MESSAGE_CHARACTERS)
