"""Llama's architecture: normalised by root mean square, positions by rotation, grouped heads, gated network; no biases.

Any run of consecutive layers is a model of its own: a stage of a pipeline. Each parameter keeps its name in the whole model, and
its first value follows from that name and the seed. So no mesh changes a value, and no rank ever holds the whole model.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from common.data import mix
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

EPSILON = 1e-5
SPREAD = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    layers: int
    width: int
    hidden: int
    heads: int
    key_value_heads: int
    context: int
    vocabulary: int
    theta: float = 10_000.0


# "7b" is Llama 2 7B, "70b" Llama 3 70B; the comment is the number of parameters.
SIZES = {
    "tiny": Size(layers=2, width=32, hidden=64, heads=4, key_value_heads=2, context=32, vocabulary=256),  # 35 thousand
    "7b": Size(layers=32, width=4096, hidden=11008, heads=32, key_value_heads=32, context=4096, vocabulary=32_000),  # 6.7 billion
    "70b": Size(
        layers=80,
        width=8192,
        hidden=28672,
        heads=64,
        key_value_heads=8,
        context=8192,
        vocabulary=128_256,
        theta=500_000.0,
    ),  # 70.6 billion
}


def size_of(name: str) -> Size:
    if name not in SIZES:
        raise SystemExit(f"--model {name}: unknown, give one of {', '.join(SIZES)} or add a size to llama/model.py")
    return SIZES[name]


def rotation(size: Size, device: torch.device) -> tuple[Tensor, Tensor]:
    """The cosines and sines that turn each pair of a head's values by an angle that grows with the position."""
    half = size.width // size.heads // 2
    speeds = size.theta ** (-torch.arange(half, device=device) / half)
    angles = torch.outer(torch.arange(size.context, device=device), speeds)
    return angles.cos(), angles.sin()


def rotate(heads: Tensor, turned: tuple[Tensor, Tensor]) -> Tensor:
    cosine, sine = (part[: heads.shape[2]].to(heads.dtype) for part in turned)
    left, right = heads.chunk(2, dim=-1)
    return torch.cat((left * cosine - right * sine, left * sine + right * cosine), dim=-1)


class Attention(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.head_width = size.width // size.heads
        self.wq = nn.Linear(size.width, size.heads * self.head_width, bias=False)
        self.wk = nn.Linear(size.width, size.key_value_heads * self.head_width, bias=False)
        self.wv = nn.Linear(size.width, size.key_value_heads * self.head_width, bias=False)
        self.wo = nn.Linear(size.heads * self.head_width, size.width, bias=False)

    def forward(self, hidden: Tensor, turned: tuple[Tensor, Tensor]) -> Tensor:
        query, key, value = (self.split(project(hidden)) for project in (self.wq, self.wk, self.wv))
        mixed = functional.scaled_dot_product_attention(
            rotate(query, turned), rotate(key, turned), value, is_causal=True, enable_gqa=True
        )
        attended: Tensor = self.wo(mixed.transpose(1, 2).flatten(2))
        return attended

    def split(self, projected: Tensor) -> Tensor:
        """By heads; under tensor parallelism these are the heads of this rank."""
        return projected.unflatten(2, (-1, self.head_width)).transpose(1, 2)


class Network(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.w1 = nn.Linear(size.width, size.hidden, bias=False)
        self.w2 = nn.Linear(size.hidden, size.width, bias=False)
        self.w3 = nn.Linear(size.width, size.hidden, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        result: Tensor = self.w2(functional.silu(self.w1(hidden)) * self.w3(hidden))
        return result


class Block(nn.Module):
    """One layer. Its activations are computed again in the backward pass, so that only its input is kept."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(size.width, eps=EPSILON)
        self.attention = Attention(size)
        self.network_norm = nn.RMSNorm(size.width, eps=EPSILON)
        self.network = Network(size)

    def forward(self, hidden: Tensor, turned: tuple[Tensor, Tensor]) -> Tensor:
        result: Tensor = checkpoint(self.compute, hidden, turned, use_reentrant=False, preserve_rng_state=False)
        return result

    def compute(self, hidden: Tensor, turned: tuple[Tensor, Tensor]) -> Tensor:
        hidden = hidden + self.attention(self.attention_norm(hidden), turned)
        result: Tensor = hidden + self.network(self.network_norm(hidden))
        return result


class Llama(nn.Module):
    """The layers of a range: the first ones take tokens, the last ones give logits, and those between hand on what is hidden."""

    def __init__(self, size: Size, layers: range | None = None) -> None:
        super().__init__()
        layers = range(size.layers) if layers is None else layers
        self.size = size
        self.embedding = nn.Embedding(size.vocabulary, size.width) if layers.start == 0 else None
        self.layers = nn.ModuleDict({str(number): Block(size) for number in layers})
        last = layers.stop == size.layers
        self.norm = nn.RMSNorm(size.width, eps=EPSILON) if last else None
        self.output = nn.Linear(size.width, size.vocabulary, bias=False) if last else None

    def parts(self) -> Iterator[tuple[str, nn.Module]]:
        for name, part in [("embedding", self.embedding), ("norm", self.norm), ("output", self.output)]:
            if part is not None:
                yield name, part
        for number, block in self.layers.items():
            yield f"layers.{number}", block

    def forward(self, hidden: Tensor) -> Tensor:
        turned = rotation(self.size, hidden.device)
        if self.embedding is not None:
            hidden = self.embedding(hidden)
        for block in self.layers.values():
            hidden = block(hidden, turned)
        if self.norm is not None and self.output is not None:
            hidden = self.output(self.norm(hidden))
        return hidden


def fill(part: nn.Module, name: str, seed: int, device: torch.device) -> None:
    """Memory and first values for a part of the model that was made on the device "meta"."""
    part.to_empty(device=device)
    for inner, parameter in part.named_parameters():
        full = f"{name}.{inner}"
        if parameter.dim() == 1:
            nn.init.ones_(parameter)
        else:
            number = mix(seed, zlib.crc32(full.encode())) >> 1
            nn.init.normal_(parameter, std=SPREAD, generator=torch.Generator(device).manual_seed(number))


def fill_whole(model: Llama, seed: int, device: torch.device) -> None:
    for name, part in model.parts():
        fill(part, name, seed, device)


def sum_of_losses(logits: Tensor, targets: Tensor) -> Tensor:
    """Over all tokens of the samples."""
    return functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), reduction="sum")
