"""Sets up the accounting database for slurmdbd and slurmctld, before the first start of slurmctld.

A controller that starts without accounting takes another cluster id, and refuses the database from then on.
"""

from __future__ import annotations

import secrets

from node_setup import database, partitions, secret, slurm_conf, systemd
from node_setup.database import SLURMDBD_CONF, Access
from node_setup.errors import NodeSetupError
from node_setup.node import STATE, Node
from node_setup.settings import wanted_settings
from node_setup.software import Accounting

MANDATORY = True
PASSWORD = f"{STATE}/accounting_password"
SERVERS = ("mariadb.service", "mysql.service")
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
StoragePass={password}
"""
# TLS, which the database may demand. Older clients do not begin it by themselves, and none knows the authority of RDS.
ENCRYPTED = "StorageParameters=SSL_CIPHER=ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256\n"


def needed(node: Node) -> bool:
    return node.is_controller and node.software.accounting is not None


def apply(node: Node) -> None:
    accounting = node.software.accounting
    if accounting is None:
        return
    access = _local(node) if accounting.host is None else _external(node, accounting)
    user = slurm_conf.slurm_user(slurm_conf.read(node))
    values = {"name": node.name, "address": node.role.address or node.name, "slurm_user": user, "access": access}
    text = CONF.format(**values, password=database.escaped(access.password)) + (ENCRYPTED if accounting.tls else "")
    if not node.is_folder("/var/log/slurm"):
        node.folder("/var/log/slurm", 0o755, user)
    node.write(SLURMDBD_CONF, text, 0o600, user)
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
    login = secret.read(node, accounting)
    node.wait_until(lambda: secret.reachable(node, accounting), secret.unreachable(accounting), node.patience.slurm)
    return Access(str(accounting.host), accounting.port, accounting.name, *login)
