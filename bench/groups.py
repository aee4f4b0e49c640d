"""Synthesis of clusters with 1, 10 and 100 instance groups, in one warm process, beside bare L1s of the same groups."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench import children

if TYPE_CHECKING:
    from aws_cdk import Stack

SIZES = (1, 10, 100)
_WARM_UPS = 2


@dataclass(frozen=True, slots=True)
class Growth:
    """Seconds per synthesis by number of groups, one list per size in `SIZES`."""

    library: dict[int, list[float]]
    bare: dict[int, list[float]]

    def per_group(self, few: int, many: int) -> float:
        """Seconds that one more group costs between two sizes."""
        return _slope(self.library, few, many)

    def bare_per_group(self, few: int, many: int) -> float:
        """The same for bare L1s."""
        return _slope(self.bare, few, many)


def _slope(seconds: dict[int, list[float]], few: int, many: int) -> float:
    return (statistics.median(seconds[many]) - statistics.median(seconds[few])) / (many - few)


def grow(repetitions: int) -> Growth:
    """Measure in a process of its own.

    :raises ChildError: for a process that fails.
    """
    variables = {**children.environment(), "CDK_VALIDATION": "false"}
    _, output = children.run([sys.executable, "-m", "bench.groups", str(repetitions)], variables)
    measured = json.loads(output)
    return Growth(*({int(size): values for size, values in measured[name].items()} for name in ("library", "bare")))


def _synthesize(build: Callable[[Stack, int], None], size: int) -> float:
    from aws_cdk import App, Stack

    target = tempfile.mkdtemp()
    try:
        started = time.perf_counter()
        app = App(outdir=target)
        build(Stack(app, "Stack"), size)
        app.synth()
        return time.perf_counter() - started
    finally:
        shutil.rmtree(target)


def _library(stack: Stack, size: int) -> None:
    from hyperpod_constructs import ClusterInstanceType, HyperPodCluster, InstanceGroup, LifecycleScripts, SlurmNodeType

    HyperPodCluster(
        stack,
        "Cluster",
        lifecycle_scripts=LifecycleScripts.none(),
        instance_groups=[
            InstanceGroup(
                name=f"group-{number}",
                instance_type=ClusterInstanceType.M5_XLARGE,
                count=1,
                node_type=SlurmNodeType.CONTROLLER if number == 0 else SlurmNodeType.COMPUTE,
            )
            for number in range(size)
        ],
    )


def _bare(stack: Stack, size: int) -> None:
    from aws_cdk.aws_iam import CfnRole
    from aws_cdk.aws_sagemaker import CfnCluster

    role = CfnRole(stack, "Role", assume_role_policy_document={"Version": "2012-10-17", "Statement": []})
    role_arn = role.attr_arn
    CfnCluster(
        stack,
        "Cluster",
        orchestrator=CfnCluster.OrchestratorProperty(slurm=CfnCluster.ClusterOrchestratorSlurmConfigProperty()),
        node_provisioning_mode="Continuous",
        node_recovery="Automatic",
        instance_groups=[
            CfnCluster.ClusterInstanceGroupProperty(
                instance_group_name=f"group-{number}",
                instance_type="ml.m5.xlarge",
                instance_count=1,
                execution_role=role_arn,
                slurm_config=CfnCluster.ClusterSlurmConfigProperty(
                    node_type="Controller" if number == 0 else "Compute",
                    partition_names=None if number == 0 else [f"group-{number}"],
                ),
            )
            for number in range(size)
        ],
    )


def main(repetitions: int) -> None:
    """Measure in this process and write the seconds as JSON."""
    builders = {"library": _library, "bare": _bare}
    for _ in range(_WARM_UPS):
        for build in builders.values():
            _synthesize(build, SIZES[0])
    seconds: dict[str, dict[int, list[float]]] = {name: {size: [] for size in SIZES} for name in builders}
    for _ in range(repetitions):
        for size in SIZES:
            for name, build in builders.items():
                seconds[name][size].append(_synthesize(build, size))
    sys.stdout.write(json.dumps(seconds))


if __name__ == "__main__":
    main(int(sys.argv[1]))
