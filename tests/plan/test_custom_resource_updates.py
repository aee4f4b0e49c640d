"""The effect of each change of a custom resource of the library."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.plan.effect import Effect
from tests.plan.templates import change, resource, row, template


@pytest.mark.parametrize(
    ("name", "old", "new", "effect"),
    [
        ("Version", "1.10.0", "1.9.0", Effect.REFUSED),
        ("Version", "1.9.0", "1.10.0", Effect.NO_INTERRUPTION),
        ("Version", "newest", "1.10.0", Effect.NO_INTERRUPTION),
        ("Name", "one", "two", Effect.REPLACE),
        ("Configuration", "{}", '{"a":1}', Effect.NO_INTERRUPTION),
    ],
)
def test_a_change_of_an_extension(name: str, old: str, new: str, effect: Effect) -> None:
    properties: list[dict[str, Any]] = [{name: old}, {name: new}]
    one, other = (resource("Custom::HyperPodClusterExtension", **found) for found in properties)
    found = row(one, other)
    assert (found.property, found.effect) == (name, effect)
    assert ("only raises the version" in found.why) == (effect is Effect.REFUSED)


SENDS = """import cfnresponse
def handler(event, context):
    given = event["ResourceProperties"]
    name = f"{given['Bucket']}/{given['Key']}"
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, name)
"""
KEEPS = SENDS.replace("{}, name", "{}, event.get('PhysicalResourceId', name)")
FAILS = f"{SENDS}    cfnresponse.send(event, context, cfnresponse.FAILED, {{}}, 'none')\n"


def written(code: str, **given: str) -> dict[str, Any]:
    """An object that a function with this code writes."""
    function = resource("AWS::Lambda::Function", Runtime="python3.13", Handler="index.handler", Code={"ZipFile": code})
    properties: dict[str, Any] = {"Bucket": {"Ref": "Scripts"}, "Key": "one.sh", "Body": "a", **given}
    token = {"Fn::GetAtt": ["Writer", "Arn"]}
    return template(
        Scripts=resource("AWS::S3::Bucket"),
        Writer=function,
        Script=resource("Custom::Script", ServiceToken=token, **properties),
    )


@pytest.mark.parametrize(
    ("code", "given", "effect"),
    [
        (SENDS, {"Key": "two.sh"}, Effect.REPLACE),
        (FAILS, {"Key": "two.sh"}, Effect.REPLACE),
        (SENDS, {"Body": "b"}, Effect.NO_INTERRUPTION),
        (KEEPS, {"Key": "two.sh"}, Effect.NO_INTERRUPTION),
        (SENDS.replace(", name)", ")"), {"Key": "two.sh"}, Effect.NO_INTERRUPTION),
    ],
)
def test_a_custom_resource_is_another_one_with_another_id(code: str, given: dict[str, str], effect: Effect) -> None:
    (found,) = change(written(code), written(code, **given)).rows
    assert (found.resource, found.property, found.effect) == ("Script", next(iter(given)), effect)
