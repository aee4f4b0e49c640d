"""Batch scripts among the files of nodes, against `sbatch` and the partitions of their cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.batch_scripts import read_batch
from hyperpod_constructs.analysis.texts.places import texts_with_mistakes
from hyperpod_constructs.facts.slurm_options import OF_SRUN, SBATCH, WITHOUT_VALUE
from tests.analysis.test_node_programs import UPLOADER, role
from tests.templates.models import model_of

JOB = """#!/bin/bash
#SBATCH --job-name=train  # a name
#SBATCH -p gpus
#SBATCH --nodes=4

#SBATCH --exclusive
set -euo pipefail
srun --auto-resume=1 torchrun --nproc-per-node=8 /fsx/train.py --checkpoint-dir /fsx/checkpoints
"""
PARAMETERS = {
    "workload_manager": "slurm",
    "controller_group": "head",
    "worker_groups": [
        {"instance_group_name": "gpu", "partition_name": "gpus"},
        {"instance_group_name": "cpu", "partition_name": "prep"},
        {"instance_group_name": "trn", "partition_name": "neuron"},
    ],
}
TYPES = {"head": "ml.m5.xlarge", "gpu": "ml.p5.48xlarge", "cpu": "ml.c5.9xlarge", "trn": "ml.trn1.32xlarge"}


def said(job: str, files: dict[str, Any] | None = None, counts: Any = 4, **cluster: Any) -> list[str]:
    """The mistakes in a cluster whose nodes get this job."""
    texts = {"start.sh": "#!/bin/bash\ntrue\n", "provisioning_parameters.json": json.dumps(PARAMETERS), "a.sbatch": job}
    scripts = {"ServiceToken": {"Fn::GetAtt": ["Uploader", "Arn"]}, "Bucket": {"Ref": "Bucket"}, "Prefix": "a"}
    code = {"Runtime": "python3.13", "Handler": "index.handler", "Code": {"ZipFile": UPLOADER}}
    groups = [
        {
            "InstanceGroupName": name,
            "InstanceType": kind,
            "InstanceCount": counts,
            "ExecutionRole": {"Fn::GetAtt": ["Role", "Arn"]},
            "LifeCycleConfig": {"SourceS3Uri": {"Fn::GetAtt": ["Scripts", "Uri"]}, "OnCreate": "start.sh"},
        }
        for name, kind in TYPES.items()
    ]
    resources: dict[str, Any] = {
        "Bucket": {"Type": "AWS::S3::Bucket"},
        "Role": role(),
        "Uploader": {"Type": "AWS::Lambda::Function", "Properties": code},
        "Scripts": {"Type": "Custom::Scripts", "Properties": {**scripts, "Files": {**texts, **(files or {})}}},
        "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": groups, **cluster}},
    }
    model = model_of(json.dumps({"Parameters": {"Count": {"Type": "Number"}}, "Resources": resources}))
    found = [one for several in texts_with_mistakes(model).values() for one in several]
    assert {one.resource.logical_id for one in found} <= {"Scripts"}
    return [one.slip.message for one in found]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("-p gpus", "-p gpu", "asks for partition gpu, which the cluster does not have; the nearest is gpus"),
        ("-p gpus", "-p gpus,gpu", "asks for partition gpu,"),
        ("-p gpus", "--partition=gpus,prep", None),
        ("-p gpus", "-p dev", None),
        ("#SBATCH -p gpus\n", "", None),
        ("--nodes=4", "--nodes=5", "asks for 5 nodes, and its partition has 4: it never starts"),
        ("--nodes=4", "-N5-6", "asks for 5 nodes"),
        ("--nodes=4", "-N 2-6", None),
        ("-p gpus\n#SBATCH --nodes=4", "-p dev --nodes=12", None),
        ("-p gpus\n#SBATCH --nodes=4", "-p dev --nodes=13", "asks for 13 nodes, and its partition has 12"),
        ("-p gpus\n#SBATCH --nodes=4", "-p gpus,prep --nodes=5", None),
        ("--exclusive", "hetjob\n#SBATCH --nodes=9", None),
        ("--exclusive", "--auto-resume=1", "gives sbatch --auto-resume in line 6, which only srun has"),
        ("--exclusive", "--label", "gives sbatch --label"),
        ("--exclusive", "--gpu-per-node=8", "which it does not have; the nearest is --gpus-per-node"),
        ("--exclusive", "-l", "gives sbatch -l in line 6, which it does not have"),
        ("--exclusive", "--exclus --container-image=a.sqsh --own-plugin", None),
        ("--exclusive", "--gpus-per-node=8", None),
        ("--exclusive", "--gpus-per-node=h100:9", "asks for 9 GPUs of each node, and a node of its partition has 8"),
        ("--exclusive", "--gres=gpu:9,lustre", "asks for 9 GPUs"),
        ("--exclusive", "--gres=nvme:9", None),
        ("-p gpus", "-p prep --gpus-per-node=1", "asks for 1 GPUs of each node, and a node of its partition has 0"),
        ("-p gpus", "-p neuron --gpus-per-node=1", None),
        ("per-node=8", "per-node=16", "has torchrun start 16 processes on each node in line 8, and a node has 8 GPUs"),
        ("per-node=8", "per-node 16", "start 16 processes"),
        ("--nproc-per-node=8", "--nproc_per_node=16", "start 16 processes"),
        ("per-node=8", "per-node=gpu", None),
        ("per-node=8", 'per-node="$GPUS"', None),
        ("set -euo pipefail", "GPUS=9\ntorchrun --nproc-per-node=$GPUS a.py", "start 9 processes"),
        ("torchrun", "mpirun", None),
        ("-p gpus", "-p prep", None),
        ("-p gpus\n", "-p neuron\n#SBATCH --comment=x\n", None),
        (
            "/fsx/checkpoints",
            "/tmp/checkpoints",
            "resumes from /tmp/checkpoints in line 8, which is gone with a node that is replaced",
        ),
        ("/fsx/checkpoints", "/opt/sagemaker/ckpt", "resumes from /opt/sagemaker/ckpt"),
        ("/fsx/checkpoints", "/tmp/ckpt --ckpt-copy /fsx/ckpt", None),
        ("/fsx/checkpoints", "/tmp/ckpt\naws s3 sync /tmp/ckpt s3://a", None),
        ("--auto-resume=1 torchrun --nproc-per-node=8 /fsx/train.py --checkpoint-dir /fsx", "python3 a.py --ckpt /tmp", None),
        ("#SBATCH -p", "set -x\n#SBATCH -p", "has --partition in line 4 behind its first command, where sbatch passes over it"),
        ("#SBATCH -p", "# a comment\n  # another\n#SBATCH -p", None),
        ("#SBATCH -p gpus", "##SBATCH -p gpu\n # SBATCH -p none", None),
        ("set -euo", "cat > b.sbatch <<'EOF'\n#!/bin/bash\n#SBATCH --nodes=99\nEOF\nset -euo", None),
        ("set -euo", 'echo "\n#SBATCH --nodes=99\n" > b.sbatch\nset -euo', None),
    ],
)
def test_jobs_are_what_sbatch_and_their_cluster_take(old: str, new: str, message: str | None) -> None:
    assert old in JOB
    found = said(JOB.replace(old, new, 1) if old else JOB)
    assert [message in one for one in found] == [True] if message else found == []


def test_what_is_not_known_is_believed() -> None:
    many = JOB.replace("--nodes=4", "--nodes=40")
    assert len(said(many)) == 1
    assert said(many, counts={"Ref": "Count"}) == []
    assert said(many, {"own.sh": "#!/bin/bash\necho PartitionName=gpus >> /opt/slurm/etc/slurm.conf\n"}) == []
    assert said(many, {"provisioning_parameters.json": None}) == []
    assert said(many.replace("#!/bin/bash", "#!/usr/bin/env python3")) == []
    assert said(many, Orchestrator={"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/a"}}) == []


def test_options_are_read_as_sbatch_reads_them() -> None:
    found = read_batch("#!/bin/bash\n#SBATCH -N2 -J 'a b' --time 1:00 --no-kill --mem=1G --requeu # --nodes=3\n")
    assert found is not None
    assert [(one.name, one.value) for one in found.options] == [
        ("nodes", "2"),
        ("job-name", "a b"),
        ("time", "1:00"),
        ("no-kill", ""),
        ("mem", "1G"),
        ("requeue", ""),
    ]
    assert read_batch("#!/bin/bash\necho '#SBATCH'\n") is None
    assert read_batch("#SBATCH --comment='open\n") == read_batch("#SBATCH\n")


def test_options_are_those_of_one_program() -> None:
    assert SBATCH.isdisjoint(OF_SRUN)
    assert SBATCH >= WITHOUT_VALUE
