"""A database of one's own for Slurm's accounting."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Protocol

from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk.interfaces.aws_secretsmanager import ISecretRef

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import DatabaseHost, DatabaseName, DatabasePort
from hyperpod_constructs.facts import accounting

_COMPLETE_NAME = re.compile(r".+-[A-Za-z0-9]{6}")


class AccountingSource(Protocol):
    """A database that a cluster's slurmdbd may use, such as `SlurmAccountingDatabase`."""

    def for_cluster(self) -> AccountingDatabase:
        """The database as the service takes it."""
        ...


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class AccountingDatabase:
    """A database that the controller's slurmdbd uses instead of the MariaDB on the controller.

    It speaks MySQL's protocol, such as Amazon RDS for MariaDB or MySQL, or Aurora MySQL. Its records outlive the controller, and
    several clusters can share it. **A cluster keeps it for good**: the service takes no cluster back to the database on its
    controller. It needs continuous provisioning, and an image of the controller that was released after 2026-08-30.

    `SlurmAccountingDatabase` makes one. Slurm's scripts of this library take over a password that its owner rotates.

    The cluster's role may read the secret, and decrypt it by the secret's `encryption_key`. The network is yours to open:
    `database.connections.allow_default_port_from(cluster)` writes both rules for a database of the CDK. For another one give a
    `ClusterNetwork` `egress_ports=[Port.tcp(3306)]`, and let its own security group admit the nodes'.

    :param endpoint: host name or address of the database.
    :param secret: a secret with the keys `username` and `password`. The user must be able to create the schema, to read and to
        write it. Import a secret by its complete ARN. The template holds the ARN alone.
    :param port: 1 to 65535; 3306 unless given.
    :param name: the schema, 1 to 64 letters, digits, `$` and `_`. The service's default when not given: `slurm_acct_db_` with the
        cluster's id by the API, `slurm_acct_db` by CloudFormation's schema. A shared database needs a name for each cluster.
    :raises ValueError: for the ARN of a secret without its last six characters.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-external-accounting-db-slurm.html
    """

    endpoint: DatabaseHost
    secret: ISecretRef
    port: DatabasePort = accounting.DEFAULT_PORT
    name: DatabaseName | None = None

    def __post_init__(self) -> None:
        arn = self.secret.secret_ref.secret_id
        _, mark, name = arn.rpartition(":secret:")
        if mark and not is_unknown(name) and not _COMPLETE_NAME.fullmatch(name):
            raise ValueError(f"AccountingDatabase: {accounting.partial_arn(name)}")

    def for_cluster(self) -> AccountingDatabase:
        """Itself: it is as the service takes it."""
        return self

    def render(self) -> sagemaker.CfnCluster.ClusterAccountingDatabaseProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.ClusterAccountingDatabaseProperty(
            endpoint=self.endpoint, secret_arn=self.secret.secret_ref.secret_id, port=self.port, name=self.name
        )

    def describe(self) -> dict[str, Any]:
        """The database in `config.json`: the image gives it to slurmdbd, and the scripts follow its password."""
        return {
            "type": "service",
            "host": self.endpoint,
            "port": self.port,
            "secret_arn": self.secret.secret_ref.secret_id,
            "region": self.secret.env.region,
        }
