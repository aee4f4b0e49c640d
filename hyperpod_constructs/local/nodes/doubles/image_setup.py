"""Double of the image's own set-up in the mode `OnInitComplete`, which runs before the user's scripts.

The service's image is closed. Imitated is the state that its documents promise: file systems mounted, the same munge key
everywhere, accounting in a local MariaDB or in the database that the cluster was given, the controller's daemon on the controller
and a configless `slurmd` elsewhere. How the image gets there is not known.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Mapping, Sequence
from typing import Any

from hyperpod_constructs.local.nodes.database import AccountingDatabase
from hyperpod_constructs.local.nodes.doubles.host_agent import SLURM
from hyperpod_constructs.local.nodes.errors import NodesError
from hyperpod_constructs.local.nodes.node import File, VirtualNode

SLURM_PORT = 6817
DATABASE_SECONDS = 60.0
DATABASE = "slurm_acct_db"
DATABASE_PASSWORD = "local-to-the-controller"
ACCOUNTING_CONF = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost={host}
"""
SLURMDBD_CONF = """\
AuthType=auth/munge
DbdHost={host}
SlurmUser=slurm
LogFile=/var/log/slurm/slurmdbd.log
PidFile=/run/slurmdbd/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost={storage}
StoragePort={port}
StorageLoc={database}
StorageUser={user}
StoragePass={password}
"""
# Whether the service's slurmdbd encrypts its connection is not documented. Without this, Debian's does not.
ENCRYPTED = "StorageParameters=SSL_CIPHER=ECDHE-RSA-AES256-GCM-SHA384"
SQL = """\
CREATE DATABASE IF NOT EXISTS {database};
CREATE USER IF NOT EXISTS slurm@localhost IDENTIFIED BY '{password}';
GRANT ALL ON {database}.* TO slurm@localhost;
"""
MOUNT_OPTIONS = "noatime,flock,_netdev,nofail"
NFS_OPTIONS = "nfsvers=4.2,nconnect=16,noatime,_netdev,nofail"


def mount(node: VirtualNode, mounts: Sequence[Mapping[str, Any]]) -> None:
    """Puts the group's file systems into `fstab` and mounts them; over `/home`, the image's own user gets a home there too."""
    node.put({"/etc/fstab": File(content="".join(map(_fstab_line, mounts)))})
    paths = [entry["path"] for entry in mounts]
    node.run(["sh", "-euc", f"for path in {shlex.join(paths)}; do mkdir -p $path; mount $path; done"])
    if "/home" in paths:
        node.run(["install", "-d", "-o", "ubuntu", "-g", "ubuntu", "-m", "0750", "/home/ubuntu"])


def _fstab_line(entry: Mapping[str, Any]) -> str:
    if entry["type"] == "lustre":
        return f"{entry['dns_name']}@tcp:/{entry['mount_name']} {entry['path']} lustre {MOUNT_OPTIONS} 0 0\n"
    return f"{entry['dns_name']}:/fsx {entry['path']} nfs {NFS_OPTIONS} 0 0\n"


def controller(node: VirtualNode, accounting: AccountingDatabase | None) -> None:
    """Accounting first: a controller that starts without it takes another cluster id."""
    node.run(["systemctl", "enable", "--now", "munge"])
    values = _local(node) if accounting is None else _given(node, accounting)
    node.put(
        {
            f"{SLURM}/slurmdbd.conf": File(content=SLURMDBD_CONF.format(host=node.name, **values), mode=0o600, owner="slurm"),
            f"{SLURM}/accounting.conf": File(content=ACCOUNTING_CONF.format(host=node.name)),
        }
    )
    node.run(["systemctl", "enable", "--now", "slurmdbd"])
    _await_database(node, f"{values['storage']}:{values['port']}")
    node.run(["systemctl", "enable", "--now", "slurmctld"])


def _local(node: VirtualNode) -> dict[str, Any]:
    """A database on the controller."""
    node.run(["systemctl", "enable", "--now", "mariadb"])
    node.run(["mariadb"], input=SQL.format(database=DATABASE, password=DATABASE_PASSWORD))
    return {"storage": "localhost", "port": 3306, "database": DATABASE, "user": "slurm", "password": DATABASE_PASSWORD}


def _given(node: VirtualNode, accounting: AccountingDatabase) -> dict[str, Any]:
    """The database of the cluster, with the user and password of its secret; `#` and backslash mean something to Slurm."""
    command = ["aws", "secretsmanager", "get-secret-value", "--secret-id", accounting.secret_arn]
    secret = json.loads(node.run([*command, "--query", "SecretString", "--output", "text"]).stdout)
    password = secret["password"].replace("\\", "\\\\").replace("#", "\\#")
    place = {"storage": accounting.host, "port": accounting.port, "database": accounting.name}
    return {**place, "user": secret["username"], "password": f"{password}\n{ENCRYPTED}"}


def daemon(node: VirtualNode, controller: VirtualNode) -> None:
    """A `slurmd` that asks the controller for its configuration."""
    unit = "/etc/systemd/system/slurmd.service"
    servers = f"--conf-server {controller.address}:{SLURM_PORT}"
    edit = f"sed -i 's/$SLURMD_OPTIONS/{servers}/' {unit}"
    node.run(["sh", "-euc", f"{edit}; systemctl daemon-reload; systemctl enable --now munge slurmd"])


def _await_database(node: VirtualNode, database: str) -> None:
    """The database daemon makes its tables before it answers."""
    deadline = time.monotonic() + DATABASE_SECONDS
    while node.run(["sacctmgr", "--noheader", "list", "cluster"], check=False).returncode != 0:
        if time.monotonic() > deadline:
            said = node.run(["journalctl", "--unit=slurmdbd", "--lines=20", "--output=cat"], check=False).stdout
            raise NodesError(
                f"{node.name}: slurmdbd does not answer after {DATABASE_SECONDS:.0f} s "
                f"with the accounting database {database}: {said}"
            )
        time.sleep(0.2)
