"""Whether this node has what the job is for: a Trainium1 device and the last software that trains on it. It imports no torch.

Sources, in the documentation of Neuron: "Announcing end of support for NxDT and NxD Core Training APIs" (stay on Neuron 2.28 with
PyTorch 2.9 for PyTorch/XLA), "Neuron no longer supports PyTorch/XLA for training starting with Neuron 2.30", and the notes on
archived pages (end of support as of Neuron 2.32).
"""

from __future__ import annotations

import os
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

FAMILIES = ("trn1", "trn1n")
DEVICE = Path("/dev/neuron0")
NEWEST = (2, 9)
RELEASES = (
    "this job is for Neuron 2.28 or older, with PyTorch/XLA 2.9 or older: later releases train on trn2 and trn3 only, "
    "and the support of PyTorch/XLA ended with Neuron 2.32"
)


def complaint(family: str, device: Path, installed: str | None) -> str | None:
    """What is missing on a node, if anything is."""
    if family not in FAMILIES:
        return f"this node is {family or 'of an unknown type'}: submit the job to a partition of trn1 nodes; {RELEASES}"
    if not device.exists():
        return f"this node has no Neuron device ({device}): submit the job to a partition of trn1 nodes; {RELEASES}"
    if installed is None:
        return f"there is no torch-neuronx for this Python: install that of Neuron 2.28; {RELEASES}"
    found = re.match(r"(\d+)\.(\d+)", installed)
    if found is None or (int(found[1]), int(found[2])) > NEWEST:
        return f"torch-neuronx is {installed}: install that of Neuron 2.28; {RELEASES}"
    return None


def installed_version() -> str | None:
    try:
        return version("torch-neuronx")
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    raise SystemExit(complaint(os.environ.get("INSTANCE_FAMILY", ""), DEVICE, installed_version()))
