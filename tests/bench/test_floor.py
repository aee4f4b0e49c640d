"""The floor of the synthesis."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import synthesis
from bench.expressions import FloorError, Namespace, Writer, references
from bench.floor import write_floor


@pytest.fixture
def writer() -> Writer:
    names = Namespace()
    names.define("Stack", "Role", "AWS::IAM::Role")
    return Writer(names, "Stack")


def test_the_floor_of_the_app_emits_what_the_library_emits(tmp_path: Path) -> None:
    programs = synthesis.prepare(tmp_path)
    text = programs.floor.read_text("utf-8")
    assert "aws_sagemaker.CfnCluster(" in text
    assert "hyperpod_constructs" not in text.replace(str(tmp_path), "")
    assert text.count("cdk.CfnResource(") == 4, "only the custom resources are generic"


def test_the_floor_of_a_cluster_on_eks_emits_what_the_library_emits(tmp_path: Path) -> None:
    text = synthesis.prepare(tmp_path, synthesis.EKS).floor.read_text("utf-8")
    assert "aws_eks.CfnAddon(" in text
    assert "hyperpod_constructs" not in text.replace(str(tmp_path), "")


def test_fails_when_the_floor_emits_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "write_floor", lambda assembly: write_floor(assembly).replace("'ml.m5.xlarge'", "'ml.m5.large'"))
    with pytest.raises(FloorError, match=r"Cluster Resources SlurmCluster\w+: .*ml\.m5\.large"):
        synthesis.prepare(tmp_path)


def test_an_attribute_is_read_once_and_by_its_typed_name(writer: Writer) -> None:
    value = {"Fn::Join": ["", [{"Fn::GetAtt": ["Role", "Arn"]}, "/*", {"Fn::GetAtt": ["Role", "Arn"]}]]}
    assert writer.value(value) == "(a2 + '/*' + a2)"
    assert writer.lines == ["a2 = r1.attr_arn"]


def test_properties_become_typed_structs(writer: Writer) -> None:
    written = writer.arguments("AWS::SQS::Queue", {"DelaySeconds": 5, "Tags": [{"Key": "a", "Value": "b"}]})
    assert written == "delay_seconds=5, tags=[cdk.CfnTag(key='a', value='b')]"
    written = writer.arguments("AWS::SageMaker::Cluster", {"VpcConfig": {"Subnets": ["s"], "SecurityGroupIds": ["g"]}})
    assert written == "vpc_config=aws_sagemaker.CfnCluster.VpcConfigProperty(subnets=['s'], security_group_ids=['g'])"


def test_conditions_become_expressions(writer: Writer) -> None:
    assert writer.value({"Fn::Equals": [{"Ref": "AWS::Partition"}, "aws"]}) == "cdk.Fn.condition_equals(cdk.Aws.PARTITION, 'aws')"
    chosen = writer.value({"Fn::If": ["Public", "policy", {"Ref": "AWS::NoValue"}]})
    assert chosen == "cdk.Token.as_string(cdk.Fn.condition_if('Public', 'policy', cdk.Aws.NO_VALUE))"


def test_pseudo_parameters_and_asset_hashes_become_expressions(writer: Writer) -> None:
    writer.names.asset_hashes["cafe"] = "asset1.asset_hash"
    assert writer.value({"Ref": "AWS::StackId"}) == "cdk.Aws.STACK_ID"
    assert writer.value({"Ref": "AWS::URLSuffix"}) == "cdk.Aws.URL_SUFFIX"
    assert writer.value("cafe.zip") == "'' + asset1.asset_hash + '.zip'"


def test_fails_for_an_intrinsic_function_without_an_expression(writer: Writer) -> None:
    with pytest.raises(FloorError, match="Fn::Sub"):
        writer.value({"Fn::Sub": "${AWS::Region}"})


def test_fails_for_a_resource_attribute_without_an_expression(tmp_path: Path) -> None:
    properties = {"templateFile": "Stack.template.json", "terminationProtection": False}
    stack = {"type": "aws:cloudformation:stack", "environment": "aws://123456789012/us-west-2", "properties": properties}
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": {"Stack": stack}}))
    (tmp_path / "Stack.assets.json").write_text(json.dumps({"files": {}}))
    resource = {"Type": "AWS::SQS::Queue", "Condition": "Never"}
    (tmp_path / "Stack.template.json").write_text(json.dumps({"Resources": {"Queue": resource}}))
    with pytest.raises(FloorError, match="Condition"):
        write_floor(tmp_path)


def test_references_are_logical_ids_at_any_depth_and_dependencies() -> None:
    resource = {
        "Properties": {"A": [{"Ref": "One"}], "B": {"Fn::Join": ["", [{"Fn::GetAtt": ["Two", "Arn"]}]]}},
        "DependsOn": ["Three"],
    }
    assert references(resource) == {"One", "Two", "Three"}
