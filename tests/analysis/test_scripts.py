"""Scripts of machines, containers and nodes: who runs them, what they may do, and what they do to their node."""

from __future__ import annotations

import base64
import json

import pytest

from hyperpod_constructs.analysis.needs import refused
from hyperpod_constructs.analysis.texts.places import texts_with_mistakes
from hyperpod_constructs.templates.model import Model
from tests.templates.models import model_of

ROLE = {
    "Type": "AWS::IAM::Role",
    "Properties": {
        "AssumeRolePolicyDocument": {},
        "Policies": [
            {
                "PolicyName": "read",
                "PolicyDocument": {
                    "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::tools/bin/*"}]
                },
            }
        ],
    },
}
PROFILE = {"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": [{"Ref": "Role"}]}}
ROLE_ARN = {"Fn::GetAtt": ["Role", "Arn"]}


def _resources(kind: str, script: str) -> dict[str, object]:
    encoded = {"Fn::Base64": script}
    instance = {"Type": "AWS::EC2::Instance", "Properties": {"IamInstanceProfile": {"Ref": "Profile"}}}
    lines = {
        "schemaVersion": "2.2",
        "mainSteps": [{"name": "a", "action": "aws:runShellScript", "inputs": {"runCommand": script.split("\n")}}],
    }
    found: dict[str, dict[str, object]] = {
        "instance": {"One": {**instance, "Properties": {**instance["Properties"], "UserData": encoded}}},  # type: ignore[dict-item]
        "encoded": {
            "One": {
                **instance,
                "Properties": {**instance["Properties"], "UserData": base64.b64encode(script.encode()).decode()},  # type: ignore[dict-item]
            }
        },
        "template": {
            "One": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": {"UserData": encoded}}},
            "Group": {
                "Type": "AWS::EKS::Nodegroup",
                "Properties": {"NodeRole": ROLE_ARN, "LaunchTemplate": {"Id": {"Ref": "One"}, "Version": "1"}},
            },
        },
        "notebook": {
            "One": {"Type": "AWS::SageMaker::NotebookInstanceLifecycleConfig", "Properties": {"OnStart": [{"Content": encoded}]}},
            "Book": {
                "Type": "AWS::SageMaker::NotebookInstance",
                "Properties": {
                    "RoleArn": ROLE_ARN,
                    "LifecycleConfigName": {"Fn::GetAtt": ["One", "NotebookInstanceLifecycleConfigName"]},
                },
            },
        },
        "document": {
            "One": {"Type": "AWS::SSM::Document", "Properties": {"DocumentType": "Command", "Content": lines}},
            "Machine": instance,
            "Use": {"Type": "AWS::SSM::Association", "Properties": {"Name": {"Ref": "One"}, "InstanceId": {"Ref": "Machine"}}},
        },
        "written document": {
            "One": {"Type": "AWS::SSM::Document", "Properties": {"DocumentType": "Command", "Content": json.dumps(lines)}},
            "Machine": instance,
            "Use": {
                "Type": "AWS::SSM::Association",
                "Properties": {"Name": {"Ref": "One"}, "Targets": [{"Key": "InstanceIds", "Values": [{"Ref": "Machine"}]}]},
            },
        },
        "association": {
            "Machine": instance,
            "One": {
                "Type": "AWS::SSM::Association",
                "Properties": {
                    "Name": "AWS-RunShellScript",
                    "InstanceId": {"Ref": "Machine"},
                    "Parameters": {"commands": script.split("\n")},
                },
            },
        },
        "task": {
            "One": {
                "Type": "AWS::ECS::TaskDefinition",
                "Properties": {
                    "TaskRoleArn": ROLE_ARN,
                    "ContainerDefinitions": [
                        {
                            "EntryPoint": ["/bin/sh", "-ec"],
                            "Command": [script],
                            "Environment": [{"Name": "TOOLS_BUCKET", "Value": "tools"}],
                        }
                    ],
                },
            }
        },
        "job": {
            "One": {
                "Type": "AWS::Batch::JobDefinition",
                "Properties": {"ContainerProperties": {"JobRoleArn": ROLE_ARN, "Command": ["bash", "-c", script]}},
            }
        },
        "group": {
            "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "scripts"}},
            "Writer": {
                "Type": "AWS::Lambda::Function",
                "Properties": {
                    "Runtime": "python3.13",
                    "Code": {
                        "ZipFile": "import boto3\ndef handler(event, context):\n"
                        '    boto3.client("s3").put_object(Bucket=event["b"], Key=event["k"], Body=event["c"])\n'
                    },
                },
            },
            "One": {
                "Type": "Custom::Script",
                "Properties": {
                    "ServiceToken": {"Fn::GetAtt": ["Writer", "Arn"]},
                    "Bucket": "scripts",
                    "Key": "a/start.sh",
                    "Body": script,
                },
            },
            "Cluster": {
                "Type": "AWS::SageMaker::Cluster",
                "Properties": {
                    "InstanceGroups": [
                        {
                            "InstanceGroupName": "a",
                            "ExecutionRole": ROLE_ARN,
                            "LifeCycleConfig": {"SourceS3Uri": "s3://scripts/a", "OnCreate": "start.sh"},
                            "InstanceStorageConfigs": [
                                {"FsxLustreConfig": {"DnsName": "d", "MountName": "m", "MountPath": "/data"}}
                            ],
                        }
                    ]
                },
            },
        },
    }
    return {"Role": ROLE, "Profile": PROFILE, **found[kind]}


