"""User and password of the accounting database, which Secrets Manager keeps and may rotate.

The image's `aws` command reads them with the node's role. They stand in `slurmdbd.conf` alone, which only Slurm's user reads.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from node_setup.errors import NodeSetupError
from node_setup.node import Node
from node_setup.software import Accounting

USER = re.compile(r"\w[\w.@-]*", re.ASCII)
PASSWORD = re.compile(r"[!#-~]+")  # printable, without blanks and double quotes
PAUSES = (0, 5, 20)


class Login(NamedTuple):
    user: str
    password: str


def read(node: Node, accounting: Accounting) -> Login:
    """The current user and password.

    :raises NodeSetupError: if the secret cannot be read, or cannot be used.
    """
    arn = str(accounting.secret_arn)
    options = ["--region", str(accounting.region), "--query", "SecretString", "--output", "text"]
    command = ["aws", "secretsmanager", "get-secret-value", "--secret-id", arn, *options]
    said = ""
    for pause in PAUSES:
        node.clock.sleep(pause)
        answer = node.query(command, seconds=60)
        if answer.code == 0:
            return _login(accounting, arn, answer.output)
        said = next((line for line in reversed(answer.error.splitlines()) if line.strip()), "it said nothing")
    raise NodeSetupError(f"{arn}: the secret of the accounting database cannot be read: {said}")


def reachable(node: Node, accounting: Accounting) -> bool:
    """Whether the database answers on its port."""
    return node.can_connect(str(accounting.host), accounting.port)


def unreachable(accounting: Accounting) -> str:
    """What to say of a database that does not answer."""
    return (
        f"{accounting.host}:{accounting.port}: the accounting database is unreachable; it must be available, and the security "
        f"groups must allow TCP {accounting.port} from the nodes to it"
    )


def _login(accounting: Accounting, arn: str, text: str) -> Login:
    try:
        secret = json.loads(text)
        login = Login(accounting.user or str(secret["username"]), str(secret["password"]))
    except (ValueError, KeyError, TypeError) as error:
        raise NodeSetupError(f"{arn}: must be a JSON object with the keys username and password") from error
    if not USER.fullmatch(login.user) or not PASSWORD.fullmatch(login.password):
        raise NodeSetupError(
            f"{arn}: slurmdbd.conf cannot contain a blank, a quote or an unprintable character in a user or password; "
            "choose another"
        )
    return login
