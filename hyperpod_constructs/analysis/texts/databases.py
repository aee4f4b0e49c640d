"""Databases of RDS: versions, classes and parameters are of the engine, generated passwords are taken, and Aurora has instances.

Sources: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_WorkingWithParamGroups.html,
https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBInstance.html and
https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBCluster.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.databases import (
    FLAGS,
    LONGEST_PASSWORD,
    LONGEST_USER,
    NUMBERS,
    OF_POSTGRES,
    PARAMETERS,
    REFUSED_IN_PASSWORDS,
    RESERVED_USERS,
    SHORTEST_PASSWORD,
    Engine,
    engine_of,
    family_of,
    foreign_parameter,
)
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import named_at
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, alternatives_of, as_int, as_str, at

_INSTANCE, _CLUSTER, _SECRET = "AWS::RDS::DBInstance", "AWS::RDS::DBCluster", "AWS::SecretsManager::Secret"
_GROUPS = {"DBParameterGroupName": "AWS::RDS::DBParameterGroup", "DBClusterParameterGroupName": "AWS::RDS::DBClusterParameterGroup"}
_CHECKED_AS_REFERENCE = ("mysql", "mariadb", "postgres")
"""Engines whose groups of parameters no demand of `named.tsv` judges; a group with another mistake is named for that."""
_GENERATED = 32
"""The length of a password that Secrets Manager makes without being told."""
_ON_OR_OFF = ("0", "1", "OFF", "ON")
_FEWEST = 3
_WORD = re.compile(r"(?!.*default)[a-z]+", re.IGNORECASE)
_UNIT = re.compile(r"\d+\s*([KMG]i?B?|ms|s|m|min|h)", re.IGNORECASE)
_DEFAULT = "default"
_RESTORED = ("DBSnapshotIdentifier", "SnapshotIdentifier", "SourceDBClusterIdentifier", "SourceDBInstanceIdentifier")
"""What a database is made of, with the network that it had."""


def database(resource: Resource) -> Slips:
    """The version, the class, the parameters and the generated password of a database are of its engine."""
    engine, version = known(resource.get("Engine")), known(resource.get("EngineVersion"))
    facts = engine_of(engine or "")
    yield from _of_engine(resource, facts, version) if facts else ()
    for key, group in _GROUPS.items():
        yield from _of_family(resource, key, group, engine or "", version)
    yield from _of_options(resource, engine or "", version)
    yield from _of_network(resource)
    given = known(resource.get("MasterUsername"))
    if given in RESERVED_USERS:
        yield _reserved(f"the first user is {given}", given)
    for secret in named_at(resource, "MasterUsername"):
        yield from _user(secret, engine or "")
    for secret in named_at(resource, "MasterUserPassword"):
        yield from _password(secret, engine or "")
        yield from _same_user(secret, given)


def _of_engine(resource: Resource, engine: Engine, version: str | None) -> Slips:
    if version is not None and engine.has_version(version) is False:
        yield Slip(f"{engine.name} has no version {version}", f"a version of {engine.name}", ("EngineVersion",), version)
    for name in map(as_str, alternatives_of(resource.get("DBInstanceClass"))):
        if name is not None and engine.has_class(name) is False:
            yield Slip(f"{engine.name} has no instances of {name}", f"a class of {engine.name}", ("DBInstanceClass",), name)


def _of_family(resource: Resource, key: str, type_: str, engine: str, version: str | None) -> Slips:
    value = resource.get(key)
    group, name = resource_of(value, type_), as_str(value) or ""
    family = (
        known(group.get("Family")) if group is not None else name.removeprefix("default.") if name.startswith("default.") else None
    )
    wanted = family_of(engine, version) if version else None
    if group is not None and (engine not in _CHECKED_AS_REFERENCE or any(True for _ in parameters(group))):
        return
    if family and wanted and family != wanted:
        named = group.logical_id if group is not None else name
        yield Slip(f"{named} is of {family}, and the database of {engine} {version}", f"a group of {wanted}", (key,), value)


def _of_options(resource: Resource, engine: str, version: str | None) -> Slips:
    """The options of a database are of its version; that they are of its engine is a demand of `named.tsv`."""
    group = resource_of(resource.get("OptionGroupName"), "AWS::RDS::OptionGroup")
    major = None if group is None else known(group.get("MajorEngineVersion"))
    same = group is not None and (known(group.get("EngineName")) or "").lower() == engine.lower()
    if group is not None and major and version and same and not f"{version}.".startswith(f"{major}."):
        message = f"{group.logical_id} is of {engine} {major}, and the database of {version}"
        yield Slip(message, f"a group of {engine} of the same version", ("OptionGroupName",), resource.get("OptionGroupName"))


def _of_network(resource: Resource) -> Slips:
    """A database in the default group of subnets, or in none, is in the default VPC, and has no groups of another."""
    named = known(resource.get("DBSubnetGroupName"))
    in_default = resource.get("DBSubnetGroupName") is ABSENT or named == _DEFAULT
    alone = in_default and all(resource.get(key) is ABSENT for key in ("DBClusterIdentifier", *_RESTORED))
    without = f"in the subnet group {_DEFAULT}" if named == _DEFAULT else "without a subnet group"
    for key in ("VPCSecurityGroups", "VpcSecurityGroupIds") if alone else ():
        for index, one in entries(resource.get(key)):
            group = resource_of(one, "AWS::EC2::SecurityGroup")
            if group is not None and resource_of(group.get("VpcId"), "AWS::EC2::VPC") is not None:
                message = f"{group.logical_id} is in a VPC of its own, and a database {without} in the default one"
                yield Slip(message, "a DBSubnetGroupName of the VPC", (key, index), one)


def _user(secret: Resource, engine: str) -> Slips:
    """The user that a generated secret names is not one of RDS, and has no more characters than the engine takes."""
    template = secret.get("GenerateSecretString", "SecretStringTemplate") if secret.type == _SECRET else ABSENT
    user, most = as_str(at(values_in(template), "username")), LONGEST_USER.get(engine.lower())
    if user is not None and most is not None and len(user) > most:
        message = f"the user that {secret.logical_id} names has {len(user)} characters, and {engine} takes {most}"
        yield Slip(message, f"at most {most} characters", ("MasterUsername",))
    if user in RESERVED_USERS:
        yield _reserved(f"the user that {secret.logical_id} names is {user}")


def _same_user(secret: Resource, given: str | None) -> Slips:
    """The user in the secret with the password of a database is that of the database."""
    for path in (("GenerateSecretString", "SecretStringTemplate"), ("SecretString",)) if secret.type == _SECRET else ():
        user = as_str(at(values_in(secret.get(*path)), "username"))
        if user and given and user.lower() != given.lower():
            message = f"{secret.logical_id} has the password of {given}, and {user} as its user, who cannot log in"
            yield Slip(
                message, f"{user}, or {given} in the secret", ("MasterUsername",), given, dead=True, beside=((secret, path),)
            )


def _reserved(what: str, found: Value = ABSENT) -> Slip:
    """A first user that RDS makes itself."""
    return Slip(f"{what}, which RDS has itself", "a user of your own", ("MasterUsername",), found)


def _password(secret: Resource, engine: str) -> Slips:
    made = secret.get("GenerateSecretString") if secret.type == _SECRET else ABSENT
    if not isinstance(made, Mapping):
        return
    length = _GENERATED if made.get("PasswordLength", ABSENT) is ABSENT else as_int(made["PasswordLength"])
    most = LONGEST_PASSWORD.get(engine.lower())
    if length is not None and (length < SHORTEST_PASSWORD or (most is not None and length > most)):
        limit = f"{SHORTEST_PASSWORD} to {most} characters" if most else f"{SHORTEST_PASSWORD} characters or more"
        message = f"the password that {secret.logical_id} makes has {length} characters, and {engine} takes {limit}"
        yield Slip(message, limit, ("MasterUserPassword",))
    excluded = made.get("ExcludeCharacters", ABSENT)
    free = as_str(made.get("ExcludePunctuation", ABSENT)) == "true"
    if not free and (excluded is ABSENT or isinstance(excluded, str)):
        missing = [one for one in REFUSED_IN_PASSWORDS if one not in (excluded if isinstance(excluded, str) else "")]
        if missing:
            message = f"the password that {secret.logical_id} makes may have {' '.join(missing)}, which RDS refuses"
            yield Slip(message, "ExcludePunctuation, or ExcludeCharacters with / @ and quotes", ("MasterUserPassword",), dead=True)


def parameters(resource: Resource) -> Slips:
    """Parameters are of their engine and have its names, and numbers of MySQL and MariaDB have no unit."""
    family = known(resource.get("Family")) or ""
    if not re.match(r"(aurora-)?(mysql|mariadb|postgres)", family):
        return
    for name, value in mapping(resource.get("Parameters")).items():
        other = foreign_parameter(family, name)
        if other is not None:
            yield Slip(
                f"{name} is a parameter of {other}, and the group of {family}", f"one of {family}", ("Parameters", name), name
            )
        elif "postgres" in family:
            yield from _misspelled(name, OF_POSTGRES)
        else:
            yield from _parameter(name, known(value))


def _parameter(name: str, value: str | None) -> Iterator[Slip]:
    yield from _misspelled(name, PARAMETERS)
    if name in NUMBERS and value is not None and (_UNIT.fullmatch(value) or _WORD.fullmatch(value)):
        yield Slip(f"{name} is {value!r}, and takes a number without a unit", "a whole number", ("Parameters", name), value)
    elif name in FLAGS and value is not None and value.upper() not in _ON_OR_OFF:
        yield Slip(f"{name} is {value!r}, and is ON or OFF", "ON, OFF, 1 or 0", ("Parameters", name), value)


def _misspelled(name: str, names: frozenset[str]) -> Iterator[Slip]:
    meant = typo_of(name, names) or _longer(name, names)
    if meant is not None:
        yield Slip(f"{name} is no parameter; did you mean {meant}?", meant, ("Parameters", name), name)


def _longer(name: str, names: frozenset[str]) -> str | None:
    """The name that lacks one of its words behind the first; those of two words are too many."""
    words = name.split("_")
    if name in names or len(words) < _FEWEST:
        return None
    return next((one for one in sorted(names) if _lacks_one(words, one.split("_"))), None)


def _lacks_one(words: list[str], longer: list[str]) -> bool:
    return len(longer) == len(words) + 1 and any(longer[:place] + longer[place + 1 :] == words for place in range(1, len(longer)))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    _INSTANCE: database,
    _CLUSTER: database,
    **dict.fromkeys(_GROUPS.values(), parameters),
}
