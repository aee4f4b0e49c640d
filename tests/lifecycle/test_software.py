"""The key `software` of `config.json`: every mistake is named with its place and the allowed values."""

from __future__ import annotations

from typing import Any

import pytest
from node_setup.config import parse_config
from node_setup.errors import NodeSetupError
from node_setup.software import CloudWatch, Metrics, RemoteWrite

from .machine import ALICE, BOB, CONFIG

METRICS = CONFIG["software"]["metrics"]
EXTERNAL = {"type": "external", "host": "db", "secret_arn": "arn", "region": "us-west-2"}


def software(**changes: Any) -> dict[str, Any]:
    return {**CONFIG, "software": {**CONFIG["software"], **changes}}


def test_everything_is_off_without_the_key() -> None:
    document = {key: value for key, value in CONFIG.items() if key != "software"}
    parsed = parse_config(document)
    assert parsed.software == (None, None, [], None, False, None, None, False, False, None)
    assert parsed.node_recovery == "Automatic"


def test_everything_is_read() -> None:
    parsed = parse_config(software(accounting={**EXTERNAL, "port": 3307, "name": "acct"})).software
    assert parsed.users[0]._asdict() == ALICE
    assert parsed.users[1]._asdict() == {**BOB, "groups": [], "sudo": False, "ssh_keys": []}
    assert parsed.accounting is not None
    assert parsed.accounting._asdict() == {
        "name": "acct",
        "host": "db",
        "port": 3307,
        "user": None,
        "secret_arn": "arn",
        "region": "us-west-2",
        "tls": True,
        "by_service": False,
    }
    assert parsed.health is not None
    assert (parsed.health.interval_seconds, parsed.health.hang_seconds) == (30, 600)
    assert parsed.metrics == Metrics(60, ("memory",), "127.0.0.1", 9190, None, None)


def test_receivers_of_metrics_are_read() -> None:
    receivers = {
        "cloudwatch": {"namespace": "HyperPod/Nodes", "region": "us-west-2", "per_node": True},
        "remote_write": {"url": "https://aps.example.com/workspaces/ws-1/api/v1/remote_write", "region": "us-west-2"},
    }
    parsed = parse_config(software(metrics={**METRICS, "sets": ["efa", "gpu"], **receivers})).software.metrics
    assert parsed is not None
    assert parsed.sets == ("gpu", "efa")
    assert parsed.cloudwatch == CloudWatch("HyperPod/Nodes", "us-west-2", True)
    assert parsed.remote_write == RemoteWrite("https://aps.example.com/workspaces/ws-1/api/v1/remote_write", "us-west-2")


