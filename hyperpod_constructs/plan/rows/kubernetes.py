"""Updates of Kubernetes: clusters, node groups, add-ons, access, identities, governance, and what the CDK applies to them."""

from __future__ import annotations

import json

from hyperpod_constructs.analysis.networks import SUBNET, Zone, network_facts
from hyperpod_constructs.facts import eks
from hyperpod_constructs.facts.addon_versions import is_lower, skips_a_step
from hyperpod_constructs.facts.addons import TRAINING_OPERATOR
from hyperpod_constructs.facts.kubernetes import MOST_MINOR_VERSIONS_UP
from hyperpod_constructs.plan.change import Change
from hyperpod_constructs.plan.row import Row, in_place, refused, replaced, rolling
from hyperpod_constructs.plan.rows.others import SERVICE_TIMEOUT, SERVICE_TOKEN
from hyperpod_constructs.templates.model import resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_items, as_str, at, shown


def _minor(value: Value) -> int | None:
    """The minor version of a Kubernetes version."""
    parts = (as_str(value) or "").split(".")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() else None


def _versions_apart(change: Change) -> int | None:
    """The number of minor versions that a change goes up; negative for down."""
    old, new = _minor(change.old), _minor(change.new)
    return None if old is None or new is None else new - old


def _modes(change: Change) -> tuple[str | None, str | None]:
    """The authentication modes before and after; a cluster without one has the default."""
    return eks.DEFAULT_MODE if change.old is ABSENT else as_str(change.old), as_str(change.new)


def _mode_is_no_next(change: Change) -> bool:
    old, new = _modes(change)
    return old is not None and new is not None and new not in (old, eks.NEXT_MODE.get(old))


def _why_no_next(change: Change) -> str:
    old, _ = _modes(change)
    following = eks.NEXT_MODE.get(old or "")
    return f"EKS changes the mode {old} to {following} only" if following else f"a cluster with the mode {old} keeps it"


def _places(value: Value) -> tuple[list[Zone], list[Value]] | None:
    """Zones and VPCs of subnets; `None` if one is not in the templates."""
    found = [resource_of(item, SUBNET) for item in as_items(value) or ()]
    subnets = [one for one in found if one is not None]
    if not subnets or len(subnets) < len(found):
        return None
    facts = [network_facts(one.template.model).subnet(one) for one in subnets]
    return [_of_the_stack(one.zone) for one in facts], [one.resource.get("VpcId") for one in facts]


def _of_the_stack(zone: Zone) -> Zone:
    """A zone without the template that picks it: before and after an update, a stack picks from the zones of one region."""
    return zone if zone.picked is None else zone._replace(picked=zone.picked[1:])


def _leaves_its_zones(change: Change) -> bool:
    """Whether the new subnets surely lack a zone of the old ones, or have another."""
    old, new = _places(change.old), _places(change.new)
    if old is None or new is None:
        return False
    return any(_lacks(zone, others) for one, others in ((old[0], new[0]), (new[0], old[0])) for zone in one)


def _lacks(zone: Zone, others: list[Zone]) -> bool:
    return all(zone.is_same(other) is False for other in others)


_AUTO_MODE = {
    "ComputeConfig": ("ComputeConfig", "Enabled"),
    "KubernetesNetworkConfig/ElasticLoadBalancing": ("KubernetesNetworkConfig", "ElasticLoadBalancing", "Enabled"),
    "StorageConfig": ("StorageConfig", "BlockStorage", "Enabled"),
}
"""The parts of Auto Mode: the property, and the place of its switch."""


def _auto_mode_is_partial(change: Change) -> bool:
    """Whether the parts of Auto Mode surely differ after an update."""
    values = [at(change.after.get(first, ABSENT), *rest) for first, *rest in _AUTO_MODE.values()]
    found = {False if value is ABSENT else as_bool(value) for value in values}
    return found == {True, False}


_NEW_CLUSTER = "is fixed at creation: a new cluster replaces this one, and every object in it is gone"
_CLUSTER_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"

