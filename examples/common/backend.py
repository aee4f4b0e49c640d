"""The communication backend of a job: SMDDP where it was made for, NCCL between other GPUs, gloo between CPUs."""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass

# Source: https://docs.aws.amazon.com/sagemaker/latest/dg/data-parallel-modify-sdp-pt.html
SMDDP = "smdistributed.dataparallel.torch.torch_smddp"
SMDDP_FAMILIES = ("p4d", "p4de")
NCCL = "cpu:gloo,cuda:nccl"


@dataclass(frozen=True, slots=True)
class Backend:
    name: str
    reason: str


def choose(family: str, gpu: bool) -> Backend:
    """The backend for nodes of a family, such as p4d. SMDDP registers itself with torch when its module is imported."""
    if not gpu:
        return Backend("gloo", "this node has no GPU")
    if family not in SMDDP_FAMILIES:
        return Backend(NCCL, f"SMDDP is for {' and '.join(SMDDP_FAMILIES)}, this node is {family or 'of an unknown type'}")
    try:
        importlib.import_module(SMDDP)
    except (ImportError, OSError) as error:
        return Backend(NCCL, f"this node is {family}, but SMDDP does not import: {error}")
    return Backend("smddp", f"this node is {family}, and SMDDP imports")


def family() -> str:
    """The family of this node's type, as common/environment.sh finds it; empty where it was not sourced."""
    return os.environ.get("INSTANCE_FAMILY", "")
