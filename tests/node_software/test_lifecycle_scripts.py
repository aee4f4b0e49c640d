from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack, Token
from aws_cdk import aws_s3 as s3

from hyperpod_constructs import (
    ClusterInstanceType,
    ClusterNetwork,
    HyperPodCluster,
    InstanceGroup,
    LifecycleMode,
    LifecycleScripts,
    LustreMount,
    LustreStorage,
    OwnStep,
    SlurmNodeType,
    StepMoment,
)
from hyperpod_constructs.node_software import lifecycle_scripts
from hyperpod_constructs.node_software.lifecycle_scripts import content_hash, packaged_scripts
from tests.conftest import only, resources, synthesize

CONTROLLER = InstanceGroup(
    name="controller", node_type=SlurmNodeType.CONTROLLER, instance_type=ClusterInstanceType.M5_XLARGE, count=1
)
EXISTING = LustreStorage.from_attributes(file_system_id="fs-11111111", mount_name="m", dns_name="fs-11111111.fsx.example")
UPLOAD = "Custom::HyperPodScriptsUpload"
CLUSTER = "AWS::SageMaker::Cluster"


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    (tmp_path / "on_init_complete.sh").write_text("#!/bin/sh\necho\n")
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps" / "one.py").write_text("print()\n")
    return tmp_path


def version(stack: Stack) -> list[Any]:
    """The prefix of the upload without its first part, which names the cluster."""
    parts = only(stack, UPLOAD)["Properties"]["Prefix"]["Fn::Join"][1]
    piece = next(index for index, part in enumerate(parts) if "AWS::StackId" in str(part))
    return list(parts[piece + 1 :])


def prefix_of(directory: Path, *groups: InstanceGroup) -> Any:
    stack = Stack(App(), "Stack")
    HyperPodCluster(
        stack, "Cluster", instance_groups=groups or (CONTROLLER,), lifecycle_scripts=LifecycleScripts.from_asset(path=directory)
    )
    return version(stack)


def test_groups_name_the_uploaded_prefix_and_their_entry_point(stack: Stack) -> None:
    groups = [CONTROLLER, replace(CONTROLLER, name="w", node_type=SlurmNodeType.COMPUTE, lifecycle_mode=LifecycleMode.ON_CREATE)]
    HyperPodCluster(stack, "Cluster", instance_groups=groups)
    controller, workers = only(stack, CLUSTER)["Properties"]["InstanceGroups"]
    assert controller["LifeCycleConfig"]["SourceS3Uri"]["Fn::Join"][1][-1] == version(stack)[-1]
    assert controller["LifeCycleConfig"]["OnInitComplete"] == "on_init_complete.sh"
    assert workers["LifeCycleConfig"]["OnCreate"] == "on_create.sh"
    assert "OnCreate" not in controller["LifeCycleConfig"]


def test_a_group_may_run_no_script(stack: Stack) -> None:
    HyperPodCluster(stack, "Cluster", instance_groups=[replace(CONTROLLER, lifecycle_mode=LifecycleMode.NONE)])
    assert "LifeCycleConfig" not in only(stack, CLUSTER)["Properties"]["InstanceGroups"][0]


def test_the_prefix_is_the_same_for_the_same_content(scripts: Path) -> None:
    assert prefix_of(scripts) == prefix_of(scripts)


@pytest.mark.parametrize("change", ["content", "name", "mode", "added"])
def test_any_change_of_the_scripts_is_a_new_prefix(scripts: Path, change: str) -> None:
    before, step = prefix_of(scripts), scripts / "steps" / "one.py"
    if change == "content":
        step.write_text("print(1)\n")
    elif change == "name":
        step.rename(scripts / "steps" / "two.py")
    elif change == "mode":
        step.chmod(0o755)
    else:
        (scripts / "more").write_text("")
    assert prefix_of(scripts) != before


@pytest.mark.parametrize(
    "changed",
    [
        replace(CONTROLLER, name="head"),
        replace(CONTROLLER, file_systems=(LustreMount(file_system=EXISTING),)),
    ],
)
def test_any_change_of_the_configuration_is_a_new_prefix(scripts: Path, changed: InstanceGroup) -> None:
    stack = Stack(App(), "Stack")
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")
    parts = LifecycleScripts.from_asset(path=scripts)
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[changed], lifecycle_scripts=parts)
    assert version(stack) != prefix_of(scripts)


