"""Cold synthesis of a preset against its floors: whole processes, as the CDK CLI starts them."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from bench import children
from bench.equality import differences
from bench.expressions import FloorError
from bench.figures import Cost, Pairs, interleave
from bench.floor import write_floor
from bench.untyped import differing_resources, write_untyped_floor

ACCOUNT, REGION, ZONE = "123456789012", "us-west-2", "usw2-az4"

SLURM, EKS = "announcement", "kubernetes"
#: What a user gives to each preset that is measured.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    SLURM: {"preset": SLURM, "availability_zone_id": ZONE},
    EKS: {
        "preset": EKS,
        "availability_zone_id": ZONE,
        "control_plane_zone_ids": "usw2-az1,usw2-az2",
        "chart": "stand-in",
    },
}

#: The CDK CLI's additions to the context of cdk.json.
_CLI_CONTEXT = {
    "aws:cdk:enable-path-metadata": True,
    "aws:cdk:enable-asset-metadata": True,
    "aws:cdk:disable-version-reporting": True,
    "aws:cdk:bundling-stacks": ["**"],
}


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs to compare, a directory for their output, and the preset of the app."""

    library: Path
    floor: Path
    untyped: Path
    directory: Path
    preset: str

    def synthesize(self, program: Path, *, validated: bool, rules: bool = True) -> Cost:
        """Cost of one cold synthesis into a fresh directory."""
        target = Path(mkdtemp(dir=self.directory))
        try:
            return _synthesize(program, target, self.preset, validated=validated, rules=rules)
        finally:
            shutil.rmtree(target)


@cache
def prepare(directory: Path, preset: str = SLURM) -> Programs:
    """Synthesize the app, write its floors, and prove that they emit the same (the untyped one only resources).

    The runs warm the machine's caches: compiled Python, jsii's unpacked packages. A second call with the same directory returns the
    same programs.

    :raises FloorError: for a floor that emits something else.
    """
    directory.mkdir(parents=True, exist_ok=True)
    library, floor = children.ROOT / "app.py", directory / "floor.py"
    reference, emitted = directory / "library.out", directory / "floor.out"
    untyped, bare = directory / "untyped.py", directory / "untyped.out"
    _synthesize(library, reference, preset, validated=False)
    floor.write_text(write_floor(reference), "utf-8")
    _synthesize(floor, emitted, preset, validated=False)
    found = differences(reference, emitted)
    if found:
        raise FloorError("the floor does not emit what the library emits:\n" + "\n".join(found))
    untyped.write_text(write_untyped_floor(reference), "utf-8")
    _synthesize(untyped, bare, preset, validated=False)
    other = differing_resources(reference, bare)
    if other:
        raise FloorError(f"the untyped floor does not emit what the library emits: {', '.join(other)}")
    return Programs(library, floor, untyped, directory, preset)


def compare(programs: Programs, floor: Path, pairs: int, *, validated: bool) -> Pairs:
    """Costs of the library and of a floor; `validated` leaves CDK's own template validation on."""
    return interleave(
        lambda: programs.synthesize(programs.library, validated=validated),
        lambda: programs.synthesize(floor, validated=validated),
        pairs,
    )


def resource_count(programs: Programs) -> int:
    """The number of resources that each program emits."""
    templates = (programs.directory / "library.out").glob("*.template.json")
    return sum(len(json.loads(file.read_text("utf-8"))["Resources"]) for file in templates)


def _synthesize(program: Path, target: Path, preset: str, *, validated: bool, rules: bool = True) -> Cost:
    context = json.loads((children.ROOT / "cdk.json").read_text("utf-8"))["context"]
    given = {**SETTINGS[preset], "hyperpod:rules": rules}
    variables = {
        **children.environment(),
        "CDK_OUTDIR": str(target),
        "CDK_CONTEXT_JSON": json.dumps({**context, **_CLI_CONTEXT, **given}),
        "CDK_DEFAULT_ACCOUNT": ACCOUNT,
        "CDK_DEFAULT_REGION": REGION,
        "CDK_VALIDATION": "true" if validated else "false",
    }
    return children.timed([sys.executable, str(program)], variables)