KINDS = ("instance", "encoded", "template", "notebook", "document", "written document", "association", "task", "job", "group")


def _model(kind: str, script: str) -> Model:
    return model_of(json.dumps({"Resources": _resources(kind, f"#!/bin/bash\n{script}\n")}))


def _denied(model: Model) -> list[str]:
    return sorted(one.refusal.call.action for one in refused(model) if "its script" in one.need.task.words)


def _said(model: Model) -> list[str]:
    return [one.slip.message for found in texts_with_mistakes(model).values() for one in found if "script" in one.slip.message]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("script", "denied"),
    [
        ("aws s3 cp s3://tools/bin/a /opt/a", []),
        ("sudo -u ubuntu aws s3 cp s3://others/a /opt/a", ["s3:GetObject"]),
        ("aws s3 cp /var/log/a s3://tools/bin/a", ["s3:PutObject"]),
        ("P=$(aws ssm get-parameter --name /a --query Parameter.Value)", ["ssm:GetParameter"]),
        ("aws s3 cp s3://others/a /opt/a || true", []),
        ("aws s3 cp --no-sign-request s3://others/a /opt/a", []),
        ("aws s3 cp --profile admin s3://others/a /opt/a", []),
        ("export AWS_PROFILE=admin\naws s3 cp s3://others/a /opt/a", []),
        ("aws configure set aws_access_key_id a\naws s3 cp s3://others/a /opt/a", []),
        ("cat > /a.sh <<'END'\naws s3 cp s3://others/a /opt/a\nEND", []),
        ("aws s3 cp s3://$(hostname)/a /opt/a", []),
    ],
)
def test_calls_of_scripts_are_those_of_a_role(kind: str, script: str, denied: list[str]) -> None:
    assert _denied(_model(kind, script)) == denied


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'it is", "has a quote in line 2 that never ends"),
        ("if true; then\n  echo a", "has a block of if in line 2 that never ends"),
        ("cat <<EOF\na\n EOF\necho b", "in line 2 that never ends: the line ' EOF' is not EOF"),
        ("case $1 in\n  reboot) echo 'a)b' ;;\n  (b|c) (echo \"$(case x in y) ;; esac)\") ;;\nesac", None),
        ("f() { echo ${1:-\"}\"}; }\nA=(a ')' \"b\") # it's\nf ${A[0]} $'it\\'s' $(( 1 << 2 ))", None),
        ("for ((i=0; i<3; i++)); do echo `date +\\`%s\\``; done", None),
    ],
)
def test_scripts_that_no_shell_reads(kind: str, script: str, message: str | None) -> None:
    said = _said(_model(kind, script))
    assert [message in one for one in said] == [True] if message else said == []


