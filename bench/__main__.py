"""Run the benchmark and print its figures."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import (
    boot,
    checks,
    deployment,
    detector,
    fleet,
    functions,
    groups,
    imports,
    kubernetes,
    mistakes,
    operate,
    penalty,
    recovery,
    start,
    suite,
    synthesis,
    tiers,
)
from bench.boot import BootError
from bench.children import ChildError
from bench.deployment import DeploymentError
from bench.expressions import FloorError
from bench.figures import Estimate, Pairs, estimate
from bench.fleet import FleetError
from bench.recovery import RecoveryError
from bench.start import StartError
from bench.suite import SuiteError
from hyperpod_constructs.local.kubernetes.interface import ControlPlaneError
from hyperpod_constructs.local.nodes import NodesError

_GROUP_REPETITIONS = 10
_CHECKS = 5
_DEPLOYMENTS = 3
_BOOTS = 5
_RECOVERIES = 5
_STARTS = 5
_TIERS = 3


def write(line: str = "") -> None:
    """One line of the report, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def synth(pairs: int, directory: Path) -> None:
    """Cold synthesis without CDK's own validation."""
    _against_typed("Cold synthesis, CDK's own template validation off", pairs, directory, validated=False)


def validated(pairs: int, directory: Path) -> None:
    """Cold synthesis with it."""
    _against_typed("Cold synthesis, CDK's own template validation on", pairs, directory, validated=True)


def on_eks(pairs: int, directory: Path) -> None:
    """Cold synthesis of a cluster on EKS without the CDK's own template validation."""
    title = "Cold synthesis on EKS, CDK's own template validation off"
    _against_typed(title, pairs, directory, preset=synthesis.EKS, validated=False)


def _against_typed(title: str, pairs: int, directory: Path, *, preset: str = synthesis.SLURM, validated: bool) -> None:
    programs = synthesis.prepare(directory / "synthesis" / preset, preset)
    measured = synthesis.compare(programs, programs.floor, pairs, validated=validated)
    write(title)
    write(f"  preset {preset}, {synthesis.resource_count(programs)} resources, whole processes;")
    write("  floor: the same templates, compared resource by resource, as bare L1s")
    _pairs(measured, "library", "floor", goal="a ratio of at most 1.15")


def untyped(pairs: int, directory: Path) -> None:
    """Cold synthesis, as the CDK CLI does it, against the final resources as literals."""
    programs = synthesis.prepare(directory / "synthesis" / synthesis.SLURM)
    measured = synthesis.compare(programs, programs.untyped, pairs, validated=True)
    write("Cold synthesis, CDK's own template validation on")
    write("  floor: the final resources as CfnResource from literals, without references, assets and outputs")
    _pairs(measured, "library", "untyped floor", goal="a ratio of at most 1.40")


def import_times(pairs: int, directory: Path) -> None:
    """Import of the package."""
    write("Import, fresh processes")
    _pairs(imports.added_to_aws_cdk(pairs), "aws_cdk + package", "aws_cdk alone", goal="a ratio of at most 1.10")
    _pairs(imports.without_jsii(pairs), "an instance type", "aws_cdk alone", goal="no jsii in the process")


def growth(pairs: int, directory: Path) -> None:
    """Synthesis of many groups."""
    measured = groups.grow(_GROUP_REPETITIONS)
    write("Synthesis of instance groups in one warm process, validation off")
    for size in groups.SIZES:
        library, bare = estimate(measured.library[size]), estimate(measured.bare[size])
        write(f"  {size:>3} groups        {_milliseconds(library)}; bare L1s {bare.median * 1000:.1f} ms")
    few, some, many = groups.SIZES
    first, second = measured.per_group(few, some) * 1000, measured.per_group(some, many) * 1000
    write(f"  one more group    {first:.2f} ms from {few} to {some}, {second:.2f} ms from {some} to {many}")
    write(f"  slopes            {second / first:.2f} times each other (linear is 1)")
    write(f"  bare L1s          {measured.bare_per_group(some, many) * 1000:.2f} ms per group from {some} to {many}")


def check(pairs: int, directory: Path) -> None:
    """`hyperpod check` beside cfn-lint."""
    write("hyperpod check, whole processes, the default preset")
    _pairs(
        checks.compare(checks.reference(directory), pairs), "hyperpod check", "cfn-lint", goal=f"a ratio of at most {checks.GOAL}"
    )
    write(f"The same with {checks.GROUPS} instance groups and {checks.RESOURCES} resources")
    few = min(pairs, _CHECKS)
    _pairs(
        checks.compare(checks.large(directory / "large"), few),
        "hyperpod check",
        "cfn-lint",
        goal=f"a ratio of at most {checks.GOAL}",
    )


