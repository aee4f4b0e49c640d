"""Refusals of HyperPod by its surroundings: roles, subnets, security groups and scripts, through their own services.

IAM's policy simulator judges the role's permissions, with or without evaluation of IAM for calls: on AWS a node without them
fails in either case. The embedded AWS does not look at KMS keys, quotas, the accounting database and its secret, custom images,
and the EKS cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_constructs.facts import clusters, node_permissions
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients, partition
from hyperpod_constructs.local.hyperpod.rules import is_slurm_api, refusal
from hyperpod_constructs.local.hyperpod.state import Spec
from hyperpod_constructs.local.hyperpod.watch import alarm_states
from hyperpod_constructs.local.trust import trusts_service

Subnets = Mapping[str, Mapping[str, Any]]


def check_surroundings(groups: Iterable[Spec], settings: Mapping[str, Any], clients: Clients, caller: Caller) -> Subnets:
    """Refuse groups with missing roles, networks or scripts; returns the named subnets.

    :raises AwsError: with the cause of the refusal.
    """
    groups = list(groups)
    subnets = _check_networks(groups, settings, clients, caller)
    roles = {spec["ExecutionRole"] for spec in groups} | ({settings["ClusterRole"]} if "ClusterRole" in settings else set())
    for role in sorted(roles):
        of_cluster = role == settings.get("ClusterRole")
        principal = node_permissions.CLUSTER_PRINCIPAL if of_cluster else node_permissions.NODES_PRINCIPAL
        _check_trust(role, principal, clients("iam", caller))
    for spec in groups:
        if "VpcConfig" in settings:
            _check_permissions(spec, node_permissions.DESCRIBE_NETWORK, "*", "Unable to retrieve subnets", clients("iam", caller))
    return subnets


def check_alarms(groups: Iterable[Spec], names: Collection[str], clients: Clients, caller: Caller) -> None:
    """Refuse alarms that do not exist, or that the groups' roles may not read.

    :raises AwsError: with the cause of the refusal.
    """
    if not names:
        return
    states = alarm_states(sorted(names), clients, caller)
    missing = [name for name in names if name not in states]
    if missing:
        raise refusal(f"AutoRollbackConfiguration: the alarm {', '.join(missing)} does not exist; create it first")
    complaint, place = "Unable to read the alarms of AutoRollbackConfiguration", f"{caller.region}:{caller.account}"
    arns = [f"arn:{partition(caller.region)}:cloudwatch:{place}:alarm:{name}" for name in sorted(names)]
    for spec, arn in ((spec, arn) for spec in groups for arn in arns):
        _check_permissions(spec, (node_permissions.READ_ALARMS,), arn, complaint, clients("iam", caller))


def script_problem(spec: Spec, clients: Clients, caller: Caller) -> str | None:
    """Why a node of the group cannot have its lifecycle script; None if it can."""
    scripts = spec["LifeCycleConfig"]
    bucket, folder = _place(scripts)
    entry = folder + scripts.get("OnCreate", scripts.get("OnInitComplete"))
    try:
        if not _has_object(clients("s3", caller), bucket, entry):
            return f"the lifecycle script s3://{bucket}/{entry} does not exist; upload it before the cluster is created"
        iam = clients("iam", caller)
        if not (bucket.startswith(node_permissions.READABLE_BUCKETS) and _has_cluster_policy(spec["ExecutionRole"], iam)):
            resource = f"arn:{partition(caller.region)}:s3:::{bucket}/{entry}"
            _check_permissions(spec, ("s3:GetObject",), resource, "the lifecycle scripts cannot be read", iam)
    except AwsError as refused:
        return refused.message
    except ClientError as error:
        return f"the lifecycle scripts cannot be read: {error.response['Error']['Message']}"
    return None


def legacy_problem(groups: Iterable[Spec], settings: Mapping[str, Any], clients: Clients, caller: Caller) -> str | None:
    """The documented message for the legacy file beside scripts, where the API configures Slurm; None without such a file."""
    groups = list(groups)
    if not is_slurm_api(groups, settings):
        return None
    for bucket, folder in dict.fromkeys(_place(spec["LifeCycleConfig"]) for spec in groups if "LifeCycleConfig" in spec):
        if _has_object(clients("s3", caller), bucket, folder + clusters.LEGACY_FILE):
            return (
                "The LifeCycleConfig cannot include both a SLURM Orchestrator Config and a"
                f" {clusters.LEGACY_FILE} file simultaneously: found s3://{bucket}/{folder}{clusters.LEGACY_FILE}"
            )
    return None


def _place(scripts: Mapping[str, str]) -> tuple[str, str]:
    """Bucket and folder of scripts; the folder ends with a slash, unless it is the whole bucket."""
    bucket, _, prefix = scripts["SourceS3Uri"].partition("://")[2].partition("/")
    return bucket, f"{prefix.rstrip('/')}/" if prefix.rstrip("/") else ""


def _check_networks(groups: list[Spec], settings: Mapping[str, Any], clients: Clients, caller: Caller) -> Subnets:
    networks = [settings["VpcConfig"]] if "VpcConfig" in settings else []
    networks += [spec["OverrideVpcConfig"] for spec in groups if "OverrideVpcConfig" in spec]
    subnet_ids = sorted({name for network in networks for name in network["Subnets"]})
    group_ids = sorted({name for network in networks for name in network["SecurityGroupIds"]})
    if not networks:
        return {}
    ec2 = clients("ec2", caller)
    try:
        subnets = ec2.describe_subnets(SubnetIds=subnet_ids)["Subnets"]
        security_groups = ec2.describe_security_groups(GroupIds=group_ids)["SecurityGroups"]
    except ClientError as error:
        raise refusal(f"VpcConfig: {error.response['Error']['Message']}") from error
    vpcs = {item["VpcId"]: item.get("SubnetId", item.get("GroupId")) for item in [*subnets, *security_groups]}
    if len(vpcs) > 1:
        found = ", ".join(f"{name} in {vpc}" for vpc, name in vpcs.items())
        raise refusal(f"the subnets and security groups of a cluster must be in one VPC; found {found}")
    return {subnet["SubnetId"]: subnet for subnet in subnets}


def _check_trust(role: str, principal: str, iam: Any) -> None:
    if not trusts_service(role, principal, iam):
        raise refusal(
            f"Could not assume role {role}. Please ensure that the role exists and allows principal '{principal}'"
            " to assume the role."
        )


def _check_permissions(spec: Spec, actions: Iterable[str], resource: str, complaint: str, iam: Any) -> None:
    role = spec["ExecutionRole"]
    answer = iam.simulate_principal_policy(
        # The simulator of the embedded AWS finds a role by its name alone; the path of the ARN is no part of it.
        PolicySourceArn=f"{role.partition(':role/')[0]}:role/{role.rpartition('/')[2]}",
        ActionNames=list(actions),
        ResourceArns=[resource],
    )
    denied = [item["EvalActionName"] for item in answer["EvaluationResults"] if item["EvalDecision"] != "allowed"]
    if denied:
        raise refusal(
            f"{complaint}: the execution role {role} of instance group {spec['InstanceGroupName']} is not allowed"
            f" {', '.join(denied)} on {resource}"
        )


def _has_cluster_policy(role: str, iam: Any) -> bool:
    """Whether the role has the managed policy for `sagemaker-` buckets; the simulator does not know its text."""
    attached = iam.list_attached_role_policies(RoleName=role.rpartition("/")[2])["AttachedPolicies"]
    return any(policy["PolicyName"] == node_permissions.CLUSTER_POLICY for policy in attached)


def _has_object(s3: Any, bucket: str, key: str) -> bool:
    try:
        s3.head_object(Bucket=bucket, Key=key)
    except ClientError as error:
        if error.response["Error"]["Code"] in ("404", "NoSuchKey", "NoSuchBucket", "NotFound"):
            return False
        raise refusal(f"s3://{bucket}/{key} cannot be read: {error.response['Error']['Message'] or error}") from error
    return True
