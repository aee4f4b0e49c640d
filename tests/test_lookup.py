"""A synthesis before the look-ups of CDK have answers: what stands in their place is judged by nobody."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Environment, RemovalPolicy, Stack, assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_ssm as ssm

from hyperpod_constructs import (
    ClusterInstanceType,
    ClusterNetwork,
    LustreStorage,
    SlurmCluster,
)
from hyperpod_constructs._support.placeholders import holds_placeholder, known_parts
from hyperpod_constructs.plan.plan import plan
from hyperpod_constructs.templates.model import Model, load
from hyperpod_constructs.templates.values import UNKNOWN, Text
from tests.templates.models import resolved

PLACE = {"account": "123456789012", "region": "us-west-2"}


def looked_up(context: dict[str, Any] | None = None, *, workers: int = 100) -> App:
    """A cluster in a network that another team made, as its users import it."""
    app = App(context=context)
    stack = Stack(app, "Stack", env=Environment(**PLACE))
    vpc = ec2.Vpc.from_lookup(stack, "Vpc", vpc_id="vpc-0abc")
    network = ClusterNetwork.from_attributes(
        vpc=vpc,
        node_subnet=vpc.private_subnets[0],
        security_group=ec2.SecurityGroup.from_lookup_by_id(stack, "Group", "sg-0abc"),
    )
    key = kms.Key.from_lookup(stack, "Key", alias_name="alias/data")
    storage = LustreStorage(stack, "Lustre", network=network, kms_key=key, removal_policy=RemovalPolicy.DESTROY)
    bucket = s3.Bucket.from_bucket_name(stack, "Data", ssm.StringParameter.value_from_lookup(stack, "data-bucket"))
    storage.add_data_repository(
        "Repository", bucket=bucket, file_system_path=ssm.StringParameter.value_from_lookup(stack, "/data/path")
    )
    kind = ClusterInstanceType.of(ssm.StringParameter.value_from_lookup(stack, "/nodes/type"))
    SlurmCluster(
        stack,
        "Slurm",
        network=network,
        file_system=storage,
        controller_type=ClusterInstanceType.M5_XLARGE,
        login_type=kind,
        worker_type=ClusterInstanceType.P5_48XLARGE,
        worker_count=workers,
    )
    return app


@pytest.fixture(scope="module")
def context() -> dict[str, Any]:
    """The context after the look-ups that the app asks for."""
    found: dict[str, Any] = {}
    for missing in json.loads(Path(looked_up().synth().directory, "manifest.json").read_text())["missing"]:
        parameter = {"data-bucket": "team-data", "/data/path": "/data", "/nodes/type": "ml.m5.xlarge"}
        found[missing["key"]] = {
            "vpc-provider": {
                "vpcId": "vpc-0abc",
                "vpcCidrBlock": "10.0.0.0/16",
                "ownerAccountId": PLACE["account"],
                "availabilityZones": [],
                "subnetGroups": [
                    {
                        "name": "Private",
                        "type": "Private",
                        "subnets": [
                            {
                                "subnetId": "subnet-0a",
                                "cidr": "10.0.0.0/18",
                                "availabilityZone": "us-west-2a",
                                "routeTableId": "rtb-0a",
                            }
                        ],
                    }
                ],
            },
            "security-group": {"securityGroupId": "sg-0abc", "allowAllOutbound": True},
            "key-provider": {"keyId": "0aa1b2c3-0000-4000-8000-000000000001"},
            "ssm": parameter.get(str(missing["props"].get("parameterName")), ""),
        }[missing["provider"]]
    return found


def test_an_app_whose_vpc_is_looked_up_is_synthesized_and_says_what_it_misses() -> None:
    assembly = looked_up(workers=6000).synth()
    manifest = json.loads(Path(assembly.directory, "manifest.json").read_text())
    assert {missing["provider"] for missing in manifest["missing"]} == {"vpc-provider", "security-group", "key-provider", "ssm"}


def test_an_app_whose_vpc_is_looked_up_can_be_tested() -> None:
    stack = looked_up().node.find_child("Stack")
    assert isinstance(stack, Stack)
    assertions.Template.from_stack(stack).resource_count_is("AWS::SageMaker::Cluster", 1)


def test_values_are_judged_again_after_their_look_up(context: dict[str, Any]) -> None:
    assert errors(looked_up(context)) == []
    few = json.loads(json.dumps(context).replace("10.0.0.0/18", "10.0.0.0/24"))
    (message,) = errors(looked_up(few))
    assert "addresses, one per network card" in message


def errors(app: App) -> list[str]:
    stack = app.node.find_child("Stack")
    assert isinstance(stack, Stack)
    found = assertions.Annotations.from_stack(stack).find_error("*", assertions.Match.any_value())
    return [str(message.entry.data) for message in found]


def test_a_path_that_was_looked_up_is_judged_again(context: dict[str, Any]) -> None:
    wrong = {key: "data" if value == "/data" else value for key, value in context.items()}
    with pytest.raises(ValueError, match="'data' does not start with /"):
        looked_up(wrong)


def test_a_plan_before_the_lookups_loses_no_data(context: dict[str, Any]) -> None:
    before = looked_up(context).synth()
    after = looked_up({"hyperpod:previous-template": before.directory}).synth()
    assert plan(load([Path(before.directory)]), load([Path(after.directory)])).exit_code == 0


def test_a_synthesis_before_the_lookups_ends_well(tmp_path: Path) -> None:
    """The first of the two that the CDK CLI starts: it looks up what the manifest of this one misses."""
    repository = Path(__file__).parents[2]
    program = "from tests.test_lookup import looked_up; looked_up({}).synth()"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment = kept | {"CDK_OUTDIR": str(tmp_path / "out"), "PYTHONPATH": str(repository)}
    ended = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["missing"]


def by_ids(answer: dict[str, Any] | None, *, subnet: str = "subnet-0a", count: int = 100) -> App:
    """A cluster in a network that is named by its ids."""
    app = App(context=answer)
    stack = Stack(app, "Stack", env=Environment(**PLACE))
    network = ClusterNetwork.from_lookup(stack, "Network", vpc_id="vpc-0abc", node_subnet_id=subnet, security_group_id="sg-0abc")
    kind = ClusterInstanceType.P5_48XLARGE
    storage = LustreStorage(stack, "Lustre", network=network)
    SlurmCluster(stack, "Slurm", network=network, file_system=storage, worker_type=kind, worker_count=count)
    return app


def test_a_network_is_looked_up_by_its_ids_and_its_size_is_judged(context: dict[str, Any]) -> None:
    assembly = by_ids(None).synth()
    missing = {one["provider"] for one in json.loads(Path(assembly.directory, "manifest.json").read_text())["missing"]}
    assert missing == {"vpc-provider", "security-group"}
    assert errors(by_ids(context)) == []
    (message,) = errors(by_ids(context, count=600))
    assert "the groups need 19201 addresses, one per network card" in message
    assert "the node subnet has 16379" in message


def test_fails_on_a_subnet_that_the_looked_up_vpc_has_not(context: dict[str, Any]) -> None:
    text = r"^Stack/Network: node_subnet_id 'subnet-0b' is not in vpc-0abc; its private subnets are subnet-0a$"
    with pytest.raises(ValueError, match=text):
        by_ids(context, subnet="subnet-0b")
    public = json.loads(json.dumps(context).replace('"type": "Private"', '"type": "Public"'))
    text = (
        r"^Stack/Network: node_subnet_id 'subnet-0a' is public, and nodes have no public addresses; the VPC has no private subnet$"
    )
    with pytest.raises(ValueError, match=text):
        by_ids(public)


def every_placeholder() -> list[str]:
    """What CDK itself writes, so that another version of it cannot write others unnoticed."""
    stack = Stack(App(), "Stack", env=Environment(**PLACE))
    vpc = ec2.Vpc.from_lookup(stack, "Vpc", vpc_id="vpc-0abc")
    subnets = [*vpc.public_subnets, *vpc.private_subnets, *vpc.isolated_subnets]
    return [
        vpc.vpc_id,
        vpc.vpc_cidr_block,
        *vpc.availability_zones,
        *stack.availability_zones,
        *(subnet.subnet_id for subnet in subnets),
        *(subnet.availability_zone for subnet in subnets),
        *(subnet.ipv4_cidr_block for subnet in subnets),
        *(subnet.route_table.route_table_id for subnet in subnets),
        ec2.SecurityGroup.from_lookup_by_id(stack, "Group", "sg-0abc").security_group_id,
        ec2.PrefixList.from_lookup(stack, "List", prefix_list_name="x").prefix_list_id,
        ec2.MachineImage.lookup(name="x").get_image(stack).image_id,
        kms.Key.from_lookup(stack, "Key", alias_name="alias/x").key_id,
        kms.Key.from_lookup(stack, "Other", alias_name="alias/x").key_arn,
        ssm.StringParameter.value_from_lookup(stack, "/a/b.c-d_e"),
        iam.Role.from_lookup(stack, "Role", role_name="x").role_arn,
    ]


def test_each_placeholder_of_cdk_is_known_as_one() -> None:
    assert [text for text in every_placeholder() if not holds_placeholder(text)] == []


IDS = ["vpc-123456", "vpc-0abc12345", "subnet-12345", "ami-12345678", "sg-1234567", "my-p-12345", "123456789012"]
OTHERS = ["1.2.3.4/32", "11.2.3.4/5", "DUMMY-BUCKET", "TEST", "dummy", "my-load-balancer", "ml.p5.48xlarge"]


@pytest.mark.parametrize("text", [*IDS, *OTHERS])
def test_a_value_that_only_resembles_a_placeholder_is_judged(text: str) -> None:
    assert known_parts(text) is None


def test_a_placeholder_in_a_text_leaves_the_rest_known() -> None:
    found = resolved("arn:aws:s3:::dummy-value-for-/data/bucket")
    assert isinstance(found, Text)
    assert found.prefix == "arn:aws:s3:::"
    assert not found.known


EXPRESSIONS = {
    "a text": "p-12345",
    "a join": "{Fn::Join: ['', [p-12345]]}",
    "a substitution": "{Fn::Sub: p-12345}",
    "the default of a parameter": "{Ref: P}",
    "a mapping": "{Fn::FindInMap: [M, a, b]}",
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_placeholder_is_unknown_whatever_yields_it(expression: str) -> None:
    sections = "Parameters: {P: {Type: String, Default: p-12345}}\nMappings: {M: {a: {b: p-12345}}}"
    assert resolved(EXPRESSIONS[expression], sections) is UNKNOWN


def test_a_text_of_placeholders_is_read_in_one_pass() -> None:
    """A pattern that started anew at each character would count them all again."""
    text = "dummy-value-for-" * 4000 + "s-1234" * 4000
    assert len(known_parts(text) or ()) <= 2
    assert Model.of({"t": {"Resources": {"A": {"Type": "X", "Properties": {"p": text}}}}}).resources()[0].get("p") is not None
