"""Random policies before our evaluation and before that of the embedded AWS: where both know an answer, it is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, target
from hypothesis import strategies as st
from ministack.core import iam_evaluator  # type: ignore[import-untyped]

from hyperpod_constructs.analysis.answers import any_of
from hyperpod_constructs.analysis.iam import role_facts
from hyperpod_constructs.analysis.policy_document import Call
from hyperpod_constructs.analysis.refusals import Cause, refusal
from hyperpod_constructs.analysis.resource_policies import ResourcePolicy
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.raw import raw_template
from hyperpod_constructs.templates.values import ABSENT, Value

ACCOUNT, REGION = "123456789012", "us-west-2"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/nodes"
ACTIONS = ("s3:GetObject", "s3:PutObject", "s3:ListBucket", "ec2:CreateTags", "S3:getobject", "logs:PutLogEvents")
PATTERNS = ("*", "s3:*", "s3:Get*", "S3:GetObject", "s3:??tObject", "ec2:*", "*:Put*", "logs:PutLogEvents", "s3:Get", "")
BUCKETS = ("arn:aws:s3:::data", "arn:aws:s3:::data/a/b", "arn:aws:s3:::other/x", f"arn:aws:ec2:{REGION}:{ACCOUNT}:volume/v-1", "*")
RESOURCES = (*BUCKETS, "arn:aws:s3:::*", "arn:aws:s3:::data/*", "arn:aws:s3:::d?ta/*", f"arn:aws:ec2:*:{ACCOUNT}:*/*", "arn:aws:*")
KEYS: Mapping[str, tuple[Any, ...]] = {
    "aws:RequestedRegion": (REGION,),
    "aws:PrincipalArn": (ROLE,),
    "aws:MultiFactorAuthPresent": (None,),
    "kms:ViaService": ("s3.us-west-2.amazonaws.com", None),
    "s3:max-keys": ("10", "20", None),
    "ec2:ResourceTag/team": ("a", "b", None),
    "ec2:Attribute": (["x", "y"], ["x"], []),
}
VALUES = (
    REGION,
    "us-*",
    "us-west-?",
    ROLE,
    "arn:aws:iam::*:role/*",
    "true",
    "false",
    "10",
    "15",
    "a",
    "x",
    "s3.*.amazonaws.com",
    "A",
)
BASES = (
    *("StringEquals", "StringNotEquals", "StringLike", "StringNotLike", "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase"),
    *("ArnLike", "ArnNotEquals", "Bool", "NumericLessThan", "NumericGreaterThanEquals", "NumericNotEquals"),
)
OPERATORS = st.builds(
    lambda quantifier, base, suffix: f"{quantifier}{base}{suffix}",
    st.sampled_from(("", "", "ForAnyValue:", "ForAllValues:")),
    st.sampled_from(BASES),
    st.sampled_from(("", "", "IfExists")),
) | st.just("Null")
SETTINGS = settings(max_examples=100, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])


def some(values: tuple[str, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from(values) | st.lists(st.sampled_from(values), min_size=1, max_size=3)


def conditions() -> st.SearchStrategy[dict[str, Any]]:
    """Conditions; a key with several values takes a quantifier."""
    keys = st.dictionaries(st.sampled_from(tuple(KEYS)), some(VALUES), min_size=1, max_size=2)
    return st.dictionaries(OPERATORS, keys, max_size=2).map(
        lambda found: {name: one for name, one in found.items() if ":" in name or "ec2:Attribute" not in one}
    )


@st.composite
def statements(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "Effect": draw(st.sampled_from(("Allow", "Allow", "Deny"))),
        draw(st.sampled_from(("Action", "Action", "NotAction"))): draw(some(PATTERNS)),
        draw(st.sampled_from(("Resource", "Resource", "NotResource"))): draw(some(RESOURCES)),
        "Condition": draw(conditions()),
    }


DOCUMENTS = st.lists(statements(), min_size=1, max_size=4).map(lambda found: {"Statement": found})
CONTEXTS = st.fixed_dictionaries({key: st.sampled_from(values) for key, values in KEYS.items()})


def role_of(document: Any, **more: Any) -> Resource:
    policies = [{"PolicyName": "p", "PolicyDocument": document}]
    role = {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "nodes", "Policies": policies, **more}}
    return placed(role)


def placed(resource: Mapping[str, Any]) -> Resource:
    """A resource in the account and the region of the calls."""
    body = raw_template({"Resources": {"One": resource}})
    (found,) = Model([Document(name="t", body=body, environment=Environment(region=REGION, account=ACCOUNT))]).resources()
    return found


def call_of(action: str, resource: str, values: Mapping[str, Any]) -> Call:
    return Call(action, resource, {key.lower(): value_of(value) for key, value in values.items()})


def value_of(value: Any) -> Value:
    return ABSENT if value is None else tuple(value) if isinstance(value, list) else value


def request_of(action: str, resource: str, values: Mapping[str, Any]) -> Any:
    known = {key.lower(): value for key, value in values.items() if value is not None}
    return iam_evaluator.EvalContext(
        principal_arn=ROLE,
        principal_type="AssumedRole",
        principal_account=ACCOUNT,
        action=action,
        resource_arn=resource,
        region=REGION,
        service_context=known,
    )


def verdict(denied: bool | None, allowed: bool | None) -> str | None:
    """Our answer in the words of the embedded AWS; `None` if it is not known."""
    if denied or denied is None:
        return "Deny" if denied else None
    return {True: "Allow", False: "ImplicitDeny", None: None}[allowed]


@SETTINGS
@given(DOCUMENTS, st.sampled_from(ACTIONS), st.sampled_from(BUCKETS), CONTEXTS)
def test_a_role_may_what_the_embedded_aws_lets_it(document: Any, action: str, resource: str, values: Mapping[str, Any]) -> None:
    layer, call = role_facts(role_of(document)).identity, call_of(action, resource, values)
    ours = verdict(layer.denies(call), layer.allows(call))
    policies = [iam_evaluator.parse_policy_document(document)]
    target(float(ours is not None), label="known")
    assert ours in (iam_evaluator.evaluate(request_of(action, resource, values), policies).decision, None)


PRINCIPALS = st.sampled_from(
    (
        "*",
        {"AWS": "*"},
        {"AWS": ROLE},
        {"AWS": [ROLE, f"arn:aws:iam::{ACCOUNT}:role/other"]},
        {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
        {"AWS": ACCOUNT},
        {"Service": "s3.amazonaws.com"},
        {"AWS": "arn:aws:iam::210987654321:root"},
    )
)


@SETTINGS
@given(DOCUMENTS, DOCUMENTS, st.lists(PRINCIPALS, min_size=4, max_size=4), st.sampled_from(ACTIONS), CONTEXTS)
def test_the_policy_of_a_bucket_counts_as_in_the_embedded_aws(
    own: Any, other: Any, principals: list[Any], action: str, values: Mapping[str, Any]
) -> None:
    resource = "arn:aws:s3:::data/a/b"
    policy = {
        "Statement": [{**one, "Principal": principal} for one, principal in zip(other["Statement"], principals, strict=False)]
    }
    call, role = call_of(action, resource, values), role_of(own)
    at_bucket = {"Type": "AWS::S3::BucketPolicy", "Properties": {"Bucket": "data", "PolicyDocument": policy}}
    theirs, layer = ResourcePolicy(placed(at_bucket), ("PolicyDocument",), sure=True), role_facts(role).identity
    denied = any_of((layer.denies(call), theirs.denies(role, call)))
    ours = verdict(denied, any_of((layer.allows(call), theirs.gives(role, call))))
    context = request_of(action, resource, values)
    identity = iam_evaluator.evaluate(context, [iam_evaluator.parse_policy_document(own)])
    said = iam_evaluator.combine_resource_policy(identity, context, policy, ACCOUNT).decision
    assert ours in (said, None) or (ours == "ImplicitDeny" and said == "Deny")


def bounded(own: str, *limits: str) -> Resource:
    boundary = {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {"PolicyDocument": {"Statement": [statement(one) for one in limits]}},
    }
    role = {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "PermissionsBoundary": {"Ref": "Boundary"},
            "Policies": [{"PolicyName": "p", "PolicyDocument": {"Statement": statement(own)}}],
        },
    }
    model = Model.of({"t": {"Resources": {"Role": role, "Boundary": boundary}}})
    return model.resources("AWS::IAM::Role")[0]


def statement(text: str) -> dict[str, Any]:
    effect, action, resource = text.split()
    return {"Effect": effect, "Action": action, "Resource": resource}


@pytest.mark.parametrize(
    ("limits", "cause", "place"),
    [
        (["Allow * *"], None, None),
        (["Allow s3:* *"], None, None),
        (["Allow ec2:* *"], Cause.MISSING, "Boundary"),
        (["Allow s3:* arn:aws:s3:::other/*"], Cause.MISSING, "Boundary"),
        (["Allow * *", "Deny s3:Get* *"], Cause.DENIED, "Boundary"),
        (["Allow * *", "Deny s3:Get* arn:aws:s3:::other/*"], None, None),
    ],
)
def test_a_boundary_takes_away(limits: list[str], cause: Cause | None, place: str | None) -> None:
    found = refusal(role_facts(bounded("Allow s3:GetObject *", *limits)), Call("s3:GetObject", "arn:aws:s3:::data/a"))
    assert (found and found.cause, found and found.place.logical_id) == (cause, place)


def test_what_a_role_lacks_itself_is_its_own() -> None:
    found = refusal(role_facts(bounded("Allow s3:Put* *", "Allow ec2:* *")), Call("s3:GetObject", "arn:aws:s3:::data/a"))
    assert found is not None
    assert (found.cause, found.place.logical_id) == (Cause.MISSING, "Role")