def test_a_prometheus_on_the_node_gets_no_signature() -> None:
    url = "http://127.0.0.1:9090/api/v1/write"
    parsed = parse_config(software(metrics={**METRICS, "remote_write": {"url": url}})).software.metrics
    assert parsed is not None
    assert parsed.remote_write == RemoteWrite(url, None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shell": 1}, "software has the unknown key 'shell', allowed are shared_directory, homes, users"),
        ({"shared_directory": "fsx"}, "software.shared_directory is 'fsx', it must be an absolute path"),
        ({"shared_directory": "/data"}, "software.shared_directory is '/data', which is outside all mounts; mounts are /fsx"),
        ({"homes": "/fsx/../home"}, "software.homes is '/fsx/../home', it must be an absolute path"),
        ({"homes": "/home"}, "software.homes is '/home', which is outside all mounts"),
        ({"containers": 1}, "software.containers is 1, it must be true or false"),
        ({"sssd": {}}, "software.sssd is {}, it must be a text"),
        ({"users": {}}, "software.users is {}, it must be a list"),
        ({"users": [{}]}, "software.users[0] lacks the key 'name'"),
        ({"users": [{**BOB, "shell": "x"}]}, "software.users[0] has the unknown key 'shell'"),
        ({"users": [{**BOB, "name": "../x"}]}, "software.users[0].name is '../x', it must match"),
        (
            {"users": [{**BOB, "name": "bob\n"}]},
            "software.users[0].name is 'bob\\n', it must be one line without control characters",
        ),
        ({"users": [{**BOB, "uid": True}]}, "software.users[0].uid is True, it must be a whole number"),
        ({"users": [{**BOB, "uid": 0}]}, "software.users[0].uid is 0, it must be a whole number from 1000 to 60000"),
        ({"users": [BOB, {**ALICE, "uid": 10002}]}, "software.users has two users with the uid 10002"),
        ({"users": [BOB, BOB]}, "software.users has two users with the name bob"),
        ({"users": [BOB, {**ALICE, "gid": 10002}]}, "software.users has two users with the gid 10002"),
        ({"users": [{**BOB, "name": "sudo"}]}, "software.users[0].name is 'sudo', which the system reserves"),
        ({"users": [{**BOB, "groups": ["docker,root"]}]}, "software.users[0].groups[0] is 'docker,root', it must match"),
        ({"users": [{**BOB, "ssh_keys": ["ssh-rsa AAAA\x85ssh-rsa BBBB"]}]}, "software.users[0].ssh_keys[0] must be one line"),
        (
            {"users": [{**BOB, "ssh_keys": ["alice@laptop"]}]},
            "software.users[0].ssh_keys[0] must be one line with a public key",
        ),
        ({"homes": "/fsx/a:b"}, "software.homes is '/fsx/a:b', it must be an absolute path"),
        ({"homes": "/fsx/a\nb"}, "software.homes is '/fsx/a\\nb', it must be one line"),
        ({"shared_directory": "/fsx/./a"}, "software.shared_directory is '/fsx/./a', it must be an absolute path"),
        ({"sssd": "[sssd]\n\0"}, "software.sssd is '[sssd] \\x00', it must be one line without control characters"),
        (
            {"accounting": {**EXTERNAL, "host": "db\nSlurmUser=root"}},
            "software.accounting.host is 'db\\nSlurmUser=root', it must be",
        ),
        ({"accounting": {**EXTERNAL, "name": "a b"}}, "software.accounting.name is 'a b', it must match"),
        ({"accounting": {**EXTERNAL, "secret_arn": "--profile"}}, "software.accounting.secret_arn is '--profile', it must match"),
        ({"users": [{**BOB, "ssh_keys": ["a\nb"]}]}, "software.users[0].ssh_keys[0] must be one line"),
        ({"accounting": {"type": "rds"}}, "software.accounting.type is 'rds', allowed are local, external, service"),
        ({"accounting": []}, "software.accounting.type is None, allowed are local, external, service"),
        ({"accounting": {"type": "local", "host": "x"}}, "software.accounting has the unknown key 'host'"),
        ({"accounting": {"type": "external"}}, "software.accounting lacks the key 'host'"),
        ({"metrics": {}}, "software.metrics lacks the key 'interval_seconds'"),
        ({"metrics": {**METRICS, "sets": ["cpu"]}}, "software.metrics.sets is 'cpu', allowed are gpu, memory, neuron, efa, disk"),
        ({"metrics": {**METRICS, "address": "10.1.0.4"}}, "software.metrics.address is '10.1.0.4', allowed are 127.0.0.1, 0.0.0.0"),
        ({"metrics": {**METRICS, "port": 80}}, "software.metrics.port is 80, it must be a whole number from 1024 to 65535"),
        (
            {"metrics": {**METRICS, "remote_write": {"url": "http://aps.example.com/write"}}},
            "software.metrics.remote_write.url is 'http://aps.example.com/write', it must match https://",
        ),
        (
            {"metrics": {**METRICS, "remote_write": {"url": "https://aps.example.com/write"}}},
            "software.metrics.remote_write lacks the key 'region'",
        ),
        (
            {"metrics": {**METRICS, "cloudwatch": {"namespace": "a b", "region": "us-west-2", "per_node": True}}},
            "software.metrics.cloudwatch.namespace is 'a b', it must match",
        ),
        ({"health": {"interval": 1}}, "software.health has the unknown key 'interval'"),
        ({"health": {"hang_seconds": 0}}, "software.health.hang_seconds is 0, it must be a whole number of at least 1"),
    ],
)
def test_fails_for_a_mistake(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(NodeSetupError) as raised:
        parse_config(software(**changes))
    assert message in str(raised.value)


def test_fails_for_users_without_homes() -> None:
    document = software()
    del document["software"]["homes"]
    with pytest.raises(NodeSetupError, match=r"software.users needs software.homes"):
        parse_config(document)


def test_fails_for_an_unknown_recovery() -> None:
    with pytest.raises(NodeSetupError, match=r"cluster.node_recovery is 'No', allowed are Automatic, None"):
        parse_config({**CONFIG, "cluster": {"node_recovery": "No"}})
