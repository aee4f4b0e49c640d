"""What the resources of a CloudFormation template cost by the hour, as far as public prices tell.

Reads templates, not constructs, and needs neither aws_cdk nor boto3. The prices are those of
:mod:`hyperpod_constructs.prices`; what has no known price is in the estimate with ``None`` and not in its sum.
Traffic, requests and taxes are never in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs import prices

# Resources that cost nothing while they merely exist. Every other type without a rule below counts as unknown.
_FREE_PREFIXES = ("AWS::IAM::", "AWS::CDK::", "AWS::CloudFormation::", "Custom::")
_FREE_TYPES = frozenset(
    {
        "AWS::EC2::EgressOnlyInternetGateway",
        "AWS::EC2::FlowLog",
        "AWS::EC2::InternetGateway",
        "AWS::EC2::NetworkAcl",
        "AWS::EC2::NetworkAclEntry",
        "AWS::EC2::Route",
        "AWS::EC2::RouteTable",
        "AWS::EC2::SecurityGroup",
        "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::SecurityGroupIngress",
        "AWS::EC2::Subnet",
        "AWS::EC2::SubnetNetworkAclAssociation",
        "AWS::EC2::SubnetRouteTableAssociation",
        "AWS::EC2::VPC",
        "AWS::EC2::VPCCidrBlock",
        "AWS::EC2::VPCGatewayAttachment",
        "AWS::Events::Rule",
        "AWS::FSx::DataRepositoryAssociation",
        "AWS::KMS::Alias",
        "AWS::Lambda::EventInvokeConfig",
        "AWS::Lambda::Function",
        "AWS::Lambda::LayerVersion",
        "AWS::Lambda::Permission",
        "AWS::S3::BucketPolicy",
        "AWS::SNS::Subscription",
        "AWS::SNS::Topic",
        "AWS::SNS::TopicPolicy",
        "AWS::SQS::Queue",
        "AWS::SQS::QueuePolicy",
        "AWS::SSM::Document",
        "AWS::SSM::Parameter",
        "AWS::StepFunctions::StateMachine",
    }
)

Properties = Mapping[str, Any]
Item = tuple[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """One thing that is paid for: ``usd_per_hour`` is ``None`` when its price is not known."""

    logical_id: str
    resource_type: str
    what: str
    usd_per_hour: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """The rows of one template in its order; resources that cost nothing while they exist have none."""

    rows: tuple[CostRow, ...]
    label: str = prices.LABEL

    @property
    def usd_per_hour(self) -> float:
        """The sum of all known prices."""
        return sum(row.usd_per_hour for row in self.rows if row.usd_per_hour is not None)

    @property
    def unpriced(self) -> tuple[str, ...]:
        """What is not in the sum, because its price is not known."""
        return tuple(row.what for row in self.rows if row.usd_per_hour is None)

    @property
    def unknown_count(self) -> int:
        """How many rows have no known price."""
        return len(self.unpriced)


def hourly_cost(template: Mapping[str, Any]) -> CostEstimate:
    """Estimates a synthesized template. Resources with a condition count as if they were created."""
    rows = [
        CostRow(logical_id=logical_id, resource_type=resource["Type"], what=what, usd_per_hour=price)
        for logical_id, resource in template.get("Resources", {}).items()
        for what, price in _items(resource["Type"], resource.get("Properties", {}))
    ]
    return CostEstimate(rows=tuple(rows))


def _items(resource_type: str, properties: Properties) -> Iterator[Item]:
    rule = _RULES.get(resource_type)
    if rule is not None:
        yield from rule(properties)
    elif resource_type not in _FREE_TYPES and not resource_type.startswith(_FREE_PREFIXES):
        yield resource_type, None


def _cluster(properties: Properties) -> Iterator[Item]:
    for key in ("InstanceGroups", "RestrictedInstanceGroups"):
        groups = properties.get(key, [])
        if not isinstance(groups, list):
            yield f"{key} of a cluster that the template does not spell out", None
            continue
        for group in groups:
            yield from _instance_group(group)


def _instance_group(group: Properties) -> Iterator[Item]:
    count = group.get("InstanceCount")
    nodes = f"{count if isinstance(count, int) else 'an unknown number of'} x"
    types = group.get("InstanceRequirements", {}).get("InstanceTypes", [group.get("InstanceType")])
    names = " or ".join(name if isinstance(name, str) else "an unknown type" for name in types)
    yield f"{nodes} {names}", _nodes_price(group, count, types)
    for storage in group.get("InstanceStorageConfigs", []):
        volume = storage.get("EbsVolumeConfig")
        if volume is not None:
            yield f"{nodes} EBS volume of {volume.get('VolumeSizeInGB', 'unknown size in')} GB", None


def _nodes_price(group: Properties, count: Any, types: list[Any]) -> float | None:
    """``None`` too for several types, spot capacity and training plans, which are paid for otherwise."""
    if "TrainingPlanArn" in group or "Spot" in group.get("CapacityRequirements", {}) or len(types) != 1:
        return None
    price = prices.INSTANCE_HOUR.get(types[0]) if isinstance(types[0], str) else None
    return price * count if price is not None and isinstance(count, int) else None


def _file_system(properties: Properties) -> Iterator[Item]:
    kind, capacity = properties.get("FileSystemType"), properties.get("StorageCapacity")
    lustre = properties.get("LustreConfiguration", {})
    throughput = lustre.get("PerUnitStorageThroughput")
    size = capacity if isinstance(capacity, int) else "unknown"
    detail = f", {throughput} MB/s per TiB" if isinstance(throughput, int) else ""
    yield f"{kind} file system of {size} GiB{detail}", _lustre_price(properties, lustre, capacity, throughput)
    if lustre.get("MetadataConfiguration", {}).get("Mode") == "USER_PROVISIONED":
        yield f"metadata IOPS of the {kind} file system", None


def _lustre_price(properties: Properties, lustre: Properties, capacity: Any, throughput: Any) -> float | None:
    is_ssd = properties.get("StorageType", "SSD") == "SSD"
    if lustre.get("DeploymentType") != "PERSISTENT_2" or not is_ssd:
        return None
    if not isinstance(capacity, int) or not isinstance(throughput, int):
        return None
    month = prices.LUSTRE_PERSISTENT_2_GB_MONTH.get(throughput)
    return None if month is None else month * capacity / prices.HOURS_PER_MONTH


def _endpoint(properties: Properties) -> Iterator[Item]:
    kind = properties.get("VpcEndpointType", "Gateway")
    yield f"{kind} endpoint", prices.GATEWAY_ENDPOINT_HOUR if kind == "Gateway" else None


def _fixed(what: str, price: float | None) -> Callable[[Properties], Iterator[Item]]:
    return lambda _: iter([(what, price)])


_RULES: dict[str, Callable[[Properties], Iterator[Item]]] = {
    "AWS::SageMaker::Cluster": _cluster,
    "AWS::FSx::FileSystem": _file_system,
    "AWS::EC2::VPCEndpoint": _endpoint,
    "AWS::EC2::NatGateway": _fixed("NAT gateway", prices.NAT_GATEWAY_HOUR),
    "AWS::EC2::EIP": _fixed("public IPv4 address", prices.PUBLIC_IPV4_HOUR),
    "AWS::S3::Bucket": _fixed("objects in S3", None),
    "AWS::Logs::LogGroup": _fixed("logs in CloudWatch", None),
    "AWS::KMS::Key": _fixed("KMS key", None),
    "AWS::SecretsManager::Secret": _fixed("secret", None),
}
