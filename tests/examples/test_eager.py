"""Jobs start without torch's compiler, and code that compiles gets it whole."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.examples.jobs import EXAMPLES

# An optimizer and DistributedDataParallel, without the compiler; then a function that is compiled.
PROGRAM = """
import sys
import torch
from common import eager

def loaded():
    return "torch._dynamo.eval_frame" in sys.modules

eager.install()
torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
optimizer = torch.optim.AdamW(model.parameters())
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
disabled = torch.compiler.disable(lambda: torch.compiler.is_compiling())
assert disabled() is False
assert not loaded()

graphs = []
def backend(graph, inputs):
    graphs.append(graph)
    return graph.forward

@torch.compile(backend=backend)
def double(value):
    disabled()
    return value * 2

assert not loaded()
assert double(torch.ones(2)).tolist() == [2, 2]
assert double(torch.ones(2)).tolist() == [2, 2]
assert loaded()
assert len(graphs) == 1, graphs

import torch._dynamo.utils
assert torch._dynamo.utils is sys.modules["torch._dynamo.utils"] is torch._dynamo.eval_frame.utils
assert type(torch._dynamo) is type(sys)
optimizer.step()
torch.distributed.destroy_process_group()
"""
PART = """
import sys
import torch
from common import eager

eager.install()
import torch._dynamo.utils
assert torch._dynamo.utils is sys.modules["torch._dynamo.utils"] is torch._dynamo.eval_frame.utils
compiler, compile = torch._dynamo, torch.compile
eager.install()
assert sys.modules["torch._dynamo"] is torch._dynamo is compiler
assert torch.compile is compile
"""


def run(python: Path, program: str) -> None:
    done = subprocess.run([python, "-c", program], cwd=EXAMPLES, capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 0, done.stderr


def test_only_what_compiles_loads_the_compiler(torch_python: Path) -> None:
    run(torch_python, PROGRAM)


def test_a_part_of_the_compiler_loads_the_whole_once(torch_python: Path) -> None:
    run(torch_python, PART)