CLUSTER: tuple[Row, ...] = (
    refused(
        "ResourcesVpcConfig/SubnetIds",
        "EKS takes only subnets in the same zones as those of the creation, at least one in each, and in the same VPC",
        when=_leaves_its_zones,
        avoid="name subnets in the same zones; another zone needs another cluster",
        source=f"{_CLUSTER_GUIDE}network-reqs.html",
    ),
    in_place(
        "ResourcesVpcConfig/SubnetIds",
        "the control plane moves its interfaces; EKS refuses subnets in other zones or another VPC",
        source=f"{_CLUSTER_GUIDE}network-reqs.html",
    ),
    in_place("ResourcesVpcConfig/SecurityGroupIds", "the interfaces of the control plane get the groups"),
    in_place("ResourcesVpcConfig/EndpointPrivateAccess", "who is in the VPC reaches the API there, or no longer"),
    in_place("ResourcesVpcConfig/EndpointPublicAccess", "who is on the internet reaches the API, or no longer"),
    in_place("ResourcesVpcConfig/PublicAccessCidrs", "who is in these blocks reaches the API; others no longer do"),
    replaced(
        "EncryptionConfig",
        _NEW_CLUSTER,
        avoid="give a cluster its key when you create it: CloudFormation does not add one later",
        source=f"{_CLUSTER_GUIDE}enable-kms.html",
    ),
    *(
        replaced(name, _NEW_CLUSTER, avoid="keep it, or move the workloads to another cluster first")
        for name in ("BootstrapSelfManagedAddons", "Name", "RoleArn")
    ),
    *(
        replaced(f"KubernetesNetworkConfig/{name}", _NEW_CLUSTER, avoid="choose the network of services once")
        for name in ("IpFamily", "ServiceIpv4Cidr")
    ),
    replaced(
        "AccessConfig/BootstrapClusterCreatorAdminPermissions",
        _NEW_CLUSTER,
        avoid="write an AWS::EKS::AccessEntry with AmazonEKSClusterAdminPolicy instead",
    ),
    in_place("Logging", "what is written from then on goes to CloudWatch, or no longer does; old logs stay"),
    in_place(
        "UpgradePolicy",
        "when standard support ends, EKS raises the version by itself (STANDARD), or the hour costs more (EXTENDED)",
        source=f"{_CLUSTER_GUIDE}kubernetes-versions.html",
    ),
    *(
        refused(
            name,
            "EKS switches the parts of Auto Mode together only: compute, load balancing and block storage",
            when=_auto_mode_is_partial,
            avoid="write the same Enabled for all three",
            source=f"{_CLUSTER_GUIDE}auto-enable-existing.html",
        )
        for name in _AUTO_MODE
    ),
    in_place("ComputeConfig", "Auto Mode adds nodes of its own, or drains them and takes them away; HyperPod's nodes stay"),
    in_place("KubernetesNetworkConfig/ElasticLoadBalancing", "Auto Mode makes load balancers for services, or no longer does"),
    in_place("StorageConfig", "Auto Mode makes volumes for claims, or no longer does"),
    in_place("ControlPlaneScalingConfig", "the control plane gets another size, at another price by the hour; the API stays up"),
    in_place("RemoteNetworkConfig", "nodes and pods in these networks outside AWS reach the control plane, or no longer"),
    in_place("ZonalShiftConfig", "AWS may move the traffic out of a zone with faults, or no longer"),
    *(in_place(name, "counts for the next update of the version only") for name in ("Force", "RollbackConfig")),
    in_place("DeletionProtection", "a deletion fails, or succeeds, from then on"),
    refused(
        "AccessConfig/AuthenticationMode",
        _why_no_next,
        when=_mode_is_no_next,
        avoid=f"go forward, one step in each deployment: {', '.join((eks.DEFAULT_MODE, *eks.NEXT_MODE.values()))}",
        source="https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html",
    ),
    in_place("AccessConfig/AuthenticationMode", "access entries count from then on; there is no way back to an earlier mode"),
    refused(
        "Version",
        "EKS changes the version of a cluster by one minor version at a time",
        when=lambda change: abs(_versions_apart(change) or 0) > MOST_MINOR_VERSIONS_UP,
        avoid="deploy each version in between, one after the other",
        source="https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html",
    ),
    refused(
        "Version",
        "EKS refuses an earlier version, except the previous one within 7 days of the upgrade",
        when=lambda change: _versions_apart(change) == -1,
        avoid="keep the version; within the 7 days the update rolls the control plane back",
        source="https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html",
    ),
    in_place("Version", "the control plane is updated in place; nodes and add-ons are updated separately"),
)

