"""RDS in the embedded AWS: passwords that RDS manages, their rotation, protected instances, subnets in two zones."""

from __future__ import annotations

import json
from typing import Any

from hyperpod_constructs.local.server import LocalAws
from tests.local.stacks import delete, deploy

GET_SECRET = {"Fn::GetAtt": ["Database", "MasterUserSecret.SecretArn"]}


def resources(zones: str = "ab", **changes: Any) -> dict[str, Any]:
    """A database with a managed password in a VPC, and a parameter with the ARN of its secret."""
    subnets = {
        f"Subnet{number}": {
            "Type": "AWS::EC2::Subnet",
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "CidrBlock": f"10.0.{number}.0/28",
                "AvailabilityZone": f"us-west-2{zone}",
            },
        }
        for number, zone in enumerate(zones)
    }
    return {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        **subnets,
        "Subnets": {
            "Type": "AWS::RDS::DBSubnetGroup",
            "Properties": {"DBSubnetGroupDescription": "two", "SubnetIds": [{"Ref": name} for name in subnets]},
        },
        "Database": {
            "Type": "AWS::RDS::DBInstance",
            "Properties": {
                "Engine": "mariadb",
                "DBInstanceClass": "db.t4g.medium",
                "AllocatedStorage": "20",
                "MasterUsername": "slurm",
                "ManageMasterUserPassword": True,
                "DBSubnetGroupName": {"Ref": "Subnets"},
                **changes,
            },
            "DeletionPolicy": "Delete",
        },
        "Secret": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": GET_SECRET, "Name": "/secret"}},
    }


def login(aws: LocalAws) -> tuple[str, dict[str, str]]:
    """The ARN of the secret and its content."""
    arn = aws.client("ssm").get_parameter(Name="/secret")["Parameter"]["Value"]
    return arn, json.loads(aws.client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"])


def secrets(aws: LocalAws) -> list[str]:
    return [one["ARN"] for one in aws.client("secretsmanager").list_secrets()["SecretList"]]


def test_a_managed_password_rotates_and_goes_with_its_instance(fresh: LocalAws) -> None:
    made = deploy(fresh, resources(DeletionProtection=True))
    assert made.reasons == ()
    arn, first = login(fresh)
    assert ":secret:rds!db-" in arn
    assert first["username"] == "slurm"
    rds = fresh.client("rds")
    rds.modify_db_instance(DBInstanceIdentifier=made.resources["Database"], RotateMasterUserPassword=True, ApplyImmediately=True)
    assert login(fresh)[1]["password"] != first["password"]
    updated = deploy(fresh, resources(DeletionProtection=True, BackupRetentionPeriod=7))
    assert updated.reasons == ()
    assert login(fresh)[0] == arn
    refused = delete(fresh)
    assert refused.status == "DELETE_FAILED"
    assert any("Cannot delete protected DB Instance" in reason for reason in refused.reasons)
    assert secrets(fresh) == [arn]
    rds.modify_db_instance(DBInstanceIdentifier=made.resources["Database"], DeletionProtection=False, ApplyImmediately=True)
    assert delete(fresh).status == "DELETE_COMPLETE"
    assert secrets(fresh) == []


def test_fails_for_subnets_in_one_zone(fresh: LocalAws) -> None:
    made = deploy(fresh, resources("aa"))
    assert made.status == "ROLLBACK_COMPLETE"
    assert any("doesn't meet Availability Zone (AZ) coverage requirement" in reason for reason in made.reasons)
