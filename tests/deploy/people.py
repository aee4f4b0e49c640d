"""People and roles of the embedded AWS: their permissions, kubectl in a shell, and the Kubernetes API with their token."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from typing import Any

import boto3
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from hyperpod_constructs.local.kubernetes.client import HttpsApi
from tests.deploy.conftest import BIN, Cloud, Run
from tests.patience import PATIENCE


def credentials(cloud: Cloud, role: str) -> Credentials:
    """Those of a session of the role with this ARN."""
    given = cloud.client("sts").assume_role(RoleArn=role, RoleSessionName="me")["Credentials"]
    return Credentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])


def variables(who: Credentials) -> dict[str, str]:
    """Somebody's credentials in the environment of a process."""
    names = {"AWS_ACCESS_KEY_ID": who.access_key, "AWS_SECRET_ACCESS_KEY": who.secret_key, "AWS_SESSION_TOKEN": who.token}
    return {name: str(value) for name, value in names.items()}


def clients(cloud: Cloud, who: Credentials) -> Callable[[str], Any]:
    """Clients of AWS for somebody, by the name of the service."""
    session: Any = boto3.Session(who.access_key, who.secret_key, who.token, region_name=cloud.aws.region)
    return lambda service: session.client(service, endpoint_url=cloud.aws.endpoint)


@contextmanager
def without(cloud: Cloud, role: str, action: str) -> Iterator[Set[str]]:
    """Take an action from the inline policies of the role with this ARN for a while; yields all that it was allowed."""
    iam, name = cloud.client("iam"), role.rpartition("/")[2]
    before = {
        policy: iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
        for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]
    }
    allowed = {one for document in before.values() for statement in document["Statement"] for one in _actions(statement)}
    assert action in allowed
    try:
        for policy, document in before.items():
            left = [{**one, "Action": [name for name in _actions(one) if name != action]} for one in document["Statement"]]
            text = json.dumps({**document, "Statement": [one for one in left if one["Action"]]})
            iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=text)
        yield allowed
    finally:
        for policy, document in before.items():
            iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=json.dumps(document))


def _actions(statement: dict[str, Any]) -> list[str]:
    found = statement["Action"]
    return [found] if isinstance(found, str) else list(found)


def kubectl(cloud: Cloud, cluster: str, *arguments: str, role: str | None = None, secret: str | None = None) -> Run:
    """kubectl in a user's shell, as the owner of the account or in a role."""
    own = cloud.directory / "shell"
    own.mkdir(exist_ok=True)
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    environment = {**cloud.aws.environment(), "PATH": path, "HOME": str(own), "KUBECONFIG": str(own / "config")}
    login = ["aws", "eks", "update-kubeconfig", "--name", cluster]
    subprocess.run(login, env=environment, check=True, capture_output=True)  # noqa: S603
    if role is not None:
        environment |= variables(credentials(cloud, role))
    if secret is not None:
        environment["AWS_SECRET_ACCESS_KEY"] = secret
    done = subprocess.run(["kubectl", *arguments], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603
    return Run(done.returncode, done.stdout + done.stderr)


@contextmanager
def api(cloud: Cloud, cluster: str, who: Credentials) -> Iterator[HttpsApi]:
    """The Kubernetes API with the token that `aws eks get-token` prints for somebody."""
    found = cloud.client("eks").describe_cluster(name=cluster)["cluster"]
    url = f"{cloud.aws.endpoint}/?Action=GetCallerIdentity&Version=2011-06-15"
    request = AWSRequest("GET", url, headers={"x-k8s-aws-id": cluster})
    SigV4QueryAuth(who, "sts", cloud.aws.region, expires=60).add_auth(request)
    token = "k8s-aws-v1." + base64.urlsafe_b64encode(str(request.url).encode()).decode().rstrip("=")
    client = HttpsApi(found["endpoint"], base64.b64decode(found["certificateAuthority"]["data"]), token)
    try:
        yield client
    finally:
        client.close()
