"""The schemas of properties: current, complete, and of patterns that no text keeps busy."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.analysis.schema.arns import arn_violations
from hyperpod_constructs.analysis.schema.judge import _LEAVES, _STRUCTURES
from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.property_schemas import FORMATS, FORMS, known_types, property_schema, regions_without, request_limits
from hyperpod_constructs.facts.schema import type_facts
from hyperpod_constructs.templates.values import UNKNOWN, Value

ROOT = Path(__file__).parents[2]


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _nodes(child)


def _all_nodes() -> Iterator[dict[str, Any]]:
    for name in known_types():
        for schema in (property_schema(name), request_limits(name)):
            yield from _nodes(schema or {})


def _patterns() -> set[str]:
    return {node["pattern"] for node in _all_nodes() if isinstance(node.get("pattern"), str)} | {
        pattern for node in _all_nodes() for pattern in node.get("patternProperties", ())
    }


def test_the_tables_are_those_of_the_schemas() -> None:
    command = [sys.executable, str(ROOT / "tools" / "generate_property_schemas.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0  # noqa: S603


def test_every_type_that_is_emitted_has_a_schema() -> None:
    services = ["APS", "EC2", "EKS", "FSx", "Grafana", "IAM", "KMS", "Lambda", "Logs", "RDS", "S3", "SageMaker", "SecretsManager"]
    names = set(known_types())
    assert {name.split("::")[1] for name in names} >= set(services)
    emitted = {name for name in names if (facts := type_facts(name)) is not None and facts.properties}
    assert {"AWS::CloudWatch::Alarm", "AWS::SageMaker::Cluster", "AWS::StepFunctions::StateMachine"} <= emitted
    for name in emitted:
        schema, facts = property_schema(name), type_facts(name)
        assert schema is not None
        assert facts is not None
        assert facts.properties <= set(schema["properties"])


def test_a_reference_has_its_definition() -> None:
    for name in known_types():
        schema = property_schema(name) or {}
        wanted = {node["$ref"] for node in _nodes(schema) if isinstance(node.get("$ref"), str)}
        assert wanted <= set(schema["definitions"]), name


def test_a_table_is_loaded_by_the_type(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def loads(text: str) -> dict[str, Any]:
        read.append(text)
        return {}

    monkeypatch.setattr(json, "loads", loads)
    property_schema.cache_clear()
    property_schema("AWS::KMS::Alias")
    property_schema.cache_clear()
    assert len(read) == 1


def test_patterns_are_python_s() -> None:
    assert len(_patterns()) > 300
    for pattern in (*_patterns(), *(form for form, _ in FORMATS.values())):
        re.compile(pattern, re.ASCII)
    assert set(FORMS) <= _patterns()


def test_no_text_keeps_a_pattern_busy() -> None:
    """Every pattern against texts that make a bad one try each way to split them, in a program that can be ended."""
    program = (
        "import json, re, sys\n"
        "for pattern in json.load(sys.stdin):\n"
        "    compiled = re.compile(pattern, re.ASCII)\n"
        "    lead = re.match(r'\\^?\\(*([\\w:/@.-]*)', pattern)[1]\n"
        "    for unit in ('a', '0', '-', 'a-', 'a.', 'a/', '/', ' ', '\\n', '0.', '.', ':', 'a:', '\\\\'):\n"
        "        for start in ('', lead, 'https://', 'arn:aws:iam::123456789012:role/'):\n"
        "            compiled.fullmatch((start + unit * 1024)[:1024] + '\\0')\n"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program], input=json.dumps(sorted(_patterns())), text=True, timeout=60, check=False
    )
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("name", "region", "lacks"),
    [
        ("AWS::SageMaker::Cluster", "eu-west-3", True),
        ("AWS::SageMaker::Cluster", "us-west-2", False),
        ("AWS::SageMaker::ClusterSchedulerConfig", "us-west-2", False),
        ("AWS::SageMaker::ClusterSchedulerConfig", "cn-north-1", True),
        ("AWS::S3::Bucket", "cn-north-1", False),
        ("ml.trn2.48xlarge", "us-west-2", True),
        ("ml.trn2.48xlarge", "us-east-2", False),
        ("ml.new.xlarge", "us-east-2", False),
    ],
)
def test_regions(name: str, region: str, lacks: bool) -> None:
    assert (region in regions_without(name)) is lacks


OF_CDK = ("Custom::AWSCDK-EKS-HelmChart", "Custom::CDKBucketDeployment")


def test_each_demand_is_of_known_types_in_known_words() -> None:
    """A demand that nobody can make is a mistake of its row: a type, a property or a word that does not exist."""
    known = {*known_types(), "*", "Custom::*", "AWS::CloudFormation::CustomResource", *OF_CDK}
    for types, path, _, schema, source in rows("demands.tsv"):
        named = types.split(",")
        assert set(named) <= known, types
        first = path.split("/")[0]
        has = [first in (property_schema(name) or {"properties": {first: {}}})["properties"] for name in named]
        assert all(has) or not first, (types, path)
        for node in _nodes(json.loads(schema)):
            words = {word for word in node if word[:1].islower()}
            assert words <= {*_STRUCTURES, *_LEAVES, "type", "then", "else"}, (types, path, words)
            re.compile(node["pattern"] if isinstance(node.get("pattern"), str) else "", re.ASCII)
        assert source.startswith("https://")


@pytest.mark.parametrize(
    ("kind", "key", "zones", "wrong"),
    [
        ("AWS::EC2::Volume", "AvailabilityZone", "us-west-2-b", 1),
        ("AWS::RDS::DBInstance", "AvailabilityZone", "us-wset-2b", 1),
        ("AWS::AutoScaling::AutoScalingGroup", "AvailabilityZones", ("us-west-2a", "us-west-2"), 1),
        ("AWS::EFS::FileSystem", "AvailabilityZoneName", "us-west-2B", 1),
        ("AWS::EC2::Volume", "AvailabilityZone", "us-west-2-lax-1a", 0),
        ("AWS::EC2::Volume", "AvailabilityZone", "us-east-1-wl1-bos-wlz-1", 0),
        ("AWS::EC2::Volume", "AvailabilityZone", UNKNOWN, 0),
        ("AWS::EC2::Volume", "AvailabilityZoneId", "usw2-az1", 0),
        ("AWS::RDS::DBInstance", "MultiAZ", "us-west-2-b", 0),
        ("AWS::AutoScaling::AutoScalingGroup", "AvailabilityZones", ("all",), 0),
    ],
)
def test_zones_have_the_names_of_zones_wherever_a_property_takes_them(kind: str, key: str, zones: Value, wrong: int) -> None:
    assert len(list(arn_violations(property_schema(kind) or {}, {key: zones}))) == wrong
