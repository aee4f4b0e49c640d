"""The services that scripts of nodes call, and the ways to them."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.node_calls import services_called
from tests.analysis.test_uploaded_scripts import CODE, model
from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.test_reach import CLOSED, USE

_ASK = "aws secretsmanager get-secret-value --secret-id a"


@pytest.mark.parametrize(
    ("line", "called"),
    [
        (_ASK, {"secretsmanager"}),
        (f"{_ASK} --region $AWS_REGION", {"secretsmanager"}),
        (f"PASSWORD=$({_ASK} --query SecretString)", {"secretsmanager"}),
        ("aws ssm get-parameter --name /a", {"ssm"}),
        (f"{_ASK} --region eu-west-1", set()),
        (f"{_ASK} --endpoint-url https://vpce-1.secretsmanager.us-east-1.vpce.amazonaws.com", set()),
        (f"{_ASK} || true", set()),
        ("true", set()),
    ],
)
def test_scripts_call_the_services_of_their_commands(line: str, called: set[str]) -> None:
    (cluster,) = clusters(model(script=f"#!/bin/bash\nset -e\n{line}\n"))
    assert {one for group in cluster.groups for one in services_called(group)} == called


def _with_script(line: str) -> dict[str, Any]:
    """A closed network without an endpoint for secrets, and a script that is uploaded for its nodes."""
    role = "arn:aws:iam::123456789012:role/uploader"
    function = {"Role": role, "Runtime": "python3.13", "Handler": "index.handler", "Code": {"ZipFile": CODE}}
    uploaded = {
        "ServiceToken": {"Fn::GetAtt": ["Uploader", "Arn"]},
        "Prefix": "lifecycle",
        "Files": {"on_init_complete.sh": f"#!/bin/bash\nset -e\n{line}\n"},
    }
    return edited(
        CLOSED,
        {
            "Uploader": {
                "Type": "AWS::Lambda::Function",
                "Properties": {**function, "Environment": {"Variables": {"BUCKET": {"Ref": "Scripts"}}}},
            },
            "Upload": {"Type": "Custom::Scripts", "Properties": uploaded},
        },
    )


@pytest.mark.parametrize(("line", "reached"), [(_ASK, False), ("aws ssm get-parameter --name /a", True), ("true", True)])
def test_nodes_reach_what_their_scripts_call(line: str, reached: bool) -> None:
    found = [one.message for one in findings(_with_script(line)) if one.rule == USE]
    assert ["cannot reach secretsmanager" in one for one in found] == ([] if reached else [True])
