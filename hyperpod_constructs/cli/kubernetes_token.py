"""A token for the Kubernetes API of an EKS cluster, as `aws eks get-token` makes it: a request for the caller's identity, signed
but not sent.

kubectl runs this module for a cluster of the embedded AWS, so that a kubeconfig holds no secret.
usage: python -P -m hyperpod_constructs.cli.kubernetes_token STATE CLUSTER [ROLE]
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hyperpod_constructs.cli.target import Target
from hyperpod_constructs.facts.kubernetes import CREDENTIAL_API, TOKEN_PREFIX

_HEADER = "x-k8s-aws-id"
_SECONDS = 60
_HOLDS = timedelta(minutes=14)
"""A token holds for 15 minutes after its signature.

Source: https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html
"""
_SESSION = "hyperpod-kubeconfig"


def token(target: Target, cluster: str, role: str | None = None) -> str:
    """A token for a cluster.

    :param target: the account of the cluster.
    :param cluster: the name of the EKS cluster.
    :param role: the ARN of a role to take; the caller as it is unless given.
    """
    client = target.client("sts") if role is None else _in_role(target, role)

    def name_cluster(request: Any, **_: Any) -> None:
        request.headers[_HEADER] = cluster

    client.meta.events.register("before-sign.sts.GetCallerIdentity", name_cluster)
    url = client.generate_presigned_url("get_caller_identity", ExpiresIn=_SECONDS, HttpMethod="GET")
    return TOKEN_PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def _in_role(target: Target, role: str) -> Any:
    import botocore.session

    asked = target.client("sts")
    given = asked.assume_role(RoleArn=role, RoleSessionName=_SESSION)["Credentials"]
    # Without a profile: one of the user's may not exist here.
    return botocore.session.Session(session_vars={"profile": (None, [], None, None)}).create_client(
        "sts",
        region_name=target.region,
        endpoint_url=asked.meta.endpoint_url,
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )


def main(arguments: Sequence[str]) -> int:
    """Print a credential for kubectl; the exit code."""
    from hyperpod_constructs.local import server

    state, cluster, *role = arguments
    aws = server.running(Path(state))
    if aws is None:
        sys.stderr.write(f"the embedded AWS of {state} does not run, so its cluster {cluster} is gone: hyperpod deploy\n")
        return 1
    until = (datetime.now(UTC) + _HOLDS).strftime("%Y-%m-%dT%H:%M:%SZ")
    status = {"token": token(aws, cluster, *role), "expirationTimestamp": until}
    credential = {"apiVersion": CREDENTIAL_API, "kind": "ExecCredential", "spec": {}, "status": status}
    sys.stdout.write(json.dumps(credential) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
