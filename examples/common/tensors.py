"""Tensors as bytes, in the format of safetensors: a JSON header with types, shapes and offsets, then the data. None of it is code.

Source: https://huggingface.co/docs/safetensors/index#format
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

TYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
NAMES = {type: name for name, type in TYPES.items()}
MOST_HEADER = 100_000_000


def pack(tensors: Mapping[str, Tensor]) -> bytearray:
    header: dict[str, Any] = {}
    end = 0
    for name, tensor in tensors.items():
        start, end = end, end + tensor.nbytes
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    data = bytearray(8 + len(text) + end)
    data[:8] = len(text).to_bytes(8, "little")
    data[8 : 8 + len(text)] = text
    space = memoryview(data)[8 + len(text) :]
    for name, tensor in tensors.items():
        start, end = header[name]["data_offsets"]
        if end > start:
            space[start:end] = memoryview(tensor.detach().contiguous().cpu().reshape(-1).view(torch.uint8).numpy())
    return data


def unpack(data: bytearray) -> dict[str, Tensor]:
    """The tensors, which share the memory of `data`.

    :raises ValueError: for bytes in another format, of another length, or with offsets that do not follow each other.
    """
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(len(data) - 8, MOST_HEADER):
        raise ValueError(f"{len(data)} bytes with a header of {length}: not tensors, or cut off")
    header = json.loads(bytes(data[8 : 8 + length]))
    if not isinstance(header, dict):
        raise ValueError(f"the header is a {type(header).__name__}, not an object")
    found: dict[str, Tensor] = {}
    end = 0
    for name, entry in header.items():
        if name != "__metadata__":
            found[name], end = read(data, 8 + length, name, entry, end)
    if 8 + length + end != len(data):
        raise ValueError(f"{len(data) - 8 - length} bytes of data, but the header names {end}")
    return found


def read(data: bytearray, base: int, name: str, entry: Any, expected: int) -> tuple[Tensor, int]:
    try:
        kind, shape, (start, end) = TYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
        count = math.prod(shape)
        right = all(isinstance(size, int) and size >= 0 for size in [*shape, start, end])
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"tensor {name}: found {str(entry)[:200]}, not dtype, shape and data_offsets") from None
    if not right or start != expected or end - start != count * kind.itemsize or base + end > len(data):
        raise ValueError(f"tensor {name}: {str(entry)[:200]} does not fit to the {expected} bytes before it and the data")
    if count == 0:
        return torch.empty(shape, dtype=kind), end
    return torch.frombuffer(data, dtype=kind, count=count, offset=base + start).reshape(shape), end
