"""Model and optimizer in one file, for jobs with complete copies on every rank."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch import nn

NAME = "state.pt"


def collect(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict()}


def apply(state: dict[str, Any], model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])


def write_copy(directory: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> Callable[[], Iterable[Path]]:
    """Copy the state now, and write it later."""
    state = to_host(collect(model, optimizer))

    def write() -> Iterable[Path]:
        with (directory / NAME).open("wb") as file:
            torch.save(state, file)
        return [directory / NAME]

    return write


def load_state(directory: Path, model: nn.Module, optimizer: torch.optim.Optimizer, device: torch.device) -> None:
    apply(torch.load(directory / NAME, map_location=device, weights_only=True), model, optimizer)


def to_host(value: Any) -> Any:
    """A copy in host memory, which later steps do not change."""
    if isinstance(value, torch.Tensor):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, dict):
        return {key: to_host(item) for key, item in value.items()}
    if isinstance(value, list):
        return [to_host(item) for item in value]
    return copy.deepcopy(value)