def test_a_larger_count_is_not_a_new_prefix(scripts: Path) -> None:
    workers = InstanceGroup(name="workers", instance_type=ClusterInstanceType.P5_48XLARGE, count=4)
    assert prefix_of(scripts, CONTROLLER, workers) == prefix_of(scripts, CONTROLLER, replace(workers, count=6))


def test_the_prefix_holds_every_deploy_time_value_of_the_configuration(
    stack: Stack, network: ClusterNetwork, lustre: LustreStorage
) -> None:
    mount = LustreMount(file_system=lustre)
    workers = InstanceGroup(name="workers", instance_type=ClusterInstanceType.P5_48XLARGE, count=4, file_systems=(mount,))
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[replace(CONTROLLER, file_systems=(mount,)), workers])
    properties = only(stack, UPLOAD)["Properties"]

    def values(parts: list[Any]) -> set[str]:
        return {json.dumps(part, sort_keys=True) for part in parts if not isinstance(part, str)}

    in_configuration = values(properties["Configuration"]["Fn::Join"][1])
    assert len(in_configuration) == 2
    assert values(version(stack)) == in_configuration


def test_the_scripts_read_the_configuration(
    stack: Stack, network: ClusterNetwork, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mount = LustreMount(file_system=replace(EXISTING, efa_enabled=True))
    workers = InstanceGroup(name="workers", instance_type=ClusterInstanceType.P5_48XLARGE, count=4, file_systems=(mount,))
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER, workers])
    (tmp_path / "config.json").write_text(only(stack, UPLOAD)["Properties"]["Configuration"])
    monkeypatch.syspath_prepend(str(packaged_scripts()))
    from node_setup.config import read_config

    config = read_config(tmp_path / "config.json")
    assert config.groups["workers"].node_type == "Compute"
    assert config.groups["workers"].partition == "workers"
    assert [(mounted.dns_name, mounted.efa) for mounted in config.mounts("workers")] == [("fs-11111111.fsx.example", True)]
    assert {name: group.gpus for name, group in config.groups.items()} == {"controller": False, "workers": True}


def test_compiled_python_is_left_out(scripts: Path) -> None:
    before = content_hash(scripts)
    (scripts / "steps" / "__pycache__").mkdir()
    (scripts / "steps" / "__pycache__" / "one.cpython-311.pyc").write_bytes(b"\0")
    assert content_hash(scripts) == before
    stack = Stack(App(), "Stack")
    cluster = HyperPodCluster(
        stack, "Cluster", instance_groups=[CONTROLLER], lifecycle_scripts=LifecycleScripts.from_asset(path=scripts)
    )
    synthesize(stack)
    app = cluster.node.root
    assert isinstance(app, App)
    staged = [path for path in Path(app.synth().directory).rglob("*") if "__pycache__" in path.parts]
    assert staged == []


def test_the_bucket_is_private_encrypted_and_named_for_the_service(stack: Stack) -> None:
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER])
    bucket = only(stack, "AWS::S3::Bucket")
    assert bucket["DeletionPolicy"] == "Delete"
    properties = bucket["Properties"]
    assert properties["BucketName"]["Fn::Join"][1][0].startswith("sagemaker-hyperpod-")
    assert "AWS::StackId" in str(properties["BucketName"])
    assert all(properties["PublicAccessBlockConfiguration"].values())
    assert "BucketEncryption" in properties
    assert "aws:SecureTransport" in str(only(stack, "AWS::S3::BucketPolicy"))


def test_an_existing_bucket_is_used(stack: Stack) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "team-scripts")
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER], lifecycle_scripts=LifecycleScripts.from_asset(bucket=bucket))
    assert resources(stack, "AWS::S3::Bucket") == {}
    assert only(stack, UPLOAD)["Properties"]["Bucket"] == "team-scripts"


