"""The fields of records in flow logs of a VPC (as of 2026-12-01).

Sources: https://docs.aws.amazon.com/vpc/latest/userguide/flow-log-records.html and
https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.aws_ec2.LogFormat.html
"""

from __future__ import annotations

from collections.abc import Mapping

FIELDS = (
    "version",
    "account-id",
    "interface-id",
    "srcaddr",
    "dstaddr",
    "srcport",
    "dstport",
    "protocol",
    "packets",
    "bytes",
    "start",
    "end",
    "action",
    "log-status",
    "vpc-id",
    "subnet-id",
    "instance-id",
    "tcp-flags",
    "type",
    "pkt-srcaddr",
    "pkt-dstaddr",
    "region",
    "az-id",
    "sublocation-type",
    "sublocation-id",
    "pkt-src-aws-service",
    "pkt-dst-aws-service",
    "flow-direction",
    "traffic-path",
    "ecs-cluster-arn",
    "ecs-cluster-name",
    "ecs-container-instance-arn",
    "ecs-container-instance-id",
    "ecs-container-id",
    "ecs-second-container-id",
    "ecs-service-name",
    "ecs-task-definition-arn",
    "ecs-task-arn",
    "ecs-task-id",
    "reject-reason",
    "resource-id",
    "encryption-status",
    "instance-tag",
    "instance-tag-2",
    "interface-tag",
    "interface-tag-2",
    "asg-tag",
    "asg-tag-2",
    "interface-type",
    "next-hop-interface-id",
    "next-hop-subnet-id",
    "next-hop-az-id",
    "next-hop-vpc-id",
    "next-hop-interface-type",
)
"""The fields up to version 11. Fields may be added: only a misspelled one is surely wrong."""
DEFAULT = FIELDS[:14]
"""The fields of a record without a format of its own: those of version 2."""

OTHERS = {
    "account": "account-id",
    "dst-ip": "dstaddr",
    "dst-port": "dstport",
    "dstaddress": "dstaddr",
    "dstip": "dstaddr",
    "endtime": "end",
    "eni-id": "interface-id",
    "interface": "interface-id",
    "src-ip": "srcaddr",
    "srcaddress": "srcaddr",
    "srcip": "srcaddr",
    "starttime": "start",
    "status": "log-status",
    "subnet": "subnet-id",
    "vpc": "vpc-id",
}
"""What other tools and queries call the fields."""

VALUES: Mapping[str, tuple[str, ...]] = {
    "action": ("ACCEPT", "REJECT", "-"),
    "flow-direction": ("ingress", "egress", "-"),
    "log-status": ("OK", "NODATA", "SKIPDATA"),
    "type": ("IPv4", "IPv6", "EFA", "-"),
}
"""The fields of a record with few values; `-` stands for a value that a record does not have (as of 2026-12-01)."""

WORDS = ("ACCEPT", "NODATA", "OK", "REJECT", "SKIPDATA", "eni-", "unknown")
"""The words with letters in a record of the fields of version 2: others are numbers, addresses and ids in small letters."""
