"""Links between file systems and S3."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from hyperpod_constructs.rules.finding import Level
from tests.rules.catalogue.templates import Template, findings, preset, properties, rules_of, slurm


def linked(*others: tuple[str, Any], file_system: str = "FileSystem") -> Template:
    """Beside the association of /data with datasets/, others: directory and prefix."""
    template = slurm()
    for index, (directory, prefix) in enumerate(others):
        link = deepcopy(template["Resources"]["Link"])
        link["Properties"].update(FileSystemPath=directory, FileSystemId={"Ref": file_system})
        link["Properties"]["DataRepositoryPath"] = {"Fn::Sub": f"s3://${{Data}}/{prefix}"} if isinstance(prefix, str) else prefix
        template["Resources"][f"Other{index}"] = link
    return template


def second_file_system(template: Template) -> Template:
    """Another one, like the first."""
    template["Resources"]["Second"] = deepcopy(template["Resources"]["FileSystem"])
    return template


@pytest.mark.parametrize(
    "other",
    [
        ("/data2", "datasets2/"),
        ("/models", {"Fn::Sub": "s3://${AWS::StackName}/datasets/"}),
        ("/models", "${AWS::StackName}/"),
        ({"Ref": "AWS::StackName"}, "models/"),
    ],
)
def test_links_apart_are_fine(other: tuple[Any, Any]) -> None:
    assert rules_of(linked(other)) == []


@pytest.mark.parametrize("directory", ["/data", "/data/", "/data/raw", "/"])
def test_directories_overlap(directory: str) -> None:
    (finding,) = findings(linked((directory, "models/")))

    assert (finding.rule, finding.level, finding.resource) == ("HP-DRA-002", Level.ERROR, "Other0")
    assert finding.message == f"FileSystemPath {directory!r} overlaps '/data' of Link"


@pytest.mark.parametrize("prefix", ["datasets/", "datasets", "datasets/raw/", "", "datasets/${AWS::Region}/"])
def test_prefixes_overlap(prefix: str) -> None:
    (finding,) = findings(linked(("/models", prefix)))

    assert (finding.rule, finding.level, finding.resource) == ("HP-DRA-003", Level.ERROR, "Other0")
    assert finding.path == "Properties/DataRepositoryPath"


def test_one_link_twice_is_one_mistake() -> None:
    assert rules_of(linked(("/data", "datasets/"))) == ["HP-DRA-002"]


def test_eight_links_are_the_most() -> None:
    others = [(f"/d{index}", f"p{index}/") for index in range(8)]
    assert rules_of(linked(*others[:7])) == []

    (finding,) = findings(linked(*others))
    assert (finding.rule, finding.level, finding.resource) == ("HP-DRA-001", Level.ERROR, "Other7")


def test_two_file_systems_that_export_to_one_prefix() -> None:
    template = second_file_system(linked(("/data", "datasets/"), file_system="Second"))

    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.resource) == ("HP-DRA-004", Level.WARNING, "Other0")


def test_one_that_exports_and_one_that_imports_are_fine() -> None:
    template = second_file_system(linked(("/data", "datasets/"), file_system="Second"))
    del properties(template, "Other0")["S3"]["AutoExportPolicy"]

    assert rules_of(template) == []


@pytest.mark.parametrize("versioning", [None, {"Status": "Suspended"}])
def test_deletions_are_exported_to_a_bucket_without_versions(versioning: object) -> None:
    template = slurm()
    properties(template, "Link")["S3"]["AutoExportPolicy"]["Events"].append("DELETED")
    assert rules_of(template) == []

    properties(template, "Data").update({"VersioningConfiguration": versioning} if versioning else {})
    if versioning is None:
        del properties(template, "Data")["VersioningConfiguration"]
    (finding,) = findings(template)
    assert (finding.rule, finding.level, finding.resource) == ("HP-DRA-005", Level.WARNING, "Link")
    assert finding.path == "Properties/S3/AutoExportPolicy/Events"
    assert "one rm -rf on the file system would empty it for good" in finding.message


def test_the_file_system_is_named_if_it_has_not_its_own_version() -> None:
    template = slurm()
    properties(template, "FileSystem")["FileSystemTypeVersion"] = "2.10"

    assert rules_of(template) == ["HP-FSX-007"]


def test_a_bucket_of_others_is_believed() -> None:
    template = slurm()
    properties(template, "Link")["S3"]["AutoExportPolicy"]["Events"].append("DELETED")
    properties(template, "Link")["DataRepositoryPath"] = "s3://somebody/datasets/"

    assert rules_of(template) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"LustreConfiguration": {}, "StorageCapacity": 3600}, "of type SCRATCH_1"),
        ({"LustreConfiguration": {"DeploymentType": "SCRATCH_2"}, "FileSystemTypeVersion": "2.10"}, "of Lustre 2.10"),
        (
            {
                "StorageType": "INTELLIGENT_TIERING",
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_2",
                    "ThroughputCapacity": 4000,
                    "DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"},
                },
            },
            "an Intelligent-Tiering one",
        ),
        (
            {"FileSystemType": "OPENZFS", "OpenZFSConfiguration": {"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 160}},
            "of type OPENZFS",
        ),
    ],
)
def test_a_file_system_that_takes_no_links(changes: Template, message: str) -> None:
    template = second_file_system(linked(("/data", "models/"), file_system="Second"))
    properties(template, "Second").update(changes)
    if "INTELLIGENT_TIERING" in changes.values():
        del properties(template, "Second")["StorageCapacity"]
    if "OPENZFS" in changes.values():
        del properties(template, "Second")["LustreConfiguration"], properties(template, "Second")["FileSystemTypeVersion"]

    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.resource) == ("HP-DRA-006", Level.ERROR, "Other0")
    assert message in finding.message


@pytest.mark.parametrize(("days", "expected"), [(7, ["HP-DRA-007"]), ("7", ["HP-DRA-007"]), (0, [])])
def test_links_and_backups(days: object, expected: list[str]) -> None:
    template = slurm()
    properties(template, "FileSystem")["LustreConfiguration"]["AutomaticBackupRetentionDays"] = days

    assert rules_of(template) == expected


def test_backups_without_links_are_fine() -> None:
    template = slurm()
    del template["Resources"]["Link"]
    properties(template, "FileSystem")["LustreConfiguration"]["AutomaticBackupRetentionDays"] = 7

    assert rules_of(template) == []


def test_links_of_two_kinds() -> None:
    template = slurm()
    properties(template, "FileSystem").update(
        FileSystemTypeVersion="2.12",
        LustreConfiguration={
            "DeploymentType": "PERSISTENT_1",
            "PerUnitStorageThroughput": 50,
            "ImportPath": "s3://somebody/datasets/",
        },
    )

    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.resource) == ("HP-DRA-008", Level.ERROR, "FileSystem")
    del template["Resources"]["Link"]
    assert rules_of(template) == []


def test_a_directory_without_slash() -> None:
    template = slurm()
    properties(template, "Link")["FileSystemPath"] = "data"

    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.found) == ("HP-DRA-009", Level.ERROR, "data")


def test_a_preset_whose_link_exports_deletions() -> None:
    templates = preset("llm")
    resources = templates["Foundation"]["Resources"]
    (link,) = [resource for resource in resources.values() if resource["Type"] == "AWS::FSx::DataRepositoryAssociation"]
    link["Properties"]["S3"]["AutoExportPolicy"]["Events"].append("DELETED")
    for resource in resources.values():
        resource.get("Properties", {}).pop("VersioningConfiguration", None)

    assert rules_of(*templates.values()) == ["HP-DRA-005"]


def test_a_linked_file_system_copies_no_tags_to_backups() -> None:
    template = linked()
    properties(template, "FileSystem")["LustreConfiguration"]["CopyTagsToBackups"] = True
    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.resource) == ("HP-DRA-010", Level.ERROR, "FileSystem")
    assert finding.path == "Properties/LustreConfiguration/CopyTagsToBackups"

    del template["Resources"]["Link"]
    assert rules_of(template) == []


def test_the_kind_of_storage_is_one_mistake_with_what_it_does_not_take() -> None:
    template = linked(("/models", "models/"))
    properties(template, "FileSystem").update(StorageType="INTELLIGENT_TIERING")
    assert [(one.rule, one.resource) for one in findings(template)] == [("HP-FSX-006", "FileSystem")]
