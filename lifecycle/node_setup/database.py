"""Slurm's accounting database: slurmdbd's access to it, and the client programs that copy it."""

from __future__ import annotations

import re
from typing import BinaryIO, NamedTuple

from node_setup import slurm_conf
from node_setup.commands import Command
from node_setup.errors import NodeSetupError
from node_setup.node import Node

SLURMDBD_CONF = f"{slurm_conf.FOLDER}/slurmdbd.conf"
DEFAULT_NAME = "slurm_acct_db"
LOCAL = ("", "localhost", "127.0.0.1")
CLIENTS = ("mariadb", "mysql")
DUMPERS = ("mariadb-dump", "mysqldump")
# Both MariaDB's and MySQL's clients know these options. They allow only the client commands charset and delimiter, and no LOAD DATA
# LOCAL.
STATEMENTS_ONLY = ("--batch", "--binary-mode", "--local-infile=0")


class Access(NamedTuple):
    host: str
    port: int
    name: str
    user: str
    password: str

    @property
    def environment(self) -> dict[str, str]:
        """The environment with the password: every user of the node can see arguments."""
        return {"MYSQL_PWD": self.password}


def read_access(node: Node) -> Access | None:
    """slurmdbd's access to its database; `None` without a slurmdbd."""
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
        unescaped(conf.value("StoragePass")),
    )


def escaped(password: str) -> str:
    """A password as Slurm's files hold it: a `#` would begin a comment, and a backslash escapes what follows."""
    return re.sub(r"([\\#])", r"\\\1", password)


def unescaped(text: str) -> str:
    """The password that Slurm reads."""
    return re.sub(r"\\(.)", r"\1", text)


def client(node: Node) -> str:
    return _program(node, CLIENTS)


def dump(node: Node, access: Access, file: BinaryIO) -> None:
    """The command for a consistent copy of all tables while slurmdbd continues to write."""
    options = ["--single-transaction", "--skip-lock-tables", "--no-tablespaces", f"--user={access.user}"]
    words = [_program(node, DUMPERS), *options, access.name]
    node.execute(Command(words, 1800, access.environment, output=file))


def load(node: Node, access: Access, path: str) -> None:
    """The command that sends statements to the server. The client runs no commands, reads no files, and is not root."""
    with node.open(path) as file:
        words = [client(node), *STATEMENTS_ONLY, f"--user={access.user}", access.name]
        node.execute(Command(words, 3600, access.environment, source=file, alone=True))


def answers(node: Node, access: Access) -> bool:
    command = [client(node), f"--user={access.user}", access.name, "--execute", "SELECT 1"]
    return node.query(command, environment=access.environment).code == 0


def _program(node: Node, names: tuple[str, ...]) -> str:
    found = node.first_program(*names)
    if found is None:
        raise NodeSetupError(f"neither {' nor '.join(names)} is installed on this image, so its accounting database cannot be used")
    return found
