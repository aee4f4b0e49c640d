"""What programs of nodes find in the files of HyperPod and in those beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.entry_points import lacking
from hyperpod_constructs.analysis.texts.places import texts_with_mistakes
from hyperpod_constructs.templates.model import Model
from tests.analysis.test_node_programs import FILES, MOUNT, PARAMETERS, START, head, made

LOOPS = """
import json
import os
import subprocess

PATH = os.environ.get("RESOURCES", "/opt/ml/config/resource_config.json")
with open(PATH) as file:
    found = json.load(file)
with open("provisioning_parameters.json") as file:
    given = json.load(file)


def own_group(address):
    for group in found["InstanceGroups"]:
        for node in group.get("Instances") or []:
            if node["CustomerIpAddress"] == address:
                return group["Name"]
    raise SystemExit("not in the cluster")


def nodes_of(name):
    for group in found["InstanceGroups"]:
        if group["Name"] == name:
            return [node["InstanceId"] for node in group["Instances"]]
    return []


print(nodes_of("head"), found["ClusterConfig"]["ClusterName"], found.get("ClusterType"))
subprocess.run(["bash", "mount.sh", given["fsx_dns_name"], given["fsx_mountname"], "/fsx"], check=True)
if own_group(os.uname()) == given["controller_group"]:
    subprocess.run(["bash", "accounting.sh", *nodes_of(given["controller_group"])], check=True)
"""
NAMES = """
import json
from pathlib import Path

found = json.loads(Path("/opt/ml/config/resource_config.json").read_text())
groups = {group["Name"]: group["Instances"] for group in found["InstanceGroups"]}
with open("provisioning_parameters.json") as file:
    given = json.load(file)
first = groups[given["controller_group"]][0]["CustomerIpAddress"]
print(first, [node["InstanceName"] for node in sorted(groups["gpu"], key=str)], len(groups["head"]) > 1)
"""
LISTS = """
import json

for group in json.load(open("/opt/ml/config/resource_config.json"))["InstanceGroups"]:
    for node in group["Instances"]:
        print(node["InstanceId"])
"""
WRITES = 'open("/opt/ml/config/resource_configs.json", "w").write("{}")\nopen("state.json", "w")\n'
FALLS_BACK = """
import json
try:
    file = open("/opt/ml/input/config/resourceconfig.json")
except FileNotFoundError:
    file = open("/opt/ml/config/resource_config.json")
print(json.load(file)["InstanceGroups"])
"""
ASKS = """
import json, os
path = "/opt/ml/input/config/resourceconfig.json"
if not os.path.exists(path):
    path = "/opt/ml/config/resource_config.json"
