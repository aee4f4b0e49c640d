"""The hourly cost of the resources in a CloudFormation template, from public prices or a user's own.

A part without a known price has a row with `None` and does not count in the sum. Traffic, requests and taxes never count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.analysis.addons import addons
from hyperpod_constructs.cost.figures import figures_items
from hyperpod_constructs.cost.prices import HOURS_PER_MONTH, Prices
from hyperpod_constructs.cost.samples import samples_item
from hyperpod_constructs.facts import eks, openzfs
from hyperpod_constructs.facts.addons import OBSERVABILITY
from hyperpod_constructs.facts.prices import GATEWAY_ENDPOINT_HOUR, is_free
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_int, as_items, as_str, at

Item = tuple[str, float | None]
Rule = Callable[[Resource, Prices], Iterator[Item]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """One part of the bill; `usd_per_hour` is `None` if its price is unknown."""

    logical_id: str
    resource_type: str
    what: str
    usd_per_hour: float | None
    template: str = ""
    construct: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """The rows in the order of the templates. Resources that are free while they exist have no row."""

    rows: tuple[CostRow, ...]
    label: str = Prices().label

    @property
    def usd_per_hour(self) -> float:
        """The sum of all known prices."""
        return sum(row.usd_per_hour for row in self.rows if row.usd_per_hour is not None)

    @property
    def usd_per_month(self) -> float:
        """The sum of all known prices, for a month of 730 hours."""
        return self.usd_per_hour * HOURS_PER_MONTH

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The parts without a known price, which the sum leaves out."""
        return tuple(row.what for row in self.rows if row.usd_per_hour is None)


def hourly_cost(template: Mapping[str, Any], prices: Prices | None = None) -> CostEstimate:
    """Estimate one template. A resource under an unknown condition counts as created."""
    return model_cost(Model.of({"": {"Resources": {}, **template}}), prices)


def model_cost(model: Model, prices: Prices | None = None) -> CostEstimate:
    """Estimate all templates of a model, with the defaults of their parameters."""
    used = Prices() if prices is None else prices
    return CostEstimate(rows=tuple(resource_cost(model.resources(), used)), label=used.label)


def resource_cost(resources: Iterable[Resource], prices: Prices) -> Iterator[CostRow]:
    """The rows of these resources. A resource that is free while it exists has no row."""
    for resource in resources:
        for what, price in _items(resource, prices):
            yield CostRow(
                logical_id=resource.logical_id,
                resource_type=resource.type,
                what=what,
                usd_per_hour=price,
                template=resource.template.name,
                construct=resource.construct_path,
            )


def _items(resource: Resource, prices: Prices) -> Iterator[Item]:
    rule = _RULES.get(resource.type)
    if rule is not None:
        yield from rule(resource, prices)
    elif not is_free(resource.type):
        yield resource.type, None


def _cluster(resource: Resource, prices: Prices) -> Iterator[Item]:
    for key in ("InstanceGroups", "RestrictedInstanceGroups"):
        groups = as_items(resource.get(key))
        if groups is None:
            yield f"{key} of a cluster, unknown in this template", None
            continue
        for group in groups:
            yield from _instance_group(group, prices)


def _instance_group(group: Value, prices: Prices) -> Iterator[Item]:
    count = _not_negative(as_int(at(group, "InstanceCount")))
    name = as_str(at(group, "InstanceGroupName"))
    nodes = f"{'' if name is None else f'{name}: '}{'an unknown number of' if count is None else count} x"
    types = _types(group)
    names = " or ".join("an unknown type" if name is None else name for name in types)
    plan = "" if at(group, "TrainingPlanArn") is ABSENT else " of a training plan, paid up front"
    yield f"{nodes} {names}{plan}", _nodes_price(group, count, types, prices)
    for storage in as_items(at(group, "InstanceStorageConfigs")) or ():
        volume = at(storage, "EbsVolumeConfig")
        if volume is ABSENT or as_bool(at(volume, "RootVolume")) is True:
            continue
        size = as_int(at(volume, "VolumeSizeInGB"))
        price = _product(count, size, prices.ebs_gb_month, 1 / HOURS_PER_MONTH)
        yield f"{nodes} EBS volume of {_gigabytes(size)}", price