@pytest.mark.parametrize(
    ("kind", "script", "message"),
    [
        ("group", "mkdir -p $HOME/.cache", "the variable HOME, which nothing sets"),
        ("instance", "set -u\ncd ${HOME}", "the variable HOME, which nothing sets"),
        ("instance", "export HOME=/root\ncd $HOME", None),
        ("group", "cd ${HOME:-/root}", None),
        ("notebook", "cd $HOME", None),
        ("document", "cd $HOME", None),
        ("document", "tar xf {{ File }} -C $TARGET", "the variable TARGET, which it does not set"),
        ("task", "aws s3 ls s3://$TOOL_BUCKET/bin/", "TOOL_BUCKET, which nobody sets; TOOLS_BUCKET is set"),
        ("task", "echo $OTHER ${TOOLS_BUCKET}", None),
        ("job", "echo $OTHER", None),
        ("task", "aws s3 copy a s3://tools/bin/a", "aws s3 has no command copy"),
        ("association", "aws ssm get-parametr --name a", "has no command get-parametr"),
    ],
)
def test_what_scripts_take(kind: str, script: str, message: str | None) -> None:
    said = [
        one.slip.message for found in texts_with_mistakes(_model(kind, script)).values() for one in found if one.resource.logical_id
    ]
    said = [one for one in said if "variable" in one or "aws " in one]
    assert [message in one for one in said] == [True] if message else said == []


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("rm -rf /data/*", "deletes in line 2 all that is in /data"),
        ('D=/data\nrm --recursive -f -- "$D"/', "deletes in line 3 all that is in /data"),
        ("cd /data && true\nrm -rf /opt/*", None),
        ("cd /data\nrm -fr *", "deletes in line 3 all that is in /data"),
        ("find /data -mindepth 1 -delete", "deletes in line 2 all that is in /data"),
        ("find /data -name '*.tmp' -delete", None),
        ("rm -rf /data/tmp/*", None),
        ("rm -rf /fsx/*", None),
        ("[ -e /data/clean ] && rm -rf /data/*", None),
        ("if [ -e /data/clean ]; then rm -rf /data/*; fi", None),
        ("reboot", "stops its node in line 2"),
        ("sudo systemctl reboot", "stops its node in line 2"),
        ("shutdown -r now", "stops its node in line 2"),
        ("(cd /tmp; true)\ninit 6", "stops its node in line 3"),
        ("shutdown -r +5", None),
        ("if [ -e /var/run/reboot-required ]; then reboot; fi", None),
        ("case $1 in\n  reboot) true ;;\nesac", None),
        ("restart() {\n  reboot\n}", None),
        ("echo reboot", None),
    ],
)
def test_what_a_script_does_to_its_node(script: str, message: str | None) -> None:
    said = _said(_model("group", script))
    assert [message in one for one in said] == [True] if message else said == []


def test_only_the_script_that_a_group_starts_surely_runs() -> None:
    resources = _resources("group", "#!/bin/bash\nreboot\n")
    resources["One"]["Properties"]["Key"] = "a/stop.sh"  # type: ignore[index]
    assert _said(model_of(json.dumps({"Resources": resources}))) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("mount -t lustre fs-01.fsx.us-west-2.amazonaws.com:/abc /mnt", "without @tcp behind its host"),
        ("mount -t lustre fs-01.fsx.us-west-2.amazonaws.com@tcp:/abc /mnt", None),
        ("sort a > a", "reads a in line 2 and writes into it"),
        ("sort a > b", None),
    ],
)
def test_what_scripts_mount_and_write(kind: str, script: str, message: str | None) -> None:
    said = _said(_model(kind, script))
    assert [message in one for one in said] == [True] if message else said == []