_NEW_NODES = "is fixed at creation: a new node group replaces this one, and its pods move there when the old one is drained"
_IN_BATCHES = "EKS replaces the nodes in batches: their pods are evicted, and start on others"

NODE_GROUP: tuple[Row, ...] = (
    refused(
        "Version",
        "EKS takes no node group to an earlier version",
        when=lambda change: (_versions_apart(change) or 0) < 0,
        avoid="add a node group of the earlier version, and take this one away in the next deployment",
        source=f"{_CLUSTER_GUIDE}update-managed-node-group.html",
    ),
    *(rolling(name, _IN_BATCHES) for name in ("LaunchTemplate", "ReleaseVersion", "Version")),
    *(
        replaced(name, _NEW_NODES, avoid="add a node group beside it, and take this one away in the next deployment")
        for name in ("AmiType", "CapacityType", "DiskSize", "InstanceTypes", "NodeRole", "RemoteAccess", "Subnets")
    ),
    in_place("ScalingConfig", "nodes are added, or drained and taken away"),
    in_place("Labels", "the nodes get the labels; pods that run stay where they are"),
    in_place("Taints", "the nodes get the taints; pods that run stay, unless the effect is NO_EXECUTE"),
    in_place("UpdateConfig", "sets how many nodes the next update takes at a time"),
    in_place("NodeRepairConfig", "EKS replaces nodes with faults by itself, or no longer"),
    in_place("ForceUpdateEnabled", "sets whether the next update evicts pods that a disruption budget protects"),
)


def _skips_a_step(change: Change) -> bool:
    """Whether an add-on goes from a version to one that needs another in between."""
    old, new = as_str(change.old), as_str(change.new)
    name = as_str(change.after.get("AddonName", ABSENT)) or ""
    return old is not None and new is not None and skips_a_step(name, old, new)


def _takes_the_operator_back(change: Change) -> bool:
    """Whether the training operator goes to an earlier version."""
    old, new = as_str(change.old), as_str(change.new)
    return change.after.get("AddonName", ABSENT) == TRAINING_OPERATOR and old is not None and new is not None and is_lower(new, old)


def _conflicts(change: Change) -> str:
    """What the update does with fields that somebody has changed in the cluster."""
    way = as_str(change.after.get("ResolveConflicts", ABSENT)) or "NONE"
    done = {"OVERWRITE": "are set back", "PRESERVE": "stay as they are"}.get(way, "make the update fail")
    return f"the pods of the add-on start again, one after another; fields that somebody changed in the cluster {done} ({way})"


ADDON: tuple[Row, ...] = (
    refused(
        "AddonVersion",
        "the add-on takes no step over this version",
        when=_skips_a_step,
        avoid="deploy each minor version in between, one after the other",
        source="https://docs.aws.amazon.com/sagemaker/latest/dg/"
        "sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-governance.html",
    ),
    in_place(
        "AddonVersion",
        "delete the operator's jobs first: the earlier version does not know what the later one wrote into them",
        when=_takes_the_operator_back,
        source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html",
    ),
    *(in_place(name, _conflicts) for name in ("AddonVersion", "ConfigurationValues")),
    in_place("ResolveConflicts", "sets what the next update does with fields that somebody changed in the cluster"),
    in_place("PreserveOnDelete", "sets whether the pods and objects stay when the add-on is deleted"),
    *(
        in_place(name, "pods get credentials of the role when they start; those that run keep theirs until then")
        for name in ("PodIdentityAssociations", "ServiceAccountRoleArn")
    ),
    *(
        replaced(name, "is fixed at creation: another add-on is installed, and this one is deleted with its objects")
        for name in ("AddonName", "ClusterName", "NamespaceConfig")
    ),
)

_NEXT_REQUEST = "counts from the next request"
ACCESS_ENTRY: tuple[Row, ...] = (
    *(in_place(name, _NEXT_REQUEST) for name in ("AccessPolicies", "KubernetesGroups", "Username")),
    *(
        replaced(name, "is fixed at creation: a new entry replaces this one, and who has only this one loses access")
        for name in ("ClusterName", "PrincipalArn", "Type")
    ),
)

POD_IDENTITY: tuple[Row, ...] = (
    in_place("RoleArn", "pods get the credentials of the other role, after some seconds"),
    in_place("TargetRoleArn", "pods get the credentials of this role, which the first role assumes, after some seconds"),
    *(in_place(name, "counts for the next credentials of pods") for name in ("DisableSessionTags", "Policy")),
    *(
        replaced(name, "is fixed at creation: a new association is made, and pods of the old service account lose the role")
        for name in ("ClusterName", "Namespace", "ServiceAccount")
    ),
)

