"""Slurm's accounting database: how slurmdbd reaches it, and the client programs that copy it."""

from __future__ import annotations

from typing import NamedTuple

from node_setup import slurm_conf
from node_setup.errors import NodeSetupError
from node_setup.node import Node

SLURMDBD_CONF = f"{slurm_conf.FOLDER}/slurmdbd.conf"
DEFAULT_NAME = "slurm_acct_db"
LOCAL = ("", "localhost", "127.0.0.1")
CLIENTS = ("mariadb", "mysql")
DUMPERS = ("mariadb-dump", "mysqldump")


class Access(NamedTuple):
    host: str
    port: int
    name: str
    user: str
    password: str

    @property
    def environment(self) -> dict[str, str]:
        """Not an argument: those are visible to every user of the node."""
        return {"MYSQL_PWD": self.password}


def read_access(node: Node) -> Access | None:
    """How slurmdbd reaches its database; ``None`` without a slurmdbd."""
    text = node.read(SLURMDBD_CONF)
    if text is None:
        return None
    conf = slurm_conf.parse(text)
    port = conf.value("StoragePort", "3306")
    return Access(
        conf.value("StorageHost", "localhost"),
        int(port) if port.isdigit() else 3306,
        conf.value("StorageLoc", DEFAULT_NAME),
        conf.value("StorageUser", "root"),
        conf.value("StoragePass"),
    )


def client(node: Node) -> str:
    return _program(node, CLIENTS)


def dump(node: Node, access: Access, path: str) -> None:
    """One consistent copy of all tables, while slurmdbd goes on writing."""
    options = ["--single-transaction", "--skip-lock-tables", "--no-tablespaces", f"--user={access.user}"]
    target = f"--result-file={node.path(path)}"
    node.run([_program(node, DUMPERS), *options, target, access.name], seconds=1800, environment=access.environment)


def load(node: Node, access: Access, path: str) -> None:
    command = [client(node), f"--user={access.user}", access.name, "--execute", f"source {node.path(path)}"]
    node.run(command, seconds=3600, environment=access.environment)


def answers(node: Node, access: Access) -> bool:
    command = [client(node), f"--user={access.user}", access.name, "--execute", "SELECT 1"]
    return node.query(command, environment=access.environment).code == 0


def _program(node: Node, names: tuple[str, ...]) -> str:
    found = node.first_program(*names)
    if found is None:
        raise NodeSetupError(f"neither {' nor '.join(names)} is installed on this image, so its accounting database cannot be used")
    return found
