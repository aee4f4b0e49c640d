"""What lies below mounts of nodes, the files that programs read and start, and what they fetch from the internet."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.entry_points import lacking
from hyperpod_constructs.analysis.texts.places import texts_with_mistakes
from tests.analysis.node_states import said
from tests.analysis.test_node_programs import FILES, made

START = """#!/bin/bash
set -euo pipefail
source ./env.sh
bash mount.sh
python3 users.py users.csv
"""
ENV = "export HOMES_PATH=/homes\n"
MOUNT = """#!/bin/bash
set -euo pipefail
mkdir -p /homes /fsx
mount -t nfs fs.example.com:/fsx/homes "$HOMES_PATH"
mount -t lustre 10.0.0.1@tcp:/abc /fsx
"""
USERS = """
import os
import sys
from pathlib import Path

homes = Path(os.environ["HOMES_PATH"])
for name in open(sys.argv[1]):
    (homes / name).mkdir(exist_ok=True)
"""
BATCH = "#!/bin/bash\n#SBATCH --output=/fsx/%j.out\nsrun true\n"
ALL = {"start.sh": START, "env.sh": ENV, "mount.sh": MOUNT, "users.py": USERS, "users.csv": "ana\n", "job.sbatch": BATCH}


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("start.sh", "", "", None),
        (
            "start.sh",
            "bash mount.sh\npython3 users.py users.csv",
            "python3 users.py users.csv\nbash mount.sh",
            "starts users.py, which writes below /homes, before mount.sh, which mounts a file system there",
        ),
        ("start.sh", "bash mount.sh\npython3 users.py", "python3 users.py users.csv\npython3 users.py", None),
        ("env.sh", "/homes", "/users", None),
        ("job.sbatch", "/fsx", "/scratch", "writes its output to /scratch/%j.out, and nobody mounts or makes /scratch"),
        ("job.sbatch", "/fsx", "/var/log", None),
        ("job.sbatch", "/fsx/", "", None),
        ("mount.sh", "abc /fsx", "abc $OTHER", "takes the variable OTHER"),
        ("start.sh", "bash mount.sh", "./mount.sh", "starts ./mount.sh: files from S3 have no bit by which they run"),
        ("start.sh", "bash mount.sh", "chmod +x mount.sh\n./mount.sh", None),
        ("start.sh", "bash mount.sh", "chmod +x *.sh\n./mount.sh", None),
        ("start.sh", "bash mount.sh", "chmod 755 other.sh\n./mount.sh", "starts ./mount.sh"),
    ],
)
def test_what_lies_below_mounts(name: str, old: str, new: str, message: str | None) -> None:
    assert old in ALL[name]
    found = said({**ALL, name: ALL[name].replace(old, new) if old else ALL[name]})
    assert [message in one[1] for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, None),
        ({"users.csv": None}, "users.py reads users.csv, which nobody uploads"),
        ({"users.csv": None, "data/users.csv": "ana\n"}, "users.py reads users.csv; data/users.csv is in another folder"),
        ({"users.csv": None, "mount.sh": f"{MOUNT}echo ana > users.csv\n"}, None),
        ({"users.csv": None, "mount.sh": f"{MOUNT}aws s3 cp s3://other-bucket/a/ . --recursive\n"}, None),
        ({"users.csv": None, "users.py": USERS.replace("sys.argv[1]", "sys.argv[1], 'w'")}, None),
    ],
)
def test_programs_find_the_files_that_they_read(changes: dict[str, str | None], message: str | None) -> None:
    model = made({**dict.fromkeys(FILES), **ALL, **changes})
    found = [one.message for one in lacking(clusters(model)[0].groups[0])]
    assert [message in one for one in found] == [True] if message else found == []


def exported(options: list[str], mount: str, parent: Any = None) -> list[str]:
    """What is said of a volume with these options that a script mounts."""
    configuration = {
        "ParentVolumeId": parent or {"Fn::GetAtt": ["Homes", "RootVolumeId"]},
        "NfsExports": [{"ClientConfigurations": [{"Clients": "*", "Options": options}]}],
    }
    more = {
        "Homes": {"Type": "AWS::FSx::FileSystem", "Properties": {"FileSystemType": "OPENZFS"}},
        "Volume": {
            "Type": "AWS::FSx::Volume",
            "Properties": {"Name": "homes", "VolumeType": "OPENZFS", "OpenZFSConfiguration": configuration},
        },
    }
    files = {**dict.fromkeys(FILES), **ALL, "mount.sh": MOUNT.replace("fs.example.com:/fsx/homes", mount)}
    texts = texts_with_mistakes(made(files, more=more))
    return [one.slip.message for several in texts.values() for one in several if "volume" in one.slip.message]


@pytest.mark.parametrize(
    ("options", "mount", "is_wrong"),
    [
        (["rw", "root_squash"], "${Homes.DNSName}:/fsx/homes", True),
        (["rw", "all_squash"], "${Homes.DNSName}:/fsx/homes/", True),
        (["rw", "no_root_squash"], "${Homes.DNSName}:/fsx/homes", False),
        (["rw", "root_squash"], "${Homes.DNSName}:/fsx/others", False),
        (["rw", "root_squash"], "fs.example.com:/fsx/homes", False),
    ],
)
def test_root_may_write_to_what_it_mounts(options: list[str], mount: str, is_wrong: bool) -> None:
    assert bool(exported(options, mount)) is is_wrong


def network(*, gateway: bool) -> dict[str, Any]:
    """A network without a route to the internet, with a gateway beside it or without."""
    more = {"Gateway": {"Type": "AWS::EC2::InternetGateway"}} if gateway else {}
    return {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/20"}},
        "Table": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
        "Tie": {
            "Type": "AWS::EC2::SubnetRouteTableAssociation",
            "Properties": {"SubnetId": {"Ref": "Subnet"}, "RouteTableId": {"Ref": "Table"}},
        },
        "Group": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "a", "VpcId": {"Ref": "Vpc"}}},
        **more,
    }


@pytest.mark.parametrize(
    ("command", "host"),
    [
        ("apt-get update && apt-get install -y jq", "the archive of Ubuntu"),
        ("apt-get install -y ./a.deb", None),
        ("command -v jq || apt-get install -y jq", None),
        ("apt-get install -y jq || true", None),
        ("echo 'deb [trusted=yes] http://mirror/ /' > /etc/apt/sources.list.d/a.list\napt-get update", None),
        ("pip install torch", "the index of Python packages"),
        ("python3 -m pip install torch", "the index of Python packages"),
        ("pip install --no-index --find-links /opt/wheels torch", None),
        ("enroot import -o /opt/a.sqsh docker://nvcr.io#nvidia/pytorch:25.09-py3", "nvcr.io"),
        ("enroot import docker://ubuntu", "Docker Hub"),
        ("enroot import dockerd://ubuntu", None),
        ("docker pull 111122223333.dkr.ecr.us-east-1.amazonaws.com/a:1", None),
        ("docker pull ghcr.io/a/b:1", "ghcr.io"),
        ("curl -fsSL -o /opt/a https://github.com/a/b", "github.com"),
        ("curl -fsSL https://sts.us-east-1.amazonaws.com", None),
        ("export HTTPS_PROXY=http://10.0.0.9:3128\npip install torch", None),
        ("snap install jq", "the store of snaps"),
        ("git clone https://github.com/a/b", "github.com"),
    ],
)
def test_what_is_fetched_in_a_closed_network(command: str, host: str | None) -> None:
    files = {**dict.fromkeys(FILES), "start.sh": f"#!/bin/bash\nset -e\n{command}\n"}
    place: dict[str, Any] = {"VpcConfig": {"Subnets": [{"Ref": "Subnet"}], "SecurityGroupIds": [{"Ref": "Group"}]}}
    for gateway in (False, True):
        texts = texts_with_mistakes(made(files, more=network(gateway=gateway), **place))
        found = [one.slip.message for several in texts.values() for one in several if "fetches" in one.slip.message]
        wanted = [] if host is None or gateway else [f"fetches from {host} in line 3"]
        assert [wanted[0] in one for one in found] == [True] if wanted else found == [], json.dumps(found)