print(json.load(open(path))["InstanceGroups"])
"""


def said(model: Model) -> list[tuple[str, str]]:
    """The mistakes in texts with their resources."""
    found = [one for several in texts_with_mistakes(model).values() for one in several]
    return [(one.resource.logical_id, one.slip.message) for one in found]


def program(text: str, **others: str) -> Model:
    return made({"set_up.py": text, "notes.txt": "mount.sh accounting.sh", **{"start.sh": START, **others}})


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (LOOPS, "", "", None),
        (LOOPS, 'found["InstanceGroups"]', 'found["Groups"]', "there is no Groups"),
        (LOOPS, 'group["Name"] ==', 'group["InstanceGroupName"] ==', "there is no InstanceGroupName"),
        (LOOPS, 'node["CustomerIpAddress"]', 'node["IpAddress"]', "there is no IpAddress"),
        (LOOPS, 'node["CustomerIpAddress"]', 'node.get("IpAddress")', None),
        (LOOPS, '["ClusterName"]', '["Name"]', "there is no Name"),
        (LOOPS, "/config/resource_config.json", "/resource_config.json", "nodes have no /opt/ml/resource_config.json; the nearest"),
        (LOOPS, "/config/resource_config.json", "/own/nodes.json", None),
        (NAMES, "", "", None),
        (NAMES, '[0]["CustomerIpAddress"]', '[0]["CustomerIPAddress"]', "there is no CustomerIPAddress"),
        (NAMES, 'node["InstanceName"]', 'node["Name"]', "there is no Name"),
        (NAMES, 'groups["gpu"]', 'groups["gpus"]', "there is no gpus"),
        (NAMES, "first =", 'found["Own"] = {}\nfound["Own"]["x"] = 1\nprint(found["Own"]["x"])\nfirst =', None),
        (NAMES, "first =", 'groups["gpu"].append({"Own": 1})\nprint([one["Own"] for one in groups["gpu"]])\nfirst =', None),
        (NAMES, "first =", 'try:\n    print(found["Own"])\nexcept KeyError:\n    print("none")\nfirst =', None),
        (NAMES, "first =", 'try:\n    print(found["Own"])\nexcept Exception:\n    exit(1)\nfirst =', "there is no Own"),
        (NAMES, "first =", 'try:\n    print(open("own.json"))\nexcept OSError:\n    print("none")\nfirst =', None),
        (NAMES, "first =", 'groups["gpu"].extend([{"Own": 1}])\nprint(groups["gpu"][0]["Own"])\nfirst =', None),
        (LISTS, "", "", None),
        (LISTS, '"InstanceId"', '"Id"', "there is no Id"),
        (WRITES, "", "", None),
        (FALLS_BACK, "", "", None),
        (ASKS, "", "", None),
    ],
)
def test_programs_find_the_groups_and_instances_of_their_cluster(text: str, old: str, new: str, message: str | None) -> None:
    assert old in text
    found = said(program(text.replace(old, new) if old else text))
    assert [message in one for _, one in found] == [True] if message else found == []


def test_a_variable_of_the_environment_that_a_script_sets_has_any_value() -> None:
    text = LOOPS.replace("/config/resource_config.json", "/resource_config.json")
    assert said(program(text, **{"start.sh": START.replace("python3", "export RESOURCES=/opt/own.json\npython3")})) == []


def test_a_file_that_a_script_makes_is_where_it_says() -> None:
    text = LOOPS.replace("/config/resource_config.json", "/own/resources_config.json")
    for place in ("/opt/ml/own", "$PLACE"):
        makes = START.replace("python3", f"curl -fso {place}/resources_config.json http://localhost/\npython3")
        assert said(program(text, **{"start.sh": makes.replace("set -euo pipefail", "PLACE=$(pwd)")})) == []


def test_a_program_may_fail_for_the_mistake_of_a_file_that_it_reads() -> None:
    """The file has the one finding."""
    wrong = made({"set_up.py": NAMES, "provisioning_parameters.json": PARAMETERS.replace('"head"', '"heads"')})
    assert [one for one in said(wrong) if "set_up" in one[1]] == []
    assert [one for one in said(wrong) if "heads" in one[1]] == [
        ("Scripts", "provisioning_parameters.json: Cluster has no group heads; the nearest is head")
    ]


def parameters(**changes: Any) -> str:
    return json.dumps({key: one for key, one in {**json.loads(PARAMETERS), **changes}.items() if one is not None})


def worker(name: str) -> dict[str, str]:
    return {"instance_group_name": name, "partition_name": "train"}


SPARE = "#!/bin/bash\nif [ -f /opt/gpu ]; then echo spare; fi\n"


@pytest.mark.parametrize(
    ("text", "others", "message"),
    [
        (parameters(worker_groups=[worker("head")]), {}, "head is the controller_group and a group of workers"),
        (parameters(login_group="gpu"), {}, "gpu is the login_group and a group of workers"),
        (parameters(login_group="gpu", worker_groups=[worker("head")]), {}, "head is the controller_group and a group of workers"),
        (parameters(login_group="head"), {}, None),
        (parameters(login_group="gpu", worker_groups=[]), {}, None),
        (parameters(worker_groups=[worker("${Name}")]), {}, None),
    ],
)
def test_each_group_has_one_part(text: str, others: dict[str, str], message: str | None) -> None:
    found = [one for _, one in said(made({"provisioning_parameters.json": text, **others}))]
    assert [message in one for one in found] == [True] if message else found == []


def with_group(model_files: dict[str, str | None] | None = None, **changes: Any) -> Model:
    """A cluster with one group more, which has no part."""
    model = made(model_files)
    raw = json.loads(json.dumps(model.templates[0].raw))
    groups = raw["Resources"]["Cluster"]["Properties"]["InstanceGroups"]
    raw["Resources"]["Cluster"]["Properties"]["InstanceGroups"] = [
        *groups,
        {**groups[1], "InstanceGroupName": "prep", "InstanceCount": 2, **changes},
    ]
    return Model.of({"t": raw})


ELSEWHERE = {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-elsewhere/a", "OnCreate": "start.sh"}}


@pytest.mark.parametrize(
    ("files", "changes", "message"),
    [
        ({}, {}, "group prep of Cluster has no part in it"),
        (
            {"provisioning_parameters.json": parameters(login_group="head")},
            {},
            "and head is the controller_group and the login",
        ),
        ({}, {"InstanceCount": 0}, None),
        ({}, ELSEWHERE, None),
        ({"mount.sh": f'{MOUNT}case "$3" in prep) ;; esac\n'}, {}, None),
        ({"provisioning_parameters.json": parameters(login_group="prep")}, {}, None),
    ],
)
def test_each_group_has_a_part(files: dict[str, str | None], changes: dict[str, Any], message: str | None) -> None:
    found = [one for _, one in said(with_group(files, **changes))]
    assert [message in one for one in found] == [True] if message else found == []


def counted(count: Any) -> Model:
    raw = json.loads(json.dumps(made().templates[0].raw))
    raw["Parameters"] = {"Count": {"Type": "Number"}}
    raw["Resources"]["Cluster"]["Properties"]["InstanceGroups"][0]["InstanceCount"] = count
    return Model.of({"t": raw})


def test_the_controller_has_a_node() -> None:
    message = "instance group 'head' is the controller of provisioning_parameters.json, and has no nodes"
    assert said(counted(0)) == [("Cluster", message)]
    assert said(counted(1)) == said(counted({"Ref": "Count"})) == []


CONF = "region = ${Region}\nhost = ${Lustre.DNSName}\n"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"site.json": '{"dns": "${!Lustre.DNSName}", "region": "${AWS::Region}"}'}, "keeps ${Lustre.DNSName} as it stands"),
        ({"site.yaml": "dns: ${!AWS::Region}\nother: ${Lustre}\n"}, "keeps ${AWS::Region} as it stands"),
        ({"site.json": '{"dns": "${Lustre.DNSName}", "own": "${!HOME}"}'}, None),
        ({"site.json": '{"dns": "${!Lustre}"}', "mount.sh": f"{MOUNT}envsubst < site.json > /opt/site.json\n"}, None),
        ({"site.json": '{"dns": "${!Lustre}"}', "mount.sh": f"{MOUNT}export Lustre=$1\n"}, None),
        ({"mount.sh": f"{MOUNT}Lustre=$1\necho ${{!Lustre}}\n"}, None),
        ({"notes.txt": "${!Lustre}"}, None),
    ],
)
def test_files_with_data_keep_no_names_of_the_template(files: dict[str, str | None], message: str | None) -> None:
    found = said(made(files))
    assert [message in one and at == "Scripts" for at, one in found] == [True] if message else found == []


def test_a_name_in_a_text_without_fn_sub_stands_as_it_is() -> None:
    raw = json.loads(json.dumps(made({"site.conf": "host = x"}).templates[0].raw))
    raw["Resources"]["Scripts"]["Properties"]["Files"]["site.conf"] = CONF
    assert [one.partition(" for ")[0] for _, one in said(Model.of({"t": raw}))] == ["site.conf"]
    raw["Resources"]["Scripts"]["Properties"]["Files"]["site.conf"] = {"Fn::Sub": [CONF, {"Region": "us-east-1"}]}
    assert said(Model.of({"t": raw})) == []
    raw["Resources"]["Scripts"]["Properties"]["Files"]["site.conf"] = {
        "Fn::Sub": [CONF.replace("${Region", "${!Region"), {"Region": "us-east-1"}]
    }
    assert [one.endswith("keeps ${Region} as it stands") for _, one in said(Model.of({"t": raw}))] == [True]


USERS = "#!/bin/bash\nset -euo pipefail\nwhile IFS=, read -r name uid; do\n  useradd -u $uid $name\ndone < users.txt\n"
OPENS = 'print(open("own.json").read())\n'
TRIES = f"try:\n    {OPENS}except FileNotFoundError:\n    pass\n"
LEAVES = START.replace("python3", "cd /opt/lifecycle\npython3")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"mount.sh": USERS}, "mount.sh opens users.txt, which nobody uploads"),
        ({"mount.sh": USERS, "users.txt": "a,1"}, None),
        ({"mount.sh": USERS.replace("done <", "done <<<")}, None),
        ({"mount.sh": USERS.replace("users.txt", "users.txt || true")}, None),
        ({"mount.sh": USERS.replace("users.txt", "/etc/users.txt")}, None),
        ({"mount.sh": USERS.replace("while", "getent passwd > users.txt\nwhile")}, None),
        (
            {"mount.sh": USERS.replace("users.txt", "./users.text"), "users.txt": "a,1"},
            "opens users.text, which nobody",
        ),
        ({"set_up.py": FILES["set_up.py"] + OPENS}, "set_up.py opens own.json, which nobody uploads"),
        ({"set_up.py": FILES["set_up.py"] + TRIES}, None),
        ({"set_up.py": FILES["set_up.py"] + 'open("own.json", "w").write("")\n'}, None),
        ({"start.sh": LEAVES}, "start.sh starts set_up.py in /opt/lifecycle, where nobody puts it"),
        ({"start.sh": LEAVES.replace("cd", "mkdir -p /opt/lifecycle\ncp * /opt/lifecycle\ncd")}, None),
        ({"start.sh": LEAVES.replace("cd /opt/lifecycle", "cd /opt/lifecycle\ncurl -O https://a.b/set_up.py")}, None),
        ({"start.sh": LEAVES.replace("cd /opt/lifecycle", "cd /opt/lifecycle\ngit clone https://a.b/c .")}, None),
        ({"start.sh": LEAVES.replace("cd /opt/lifecycle", 'cd "$(dirname "$0")"')}, None),
        ({"start.sh": LEAVES.replace("cd /opt/lifecycle", "cd /opt/lifecycle || true")}, None),
        ({"start.sh": LEAVES.replace("cd /opt/lifecycle", "(cd /opt/lifecycle && ./make)")}, None),
        ({"start.sh": LEAVES.replace("cd /opt/lifecycle", 'cd "$HERE"')}, None),
    ],
)
def test_files_that_scripts_open_and_start_are_beside_them(files: dict[str, str | None], message: str | None) -> None:
    found = list(lacking(head(made(files))))
    assert [message in one.message for one in found] == [True] if message else found == []
    assert all(one.at is not None and one.at.logical_id == "Scripts" and one.path[-1] in files for one in found)


JOB = "#!/bin/bash\n#SBATCH --nodes=2\nsrun --auto-resume=1 torchrun train.py\n"


@pytest.mark.parametrize(
    ("recovery", "job", "wrong"),
    [
        ("None", JOB, True),
        ("None", JOB.replace("=1", "=0"), False),
        ("None", JOB.replace("srun", "# srun"), False),
        ("Automatic", JOB, False),
        ({"Ref": "Recovery"}, JOB, False),
    ],
)
def test_a_cluster_replaces_the_nodes_for_which_jobs_wait(recovery: Any, job: str, wrong: bool) -> None:
    message = "train.sbatch asks for auto-resume, and the service replaces no faulty nodes"
    assert said(made({"train.sbatch": job}, NodeRecovery=recovery)) == ([("Cluster", message)] if wrong else [])


def test_the_files_of_these_tests_are_right() -> None:
    assert said(made()) == []
