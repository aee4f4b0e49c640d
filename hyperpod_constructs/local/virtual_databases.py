"""The databases of clusters with virtual nodes: an instance of the embedded RDS becomes a host with a real MariaDB.

It takes a password when a node reads the secret: until then, one that was rotated away is still good.
"""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from botocore.exceptions import ClientError

from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.hyperpod.state import Cluster, Spec
from hyperpod_constructs.local.nodes import AccountingDatabase, Answer, Database, NodesError, Rig


def accounting_database(settings: Spec) -> AccountingDatabase | None:
    """The database that a cluster's settings give to the service."""
    given = settings.get("Orchestrator", {}).get("Slurm", {}).get("AccountingDatabase")
    if given is None:
        return None
    name = given.get("Name", "slurm_acct_db")
    return AccountingDatabase(given["Endpoint"], given.get("Port", 3306), name, given["SecretArn"])


def _asked(settings: Spec, config: Mapping[str, Any]) -> AccountingDatabase | None:
    """The database of a cluster, given to the service or to its scripts."""
    given = config.get("software", {}).get("accounting", {})
    if given.get("type") != "external":
        return accounting_database(settings)
    return AccountingDatabase(given["host"], given["port"], given["name"], given["secret_arn"])


class Databases:
    """Databases of virtual clusters; their files stay in a directory, also after the cluster.

    A database serves one cluster at a time: each has a network of its own.
    """

    def __init__(self, directory: Path, clients: Clients) -> None:
        self._directory = directory
        self._clients = clients
        self._lock = threading.Lock()
        self._by_secret: dict[str, tuple[str, Database]] = {}
        """By the ARN of its secret, a database with the cluster that uses it."""
        self._logins: dict[str, str] = {}
        self._secrets: dict[str, str] = {}
        """The ARN of the secret that a cluster's nodes read, by the cluster's ARN."""

    def provide(self, rig: Rig, cluster: Cluster, config: Mapping[str, Any]) -> AccountingDatabase | None:
        """Boot the database of a cluster, if it is an instance of the embedded RDS; nodes reach no other one.

        :raises NodesError: if another cluster with virtual nodes uses it.
        """
        asked = _asked(cluster.settings, config)
        if asked is None:
            return None
        instance = self._instance(cluster, asked.host)
        with self._lock:
            self._secrets[cluster.arn] = asked.secret_arn
            user = self._by_secret.get(asked.secret_arn)
        if user is not None and user[0] != cluster.arn:
            raise NodesError(f"{asked.host} is the database of {user[0]}; on virtual nodes a database serves one cluster at a time")
        if instance is not None and user is None:
            database = rig.add_database(asked.host, data=self._directory / instance["DbiResourceId"], port=asked.port)
            if instance.get("DBName"):
                database.query(f"CREATE DATABASE IF NOT EXISTS `{instance['DBName']}`")
            with self._lock:
                self._by_secret[asked.secret_arn] = cluster.arn, database
        return accounting_database(cluster.settings)

    def leave(self, arn: str) -> None:
        """Forget the databases of a cluster that is gone."""
        with self._lock:
            for secret in [secret for secret, (user, _) in self._by_secret.items() if user == arn]:
                del self._by_secret[secret]
                self._logins.pop(secret, None)
            self._secrets.pop(arn, None)

    def answer(self, cluster: Cluster, arguments: Sequence[str]) -> Answer:
        """The answer to the `aws` command of a node: the value of the secret of its cluster's database, and nothing else."""
        try:
            asked = _parser().parse_args(arguments)
            if asked.secret_id != self._secrets.get(cluster.arn):
                return Answer(254, error=f"\nAn error occurred (AccessDeniedException): {asked.secret_id} is not the cluster's\n")
            value = self._clients("secretsmanager", cluster.caller).get_secret_value(SecretId=asked.secret_id)
        except _UsageError as error:
            return Answer(252, error=f"{error}\n")
        except ClientError as error:
            return Answer(254, error=f"\n{error}\n")
        with self._lock:
            self._log_in(value["ARN"], value["SecretString"])
        return Answer(0, f"{value['SecretString']}\n")

    def _log_in(self, secret: str, text: str) -> None:
        """Let the database of a secret take the password that the secret has now."""
        _, database = self._by_secret.get(secret, (None, None))
        if database is not None and self._logins.get(secret) != text:
            login = json.loads(text)
            database.set_login(login["username"], login["password"])
            self._logins[secret] = text

    def _instance(self, cluster: Cluster, host: str) -> Mapping[str, Any] | None:
        found = self._clients("rds", cluster.caller).describe_db_instances()["DBInstances"]
        return next((one for one in found if one["Endpoint"]["Address"] == host), None)


class _UsageError(Exception):
    """A command that this `aws` does not know."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _UsageError(f"aws on virtual nodes reads secrets only: {message}")


def _parser() -> _Parser:
    parser = _Parser(add_help=False)
    parser.add_argument("service", choices=["secretsmanager"])
    parser.add_argument("operation", choices=["get-secret-value"])
    parser.add_argument("--secret-id", required=True)
    parser.add_argument("--region")
    parser.add_argument("--query", choices=["SecretString"], required=True)
    parser.add_argument("--output", choices=["text"], required=True)
    return parser