def _not_negative(count: int | None) -> int | None:
    """The count; `None` for a negative count, so that it never lowers the total."""
    return None if count is None or count < 0 else count


def _types(group: Value) -> list[str | None]:
    listed = as_items(at(group, "InstanceRequirements", "InstanceTypes"))
    return [as_str(name) for name in listed or (at(group, "InstanceType"),)]


def _nodes_price(group: Value, count: int | None, types: list[str | None], prices: Prices) -> float | None:
    """The price of a group's nodes; unknown for several types and for spot capacity, which has other prices."""
    if at(group, "CapacityRequirements", "Spot") is not ABSENT or len(types) != 1 or types[0] is None:
        return None
    in_plan = at(group, "TrainingPlanArn") is not ABSENT
    return _product(count, (prices.training_plan_hour if in_plan else prices.instance_hour).get(types[0]))


def _product(*factors: float | None) -> float | None:
    """The product of the factors; `None` if a factor is unknown."""

    result = 1.0
    for factor in factors:
        if factor is None:
            return None
        result *= factor
    return result


def _file_system(resource: Resource, prices: Prices) -> Iterator[Item]:
    kind = as_str(resource.get("FileSystemType")) or "FSx"
    if kind == "OPENZFS":
        yield from _openzfs(resource, prices)
        return
    if kind == "LUSTRE" and resource.get("StorageType") == "INTELLIGENT_TIERING":
        yield from _tiering(resource, prices)
    else:
        yield from _provisioned(resource, kind, prices)
    metadata = resource.get("LustreConfiguration", "MetadataConfiguration")
    if at(metadata, "Mode") == "USER_PROVISIONED":
        price = _product(as_int(at(metadata, "Iops")), prices.metadata_iops_month, 1 / HOURS_PER_MONTH)
        yield f"metadata IOPS of the {kind} file system", price
    if (as_int(resource.get("LustreConfiguration", "AutomaticBackupRetentionDays")) or 0) > 0:
        yield f"backups of the {kind} file system, by their size", None


def _openzfs(resource: Resource, prices: Prices) -> Iterator[Item]:
    """Capacity, throughput, and the IOPS beyond those that come with the capacity; backups, which the service makes by default."""
    deployment = as_str(resource.get("OpenZFSConfiguration", "DeploymentType")) or ""
    capacity = as_int(resource.get("StorageCapacity"))
    throughput = as_int(resource.get("OpenZFSConfiguration", "ThroughputCapacity"))
    on_ssd = resource.get("StorageType") in (ABSENT, "SSD")
    size = "unknown size" if capacity is None else f"{capacity} GiB"
    price = prices.openzfs_gb_month.get(deployment) if on_ssd else None
    yield f"OPENZFS file system of {size}", _product(capacity, price, 1 / HOURS_PER_MONTH)
    shown = "an unknown number of" if throughput is None else throughput
    price = prices.openzfs_mbps_month.get(deployment)
    yield f"{shown} MB/s of the OPENZFS file system", _product(throughput, price, 1 / HOURS_PER_MONTH)
    disks = resource.get("OpenZFSConfiguration", "DiskIopsConfiguration")
    if at(disks, "Mode") == "USER_PROVISIONED":
        iops = as_int(at(disks, "Iops"))
        extra = None if iops is None or capacity is None else max(0, iops - openzfs.IOPS_PER_GIB * capacity)
        yield "disk IOPS of the OPENZFS file system", _product(extra, prices.disk_iops_month, 1 / HOURS_PER_MONTH)
    days = resource.get("OpenZFSConfiguration", "AutomaticBackupRetentionDays")
    if days is ABSENT or (as_int(days) or 0) > 0:
        yield "backups of the OPENZFS file system, by their size", None


def _tiering(resource: Resource, prices: Prices) -> Iterator[Item]:
    """Intelligent-Tiering: files and requests are billed by use, throughput and cache as provisioned."""
    throughput = as_int(resource.get("LustreConfiguration", "ThroughputCapacity"))
    shown = "an unknown number of" if throughput is None else throughput
    yield "files of the LUSTRE file system in Intelligent-Tiering, by their size and use", None
    yield f"{shown} MB/s of the LUSTRE file system", _product(throughput, prices.lustre_tiering_mbps_month, 1 / HOURS_PER_MONTH)
    cache = resource.get("LustreConfiguration", "DataReadCacheConfiguration")
    if at(cache, "SizingMode") != "NO_CACHE":
        size = as_int(at(cache, "SizeGiB"))
        price = _product(size, prices.lustre_read_cache_gb_month, 1 / HOURS_PER_MONTH)
        yield f"read cache of {'a size by throughput' if size is None else f'{size} GiB'}", price


