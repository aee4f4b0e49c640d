"""One device mesh, by pipeline, data and tensor: each rank builds the shards of its own layers, and no others."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from llama.model import Block, Llama, Size, fill, sum_of_losses
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

NAMES = ("pp", "dp", "tp")
LONGEST_GRADIENT = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The ranks along each dimension: `pp` stages of layers, `dp` shares of the samples, `tp` parts of each matrix.

    Neighbouring ranks, which are on one node, share matrices; stages, which talk least, are farthest from each other.
    """

    pp: int
    dp: int
    tp: int

    def check(self, ranks: int, size: Size, global_batch: int, micro_batch: int) -> None:
        """Whether the model and the batch can be divided so."""
        if self.pp * self.dp * self.tp != ranks:
            raise SystemExit(
                f"--pp {self.pp} --dp {self.dp} --tp {self.tp}: {self.pp * self.dp * self.tp} ranks, but the job has {ranks}; "
                "change one of them, or leave out --dp for what remains"
            )
        if self.pp > size.layers:
            raise SystemExit(f"--pp {self.pp}: more stages than the {size.layers} layers of this model, give at most {size.layers}")
        for name, count in [("heads", size.heads), ("key_value_heads", size.key_value_heads), ("context", size.context)]:
            if count % self.tp:
                raise SystemExit(f"--tp {self.tp}: does not divide the {name} of this model, {count}; give a divisor")
        if global_batch % (self.dp * micro_batch):
            raise SystemExit(
                f"--global-batch {global_batch}: not a multiple of --dp {self.dp} times --micro-batch {micro_batch}, "
                f"give a multiple of {self.dp * micro_batch}"
            )
        passes = global_batch // (self.dp * micro_batch)
        if passes < self.pp:
            raise SystemExit(
                f"--pp {self.pp}: more stages than micro batches of a rank, {passes}; "
                f"give a --global-batch of at least {self.pp * self.dp * micro_batch}, or smaller micro batches"
            )

    def mesh(self, device: torch.device) -> DeviceMesh:
        return init_device_mesh(device.type, (self.pp, self.dp, self.tp), mesh_dim_names=NAMES)


def layers_of(size: Size, stages: int, stage: int) -> range:
    return range(size.layers * stage // stages, size.layers * (stage + 1) // stages)


def build(size: Size, mesh: DeviceMesh, seed: int, device: torch.device) -> Llama:
    """This rank's part of the model, made and divided layer by layer."""
    stages = mesh["pp"].size()
    # For sums over all shards of a parameter, such as the norm of the gradient.
    mesh["dp", "tp"]._flatten("shards")
    with torch.device("meta"):
        model = Llama(size, layers_of(size, stages, mesh.get_local_rank("pp")))
    options: dict[str, Any] = {
        "mesh": mesh["dp"],
        "mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16) if device.type == "cuda" else MixedPrecisionPolicy(),
        # A stage runs its layers once per micro batch: gathering them each time would cost more than it saves.
        "reshard_after_forward": stages == 1,
    }
    for name, part in model.parts():
        fill(part, name, seed, device)
        if mesh["tp"].size() > 1:
            # Each rank takes its part of equal values: nothing is sent.
            parallelize_module(part, mesh["tp"], plan_of(name), src_data_rank=None)
        if isinstance(part, Block):
            fully_shard(part, **options)
    fully_shard(model, **options)
    return model


def plan_of(name: str) -> Any:
    """How tensor parallelism divides a part: matrices by heads or hidden values, and what lies between them by positions."""
    plans: dict[str, Any] = {
        "embedding": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "norm": SequenceParallel(),
        "output": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False),
        "layers": {
            "attention_norm": SequenceParallel(),
            "attention": PrepareModuleInput(input_layouts=(Shard(1), None), desired_input_layouts=(Replicate(), None)),
            "attention.wq": ColwiseParallel(),
            "attention.wk": ColwiseParallel(),
            "attention.wv": ColwiseParallel(),
            "attention.wo": RowwiseParallel(output_layouts=Shard(1)),
            "network_norm": SequenceParallel(),
            "network": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
            "network.w1": ColwiseParallel(),
            "network.w2": RowwiseParallel(output_layouts=Shard(1)),
            "network.w3": ColwiseParallel(),
        },
    }
    return plans[name.partition(".")[0]]


class Trainer:
    """Forward and backward passes of one step on this rank, and the step of the optimizer."""

    def __init__(self, model: Llama, optimizer: torch.optim.Optimizer, mesh: DeviceMesh, passes: int, device: torch.device) -> None:
        self.model = model
        self.optimizer = optimizer
        self.mesh = mesh
        self.passes = passes
        self.shares = mesh["dp"].size()
        self.tokens = 1
        self.stages, self.stage = mesh["pp"].size(), mesh.get_local_rank("pp")
        self.schedule = None
        if self.stages > 1:
            stage = PipelineStage(model, self.stage, self.stages, device, group=mesh["pp"].get_group())
            self.schedule = Schedule1F1B(stage, passes, loss_fn=self.loss, scale_grads=False)

    def step(self, rows: Tensor, total: int) -> Tensor:
        """This rank's part of the mean loss. The parts of all ranks add up to it.

        :param rows: the samples of this rank's share, each of context + 1 tokens.
        :param total: the samples of the step on all ranks.
        """
        self.tokens = total * (rows.shape[1] - 1)
        self.optimizer.zero_grad()
        with self.losses_by_parts():
            loss = self.run(rows[:, :-1], rows[:, 1:])
        clip(self.model, self.mesh)
        self.optimizer.step()
        counts = self.stage == self.stages - 1 and self.mesh.get_local_rank("tp") == 0
        return loss if counts else torch.zeros_like(loss)

    def losses_by_parts(self) -> AbstractContextManager[Any]:
        """Tensor parallelism divides logits by the vocabulary; so the loss is computed without gathering them."""
        return loss_parallel() if self.mesh["tp"].size() > 1 else nullcontext()

    def run(self, tokens: Tensor, targets: Tensor) -> Tensor:
        losses: list[Tensor] = []
        if self.schedule is None:
            self.accumulate(tokens, targets, losses)
        else:
            first, last = self.stage == 0, self.stage == self.stages - 1
            self.schedule.step(*([tokens] if first else []), target=targets if last else None, losses=losses if last else None)
        return sum((loss.detach() for loss in losses), torch.zeros((), device=tokens.device)) / self.shares

    def accumulate(self, tokens: Tensor, targets: Tensor, losses: list[Tensor]) -> None:
        assert isinstance(self.model, FSDPModule)
        pairs = list(zip(tokens.chunk(self.passes), targets.chunk(self.passes), strict=True))
        for number, (some, wanted) in enumerate(pairs):
            self.model.set_requires_gradient_sync(number == len(pairs) - 1)
            losses.append(self.loss(self.model(some), wanted))
            losses[-1].backward()

    def loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        """A part of the mean loss, times the shares of data: FSDP averages over them, but the loss is a sum over the batch."""
        total = sum_of_losses(logits, targets)
        return whole(total) * self.shares / self.tokens


def whole(value: Tensor) -> Tensor:
    return value.full_tensor() if isinstance(value, DTensor) else value


def clip(model: nn.Module, mesh: DeviceMesh) -> None:
    """Shorten the gradient of the whole model to LONGEST_GRADIENT."""
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    square = whole(get_total_norm(gradients)) ** 2
    if mesh["pp"].size() > 1:
        dist.all_reduce(square, group=mesh["pp"].get_group())
    clip_grads_with_norm_(model.parameters(), LONGEST_GRADIENT, square.sqrt())
