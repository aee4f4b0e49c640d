"""Texts, commands, jobs and prologs of Slurm among the files of nodes: mistakes are named, and their neighbours are silent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.places import texts_with_mistakes
from hyperpod_constructs.analysis.texts.slurm_limits import minutes
from tests.analysis.test_node_programs import UPLOADER, role
from tests.templates.models import model_of

FILES = {
    "start.sh": """#!/bin/bash
set -euo pipefail
mkdir -p /opt/ours
install -m 0755 prolog.sh /opt/ours/prolog.sh
install -m 0755 epilog.sh /opt/ours/epilog.sh
python3 conf.py
bash accounting.sh
systemctl restart slurmctld
bash accounts.sh
aws s3 cp s3://bucket/a.sqsh /fsx/images/a.sqsh
cat > /etc/systemd/system/slurmd.service.d/a.conf <<CONF
[Service]
Environment="SLURMD_OPTIONS=--conf-server $1:6817"
CONF
""",
    "conf.py": """
import os
from pathlib import Path
values = {"@HEAD@": "head", "@NODES@": "a,b"}
def filled(name):
    text = Path(name).read_text()
    for key, value in values.items():
        text = text.replace(key, value)
    return text
def put(name, text):
    Path("/opt/slurm/etc", name).write_text(text)
line = "NodeName=a" + f" Gres=gpu:h100:{os.environ['COUNT']}"
put("slurm.conf", line + filled("ours.conf"))
put("gres.conf", filled("gres.conf"))
put("cgroup.conf", "ConstrainCores=yes\\nConstrainDevices=yes\\n")
put("plugstack.conf", "required /usr/local/lib/slurm/spank_pyxis.so\\n")
""",
    "ours.conf": """# ours
AccountingStorageHost=@HEAD@
AccountingStoragePort=6819
AccountingStorageEnforce=associations,limits,qos
AccountingStorageTRES=gres/gpu
TaskPlugin=task/affinity,task/cgroup
GresTypes=gpu
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PreemptType=preempt/qos
PreemptMode=REQUEUE
Prolog=/opt/ours/prolog.sh
Epilog=/opt/ours/epilog.sh
PrologFlags=Alloc,Contain
SlurmUser=slurm
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmdTimeout=300
""",
    "gres.conf": "NodeName=@NODES@ Name=gpu Type=h100 File=/dev/nvidia[0-7]\n",
    "agent.json": '{"file_path": "/var/log/slurm/slurmd.log"}',
    "accounting.sh": """#!/bin/bash
cat > /opt/slurm/etc/slurmdbd.conf <<CONF
DbdHost=head
DbdPort=6819
SlurmUser=slurm
PurgeJobAfter=12months
CONF
chown slurm:slurm /opt/slurm/etc/slurmdbd.conf
chmod 600 /opt/slurm/etc/slurmdbd.conf
systemctl restart slurmdbd
""",
    "accounts.sh": """#!/bin/bash
sacctmgr --immediate add account research Organization=ml
sacctmgr -i add qos long MaxWall=7-00:00:00 MaxTRESPerJob=node=8,gres/gpu=64
tail -n +2 users.csv | while IFS=, read -r name uid; do
  sacctmgr -i add user "$name" Account=research QOS=normal,long DefaultQOS=normal
done
""",
    "prolog.sh": """#!/bin/bash
mountpoint -q /fsx || exit 1
install -d -m 0700 -o "$SLURM_JOB_UID" "/local/scratch/$SLURM_JOB_ID" || exit 1
exit 0
""",
    "epilog.sh": """#!/bin/bash
rm -rf "/local/scratch/${SLURM_JOB_ID:?}"
exit 0
""",
    "check.sh": """#!/bin/bash
scontrol update NodeName="$(hostname -s)" State=DRAIN Reason="check: $1"
""",
    "a.sbatch": """#!/bin/bash
#SBATCH --partition=train
#SBATCH --account=research
#SBATCH --qos=long
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:h100:8
#SBATCH --time=6-00:00:00
#SBATCH --signal=B:USR1@300
#SBATCH --requeue
#SBATCH --output=/fsx/logs/%x-%j.out
trap 'scontrol requeue "$SLURM_JOB_ID"' USR1
MASTER_ADDR="$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)"
srun --container-image=/fsx/images/a.sqsh --container-mounts="/local/scratch/$SLURM_JOB_ID:/scratch" \\
  torchrun --nnodes="$SLURM_NNODES" --nproc-per-node=8 --rdzv-endpoint="$MASTER_ADDR:29500" /fsx/a.py &
