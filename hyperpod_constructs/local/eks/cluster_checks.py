"""What EKS refuses about a cluster: versions, roles, subnets, security groups, keys, settings that exclude each other."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_constructs.facts import eks, kubernetes
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.eks.records import Cluster, invalid, refusal
from hyperpod_constructs.local.trust import trusts_service

Request = Mapping[str, Any]

UNSERVED = ("outpostConfig", "remoteNetworkConfig", "zonalShiftConfig")


@dataclass(frozen=True)
class Network:
    """Where a control plane has its interfaces: its VPC, and its subnets with their zones."""

    vpc: str
    zones: Mapping[str, str]


def check_create(request: Request, clients: Clients, caller: Caller) -> Network:
    """Refuse a CreateCluster request that the service refuses; returns the network of the subnets.

    :raises AwsError: with the cause of the refusal.
    """
    for member in UNSERVED:
        if member in request:
            raise invalid(f"{member}: the embedded AWS does not serve it; try it on AWS")
    check_version(request.get("version", eks.DEFAULT_VERSION))
    check_logging(request.get("logging", {}))
    check_auto_mode(request)
    _check_services(request.get("kubernetesNetworkConfig", {}))
    _check_role(request["roleArn"], clients, caller)
    check_encryption(request.get("encryptionConfig", ()), clients, caller)
    return check_network(request["resourcesVpcConfig"], clients, caller)


def check_version(version: str) -> None:
    """Refuse a version that EKS does not have.

    :raises AwsError: with those that it has.
    """
    if version not in eks.VERSIONS:
        raise invalid(f"unsupported Kubernetes version {version}; allowed are {', '.join(eks.VERSIONS)}")


def check_next_version(cluster: Cluster, wanted: str, now: float) -> str:
    """Refuse an update of the version that is not one step; returns the type of the update.

    :raises AwsError: with the step that is allowed.
    """
    check_version(wanted)
    step = eks.VERSIONS.index(wanted) - eks.VERSIONS.index(cluster.version)
    if step == 0:
        raise invalid(f"Cluster is already at the desired configuration with version: {wanted}")
    if step == -1 and cluster.raised is not None and cluster.raised[0] == wanted:
        if now - cluster.raised[1] > eks.DAYS_TO_GO_BACK * 86400:
            raise invalid(f"a cluster goes back to {wanted} within {eks.DAYS_TO_GO_BACK} days of its update only")
        return "VersionRollback"
    if not 0 < step <= kubernetes.MOST_MINOR_VERSIONS_UP:
        raise invalid(
            f"Unsupported Kubernetes minor version update from {cluster.version} to {wanted};"
            f" update to {eks.VERSIONS[min(eks.VERSIONS.index(cluster.version) + 1, len(eks.VERSIONS) - 1)]} first"
        )
    return "VersionUpdate"


def check_logging(logging: Request) -> None:
    """Refuse unknown types of logs, and one that is on and off.

    :raises AwsError: with the types.
    """
    seen: set[str] = set()
    for setup in logging.get("clusterLogging", ()):
        for kind in setup.get("types", ()):
            if kind not in eks.LOG_TYPES or kind in seen:
                found = "twice" if kind in seen else "which is none"
                raise invalid(
                    f"clusterLogging: found the type {kind!r}, {found}; allowed are {', '.join(eks.LOG_TYPES)}, each once"
                )
            seen.add(kind)


def check_encryption(config: Sequence[Request], clients: Clients, caller: Caller) -> None:
    """Refuse a key that does not exist or cannot encrypt, and resources other than secrets.

    :raises AwsError: with the cause of the refusal.
    """
    for item in config:
        if tuple(item.get("resources", ())) != eks.ENCRYPTED_RESOURCES:
            raise invalid(f"encryptionConfig: resources must be {list(eks.ENCRYPTED_RESOURCES)}; found {item.get('resources')}")
        key = item.get("provider", {}).get("keyArn", "")
        if ":key/" not in key:
            raise invalid(f"encryptionConfig: found the key {key!r}; write the ARN of a KMS key, not of an alias")
        try:
            found = clients("kms", caller).describe_key(KeyId=key)["KeyMetadata"]
        except ClientError as error:
            raise invalid(f"encryptionConfig: the key {key}: {error.response['Error']['Message']}") from error
        if found.get("KeySpec", "SYMMETRIC_DEFAULT") != "SYMMETRIC_DEFAULT" or not found.get("Enabled", True):
            raise invalid(f"encryptionConfig: the key {key} must be symmetric and enabled")


def check_network(config: Request, clients: Clients, caller: Caller) -> Network:
    """Refuse subnets and security groups that a control plane cannot be in.

    :raises AwsError: with the cause of the refusal.
    """
    if not config.get("endpointPublicAccess", True) and not config.get("endpointPrivateAccess", False):
        raise invalid("Private and public endpoint access cannot be false: set endpointPrivateAccess or endpointPublicAccess")
    _check_blocks(config.get("publicAccessCidrs", ()))
    wanted = list(config.get("subnetIds", ()))
    ec2 = clients("ec2", caller)
    try:
        subnets = ec2.describe_subnets(SubnetIds=wanted)["Subnets"] if wanted else []
    except ClientError as error:
        raise invalid(f"The subnet ID does not exist: {error.response['Error']['Message']}") from error
    zones = {subnet["SubnetId"]: subnet["AvailabilityZone"] for subnet in subnets}
    if len(set(zones.values())) < kubernetes.FEWEST_ZONES:
        found = ", ".join(f"{name} in {zone}" for name, zone in zones.items()) or "none"
        raise invalid(
            "Subnets specified must be in at least two different AZs"
            f" (Service: EKS): found {found}; name subnets of {kubernetes.FEWEST_ZONES} or more zones"
        )
    vpcs = sorted({subnet["VpcId"] for subnet in subnets})
    if len(vpcs) > 1:
        raise invalid(f"Subnets specified must be in the same VPC; found {', '.join(vpcs)}")
    _check_groups(list(config.get("securityGroupIds", ())), vpcs[0], ec2)
    return Network(vpcs[0], zones)


def _check_groups(groups: Sequence[str], vpc: str, ec2: Any) -> None:
    if len(groups) > eks.MOST_SECURITY_GROUPS:
        raise invalid(f"found {len(groups)} security groups; a cluster has at most {eks.MOST_SECURITY_GROUPS}")
    if not groups:
        return
    try:
        found = ec2.describe_security_groups(GroupIds=list(groups))["SecurityGroups"]
    except ClientError as error:
        raise invalid(f"The security group does not exist: {error.response['Error']['Message']}") from error
    for group in found:
        if group["VpcId"] != vpc:
            raise invalid(f"Security group(s) [{group['GroupId']}] are not in the same VPC as the subnets: {vpc}")


def _check_blocks(blocks: Iterable[str]) -> None:
    for block in blocks:
        try:
            ipaddress.ip_network(block)
        except ValueError as error:
            raise invalid(f"publicAccessCidrs: found {block!r}: {error}") from None


def _check_services(config: Request) -> None:
    block = config.get("serviceIpv4Cidr")
    if config.get("ipFamily", "ipv4") == "ipv6":
        raise invalid("ipFamily ipv6: the embedded AWS does not serve it; try it on AWS")
    if block is None:
        return
    try:
        network = ipaddress.IPv4Network(block)
    except ValueError as error:
        raise invalid(f"serviceIpv4Cidr: found {block!r}: {error}") from None
    if network.prefixlen not in eks.SERVICE_PREFIXES or not any(
        network.subnet_of(ipaddress.IPv4Network(outer)) for outer in eks.SERVICE_BLOCKS
    ):
        raise invalid(
            f"serviceIpv4Cidr: found {block}; allowed are blocks of /{eks.SERVICE_PREFIXES[0]} to /{eks.SERVICE_PREFIXES[-1]}"
            f" within {', '.join(eks.SERVICE_BLOCKS)}"
        )


def check_auto_mode(request: Request) -> None:
    """Refuse a part of Auto Mode without the others, and Auto Mode without access entries.

    :raises AwsError: with the parts that are on and off.
    """
    compute = request.get("computeConfig", {})
    parts = {
        "computeConfig": compute.get("enabled", False),
        "kubernetesNetworkConfig.elasticLoadBalancing": request.get("kubernetesNetworkConfig", {})
        .get("elasticLoadBalancing", {})
        .get("enabled", False),
        "storageConfig.blockStorage": request.get("storageConfig", {}).get("blockStorage", {}).get("enabled", False),
    }
    if len(set(parts.values())) > 1:
        found = ", ".join(f"{name} {'on' if value else 'off'}" for name, value in parts.items())
        raise invalid(
            "For EKS Auto Mode, please ensure that all required configs, including computeConfig, kubernetesNetworkConfig, and"
            f" blockStorage are all either fully enabled or fully disabled: found {found}"
        )
    if compute.get("enabled") and request.get("accessConfig", {}).get("authenticationMode", eks.DEFAULT_MODE) == "CONFIG_MAP":
        raise invalid("EKS Auto Mode needs the authentication mode API or API_AND_CONFIG_MAP")


def _check_role(role: str, clients: Clients, caller: Caller) -> None:
    if not trusts_service(role, eks.PRINCIPAL, clients("iam", caller)):
        raise invalid(
            f"Role with arn: {role}, could not be assumed because it does not exist or the trusted entity is not correct:"
            f" it must trust {eks.PRINCIPAL}"
        )


def check_mode(old: str, new: str) -> None:
    """Refuse a change of the authentication mode that goes back.

    :raises AwsError: with the way that is open.
    """
    following = eks.NEXT_MODE.get(old)
    if new not in (old, following):
        open_ = f"it goes to {following} only" if following else "it stays"
        raise invalid(f"Unsupported authentication mode update from {old} to {new}; {open_}")


def check_deletable(cluster: Cluster) -> None:
    """Refuse to delete a cluster that is protected, at work, or has node groups.

    :raises AwsError: with what must go first.
    """
    if cluster.protected:
        raise refusal(f"Cluster {cluster.name} has deletion protection enabled; disable it first")
    if cluster.node_groups:
        raise AwsError("ResourceInUseException", f"Cluster has nodegroups attached: {', '.join(cluster.node_groups)}", 409)
    if cluster.status not in ("ACTIVE", "FAILED"):
        raise AwsError("ResourceInUseException", f"Cannot delete cluster {cluster.name} because it is {cluster.status}", 409)
