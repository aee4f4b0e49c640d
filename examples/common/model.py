"""A small causal transformer over bytes, with sizes from a laptop's to a cluster's."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    layers: int
    width: int
    heads: int
    context: int
    vocabulary: int = 256


# The comment is the number of parameters; each takes three times four bytes of AdamW's state in float32.
SIZES = {
    "tiny": Size(layers=2, width=32, heads=2, context=32),  # 35 thousand
    "small": Size(layers=8, width=512, heads=8, context=64),  # 25 million
    "large": Size(layers=24, width=2048, heads=16, context=2048),  # 1.2 billion
    "7b": Size(layers=32, width=4096, heads=32, context=4096),  # 6.5 billion
}


def size_of(name: str) -> Size:
    if name not in SIZES:
        raise SystemExit(f"--model {name}: unknown, give one of {', '.join(SIZES)} or add a size to common/model.py")
    return SIZES[name]


class Block(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.attention_norm = nn.LayerNorm(size.width)
        self.project_in = nn.Linear(size.width, 3 * size.width)
        self.project_out = nn.Linear(size.width, size.width)
        self.network_norm = nn.LayerNorm(size.width)
        self.network = nn.Sequential(nn.Linear(size.width, 4 * size.width), nn.GELU(), nn.Linear(4 * size.width, size.width))

    def forward(self, hidden: Tensor) -> Tensor:
        hidden = hidden + self.attend(self.attention_norm(hidden))
        result: Tensor = hidden + self.network(self.network_norm(hidden))
        return result

    def attend(self, hidden: Tensor) -> Tensor:
        batch, length, width = hidden.shape
        split = self.project_in(hidden).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        attended: Tensor = self.project_out(mixed.transpose(1, 2).reshape(batch, length, width))
        return attended


class Transformer(nn.Module):
    """The model; it takes samples of context + 1 tokens and returns the mean loss of each sample."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.tokens = nn.Embedding(size.vocabulary, size.width)
        self.positions = nn.Parameter(0.02 * torch.randn(size.context, size.width))
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.norm = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, size.vocabulary, bias=False)

    def forward(self, samples: Tensor) -> Tensor:
        hidden = self.tokens(samples[:, :-1]) + self.positions
        for block in self.blocks:
            hidden = block(hidden)
        logits = self.head(self.norm(hidden)).float()
        loss = functional.cross_entropy(logits.flatten(0, 1), samples[:, 1:].flatten(), reduction="none")
        means: Tensor = loss.view(samples.shape[0], -1).mean(dim=1)
        return means


def build(name: str, seed: int, device: torch.device) -> Transformer:
    """The model with equal weights on every rank, from the seed alone; no broadcast is necessary."""
    torch.manual_seed(seed)
    model = Transformer(size_of(name))
    model.to(device)
    return model
