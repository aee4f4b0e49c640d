"""Random and hostile templates: the model says TemplateError or answers, and never works long."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hyperpod_constructs.analysis.arns import s3_uri_arns
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.networks import SUBNET, VPC, ExitKind, network_facts
from hyperpod_constructs.analysis.reachability import connections
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP, security_groups
from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.dependencies import awaits, depends_on
from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.model import Model, load
from hyperpod_constructs.templates.values import Reference, shown
from tests.presets import build, templates
from tests.work import calls, counted

SLOW = settings(
    max_examples=100,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
CALLS_PER_HUNDRED = 6_000_000
"""Calls of functions for a hundred resources: about twice the most that any of these templates has taken, where the search for the
mistake that explains others looks at all of them again."""

NAMES = ("A", "B", "C", "Role", "AWS::Region", "AWS::NoValue", "AWS::StackId", "", "${A}", "A.Arn", "Outputs.O")
TYPES = (
    "AWS::CloudFormation::Stack",
    "AWS::EC2::Route",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::Subnet",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPC",
    "AWS::EC2::VPCCidrBlock",
    "AWS::EC2::VPCEndpoint",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
    "AWS::IAM::Role",
    "AWS::IAM::RolePolicy",
    "AWS::S3::Bucket",
    "AWS::SageMaker::Cluster",
)
FUNCTIONS = (
    "Condition",
    "Fn::And",
    "Fn::Base64",
    "Fn::Cidr",
    "Fn::Equals",
    "Fn::FindInMap",
    "Fn::ForEach::X",
    "Fn::GetAZs",
    "Fn::GetAtt",
    "Fn::GetStackOutput",
    "Fn::If",
    "Fn::ImportValue",
    "Fn::Join",
    "Fn::Length",
    "Fn::Not",
    "Fn::Or",
    "Fn::Select",
    "Fn::Split",
    "Fn::Sub",
    "Fn::ToJsonString",
    "Fn::Transform",
    "Ref",
)
KEYS = (
    "Action",
    "AssumeRolePolicyDocument",
    "AvailabilityZone",
    "BucketName",
    "CidrBlock",
    "CidrIp",
    "Condition",
    "Default",
    "DestinationCidrBlock",
    "DestinationSecurityGroupId",
    "Effect",
    "FromPort",
    "GatewayId",
    "GroupId",
    "InstanceGroups",
    "IpProtocol",
    "ManagedPolicyArns",
    "NotAction",
    "Parameters",
    "Policies",
    "PolicyDocument",
    "Principal",
    "Resource",
    "Roles",
    "RouteTableId",
    "SecurityGroupEgress",
    "SecurityGroupIngress",
    "ServiceName",
    "SourceSecurityGroupId",
    "Statement",
    "StatementId",
    "SubnetId",
    "TemplateURL",
    "VpcId",
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=True)
    | st.text(max_size=8)
    | st.sampled_from(
        [*NAMES, "*", "Allow", "Deny", "s3:*", "arn:aws:s3:::*", "10.0.0.0/8", "::/0", "{{resolve:ssm:x}}", "${A.B}-${C}", "-1"]
    )
)


def function(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    arguments = st.lists(inner, max_size=4) | inner | st.sampled_from(NAMES)
    return st.builds(lambda name, argument: {name: argument}, st.sampled_from(FUNCTIONS), arguments)


data = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=4)
        | function(inner)
    ),
    max_leaves=25,
)
properties = st.dictionaries(st.sampled_from(KEYS), data, max_size=5) | data
resource = st.fixed_dictionaries(
    {"Type": st.sampled_from(TYPES) | data},
    optional={"Properties": properties, "DependsOn": data, "Condition": data, "DeletionPolicy": data, "Metadata": data},
)
section = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), data, max_size=4)
template = st.fixed_dictionaries(
    {"Resources": st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), resource, max_size=6)},
    optional={
        **dict.fromkeys(("Parameters", "Mappings", "Conditions", "Outputs", "Rules"), section),
        **dict.fromkeys(("Transform", "Metadata", "Description"), section | data),
    },
)


@contextmanager
def assert_little_work(resources: int) -> Iterator[None]:
    with counted() as work:
        yield
    assert work.calls + work.built_in < CALLS_PER_HUNDRED * max(1.0, resources / 100)


def assert_everything_answers(model: Model) -> None:
    """Every question of a rule, and every rule."""
    everything = model.resources()
    for one in everything:
        json.dumps(shown(one.get()), allow_nan=True)
        assert isinstance(depends_on(one), frozenset)
        awaits(one, everything[0])
        assert one.deletion_policy is not None or one.raw["DeletionPolicy"] is None
        assert one.construct_path is None or one.construct_path
    for part in model.templates:
        for name in NAMES:
            part.ref(name)
            part.attribute(name, "Arn")
            part.output(name)
    networks, groups = network_facts(model), security_groups(model)
    subnets = [networks.subnet(one) for one in model.resources(SUBNET)]
    for subnet in subnets:
        assert subnet.exit.kind in ExitKind
        assert not (subnet.gateway_endpoint("s3") and subnet.lacks_gateway_endpoint("s3"))
        subnet.zone.is_same(subnets[0].zone)
        assert subnet.usable_addresses is None or subnet.usable_addresses >= 0
    for vpc in model.resources(VPC):
        networks.interface_endpoint(vpc, "ssm")
    for group in model.resources(SECURITY_GROUP):
        groups.of(group).allows_itself("egress")
    for connection in connections(model):
        assert connection.passes in (True, False, None)
        assert all(hop.says and hop.passes is not False for way in connection.ways for hop in way.hops[:-1])
    for role in model.resources(ROLE):
        facts = role_facts(role)
        for target in (None, "*", "arn:aws:s3:::a/b", *map(Reference, everything[:4])):
            assert facts.may("s3:GetObject", target) in (True, False, None)
        facts.trusts("sagemaker.amazonaws.com")
        facts.unawaited_by(everything[0])
    for one in model.resources("AWS::S3::Bucket"):
        s3_uri_arns(one.get("BucketName"))
    check(model)


@SLOW
@given(st.lists(template, min_size=1, max_size=3))
def test_any_template_gets_answers(bodies: list[dict[str, Any]]) -> None:
    with assert_little_work(sum(len(body["Resources"]) for body in bodies)):
        assert_everything_answers(Model.of({f"t{index}": body for index, body in enumerate(bodies)}))


@SLOW
@given(data)
def test_any_data_is_a_template_or_not(body: Any) -> None:
    with assert_little_work(0):
        try:
            model = Model.of({"t": body})
        except TemplateError:
            return
        assert_everything_answers(model)


@SLOW
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode), suffix=st.sampled_from([".json", ".yaml", ""]))
def test_any_file_is_a_template_or_not(tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_bytes(content)
    with assert_little_work(0):
        try:
            load([path])
        except TemplateError as refusal:
            error = refusal
        else:
            return
    assert error.file == path


YAML_PIECES = (
    "Resources",
    ": ",
    "\n",
    "\n  ",
    "\n    ",
    "- ",
    "&a ",
    "*a",
    "<<",
    "!Ref ",
    "!Sub ",
    "!!binary ",
    "{",
    "}",
    "[",
    "]",
    "A",
    "Type",
    "'",
    '"',
    "|",
    "? ",
    "---",
    "\t",
)


@SLOW
@given(st.lists(st.sampled_from(YAML_PIECES), max_size=40).map("".join))
def test_any_yaml_is_a_template_or_not(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(f"Resources: {{}}\n{text}")
    with assert_little_work(0):
        try:
            model = load([path])
        except TemplateError:
            return
        assert_everything_answers(model)


@cache
def reference() -> Mapping[str, Any]:
    return templates(build("llm"))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


hostile = data


@cache
def reference_places() -> list[tuple[Any, ...]]:
    return [path for path in places(dict(reference())) if len(path) > 2]


@SLOW
@given(data=st.data())
def test_the_reference_app_with_anything_anywhere(data: st.DataObject) -> None:
    bodies = json.loads(json.dumps(reference()))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(reference_places()))
        target: Any = bodies
        try:
            for key in path[:-1]:
                target = target[key]
            target[path[-1]] = data.draw(hostile)
        except (KeyError, IndexError, TypeError):
            assume(False)
    with assert_little_work(100):
        try:
            model = Model.of(bodies)
        except TemplateError:
            return
        assert_everything_answers(model)


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = {"Fn::Join": ["", [value, value]]} if levels < 12 else {"Fn::Join": ["", [value]]}
    return value


@pytest.mark.parametrize("levels", [11, 28])
def test_functions_in_functions(levels: int) -> None:
    with assert_little_work(100):
        assert_everything_answers(Model.of({"t": {"Resources": {"A": {"Type": "T", "Properties": {"a": nested(levels)}}}}}))


def test_fails_for_endless_nesting() -> None:
    endless: dict[str, Any] = {"Resources": {}}
    endless["Resources"]["A"] = endless
    with assert_little_work(0), pytest.raises(TemplateError, match="levels deep"):
        Model.of({"t": endless})


def test_long_chains_end() -> None:
    count = 2000
    resources = {f"R{index}": {"Type": "T", "DependsOn": f"R{(index + 1) % count}"} for index in range(count)}
    conditions = {f"C{index}": {"Condition": f"C{index + 1}"} for index in range(count)}
    body = {"Resources": resources, "Conditions": conditions}
    with assert_little_work(count):
        model = Model.of({"t": body})
        first, last = model.resources()[0], model.resources()[-1]
        assert awaits(first, last)
        assert awaits(last, first)
        assert model.templates[0].condition("C0") is None


def test_outputs_that_double_from_stack_to_stack() -> None:
    bodies: dict[str, Any] = {}
    for index in range(60):
        before = {"Fn::ImportValue": f"e{index - 1}"}
        value: Any = "x" * 10 if index == 0 else {"Fn::Sub": ["${X}${X}", {"X": before}]} if index % 2 else [before, before]
        bodies[f"t{index}"] = {
            "Resources": {"A": {"Type": "T", "Properties": {"a": value}}},
            "Outputs": {"O": {"Value": value, "Export": {"Name": f"e{index}"}}},
        }
    with assert_little_work(100):
        assert_everything_answers(Model.of(bodies))


def test_alternatives_do_not_multiply() -> None:
    body = {
        "Parameters": {
            f"P{index}": {"Type": "String", "AllowedValues": [f"{index}-{item}" for item in range(8)]} for index in range(50)
        },
        "Resources": {"A": {"Type": "T", "Properties": {"a": {"Fn::Join": ["", [{"Ref": f"P{index}"} for index in range(50)]]}}}},
    }
    with assert_little_work(0):
        assert_everything_answers(Model.of({"t": body}))


def test_a_policy_of_stars_against_a_text_of_stars() -> None:
    pattern = {"Fn::Sub": "${P}" + "a*" * 2000 + "${P}"}
    body = {
        "Parameters": {"P": {"Type": "String"}},
        "Resources": {
            "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": {"Fn::Sub": "x${P}" + "a" * 4000}}},
            "Role": {
                "Type": "AWS::IAM::Role",
                "Properties": {
                    "Policies": [
                        {"PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "*a" * 200, "Resource": pattern}]}}
                    ],
                },
            },
        },
    }
    with assert_little_work(0):
        model = Model.of({"t": body})
        assert_everything_answers(model)
        assert role_facts(model.resources(ROLE)[0]).may("a" * 300 + "b") is False


def crowded(groups: int) -> Model:
    """Security groups, with four separate rules each."""
    own = {
        f"G{index}": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"SecurityGroupIngress": [{"IpProtocol": "-1", "CidrIp": "10.0.0.0/8"}]},
        }
        for index in range(groups)
    }
    separate = {
        f"R{index}": {
            "Type": "AWS::EC2::SecurityGroupIngress",
            "Properties": {
                "GroupId": {"Ref": f"G{index % groups}"},
                "SourceSecurityGroupId": {"Ref": f"G{index % 7}"},
                "IpProtocol": "tcp",
            },
        }
        for index in range(4 * groups)
    }
    return Model.of({"t": {"Resources": own | separate}})


def test_twice_as_many_groups_and_rules_take_twice_the_work() -> None:
    models = [crowded(50), crowded(100)]
    assert_everything_answers(crowded(100))
    one, two = (calls(partial(check, model)) for model in models)
    assert two < 2.2 * one
