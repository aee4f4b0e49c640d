"""Writes `hyperpod_constructs/facts/instance_types.tsv`, the facts of each HyperPod instance type, and its attribute of
`ClusterInstanceType`, which an editor completes.

Names come from the enumeration `ClusterInstanceType` in botocore's SageMaker model. Facts come from moto's EC2 instance data
(Apache-2.0, recorded from `DescribeInstanceTypes`). Missing or wrong facts stand in the tables below, with their source. An unknown
fact stays `None`.

    python tools/generate_instance_facts.py              # writes the table and the attributes
    python tools/generate_instance_facts.py --check      # exits 1 if one of them is stale
    python tools/generate_instance_facts.py --models DIR # names from that botocore data folder instead of the installed one
"""

from __future__ import annotations

import argparse
import gzip
import importlib.metadata
import importlib.util
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = Path(__file__).resolve().parent.parent / "hyperpod_constructs"
TABLE = PACKAGE / "facts" / "instance_types.tsv"
CLASS = PACKAGE / "cluster" / "instance_type.py"
MOTO_VERSION = "5.2.5"
MODEL_VERSION = "1.44.5"
DATE = "2026-11-21"
"""The day on which these versions were reviewed: set it together with them."""

ATTRIBUTES_MARK = "# The API's names, in its order"
_ATTRIBUTE = re.compile(r"    [A-Z0-9_]+: ClassVar\[ClusterInstanceType\]$")

# Names in the model MODEL_VERSION, which the installed botocore may lack.
NEWEST_NAMES = ("ml.c8a.16xlarge", "ml.m8a.16xlarge")


class Facts(NamedTuple):
    """One row of the table, in the order of its columns. `gib`: of each accelerator; `disk_gb`: of each disk of the local NVMe."""

    vcpus: int | None = None
    memory_gib: float | None = None
    cores: int | None = None
    threads_per_core: int | None = None
    network_cards: int | None = None
    efa_interfaces: int | None = None
    kind: str | None = None
    accelerator: str | None = None
    accelerators: int | None = None
    gib: float | None = None
    disks: int | None = None
    disk_gb: int | None = None


class Correction(NamedTuple):
    """Facts that replace moto's, or that moto lacks."""

    facts: dict[str, Any]
    source: str


CORRECTIONS: dict[str, Correction] = {
    "ml.p6e-gb200.36xlarge": Correction(
        {"vcpus": 144, "memory_gib": 960.0, "kind": "gpu", "accelerator": "GB200", "accelerators": 4},
        "aws/sagemaker-hyperpod-cli, src/sagemaker/hyperpod/training/constants.py (INSTANCE_RESOURCES). Its 0 for EFA "
        "contradicts the Helm chart of the same repository, so EFA and network cards stay unknown",
    ),
    "ml.trn2.3xlarge": Correction(
        {"gib": 96.0},
        "AWS Neuron documentation, Amazon EC2 Trn2 Architecture: 1,536 GiB on 16 Trainium2 chips, so 96 GiB on each; "
        "moto's 512 GiB per chip cannot be",
    ),
    "ml.trn2.48xlarge": Correction(
        {"gib": 96.0},
        "AWS Neuron documentation, Amazon EC2 Trn2 Architecture: 1,536 GiB on 16 Trainium2 chips; moto's 512 GiB per "
        "chip cannot be",
    ),
}


TAB = "\t"
HEADER = f"""\
# Instance types of HyperPod and their facts, as of {DATE}. Written by tools/generate_instance_facts.py: do not edit.
# Names: the enumeration ClusterInstanceType in botocore {MODEL_VERSION}. Facts: EC2 instance data of moto {MOTO_VERSION}
# (Apache-2.0), with the corrections in the generator, each with its source. "-" is unknown or not there; no disks are 0.
# name, {", ".join(Facts._fields)}
"""


def names(models: Path | None = None) -> list[str]:
    """The API's names in its order, from the model in `models` or the installed botocore, with the newest names."""
    folder = (models if models is not None else _package("botocore") / "data") / "sagemaker" / "2017-07-24"
    model = json.loads(gzip.decompress((folder / "service-2.json.gz").read_bytes()))
    known: list[str] = model["shapes"]["ClusterInstanceType"]["enum"]
    return known + [name for name in NEWEST_NAMES if name not in known]