wait "$!"
""",
}
PARAMETERS = {
    "workload_manager": "slurm",
    "controller_group": "head",
    "worker_groups": [{"instance_group_name": "gpu", "partition_name": "train"}],
}
TYPES = {"head": "ml.m5.xlarge", "gpu": "ml.p5.48xlarge"}


def said(files: dict[str, str]) -> list[str]:
    """The mistakes of a cluster whose nodes get these files."""
    texts = {"provisioning_parameters.json": json.dumps(PARAMETERS), **files}
    scripts = {"ServiceToken": {"Fn::GetAtt": ["Uploader", "Arn"]}, "Bucket": {"Ref": "Bucket"}, "Prefix": "a", "Files": texts}
    code = {"Runtime": "python3.13", "Handler": "index.handler", "Code": {"ZipFile": UPLOADER}}
    groups = [
        {
            "InstanceGroupName": name,
            "InstanceType": kind,
            "InstanceCount": 4,
            "ExecutionRole": {"Fn::GetAtt": ["Role", "Arn"]},
            "LifeCycleConfig": {"SourceS3Uri": {"Fn::GetAtt": ["Scripts", "Uri"]}, "OnCreate": "start.sh"},
        }
        for name, kind in TYPES.items()
    ]
    resources: dict[str, Any] = {
        "Bucket": {"Type": "AWS::S3::Bucket"},
        "Role": role(),
        "Uploader": {"Type": "AWS::Lambda::Function", "Properties": code},
        "Scripts": {"Type": "Custom::Scripts", "Properties": scripts},
        "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": groups}},
    }
    model = model_of(json.dumps({"Resources": resources}))
    return [one.slip.message for several in texts_with_mistakes(model).values() for one in several]


def edited(file: str, old: str, new: str) -> list[str]:
    """The mistakes behind an edit of one file, beside those of the files as they are."""
    assert old in FILES[file]
    return [one for one in said({**FILES, file: FILES[file].replace(old, new, 1)}) if one not in AS_THEY_ARE]


AS_THEY_ARE = said(FILES)


def test_the_files_as_they_are_have_no_mistake_of_slurm() -> None:
    assert AS_THEY_ARE == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("SlurmdTimeout=300", "SlurmdTimout=300", "which slurm.conf does not have; the nearest is SlurmdTimeout"),
        ("SlurmdTimeout=300", "SlurmdTimeout=5min", "gives SlurmdTimeout the value 5min, which is no number"),
        ("SlurmdTimeout=300", "SlurmdTimeout=INFINITE", None),
        ("cons_tres", "cons_tre", "gives SelectType the value select/cons_tre, which Slurm does not have"),
        ("select/cons_tres", "select/linear", "which cannot stand beside SelectType select/linear"),
        ("CR_Core", "CR_Core_Memory,CR_LLN", None),
        ("=REQUEUE", "=OFF", "has PreemptMode off, which cannot stand beside PreemptType preempt/qos"),
        ("=REQUEUE", "=SUSPEND,GANG", None),
        ("Alloc,Contain", "NoHold,Contain", "has PrologFlags contain, which cannot stand beside PrologFlags nohold"),
        ("Alloc,Contain", "Alloc,NoHold", None),
        ("TRES=gres/gpu", "TRES=gpu", "gives AccountingStorageTRES gpu, which is no resource that Slurm counts"),
        ("TRES=gres/gpu", "TRES=cpu,gres/gpu,gres/gpu:h100,fs/lustre", None),
        ("TRES=gres/gpu", "TRES=gres/gpus", "counts gres/gpus, and GresTypes has gpu"),
        ("SlurmUser=", "SlurmdSpoolDir=/fsx/spool\nSlurmUser=", "has SlurmdSpoolDir /fsx/spool on a file system of all nodes"),
        ("SlurmUser=", "SlurmdSpoolDir=/fsx/spool/%n\nSlurmUser=", None),
        ("SlurmUser=", "SlurmdSpoolDir=/var/spool/slurmd\nSlurmUser=", None),
        ("SlurmUser=", "StateSaveLocation=/dev/shm/ctld\nSlurmUser=", "below /dev/shm, which a boot empties"),
        ("SlurmUser=", "StateSaveLocation=/var/spool/ctld\nSlurmUser=", None),
        ("SlurmUser=", "DefMemPerCPU=1000\nDefMemPerNode=9000\nSlurmUser=", "which exclude each other"),
        ("SlurmUser=", "SlurmctldParameters=cloud_dns\nSlurmUser=", "without enable_configless"),
        ("SlurmUser=", "SlurmctldParameters=enable_configless,cloud_dns\nSlurmUser=", None),
        ("SlurmUser=", "SlurmctldParameters=enable_configles\nSlurmUser=", "the nearest is enable_configless"),
        ("SlurmUser=slurm", "SlurmUser=hpc", "has SlurmUser hpc, and slurmdbd.conf slurm"),
        ("Host=@HEAD@", "Host=localhost", "nodes that are not the controller have no slurmdbd there"),
        ("Host=@HEAD@", "Host=ip-10-0-0-1", None),
        ("Port=6819", "Port=6820", "look for slurmdbd at port 6820, and slurmdbd listens at 6819"),
        (",task/cgroup", "", "has TaskPlugin task/affinity without task/cgroup, which applies ConstrainCores"),
        ("GresTypes=gpu\n", "", "has no GresTypes with gpu, which nodes have"),
        ("GresTypes=gpu", "GresTypes=gpu,mps", None),
        (
            "Prolog=/opt/ours",
            "Prolog=/opt/slurm/etc",
            "prolog.sh is put at /opt/ours/prolog.sh",
        ),
        ("/var/log/slurm/slurmd.log", "/var/log/slurmd.log", "and other files of the nodes read /var/log/slurm/slurmd.log"),
    ],
)
def test_options_are_what_slurm_takes(old: str, new: str, message: str | None) -> None:
    found = edited("ours.conf", old, new)
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("gres.conf", "[0-7]", "[0-3]", "gives a node 4 GPUs, and an instance has 8"),
        ("gres.conf", "File=/dev/nvidia[0-7]", "Count=8", None),
        ("gres.conf", "@NODES@", "@HOSTS@", "has the mark @HOSTS@, and no program of the nodes fills it"),
        (
            "conf.py",
            'put("gres.conf", filled("gres.conf"))',
            'put("gres.conf", Path("gres.conf").read_text())',
            "@NODES@, and conf.py",
        ),
        ("conf.py", "gpu:h100:", "gpu:a100:", "gives nodes GPUs of type a100, and gres.conf those of type h100"),
        ("conf.py", "gpu:h100:", "gpu:h100:4,mps:", "has no GresTypes with mps"),
        (
            "conf.py",
            'put("plugstack.conf", "required /usr/local/lib/slurm/spank_pyxis.so\\n")',
            "# pyxis",
            "puts no plugstack.conf",
        ),
        ("conf.py", 'put("gres.conf", filled("gres.conf"))\n', "", "no program puts a gres.conf beside it"),
        ("start.sh", ":6817", ":6818", "at port 6818, the port of slurmd, and slurmctld serves it at 6817"),
        ("start.sh", ":6817", "", None),
        ("start.sh", "0755 prolog.sh", "0644 prolog.sh", "which is put there without the permission to run"),
        (
            *("start.sh", "bash accounting.sh\nsystemctl restart slurmctld", "systemctl start slurmctld\nbash accounting.sh"),
            "starts slurmctld, which enforces associations, before slurmdbd",
        ),
        (*("start.sh", "bash accounting.sh\n", "systemctl start slurmctld\nbash accounting.sh\n", None),),
        ("accounting.sh", "12months", "2years", "gives PurgeJobAfter the age 2years, which slurmdbd does not read"),
        ("accounting.sh", "12months", "24", None),
        ("accounts.sh", "sacctmgr -i add user", "sacctmgr add user", "has sacctmgr add in line 5 ask whether to commit"),
        ("accounts.sh", "sacctmgr -i add qos", "echo y | sacctmgr add qos", None),
        ("accounts.sh", "sacctmgr -i add qos", "sacctmgr -Qi add qos", None),
        ("accounts.sh", "normal,long", "normal", "asks for QOS long, and scripts let users use normal alone"),
        ("accounts.sh", "MaxWall=7-", "MaxWall=2-", "asks for the time 6-00:00:00, and qos long allows 2-00:00:00"),
        ("accounts.sh", "node=8", "node=2", "asks for 4 nodes, and qos long allows 2"),
        ("accounts.sh", "gpu=64", "gpu=16", "asks for 32 GPUs, and qos long allows 16"),
        ("accounts.sh", "account research", "account lab", "asks for account research, which no script makes"),
        ("check.sh", ' Reason="check: $1"', "", "and no reason: scontrol refuses it"),
        ("check.sh", 'State=DRAIN Reason="check: $1"', "State=RESUME", None),
        ("check.sh", 'State=DRAIN Reason="check: $1"', '"$@"', None),
    ],
)
def test_files_and_commands_agree(file: str, old: str, new: str, message: str | None) -> None:
    found = edited(file, old, new)
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("prolog.sh", ' -o "$SLURM_JOB_UID"', "", "as root, and the job of a user cannot write to it"),
        ("prolog.sh", '-m 0700 -o "$SLURM_JOB_UID"', "-m 1777", None),
        ("prolog.sh", ' -o "$SLURM_JOB_UID"', ' -o "$USER"', "takes USER, which prologs do not have"),
        ("prolog.sh", "/local/scratch", "/local/jobs", "/local/scratch/${SLURM_JOB_ID}, which nobody makes"),
        ("prolog.sh", "exit 0\n", "[[ -e /tmp/a ]] && rm /tmp/a\n", "ends with the status of '[[ -e /tmp/a ]]'"),
        ("prolog.sh", "exit 0\n", "[[ -e /tmp/a ]] && rm /tmp/a || true\n", None),
        ("prolog.sh", "exit 0\n", "mountpoint -q /fsx && test -d /fsx/a\n", None),
        (
            "epilog.sh",
            '"/local/scratch/${SLURM_JOB_ID:?}"',
            "/local/scratch/*",
            "with the folders of other jobs",
        ),
        ("epilog.sh", '"/local/scratch/${SLURM_JOB_ID:?}"', '"/local/scratch/$SLURM_JOB_ID" /tmp/*', "removes all that is in /tmp"),
        ("a.sbatch", "/fsx/logs/%x", "$HOME/logs/%x", "in which sbatch expands nothing"),
        ("a.sbatch", "/fsx/logs/%x", "~/logs/%x", "in which sbatch expands nothing"),
        ("a.sbatch", 'wait "$!"\n', "", "ends behind srun in the background: Slurm kills it with the job"),
        ("a.sbatch", 'wait "$!"\n', "echo started\nexit 0\n", "ends behind srun in the background"),
        ("a.sbatch", 'wait "$!"\n', "wait\necho done\n", None),
        (
            "a.sbatch",
            "ntasks-per-node=1",
            "ntasks-per-node=8",
            "starts 8 tasks on a node in line 15, each with 8 processes",
        ),
        ("a.sbatch", "ntasks-per-node=1", "ntasks=32", "starts 8 tasks on a node"),
        ("a.sbatch", "srun --container", "srun --ntasks-per-node=1 --container", None),
        ("a.sbatch", "B:USR1", "USR1", "which goes to the steps alone: its trap for USR1 never runs"),
        ("a.sbatch", "B:USR1", "RB:SIGUSR1", None),
        ("a.sbatch", "B:USR1", "TERM", None),
        ("a.sbatch", '/fsx/a.py &\nwait "$!"', "/fsx/a.py", "runs when the step has ended"),
        ("a.sbatch", "--requeue", "--no-requeue", "has scontrol requeue its job, which --no-requeue forbids"),
        ("a.sbatch", '"$MASTER_ADDR:29500"', "localhost:29500", "look for the others at localhost:29500"),
        ("a.sbatch", '"$MASTER_ADDR:29500"', '"$HOSTNAME:29500"', None),
        ("a.sbatch", 'nnodes="$SLURM_NNODES"', "nnodes=2", "has torchrun wait for 2 nodes in line 15, and the job has 4"),
        ("a.sbatch", 'nnodes="$SLURM_NNODES"', "nnodes=4", None),
        ("a.sbatch", "images/a.sqsh", "images/b.sqsh", "programs of the nodes put /fsx/images/a.sqsh there"),
        ("a.sbatch", "/fsx/images/a.sqsh", "/fsx/mine/b.sqsh", None),
        ("a.sbatch", "gpu:h100:8", "gpu:a100:8", "asks for GPUs of type a100, and nodes have h100: it never starts"),
        ("a.sbatch", "gpu:h100:8", "gpu:8", None),
    ],
)
def test_jobs_and_their_scripts_do_what_they_are_for(file: str, old: str, new: str, message: str | None) -> None:
    found = edited(file, old, new)
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("text", "value"),
    [("90", 90), ("90:30", 90.5), ("2:00:00", 120), ("1-0", 1440), ("1-2:30", 1590), ("1-00:00:30", 1440.5), ("UNLIMITED", None)],
)
def test_times_are_read_as_slurm_reads_them(text: str, value: float | None) -> None:
    assert minutes(text) == value
