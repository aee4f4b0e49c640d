"""The databases of clusters with virtual nodes, without nodes: which secret is read, which password counts, and for whom."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hyperpod_constructs.local.nodes import AccountingDatabase, NodesError
from hyperpod_constructs.local.virtual_databases import Databases, accounting_database

ARN = "arn:aws:secretsmanager:us-west-2:123456789012:secret:rds!db-AbCdEf"
HOST = "accounting.rds.amazonaws.com"
SETTINGS = {"Orchestrator": {"Slurm": {"AccountingDatabase": {"Endpoint": HOST, "SecretArn": ARN, "Name": "rows"}}}}
READ = ["secretsmanager", "get-secret-value", "--secret-id", ARN, "--query", "SecretString", "--output", "text"]


@dataclass
class Server:
    """Double of a database in a rig."""

    logins: list[tuple[str, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def set_login(self, user: str, password: str) -> None:
        self.logins.append((user, password))

    def query(self, statements: str) -> str:
        self.asked.append(statements)
        return ""


@dataclass
class Rig:
    """Double of a rig."""

    added: dict[str, Server] = field(default_factory=dict)

    def add_database(self, name: str, *, data: Path, port: int) -> Server:
        assert (data.name, port) == ("db-1", 3306)
        self.added[name] = Server()
        return self.added[name]


class Account:
    """Double of RDS and Secrets Manager."""

    def __init__(self) -> None:
        self.password = "first"

    def __call__(self, service: str, caller: object) -> Any:
        return self

    def describe_db_instances(self) -> dict[str, Any]:
        return {"DBInstances": [{"Endpoint": {"Address": HOST}, "DbiResourceId": "db-1", "DBName": "rows"}]}

    def get_secret_value(self, *, SecretId: str) -> dict[str, str]:  # noqa: N803  # botocore's name
        return {"ARN": SecretId, "SecretString": json.dumps({"username": "slurm", "password": self.password})}


def cluster(arn: str = "arn:one", settings: Any = SETTINGS) -> Any:
    return SimpleNamespace(arn=arn, settings=settings, caller=None)


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
def databases(account: Account, tmp_path: Path) -> Databases:
    return Databases(tmp_path, account)


def test_a_database_boots_once_and_takes_the_password_that_a_node_reads(databases: Databases, account: Account) -> None:
    rig: Any = Rig()
    for _ in range(2):
        assert databases.provide(rig, cluster(), {}) == AccountingDatabase(HOST, 3306, "rows", ARN)
    (server,) = rig.added.values()
    assert server.asked == ["CREATE DATABASE IF NOT EXISTS `rows`"]
    for password in ("first", "first", "second"):
        account.password = password
        answer = databases.answer(cluster(), READ)
        assert json.loads(answer.output)["password"] == password
    assert server.logins == [("slurm", "first"), ("slurm", "second")]


def test_a_database_of_the_scripts_boots_and_is_not_given_to_the_image(databases: Databases) -> None:
    rig: Any = Rig()
    given = {"type": "external", "host": HOST, "port": 3306, "name": "rows", "secret_arn": ARN}
    assert databases.provide(rig, cluster(settings={}), {"software": {"accounting": given}}) is None
    assert list(rig.added) == [HOST]
    assert accounting_database({}) is None


def test_nodes_read_no_other_secret_and_call_nothing_else(databases: Databases) -> None:
    assert databases.answer(cluster(), READ).code == 254
    databases.provide(Rig(), cluster(), {})  # type: ignore[arg-type]
    refused = databases.answer(cluster(), [*READ[:3], "arn:other", *READ[4:]])
    assert (refused.code, refused.output) == (254, "")
    assert "AccessDeniedException" in refused.error
    unknown = databases.answer(cluster(), ["s3", "ls"])
    assert unknown.code == 252
    assert "reads secrets only" in unknown.error


def test_a_database_serves_one_cluster_at_a_time(databases: Databases) -> None:
    rig: Any = Rig()
    databases.provide(rig, cluster(), {})
    with pytest.raises(NodesError, match=r"accounting\.rds\.amazonaws\.com is the database of arn:one"):
        databases.provide(rig, cluster("arn:two"), {})
    databases.leave("arn:one")
    assert databases.answer(cluster(), READ).code == 254
    assert databases.provide(rig, cluster("arn:two"), {}) is not None
