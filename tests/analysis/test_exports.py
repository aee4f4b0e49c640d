"""Homes of nodes on file systems of OpenZFS: the nodes write to them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.exports import WHOLES
from tests.analysis.test_node_programs import UPLOADER
from tests.templates.models import by_id, model_of

TEMPLATE = """
Resources:
  Homes:
    Type: AWS::FSx::FileSystem
    Properties:
      OpenZFSConfiguration:
        RootVolumeConfiguration:
          ReadOnly: {read_only}
          NfsExports: [{{ClientConfigurations: [{{Clients: "*", Options: [{option}, crossmnt]}}]}}]
  Cluster:
    Type: AWS::SageMaker::Cluster
    Properties:
      InstanceGroups:
        - InstanceStorageConfigs: [{{FsxOpenZfsConfig: {{DnsName: !GetAtt Homes.DNSName, MountPath: {path}}}}}]
"""


@pytest.mark.parametrize(
    ("read_only", "option", "path", "place"),
    [
        ("false", "rw", "/home", None),
        ("true", "rw", "/home", "ReadOnly"),
        ("true", "ro", "/home", "ReadOnly"),
        ("false", "ro", "/home", "Options"),
        ("true", "rw", "/models", None),
        ('!Equals [!Ref "AWS::StackName", a]', "rw", "/home", None),
    ],
)
def test_homes_are_written(read_only: str, option: str, path: str, place: str | None) -> None:
    system = by_id(model_of(TEMPLATE.format(read_only=read_only, option=option, path=path)), "Homes")
    assert [slip.path[-1] for slip in WHOLES[system.type](system)] == ([place] if place else [])


MAKING, LEAVING = "useradd --uid 2001 --create-home --shell /bin/bash mia", "useradd --uid 2001 --no-create-home mia"
GIVEN = {"workload_manager": "slurm", "fsx_openzfs_dns_name": "${Homes.DNSName}"}


def with_scripts(users: str, *options: str, given: dict[str, str] = GIVEN, **root: Any) -> list[str]:
    """What is wrong with the homes of a cluster whose scripts mount them."""
    files = {"start.sh": "bash users.sh", "users.sh": users, "provisioning_parameters.json": {"Fn::Sub": json.dumps(given)}}
    code = {"Runtime": "python3.13", "Handler": "index.handler", "Code": {"ZipFile": UPLOADER}}
    scripts = {"ServiceToken": {"Fn::GetAtt": ["Uploader", "Arn"]}, "Bucket": {"Ref": "Bucket"}, "Prefix": "a", "Files": files}
    started = {"SourceS3Uri": {"Fn::GetAtt": ["Scripts", "Uri"]}, "OnCreate": "start.sh"}
    exports = [{"ClientConfigurations": [{"Clients": "*", "Options": list(options)}]}]
    homes = {"FileSystemType": "OPENZFS", "OpenZFSConfiguration": {"RootVolumeConfiguration": {"NfsExports": exports, **root}}}
    resources = {
        "Bucket": {"Type": "AWS::S3::Bucket"},
        "Uploader": {"Type": "AWS::Lambda::Function", "Properties": code},
        "Scripts": {"Type": "Custom::Scripts", "Properties": scripts},
        "Homes": {"Type": "AWS::FSx::FileSystem", "Properties": homes},
        "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": [{"LifeCycleConfig": started}]}},
    }
    system = by_id(model_of(json.dumps({"Resources": resources})), "Homes")
    return [slip.message for slip in WHOLES[system.type](system)]


ONLY_READ = "nodes of Cluster have their homes there, and may only read"
SQUASHED = "users.sh makes homes there as root, and root of a node is nobody to the file system"


@pytest.mark.parametrize(
    ("users", "options", "message"),
    [
        (MAKING, ("rw", "no_root_squash"), None),
        (MAKING, ("rw", "crossmnt"), None),
        (MAKING, ("ro", "crossmnt"), ONLY_READ),
        (MAKING, ("rw", "root_squash"), SQUASHED),
        (MAKING, ("rw", "all_squash"), SQUASHED),
        (LEAVING, ("rw", "root_squash"), None),
    ],
)
def test_homes_that_scripts_mount_and_make(users: str, options: tuple[str, ...], message: str | None) -> None:
    assert with_scripts(users, *options) == ([message] if message else [])


def test_homes_on_a_volume_to_be_read() -> None:
    assert with_scripts(MAKING, "rw", ReadOnly=True) == [ONLY_READ]


def test_scripts_may_mount_it_for_something_else() -> None:
    assert with_scripts(MAKING, "ro", given={"workload_manager": "slurm", "models": "${Homes.DNSName}"}) == []