def plugin(pairs: int, directory: Path) -> None:
    """The cost of the rules in a synthesis."""
    write("Cold synthesis of the default preset with the rules and without, CDK's own template validation on")
    _pairs(checks.plugin(directory, pairs), "with the rules", "without", goal="a ratio of at most 1.05")


def mistaken(pairs: int, directory: Path) -> None:
    """The list of single mistakes before the rules, cfn-lint and the CDK."""
    write("Single mistakes in templates that are correct otherwise")
    for line in mistakes.table(mistakes.compare(directory / "mistakes")):
        write(f"  {line}")


def deploy(pairs: int, directory: Path) -> None:
    """Deployment to the embedded AWS."""
    measured = deployment.compare(directory / "deploy", _DEPLOYMENTS)
    write(f"cdk deploy --all of the preset {synthesis.SLURM}, embedded AWS, bootstrapped")
    _pairs(measured, "cdk deploy", "cdk synth", goal="cdk deploy in at most 60 s", processor=False)
    on_kubernetes = deployment.compare(directory / "deploy-eks", _DEPLOYMENTS, synthesis.EKS)
    write(f"The same of the preset {synthesis.EKS}; its control plane is a double")
    _pairs(on_kubernetes, "cdk deploy", "cdk synth", goal="cdk deploy in at most 90 s", processor=False)
    many = deployment.large(directory / "deploy-large")
    parts = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in many.stacks.items())
    write(f"The preset {synthesis.SLURM} with {deployment.WORKERS:,} workers, all awaited, 1 run")
    write(f"  cdk deploy        {many.command.wall:.1f} s; goal: at most 60 s")
    write(f"  CloudFormation    {sum(many.stacks.values()):.1f} s: {parts}")
    if many.server is not None:
        write(f"  processor time    {many.command.processor:.1f} s of the command, {many.server:.1f} s of the embedded AWS")


def nodes(pairs: int, directory: Path) -> None:
    """`hyperpod nodes` on many nodes."""
    write(f"hyperpod nodes on {operate.NODES:,} nodes, whole processes, a service that answers at once")
    goal = f"a ratio of at most {operate.MOST_RATIO} in processor time, and {operate.MOST_SECONDS:.0f} s"
    _pairs(operate.compare(pairs), "hyperpod nodes", "bare boto3", goal=goal)


def fleets(pairs: int, directory: Path) -> None:
    """Creation of large clusters in the embedded HyperPod."""
    write("Creation of a cluster in the embedded HyperPod, in one process (linear is 1; goal: answers within 1 s)")
    for line in fleet.table(fleet.grow()):
        write(f"  {line}")


def control_planes(pairs: int, directory: Path) -> None:
    """The double of a Kubernetes control plane."""
    write(f"Double of a Kubernetes control plane, one client over HTTPS, {kubernetes.OBJECTS:,} objects of a kind")
    for line in kubernetes.table(kubernetes.measure(directory / "kubernetes")):
        write(f"  {line}")
    write(f"{kubernetes.NODES:,} fake nodes on it, one thread; times of both processes together")
    for line in kubernetes.node_table(kubernetes.measure_nodes(directory / "nodes")):
        write(f"  {line}")


def lambdas(pairs: int, directory: Path) -> None:
    """Functions of custom resources."""
    write("Functions of custom resources")
    write(f"  archive           {functions.archive_bytes() / 1000:.0f} kB; goal: at most {functions.MOST_BYTES / 1000:.0f} kB")
    write(
        f"  calls             {functions.gate_calls()} in a look of the readiness gate at {functions.NODES:,} nodes; "
        f"goal: at most {functions.MOST_CALLS}"
    )
    for module in functions.HANDLERS:
        write(f"Cold start of {module} with its clients, fresh processes")
        _pairs(functions.cold_starts(module, pairs), "own clients", "boto3's clients", goal="a ratio of at most 1/3")


def boots(pairs: int, directory: Path) -> None:
    """Boot of virtual nodes."""
    for size in boot.SIZES:
        measured = boot.compare(directory / f"boot-{size}", size, min(pairs, _BOOTS))
        write(f"Boot of {size} virtual nodes until Slurm calls every worker idle, mode OnCreate")
        _pairs(measured.pairs, "lifecycle scripts", "an empty script", processor=False)
        write(f"  {'step':<24}{'controller':>12}{'slowest worker':>16}")
        for name in {**measured.controller, **measured.worker}:
            seconds = [f"{part[name]:.2f} s" if name in part else "" for part in (measured.controller, measured.worker)]
            write(f"  {name:<24}{seconds[0]:>12}{seconds[1]:>16}".rstrip())


def recoveries(pairs: int, directory: Path) -> None:
    """Recovery of training jobs on virtual nodes."""
    for fault in recovery.FAULTS:
        for line in recovery.report(recovery.compare(directory / f"recovery-{fault}", fault, min(pairs, _RECOVERIES))):
            write(line)