def _provisioned(resource: Resource, kind: str, prices: Prices) -> Iterator[Item]:
    capacity = as_int(resource.get("StorageCapacity"))
    throughput = as_int(resource.get("LustreConfiguration", "PerUnitStorageThroughput"))
    detail = "" if throughput is None else f", {throughput} MB/s per TiB"
    size = "unknown size" if capacity is None else f"{capacity} GiB"
    yield f"{kind} file system of {size}{detail}", _lustre_price(resource, capacity, throughput, prices)


def _lustre_price(resource: Resource, capacity: int | None, throughput: int | None, prices: Prices) -> float | None:
    is_ssd = resource.get("StorageType") in (ABSENT, "SSD")
    if resource.get("LustreConfiguration", "DeploymentType") != "PERSISTENT_2" or not is_ssd:
        return None
    return _product(capacity, prices.lustre_persistent_2_gb_month.get(str(throughput)), 1 / HOURS_PER_MONTH)


def _endpoint(resource: Resource, prices: Prices) -> Iterator[Item]:
    kind = as_str(resource.get("VpcEndpointType")) if resource.get("VpcEndpointType") is not ABSENT else "Gateway"
    subnets = as_items(resource.get("SubnetIds"))
    if kind == "Gateway":
        yield "Gateway endpoint", GATEWAY_ENDPOINT_HOUR
    elif kind == "Interface" and subnets:
        zones = f"in {len(subnets)} zone{'s' if len(subnets) > 1 else ''}"
        yield f"Interface endpoint {zones}", _product(len(subnets), prices.interface_endpoint_hour)
    else:
        yield f"{kind or 'unknown'} endpoint", None


def _control_plane(resource: Resource, prices: Prices) -> Iterator[Item]:
    path = ("Version",) if resource.type == "AWS::EKS::Cluster" else ("Config", "version")
    version = as_str(resource.get(*path)) or ""
    period = eks.support_on(prices.day, version) or eks.SupportPeriod.STANDARD
    kept = period is not eks.SupportPeriod.STANDARD and resource.get("UpgradePolicy", "SupportType") != "STANDARD"
    since = f" of Kubernetes {version} (since {eks.SUPPORT[version].standard})" if kept else ""
    name = eks.SupportPeriod.EXTENDED if kept else eks.SupportPeriod.STANDARD
    yield f"EKS control plane in {name}{since}", prices.eks_extended_hour if kept else prices.eks_cluster_hour
    tier = as_str(resource.get("ControlPlaneScalingConfig", "Tier"))
    if tier not in (None, "standard"):
        yield f"{tier} of the EKS control plane", None
    if as_bool(resource.get("ComputeConfig", "Enabled")):
        yield "nodes of EKS Auto Mode, by their use", None


def _node_group(resource: Resource, prices: Prices) -> Iterator[Item]:
    """EC2 nodes that EKS manages: the desired number, which a scaler may change."""
    scaling = resource.get("ScalingConfig")
    given = next((value for name in ("DesiredSize", "MinSize") if (value := at(scaling, name)) is not ABSENT), eks.NODE_GROUP_SIZE)
    count = _not_negative(as_int(given))
    templated = resource.get("LaunchTemplate") is not ABSENT
    listed = as_items(resource.get("InstanceTypes"))
    types = [as_str(name) for name in listed or ((None,) if templated or listed is None else (eks.NODE_GROUP_TYPE,))]
    nodes = f"node group: {'an unknown number of' if count is None else count} x"
    known = types[0] if len(types) == 1 and resource.get("CapacityType") in (ABSENT, "ON_DEMAND") else None
    names = " or ".join("an unknown type" if name is None else name for name in types)
    yield f"{nodes} {names}", None if known is None else _product(count, prices.instance_hour.get(f"ml.{known}"))
    size = None if templated else _disk(resource)
    yield f"{nodes} EBS volume of {_gigabytes(size)}", _product(count, size, prices.ebs_gb_month, 1 / HOURS_PER_MONTH)


