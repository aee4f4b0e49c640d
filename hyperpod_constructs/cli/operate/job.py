"""`hyperpod job`: a folder with a training job for a cluster's own nodes, and a look at batch scripts before they are submitted."""

from __future__ import annotations

import re
import shutil
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hyperpod_constructs.cli.console import CliError, reported, say
from hyperpod_constructs.cli.operate.batch_script import LARGEST, misplaced_options
from hyperpod_constructs.cli.operate.listing import ClusterName
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.reading import Cluster, Group, read_cluster
from hyperpod_constructs.facts.clusters import SERVICE_PARTITION
from hyperpod_constructs.facts.instance_types import InstanceType, instance_type, is_instance_type

app = typer.Typer(no_args_is_help=True, help="Write a training job for a cluster, and check batch scripts.")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_PARTITION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,1023}")
_IGNORED = shutil.ignore_patterns("__pycache__", ".*")
_OWN_SETTINGS = """\
export RANKS_PER_NODE=${{RANKS_PER_NODE:-{ranks}}} # {type}: {hardware}
export INSTANCE_FAMILY=${{INSTANCE_FAMILY:-{family}}} # common/environment.sh has the settings of its network
export DATA=${{DATA:-$EXAMPLES/tokens.npy}} # made up below if it is not there
"""
_MAKE_DATA = """\
[[ -e $DATA ]] || "$PYTHON" "$EXAMPLES/common/make_data.py" "$DATA" --synthetic 1000000
"""


class Method(StrEnum):
    """A training job of the library."""

    DDP = "ddp"
    FSDP2 = "fsdp2"
    ELASTIC = "elastic"


_SCRIPTS = {Method.DDP: ("ddp",), Method.FSDP2: ("fsdp2",), Method.ELASTIC: ("elastic", "ddp")}


@app.command(epilog="Examples: `hyperpod job new llama`, `hyperpod job new llama --group workers --nodes 4 --method fsdp2`.")
@placed
def new(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the job and of its new folder.")],
    cluster: ClusterName = None,
    group: Annotated[str | None, typer.Option("--group", help="Group of workers; the only one unless given.")] = None,
    nodes: Annotated[int | None, typer.Option("--nodes", min=1, help="Nodes of the job; all of the group unless given.")] = None,
    method: Annotated[Method, typer.Option("--method", help="How it shares the model and its data out.")] = Method.DDP,
) -> None:
    """Write a folder with a batch script and its programs, ready for sbatch on the cluster."""
    target = Path(name)
    if not _NAME.fullmatch(name):
        raise CliError(f"NAME is {name!r}; allowed: letters, digits, _ and -, with a letter or digit first; write llama-7b")
    if target.exists() or target.is_symlink():
        raise CliError(f"{name} is there already, and nothing is overwritten: choose another name, or move it away")
    found = read_cluster(place, cluster)
    workers = _workers(found, group)
    _write(target, _batch_script(name, workers, _nodes(workers, nodes), method), method)
    say(
        f"Written: {name}/, for {workers.name} of {found.name}. Copy it to the shared file system, name your Python there, and "
        f"submit it: cd {name} && PYTHON=/fsx/venv/bin/python sbatch {name}.sbatch"
    )


@app.command(epilog="Example: `hyperpod job check llama/llama.sbatch`. The exit code is 1 if it finds something.")
@reported
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Batch scripts, and scripts that call sbatch.")],
) -> None:
    """Warn of --auto-resume where it has no effect: HyperPod knows it on srun alone."""
    found = 0
    for file in files:
        for line, text in misplaced_options(_read(file)):
            say(f"{file}:{line}: warning: {text}")
            found += 1
    if found:
        raise typer.Exit(1)
    say(f"{len(files)} {'script' if len(files) == 1 else 'scripts'}: --auto-resume stands nowhere but on srun")


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError as error:
        raise CliError(f"{file}: {error.strerror}") from None
    if len(data) > LARGEST or b"\0" in data:
        raise CliError(f"{file} is no script: it has more than {LARGEST // 1024} KiB, or bytes that no text has")
    return data.decode(errors="replace")


def _workers(cluster: Cluster, name: str | None) -> Group:
    """The group of workers to write the job for.

    :raises CliError: for a cluster without Slurm, another kind of group, or several to choose from.
    """
    if cluster.kubernetes is not None:
        raise CliError(f"{cluster.name} runs Kubernetes, and this job is one of Slurm: docs/kubernetes.md shows jobs for it")
    if name is not None:
        found = cluster.group(name)
        if found.node_type not in ("Compute", None):
            raise CliError(
                f"group {name!r} is the {found.node_type} of {cluster.name}, which runs no jobs: name a group of workers"
            )
        return found
    groups = [group for group in cluster.groups if group.node_type == "Compute"]
    if len(groups) != 1:
        names = ", ".join(group.name for group in groups) or "none that the service calls Compute"
        raise CliError(f"name the group of workers with --group; {cluster.name} has {names}")
    return groups[0]