def test_scripts_that_are_in_s3_already(stack: Stack) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "team-scripts")
    source = LifecycleScripts.from_bucket(bucket, "v1/", on_init_complete="run.sh")
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER], lifecycle_scripts=source)
    group = only(stack, CLUSTER)["Properties"]["InstanceGroups"][0]
    assert group["LifeCycleConfig"] == {"SourceS3Uri": "s3://team-scripts/v1", "OnInitComplete": "run.sh"}
    assert resources(stack, UPLOAD) == {}
    assert "team-scripts/v1/*" in str(resources(stack, "AWS::IAM::Policy"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("on_init_complete.sh", "#!/bin/sh\r\necho\r\n", r"on_init_complete.sh:1 ends in CR LF"),
        ("steps/two.sh", "#!/bin/sh\necho\necho\r\n", r"two.sh:3 ends in CR LF"),
        ("on_init_complete.sh", "echo\n", r"on_init_complete.sh:1 is 'echo'; the first line names the interpreter"),
        ("provisioning_parameters.json", "{}", r"holds provisioning_parameters.json, which the service refuses"),
        ("config.json", "{}", r"holds config.json, but the cluster renders that file; rename yours"),
    ],
)
def test_fails_on_scripts_that_no_node_runs(scripts: Path, name: str, content: str, message: str) -> None:
    (scripts / name).write_bytes(content.encode())
    with pytest.raises(ValueError, match=message):
        LifecycleScripts.from_asset(path=scripts)


def test_fails_on_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere is not a directory"):
        LifecycleScripts.from_asset(path=tmp_path / "nowhere")


def test_a_group_named_by_a_token_is_in_the_prefix_and_leaves_the_hash_alone() -> None:
    def rendered(unrelated: int) -> list[Any]:
        stack = Stack(App(), "Stack")
        for number in range(unrelated):
            assert Token.is_unresolved(CfnParameter(stack, f"Unrelated{number}").value_as_string)
        name = CfnParameter(stack, "Name").value_as_string
        HyperPodCluster(
            stack, "Cluster", instance_groups=[CONTROLLER, replace(CONTROLLER, name=name, node_type=SlurmNodeType.COMPUTE)]
        )
        return version(stack)

    assert rendered(0) == rendered(3)
    assert {"Ref": "Name"} in rendered(0)


def test_scripts_at_the_root_of_a_bucket(stack: Stack) -> None:
    source = LifecycleScripts.from_bucket(s3.Bucket.from_bucket_name(stack, "Bucket", "team-scripts"), "")
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER], lifecycle_scripts=source)
    group = only(stack, CLUSTER)["Properties"]["InstanceGroups"][0]
    assert group["LifeCycleConfig"]["SourceS3Uri"] == "s3://team-scripts"
    assert "team-scripts/*" in str(resources(stack, "AWS::IAM::Policy"))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "scratch disk.sh"
    path.write_text("#!/bin/bash\nmkdir -p /scratch\n")
    return path


def uploaded(stack: Stack) -> Path:
    """The directory that the assembly publishes."""
    app = stack.node.root
    assert isinstance(app, App)
    found = [path for path in Path(app.outdir).glob("asset.*") if (path / "on_init_complete.sh").is_file()]
    assert len(found) == 1
    return found[0]


def test_own_steps_are_uploaded_and_read_by_the_node(
    stack: Stack, own: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    steps = [
        OwnStep(script=own, when=StepMoment.BEFORE, node_types=[SlurmNodeType.COMPUTE], mandatory=False, timeout_seconds=30),
        OwnStep(script=str(own), name="again"),
    ]
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER], lifecycle_scripts=LifecycleScripts.from_asset(steps=steps))
    (tmp_path / "config.json").write_text(only(stack, UPLOAD)["Properties"]["Configuration"])
    monkeypatch.syspath_prepend(str(packaged_scripts()))
    from node_setup.config import read_config
    from node_setup.own_steps import OwnStep as Read

    assert read_config(tmp_path / "config.json").own_steps == [
        Read("scratch-disk", "before", ["Compute"], False, 30),
        Read("again", "after", [], True, 600),
    ]
    directory = uploaded(stack)
    assert (directory / "own" / "scratch-disk").read_bytes() == (directory / "own" / "again").read_bytes() == own.read_bytes()
    assert (directory / "node_setup" / "__main__.py").is_file()


