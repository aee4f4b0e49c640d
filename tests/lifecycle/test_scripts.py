"""The entry scripts as programs, in a temporary root."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import CONFIG, LUSTRE, MOUNTED, Node, instances

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ node_setup (.*)")


def events(node: Node) -> list[str]:
    """The lines of the log without their times and seconds."""
    found = []
    for line in node.log:
        match = LINE.fullmatch(line)
        assert match is not None, line
        found.append(re.sub(r"(, \d+ changes|, nothing to change)? after \d+\.\d s$", "", match[1]))
    return found


def test_a_worker_names_its_role_and_its_steps(node: Node) -> None:
    assert node.run("on_init_complete.sh") == 0
    steps = ["install", "boot", "mounts", "image", "limits", "hooks"]
    assert events(node) == [
        "start: on_init_complete",
        "start: read config.json",
        "end: read config.json: ok",
        "start: name the role",
        "role: Compute in group workers, partition gpu, instance i-workers, addresses 10.1.0.5",
        "end: name the role: ok",
        *[f"{event}: {step}{outcome}" for step in steps for event, outcome in (("start", ""), ("end", ": ok"))],
        "end: on_init_complete: ok",
    ]


def test_every_end_has_its_seconds(node: Node) -> None:
    node.run("on_init_complete.sh")
    assert all(re.search(r" after \d+\.\d s$", line) for line in node.log if " end: " in line)


def test_a_group_without_mounts_checks_none(node: Node) -> None:
    node.address("10.1.0.4")
    node.write("proc/mounts", "")
    node.write("opt/slurm/etc/slurm.conf", "ClusterName=demo\nSlurmctldHost=a\nPartitionName=dev\ninclude accounting.conf\n")
    node.write("opt/slurm/bin/scontrol", "#!/bin/sh\n")
    (node.root / "opt/slurm/bin/scontrol").chmod(0o755)
    assert node.run("on_init_complete.sh") == 0
    assert "role: Controller in group controller, instance i-controller, addresses 10.1.0.4" in events(node)
    assert "start: mounts" not in events(node)


def test_fails_on_create_without_the_mount(node: Node) -> None:
    node.write("proc/mounts", "")
    assert node.run("on_create.sh") == 1
    assert events(node)[-1] == "failed: mounts: mount -t lustre: ended with 127: mount is not installed"


def test_fails_on_create_for_a_node_whose_role_is_unknown(node: Node) -> None:
    node.resources(None)
    assert node.run("on_create.sh") == 1
    assert re.search(r"failed: .*resource_config.json: names no instance with an address of this node \(10.1.0.5\)", node.log[-1])


def test_the_installed_programs_boot_without_the_scripts(node: Node) -> None:
    assert node.run("on_init_complete.sh") == 0
    shutil.rmtree(node.bundle)
    (node.root / "opt/ml/config/resource_config.json").unlink()
    command = [sys.executable, "-B", "-m", "node_setup", "boot"]
    done = subprocess.run(  # noqa: S603
        command, cwd=node.root / "opt/hyperpod", env=node.environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert "role: Compute in group workers" in done.stdout


def test_a_second_run_appends(node: Node) -> None:
    assert node.run("on_init_complete.sh") == 0
    once = events(node)
    assert node.run("on_init_complete.sh") == 0
    assert events(node) == once + once
    changes = [line for line in node.log[len(once) :] if line.endswith("changes") or " changes after" in line]
    assert changes == []


def test_nothing_is_written_beside_the_scripts(node: Node) -> None:
    for compiled in list(node.bundle.rglob("__pycache__")):
        shutil.rmtree(compiled)
    node.run("on_init_complete.sh")
    assert not list(node.bundle.rglob("__pycache__"))


def test_openzfs_is_checked(node: Node) -> None:
    mount = {"type": "openzfs", "path": "/fsx", "dns_name": "fs-1.fsx.example"}
    node.config({**CONFIG, "mounts": {"workers": [mount]}})
    node.write("proc/mounts", "fs-1.fsx.example:/fsx /fsx nfs4 rw 0 0\n")
    assert node.run("on_init_complete.sh") == 0


def test_the_resource_config_of_the_environment_is_read(node: Node) -> None:
    moved = node.root / "elsewhere.json"
    (node.root / "opt/ml/config/resource_config.json").rename(moved)
    node.environment["SAGEMAKER_RESOURCE_CONFIG_PATH"] = str(moved)
    assert node.run("on_init_complete.sh") == 0


@pytest.mark.parametrize("groups", [None, [], [{"Name": "workers", "Instances": None}], [instances("workers", "10.1.0.9")]])
def test_a_node_that_is_not_listed_has_an_unknown_role(node: Node, groups: object) -> None:
    node.resources(groups)
    node.write("proc/mounts", "")
    assert node.run("on_init_complete.sh") == 0
    assert any(event.startswith("role: unknown, ") and event.endswith("addresses 10.1.0.5") for event in events(node))


def test_fails_for_an_unknown_role_without_a_mount_of_every_group(node: Node) -> None:
    node.resources(None)
    node.config({**CONFIG, "mounts": {"workers": [LUSTRE], "controller": [LUSTRE]}})
    node.write("proc/mounts", "")
    assert node.run("on_init_complete.sh") == 1
    assert events(node)[-1].startswith("failed: mounts: /fsx: ")


def test_an_unknown_role_needs_no_mount_that_a_group_lacks(node: Node) -> None:
    node.resources(None)
    groups = {**CONFIG["groups"], "login": {"node_type": "Login"}}
    node.config({**CONFIG, "groups": groups, "mounts": {"workers": [LUSTRE], "controller": [LUSTRE]}})
    node.write("proc/mounts", "")
    assert node.run("on_init_complete.sh") == 0


def test_fails_when_the_mount_is_missing(node: Node) -> None:
    node.write("proc/mounts", "systemd-1 /fsx autofs rw 0 0\n")
    assert node.run("on_init_complete.sh") == 1
    assert events(node)[-3:] == [
        "end: mounts: error",
        "end: on_init_complete: error",
        "failed: mounts: /fsx: the lustre file system fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com is not mounted",
    ]


def test_fails_when_the_mount_cannot_be_entered(node: Node) -> None:
    (node.root / "fsx").rmdir()
    assert node.run("on_init_complete.sh") == 1
    assert events(node)[-1].endswith("is mounted but cannot be read")


@pytest.mark.parametrize(
    "entry",
    [
        "10.1.0.99@tcp:/other123 /fsx lustre rw 0 0",
        "fs-other.fsx.us-west-2.amazonaws.com@tcp:/abcd1234 /fsx lustre rw 0 0",
        "/dev/nvme1n1 /fsx ext4 rw 0 0",
        MOUNTED + "tmpfs /fsx tmpfs rw 0 0",
    ],
)
def test_fails_at_once_for_another_file_system(node: Node, entry: str) -> None:
    node.environment["NODE_SETUP_MOUNT_SECONDS"] = "300"
    node.write("proc/mounts", entry + "\n")
    assert node.run("on_init_complete.sh") == 1
    assert re.match(r"failed: mounts: /fsx: mounted is .*, expected is lustre from fs-0123", events(node)[-1])


def test_fails_for_a_group_that_the_configuration_lacks(node: Node) -> None:
    node.resources([instances("extra", "10.1.0.5")])
    assert node.run("on_init_complete.sh") == 1
    assert events(node)[-1] == "failed: group 'extra' of this node is not in config.json, which has controller, workers"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "resource_config.json: cannot be read: No such file or directory"),
        ("{", "resource_config.json: is not JSON: "),
        (
            {"InstanceGroups": [{"Instances": [{}]}]},
            "resource_config.json: is malformed: KeyError('Name')",
        ),
        ({}, "resource_config.json: is malformed: KeyError('InstanceGroups')"),
        ([], "resource_config.json: is malformed: TypeError"),
    ],
)
def test_fails_without_a_valid_resource_config(node: Node, content: object, message: str) -> None:
    if content is None:
        (node.root / "opt/ml/config/resource_config.json").unlink()
    else:
        node.write("opt/ml/config/resource_config.json", content)
    assert node.run("on_init_complete.sh") == 1
    assert message in events(node)[-1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "config.json: cannot be read: No such file or directory"),
        ("", "config.json: is not JSON: "),
        ([], "the document is [], it must be an object"),
        ({"version": 1}, "the document lacks the key 'groups'"),
        ({**CONFIG, "version": 2}, "version is 2, these scripts read 1"),
        (
            {**CONFIG, "extra": 1},
            "has the unknown key 'extra', allowed are version, groups, cluster, mounts, software, scheduling, steps",
        ),
        ({"version": 1, "groups": {}}, "groups is empty"),
        ({"version": 1, "groups": []}, "groups is [], it must be an object"),
        ({"version": 1, "groups": {"a": {}}}, "groups.a lacks the key 'node_type'"),
        (
            {"version": 1, "groups": {"a": {"node_type": "Head"}}},
            "groups.a.node_type is 'Head', allowed are Controller",
        ),
        ({"version": 1, "groups": {"a": {"node_type": "Compute", "partition": ""}}}, "groups.a.partition is ''"),
        ({**CONFIG, "mounts": {"others": []}}, "mounts.others belongs to no group; groups are controller, workers"),
        ({**CONFIG, "mounts": {"workers": {}}}, "mounts.workers is {}, it must be a list"),
        ({**CONFIG, "mounts": {"workers": [{}]}}, "mounts.workers[0].type is None, allowed are lustre, openzfs"),
        ({**CONFIG, "mounts": {"workers": ["x"]}}, "mounts.workers[0].type is None"),
        ({**CONFIG, "mounts": {"workers": [{**LUSTRE, "size": 1}]}}, "mounts.workers[0] has the unknown key 'size'"),
        ({**CONFIG, "mounts": {"workers": [{**LUSTRE, "path": 1}]}}, "mounts.workers[0].path is 1"),
    ],
)
def test_fails_without_a_valid_configuration(node: Node, content: object, message: str) -> None:
    if content is None:
        (node.bundle / "config.json").unlink()
    else:
        node.config(content)
    assert node.run("on_init_complete.sh") == 1
    assert events(node)[-1].startswith(f"failed: {node.bundle.resolve() / 'config.json'}: ")
    assert message in events(node)[-1]


def test_fails_for_what_nobody_foresaw_with_its_cause_last(node: Node) -> None:
    node.environment["NODE_SETUP_MOUNT_SECONDS"] = "soon"
    assert node.run("on_init_complete.sh") == 1
    assert any("Traceback" in line for line in node.log)
    assert node.log[-1].endswith("failed: ValueError: could not convert string to float: 'soon'")


@pytest.mark.parametrize("script", ["on_init_complete.sh", "on_create.sh"])
def test_a_failure_waits_until_the_log_is_uploaded(node: Node, script: str) -> None:
    """A double of `sleep` records the time; the end of the log must reach CloudWatch before the exit."""
    del node.environment["NODE_SETUP_UPLOAD_SECONDS"]
    node.write("bin/sleep", f'#!/bin/sh\necho "$1" >"{node.root}/slept"\n')
    (node.root / "bin/sleep").chmod(0o755)
    node.environment["PATH"] = f"{node.root}/bin:{node.environment['PATH']}"
    assert node.run(script) == 0
    assert not (node.root / "slept").exists()
    (node.bundle / "config.json").unlink()
    assert node.run(script) == 1
    assert (node.root / "slept").read_text(encoding="utf-8") == "60\n"


def test_fails_with_a_trace_when_there_is_no_python(node: Node) -> None:
    tools = node.root / "bin"
    tools.mkdir()
    for tool in ("dirname", "mkdir", "sleep"):
        found = shutil.which(tool)
        assert found is not None
        (tools / tool).symlink_to(Path(found).resolve())
    node.environment["PATH"] = str(tools)
    assert node.run("on_init_complete.sh") == 1
    assert "python3" in node.log[-1]
