"""The Llama job learns the same under every mesh, and goes on under another one than wrote its checkpoint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.examples.jobs import EXAMPLES, QUICK

NEAR = 1e-4
STEPS, SAVED_AFTER = 4, 2


@pytest.fixture(scope="module")
def found(torch_python: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    directory = tmp_path_factory.mktemp("meshes")
    program = Path(__file__).with_name("llama_meshes.py")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "PYTHON", "COV"))}
    subprocess.run(  # noqa: S603
        [torch_python, program, data, directory],
        env={**environment, "PYTHONPATH": f"{EXAMPLES}:{QUICK}", "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"},
        check=True,
        stdout=sys.stderr,
    )
    return {path.stem: json.loads(path.read_text()) for path in directory.glob("*.json")}


@pytest.mark.parametrize("mesh", ["pp1-dp2-tp1", "pp1-dp1-tp2", "pp2-dp1-tp1", "pp2-dp1-tp2", "pp1-dp2-tp2"])
def test_losses_are_those_of_one_process(found: dict[str, Any], mesh: str) -> None:
    alone = found["losses"]["alone"]
    assert len(set(alone)) == STEPS, "nothing was learned"
    assert found["losses"][mesh] == pytest.approx(alone, abs=NEAR)


@pytest.mark.parametrize("mesh", ["pp1-dp2-tp1", "pp1-dp1-tp2", "pp2-dp1-tp1", "pp1-dp1-tp1"])
def test_checkpoint_of_two_stages_and_two_parts_loads_under_another_mesh(found: dict[str, Any], mesh: str) -> None:
    assert found["losses"][f"{mesh} resumed"] == pytest.approx(found["losses"]["alone"][SAVED_AFTER:], abs=NEAR)


def test_batch_inference_reads_the_checkpoint_without_ranks(found: dict[str, Any]) -> None:
    assert found["without_ranks"] == pytest.approx(found["losses"]["alone"][SAVED_AFTER], abs=NEAR)


def test_no_two_matrices_start_alike(found: dict[str, Any]) -> None:
    assert len(set(found["starts"])) == len(found["starts"]) == 16


def test_sizes_have_the_parameters_of_the_published_models(found: dict[str, Any]) -> None:
    assert found["sizes"] == {"tiny": 34_976, "7b": 6_738_415_616, "70b": 70_553_706_496}


def test_fails_with_a_sentence_for_a_mesh_that_does_not_fit(found: dict[str, Any]) -> None:
    fits, *refused = found["refused"]
    assert fits == "accepted"
    for sentence, words in zip(
        refused,
        [
            "--pp 2 --dp 2 --tp 1: 4 ranks, but the job has 8",
            "--pp 4: more stages than the 2 layers of this model, give at most 2",
            "--tp 16: does not divide the key_value_heads of this model, 8",
            "--global-batch 64: not a multiple of --dp 3 times --micro-batch 1, give a multiple of 3",
            "--pp 4: more stages than micro batches of a rank, 2; give a --global-batch of at least 8",
        ],
        strict=True,
    ):
        assert words in sentence