SCHEDULER_CONFIG: tuple[Row, ...] = (
    in_place("Description", "is text for people"),
    in_place("SchedulerConfig", "waiting jobs are ordered by the new weights"),
    replaced("ClusterArn", "a new policy is made on the other cluster, and this one has none any more"),
)

COMPUTE_QUOTA: tuple[Row, ...] = (
    in_place("Description", "is text for people"),
    in_place("ComputeQuotaConfig", "the team's queue gets the new amounts"),
    in_place("ComputeQuotaTarget/FairShareWeight", "counts when teams next ask for idle resources"),
    in_place("ActivationState", "the quota is in force, or no longer"),
    *(
        replaced(name, "is fixed at creation: the quota is deleted with the team's queues before the new one is made")
        for name in ("ClusterArn", "ComputeQuotaTarget/TeamName", "Name")
    ),
)

SCHEDULE: tuple[Row, ...] = (
    in_place("ScheduleExpression", "the next start follows it"),
    in_place("State", "the schedule starts its target, or no longer"),
    in_place("Target", "the next start has the new target"),
)


def _bound_again(change: Change) -> bool:
    """Whether a volume of Kubernetes gets another source, or a claim another volume, under the same name."""
    old, new = (_bindings(value) for value in (change.old, change.new))
    return any(name in new and new[name] != source for name, source in old.items())


_BINDING = {"PersistentVolume": "csi", "PersistentVolumeClaim": "volumeName"}


def _bindings(manifest: Value) -> dict[tuple[str, str, str], str]:
    """What a volume or claim is bound to, by kind, namespace and name; the rest of its specification can change."""
    try:
        objects = json.loads(str(shown(manifest)))
    except (ValueError, RecursionError):
        return {}
    found = {}
    for one in objects if isinstance(objects, list) else ():
        kind, metadata, spec = (one.get(key) for key in ("kind", "metadata", "spec")) if isinstance(one, dict) else (None,) * 3
        if isinstance(metadata, dict) and isinstance(spec, dict) and isinstance(kind, str) and kind in _BINDING:
            where = (kind, str(metadata.get("namespace")), str(metadata.get("name")))
            found[where] = json.dumps(spec.get(_BINDING[kind]), sort_keys=True)
    return found


KUBERNETES_OBJECTS: tuple[Row, ...] = (
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
    refused(
        "Manifest",
        "Kubernetes refuses another source of a volume, and another volume of a claim, under the same name",
        when=_bound_again,
        avoid="give the LustreVolume another claim_name; pods that run keep the old claim until they end",
        source="https://kubernetes.io/docs/concepts/storage/persistent-volumes/",
    ),
    in_place("ClusterName", "the objects are applied to the other cluster too; the old one keeps them"),
    in_place("Manifest", "the objects are applied; those that are gone are deleted if they carry the label of this resource"),
    in_place("PruneLabel", "the objects get the label by which later updates find those that are gone"),
)

KUBERNETES_OBJECT_VALUE: tuple[Row, ...] = (
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
    *(
        in_place(name, "the update waits for this value of an object, and changes nothing")
        for name in ("ClusterName", "JsonPath", "ObjectName", "ObjectNamespace", "ObjectType", "TimeoutSeconds")
    ),
)

_OF_ANOTHER_RELEASE = "the first release stays, and Helm refuses to take over its objects"
HELM_CHART: tuple[Row, ...] = (
    SERVICE_TOKEN,
    SERVICE_TIMEOUT,
    *(
        refused(name, _OF_ANOTHER_RELEASE, avoid="keep it, or take the chart away in one deployment and add it in the next")
        for name in ("Namespace", "Release")
    ),
    in_place("ClusterName", "the chart is installed in the other cluster too; the old one keeps it"),
    *(
        in_place(name, "the release is upgraded; objects that the chart no longer has are deleted")
        for name in ("Chart", "ChartAssetURL", "Repository", "Values", "Version")
    ),
    *(in_place(name, "sets how the next upgrade is done") for name in ("Atomic", "CreateNamespace", "SkipCrds", "Timeout", "Wait")),
)
