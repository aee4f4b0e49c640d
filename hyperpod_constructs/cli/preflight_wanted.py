"""What a preflight compares, read from templates. A part that only a deployment knows is left out, and named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from hyperpod_constructs.analysis import clusters as analysis
from hyperpod_constructs.analysis.clusters import given
from hyperpod_constructs.analysis.file_systems import LUSTRE, Lustre, addresses_of
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.custom_resources.handlers.checks.wanted import FileSystem, Group, Wanted
from hyperpod_constructs.facts.addresses import least_node_addresses, least_node_interfaces
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, Text, Value, as_int, as_items, as_str, at, of_alternatives, shown

_BUCKET, _ROLE = "AWS::S3::Bucket", "AWS::IAM::Role"
_SCHEME = "s3://"


@dataclass
class Reading:
    """The known parts of a cluster.

    :ivar buckets: the names of the buckets of the lifecycle scripts.
    :ivar skipped: a sentence for each check that an unknown part prevents.
    """

    model: Model
    cluster: analysis.Cluster
    region: str
    groups: list[Group] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    buckets: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.cluster.knows_groups:
            self._skip("some instance groups", "they are known only at deployment")
        for group in self.cluster.groups:
            self._group(group)
        self._roles()
        self._buckets()

    def wanted(self, file_systems: Iterable[FileSystem] = ()) -> Wanted:
        """What the checks compare. More buckets than the first are the caller's to check."""
        return Wanted(
            region=self.region,
            cluster_logical_id=self.cluster.resource.logical_id,
            cluster_name=as_str(self.cluster.get("ClusterName")) or "",
            groups=tuple(self.groups),
            file_systems=tuple(file_systems),
            roles=tuple(self.roles),
            bucket=self.buckets[0] if self.buckets else "",
        )

    def _skip(self, what: str, why: str) -> None:
        sentence = f"{what} not checked: {why}"
        if sentence not in self.skipped:
            self.skipped.append(sentence)

    def _group(self, group: analysis.Group) -> None:
        name = f"group {group.label!r}"
        plan, spot = group.get("TrainingPlanArn"), given(group.get("CapacityRequirements", "Spot"))
        unknown = [
            ("InstanceCount", group.count is None),
            ("the instance types", group.type_names is None),
            ("TrainingPlanArn", given(plan) is not False and as_str(plan) is None),
            ("CapacityRequirements", spot is None),
        ]
        if missing := [what for what, is_unknown in unknown if is_unknown]:
            self._skip(name, f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} known only at deployment")
            return
        network = group.get("OverrideVpcConfig")
        network = self.cluster.get("VpcConfig") if given(network) is False else network
        subnets = _texts(at(network, "Subnets"))
        if subnets is None:
            why = f"the subnets are known only at deployment ({_seen(at(network, 'Subnets'))})"
            self._skip(f"free addresses and zones of {name}", why)
        sizes = [as_int(at(volume, "VolumeSizeInGB")) for _, volume in group.storage("EbsVolumeConfig")]
        interface = as_str(group.get("NetworkInterface", "InterfaceType"))
        kinds = group.types or ()
        self.groups.append(
            Group(
                name=group.label,
                count=max(0, group.count or 0),
                instance_types=group.type_names or (),
                addresses=least_node_addresses(kinds, bool(self.cluster.on_eks), interface),
                interfaces=least_node_interfaces(kinds),
                volume_gb=max((size for size in sizes if size is not None), default=0),
                training_plan=as_str(plan) or "",
                spot=bool(spot),
                subnets=subnets or (),
                in_vpc=given(network) is True,
            )
        )

    def _roles(self) -> None:
        for group in self.cluster.groups:
            value = group.get("ExecutionRole")
            arn = as_str(value)
            if value is ABSENT:
                continue
            if arn is None:
                self._skip("the nodes' role", f"it is known only at deployment ({_seen(value)})")
            elif self._made_here(arn.rpartition("/")[2], _ROLE, "RoleName"):
                self._skip(f"role {arn}", "a template here makes it")
            elif arn not in self.roles:
                self.roles.append(arn)

    def _buckets(self) -> None:
        for group in self.cluster.groups:
            address = group.get("LifeCycleConfig", "SourceS3Uri")
            name = _bucket(address)
            if address is ABSENT:
                continue
            if name is None:
                self._skip("the bucket of the lifecycle scripts", f"it is known only at deployment ({_seen(address)})")
            elif self._made_here(name, _BUCKET, "BucketName"):
                self._skip(f"bucket {name}", "a template here makes it")
            elif name and name not in self.buckets:
                self.buckets.append(name)

    def _made_here(self, name: str, kind: str, key: str) -> bool:
        """Whether a template makes a resource of this name, or may do so for all that is known."""
        values = [resource.get(key) for resource in self.model.resources(kind)]
        return any(_may_be(value, name) for value in values if value is not ABSENT)


def file_systems(model: Model) -> Iterator[tuple[Resource, FileSystem]]:
    """The file systems that templates are sure to have, with their needs."""
    for resource in model.resources(FILE_SYSTEM):
        if resource.exists is not True:
            continue
        subnets = as_items(resource.get("SubnetIds")) or ()
        deployment = Lustre(resource).deployment if as_str(resource.get("FileSystemType")) == LUSTRE else None
        yield (
            resource,
            FileSystem(
                logical_id=resource.logical_id,
                addresses=addresses_of(resource),
                subnet=(as_str(subnets[0]) or "") if subnets else "",
                capacity_gib=as_int(resource.get("StorageCapacity")) or 0,
                quota=f"Lustre {deployment.capitalize()}" if deployment and deployment.startswith("PERSISTENT_") else "",
            ),
        )


def _texts(value: Value) -> tuple[str, ...] | None:
    """The texts of a list; `None` if the list or an item is not known."""
    items = of_alternatives(value, as_items)
    texts = [as_str(item) for item in items or ()]
    known = tuple(text for text in texts if text is not None)
    return known if items is not None and len(known) == len(texts) else None


def _bucket(address: Value) -> str | None:
    """The bucket of an address `s3://bucket/...`, if its characters are known."""
    text, whole = (address.prefix, False) if isinstance(address, Text) else (as_str(address), True)
    if text is None or not text.startswith(_SCHEME):
        return None
    name, slash, _ = text.removeprefix(_SCHEME).partition("/")
    return name if name and (slash or whole) else None


def _may_be(value: Value, name: str) -> bool:
    known = as_str(value)
    if known is not None:
        return known == name
    return value.matches(name) is not False if isinstance(value, Text) else True


def _seen(value: Value) -> str:
    """A value in a sentence."""
    found = shown(value)
    text = ", ".join(map(str, found)) if isinstance(found, list) else str(found)
    return text if len(text) <= 100 else f"{text[:97]}..."
