"""One look of the daemon: the page, CloudWatch and a remote Prometheus; a broken part does not silence the others."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from node_health.system import Result
from node_metrics.catalogue import Sample
from node_metrics.credentials import role_credentials
from node_metrics.daemon import Daemon, pause
from node_metrics.exposition import text
from node_metrics.identity import Identity
from node_metrics.remote_write import MOST_KEPT, Writer, snappy
from node_metrics.server import Page
from node_metrics.signing import Credentials, signed
from node_setup.software import METRIC_SETS, CloudWatch, Metrics, RemoteWrite

from ..node_health.doubles import Machine

WHO = Identity("c1", "workers", "i-1", "w0")
SETTINGS = Metrics(60, METRIC_SETS, "127.0.0.1", 9190, CloudWatch("HyperPod/Nodes", "us-west-2", True), None)


class Receiver(HTTPServer):
    """A Prometheus that keeps the bodies of requests, and answers them with `code`."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.code = 204
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(self.server.code)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def page() -> Iterator[Page]:
    with Page("127.0.0.1", 0) as made:
        thread = threading.Thread(target=made.serve_forever, args=[0.01], daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        thread = threading.Thread(target=made.serve_forever, args=[0.01], daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def get(page: Page, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{page.server_address[1]}{path}", timeout=60) as answer:
        return str(answer.read().decode())


def aws(machine: Machine) -> list[dict[str, object]]:
    """The requests of a double of the command line of AWS."""
    sent: list[dict[str, object]] = []

    def put(command: Sequence[str], text: str) -> Result:
        *options, request = command
        assert " ".join(options) == "aws cloudwatch put-metric-data --region us-west-2 --cli-input-json"
        sent.append(json.loads(request))
        return Result(0)

    machine.programs["aws"] = put
    return sent


def test_a_look_is_served_and_sent(machine: Machine, page: Page) -> None:
    sent = aws(machine)
    Daemon(machine, SETTINGS, WHO, page).look()
    assert 'node_filesystem_size_bytes{mountpoint="/"} 100.0\n' in get(page, "/metrics")
    assert "# TYPE node_amazonefa_tx_bytes counter\n" in get(page, "/metrics")
    data = sent[0]["MetricData"]
    assert isinstance(data, list)
    assert sent[0]["Namespace"] == "HyperPod/Nodes"
    names = [("ClusterId", "c1"), ("InstanceGroup", "workers"), ("InstanceId", "i-1")]
    assert data[0] == {
        "MetricName": "gpu_utilization_percent",
        "Dimensions": [{"Name": name, "Value": value} for name, value in names],
        "Timestamp": "2023-11-14T22:13:20Z",
        "Value": 95.0,
        "Unit": "Percent",
    }


def test_only_the_wanted_sets_are_read(machine: Machine, page: Page) -> None:
    Daemon(machine, SETTINGS._replace(sets=("memory",), cloudwatch=None), WHO, page).look()
    assert machine.commands == []
    assert "node_filesystem" not in page.text


def test_nodes_of_a_group_share_their_figures_where_they_are_not_kept_apart(machine: Machine, page: Page) -> None:
    sent = aws(machine)
    Daemon(machine, SETTINGS._replace(cloudwatch=CloudWatch("N", "us-west-2", False)), WHO, page).look()
    data = sent[0]["MetricData"]
    assert isinstance(data, list)
    assert [dimension["Name"] for dimension in data[0]["Dimensions"]] == ["ClusterId", "InstanceGroup"]


def test_a_broken_reader_and_a_missing_program_silence_nothing_else(
    machine: Machine, page: Page, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.programs["nvidia-smi"] = lambda command, text: Result(9, "", "driver/library version mismatch")
    daemon = Daemon(machine, SETTINGS, WHO, page)
    daemon.look()
    daemon.look()
    assert 'hyperpod_reader_up{reader="gpu"} 0.0\n' in page.text
    assert 'hyperpod_reader_up{reader="efa"} 1.0\n' in page.text
    assert capsys.readouterr().err.splitlines() == [
        "gpu: nvidia-smi ends with 9: driver/library version mismatch",
        "CloudWatch: aws cloudwatch put-metric-data: not found",
    ]
    aws(machine)
    daemon.look()
    assert capsys.readouterr().err == "CloudWatch: works again\n"


def test_labels_are_escaped() -> None:
    sample = Sample("DCGM_FI_DEV_GPU_UTIL", {"modelName": 'a"b\\c\nd'}, 1.0)
    assert text([sample]).splitlines()[2] == 'DCGM_FI_DEV_GPU_UTIL{modelName="a\\"b\\\\c\\nd"} 1.0'


def test_the_server_has_one_page(page: Page) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404") as refused:
        get(page, "/")
    refused.value.close()


def test_a_prometheus_that_was_away_gets_what_it_missed(machine: Machine, receiver: Receiver) -> None:
    writer = Writer(machine, RemoteWrite(f"http://127.0.0.1:{receiver.server_address[1]}/write", None), WHO)
    samples = [Sample("node_memory_MemTotal_bytes", {}, 1.0)]
    receiver.code = 503
    assert "answers 503" in str(writer.write(samples))
    assert "answers 503" in str(writer.write(samples))
    receiver.code = 204
    assert writer.write(samples) is None
    assert len(receiver.bodies) == 5
    receiver.code = 400
    assert "answers 400" in str(writer.write(samples))
    receiver.code = 204
    assert writer.write(samples) is None
    assert len(receiver.bodies) == 7


def test_no_more_is_kept_than_fits(machine: Machine, receiver: Receiver) -> None:
    writer = Writer(machine, RemoteWrite(f"http://127.0.0.1:{receiver.server_address[1]}/write", None), WHO)
    receiver.code = 503
    for _ in range(MOST_KEPT + 5):
        writer.write([])
    receiver.code = 204
    receiver.bodies.clear()
    writer.write([])
    assert len(receiver.bodies) == MOST_KEPT


def test_a_prometheus_that_is_not_there_is_named(machine: Machine) -> None:
    writer = Writer(machine, RemoteWrite("http://127.0.0.1:9/write", None), WHO)
    assert "Connection refused" in str(writer.write([]))


def test_long_bodies_are_several_literals() -> None:
    content = bytes(range(256)) * 300
    packed = snappy(content)
    assert packed[:3] == b"\x80\xd8\x04"
    assert packed[3:6] == b"\xf4\xff\xff"
    assert packed[6 : 6 + 65536] == content[:65536]
    assert packed[6 + 65536 :][:3] == b"\xf4" + (len(content) - 65536 - 1).to_bytes(2, "little")


def test_the_signature_is_that_of_the_published_example() -> None:
    credentials = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", None)
    headers = signed("https://example.amazonaws.com/", b"", "service", "us-east-1", credentials, 1440938160)
    assert headers["Authorization"].endswith("Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b")


def test_the_credentials_are_those_that_the_command_line_tells(machine: Machine) -> None:
    told = {
        "Version": 1,
        "AccessKeyId": "AK",
        "SecretAccessKey": "SK",
        "SessionToken": "T",
        "Expiration": "2023-11-14T23:13:20+00:00",
    }
    machine.programs["aws"] = lambda command, text: Result(0, json.dumps(told))
    assert role_credentials(machine) == (Credentials("AK", "SK", "T"), machine.now() + 3600)


@pytest.mark.parametrize("output", ["{}", "[]", "no"])
def test_fails_for_an_answer_without_credentials(machine: Machine, output: str) -> None:
    machine.programs["aws"] = lambda command, text: Result(0, output)
    with pytest.raises(ValueError, match=r"no credentials: aws configure export-credentials .* answers what holds none"):
        role_credentials(machine)


class Metadata(BaseHTTPRequestHandler):
    """The instance's own service: it asks for a session."""

    def do_PUT(self) -> None:
        self._answer("a session" if self.headers["X-aws-ec2-metadata-token-ttl-seconds"] else None)

    def do_GET(self) -> None:
        known = self.headers["X-aws-ec2-metadata-token"] == "a session"
        role = {"AccessKeyId": "AK", "SecretAccessKey": "SK", "Token": "T", "Expiration": "2023-11-14T23:13:20Z"}
        pages = {"/meta-data/iam/security-credentials/": "nodes\n", "/meta-data/iam/security-credentials/nodes": json.dumps(role)}
        self._answer(pages.get(self.path) if known else None)

    def _answer(self, text: str | None) -> None:
        self.send_response(401 if text is None else 200)
        self.end_headers()
        self.wfile.write((text or "").encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_the_instance_tells_them_where_the_command_line_is_too_old(machine: Machine) -> None:
    machine.programs["aws"] = lambda command, text: Result(252, "", "argument operation: Invalid choice")
    with HTTPServer(("127.0.0.1", 0), Metadata) as service:
        thread = threading.Thread(target=service.serve_forever, args=[0.01], daemon=True)
        thread.start()
        found = role_credentials(machine, f"http://127.0.0.1:{service.server_address[1]}")
        service.shutdown()
        thread.join()
    assert found == (Credentials("AK", "SK", "T"), machine.now() + 3600)


def test_fails_with_both_causes_where_nobody_tells_them(machine: Machine) -> None:
    with pytest.raises(ValueError, match=r"no credentials: aws configure .*: not found; http://127.0.0.1:9: .*refused"):
        role_credentials(machine, "http://127.0.0.1:9")


def test_each_node_has_a_moment_of_its_own() -> None:
    moments = {round(pause(0, 60, f"i-{number}")) for number in range(1000)}
    assert moments == set(range(1, 61))
    assert pause(pause(0, 60, "i-1"), 60, "i-1") == 60