def tiered(pairs: int, directory: Path) -> None:
    """Recovery from the memory of a neighbour."""
    for line in tiers.report(tiers.compare(directory / "tiers", min(pairs, _TIERS))):
        write(line)


def starts(pairs: int, directory: Path) -> None:
    """Start of ranks without one root."""
    for size in start.SIZES:
        for line in start.report(start.compare(size, min(pairs, _STARTS))):
            write(line)


def detectors(pairs: int, directory: Path) -> None:
    """Polls of the hang detector on many nodes."""
    write("Hang detector, one job over simulated nodes: operations on shared files in one poll")
    write(f"  {'nodes':>6}{'per node':>12}{'leader':>10}{'all':>10}{'all / nodes':>14}")
    for nodes in detector.NODES:
        load = detector.measure(nodes)
        write(f"  {nodes:>6}{load.other:>12.1f}{load.leader:>10.0f}{load.total:>10.0f}{load.total / nodes:>14.2f}")


def penalties(pairs: int, directory: Path) -> None:
    """The LZ penalty in a step of sampling."""
    write("One step of sampling with the LZ penalty, 8 sequences, a vocabulary of 128,256, 1 thread, processor time")
    for line in penalty.table(penalty.measure()):
        write(f"  {line}")
    write(f"  {'goal':<18}lz / sampling at most {penalty.MOST_RATIO}")


def tests(pairs: int, directory: Path) -> None:
    """The fast tests, run now, and the last complete run of all."""
    write("Tests")
    write(f"  {'make test-fast':<18}{suite.measure_fast(directory / 'suite').line}")
    write(f"  {'goal':<18}at most {suite.FAST_SECONDS} s on two cores")
    last = suite.read()
    write(f"  {'make test':<18}{'never run here to its end' if last is None else last.line}")
    write(f"  {'goal':<18}at most {suite.FULL_SECONDS} s on two cores, nothing else running")


def _pairs(measured: Pairs, subject: str, base: str, *, goal: str = "", processor: bool = True) -> None:
    write(f"  {subject:<18}{_seconds(estimate([cost.wall for cost in measured.subject]))}")
    write(f"  {base:<18}{_seconds(estimate([cost.wall for cost in measured.base]))}")
    write(f"  {'ratio':<18}{_ratio(measured.ratio)}")
    if processor:
        write(f"  {'in processor time':<18}{_ratio(measured.processor_ratio)}")
    if goal:
        write(f"  {'goal':<18}{goal}")


def _seconds(found: Estimate) -> str:
    return f"{found.median:.2f} s   95 % {found.low:.2f} to {found.high:.2f} s, {found.runs} runs"


def _ratio(found: Estimate) -> str:
    return f"{found.median:.3f}    95 % {found.low:.3f} to {found.high:.3f}, {found.runs} pairs"


def _milliseconds(found: Estimate) -> str:
    return f"{found.median * 1000:.1f} ms  95 % {found.low * 1000:.1f} to {found.high * 1000:.1f} ms, {found.runs} runs"


_PARTS: Mapping[str, Callable[[int, Path], None]] = {
    "synth": synth,
    "validated": validated,
    "eks-synth": on_eks,
    "untyped": untyped,
    "import": import_times,
    "groups": growth,
    "check": check,
    "plugin": plugin,
    "mistakes": mistaken,
    "deploy": deploy,
    "nodes": nodes,
    "fleet": fleets,
    "kubernetes": control_planes,
    "functions": lambdas,
    "boot": boots,
    "recovery": recoveries,
    "tiers": tiered,
    "start": starts,
    "detector": detectors,
    "penalty": penalties,
    "tests": tests,
}


def main(arguments: Sequence[str]) -> int:
    """Run the chosen parts; the exit code is 1 if one of them fails."""
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measures synthesis, the rules, deployment and virtual nodes."
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(_PARTS),
        default=list(_PARTS),
        metavar="PART",
        help=f"parts to run, of {' '.join(_PARTS)}; all unless given",
    )
    parser.add_argument("--pairs", type=int, default=15, help="interleaved pairs of cold syntheses (default 15)")
    options = parser.parse_args(arguments)
    if options.pairs < 1:
        parser.error(f"argument --pairs: found {options.pairs}; write 1 or more, 15 for figures to rely on")
    started = time.monotonic()
    write(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    write("Medians with bootstrap intervals; ratios pair by pair.")
    with TemporaryDirectory(prefix="hyperpod-bench-") as directory:
        for name in options.only:
            write()
            try:
                _PARTS[name](options.pairs, Path(directory))
            except (
                BootError,
                ChildError,
                ControlPlaneError,
                FloorError,
                DeploymentError,
                FleetError,
                NodesError,
                RecoveryError,
                StartError,
                SuiteError,
            ) as error:
                sys.stderr.write(f"error: {name}: {error}\n")
                return 1
    write()
    write(f"Took {time.monotonic() - started:.0f} s.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
