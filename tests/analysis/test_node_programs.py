"""What runs on nodes: the files that scripts start and open, their arguments, and what they write and fetch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import pytest

from hyperpod_constructs.analysis import node_programs
from hyperpod_constructs.analysis.clusters import Group, clusters
from hyperpod_constructs.analysis.entry_points import lacking
from hyperpod_constructs.analysis.node_programs import _MOST_FOLLOWED, programs_of
from hyperpod_constructs.analysis.reachability import connections
from hyperpod_constructs.analysis.scripts import scripts_for, with_runners
from hyperpod_constructs.analysis.texts.places import texts_with_mistakes
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.values import shown
from tests.templates.models import model_of

UPLOADER = """
import boto3
import cfnresponse

def handler(event, context):
    given = event["ResourceProperties"]
    try:
        for name, text in given["Files"].items():
            place = {"Bucket": given["Bucket"], "Key": f"{given['Prefix']}/{name}"}
            if event["RequestType"] == "Delete":
                boto3.client("s3").delete_object(**place)
            else:
                boto3.client("s3").put_object(Body=text.encode(), **place)
        cfnresponse.send(event, context, cfnresponse.SUCCESS, {"Uri": f"s3://{given['Bucket']}/{given['Prefix']}"}, "scripts")
    except Exception:
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, "scripts")
"""
START = "#!/bin/bash\nset -euo pipefail\npython3 -u set_up.py\n"
SET_UP = """
import json
import subprocess

def run(*command):
    subprocess.run(command, check=True)

with open("provisioning_parameters.json") as file:
    given = json.load(file)
run("bash", "mount.sh", given["fsx_dns_name"], given["fsx_mountname"], "/fsx")
if own_group() == given["controller_group"]:
    run("bash", "accounting.sh")
