"""Sets up the accounting database for slurmdbd and slurmctld, before the first start of slurmctld.

A controller that starts without accounting takes another cluster id, and refuses the database from then on.
"""

from __future__ import annotations

import json
import re
import secrets

from node_setup import database, partitions, slurm_conf, systemd
from node_setup.database import SLURMDBD_CONF, Access
from node_setup.errors import NodeSetupError
from node_setup.node import STATE, Node
from node_setup.settings import wanted_settings
from node_setup.software import Accounting

MANDATORY = True
PASSWORD = f"{STATE}/accounting_password"
SERVERS = ("mariadb.service", "mysql.service")
UNFIT = re.compile(r"[\s#\"'\\]")
USER = "slurm"
CONF = """# Written by the lifecycle scripts.
AuthType=auth/munge
DbdHost={name}
DbdAddr={address}
SlurmUser={slurm_user}
LogFile=/var/log/slurm/slurmdbd.log
PidFile=/run/slurmdbd/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost={access.host}
StoragePort={access.port}
StorageLoc={access.name}
StorageUser={access.user}
StoragePass={access.password}
"""


def needed(node: Node) -> bool:
    return node.is_controller and node.software.accounting is not None


def apply(node: Node) -> None:
    accounting = node.software.accounting
    if accounting is None:
        return
    access = _local(node) if accounting.host is None else _external(node, accounting)
    user = slurm_conf.slurm_user(slurm_conf.read(node))
    values = {"name": node.name, "address": node.role.address or node.name, "slurm_user": user, "access": access}
    if not node.is_folder("/var/log/slurm"):
        node.folder("/var/log/slurm", 0o755, user)
    node.write(SLURMDBD_CONF, CONF.format(**values), 0o600, user)
    slurm_conf.write_settings(node, wanted_settings(node), partitions.wanted_lines(node))


def verify(node: Node) -> None:
    conf = slurm_conf.read(node)
    path, _ = slurm_conf.included(conf)
    told = conf.value("AccountingStorageType") or slurm_conf.parse(node.read(path) or "").value("AccountingStorageType")
    if told != "accounting_storage/slurmdbd":
        raise NodeSetupError(f"{path}: AccountingStorageType is {told!r}, it must be accounting_storage/slurmdbd")


def _local(node: Node) -> Access:
    server = next((unit for unit in SERVERS if systemd.has_unit(node, unit)), None)
    if server is None:
        raise NodeSetupError(f"software.accounting is local, but this image has none of {', '.join(SERVERS)}")
    systemd.enable(node, server)
    systemd.start(node, server)
    password = (node.read(PASSWORD) or "").strip()
    if not password:
        password = secrets.token_hex(24)
        node.write(PASSWORD, password + "\n", 0o600)
    access = Access("localhost", 3306, database.DEFAULT_NAME, USER, password)
    if not database.answers(node, access):
        _make(node, access)
    return access


def _make(node: Node, access: Access) -> None:
    """Run statements. A client's error repeats the failed statement, so the password is removed from it."""
    try:
        node.run([database.client(node)], text=_statements(access))
    except NodeSetupError as error:
        raise NodeSetupError(str(error).replace(access.password, "***")) from None


def _statements(access: Access) -> str:
    account = f"'{access.user}'@'localhost'"
    return (
        f"CREATE DATABASE IF NOT EXISTS `{access.name}`;\n"
        f"CREATE USER IF NOT EXISTS {account} IDENTIFIED BY '{access.password}';\n"
        f"ALTER USER {account} IDENTIFIED BY '{access.password}';\n"
        f"GRANT ALL ON `{access.name}`.* TO {account};\n"
    )


def _external(node: Node, accounting: Accounting) -> Access:
    """User and password from Secrets Manager, by the image's `aws` command."""
    arn = str(accounting.secret_arn)
    options = ["--region", str(accounting.region), "--query", "SecretString", "--output", "text"]
    command = ["aws", "secretsmanager", "get-secret-value", "--secret-id", arn, *options]
    said = ""
    for pause in (0, 5, 20):
        node.clock.sleep(pause)
        answer = node.query(command, seconds=60)
        if answer.code == 0:
            return _access(accounting, arn, answer.output)
        said = next((line for line in reversed(answer.error.splitlines()) if line.strip()), "it said nothing")
    raise NodeSetupError(f"{arn}: the secret of the accounting database cannot be read: {said}")


def _access(accounting: Accounting, arn: str, text: str) -> Access:
    try:
        secret = json.loads(text)
        user, password = accounting.user or str(secret["username"]), str(secret["password"])
    except (ValueError, KeyError, TypeError) as error:
        raise NodeSetupError(f"{arn}: must be a JSON object with the keys username and password") from error
    if UNFIT.search(password) or UNFIT.search(user):
        raise NodeSetupError(
            f"{arn}: slurmdbd.conf cannot contain a blank, #, quote or backslash in a user or password; choose another"
        )
    return Access(str(accounting.host), accounting.port, accounting.name, user, password)
