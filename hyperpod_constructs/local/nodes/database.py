"""A host of its own with a real MariaDB, in the network of a rig: what RDS is to a cluster.

It demands TLS, as the database of `SlurmAccountingDatabase` does, with a certificate that MariaDB makes itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hyperpod_constructs.local.nodes.node import File, VirtualNode

PORT = 3306
DATA = "/srv/database"
CONFIGURATION = f"""\
[mariadbd]
datadir = {DATA}
bind_address = 0.0.0.0
port = {{port}}
require_secure_transport = ON
"""
# The files of the image are a fresh server's; those of an earlier run stay.
START = f"""
test -e {DATA}/mysql || cp --archive /var/lib/mysql/. {DATA}
chown mysql:mysql {DATA}
exec systemctl start mariadb
"""
LOGIN = """\
CREATE USER IF NOT EXISTS '{user}'@'%' IDENTIFIED BY '{password}';
ALTER USER '{user}'@'%' IDENTIFIED BY '{password}';
GRANT ALL ON *.* TO '{user}'@'%';
"""


class AccountingDatabase(NamedTuple):
    """The database that the service gives to a cluster's slurmdbd: `Orchestrator.Slurm.AccountingDatabase`."""

    host: str
    port: int
    name: str
    secret_arn: str


class Database:
    """Made by a rig.

    :param name: the host name by which the rig's nodes know it.
    """

    def __init__(self, name: str, node: VirtualNode) -> None:
        self.name = name
        self.node = node

    @property
    def address(self) -> str:
        return self.node.address

    def start(self, data: Path, hosts: str, port: int) -> None:
        """Boots the host with its files in a directory of this machine, which stay when it ends."""
        data.mkdir(parents=True, exist_ok=True)
        self.node.create([f"--bind={data}:{DATA}"], hosts)
        self.node.start()
        self.node.put({"/etc/mysql/mariadb.conf.d/91-database.cnf": File(content=CONFIGURATION.format(port=port))})
        self.node.run(["sh", "-euc", START], timeout=120)

    def set_login(self, user: str, password: str) -> None:
        """From now on this user needs this password; connections that are open stay."""
        values = {"user": user, "password": password.replace("\\", "\\\\").replace("'", "\\'")}
        self.query(LOGIN.format(**values))

    def query(self, statements: str) -> str:
        """The rows that statements yield, as the server's own administrator."""
        return self.node.run(["mariadb", "--batch", "--skip-column-names"], input=statements).stdout
