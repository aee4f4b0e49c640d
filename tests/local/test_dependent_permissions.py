"""What creating a cluster on EKS takes of a deployer beside its own action: each is needed, and its absence is named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.facts.node_permissions import ADMISSION_ACTIONS
from hyperpod_constructs.local import server
from hyperpod_constructs.local.server import LocalAws

ACCOUNT = "123456789012"
ACTIONS = ("sagemaker:CreateCluster", "iam:PassRole", *ADMISSION_ACTIONS)
REQUEST = {
    "ClusterName": "one",
    "Orchestrator": {"Eks": {"ClusterArn": f"arn:aws:eks:us-west-2:{ACCOUNT}:cluster/training"}},
    "InstanceGroups": [
        {
            "InstanceGroupName": "workers",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": 1,
            "ExecutionRole": f"arn:aws:iam::{ACCOUNT}:role/nodes",
        }
    ],
}


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    state = tmp_path_factory.mktemp("dependent")
    try:
        yield server.start(state, auth=True)
    finally:
        server.stop(state)


def deployer(aws: LocalAws, name: str, actions: list[str], **conditions: Any) -> Any:
    """A client of SageMaker for a new user with these actions."""
    iam = aws.client("iam")
    iam.create_user(UserName=name)
    statement = {"Effect": "Allow", "Action": actions, "Resource": "*", **conditions}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_user_policy(UserName=name, PolicyName="own", PolicyDocument=document)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    session: Any = boto3.Session(key["AccessKeyId"], key["SecretAccessKey"], region_name=aws.region)
    return session.client("sagemaker", endpoint_url=aws.endpoint)


def refusal(client: Any) -> str:
    with pytest.raises(ClientError) as refused:
        client.create_cluster(**REQUEST)
    return str(refused.value)


@pytest.mark.parametrize("action", ACTIONS)
def test_each_permission_of_a_deployer_is_needed(aws: LocalAws, action: str) -> None:
    left = [one for one in ACTIONS if one != action]
    name = f"without-{action.replace(':', '-')}"
    assert f"is not authorized to perform: {action}" in refusal(deployer(aws, name, left))


def test_with_all_of_them_the_service_judges_the_request(aws: LocalAws) -> None:
    assert "VpcConfig is required" in refusal(deployer(aws, "whole", list(ACTIONS)))


def test_roles_are_passed_to_sagemaker(aws: LocalAws) -> None:
    passed = {"StringEqualsIfExists": {"iam:PassedToService": "ec2.amazonaws.com"}}
    assert "iam:PassRole" in refusal(deployer(aws, "elsewhere", list(ACTIONS), Condition=passed))
