"""The database of Slurm's accounting, which outlives the cluster: RDS for MariaDB."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import jsii
from aws_cdk import CfnTag, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_rds as rds
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs._support.values import (
    DatabaseBackupDays,
    DatabaseBackupWindow,
    DatabaseClass,
    DatabaseMaintenanceWindow,
    DatabaseName,
    DatabaseStorage,
    DatabaseVersion,
)
from hyperpod_constructs.cluster.accounting_database import AccountingDatabase
from hyperpod_constructs.facts import accounting
from hyperpod_constructs.network import NodeNetwork, node_place
from hyperpod_constructs.network.client_rules import client_rules
from hyperpod_constructs.node_software.software import ExternalAccounting
from hyperpod_constructs.rules.plugin import register_rules
from hyperpod_constructs.storage.data_loss import allow_data_loss as permit_data_loss

_USER = "slurm"


@jsii.implements(ec2.IConnectable)
class SlurmAccountingDatabase(Construct):
    """An RDS instance with MariaDB for Slurm's accounting: jobs, users, limits and fair shares outlive controller and cluster.

    Give it to `SlurmCluster(accounting_database=...)`, or `for_cluster()` to `Orchestrator.slurm`. Where the controller runs
    `OnCreate`, give `for_scripts()` to `NodeSoftware(accounting=...)`.

    It is encrypted, takes TLS only unless `require_tls` says otherwise, and has a security group of its own that admits the nodes'
    group on TCP 3306. RDS makes the password, keeps it in a secret of Secrets Manager, and rotates it every seven days by itself:
    no function, and nothing to reach in the VPC. The nodes' scripts take a rotated password over; nodes without internet read it
    by the endpoint `secretsmanager`.

    The data outlives the stack unless `removal_policy` says otherwise. A change of `subnets` or `encryption_key` **replaces** the
    database: CloudFormation makes a new, empty one and retains the old one.

    Source: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-secrets-manager.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: NodeNetwork,
        subnets: Sequence[ec2.ISubnet],
        db_instance_class: DatabaseClass = "db.t4g.medium",
        engine_version: DatabaseVersion = "11.4.13",
        allow_major_version_upgrade: bool = False,
        allocated_storage_gib: DatabaseStorage = 20,
        max_allocated_storage_gib: DatabaseStorage | None = 100,
        multi_az: bool = True,
        require_tls: bool = True,
        backup_retention_days: DatabaseBackupDays = 14,
        preferred_backup_window: DatabaseBackupWindow | None = None,
        preferred_maintenance_window: DatabaseMaintenanceWindow | None = None,
        encryption_key: kms.IKey | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        deletion_protection: bool = True,
        allow_data_loss: str | None = None,
    ) -> None:
        """
        :param network: the network of the nodes. It gives the VPC and the security group that is admitted.
        :param subnets: subnets of that VPC in two zones or more, such as those of `ClusterNetwork.add_database_subnet`. A change to
            another VPC **replaces** the database.
        :param db_instance_class: db.t4g.medium unless given. A change restarts the database; Slurm keeps its records meanwhile.
        :param engine_version: of MariaDB; 11.4.13 unless given. RDS applies minor versions in the maintenance window. There is
            no way back to an earlier version.
        :param allow_major_version_upgrade: whether `engine_version` may go up to another major version; no unless given.
        :param allocated_storage_gib: GiB on gp3, 20 to 65536; 20 unless given. It can grow, never shrink.
        :param max_allocated_storage_gib: RDS lets the storage grow up to it, at least a tenth more; 100 unless given, `None` for
            no growth.
        :param multi_az: whether a standby in another zone takes over; yes unless given. It doubles the price.
        :param require_tls: whether the database refuses connections without TLS; yes unless given. The scripts of this library
            encrypt theirs. The service does not document whether the slurmdbd of its image does: with `False`, both ways work. It
            changes in place, without a restart.
        :param backup_retention_days: 1 to 35 days of automatic backups; 14 unless given.
        :param preferred_backup_window: UTC, such as `03:00-03:30`; a window of RDS's choice when not given.
        :param preferred_maintenance_window: UTC, such as `sun:04:00-sun:04:30`; a window of RDS's choice when not given.
        :param encryption_key: encrypts the data, its backups and the secret; keys of AWS when not given. A change **replaces** the
            database.
        :param removal_policy: by default the database is kept on deletion and replacement with all that it needs: its security
            group, subnet group and parameters.
        :param deletion_protection: whether RDS refuses to delete the database; yes unless given. Then a failed first creation
            leaves it behind too: switch the protection off, and delete the stack again.
        :param allow_data_loss: the reason why a change may lose the records. Without a reason, `hyperpod plan` and a synthesis
            against the previous template (context `hyperpod:previous-template`) refuse such a change.
        :raises ValueError: for fewer than two subnets, a limit of growth that is too small, or protection beside `DESTROY`.

        Source: https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBInstance.html
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        path = placed(self, scope, id)
        _check_subnets(path, subnets)
        _check_growth(path, allocated_storage_gib, max_allocated_storage_gib)
        _check_protection(path, removal_policy, deletion_protection)
        self._key = encryption_key
        key_arn = None if encryption_key is None else encryption_key.key_arn
        tags = [CfnTag(key="Name", value=path)]
        self._security_group = ec2.SecurityGroup(
            self, "SecurityGroup", vpc=network.vpc, allow_all_outbound=False, description="Slurm accounting database"
        )
        subnet_group = rds.CfnDBSubnetGroup(
            self,
            "SubnetGroup",
            db_subnet_group_description=f"Slurm accounting: {path}",
            subnet_ids=[subnet.subnet_id for subnet in subnets],
            tags=tags,
        )
        parameters = rds.CfnDBParameterGroup(
            self,
            "Parameters",
            family=f"mariadb{'.'.join(engine_version.split('.')[:2])}",
            description=f"Slurm accounting: {path}",
            parameters={**accounting.PARAMETERS, accounting.TLS_PARAMETER: "1" if require_tls else "0"},
            tags=tags,
        )
        self._resource = rds.CfnDBInstance(
            self,
            "Resource",
            engine="mariadb",
            engine_version=engine_version,
            allow_major_version_upgrade=True if allow_major_version_upgrade else None,
            auto_minor_version_upgrade=True,
            db_instance_class=db_instance_class,
            storage_type="gp3",
            allocated_storage=str(allocated_storage_gib),
            max_allocated_storage=max_allocated_storage_gib,
            storage_encrypted=True,
            kms_key_id=key_arn,
            multi_az=multi_az,
            port=str(accounting.DEFAULT_PORT),
            publicly_accessible=False,
            db_subnet_group_name=subnet_group.ref,
            db_parameter_group_name=parameters.ref,
            vpc_security_groups=[self._security_group.security_group_id],
            db_name=accounting.DEFAULT_NAME,
            master_username=_USER,
            manage_master_user_password=True,
            master_user_secret=None if key_arn is None else rds.CfnDBInstance.MasterUserSecretProperty(kms_key_id=key_arn),
            backup_retention_period=backup_retention_days,
            preferred_backup_window=preferred_backup_window,
            preferred_maintenance_window=preferred_maintenance_window,
            copy_tags_to_snapshot=True,
            enable_cloudwatch_logs_exports=["error"],
            deletion_protection=deletion_protection,
            tags=tags,
        )
        self._security_group.apply_removal_policy(removal_policy)
        for resource in (subnet_group, parameters, self._resource):
            resource.apply_removal_policy(removal_policy)
        if allow_data_loss is not None:
            permit_data_loss(self._resource, allow_data_loss)
        self._connections = ec2.Connections(
            security_groups=[self._security_group], default_port=ec2.Port.tcp(accounting.DEFAULT_PORT)
        )
        self._admit("Nodes", node_place(network).security_group_id)

    @property
    def resource(self) -> rds.CfnDBInstance:
        """The L1."""
        return self._resource

    @cached_property
    def endpoint(self) -> str:
        """The host name by which the controller reaches it."""
        return self._resource.attr_endpoint_address

    @cached_property
    def secret(self) -> secretsmanager.ISecret:
        """User and password, which RDS makes and rotates."""
        return secretsmanager.Secret.from_secret_attributes(
            self, "Secret", secret_complete_arn=self._resource.attr_master_user_secret_secret_arn, encryption_key=self._key
        )

    @property
    def security_group(self) -> ec2.SecurityGroup:
        """The database's own group."""
        return self._security_group

    @property
    def connections(self) -> ec2.Connections:
        """Rules for more clients than the nodes: `database.connections.allow_default_port_from(client)`."""
        return self._connections

    @checked
    def for_cluster(self, *, name: DatabaseName = accounting.DEFAULT_NAME) -> AccountingDatabase:
        """The database for a cluster whose image sets Slurm up.

        :param name: the schema; `slurm_acct_db` unless given, also for the next cluster, which then sees the records of this one.
            Clusters that share the database at the same time need a name each.
        """
        return AccountingDatabase(endpoint=self.endpoint, secret=self.secret, port=accounting.DEFAULT_PORT, name=name)

    @checked
    def for_scripts(self, *, name: DatabaseName = accounting.DEFAULT_NAME) -> ExternalAccounting:
        """The database for a cluster whose controller runs `OnCreate`.

        :param name: the schema; see `for_cluster`.
        """
        return ExternalAccounting(host=self.endpoint, secret=self.secret, port=accounting.DEFAULT_PORT, name=name)

    def _admit(self, id: str, peer: str) -> None:
        """Let members of the peer's group connect."""
        group = self._security_group.security_group_id
        rules = client_rules(self, id, group, peer, port=accounting.DEFAULT_PORT, description="MariaDB")
        self._resource.node.add_dependency(*rules)


def _check_subnets(path: str, subnets: Sequence[ec2.ISubnet]) -> None:
    if len(subnets) < 2:
        raise ValueError(
            f"{path}: subnets has {len(subnets)} item{'' if len(subnets) == 1 else 's'}; RDS needs subnets in two zones: "
            'network.add_database_subnet("DatabaseA", ...) and "DatabaseB"'
        )


def _check_growth(path: str, size: int, most: int | None) -> None:
    if most is None or is_unknown(size) or is_unknown(most) or most >= size * accounting.GROWTH:
        return
    least = int(-(-size * accounting.GROWTH // 1))
    raise ValueError(
        f"{path}: max_allocated_storage_gib is {most}, less than a tenth above allocated_storage_gib {size}; write "
        f"max_allocated_storage_gib={least} or more, or None for storage that does not grow"
    )


def _check_protection(path: str, removal_policy: RemovalPolicy, protected: bool) -> None:
    if removal_policy is RemovalPolicy.DESTROY and protected:
        raise ValueError(
            f"{path}: removal_policy is DESTROY, and deletion_protection would make RDS refuse the deletion; write "
            "deletion_protection=False too"
        )
