"""`hyperpod nodes` beside a bare boto3 script that makes the same calls, against a service that answers at once."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from bench import children
from bench.figures import Cost, Pairs, interleave

_WIDTH = ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE")
NODES = 1000
MOST_SECONDS = 2.0
MOST_RATIO = 1.25
_PAGE = 100
_REGION = "us-west-2"
_ARN = f"arn:aws:sagemaker:{_REGION}:111122223333:cluster/abcde01234yz"
_BARE = f"""
import sys, boto3
session = boto3.session.Session(region_name="{_REGION}")
def client(service):
    return session.client(service, endpoint_url=sys.argv[1])
client("sts").get_caller_identity()
sagemaker = client("sagemaker")
cluster = sagemaker.describe_cluster(ClusterName="trainer")
pages = sagemaker.get_paginator("list_cluster_nodes").paginate(ClusterName=cluster["ClusterArn"], MaxResults={_PAGE})
nodes = [node for page in pages for node in page["ClusterNodeSummaries"]]
client("ec2").describe_subnets(SubnetIds=cluster["VpcConfig"]["Subnets"])
for node in nodes:
    print(node["InstanceId"], node["InstanceGroupName"], node["InstanceStatus"]["Status"])
"""
_CLUSTER = {
    "ClusterArn": _ARN,
    "ClusterName": "trainer",
    "ClusterStatus": "InService",
    "VpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
    "InstanceGroups": [
        {
            "InstanceGroupName": "workers",
            "InstanceType": "ml.p5.48xlarge",
            "Status": "InService",
            "CurrentCount": NODES,
            "TargetCount": NODES,
        }
    ],
}
_QUERIES = {
    "GetCallerIdentity": "<GetCallerIdentityResponse><GetCallerIdentityResult><Account>111122223333</Account>"
    "</GetCallerIdentityResult></GetCallerIdentityResponse>",
    "DescribeSubnets": "<DescribeSubnetsResponse><subnetSet><item><subnetId>subnet-1</subnetId>"
    "<availabilityZone>us-west-2a</availabilityZone><availabilityZoneId>usw2-az2</availabilityZoneId>"
    "</item></subnetSet></DescribeSubnetsResponse>",
}


def compare(pairs: int) -> Pairs:
    """Costs of the command and of the script, whole processes."""
    with service() as url:

        def subject() -> Cost:
            return _checked(["hyperpod", *arguments(url)])

        def base() -> Cost:
            return _checked([sys.executable, "-c", _BARE, url])

        subject()
        base()
        return interleave(subject, base, pairs)


def arguments(url: str) -> list[str]:
    """Those of the command."""
    return ["nodes", "--cluster", "trainer", "--endpoint-url", url, "--region", _REGION]


def variables() -> dict[str, str]:
    """The environment of both programs: a pipe of no width, as scripts have it."""
    inherited = {name: value for name, value in children.environment().items() if name not in _WIDTH}
    return inherited | {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none"}


def _checked(command: list[str]) -> Cost:
    cost, output = children.run(command, variables())
    if len(output.splitlines()) < NODES:
        raise children.ChildError(f"{' '.join(command[:2])} printed {len(output.splitlines())} lines, not {NODES}")
    return cost


@contextmanager
def service() -> Iterator[str]:
    """The address of a service with the nodes."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        operation = self.headers.get("X-Amz-Target", "").rpartition(".")[2]
        answer = json.dumps(_answer(operation, json.loads(body))) if operation else _query(body)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.1" if operation else "text/xml")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, format: str, *_: Any) -> None: ...


def _answer(operation: str, asked: dict[str, Any]) -> dict[str, Any]:
    if operation == "DescribeCluster":
        return _CLUSTER
    first = int(asked.get("NextToken", "0"))
    more = {"NextToken": str(first + _PAGE)} if first + _PAGE < NODES else {}
    return {"ClusterNodeSummaries": [_node(number) for number in range(first, first + _PAGE)], **more}


def _query(body: str) -> str:
    return next(answer for operation, answer in _QUERIES.items() if f"Action={operation}" in body)


def _node(number: int) -> dict[str, Any]:
    return {
        "InstanceGroupName": "workers",
        "InstanceId": f"i-{number:017x}",
        "InstanceType": "ml.p5.48xlarge",
        "LaunchTime": 1_790_000_000,
        "InstanceStatus": {"Status": "Running"},
        "PrivateDnsHostname": f"ip-10-1-{number // 256}-{number % 256}.{_REGION}.compute.internal",
    }