"""
MOUNT = '#!/bin/bash\nset -euo pipefail\nmkdir -p "$3"\nmount -t lustre "$1@tcp:/$2" "$3"\n'
ACCOUNTING = """#!/bin/bash
set -euo pipefail
SECRET=$(aws secretsmanager get-secret-value --secret-id ${Secret} --query SecretString --output text)
PASSWORD=$(jq -r .password <<< "$SECRET")
cat > /opt/slurm/etc/slurmdbd.conf <<EOF
DbdPort=6819
StorageType=accounting_storage/mysql
StoragePass=$PASSWORD
EOF
chmod 600 /opt/slurm/etc/slurmdbd.conf
cat >> /opt/slurm/etc/slurm.conf <<EOF
AccountingStorageType=accounting_storage/slurmdbd
AccountingStoragePort=6819
EOF
"""
PARAMETERS = json.dumps(
    {
        "version": "1.0.0",
        "workload_manager": "slurm",
        "controller_group": "head",
        "worker_groups": [{"instance_group_name": "gpu", "partition_name": "train"}],
        "fsx_dns_name": "${Lustre.DNSName}",
        "fsx_mountname": "${Lustre.LustreMountName}",
    }
)
FILES = {
    "start.sh": START,
    "set_up.py": SET_UP,
    "mount.sh": MOUNT,
    "accounting.sh": ACCOUNTING,
    "provisioning_parameters.json": PARAMETERS,
}


def role() -> dict[str, Any]:
    trust = [{"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}]
    return {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {"Statement": trust}}}


def made(
    files: dict[str, str | None] | None = None,
    roles: tuple[str, str] = ("Head", "Gpu"),
    more: dict[str, Any] | None = None,
    names: Sequence[str] = ("head", "gpu"),
    **routes: Any,
) -> Model:
    """A cluster of groups with these changes of its files and these properties, beside a database, an alarm and others."""
    found = {name: text for name, text in {**FILES, **(files or {})}.items() if text is not None}
    texts = {name: {"Fn::Sub": text} if "${" in text else text for name, text in found.items()}
    code = {"Runtime": "python3.13", "Handler": "index.handler", "Code": {"ZipFile": UPLOADER}}
    scripts = {"ServiceToken": {"Fn::GetAtt": ["Uploader", "Arn"]}, "Bucket": {"Ref": "Bucket"}, "Prefix": "a", "Files": texts}
    groups = [
        {
            "InstanceGroupName": name,
            "ExecutionRole": {"Fn::GetAtt": [of, "Arn"]},
            "LifeCycleConfig": {"SourceS3Uri": {"Fn::GetAtt": ["Scripts", "Uri"]}, "OnCreate": "start.sh"},
        }
        for name, of in zip(names, cycle(roles), strict=False)
    ]
    generated = {"GenerateSecretString": {"SecretStringTemplate": '{"username": "slurm"}', "GenerateStringKey": "password"}}
    others = {"Database": "AWS::RDS::DBInstance", "Alarm": "AWS::CloudWatch::Alarm"}
    resources: dict[str, Any] = {
        **{name: {"Type": kind, "Properties": routes.pop(name)} for name, kind in others.items() if name in routes},
        "Bucket": {"Type": "AWS::S3::Bucket"},
        "Uploader": {"Type": "AWS::Lambda::Function", "Properties": code},
        "Scripts": {"Type": "Custom::Scripts", "Properties": scripts},
        "Lustre": {"Type": "AWS::FSx::FileSystem", "Properties": {"FileSystemType": "LUSTRE"}},
        "Secret": {"Type": "AWS::SecretsManager::Secret", "Properties": {"Name": "accounting", **generated}},
        "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": groups, **routes}},
        **{name: role() for name in dict.fromkeys(roles)},
        **(more or {}),
    }
    return model_of(json.dumps({"Resources": resources}))


def head(model: Model) -> Group:
    return clusters(model)[0].groups[0]


def test_files_are_followed_from_the_first_script_with_their_arguments() -> None:
    programs = programs_of(head(made()))
    assert sorted(programs.files) == sorted(FILES)
    assert [(one.name, one.by, one.surely, shown(one.arguments or ())) for one in programs.started] == [
        ("set_up.py", "start.sh", True, []),
        ("mount.sh", "set_up.py", True, ["${Lustre.DNSName}", "${Lustre.LustreMountName}", "/fsx"]),
        ("accounting.sh", "set_up.py", False, []),
        ("provisioning_parameters.json", "set_up.py", False, []),
    ]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, None),
        ({"mount.sh": None, "mount_all.sh": MOUNT}, "set_up.py starts mount.sh, which nobody uploads; the nearest is mount_all.sh"),
        ({"provisioning_parameters.json": None}, "set_up.py opens provisioning_parameters.json, which nobody uploads"),
        ({"set_up.py": None}, "start.sh starts set_up.py, which nobody uploads"),
        ({"set_up.py": None, "start.sh": START.replace("python3", "cp /opt/set_up.py .\npython3")}, None),
        ({"set_up.py": None, "start.sh": START.replace("python3", "git clone https://a.b/c .\npython3")}, None),
        ({"set_up.py": None, "start.sh": START.replace("python3", "cd /opt\npython3")}, None),
        ({"start.sh": f"{START}aws s3 cp s3://${{Bucket}}/a/mount.sh /opt\n"}, None),
        (
            {"start.sh": f"{START}aws s3 cp s3://${{Bucket}}/a/mont.sh /opt\n"},
            "copies a/mont.sh from Bucket, where nobody writes it",
        ),
        ({"start.sh": f"{START}aws s3 cp s3://${{Bucket}}/a/mont.sh /opt || true\n"}, None),
        ({"start.sh": f"{START}aws s3 cp --recursive s3://${{Bucket}}/a/ /opt\n"}, None),
    ],
)
def test_what_scripts_need_is_uploaded(files: dict[str, str | None], message: str | None) -> None:
    found = [one.message for one in lacking(head(made(files)))]
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("mount.sh", '"$3"', '"$4"', "takes $4, and set_up.py starts it with 3 arguments"),
        ("mount.sh", '"$3"', '"${!4:-}"', None),
        ("mount.sh", '"$3"', "'$4'", None),
        ("mount.sh", "pipefail\n", "pipefail\nshift\n", None),
        ("mount.sh", "set -euo pipefail\n", "", None),
        ("accounting.sh", ".password", ".passwort", "takes the key passwort, which Secret does not have; the nearest is password"),
        ("accounting.sh", ".password", ".host", None),
        ("accounting.sh", 'password <<< "$SECRET"', "passwort <<A\n$SECRET\nA\n", "takes the key passwort, which Secret"),
        ("accounting.sh", 'password <<< "$SECRET"', "password <<A\n$SECRET\nA\n", None),
        ("accounting.sh", "chmod 600", "chmod 640", "opens slurmdbd.conf to others by the mode 640"),
        ("accounting.sh", "chmod 600", "chmod 0400", None),
        ("accounting.sh", "storage/mysql", "storage/postgresql", "writes accounting_storage/postgresql, which Slurm does not have"),
        ("accounting.sh", "StoragePort=6819", "StoragePort=3306", "look for slurmdbd at port 3306, and slurmdbd listens at 6819"),
        ("accounting.sh", "DbdPort=6819\n", "", None),
        ("provisioning_parameters.json", '"gpu"', '"cpu"', "Cluster has no group cpu"),
        ("provisioning_parameters.json", '"instance_group_name"', '"group"', "a group of workers has no instance_group_name"),
        ("provisioning_parameters.json", '"workload_manager": "slurm", ', "", "it has no workload_manager"),
        ("provisioning_parameters.json", "LustreMountName}", "DNSName}", "fsx_mountname is DNSName of Lustre"),
        ("provisioning_parameters.json", "LustreMountName}", "MountName}", None),
        ("provisioning_parameters.json", '"train"}]', '"train"},]', "is not JSON: "),
        ("provisioning_parameters.json", '"train"', '"debug"', None),
        (
            "accounting.sh",
            "<<EOF\nDbd",
            "<<'EOF'\nDbd",
            "writes $PASSWORD as it stands into a file: the text from line 6 on is quoted",
        ),
        ("accounting.sh", "<<EOF\nDbd", "<<'EOF'\n# $PASSWORD of $OTHER\nDbd", None),
        (
            "accounting.sh",
            "<<EOF\nAcc",
            "<<EOF\n[Service]\nEnvironment=A=$PASSWORD b\nAcc",
            "has a word without a name, behind a space",
        ),
        ("accounting.sh", "<<EOF\nAcc", '<<EOF\n[Service]\nEnvironment="A=$PASSWORD b" C=d\nAcc', None),
        (
            "accounting.sh",
            "PASSWORD=$(jq -r .password",
            'field() { jq -r ".$1"; }\nPASSWORD=$(jq -r .password',
            None,
        ),
        ("accounting.sh", "--output text", "--output json", "reads a secret without --output text"),
        ("accounting.sh", " --output text", "", "reads a secret without --output text"),
        ("accounting.sh", " --output text)", " | jq -r .)", None),
        ("accounting.sh", "--output text", '--output "$(form)"', None),
        ("accounting.sh", "jq -r .password", "jq -r 'fromjson | .password'", None),
        ("mount.sh", "pipefail\n", "pipefail\nsource ./common.sh\necho $NAME\n", None),
        ("mount.sh", "pipefail\n", "pipefail\nsource ./accounting.sh\necho $PASSWORD\n", None),
        (
            "mount.sh",
            "pipefail\n",
            "pipefail\nsource ./accounting.sh\necho $PASSWORDS\n",
            "takes the variable PASSWORDS, which it does not set",
        ),
        ("mount.sh", "pipefail\n", "pipefail\necho $settings\n", "takes the variable settings, which it does not set"),
        ("mount.sh", "pipefail\n", "pipefail\necho $given\n", None),
        ("set_up.py", "import json", "import json\nif x = 1: pass", "set_up.py for nodes of instance group 'head' is no Python"),
        ("set_up.py", "import json", 'import json\nif __name__ == "main":\n    exit()', "compares __name__ with 'main' in line 3"),
        ("set_up.py", "import json", 'import json\nif __name__ != "__main__":\n    exit()', None),
    ],
)
def test_what_runs_on_nodes_works(name: str, old: str, new: str, message: str | None) -> None:
    assert old in FILES[name]
    texts = texts_with_mistakes(made({name: FILES[name].replace(old, new)}))
    found = [(one.resource.logical_id, one.slip.path[-1], one.slip.message) for several in texts.values() for one in several]
    assert [one[:2] for one in found] == ([("Scripts", name)] if message else [])
    assert all(message is not None and message in one[2] for one in found)


FIELD = """field() { python3 -c 'import json, sys; print(json.loads(sys.argv[1])[sys.argv[2]])' "$SECRET" "$1"; }"""
WITH_FIELD = ACCOUNTING.replace("PASSWORD=", f"{FIELD}\nPASSWORD=", 1)
OWNED = ACCOUNTING.replace("DbdPort", "SlurmUser=slurm\nDbdPort", 1).replace(
    "chmod", "chown slurm:slurm /opt/slurm/etc/slurmdbd.conf\nchmod"
)
INCLUDING = (
    f"{ACCOUNTING.replace('etc/slurm.conf', 'etc/accounting.conf')}echo 'include accounting.conf' >> /opt/slurm/etc/slurm.conf\n"
)
STARTING = (
    f'{ACCOUNTING}SLURMD_OPTIONS="--conf-server $(hostname)" envsubst < slurmd.service > /etc/systemd/system/slurmd.service\n'
)
ASKING = ACCOUNTING.replace("StoragePass", "StorageHost=$(jq -r .host <<< $SECRET)\nStoragePort=3306\nStoragePass", 1)


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (WITH_FIELD, "", "", None),
        (WITH_FIELD, "$PASSWORD\n", "$(field username)\nStorageHost=$(field host)\n", None),
        (WITH_FIELD, "$PASSWORD\n", "$(field passwort)\n", "takes the key passwort, which Secret"),
        (WITH_FIELD.replace("${Secret}", "accounting"), "$PASSWORD\n", "$(field passwort)\n", "takes the key passwort"),
        (WITH_FIELD.replace("${Secret}", "others"), "$PASSWORD\n", "$(field passwort)\n", None),
        (WITH_FIELD, "--output text", "--output json", "reads a secret without --output text"),
        (WITH_FIELD.replace("loads(sys.argv[1])", "loads(json.loads(sys.argv[1]))"), "--output text", "--output json", None),
        (WITH_FIELD, "<<EOF\nAcc", "<<'EOF'\nStorageHost=$(field host)\nAcc", "writes $(field host) as it stands into a file"),
        (
            ACCOUNTING,
            "<<EOF\nAcc",
            "<<'EOF'\nAccountingStorageHost=$(hostname)\nAcc",
            "writes $(hostname) as it stands into a file",
        ),
        (ACCOUNTING, "cat >> /opt", "cat > /opt/a.conf <<'EOF'\nA=$(hostname)\nEOF\ncat >> /opt", None),
        (WITH_FIELD, "cat >> /opt", "cat > /opt/a <<'EOF'\n#!/bin/bash\nfield() { true; }\nA=$(field a)\nEOF\ncat >> /opt", None),
        (OWNED, "", "", None),
        (OWNED, "chown slurm:slurm", "chown root:root", "gives slurmdbd.conf to root, and slurmdbd runs as slurm"),
        (OWNED, "chown slurm:slurm", "chown root", "gives slurmdbd.conf to root"),
        (OWNED, "chown slurm:slurm", 'chown "$(id -un)"', None),
        (OWNED, "chmod", "chown -R root /opt/slurm/etc\nchmod", None),
        (OWNED, "slurmdbd.conf\nchmod", "other.conf\nchmod", None),
        (OWNED.replace("chown slurm:slurm", "chown root"), "chmod", "chown slurm /opt/slurm/etc/slurmdbd.conf\nchmod", None),
        (OWNED.replace("chown slurm:slurm", "chown root"), "SlurmUser=slurm\n", "", None),
        (INCLUDING, "", "", None),
        (INCLUDING, ">> /opt/slurm/etc/slurm.conf", ">> /opt/slurm/etc/slurmdbd.conf", "has slurmdbd.conf include accounting.conf"),
        (
            INCLUDING,
            "'include accounting.conf' >> /opt/slurm/etc/slurm.conf",
            "'include db.conf' >> /opt/slurm/etc/slurmdbd.conf",
            None,
        ),
        (STARTING, "", "", None),
        (
            STARTING,
            "--conf-server",
            "--config-server",
            "gives slurmd --config-server, which it does not have; the nearest is --conf-server",
        ),
        (STARTING, "--conf-server $(hostname)", "--conf-serv $(hostname) -N a", None),
        (STARTING, "--conf-server $(hostname)", "--own-option $(hostname)", None),
        (STARTING, "SLURMD_OPTIONS=", "OPTIONS=", None),
        (STARTING, 'SLURMD_OPTIONS="--conf-server', 'export SLURMD_OPTIONS="--conf-sever', "the nearest is --conf-server"),
        (ACCOUNTING, "cat >> /opt", "/opt/slurm/sbin/slurmd --config-server a\ncat >> /opt", "gives slurmd --config-server"),
        (
            ACCOUNTING,
            "cat >> /opt",
            "cat > /a.service <<EOF\n[Service]\nExecStart=/opt/slurm/sbin/slurmd -D --confserver a\nEOF\ncat >> /opt",
            "gives slurmd --confserver",
        ),
        (ASKING, "", "", None),
        (ASKING, "3306", "33060", "has slurmdbd look for its database at port 33060, and that listens at 3306"),
        (ASKING, "3306", "$(port)", None),
        (ASKING, "StorageHost=$(jq -r .host <<< $SECRET)\nStoragePort=3306", "StorageHost=localhost\nStoragePort=33060", None),
    ],
)
def test_slurm_starts_with_the_files_that_scripts_write(text: str, old: str, new: str, message: str | None) -> None:
    assert old in text
    model = made({"accounting.sh": text.replace(old, new, 1) if old else text}, Database={"Engine": "mysql"})
    found = [one.slip.message for several in texts_with_mistakes(model).values() for one in several]
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("database", "count"),
    [
        ({"Engine": "mysql"}, 1),
        ({"Engine": "mariadb", "Port": "33060"}, 0),
        ({"Engine": "postgres"}, 0),
        ({"Port": {"Ref": "A"}}, 0),
    ],
)
def test_the_port_of_the_database_is_that_of_the_templates(database: dict[str, Any], count: int) -> None:
    model = made({"accounting.sh": ASKING.replace("3306", "33060")}, Database=database)
    assert sum(map(len, texts_with_mistakes(model).values())) == count


@pytest.mark.parametrize(("roles", "runners"), [(("Head", "Gpu"), []), (("Head", "Head"), ["Head"])])
def test_a_script_under_a_condition_runs_as_the_one_role_of_all_groups(roles: tuple[str, str], runners: list[str]) -> None:
    found = [runner.role.logical_id for script, runner in with_runners(made(roles=roles)) if script.path[-1] == "accounting.sh"]
    assert found == runners


def test_what_surely_runs_is_known() -> None:
    found = {str(one.path[-1]): (one.entry, one.skipped) for one in scripts_for(head(made()))}
    assert found == {"start.sh": (True, False), "mount.sh": (True, False), "accounting.sh": (False, True)}


@pytest.mark.parametrize(
    ("line", "hosts"),
    [
        ("curl -fsSL https://github.com/a/b.tar.gz -o /b", ["github.com"]),
        ("curl -fsSL https://github.com/a/b.tar.gz -o /b || true", []),
        ("curl -fsSL https://b.s3.us-west-2.amazonaws.com/a -o /b", []),
        ("curl -fsSL https://mirror.corp/a -o /b", []),
    ],
)
def test_nodes_need_a_way_to_what_their_scripts_fetch(line: str, hosts: list[str]) -> None:
    model = made({"start.sh": f"{START}{line}\n"}, VpcConfig={"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]})
    found = dict.fromkeys(one.target.name for one in connections(model) if one.target.name.endswith((".com", ".corp")))
    assert list(found) == hosts


def test_scripts_that_start_each_other_end() -> None:
    again = "#!/bin/bash\nbash mount.sh\nbash start.sh\n"
    programs = programs_of(head(made({"start.sh": again, "mount.sh": again})))
    assert [one.name for one in programs.started] == ["mount.sh", "start.sh", "mount.sh", "start.sh"]


PROGRAM = """
import argparse
import json
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--settings", type=Path, required=True)
    return parser.parse_args()