def test_a_change_of_an_own_step_is_a_new_prefix(own: Path) -> None:
    def prefix() -> Any:
        stack = Stack(App(), "Stack")
        scripts = LifecycleScripts.from_asset(steps=[OwnStep(script=own)])
        HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER], lifecycle_scripts=scripts)
        return version(stack)

    before = prefix()
    assert prefix() == before
    own.write_text("#!/bin/bash\nmkdir -p /elsewhere\n")
    assert prefix() != before


def test_own_steps_leave_the_prefix_of_other_clusters_alone(stack: Stack, own: Path) -> None:
    steps = LifecycleScripts.from_asset(steps=[OwnStep(script=own)])
    HyperPodCluster(stack, "With", instance_groups=[CONTROLLER], lifecycle_scripts=steps)
    HyperPodCluster(stack, "Without", instance_groups=[CONTROLLER])
    alone = Stack(App(), "Stack")
    HyperPodCluster(alone, "Without", instance_groups=[CONTROLLER])
    template = resources(stack, UPLOAD)
    expected = resources(alone, UPLOAD)
    id = next(iter(expected))
    assert template[id]["Properties"] == expected[id]["Properties"]


def test_fails_on_own_steps_that_cannot_run(own: Path, scripts: Path) -> None:
    with pytest.raises(
        ValueError, match=r"^lifecycle scripts: two steps are named scratch-disk; give each its own: OwnStep\(name="
    ):
        LifecycleScripts.from_asset(steps=[OwnStep(script=own), OwnStep(script=own)])
    with pytest.raises(ValueError, match=r"steps \(scratch-disk\) run beside this library's scripts, and path .* replaces them"):
        LifecycleScripts.from_asset(path=scripts, steps=[OwnStep(script=own)])
    with pytest.raises(ValueError, match=r"^OwnStep: script 'nothing.sh' is not a file; write the path"):
        OwnStep(script="nothing.sh")
    with pytest.raises(ValueError, match=r"^OwnStep 'a b': name is 'a b'; allowed: 1 to 40 letters.*; write name=\"a-b\""):
        OwnStep(script=own, name="a b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#!/bin/bash\nif true; then\necho\n", r"scratch disk.sh:4: syntax error: unexpected end of file.*; correct the script"),
        ("#! /usr/bin/env bash\nfoo(\n", r"scratch disk.sh:\d: syntax error"),
        ("#!/bin/sh\ndone\n", r"scratch disk.sh:2: syntax error near unexpected token `done'"),
        ("echo\n", r"scratch disk.sh:1 is 'echo'; the first line names the interpreter"),
        ("#!/bin/sh\r\n", r"scratch disk.sh:1 ends in CR LF"),
        ("#!/bin/sh\n" + "#" * 1024 * 1024, r"scratch disk.sh has 1048586 bytes; allowed: 1048576"),
    ],
)
def test_fails_on_a_script_that_nodes_cannot_run(own: Path, text: str, message: str) -> None:
    own.write_bytes(text.encode())
    with pytest.raises(ValueError, match=message):
        OwnStep(script=own)
    (own.parent / "on_init_complete.sh").write_text("#!/bin/sh\n")
    with pytest.raises(ValueError, match=message):
        LifecycleScripts.from_asset(path=own.parent)


def test_a_script_in_another_language_is_not_read_by_a_shell(own: Path) -> None:
    own.write_text("#!/usr/bin/env python3\nif True:\n    print(')')\n")
    assert OwnStep(script=own).step_name == "scratch-disk"


def test_the_scripts_of_this_library_are_not_checked_again(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[Path] = []
    monkeypatch.setattr(lifecycle_scripts, "check_script", checked.append)
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER])
    assert checked == []


def test_a_script_is_never_run_by_the_check(own: Path) -> None:
    own.write_text(f"#!/bin/bash\ntouch '{own.parent}/ran'\n")
    OwnStep(script=own)
    assert not (own.parent / "ran").exists()


def test_without_bash_the_syntax_is_not_checked(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own.write_text("#!/bin/bash\nif # nobody reads this\n")
    monkeypatch.setenv("PATH", str(own.parent))
    assert OwnStep(script=own).step_name == "scratch-disk"
