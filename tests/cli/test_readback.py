from __future__ import annotations

import pytest
from rich.console import Console

from hyperpod_constructs.cli import console, tables
from hyperpod_constructs.cli.readback import MAX_NODES, show
from hyperpod_constructs.cli.stacks import Resource
from tests.cli.conftest import StubbedTarget
from tests.cli.samples import ARN, CLUSTER, NOW, SESSION, answer_cluster, node

CLUSTER_RESOURCE = Resource("HyperPod-Cluster", "Cluster", "AWS::SageMaker::Cluster", ARN, False)
FILE_SYSTEM_RESOURCE = Resource("HyperPod-Foundation", "Lustre", "AWS::FSx::FileSystem", "fs-0123456789abcdef0", True)


def test_cluster_groups_nodes_and_shell(target: StubbedTarget, capsys: pytest.CaptureFixture[str]) -> None:
    answer_cluster(target)
    show(target, [CLUSTER_RESOURCE])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["cluster", "sagemaker-demo-cluster"] in lines
    assert ["arn", ARN] in lines
    assert ["status", "InService"] in lines
    assert ["workers", "ml.trn1.32xlarge", "1", "Running", "2", "InService"] in lines
    assert ["i-0000000000000000b", "workers", "ml.trn1.32xlarge", "Pending"] in lines
    assert SESSION.split() in lines


def test_output_is_plain_in_a_pipe(target: StubbedTarget, capsys: pytest.CaptureFixture[str]) -> None:
    answer_cluster(target)
    show(target, [CLUSTER_RESOURCE])
    out = capsys.readouterr().out
    assert out.isascii()
    assert "\x1b" not in out


def test_tables_fit_a_terminal_of_80_columns(
    target: StubbedTarget, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (console, tables):
        monkeypatch.setattr(module, "stdout", lambda: Console(force_terminal=True, color_system=None, width=80))
        monkeypatch.setattr(module, "is_terminal", lambda: True)
    nodes = [node("a-long-instance-group-name-of-a-research-team", f"i-{7:017x}", "ml.p6e-gb200.36xlarge")]
    target.answer("sagemaker", "describe_cluster", CLUSTER)
    target.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": nodes})
    show(target, [CLUSTER_RESOURCE])
    lines = capsys.readouterr().out.splitlines()
    table = [line for line in lines if not line.lstrip().startswith("hyperpod connect")]
    assert max(len(line) for line in table) <= 80
    assert any("ml.p6e-gb200.36xlarge" in line for line in table)


def test_many_nodes_are_cut_and_said_to_be(target: StubbedTarget, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [node("workers", f"i-{number:017x}", "ml.trn1.32xlarge") for number in range(MAX_NODES + 3)]
    target.answer("sagemaker", "describe_cluster", CLUSTER)
    target.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": nodes})
    show(target, [CLUSTER_RESOURCE])
    out = capsys.readouterr().out
    assert "and 3 more: hyperpod nodes --cluster sagemaker-demo-cluster" in out
    assert "no controller node is Running yet" in out


def test_messages_of_strangers_are_one_clean_line(target: StubbedTarget, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "\x1b[2Jlost\n::error::DB_PASSWORD=hunter2"
    broken = node("workers", "i-0000000000000000b", "ml.trn1.32xlarge")
    broken["InstanceStatus"] = {"Status": "Failure", "Message": hostile}
    target.answer("sagemaker", "describe_cluster", {**CLUSTER, "FailureMessage": hostile})
    target.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": [broken]})
    show(target, [CLUSTER_RESOURCE])
    out = capsys.readouterr().out
    assert "failure  lost ::error::DB_PASSWORD=***" in out
    assert "hunter2" not in out
    assert "\x1b" not in out


def test_file_systems_with_their_links(target: StubbedTarget, capsys: pytest.CaptureFixture[str]) -> None:
    file_system = {
        "FileSystemId": "fs-0123456789abcdef0",
        "FileSystemType": "LUSTRE",
        "StorageCapacity": 1200,
        "Lifecycle": "AVAILABLE",
        "DNSName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
        "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "MountName": "abcdefgh"},
        "CreationTime": NOW,
    }
    link = {
        "FileSystemPath": "/data",
        "DataRepositoryPath": "s3://data-bucket/",
        "Lifecycle": "AVAILABLE",
        "S3": {"AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]}},
    }
    ids = [FILE_SYSTEM_RESOURCE.physical_id]
    target.answer("fsx", "describe_file_systems", {"FileSystems": [file_system]}, FileSystemIds=ids)
    operation = "describe_data_repository_associations"
    of_file_system = [{"Name": "file-system-id", "Values": ids}]
    target.answer("fsx", operation, {"Associations": [], "NextToken": "2"}, Filters=of_file_system)
    target.answer("fsx", operation, {"Associations": [link]}, Filters=of_file_system, NextToken="2")
    show(target, [FILE_SYSTEM_RESOURCE])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["kind", "LUSTRE", "PERSISTENT_2,", "1200", "GiB"] in lines
    assert ["S3", "link", "/data", "=", "s3://data-bucket/"] in lines
    assert ["import", "NEW,", "CHANGED,", "DELETED"] in lines
    assert ["export", "not", "automatic"] in lines
