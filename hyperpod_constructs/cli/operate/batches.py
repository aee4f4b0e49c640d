"""Operations on nodes, batch by batch: which nodes, what is lost, a question, and what became of each node."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from hyperpod_constructs.cli.console import CliError, say
from hyperpod_constructs.cli.operate.completion import group_names, node_ids
from hyperpod_constructs.cli.operate.listing import As, ClusterName, Column, Output, show
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.reading import Cluster, Node, read_cluster, read_nodes
from hyperpod_constructs.cli.tables import paragraph
from hyperpod_constructs.custom_resources.handlers.redaction import one_line

SOME_FAILED = 3
ALL_FAILED = 1
INTERRUPTED = 130
CODES = "Exit codes: 0 every node was taken, 1 none was, 3 some were not, 130 interrupted."

Nodes = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NODE]...", help="Ids of nodes, such as i-0123456789abcdef0.", autocompletion=node_ids),
]
WholeGroup = Annotated[str | None, typer.Option("--group", help="All nodes of this instance group.", autocompletion=group_names)]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]

_MESSAGE_CHARACTERS = 1000
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
    """

    verb: str
    summary: str
    call: str
    most: int
    loses: str
    spares_controllers: bool


@dataclass(slots=True)
class _Outcome:
    """What became of the nodes: the reason of a refusal by id, and empty for a node that was taken.

    An interruption leaves it open whether the service took the nodes of the batch under way.
    """

    reasons: dict[str, str] = field(default_factory=dict)
    unsure: frozenset[str] = frozenset()
    interrupted: bool = False

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
        _carry_out(operation, place, cluster=cluster, ids=nodes or (), group=group, yes=yes, output=output)

    return app


def _carry_out(
    operation: Operation,
    place: Place,
    *,
    cluster: str | None,
    ids: Sequence[str],
    group: str | None,
    yes: bool,
    output: Output,
) -> None:
    found = read_cluster(place, cluster)
    chosen = _chosen(operation, found, read_nodes(place, found, group), ids, group)
    if not yes:
        _ask(operation, found, chosen)
    outcome = _sent(operation, place, found, chosen)
    show(_COLUMNS, [outcome.row(node) for node in chosen], output)
    if outcome.interrupted:
        typer.echo(f"interrupted: {len(outcome.reasons)} of {len(chosen)} nodes were answered for; what started goes on", err=True)
    raise typer.Exit(outcome.code)


def _chosen(operation: Operation, cluster: Cluster, present: Sequence[Node], ids: Sequence[str], group: str | None) -> list[Node]:
    if bool(ids) == (group is not None):
        raise CliError(f"name the nodes to {operation.verb}, or one group of them with --group")
    by_id = {node.id: node for node in present if node.id}
    for wanted in ids:
        if wanted not in by_id:
            near = difflib.get_close_matches(wanted, by_id, n=1)
            hint = f"the nearest is {near[0]}" if near else "see them with: hyperpod nodes"
            raise CliError(f"{cluster.name} has no node {wanted!r}; {hint}")
    chosen = list(by_id.values()) if group is not None else [by_id[wanted] for wanted in dict.fromkeys(ids)]
    if not chosen:
        raise CliError(f"group {group} has no nodes to {operation.verb}")
    controllers = {known.name for known in cluster.groups if known.node_type == "Controller"}
    spared = [node.id for node in chosen if node.group in controllers]
    if operation.spares_controllers and spared:
        raise CliError(
            f"{spared[0]} is the Slurm controller, and the service does not {operation.verb} it: "
            "leave it out, or update its software (aws sagemaker update-cluster-software)"
        )
    return chosen


def _ask(operation: Operation, cluster: Cluster, chosen: Sequence[Node]) -> None:
    if not somebody_is_there():
        raise CliError(f"this would {operation.verb} {_counted(chosen)} of {cluster.name}, and nobody is there to ask: add --yes")
    show((*_COLUMNS[:2], Column("status", "health")), [_before(node) for node in chosen], Output.TABLE)
    say()
    paragraph(operation.loses)
    if not typer.confirm(f"{operation.verb.capitalize()} {_counted(chosen)} of {cluster.name}?"):
        raise CliError("nothing was done")


def _counted(nodes: Sequence[Node]) -> str:
    return f"{len(nodes)} node{'' if len(nodes) == 1 else 's'}"


def somebody_is_there() -> bool:
    """Whether a question can be answered: standard input is a terminal."""
    return sys.stdin.isatty()


def _before(node: Node) -> dict[str, str]:
    return {"node": node.id, "group": node.group, "status": node.status}


def _sent(operation: Operation, place: Place, cluster: Cluster, chosen: Sequence[Node]) -> _Outcome:
    """Ask for all nodes, batch by batch. A batch that the service refuses is the reason of its nodes, and hides no other."""
    from botocore.exceptions import ClientError

    call, outcome = getattr(place.client("sagemaker"), operation.call), _Outcome()
    try:
        for first in range(0, len(chosen), operation.most):
            batch = chosen[first : first + operation.most]
            outcome.unsure = frozenset(node.id for node in batch)
            try:
                outcome.add(batch, call(ClusterName=cluster.arn, NodeIds=[node.id for node in batch]))
            except ClientError as error:
                if not outcome.reasons:
                    raise
                outcome.reasons |= {node.id: one_line(str(error), _MESSAGE_CHARACTERS) for node in batch}
    except KeyboardInterrupt:
        outcome.interrupted = True
    return outcome


def _reason(failed: Mapping[str, Any]) -> str:
    code = failed.get("ErrorCode") or failed.get("Code") or "refused"
    return one_line(f"{code}: {failed.get('Message', '')}", _MESSAGE_CHARACTERS)