def _disk(resource: Resource) -> int | None:
    return eks.NODE_GROUP_DISK_GB if resource.get("DiskSize") is ABSENT else as_int(resource.get("DiskSize"))


def _gigabytes(size: int | None) -> str:
    return "unknown size" if size is None else f"{size} GB"


def _database(resource: Resource, prices: Prices) -> Iterator[Item]:
    """Class and storage, twice with a standby; a secret that RDS makes, and backups. Storage of Aurora is its cluster's."""
    kind, storage = as_str(resource.get("DBInstanceClass")), as_str(resource.get("StorageType"))
    standby = as_bool(resource.get("MultiAZ")) is True
    zones, both = (2, " in two zones") if standby else (1, "")
    price = None if kind is None else prices.database_class_hour.get(kind)
    yield f"database {kind or 'of an unknown class'}{both}", _product(zones, price)
    if resource.get("DBClusterIdentifier") is not ABSENT:
        return
    size = as_int(resource.get("AllocatedStorage"))
    price = None if storage is None else prices.database_gb_month.get(storage)
    yield f"{_gigabytes(size)} of storage of the database{both}", _product(zones, size, price, 1 / HOURS_PER_MONTH)
    if as_bool(resource.get("ManageMasterUserPassword")) is True:
        yield "secret of the database", _product(prices.secret_month, 1 / HOURS_PER_MONTH)
    days = resource.get("BackupRetentionPeriod")
    if days is ABSENT or (as_int(days) or 0) > 0:
        yield "backups of the database beyond its size", None


def _addon(resource: Resource, prices: Prices) -> Iterator[Item]:
    name = as_str(resource.get("AddonName")) or ""
    metered = eks.METERED_ADDONS.get(name)
    if name == OBSERVABILITY:
        yield from (samples_item(addon, prices) for addon in addons(resource.template.model) if addon.resource is resource)
    elif metered is not None:
        yield metered, None


def _fixed(what: str, price: Callable[[Prices], float | None]) -> Rule:
    return lambda resource, prices: iter([(what, price(prices))])


def _monthly(what: str, price: Callable[[Prices], float | None]) -> Rule:
    return _fixed(what, lambda prices: _product(price(prices), 1 / HOURS_PER_MONTH))


def _unknown(what: str) -> Rule:
    return _fixed(what, lambda prices: None)


_RULES: dict[str, Rule] = {
    "AWS::SageMaker::Cluster": _cluster,
    "AWS::FSx::FileSystem": _file_system,
    "AWS::EC2::VPCEndpoint": _endpoint,
    "AWS::EC2::NatGateway": _fixed("NAT gateway", lambda prices: prices.nat_gateway_hour),
    "AWS::EC2::EIP": _fixed("public IPv4 address", lambda prices: prices.public_ipv4_hour),
    "AWS::APS::Workspace": _unknown("storage and queries of metrics in Prometheus, by their amount"),
    "AWS::EKS::Addon": _addon,
    "AWS::EKS::Cluster": _control_plane,
    "AWS::EKS::Nodegroup": _node_group,
    "AWS::Grafana::Workspace": _unknown("users of Grafana, by the month"),
    "Custom::AWSCDK-EKS-Cluster": _control_plane,
    "Custom::HyperPodScriptsUpload": figures_items,
    "AWS::CloudWatch::Alarm": _monthly("alarm", lambda prices: prices.alarm_month),
    "AWS::CloudWatch::CompositeAlarm": _monthly("composite alarm", lambda prices: prices.composite_alarm_month),
    "AWS::CloudWatch::Dashboard": _monthly("dashboard", lambda prices: prices.dashboard_month),
    "AWS::Logs::MetricFilter": _monthly("metric of a log filter, at most", lambda prices: prices.metric_month),
    "AWS::KMS::Key": _monthly("KMS key", lambda prices: prices.kms_key_month),
    "AWS::RDS::DBInstance": _database,
    "AWS::SecretsManager::Secret": _monthly("secret", lambda prices: prices.secret_month),
    "AWS::S3::Bucket": _unknown("objects in S3"),
    "AWS::Logs::LogGroup": _unknown("logs in CloudWatch"),
}