def run(script, *options):
    subprocess.run(["bash", str(HERE / script), *options], check=True)


def main():
    settings = json.loads(arguments().settings.read_text())
    run("mount.sh", settings["dns"], settings["mount"], settings.get("point", "/fsx"))


if __name__ == "__main__":
    main()
"""
SETTINGS = json.dumps({"dns": "${Lustre.DNSName}", "mount": "${Lustre.LustreMountName}"})
WITH_FLAG = PROGRAM.replace("    return parser", '    parser.add_argument("--verbose", action="store_true")\n    return parser')
OF_PROGRAM = {
    "start.sh": '#!/bin/bash\nset -euo pipefail\ncd "$(dirname "$0")"\npython3 set_up.py --settings settings.json\n',
    "set_up.py": PROGRAM,
    "settings.json": SETTINGS,
}


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("set_up.py", "", "", None),
        (
            "set_up.py",
            'settings["mount"]',
            'settings["mountname"]',
            "nodes of instance group 'head' fails in line 22: there is no mountname",
        ),
        ("settings.json", '"mount"', '"mounts"', "there is no mount"),
        ("settings.json", '}"}', '}",}', "settings.json for nodes of instance group 'head' is not JSON: "),
        ("start.sh", "--settings", "--config", "required: --settings"),
        ("set_up.py", '"--settings", type=Path', '"--setting", type=Path', "required: --setting"),
        ("set_up.py", 'settings["mount"]', 'settings.get("mounts")', None),
        ("start.sh", "--settings settings.json", "--settings=settings.json", None),
        ("start.sh", "--settings settings.json", "--verbose --settings settings.json", "unrecognized arguments: --verbose"),
        ("set_up.py", "    return", '    parser.add_argument("--point", default="/fsx")\n    return', None),
        ("set_up.py", '"--settings", type', '"-s", "--settings", type', None),
        ("set_up.py", "parser.add_argument", "parser.add_argument_group().add_argument", None),
        ("set_up.py", 'settings["mount"], ', "", "takes $3, and set_up.py starts it with 2 arguments"),
    ],
)
def test_programs_read_their_arguments_and_files(name: str, old: str, new: str, message: str | None) -> None:
    assert old in OF_PROGRAM[name]
    files = {**OF_PROGRAM, name: OF_PROGRAM[name].replace(old, new) if old else OF_PROGRAM[name]}
    texts = texts_with_mistakes(made({**dict.fromkeys(FILES), "mount.sh": MOUNT, **files}))
    found = [one.slip.message for several in texts.values() for one in several]
    assert [message in one for one in found] == [True] if message else found == []


def test_a_flag_takes_no_word() -> None:
    start = OF_PROGRAM["start.sh"].replace("--settings", "--verbose --settings")
    changed = {**OF_PROGRAM, "mount.sh": MOUNT, "start.sh": start, "set_up.py": WITH_FLAG}
    files: dict[str, str | None] = {**dict.fromkeys(FILES), **changed}
    assert "store_true" in WITH_FLAG
    assert texts_with_mistakes(made(files)) == {}


PERSISTENT = {"FileSystemType": "LUSTRE", "LustreConfiguration": {"DeploymentType": "PERSISTENT_2"}}
FSTAB = """#!/bin/bash
mkdir -p /data /homes
add() { grep -qF " $2 " /etc/fstab || echo "$1 $2 $3 $4 0 0" >> /etc/fstab; }
add "$1@tcp:/$2" /data lustre defaults,_netdev
add "$3:/fsx/" /homes nfs nfsvers=4.2
mount -a
"""
WITH_HOMES = SET_UP.replace('given["fsx_mountname"], "/fsx"', 'given["fsx_mountname"], given["homes"]')
HOMES = PARAMETERS.replace('"fsx_dns_name"', '"homes": "${Homes.DNSName}", "fsx_dns_name"')
OTHER = 'run("bash", "mount.sh", "fs-0.fsx.us-west-2.amazonaws.com", "abc", given["homes"])'
TWICE = WITH_HOMES.replace('run("bash", "mount.sh"', f'{OTHER}\nrun("bash", "mount.sh"')
FIRST_NAME = HOMES.replace("${Lustre.LustreMountName}", "fsx")
SCRATCH = {"FileSystemType": "LUSTRE", "LustreConfiguration": {"DeploymentType": "SCRATCH_1"}}


def said(files: dict[str, str | None], **more: Any) -> list[str]:
    """The mistakes of a cluster with these changes of its files."""
    return [one.slip.message for several in texts_with_mistakes(made(files, more=more)).values() for one in several]


def mounted(script: str, files: dict[str, str | None] | None = None, system: Any = PERSISTENT) -> list[str]:
    """The mistakes of a cluster that mounts by a script."""
    named = {"set_up.py": WITH_HOMES, "provisioning_parameters.json": HOMES, "mount.sh": script}
    lustre = {"Type": "AWS::FSx::FileSystem", "Properties": system}
    return said({**named, **(files or {})}, Lustre=lustre, Homes={**lustre, "Properties": {"FileSystemType": "OPENZFS"}})


LINE = 'add "$1@tcp:/$2" /data'
MADE = "mkdir -p /data /homes"
WITHOUT = FSTAB.replace(MADE, "mkdir -p /data")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("@tcp:/", ":/", "mounts ${Lustre.DNSName}:/${Lustre.LustreMountName} in line 4, without @tcp behind its host"),
        ("@tcp:/", "@tcp:", "in line 4, without a slash before its mount name"),
        ("@tcp:/", "@tcp0:/", None),
        (LINE, LINE.replace("$2", "$2/shared"), None),
        (LINE, LINE.replace("$2", "fsx"), "in line 4, but the service makes the mount name of Lustre"),
        (LINE, LINE.replace("$2", "$NAME"), "takes the variable NAME"),
        (LINE, LINE.replace("$2", "$(cat name)"), None),
        (LINE, LINE.replace("$1", "$2").replace("/$2", "/$1"), "whose host is the mount name of Lustre"),
        (LINE, LINE.replace("/$2", "/$1"), "whose mount name is DNSName of Lustre"),
        (LINE, LINE.replace("$1@tcp", "$HOST"), None),
        (LINE, LINE.replace("$1@tcp", "${1%%.*}"), None),
        ("lustre defaults", "nfs defaults", "by the type nfs, and Lustre is LUSTRE"),
        ("nfs nfsvers", "lustre nfsvers", "mounts ${Homes.DNSName}:/fsx/ in line 5, by the type lustre, and Homes is OPENZFS"),
        ("nfs nfsvers", "nfs4 nfsvers", None),
        (":/fsx/", ":/home/", "mounts ${Homes.DNSName}:/home/ in line 5, and its volumes are in /fsx"),
        (":/fsx/", ":/fsx/homes/ada", None),
        (":/fsx/", ":/", None),
        (":/fsx/", ":/$FOLDER", "takes the variable FOLDER"),
        (MADE, "mkdir -p /data", "at /homes, a folder that nobody makes"),
        (MADE, "mkdir -p /data /homes/ada", None),
        (MADE, 'for one in /data /homes; do mkdir -p "$one"; done', None),
        (MADE, "install -d /data /homes", None),
        (MADE, 'retry() { shift; "$@"; }\nretry 3 mkdir /data /homes', None),
        (MADE, "mkdir -p /data && tar xf homes.tar -C /", None),
        ("nfsvers=4.2", "nfsvers=4.2,x-mount.mkdir", None),
        (f"{MADE}\n", "", "at /data, a folder that nobody makes"),
        ("/homes nfs", "/home nfs", None),
        ("/homes nfs", "/mnt nfs", None),
        ("/homes nfs", "/mnt/homes nfs", "at /mnt/homes, a folder that nobody makes"),
    ],
)
def test_mounts_are_what_file_systems_take(old: str, new: str, message: str | None) -> None:
    assert old in FSTAB
    found = mounted(FSTAB.replace(old, new) if old else FSTAB)
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("line", "is_right"),
    [
        ('mount -t lustre -o relatime,flock "$1@tcp:/$2" /data', True),
        ('mount -t lustre -o relatime,flock "$1:/$2" /data', False),
        ('mount --types=lustre "$1:/$2" /data -o flock', False),
        ('sudo mount.lustre "$1:/$2" /data', False),
        ('mount "$1:/$2" /data', True),
        ('SOURCE="$1:/$2"\nmount -t lustre "$SOURCE" /data', False),
        ('printf "%s %s lustre defaults 0 0\\n" "$1:/$2" /data >> /etc/fstab', False),
        ('printf "%s %s lustre defaults 0 0\\n" "$1@tcp:/$2" /data >> /etc/fstab', True),
        ('echo "$1:/$2 /data lustre defaults 0 0" | sudo tee -a /etc/fstab', False),
        ('echo "$1:/$2 /data lustre defaults 0 0" | sudo tee -a /etc/notes', True),
        ('echo "# $1:/$2 /data lustre defaults 0 0" >> /etc/fstab', True),
        ("cat >> /etc/fstab <<END\n$1:/$2 /data lustre defaults 0 0\nEND", False),
        ("cat >> /etc/fstab <<END\n$1@tcp:/$2 /data lustre defaults 0 0\nEND", True),
        ('tee -a /etc/fstab <<< "$1:/$2 /data lustre defaults 0 0"', False),
        ('sudo sh -c "echo $1:/$2 /data lustre defaults 0 0 >> /etc/fstab"', False),
        ('sudo sh -c "echo $1@tcp:/$2 /data lustre defaults 0 0 >> /etc/fstab"', True),
        ('printf "$1:/$2 %s lustre defaults 0 0\\n" /data | sudo tee -a /etc/fstab', False),
        ('printf "$1@tcp:/$2 %s lustre defaults 0 0\\n" /data | sudo tee -a /etc/fstab', True),
        ("cat <<A > /etc/notes; cat <<B >> /etc/fstab\na\nA\n$1:/$2 /data lustre defaults 0 0\nB", False),
        ("cat <<A > /etc/notes; cat <<B >> /etc/fstab\n$1:/$2 /data lustre defaults 0 0\nA\n# a\nB", True),
        ("sudo install -m 644 /dev/stdin /etc/fstab <<END\n$1:/$2 /data lustre defaults 0 0\nEND", False),
        ("sudo install -m 644 /dev/stdin /etc/fstab <<END\n$1@tcp:/$2 /data lustre defaults 0 0\nEND", True),
        ("mount -t lustre fs-01.fsx.us-west-2.amazonaws.com:/abc /data", False),
        ("mount -t lustre fs-01.fsx.us-west-2.amazonaws.com@tcp:/abc /data", True),
        ("mount -t lustre $(cat host):/abc /data", True),
        ("mount -t efs fs-01:/ /data", True),
    ],
)
def test_mounts_are_found_however_a_script_asks_for_them(line: str, is_right: bool) -> None:
    found = mounted(f"#!/bin/bash\nmkdir -p /data\n{line}\n")
    assert ["without @tcp behind its host" in one for one in found] == [True] * (not is_right)


@pytest.mark.parametrize(
    ("files", "system", "message"),
    [
        ({"provisioning_parameters.json": FIRST_NAME}, PERSISTENT, "but the service makes the mount name of Lustre"),
        ({"provisioning_parameters.json": FIRST_NAME}, SCRATCH, None),
        ({"set_up.py": TWICE}, PERSISTENT, None),
        ({"set_up.py": TWICE, "provisioning_parameters.json": FIRST_NAME}, PERSISTENT, "but the service makes the mount name"),
        ({"paths.sh": "#!/bin/bash\nmkdir -p /data\n"}, PERSISTENT, None),
        ({"mount.sh": WITHOUT, "paths.sh": "#!/bin/bash\nmkdir -p /homes/ada\n"}, PERSISTENT, None),
        ({"mount.sh": WITHOUT, "paths.sh": '#!/bin/bash\nmkdir -p "$PLACE"\n'}, PERSISTENT, None),
        ({"mount.sh": WITHOUT, "paths.py": "import os\nos.makedirs(place)\n"}, PERSISTENT, None),
        ({"mount.sh": WITHOUT, "users.txt": "ada,/homes/ada\n"}, PERSISTENT, "at /homes, a folder that nobody makes"),
        ({"mount.sh": WITHOUT, "log.sh": "#!/bin/bash\nmkdir /var/a\n"}, PERSISTENT, "at /homes, a folder that nobody makes"),
    ],
)
def test_mounts_are_judged_for_each_who_starts_the_script(files: dict[str, str | None], system: Any, message: str | None) -> None:
    found = mounted(FSTAB, files, system)
    assert [message in one for one in found] == [True] if message else found == []


START_KIND = """#!/bin/bash
set -euo pipefail
case "$1" in
  controller) systemctl enable --now slurmctld ;;
  compute | login) systemctl enable --now slurmd ;;
