"""Slurm's accounting database: engine, port and secret of what the templates hold of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from hyperpod_constructs.rules.facts.clusters import Cluster, clusters
from hyperpod_constructs.rules.facts.placement import node_groups
from hyperpod_constructs.rules.facts.security_groups import GROUP, security_groups
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.mistakes import Mistake
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import ABSENT, as_int, as_items, as_str, resource_of

_PATH = ("Orchestrator", "Slurm", "AccountingDatabase")
_SOURCE = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAccountingDatabase.html"
_DEFAULT_PORT = 3306
_KEYS = ("username", "password")
_MYSQL = re.compile(r"mysql|mariadb|^aurora$", re.IGNORECASE)
_DATABASES = ("AWS::RDS::DBInstance", "AWS::RDS::DBCluster")


def _databases(model: Model) -> Iterator[tuple[Cluster, Resource]]:
    """Clusters whose accounting database is in the model."""
    for cluster in clusters(model):
        database = resource_of(cluster.get(*_PATH, "Endpoint"), *_DATABASES)
        if database is not None:
            yield cluster, database


@rule(
    "HP-SLM-020",
    Level.ERROR,
    title="the accounting database is MariaDB or MySQL",
    why="slurmdbd speaks no other protocol: accounting, and with it every limit and fair share, never comes up",
    fix="take the engine mariadb, mysql or aurora-mysql",
    allowed="mariadb, mysql, aurora-mysql",
    source=_SOURCE,
)
def the_engine_is_mysql(model: Model) -> Iterator[Hit]:
    for cluster, database in _databases(model):
        engine = as_str(database.get("Engine"))
        if engine is not None and not _MYSQL.search(engine):
            mistake = Mistake(f"the accounting database {database.logical_id} has the engine {engine}", "take mariadb or mysql")
            yield cluster.hit(mistake, *_PATH, "Endpoint")


@rule(
    "HP-SLM-021",
    Level.ERROR,
    title="the accounting database listens on the port that Slurm is given",
    why="slurmdbd cannot connect, and jobs are not accounted",
    fix="write the port of the database in AccountingDatabase.Port",
    allowed="the port of the database; 3306 where none is given",
    source=_SOURCE,
)
def the_port_is_the_database_s(model: Model) -> Iterator[Hit]:
    for cluster, database in _databases(model):
        listening, given = _port(database), cluster.get(*_PATH, "Port")
        asked = _DEFAULT_PORT if given is ABSENT else as_int(given)
        if listening is not None and asked is not None and listening != asked:
            text = f"Slurm connects to port {asked}, but {database.logical_id} listens on {listening}"
            yield cluster.hit(Mistake(text, f"write Port: {listening}"), *_PATH, "Port")


@rule(
    "HP-SLM-023",
    Level.ERROR,
    title="the controller reaches the accounting database",
    why="slurmdbd runs on the controller; if a security group is in its way, it never connects and jobs are not accounted",
    fix="let the nodes' security group out to the database's, and the database's group let it in, on the database's port",
    allowed="rules in both groups for TCP and the database's port",
    source=_SOURCE,
)
def the_controller_reaches_the_database(model: Model) -> Iterator[Hit]:
    for cluster, database in _databases(model):
        port = _port(database)
        inside = _groups_of(database)
        nodes = [
            one for one in node_groups(model) if one.owner.resource is cluster.resource and one.group.node_type == "Controller"
        ]
        for outside in (one.security_groups for one in nodes if one.security_groups and inside and port is not None):
            reached = security_groups(model).any_reaches(outside, inside or (), protocol="tcp", port=port or _DEFAULT_PORT)
            if reached is False:
                names = ", ".join(group.logical_id for group in outside), ", ".join(group.logical_id for group in inside or ())
                text = f"TCP {port} from the controller's {names[0]} to {names[1]} of {database.logical_id} is closed"
                yield cluster.hit(Mistake(text, f"open it: out of {names[0]}, and into {names[1]}"), *_PATH, "Endpoint")


def _groups_of(database: Resource) -> tuple[Resource, ...] | None:
    """The security groups of a database; ``None`` if one is not of the model or none is given."""
    key = "VPCSecurityGroups" if database.type == "AWS::RDS::DBInstance" else "VpcSecurityGroupIds"
    found = [resource_of(item, GROUP) for item in as_items(database.get(key)) or ()]
    known = tuple(group for group in found if group is not None)
    return known if known and len(known) == len(found) else None


def _port(database: Resource) -> int | None:
    own = database.get("Port")
    return _DEFAULT_PORT if own is ABSENT else as_int(own)


@rule(
    "HP-SLM-022",
    Level.WARNING,
    title="the secret of the accounting database has the keys username and password",
    why="slurmdbd takes both from the secret, and cannot log in without one of them",
    fix="store JSON with the keys username and password",
    allowed='{"username": "...", "password": "..."}',
    source=_SOURCE,
)
def the_secret_has_both_keys(model: Model) -> Iterator[Hit]:
    for cluster in clusters(model):
        secret = resource_of(cluster.get(*_PATH, "SecretArn"), "AWS::SecretsManager::Secret")
        keys = None if secret is None else _keys(secret)
        lacking = [] if keys is None else [key for key in _KEYS if key not in keys]
        if secret is not None and lacking:
            text = f"the secret {secret.logical_id} of the accounting database has no {' and no '.join(lacking)}"
            yield cluster.hit(Mistake(text, f"add {' and '.join(lacking)} to it"), *_PATH, "SecretArn")


def _keys(secret: Resource) -> set[str] | None:
    """The keys of a secret's JSON; ``None`` if they are not known."""
    generated = secret.get("GenerateSecretString")
    written = secret.get("SecretString")
    if generated is not ABSENT:
        document = secret.get("GenerateSecretString", "SecretStringTemplate")
        key = secret.get("GenerateSecretString", "GenerateStringKey")
        if document is ABSENT and key is ABSENT:
            return set()
        name = as_str(key)
        keys = _json_keys(as_str(document))
        return None if keys is None or name is None else keys | {name}
    return None if written is ABSENT else _json_keys(as_str(written))


def _json_keys(text: str | None) -> set[str] | None:
    try:
        document = None if text is None else json.loads(text)
    except ValueError:
        return None
    return set(document) if isinstance(document, dict) else None
