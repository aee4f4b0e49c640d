"""The difference of two models: changes, and their consequences."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.plan.plan import plan
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.raw import raw_template
from tests.plan.templates import Template, change, cluster, group, lustre, resource, row, rows, template

SUBNET: dict[str, Any] = {"VpcId": "vpc-1", "CidrBlock": "10.1.0.0/16", "AvailabilityZoneId": "usw2-az4"}
PARTS: Template = {
    "Subnet": resource("AWS::EC2::Subnet", **SUBNET),
    "Files": lustre(keep=True, SubnetIds=[{"Ref": "Subnet"}]),
    "Cluster": cluster(
        group(InstanceStorageConfigs=[{"FsxLustreConfig": {"DnsName": {"Fn::GetAtt": ["Files", "DNSName"]}}}]),
        VpcConfig={"Subnets": [{"Ref": "Subnet"}]},
    ),
    "Policy": resource("AWS::IAM::Policy", PolicyDocument={"Resource": {"Ref": "Cluster"}}),
}


def parts(**changed: Any) -> Template:
    return {"Resources": {**PARTS, **changed}}


def effects(found: Any) -> dict[tuple[str, str], Effect]:
    return {(item.resource, item.property): item.effect for item in found.rows}


def test_the_same_template_is_no_change() -> None:
    found = change(parts(), parts())
    assert (found.rows, found.notes, found.worst, found.exit_code) == ((), (), Effect.NO_INTERRUPTION, 0)


NAME, REGION = {"Ref": "Name"}, {"Ref": "AWS::Region"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("arn:x:y", {"Fn::Join": [":", ["arn", "x", "y"]]}),
        ({"Ref": "Name"}, "default"),
        ({"Fn::Sub": "${Name}-a"}, {"Fn::Join": ["-", [{"Ref": "Name"}, "a"]]}),
        ({"Fn::Sub": "${AWS::Region}-a"}, {"Fn::Join": ["-", [{"Ref": "AWS::Region"}, "a"]]}),
        ({"Fn::GetAtt": "Role.Arn"}, {"Fn::GetAtt": ["Role", "Arn"]}),
        ({"Fn::ImportValue": {"Fn::Sub": "${Name}-${AWS::Region}"}}, {"Fn::ImportValue": {"Fn::Join": ["-", [NAME, REGION]]}}),
        (
            {"Fn::Join": ["", ["${a}", {"Fn::ImportValue": "b"}, {"Fn::Join": ["/", ["", REGION]]}]]},
            {"Fn::Sub": ["${!a}${Out}/${AWS::Region}", {"Out": {"Fn::ImportValue": "b"}}]},
        ),
        ({"Fn::Select": [1, {"Fn::GetAZs": ""}]}, {"Fn::Select": ["1", {"Fn::GetAZs": ""}]}),
        ({"Fn::Sub": "${AWS::Region}-a"}, {"Fn::Join": ["-", [{"Ref": "AWS::Region"}, {"Fn::Select": [0, ["a", "b"]]}]]}),
        (443, "443"),
        (True, "true"),
        ({"Fn::If": ["Never", "a", {"Ref": "AWS::NoValue"}]}, {"Ref": "AWS::NoValue"}),
    ],
)
def test_another_spelling_is_no_change(one: Any, other: Any) -> None:
    context: Template = {
        "Parameters": {"Name": {"Type": "String", "Default": "default"}},
        "Conditions": {"Never": {"Fn::Equals": ["a", "b"]}},
    }
    templates = [
        {**context, "Resources": {"Role": resource("AWS::IAM::Role"), "Thing": resource("AWS::KMS::Alias", AliasName=name)}}
        for name in (one, other)
    ]
    assert change(*templates).rows == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"Ref": "AWS::Region"}, {"Ref": "AWS::AccountId"}),
        ({"Fn::Sub": "${AWS::Region}-a"}, {"Fn::Sub": "${AWS::AccountId}-a"}),
        ({"Fn::ImportValue": "a"}, {"Fn::ImportValue": "b"}),
        ({"Fn::ImportValue": "a"}, "a"),
        ({"Fn::ImportValue": {"Fn::Sub": "${AWS::Region}-a"}}, {"Fn::ImportValue": {"Fn::Join": ["", [REGION, "a"]]}}),
        ("{{resolve:ssm:a}}", "{{resolve:ssm:b}}"),
        ({"Fn::Select": [0, {"Fn::GetAZs": ""}]}, {"Fn::Select": [2, {"Fn::GetAZs": ""}]}),
        (
            {"Fn::Sub": ["${A}-a", {"A": {"Fn::Select": [0, {"Fn::Split": ["-", REGION]}]}}]},
            {"Fn::Sub": ["${A}-a", {"A": {"Fn::Select": [1, {"Fn::Split": ["-", REGION]}]}}]},
        ),
    ],
)
def test_unknown_values_differ_by_their_parts(one: Any, other: Any) -> None:
    assert len(rows(resource("AWS::KMS::Alias", AliasName=one), resource("AWS::KMS::Alias", AliasName=other))) == 1


def test_a_value_known_on_one_side_equals_the_same_spelling() -> None:
    """A deployed stack alone, and the same stack in its app."""
    user = template(Alias=resource("AWS::KMS::Alias", TargetKeyId={"Fn::ImportValue": "key"}))
    exporter = {**template(), "Outputs": {"Key": {"Value": "key-1", "Export": {"Name": "key"}}}}
    assert plan(Model.of({"User": user}), Model.of({"User": user, "Exporter": exporter})).rows == ()


def test_a_pseudo_parameter_equals_its_value_beside_an_unknown_part() -> None:
    account = Environment(account="123456789012", region="us-west-2")
    old, new = (
        Model([Document(name="t", body=template(Role=resource("AWS::IAM::Role", RoleName={"Fn::Sub": text})), environment=account)])
        for text in ("${Unknown}-123456789012", "${Unknown}-${AWS::AccountId}")
    )
    assert plan(old, new).rows == ()


def test_another_default_of_a_parameter_is_a_change() -> None:
    one, other = (
        {
            "Parameters": {"Size": {"Type": "Number", "Default": size}},
            "Resources": {"Files": lustre(StorageCapacity={"Ref": "Size"})},
        }
        for size in (1200, 2400)
    )
    (found,) = change(one, other).rows
    assert (found.property, found.old, found.new) == ("StorageCapacity", 1200, 2400)


@pytest.mark.parametrize(
    "groups",
    [
        [{"InstanceGroupName": "a", "ExecutionRole": {"Fn::Sub": "${AWS::AccountId}"}, "InstanceCount": {"Ref": "Count"}}],
        {
            "Fn::If": [
                "Wanted",
                [{"InstanceGroupName": "a", "ExecutionRole": {"Ref": "AWS::AccountId"}, "InstanceCount": {"Ref": "Count"}}],
                {"Ref": "AWS::NoValue"},
            ]
        },
    ],
)
def test_another_default_is_a_change_beside_an_unknown_part(groups: Any) -> None:
    one, other = (
        {
            "Parameters": {"Count": {"Type": "Number", "Default": count}},
            "Conditions": {"Wanted": {"Fn::Equals": ["a", "a"]}},
            "Resources": {"Cluster": resource("AWS::SageMaker::Cluster", InstanceGroups=groups)},
        }
        for count in (2, 8)
    )
    (found,) = change(one, other).rows
    assert (found.property, found.old, found.new) == ("InstanceGroups/a/InstanceCount", 2, 8)


@pytest.mark.parametrize("text", ["${Name}", "${Name}-${AWS::AccountId}", "${AWS::AccountId}-${Name}"])
def test_a_default_that_is_left_out_is_no_change(text: str) -> None:
    alias = {"Resources": {"Alias": resource("AWS::KMS::Alias", AliasName={"Fn::Sub": text})}}
    one, other = ({**alias, "Parameters": {"Name": {"Type": "String", **more}}} for more in ({"Default": "a"}, {}))
    assert change(one, other).rows == ()


@pytest.mark.parametrize(
    ("old", "effect"),
    [
        ({"Fn::Sub": "models-${AWS::AccountId}"}, Effect.REFUSED),
        ({"Fn::Sub": "data-${AWS::AccountId}"}, Effect.REPLACE),
        ({"Ref": "AWS::NoValue"}, Effect.REPLACE),
    ],
)
def test_only_the_same_name_stands_in_the_way_of_a_replacement(old: Any, effect: Effect) -> None:
    bucket = resource("AWS::S3::Bucket", BucketName=old, BucketNamespace="global")
    named = resource("AWS::S3::Bucket", BucketName={"Fn::Sub": "models-${AWS::AccountId}"}, BucketNamespace="account-regional")
    assert {item.effect for item in rows(bucket, named)} == {effect}


def test_a_condition_that_becomes_false_removes_the_resource() -> None:
    one, other = (
        {
            "Conditions": {"Wanted": {"Fn::Equals": [value, "yes"]}},
            "Resources": {"Files": {**lustre(), "Condition": "Wanted"}},
        }
        for value in ("yes", "no")
    )
    (found,) = change(one, other).rows
    assert (found.property, found.effect) == ("", Effect.DATA_LOSS)


def undecided(files: dict[str, Any], *, wanted: Any = "yes", zones: dict[str, str] | None = None) -> Template:
    """A template with an unknown condition."""
    return {
        "Parameters": {"Wanted": {"Type": "String"}},
        "Mappings": {"Subnets": {zone: {"Subnet": subnet} for zone, subnet in (zones or {}).items()}},
        "Conditions": {
            "Wanted": {"Fn::Equals": [{"Ref": "Wanted"}, wanted]},
            "Also": {"Condition": "Wanted"},
            "Other": {"Fn::Not": [{"Condition": "Wanted"}]},
        },
        "Resources": {"Files": files},
    }


def test_an_unknown_condition_can_remove_the_resource() -> None:
    plain, conditional = undecided(lustre()), undecided({**lustre(), "Condition": "Wanted"})
    (found,) = change(plain, conditional).rows
    assert (found.property, found.old, found.new, found.effect) == ("Condition", None, "Wanted", Effect.DATA_LOSS)
    assert "if it is false, the resource goes: is deleted" in found.why
    assert change(conditional, plain).rows == ()
    assert change(conditional, undecided({**lustre(), "Condition": "Also"})).rows == ()
    assert len(change(conditional, undecided({**lustre(), "Condition": "Wanted"}, wanted="no")).rows) == 1


def choice(condition: str) -> dict[str, Any]:
    return lustre(SubnetIds=[{"Fn::If": [condition, "subnet-1", "subnet-2"]}])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (undecided(choice("Wanted")), undecided(choice("Wanted"), wanted="no")),
        (undecided(choice("Wanted")), undecided(choice("Other"))),
    ],
)
def test_another_condition_chooses_another_value(one: Template, other: Template) -> None:
    (found,) = change(one, other).rows
    assert (found.property, found.effect) == ("SubnetIds", Effect.DATA_LOSS)
    assert "a parameter, condition or mapping behind it changed" in found.why


def test_the_same_condition_under_another_name_chooses_the_same() -> None:
    assert change(undecided(choice("Wanted")), undecided(choice("Also"))).rows == ()


@pytest.mark.parametrize(
    ("perhaps", "effect"),
    [({"DeploymentType": "SCRATCH_2"}, Effect.DATA_LOSS), ({"AutoImportPolicy": "NEW"}, Effect.NO_INTERRUPTION)],
)
def test_a_fixed_part_of_an_unknown_property(perhaps: dict[str, str], effect: Effect) -> None:
    plain = lustre()
    configuration = plain["Properties"]["LustreConfiguration"]
    either = {"Fn::If": ["Wanted", {**configuration, **perhaps}, configuration]}
    undecidable = {**plain, "Properties": {**plain["Properties"], "LustreConfiguration": either}}
    (found,) = change(undecided(plain), undecided(undecidable)).rows
    assert (found.property, found.effect) == ("LustreConfiguration", effect)
    assert ("fixed at creation: DeploymentType, and the old one" in found.why) is (effect is Effect.DATA_LOSS)


def test_a_changed_mapping_is_a_change_even_under_an_unknown_key() -> None:
    files = lustre(SubnetIds=[{"Fn::FindInMap": ["Subnets", {"Ref": "AWS::Region"}, "Subnet"]}])
    old = undecided(files, zones={"us-west-2": "subnet-1", "us-east-1": "subnet-2"})
    (found,) = change(old, undecided(files, zones={"us-west-2": "subnet-3"})).rows
    assert (found.property, found.effect) == ("SubnetIds", Effect.DATA_LOSS)
    assert change(old, undecided(files, zones={"us-west-2": "subnet-1", "eu-west-1": "subnet-3"})).rows == ()


def test_a_replacement_reaches_the_resources_that_refer_to_it() -> None:
    moved = resource("AWS::EC2::Subnet", **{**SUBNET, "CidrBlock": "10.2.0.0/16"})
    assert effects(change(parts(), parts(Subnet=moved))) == {
        ("Subnet", "CidrBlock"): Effect.REPLACE,
        ("Files", "SubnetIds"): Effect.REPLACE,
        ("Cluster", "VpcConfig"): Effect.REPLACE,
    }


def test_a_change_that_follows_names_its_cause() -> None:
    moved = resource("AWS::EC2::Subnet", **{**SUBNET, "CidrBlock": "10.2.0.0/16"})
    (found,) = (item for item in change(parts(), parts(Subnet=moved)).rows if item.resource == "Files")
    assert "it refers to Subnet, which is replaced" in found.why
    assert found.old == found.new == ["${Subnet}"]


def test_a_replacement_that_follows_loses_data_too() -> None:
    moved = resource("AWS::EC2::Subnet", **{**SUBNET, "CidrBlock": "10.2.0.0/16"})
    one, other = (
        {"Resources": {**PARTS, "Files": lustre(SubnetIds=[{"Ref": "Subnet"}]), "Subnet": item}}
        for item in (PARTS["Subnet"], moved)
    )
    assert effects(change(one, other))["Files", "SubnetIds"] is Effect.DATA_LOSS


def test_a_subnet_cannot_be_replaced_beside_itself() -> None:
    moved = resource("AWS::EC2::Subnet", **{**SUBNET, "AvailabilityZoneId": "usw2-az1"})
    found = change(parts(), parts(Subnet=moved))
    assert effects(found) == {("Subnet", "AvailabilityZoneId"): Effect.REFUSED}
    assert found.exit_code == 5


def test_the_type_of_a_resource_does_not_change() -> None:
    found = row(resource("AWS::SQS::Queue"), resource("AWS::SNS::Topic"))
    assert (found.property, found.old, found.new, found.effect) == ("Type", "AWS::SQS::Queue", "AWS::SNS::Topic", Effect.REFUSED)


@pytest.mark.parametrize(
    ("kind", "name", "keep"),
    [("AWS::S3::Bucket", "BucketName", False), ("AWS::S3::Bucket", "BucketName", True), ("AWS::IAM::Role", "RoleName", False)],
)
def test_a_renamed_resource_still_holds_its_name(kind: str, name: str, keep: bool) -> None:
    found = change(template(One=resource(kind, keep=keep, **{name: "a"})), template(Other=resource(kind, keep=keep, **{name: "a"})))
    (created,) = (item for item in found.rows if item.resource == "Other")
    assert created.effect is Effect.REFUSED
    assert "One leaves the template, but still holds the same name or place" in created.why
    assert effects(change(template(One=resource(kind)), template(Other=resource(kind))))["Other", ""] is Effect.NO_INTERRUPTION


def test_a_renamed_resource_still_holds_its_place() -> None:
    def link(path: str) -> dict[str, Any]:
        return resource(
            "AWS::FSx::DataRepositoryAssociation", FileSystemId="fs-1", FileSystemPath=path, DataRepositoryPath="s3://b"
        )

    for path, effect in (("/a", Effect.REFUSED), ("/b", Effect.NO_INTERRUPTION)):
        assert change(template(One=link("/a")), template(Other=link(path))).worst is effect


@pytest.mark.parametrize(
    ("kind", "name", "refused"), [("AWS::S3::Bucket", "BucketName", True), ("AWS::IAM::Role", "RoleName", False)]
)
def test_a_name_moves_to_another_stack_only_if_its_resource_goes_first(kind: str, name: str, refused: bool) -> None:
    thing = template(Thing=resource(kind, keep=False, **{name: "a"}))
    found = plan(Model.of({"A": thing, "B": template()}), Model.of({"A": template(), "B": thing}))
    assert (found.worst is Effect.REFUSED) is refused


def test_a_new_resource() -> None:
    (found,) = change(template(), template(Files=lustre())).rows
    assert (found.property, found.old, found.new, found.effect) == ("", None, "AWS::FSx::FileSystem", Effect.NO_INTERRUPTION)


@pytest.mark.parametrize(
    ("kind", "name", "effect"),
    [
        ("AWS::EC2::FlowLog", "TrafficType", Effect.REPLACE),
        ("AWS::Lambda::Function", "MemorySize", Effect.NO_INTERRUPTION),
        ("AWS::Lambda::Function", "DurableConfig", Effect.REPLACE),
        ("AWS::KMS::Key", "KeySpec", Effect.REFUSED),
        ("AWS::Logs::LogGroup", "LogGroupClass", Effect.REFUSED),
        ("AWS::Batch::ComputeEnvironment", "Type", Effect.REPLACE),
        ("AWS::No::Such", "Anything", Effect.NO_INTERRUPTION),
        ("Custom::Anything", "ServiceToken", Effect.REFUSED),
        ("Custom::Anything", "Whatever", Effect.NO_INTERRUPTION),
        ("Custom::HyperPodScriptsUpload", "Root", Effect.REPLACE),
    ],
)
def test_properties_of_other_types(kind: str, name: str, effect: Effect) -> None:
    one, other = ({"Type": kind, "Properties": {name: value}} for value in ("a", "b"))
    assert row(one, other).effect is effect


@pytest.mark.parametrize(
    ("kind", "name", "value", "effect"),
    [
        ("AWS::Logs::LogGroup", "LogGroupClass", "STANDARD", Effect.NO_INTERRUPTION),
        ("AWS::Logs::LogGroup", "LogGroupClass", "INFREQUENT_ACCESS", Effect.REFUSED),
        ("AWS::Scheduler::Schedule", "GroupName", "default", Effect.NO_INTERRUPTION),
        ("AWS::Scheduler::Schedule", "GroupName", "nightly", Effect.REFUSED),
        ("AWS::KMS::Key", "MultiRegion", "false", Effect.NO_INTERRUPTION),
        ("AWS::KMS::Key", "MultiRegion", True, Effect.REFUSED),
    ],
)
def test_a_default_that_is_written_out(kind: str, name: str, value: object, effect: Effect) -> None:
    without, written = ({"Type": kind, "Properties": properties} for properties in ({}, {name: value}))
    assert row(without, written).effect is effect
    assert row(written, without).effect is effect


@pytest.mark.parametrize(
    ("kind", "effect", "why"),
    [
        ("AWS::IAM::Role", Effect.NO_INTERRUPTION, "it holds no data"),
        ("AWS::ElastiCache::ReplicationGroup", Effect.NO_INTERRUPTION, "holds data is unknown here"),
        ("AWS::EC2::Instance", Effect.REPLACE, "it is terminated"),
        ("AWS::OpenSearchService::Domain", Effect.DATA_LOSS, "all indices"),
    ],
)
def test_a_removal_claims_no_more_than_is_known(kind: str, effect: Effect, why: str) -> None:
    (found,) = change(template(Thing=resource(kind)), template()).rows
    assert found.effect is effect
    assert why in found.why


def test_a_named_resource_that_is_deleted_first_can_be_replaced() -> None:
    kind = "AWS::SageMaker::ComputeQuota"
    quota: dict[str, Any] = {"Name": "quota", "ClusterArn": "a", "ComputeQuotaTarget": {"TeamName": "x"}}
    moved = {**quota, "ComputeQuotaTarget": {"TeamName": "y"}}
    found = row(resource(kind, **quota), resource(kind, **moved))
    assert (found.property, found.effect) == ("ComputeQuotaTarget/TeamName", Effect.REPLACE)


def test_a_cluster_keeps_the_name_of_its_one_policy() -> None:
    kind = "AWS::SageMaker::ClusterSchedulerConfig"
    policy: dict[str, Any] = {"Name": "one", "ClusterArn": "a", "SchedulerConfig": {}}
    found = row(resource(kind, **policy), resource(kind, **{**policy, "Name": "two"}))
    assert (found.property, found.effect) == ("Name", Effect.REFUSED)
    assert "add it in the next" in found.avoid
    (moved, *_) = change(
        template(Thing=resource(kind, **policy)), template(Thing=resource(kind, **{**policy, "Name": "two", "ClusterArn": "b"}))
    ).rows
    assert moved.effect is Effect.REPLACE


def stacks(zone: str, *, imported: bool = True) -> Model:
    value = {"Fn::ImportValue": "files"} if imported else "fs-1"
    foundation = {
        "Resources": {"Files": lustre(SubnetIds=[zone])},
        "Outputs": {"Files": {"Value": {"Ref": "Files"}, "Export": {"Name": "files"}}},
    }
    return Model.of({"Foundation": foundation, "Cluster": template(Alias=resource("AWS::KMS::Alias", TargetKeyId=value))})


def test_an_export_in_use_keeps_its_resource() -> None:
    found = plan(stacks("subnet-1"), stacks("subnet-2"))
    assert effects(found) == {("Files", "SubnetIds"): Effect.REFUSED}
    assert "Cluster imports the old one as files" in found.rows[0].why


def test_an_unused_export_keeps_nothing() -> None:
    found = plan(stacks("subnet-1", imported=False), stacks("subnet-2", imported=False))
    assert effects(found) == {("Files", "SubnetIds"): Effect.DATA_LOSS}


def exporting(value: Any, *, imported: bool = True, **outputs: Any) -> Model:
    exported = {"Files": {"Value": value, "Export": {"Name": "files"}}} if value is not None else {}
    foundation = {**template(Files=lustre()), "Outputs": {**exported, **outputs}}
    target = {"Fn::ImportValue": "files"} if imported else "fs-1"
    return Model.of({"Foundation": foundation, "Cluster": template(Alias=resource("AWS::KMS::Alias", TargetKeyId=target))})


@pytest.mark.parametrize(
    ("value", "imported", "property"), [(None, True, "Export"), (None, False, "Export"), ("other", True, "Value")]
)
def test_an_export_in_use_neither_goes_nor_changes(value: Any, imported: bool, property: str) -> None:
    found = plan(exporting({"Ref": "Files"}), exporting(value, imported=imported))
    (refused,) = (item for item in found.rows if item.effect is Effect.REFUSED)
    assert (refused.template, refused.resource, refused.property) == ("Foundation", "Outputs/Files", property)
    assert "Cluster imports it" in refused.why
    assert "deploy Cluster without the import first" in refused.avoid


def test_an_export_may_go_if_unused_or_if_its_name_may_remain() -> None:
    assert plan(exporting({"Ref": "Files"}, imported=False), exporting(None, imported=False)).rows == ()
    perhaps = {"Value": "x", "Export": {"Name": {"Fn::Sub": "${AWS::StackName}-files"}}}
    assert plan(exporting({"Ref": "Files"}), exporting(None, Other=perhaps)).rows == ()
    assert plan(exporting({"Ref": "Files"}), exporting({"Fn::Sub": "${Files}"})).rows == ()


def test_templates_are_paired_by_name() -> None:
    one = Model.of({"A": template(Files=lustre()), "B": template()})
    other = Model.of({"B": template(), "A": template(Files=lustre(StorageCapacity=4800)), "C": template(New=lustre())})
    assert effects(plan(one, other)) == {("Files", "StorageCapacity"): Effect.NO_INTERRUPTION, ("New", ""): Effect.NO_INTERRUPTION}


def test_a_stack_outside_the_app_is_left_alone() -> None:
    found = plan(Model.of({"A": template(), "B": template(Files=lustre())}), Model.of({"A": template(), "C": template()}))
    assert found.rows == ()
    assert found.notes == ("B exists only in the old deployment; this update does not touch it",)


@pytest.mark.parametrize(("policies", "effect"), [({}, Effect.DATA_LOSS), ({"DeletionPolicy": "Retain"}, Effect.NO_INTERRUPTION)])
def test_a_nested_stack_takes_its_resources_with_it(policies: dict[str, str], effect: Effect) -> None:
    stack = {"Type": "AWS::CloudFormation::Stack", **policies}
    inner = Document(name="Stack/Nested", body=raw_template(template(Files=lustre())))
    old = Model([Document(name="Stack", body=raw_template(template(Nested=stack)), nested={"Nested": inner})])
    found = {item.resource: item.effect for item in plan(old, Model.of({"Stack": template()})).rows}
    assert found["Files"] is effect


def test_cdk_metadata_is_no_resource() -> None:
    one, other = ({"Type": "AWS::CDK::Metadata", "Properties": {"Analytics": value}} for value in ("a", "b"))
    assert rows(one, other) == ()


def test_a_template_that_a_macro_rewrites_is_named() -> None:
    plain, rewritten = template(), {**template(), "Transform": "MyMacro"}
    for pair in ((plain, rewritten), (rewritten, plain)):
        (note,) = change(*pair).notes
        assert "not in this plan" in note


@pytest.mark.parametrize("before", [False, True])
def test_a_loop_that_makes_resources_is_named(before: bool) -> None:
    loop = {"Transform": "AWS::LanguageExtensions", "Resources": {"Fn::ForEach::Zone": ["Zone", ["a"], {"Files${Zone}": lustre()}]}}
    (note,) = change(loop, template()).notes if before else change(template(), loop).notes
    assert "Fn::ForEach" in note


def test_a_nested_stack_without_its_template_is_named() -> None:
    one, other = (template(Nested=resource("AWS::CloudFormation::Stack", TemplateURL=f"https://s3/{name}.json")) for name in "ab")
    (note,) = change(one, other).notes
    assert note.startswith("the template of nested stack new.json/Nested is not given")


def test_the_resources_of_a_removed_nested_stack_without_a_template_are_unknown() -> None:
    found = change(template(Nested=resource("AWS::CloudFormation::Stack", TemplateURL="https://s3/a.json")), template())
    assert (found.worst, found.rows[0].why[:32]) == (Effect.REPLACE, "is deleted with all its resource")


def test_the_worst_comes_first_and_decides_the_exit_code() -> None:
    found = change(
        template(Role=resource("AWS::IAM::Role"), Log=resource("AWS::EC2::FlowLog", TrafficType="ALL"), Files=lustre()),
        template(Log=resource("AWS::EC2::FlowLog", TrafficType="REJECT"), Files=lustre(StorageCapacity=1200)),
    )
    assert [item.effect for item in found.rows] == [Effect.REFUSED, Effect.REPLACE, Effect.NO_INTERRUPTION]
    assert found.exit_code == 5


@pytest.mark.parametrize(
    ("effect", "code"),
    [(Effect.NO_INTERRUPTION, 0), (Effect.ROLLING, 0), (Effect.REPLACE, 3), (Effect.DATA_LOSS, 4), (Effect.REFUSED, 5)],
)
def test_exit_codes(effect: Effect, code: int) -> None:
    one, other = {
        Effect.NO_INTERRUPTION: (lustre(), lustre(StorageCapacity=4800)),
        Effect.ROLLING: (cluster(group(count=4)), cluster(group(count=2))),
        Effect.REPLACE: (lustre(keep=True), lustre(keep=True, SubnetIds=["x"])),
        Effect.DATA_LOSS: (lustre(), lustre(SubnetIds=["x"])),
        Effect.REFUSED: (lustre(), lustre(StorageCapacity=1200)),
    }[effect]
    found = change(template(Thing=one), template(Thing=other))
    assert (found.worst, found.exit_code) == (effect, code)


def test_a_row_as_plain_data() -> None:
    found = row(lustre(), {**lustre(SubnetIds=["x"]), "Metadata": {"aws:cdk:path": "App/Files/Resource"}})
    assert found.to_dict() | {"why": "", "avoid": ""} == {
        "template": "new.json",
        "resource": "Thing",
        "type": "AWS::FSx::FileSystem",
        "construct": "App/Files/Resource",
        "property": "SubnetIds",
        "old": ["subnet-1"],
        "new": ["x"],
        "effect": "data loss",
        "why": "",
        "avoid": "",
        "source": "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html",
        "allowed": None,
        "kept": False,
    }


def test_the_import_loads_neither_cdk_nor_boto3_nor_cfn_lint() -> None:
    command = [sys.executable, "-c", "import sys, hyperpod_constructs.rules.data_loss; print(*sys.modules)"]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()  # noqa: S603
    assert not {"aws_cdk", "jsii", "boto3", "botocore", "cfnlint"} & set(loaded)
