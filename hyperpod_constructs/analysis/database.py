"""Databases for the accounting of Slurm."""

from __future__ import annotations

from hyperpod_constructs.analysis.clusters import Cluster
from hyperpod_constructs.analysis.networks import SUBNET, network_facts
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP, security_groups
from hyperpod_constructs.analysis.traffic import Side
from hyperpod_constructs.facts import accounting
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_int, as_items

ACCOUNTING = ("Orchestrator", "Slurm", "AccountingDatabase")
INSTANCE = "AWS::RDS::DBInstance"
DATABASES = (INSTANCE, "AWS::RDS::DBCluster")


def database_of(cluster: Cluster) -> Resource | None:
    """The accounting database of a cluster, if it is in the model."""
    return resource_of(cluster.get(*ACCOUNTING, "Endpoint"), *DATABASES)


def asked_port(cluster: Cluster) -> int | None:
    """The port that slurmdbd connects to."""
    written = cluster.get(*ACCOUNTING, "Port")
    return accounting.DEFAULT_PORT if written is ABSENT else as_int(written)


def port_of(database: Resource) -> int | None:
    """The port on which a database listens."""
    own = database.get("Port")
    return accounting.DEFAULT_PORT if own is ABSENT else as_int(own)


def is_alone(database: Resource) -> bool:
    """Whether a database takes nothing from a cluster, a source or a snapshot, which would say where it is."""
    sources = ("DBClusterIdentifier", "DBClusterSnapshotIdentifier", "DBSnapshotIdentifier", "SourceDBClusterIdentifier")
    others = ("DBSecurityGroups", "RestoreTime", "SourceDBInstanceIdentifier", "SourceDbiResourceId", "UseLatestRestorableTime")
    return database.type == INSTANCE and all(database.get(key) is ABSENT for key in (*sources, *others))


def groups_key(database: Resource) -> str:
    """The property with its security groups."""
    return "VPCSecurityGroups" if database.type == INSTANCE else "VpcSecurityGroupIds"


def side_of(database: Resource) -> Side:
    """Its groups and subnets, as far as they are in the model."""
    model = database.template.model
    groups = [resource_of(item, SECURITY_GROUP) for item in as_items(database.get(groups_key(database))) or ()]
    named = resource_of(database.get("DBSubnetGroupName"), "AWS::RDS::DBSubnetGroup")
    subnets = [resource_of(item, SUBNET) for item in as_items(named.get("SubnetIds")) or ()] if named is not None else []
    return Side(
        database.logical_id,
        None if not groups or None in groups else tuple(security_groups(model).of(one) for one in groups if one is not None),
        None if not subnets or None in subnets else tuple(network_facts(model).subnet(one) for one in subnets if one is not None),
        place=(database, (groups_key(database),)),
    )