esac
"""
WORKER = START_KIND.replace("compute |", "worker |")
REFUSING = START_KIND.replace("esac", "  *) echo unknown; exit 2 ;;\nesac")
REFUSING_COMPUTE = REFUSING.replace("compute |", "worker |")
KINDS = """
import json
import subprocess

with open("provisioning_parameters.json") as file:
    given = json.load(file)
kinds = {given["controller_group"]: "controller", "login": "login", "gpu": "compute"}
subprocess.run(["bash", "kind.sh", kinds[own_group()]], check=True)
"""
ONE_BY_ONE = KINDS.replace("kinds[own_group()]", '"controller"') + "".join(
    f'if own_group() == "{kind}":\n    subprocess.run(["bash", "kind.sh", "{kind}"])\n' for kind in ("login", "compute")
)


@pytest.mark.parametrize("program", [KINDS, ONE_BY_ONE])
@pytest.mark.parametrize(
    ("script", "message"),
    [
        (START_KIND, None),
        (REFUSING, None),
        (WORKER, "does nothing when it is started with compute: the block from line 3 on"),
        (WORKER.replace('case "$1"', 'KIND="$1"\ncase "$KIND"'), "the block from line 4 on"),
        (WORKER + "systemctl enable munge\n", None),
        (WORKER.replace("worker", "work*"), None),
        (WORKER.replace("worker", "comp*"), None),
        (WORKER.replace("worker", "[a-z]*"), None),
        (WORKER.replace("worker", "$KIND").replace("case", "source /etc/kind\ncase"), None),
        (START_KIND.replace("compute | login", "login"), None),
        (START_KIND.replace("compute | login", "login | help"), None),
        (REFUSING_COMPUTE, "is started with compute, and fails for all but controller, worker, login"),
        (REFUSING_COMPUTE.replace("exit 2", "exit 0"), None),
        (REFUSING_COMPUTE.replace("exit 2", "test -f /x || exit 2"), None),
        (REFUSING_COMPUTE.replace("exit 2", "if test -f /x; then exit 2; fi"), None),
        (REFUSING_COMPUTE.replace("*)", "compute | *)"), None),
        (REFUSING_COMPUTE.replace("pipefail\n", "pipefail\nshift\n"), None),
        (REFUSING_COMPUTE.replace("case", "test -f /x && case"), None),
    ],
)
def test_a_script_has_a_part_for_each_word_with_which_it_is_started(program: str, script: str, message: str | None) -> None:
    found = said({"set_up.py": program, "mount.sh": None, "accounting.sh": None, "kind.sh": script})
    assert [message in one for one in found] == [True] if message else found == []


def test_a_word_that_only_the_run_knows_may_be_any() -> None:
    program = ONE_BY_ONE + 'subprocess.run(["bash", "kind.sh", other()])\n'
    assert said({"set_up.py": program, "mount.sh": None, "accounting.sh": None, "kind.sh": WORKER}) == []


UNIT = "/etc/systemd/system/slurmd.service"


@pytest.mark.parametrize(
    ("line", "is_right"),
    [
        (f"envsubst < {UNIT} > {UNIT}", False),
        (f"envsubst < {UNIT} > slurmd.service && mv slurmd.service {UNIT}", True),
        (f"UNIT={UNIT}\nsed s/a/b/ $UNIT > $UNIT", False),
        (f"UNIT={UNIT}\nsed -i s/a/b/ $UNIT > /dev/null", True),
        ("FILE=$(mktemp)\nsort $FILE > $FILE", False),
        ("FILE=$(mktemp)\nsort $FILE > $FILE.sorted", True),
        ("sort names.txt >> names.txt", True),
        ("sort names.txt -o names.txt", True),
        ("cat names.txt | sort | tee names.txt", False),
        ("cat names.txt | sort | tee -a names.txt", True),
        ("cat names.txt | sort && cat > names.txt <<< x", True),
        ("grep names.txt > names.txt", True),
        ("echo names.txt > names.txt", True),
        ("read -r one < /dev/tty > /dev/tty", True),
        ("sort names.txt 2> names.txt", False),
        ("cat names.txt | sort | tee -i names.txt", False),
        ("cat names.txt | sort | tee -ia names.txt", True),
    ],
)
def test_a_command_does_not_empty_what_it_reads(line: str, is_right: bool) -> None:
    found = said({"mount.sh": f"{MOUNT}{line}\n"})
    assert ["the shell empties it before" in one for one in found] == [True] * (not is_right)


def added(lines: str) -> list[str]:
    """The mistakes of a cluster whose controller runs some lines more."""
    return said({"accounting.sh": f"{ACCOUNTING.replace('AccountingStoragePort=6819', '')}{lines}\n"})


@pytest.mark.parametrize("port", [6819, 3306])
@pytest.mark.parametrize(
    "line",
    [
        "echo AccountingStoragePort=@ | sudo tee -a /opt/slurm/etc/slurm.conf > /dev/null",
        "printf 'JobRequeue=1\\nAccountingStoragePort=%s\\n' @ >> /opt/slurm/etc/slurm.conf",
        "echo -e 'JobRequeue=1\\nAccountingStoragePort=@' >> /opt/slurm/etc/slurm.conf",
        "sudo bash -c 'echo AccountingStoragePort=@ >> /opt/slurm/etc/slurm.conf'",
        'add() { echo "$1" >> /opt/slurm/etc/slurm.conf; }\nadd AccountingStoragePort=@',
        "install /dev/stdin /opt/slurm/etc/accounting.conf <<< AccountingStoragePort=@",
    ],
)
def test_configurations_of_slurm_are_read_however_a_script_writes_them(line: str, port: int) -> None:
    found = added(line.replace("@", str(port)))
    assert [f"look for slurmdbd at port {port}" in one for one in found] == [True] * (port != 6819)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("echo slurm=1 > /opt/a.conf\necho SlurmdDebug=1 >> /opt/a.conf", "has slurmdbd.conf include /opt/a.conf with SlurmdDebug"),
        ("echo SlurmdDebug=1 > /opt/a.conf\necho slurm=1 >> /opt/a.conf", "has slurmdbd.conf include /opt/a.conf with SlurmdDebug"),
        ("echo DebugLevel=1 > /opt/a.conf\necho slurm=1 >> /opt/a.conf", None),
        ("echo SlurmdDebug=1 > /opt/a.conf\necho slurm=1 > /opt/a.conf", None),
    ],
)
def test_an_included_file_is_read_with_all_that_is_added_to_it(lines: str, message: str | None) -> None:
    found = added(f"echo include /opt/a.conf >> /opt/slurm/etc/slurmdbd.conf\n{lines}")
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("echo [Service] > /a.service\necho 'Environment=A=b c' >> /a.service", "a word without a name, behind a space"),
        ("echo [Service] > /a.service\necho 'Environment=\"A=b c\"' >> /a.service", None),
        ("echo [Service] > /a.service\necho 'Environment=A=b c' >> /b.service", None),
        ("printf '[Service]\\nEnvironment=%s\\n' 'A=b c' | sudo tee /a.service", "a word without a name, behind a space"),
        ("printf '[Service]\\nEnvironment=%s\\n' 'A=b C=d' | sudo tee /a.service", None),
        ("cat > /a.service <<-EOF\n\t[Service]\n\tEnvironment=A=b c\n\tEOF", "a word without a name, behind a space"),
        ("cat > /a.service <<-EOF\n\t[Service]\n\tEnvironment=A=b C=d\n\tEOF", None),
        ("sudo install -m 600 /dev/stdin /opt/a.cfg <<'EOF'\np=$PASSWORD\nEOF", "writes $PASSWORD as it stands into a file"),
        ("sudo install -m 600 /dev/stdin /opt/a.cfg <<EOF\np=$PASSWORD\nEOF", None),
        ("cat <<'EOF' | sudo tee /opt/a.cfg\np=$PASSWORD\nEOF", "writes $PASSWORD as it stands into a file"),
        ("cat <<'EOF' | sudo tee /etc/profile.d/a.sh > /dev/null\np=$PASSWORD\nEOF", None),
        ("cat <<'EOF' | sed \"s/.PASSWORD/$PASSWORD/\" | sudo tee /opt/a.cfg\np=$PASSWORD\nEOF", None),
    ],
)
def test_units_and_quoted_texts_are_read_however_a_script_writes_them(lines: str, message: str | None) -> None:
    found = added(lines)
    assert [message in one for one in found] == [True] if message else found == []


APPENDED = "cat >> /opt/slurm/etc/slurm.conf <<EOF"
ANEW = "cat > /opt/slurm/etc/slurm.conf <<EOF"


@pytest.mark.parametrize(
    ("new", "is_right"),
    [
        (ANEW, False),
        ("ETC=/opt/slurm/etc\ncat > $ETC/slurm.conf <<EOF", False),
        (f"{ANEW}\nClusterName=a", True),
        (f"OLD=$(cat old)\n{ANEW}\n$OLD", True),
        (f"{ANEW}\ninclude base.conf", True),
        ("cat > /tmp/slurm.conf <<EOF", True),
        (f"echo SlurmctldPort=6817 > /opt/slurm/etc/slurm.conf\n{APPENDED}", True),
        (f"cat /old >> /opt/slurm/etc/slurm.conf\n{APPENDED}", True),
        ("cat <<EOF | sudo tee /opt/slurm/etc/slurm.conf", False),
        ("cat <<EOF | sudo tee -a /opt/slurm/etc/slurm.conf", True),
        ("cat <<EOF | sudo tee /opt/slurm/etc/slurm.conf\nClusterName=a", True),
        ("sudo install -m 644 /dev/stdin /opt/slurm/etc/slurm.conf <<EOF", False),
        (f"printf 'ClusterName=%s\\n' a > /opt/slurm/etc/slurm.conf\n{APPENDED}", True),
        ("sudo sh -c 'echo A=b > /opt/slurm/etc/slurm.conf; cat /old >> /opt/slurm/etc/slurm.conf'\ncat > /opt/a <<EOF", True),
        ("sudo sh -c 'echo A=b > /opt/slurm/etc/slurm.conf; echo done'\ncat > /opt/a <<EOF", False),
        ("sudo sh -c 'echo A=b > /opt/slurm/etc/slurm.conf'\ncat /old >> /opt/slurm/etc/slurm.conf\ncat > /opt/a <<EOF", True),
    ],
)
def test_the_configuration_of_the_service_is_not_overwritten(new: str, is_right: bool) -> None:
    assert APPENDED in ACCOUNTING
    found = said({"accounting.sh": ACCOUNTING.replace(APPENDED, new)})
    assert ["slurm.conf anew, without the controller" in one for one in found] == [True] * (not is_right)


@pytest.mark.parametrize(
    ("region", "is_right"),
    [
        ("us-west-2", True),
        ("local", True),
        ("${AWS::Region}", True),
        ("$(cat region)", True),
        ("/slurm", False),
        ("${Secret}", False),
    ],
)
def test_a_region_is_no_other_text(region: str, is_right: bool) -> None:
    found = said({"mount.sh": f"{MOUNT}aws ssm get-parameter --region {region} --name /slurm/a\n"})
    assert ["gives aws ssm get-parameter the region" in one for one in found] == [True] * (not is_right)


@pytest.mark.parametrize(
    ("name", "set_up", "message"),
    [
        ("provisioning-parameters.json", "", "the scripts of the service read no provisioning-parameters.json; the nearest is"),
        ("provisioning-parameters.json", "open('provisioning-parameters.json')\n", None),
        ("parameters.json", "", None),
    ],
)
def test_a_file_with_nearly_the_name_that_the_scripts_of_the_service_read(name: str, set_up: str, message: str | None) -> None:
    files = {"provisioning_parameters.json": None, name: PARAMETERS, "set_up.py": set_up, "mount.sh": None, "accounting.sh": None}
    texts = texts_with_mistakes(made(files))
    found = [one.slip.message for several in texts.values() for one in several]
    assert [message in one for one in found] == [True] if message else found == []


_GROUPS = 12
_READING = (
    'import json\nfor one in json.load(open("/opt/ml/config/resource_config.json"))["InstanceGroups"]:\n    print(one["Name"])\n'
)


@pytest.mark.parametrize(
    ("set_up", "followed"),
    [("import subprocess\n", ["start.sh", "set_up.py"]), (_READING, ["start.sh", *["set_up.py"] * (_MOST_FOLLOWED + 1)])],
)
def test_a_file_is_followed_once_for_all_groups_but_for_what_reads_of_their_nodes(
    monkeypatch: pytest.MonkeyPatch, set_up: str, followed: list[str]
) -> None:
    seen: list[str] = []
    follow = node_programs._Uploaded._started_by

    def watched(uploaded: Any, start: Any, around: Any) -> Any:
        seen.append(start.name)
        return follow(uploaded, start, around)

    monkeypatch.setattr(node_programs._Uploaded, "_started_by", watched)
    model = made({"set_up.py": set_up}, names=[f"gpu-{number}" for number in range(_GROUPS)])
    found = [programs_of(group) for one in clusters(model) for group in one.groups]
    assert sorted(seen, reverse=True) == sorted(followed, reverse=True)
    assert len({repr(one.started) for one in found}) == 1
    assert len(found) == _GROUPS