def facts(name: str, recorded: dict[str, Any]) -> Facts:
    """The row of one type: moto's facts with the corrections."""
    entry = recorded.get(name.removeprefix("ml."))
    row = Facts() if entry is None else _recorded_facts(entry)
    return row._replace(**CORRECTIONS[name].facts) if name in CORRECTIONS else row


def render(models: Path | None = None) -> str:
    """The text of the table.

    :raises RuntimeError: if the installed moto is not the reviewed version.
    """
    installed = importlib.metadata.version("moto")
    if installed != MOTO_VERSION:
        raise RuntimeError(f"the table was reviewed with moto {MOTO_VERSION}, found {installed}: review, then set it")
    source = _package("moto") / "ec2" / "resources" / "instance_types.json.gz"
    recorded = json.loads(gzip.decompress(source.read_bytes()))
    rows = [(name, *("-" if fact is None else str(fact) for fact in facts(name, recorded))) for name in names(models)]
    return HEADER + "".join(f"{TAB.join(row)}\n" for row in rows)


def with_attributes(source: str, models: Path | None = None) -> str:
    """The source of `ClusterInstanceType` with an attribute for every name of the API."""
    lines = [line for line in source.splitlines(keepends=True) if not _ATTRIBUTE.match(line)]
    mark = next(position for position, line in enumerate(lines) if ATTRIBUTES_MARK in line)
    attributes = [f"    {_attribute(name)}: ClassVar[ClusterInstanceType]\n" for name in names(models)]
    return "".join([*lines[: mark + 1], *attributes, *lines[mark + 1 :]])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="write the table of instance facts, and the attributes of the types")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 if the table or the attributes are stale")
    parser.add_argument("--models", type=Path, help="a botocore data folder to take the names from")
    options = parser.parse_args(arguments)
    written = CLASS.read_text(encoding="utf-8")
    texts = {TABLE: render(options.models), CLASS: with_attributes(written, options.models)}
    if not options.check:
        for file, text in texts.items():
            file.write_text(text, encoding="utf-8", newline="\n")
        return 0
    stale = [file.name for file, text in texts.items() if file.read_text(encoding="utf-8") != text]
    if stale:
        sys.stderr.write(f"{', '.join(stale)} is stale: run python tools/{Path(__file__).name}\n")
    return 1 if stale else 0


def _attribute(name: str) -> str:
    return name.removeprefix("ml.").replace(".", "_").replace("-", "_").upper()


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{name} is not installed")
    return Path(spec.origin).parent


def _recorded_facts(entry: dict[str, Any]) -> Facts:
    processor, network = entry["VCpuInfo"], entry["NetworkInfo"]
    return Facts(
        vcpus=processor["DefaultVCpus"],
        memory_gib=_gib(entry["MemoryInfo"]["SizeInMiB"]),
        cores=processor["DefaultCores"],
        threads_per_core=processor["DefaultThreadsPerCore"],
        network_cards=network["MaximumNetworkCards"],
        efa_interfaces=network["EfaInfo"]["MaximumEfaInterfaces"] if network["EfaSupported"] else 0,
        **_accelerators(entry),
        **_disks(entry),
    )


def _accelerators(entry: dict[str, Any]) -> dict[str, Any]:
    gpus = entry.get("GpuInfo", {}).get("Gpus", [])
    devices = gpus or entry.get("NeuronInfo", {}).get("NeuronDevices", [])
    if not devices:
        return {}
    (device,) = devices
    facts = {"accelerator": device["Name"], "accelerators": device["Count"], "gib": _gib(device["MemoryInfo"]["SizeInMiB"])}
    return {"kind": "gpu" if gpus else "neuron", **facts}


def _disks(entry: dict[str, Any]) -> dict[str, Any]:
    if not entry["InstanceStorageSupported"]:
        return {"disks": 0, "disk_gb": 0}
    (disks,) = entry["InstanceStorageInfo"]["Disks"]
    return {"disks": disks["Count"], "disk_gb": disks["SizeInGB"]}


def _gib(mebibytes: int) -> float:
    return round(mebibytes / 1024, 2)


if __name__ == "__main__":
    sys.exit(main())
