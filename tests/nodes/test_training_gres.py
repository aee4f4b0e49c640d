"""On nodes with GRES a job is requeued where one without is retried by step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hyperpod_constructs.local.nodes import Image, NodeSpec
from tests.examples.jobs import assert_undisturbed
from tests.nodes.training import Training, complete_without_power, training_cluster


@pytest.fixture(scope="module")
def training(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Training]:
    with training_cluster(tmp_path_factory.mktemp("rig"), image, NodeSpec("gpus", "Compute", 2, gpus=2)) as made:
        yield made


def test_job_with_gres_is_requeued_when_a_node_is_lost(training: Training) -> None:
    undisturbed = training.undisturbed()
    job = training.submit("ddp/ddp.sbatch", "--gres=gpu:2", ARGUMENTS="--pause-seconds 0.2 --collective-seconds 5")
    records = complete_without_power(job, node=1)

    assert_undisturbed(records, undisturbed)
    assert {record["attempt"] for record in records} == {0, 1}
    assert min(record["step"] for record in records if record["attempt"] == 1) == 10
    assert "ResumeAction=REQUEUE" in job.text
    assert "RETRYSTEP" not in job.text
    assert job.restarts() == 1
