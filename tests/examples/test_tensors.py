"""Tensors as bytes: what comes back, and which bytes are refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.examples.jobs import EXAMPLES

CHECK = """
import json
import torch
from common.tensors import TYPES, pack, unpack

given = {f"a/{name}": torch.arange(6).reshape(2, 3).to(type) for name, type in TYPES.items()}
given |= {"scalar": torch.tensor(2.5), "empty": torch.empty(0, 4), "slice": torch.arange(8.0).reshape(4, 2).T}
found = unpack(pack(given))
assert list(found) == list(given)
for name, tensor in given.items():
    assert found[name].dtype == tensor.dtype and torch.equal(found[name], tensor), name

def make(header, data=b""):
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return bytearray(len(text).to_bytes(8, "little") + text + data)

def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}

data = bytes(8)
assert unpack(make({"__metadata__": {"by": "another writer"}, "x": entry()}, data))["x"].shape == (2,)
wrong = {
    "nothing": bytearray(),
    "a header that is cut off": bytearray((99).to_bytes(8, "little") + b"{}"),
    "a header without end": bytearray(b"\\xff" * 8),
    "a list": make([]),
    "no JSON": make(b"{x}"),
    "another type": make({"x": entry(dtype="code")}, data),
    "no type": make({"x": {}}, data),
    "a text": make({"x": "F32"}, data),
    "a negative size": make({"x": entry(shape=(-1, -2))}, data),
    "a size that is no number": make({"x": entry(shape=(2.0,))}, data),
    "a gap": make({"x": entry(offsets=(4, 12))}, bytes(12)),
    "an overlap": make({"x": entry(), "y": entry()}, data),
    "too little data": make({"x": entry(shape=(4,), offsets=(0, 16))}, data),
    "too much data": make({"x": entry()}, bytes(9)),
    "a size that does not fit": make({"x": entry(shape=(3,))}, data),
}
for what, bad in wrong.items():
    try:
        unpack(bad)
    except ValueError:
        continue
    raise AssertionError(what)
"""


def test_tensors_come_back_and_other_bytes_are_refused(torch_python: Path) -> None:
    done = subprocess.run([torch_python, "-c", CHECK], cwd=EXAMPLES, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
