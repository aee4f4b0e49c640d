"""Databases for the accounting of Slurm."""

from __future__ import annotations

from hyperpod_constructs.analysis.clusters import Cluster
from hyperpod_constructs.analysis.embedded import parsed
from hyperpod_constructs.analysis.networks import SUBNET, network_facts
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP, security_groups
from hyperpod_constructs.analysis.traffic import Side
from hyperpod_constructs.facts import accounting
from hyperpod_constructs.facts.listeners import DATABASE_PORTS
from hyperpod_constructs.templates.dependencies import named_at
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_int, as_items, as_str, at

ACCOUNTING = ("Orchestrator", "Slurm", "AccountingDatabase")
INSTANCE = "AWS::RDS::DBInstance"
_CLUSTER = "AWS::RDS::DBCluster"
DATABASES = (INSTANCE, _CLUSTER)
SECRET, ATTACHMENT = "AWS::SecretsManager::Secret", "AWS::SecretsManager::SecretTargetAttachment"
_TEMPLATE = "SecretStringTemplate"


def database_of(cluster: Cluster) -> Resource | None:
    """The accounting database of a cluster, if it is in the model."""
    return resource_of(cluster.get(*ACCOUNTING, "Endpoint"), *DATABASES)


def is_of_slurm(database: Resource) -> bool:
    """Whether a database has a schema that is surely for slurmdbd."""
    name = as_str(database.get("DBName" if database.type == INSTANCE else "DatabaseName"))
    return name is not None and accounting.OF_SLURM.fullmatch(name) is not None


def asked_port(cluster: Cluster) -> int | None:
    """The port that slurmdbd connects to."""
    written = cluster.get(*ACCOUNTING, "Port")
    return accounting.DEFAULT_PORT if written is ABSENT else as_int(written)


def port_of(database: Resource) -> int | None:
    """The port on which a database listens: its own, that of its cluster, or that of its engine."""
    cluster = resource_of(database.get("DBClusterIdentifier"), _CLUSTER)
    own = (cluster or database).get("Port")
    engine = as_str((cluster or database).get("Engine"))
    return as_int(own) if own is not ABSENT else DATABASE_PORTS.get((engine or "").lower())


def databases_of(secret: Resource) -> list[Resource]:
    """The databases whose password a secret has: those to which it is attached, and those that take it from there."""
    model = secret.template.model
    attached = [one for one in model.resources(ATTACHMENT) if resource_of(one.get("SecretId")) is secret]
    found = [resource_of(one.get("TargetId"), *DATABASES) for one in attached]
    takers = [one for one in model.resources(*DATABASES) if secret in named_at(one, "MasterUserPassword")]
    return list(dict.fromkeys(one for one in (*found, *takers) if one is not None))


def secret_of(value: Value) -> Resource | None:
    """The secret that a value names, by itself or by its attachment to a database."""
    found = resource_of(value, SECRET, ATTACHMENT)
    return secret_of(found.get("SecretId")) if found is not None and found.type == ATTACHMENT else found


def keys_of(secret: Resource) -> set[str] | None:
    """The keys of a secret's JSON; `None` if they are not known, empty if it has none."""
    made = secret.get("GenerateSecretString")
    written, own = (secret.get("SecretString"), "") if made is ABSENT else (at(made, _TEMPLATE), at(made, "GenerateStringKey"))
    if written is ABSENT and own is ABSENT:
        return set()
    data, key = parsed(as_str(written)), as_str(own)
    return {*data, key} - {""} if isinstance(data, dict) and key is not None else None


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
        spread=database.type == INSTANCE and as_bool(database.get("MultiAZ")) is True,
    )
