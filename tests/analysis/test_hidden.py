"""Secrets that stand in templates are in no finding and in no row of a plan."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.hidden import Secrets, secrets_of
from hyperpod_constructs.plan.plan import plan
from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.model import Model

SECRET = "a b@c d/e"


def database(password: Any) -> dict[str, Any]:
    given = {"Engine": "mysql", "DBInstanceClass": "db.t3.medium", "AllocatedStorage": "20", "MasterUsername": "u"}
    return {"Type": "AWS::RDS::DBInstance", "Properties": {**given, "MasterUserPassword": password}}


def model(resource: dict[str, Any], **parameters: Any) -> Model:
    return Model.of({"t": {"Parameters": parameters, "Resources": {"One": resource}}})


TUNNEL = {
    "Type": "AWS::EC2::VPNConnection",
    "Properties": {
        "Type": "ipsec.1",
        "CustomerGatewayId": "cgw-0123456789abcdef0",
        "TransitGatewayId": "tgw-0123456789abcdef0",
        "VpnTunnelOptionsSpecifications": [{"PreSharedKey": SECRET}],
    },
}
HIDDEN = {"Type": "String", "NoEcho": True, "Default": SECRET, "AllowedPattern": "[A-Z]+"}


@pytest.mark.parametrize(
    ("resource", "parameters"),
    [
        (database(SECRET), {}),
        (TUNNEL, {}),
        (database({"Ref": "Password"}), {"Password": HIDDEN}),
    ],
)
def test_findings_hide_them(resource: dict[str, Any], parameters: dict[str, Any]) -> None:
    found = check(model(resource, **parameters))
    said = json.dumps([one.to_dict() for one in found])
    assert "(hidden)" in said
    assert SECRET not in said


def test_plans_hide_them() -> None:
    (row,) = (one for one in plan(model(database(SECRET)), model(database("another one"))).rows if one.property)
    assert (row.property, row.old, row.new) == ("MasterUserPassword", "(hidden)", "(hidden)")


@pytest.mark.parametrize(
    "properties",
    [
        {"Environment": {"Variables": {"DB_PASSWORD": SECRET}}},
        {"Environment": [{"Name": "API_KEY", "Value": SECRET}]},
        {"Passwords": {"AuthToken": SECRET}},
        {"SecretString": SECRET},
        {"SecretString": json.dumps({"password": SECRET, "port": "3306"})},
        {"AdminPassword": [SECRET]},
    ],
)
def test_a_secret_is_known_by_its_name(properties: dict[str, Any]) -> None:
    secrets = secrets_of(model({"Type": "Any::Type::One", "Properties": properties}))
    assert secrets.text(f"it is {SECRET!r}, and not 3306") == "it is '(hidden)', and not 3306"
    assert secrets.value({"a": [SECRET, 1]}) == {"a": ["(hidden)", 1]}


def test_programs_give_them_names() -> None:
    program = "#!/bin/sh\nexport TOKEN=0123456789\nexport PLACE=elsewhere\n"
    secrets = secrets_of(model({"Type": "AWS::EC2::Instance", "Properties": {"UserData": {"Fn::Base64": program}}}))
    assert secrets.text(program) == program.replace("0123456789", "(hidden)")


@pytest.mark.parametrize(
    "value", ["{{resolve:secretsmanager:one}}", "arn:aws:secretsmanager:us-west-2:1:secret:a", "true", "abc", 8, {"Ref": "One"}]
)
def test_where_a_secret_lies_is_told(value: Any) -> None:
    text = f"it is {value}, abc"
    assert secrets_of(model(database(value))).text(text) == text


def test_of_many_secrets_nothing_quoted_is_shown() -> None:
    secrets = Secrets([f"secret{number}" for number in range(1000)])
    assert secrets.text("One is 'secret7' and \"two\"") == "One is (hidden) and (hidden)"
    assert secrets.value({"a": "secret7", "b": 3}) == {"a": "(hidden)", "b": 3}
