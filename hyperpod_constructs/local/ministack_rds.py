"""RDS as far as ministack lacks it: passwords in Secrets Manager that RDS manages, subnets in two zones, and refused deletions.

An instance is a record without a server. A fleet of virtual nodes boots one where a cluster uses it.
"""

from __future__ import annotations

import secrets
import string
import uuid
from collections.abc import Mapping
from functools import partial
from json import dumps, loads
from typing import Any

from ministack.core import responses  # type: ignore[import-untyped]
from ministack.core.concurrency import run_reentrant  # type: ignore[import-untyped]
from ministack.services import rds  # type: ignore[import-untyped]
from ministack.services.cloudformation import provisioners  # type: ignore[import-untyped]

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients, ignoring
from hyperpod_constructs.local.judging import Response
from hyperpod_constructs.local.ministack import Parameters, caller, refuse_first

INSTANCE = "AWS::RDS::DBInstance"
SUBNET_GROUP = "AWS::RDS::DBSubnetGroup"
_ATTRIBUTE = "MasterUserSecret.SecretArn"
_SECRET = "MasterUserSecret"
_LETTERS = string.ascii_letters + string.digits + "!#$%&()*+,-.:;<=>?[]^_{|}~"

Made = tuple[str, dict[str, str]]


def manage(clients: Clients, endpoint: str) -> None:
    """Give instances that ask for it a password in a secret, which goes with them, and let ModifyDBInstance rotate it."""
    _wrap_instances(clients, endpoint)
    _find_subnets_of_ec2()

    async def rotate(parameters: Parameters) -> Response | None:
        asked = {key: values[0] for key, values in parameters.items()}
        if asked.get("Action") == "ModifyDBInstance" and asked.get("RotateMasterUserPassword") == "true":
            await run_reentrant(partial(_rotate, clients, caller(endpoint)), asked.get("DBInstanceIdentifier", ""))
        return None

    refuse_first("rds", rotate)


def _wrap_instances(clients: Clients, endpoint: str) -> None:
    native = dict(provisioners._RESOURCE_HANDLERS[INSTANCE])

    def create(logical_id: str, properties: dict[str, Any], stack: str) -> Made:
        physical_id, attributes = native["create"](logical_id, properties, stack)
        return physical_id, {**attributes, **_managed(clients, caller(endpoint), physical_id, properties)}

    def update(physical_id: str, old: dict[str, Any], new: dict[str, Any], stack: str, logical_id: str) -> Made:
        made, attributes = native["update"](physical_id, old, new, stack, logical_id)
        return made, {**attributes, **_managed(clients, caller(endpoint), made, new)}

    def delete(physical_id: str, properties: dict[str, Any]) -> None:
        instance = rds._instances.get(physical_id) or {}
        if instance.get("DeletionProtection"):
            words = f"Cannot delete protected DB Instance {physical_id}, please disable deletion protection and try again."
            raise AwsError("InvalidParameterCombination", words)
        native["delete"](physical_id, properties)
        if _SECRET in instance:
            with ignoring("ResourceNotFoundException"):
                arn = instance[_SECRET]["SecretArn"]
                clients("secretsmanager", caller(endpoint)).delete_secret(SecretId=arn, ForceDeleteWithoutRecovery=True)

    wrapped = {**native, "create": create, "update": update, "update_with_logical_id": True, "delete": delete}
    provisioners._RESOURCE_HANDLERS[INSTANCE] = wrapped


def _managed(clients: Clients, who: Caller, identifier: str, properties: Mapping[str, Any]) -> dict[str, str]:
    """The attribute with the secret of an instance whose password RDS manages. Logs of the engine are exported nowhere."""
    properties.get("EnableCloudwatchLogsExports")
    instance, key = rds._instances[identifier], (properties.get(_SECRET) or {}).get("KmsKeyId")
    if str(properties.get("ManageMasterUserPassword")).lower() != "true":
        return {}
    if _SECRET not in instance:
        made = clients("secretsmanager", who).create_secret(
            Name=f"rds!db-{uuid.uuid4()}",
            Description=f"The secret associated with the primary RDS DB instance: {instance['DBInstanceArn']}",
            SecretString=_login(instance["MasterUsername"]),
            **({} if key is None else {"KmsKeyId": key}),
        )
        instance[_SECRET] = {"SecretArn": made["ARN"], "SecretStatus": "active", **({} if key is None else {"KmsKeyId": key})}
    return {_ATTRIBUTE: instance[_SECRET]["SecretArn"]}


def _rotate(clients: Clients, who: Caller, identifier: str) -> None:
    secret = (rds._instances.get(identifier) or {}).get(_SECRET)
    if secret is not None:
        manager = clients("secretsmanager", who)
        user = loads(manager.get_secret_value(SecretId=secret["SecretArn"])["SecretString"])["username"]
        manager.put_secret_value(SecretId=secret["SecretArn"], SecretString=_login(user))


def _login(user: str) -> str:
    return dumps({"username": user, "password": "".join(secrets.choice(_LETTERS) for _ in range(28))})


def _find_subnets_of_ec2() -> None:
    """Let subnet groups take the subnets of the embedded EC2, which is moto's, in two zones or more."""
    native = dict(provisioners._RESOURCE_HANDLERS[SUBNET_GROUP])

    def create(logical_id: str, properties: dict[str, Any], stack: str) -> Made:
        zones = {subnet.availability_zone for subnet in _subnets(properties.get("SubnetIds") or [])}
        if len(zones) == 1:
            words = (
                "The DB subnet group doesn't meet Availability Zone (AZ) coverage requirement. "
                f"Current AZ coverage: {', '.join(zones)}. Add subnets to cover at least 2 AZs."
            )
            raise AwsError("DBSubnetGroupDoesNotCoverEnoughAZs", words)
        made: Made = native["create"](logical_id, properties, stack)
        return made

    def members(identifiers: list[str]) -> tuple[list[dict[str, Any]], str] | None:
        found = _subnets(identifiers)
        networks = {subnet.vpc_id for subnet in found}
        if len(found) < len(identifiers) or len(networks) != 1:
            return None
        return [_member(subnet) for subnet in found], networks.pop()

    provisioners._RESOURCE_HANDLERS[SUBNET_GROUP] = {**native, "create": create}
    rds._resolve_subnet_group_members = members


def _member(subnet: Any) -> dict[str, Any]:
    return {
        "SubnetIdentifier": subnet.id,
        "SubnetAvailabilityZone": {"Name": subnet.availability_zone},
        "SubnetOutpost": {},
        "SubnetStatus": "Active",
    }


def _subnets(identifiers: list[str]) -> list[Any]:
    from moto.ec2.models import ec2_backends

    zones = ec2_backends[responses.get_account_id()][responses.get_region()].subnets
    known = {identifier: subnet for subnets in zones.values() for identifier, subnet in subnets.items()}
    return [known[identifier] for identifier in identifiers if identifier in known]
