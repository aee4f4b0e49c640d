"""Scripts of nodes in templates: what a shell can read, what they look for, and where they are."""

from __future__ import annotations

import json

import pytest

from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.entry_points import lacking
from hyperpod_constructs.analysis.same_names import same_names
from hyperpod_constructs.analysis.texts.node_scripts import WHOLES
from hyperpod_constructs.analysis.texts.shell import mistakes_in_script
from tests.templates.models import by_id, model_of

GOOD = """#!/bin/bash
set -euo pipefail  # it's a comment
exec > >(tee -a /var/log/node.log) 2>&1
for _ in $(seq 30); do mountpoint -q /fsx && break; sleep 1; done
cat > /etc/slurm/a.conf <<-'END'
	it's "text
	END
fail() { echo "${1:-"no reason"}" >&2; exit 1; }
case "$1" in
  a|b) echo "$(hostname -s | cut -d'"' -f1)" ;;
  (c) if [ -e /x ]; then true; fi ;;
  *) [[ $# -gt 0 ]] || exit 2 ;;
esac
echo $((1 << 3)) \\"
cat <<< "it's one"
mountpoint -q /fsx || fail 'no file system'
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("bash\n", "bash\r\n", "has a carriage return behind its first line"),
        ("'no file system'", "'no file system", "has a quote in line 16 that never ends"),
        ('"it\'s one"', '"one', "has a quote in line 15 that never ends"),
        ("\tEND\n", "\tEND \n", "has a text for a command up to END in line 5"),
        ("fi ;;", ";;", "has a block of if in line 11 that never ends"),
        ("esac", "", "has a block of case in line 9 that never ends"),
        ("sleep 1; done", "sleep 1", "has a block of do in line 4 that never ends"),
        ("$(hostname -s | cut -d'\"' -f1)\"", "$(hostname", "that never ends"),
    ],
)
def test_what_a_shell_reads(old: str, new: str, message: str | None) -> None:
    found = [says for says, _ in mistakes_in_script(GOOD.replace(old, new) if old else GOOD)]
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("script", "fails"),
    [
        ("echo a\nexit 1\n", True),
        ("exit 1 # never mind\n", True),
        ("if true; then\n  exit 1\nfi\nexit 3", False),
        ("test -e /a || exit 1\n", False),
        ("test -e /a &&\nexit 1\n", False),
        ("for a in b c; do\n  $a && exit 0\ndone\nexit 1\n", False),
        ("exec /bin/a\nexit 1\n", False),
        ("exit 0\n", False),
    ],
)
def test_a_script_that_always_fails(script: str, fails: bool) -> None:
    assert bool([*mistakes_in_script(f"#!/bin/sh\n{script}")]) is fails


TEMPLATE = """
Resources:
  Bucket: {{Type: AWS::S3::Bucket}}
  Writer:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: python3.13
      Code:
        ZipFile: |
          import boto3
          def handler(event, context):
              boto3.client("s3").put_object(Bucket=event["b"], Key=event["k"], Body=event["c"])
  One:
    Type: Custom::Script
    Properties: {{ServiceToken: !GetAtt Writer.Arn, Bucket: !Ref Bucket, Key: a/start.sh, Body: {body}}}
  Two:
    Type: Custom::Script
    Properties: {{ServiceToken: !GetAtt Writer.Arn, Bucket: !Ref Bucket, Key: {key}, Body: "#!/bin/sh"}}
  Cluster:
    Type: AWS::SageMaker::Cluster
    Properties:
      InstanceGroups:
        - InstanceGroupName: a
          LifeCycleConfig: {{SourceS3Uri: !Sub "s3://${{Bucket}}/a/", OnCreate: start.sh}}
          InstanceStorageConfigs: [{{FsxLustreConfig: {{DnsName: d, MountName: m{mount}}}}}]
        - InstanceGroupName: b
          LifeCycleConfig: {{SourceS3Uri: !Sub "s3://${{Bucket}}/b", OnInitComplete: start.sh}}
"""
ASK = "#!/bin/bash\nmountpoint -q {}\n"


def text(body: str = GOOD, key: str = "b/start.sh", mount: str = "") -> str:
    return TEMPLATE.format(body=json.dumps(body), key=key, mount=mount)


@pytest.mark.parametrize(
    ("body", "mount", "message"),
    [
        (GOOD, "", None),
        (GOOD, ", MountPath: /data", "asks in line 4 whether /fsx is mounted, which its nodes do not have"),
        (ASK.format("/lustre"), "", "asks in line 2 whether /lustre is mounted"),
        (ASK.format("/opt/sagemaker"), "", None),
        (ASK.format("/mnt/cache"), "", None),
        (ASK.format('"$1"'), "", None),
        (f"{ASK.format('/lustre')}mkdir /lustre\necho a:/b /lustre nfs >> /etc/fstab", "", None),
        (f"{ASK.format('/lustre')}mkdir /lustre\necho a:/b /lustre nfs >> /etc/notes", "", "asks in line 2 whether /lustre is"),
        (ASK.format("/lustre"), ", MountPath: !Ref Given", None),
        (f"{ASK.format('/lustre')}mkdir -p /lustre\nmount -t lustre fs-1.fsx.us-west-2.amazonaws.com@tcp:/fsx /lustre", "", None),
        (GOOD.replace("fi ;;", ";;"), "", "of Cluster has a block of if"),
    ],
)
def test_scripts_of_a_group(body: str, mount: str, message: str | None) -> None:
    cluster = by_id(model_of(text(body, mount=mount)), "Cluster")
    found = [slip.message for slip in WHOLES[cluster.type](cluster)]
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("key", "twice", "lost"), [("b/start.sh", 0, 0), ("a/start.sh", 1, 1), ("c/start.sh", 0, 1), ("!Ref Given", 0, 0)]
)
def test_each_script_has_a_place_of_its_own(key: str, twice: int, lost: int) -> None:
    model = model_of(text(key=key))
    assert len([*same_names(model)]) == twice
    (cluster,) = clusters(model)
    assert len([one for group in cluster.groups for one in lacking(group)]) == lost