def _nodes(group: Group, wanted: int | None) -> int:
    most = max(group.target, group.current)
    if most == 0:
        raise CliError(f"group {group.name!r} has no nodes: give it some with hyperpod scale {group.name} 2")
    if wanted is not None and wanted > most:
        raise CliError(f"--nodes is {wanted}, but group {group.name!r} has {most}: write --nodes {most}, or scale the group first")
    return most if wanted is None else wanted


def _partition(group: Group) -> str:
    """Its partition in Slurm; the service's own for a group that the API does not configure."""
    names = group.description.get("SlurmConfig", {}).get("PartitionNames") or [SERVICE_PARTITION]
    if not _PARTITION.fullmatch(str(names[0])):
        raise CliError(f"the service names the partition {names[0]!r}, which is no name of one: nothing is written")
    return str(names[0])


def _type(group: Group) -> InstanceType:
    """The type of the group's nodes; of several the first.

    :raises CliError: for a type without training code here.
    """
    name = group.instance_type.split(", ")[0]
    if not is_instance_type(name):
        raise CliError(f"group {group.name!r} has the type {name!r}, which this version of hyperpod does not know: update it")
    found = instance_type(name)
    if found.accelerator is not None and found.accelerator.kind != "gpu":
        raise CliError(
            f"group {group.name!r} has {name}, and these jobs train on GPUs and CPUs only: name another group with --group"
        )
    return found


def _hardware(kind: InstanceType) -> str:
    what = "no accelerators" if kind.accelerator is None else f"{kind.accelerator.count} {kind.accelerator.name}"
    return f"{what}, {f'{kind.efa_interfaces} cards with EFA' if kind.efa_interfaces else 'no EFA'}"


def _batch_script(name: str, group: Group, nodes: int, method: Method) -> str:
    kind, partition = _type(group), _partition(group)
    text = (_examples() / method.value / f"{method.value}.sbatch").read_text("utf-8")
    family = kind.name.split(".")[1]
    ranks = 1 if kind.accelerator is None else kind.accelerator.count
    own = _OWN_SETTINGS.format(ranks=ranks, type=kind.name, hardware=_hardware(kind), family=family)
    edits = [
        (r"^# Submit from .*$", f"# Submit from this directory:   sbatch {name}.sbatch"),
        (r"^#SBATCH --job-name=\S+", f"#SBATCH --job-name={name}"),
        (r"^#SBATCH --nodes=\S+.*$", f"#SBATCH --partition={partition}\n#SBATCH --nodes={_range(nodes, method)}"),
        (r"^export EXAMPLES$", f"export EXAMPLES\n\n{own.rstrip()}"),
        (r"^# export DATA=.*\n", ""),
        (r"^(prepare .*)$", rf"\1\n{_MAKE_DATA.rstrip()}"),
    ]
    if method is Method.ELASTIC:
        edits += [(r"MIN_NODES:-\d+", f"MIN_NODES:-{min(nodes, 2)}"), (r"MAX_NODES:-\d+", f"MAX_NODES:-{nodes}")]
    for pattern, replacement in edits:
        text, changed = re.subn(pattern, replacement, text, count=1, flags=re.MULTILINE)
        assert changed == 1, f"{method}: the job of the library has no line {pattern}"
    return text


def _range(nodes: int, method: Method) -> str:
    return f"{min(nodes, 2)}-{nodes}" if method is Method.ELASTIC else str(nodes)


def _write(target: Path, script: str, method: Method) -> None:
    """Make the folder, completely or not at all."""
    examples = _examples()
    try:
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as directory:
            folder = Path(directory) / target.name
            for part in ("common", *_SCRIPTS[method]):
                shutil.copytree(examples / part, folder / part, ignore=_IGNORED)
            for old in folder.glob("*/*.sbatch"):
                old.unlink()
            (folder / f"{target.name}.sbatch").write_text(script, "utf-8")
            folder.rename(target)
    except OSError as error:
        raise CliError(f"{target} cannot be written: {error.strerror}") from None


def _examples() -> Path:
    """The library's jobs: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).parents[2]
    inside = package / "examples"
    return inside if inside.is_dir() else package.parent / "examples"
