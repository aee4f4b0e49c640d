"""Homes of nodes on file systems of OpenZFS: the nodes write to them."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.exports import WHOLES
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
