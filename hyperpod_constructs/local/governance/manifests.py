"""The objects of task governance, as manifests.

AWS shows names, flavors and covered resources, and says what lending, borrowing, weights and preemption mean. Not documented, so
decided here, in Kueue's own terms: a team that shares nothing is in the cohort and neither lends nor borrows; a team that lends
lends all that it holds, and takes it back from any job; a weight of 0 stays 0.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-policies.html and
https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_constructs.facts import governance as facts
from hyperpod_constructs.facts import kubernetes_nodes
from hyperpod_constructs.local.governance.amounts import Resources, by_type, total, written
from hyperpod_constructs.local.governance.queues import Applied

Object = dict[str, Any]

CLUSTER_QUEUE, LOCAL_QUEUE, FLAVOR, CLASS = "ClusterQueue", "LocalQueue", "ResourceFlavor", "WorkloadPriorityClass"


def objects(applied: Applied, version: str | None) -> Iterator[Object]:
    """The objects of a policy or a quota.

    :param version: the API version of Kueue's kinds; without it a quota has a namespace alone, and a policy nothing.
    """
    if applied.kind == "ComputeQuota":
        team = applied.settings["ComputeQuotaTarget"]["TeamName"]
        labels = {**_labels(applied), facts.ACTIVE: applied.settings["ActivationState"]}
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": facts.namespace(team), "labels": labels}}
        if version is not None:
            yield from _queues(applied, team, version)
    elif version is not None:
        yield from _policy(applied, version)


def _labels(applied: Applied) -> dict[str, str]:
    return {facts.MANAGED: "true", facts.ALLOCATION: applied.policy_id}


def _policy(applied: Applied, version: str) -> Iterator[Object]:
    config = applied.settings["SchedulerConfig"]
    yield from _manager_config(config.get("FairShare") != "Disabled", version)
    for item in config.get("PriorityClasses", ()):
        metadata = {"name": facts.priority_value(item["Name"]), "labels": _labels(applied)}
        yield {"apiVersion": version, "kind": CLASS, "metadata": metadata, "value": item["Weight"]}


def _manager_config(fair: bool, version: str) -> Iterator[Object]:
    """Kueue's settings. JSON is YAML."""
    sharing = {"enable": True, "preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}
    settings = {
        "apiVersion": f"config.{version}",
        "kind": "Configuration",
        "manageJobsWithoutQueueName": False,
        **({"fairSharing": sharing} if fair else {}),
    }
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": facts.MANAGER_NAMESPACE}}
    place = {"name": facts.MANAGER_CONFIG, "namespace": facts.MANAGER_NAMESPACE, "labels": {facts.MANAGED: "true"}}
    data = {facts.MANAGER_CONFIG_KEY: json.dumps(settings, indent=2) + "\n"}
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": place, "data": data}


def _queues(applied: Applied, team: str, version: str) -> Iterator[Object]:
    settings = applied.settings
    config = settings["ComputeQuotaConfig"]
    nominal = by_type(config.get("ComputeQuotaResources", ()))
    borrowed = _borrowing(config["ResourceSharingConfig"], nominal)
    for name in borrowed:
        yield flavor(name, version)
    lends = config["ResourceSharingConfig"]["Strategy"] != "DontLend"
    within = "LowerPriority" if config["PreemptTeamTasks"] == "LowerPriority" else "Never"
    queue = {
        **pool(version),
        "resourceGroups": groups({name: nominal.get(name, {}) for name in borrowed}, borrowed, lends=lends),
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": facts.namespace(team)}},
        "stopPolicy": "None" if settings["ActivationState"] == "Enabled" else "Hold",
        "fairSharing": {"weight": str(settings["ComputeQuotaTarget"]["FairShareWeight"])},
        "preemption": {"withinClusterQueue": within, "reclaimWithinCohort": "Any"},
    }
    metadata = {"name": facts.cluster_queue(team), "labels": _labels(applied)}
    yield {"apiVersion": version, "kind": CLUSTER_QUEUE, "metadata": metadata, "spec": queue}
    place = {"name": facts.local_queue(team), "namespace": facts.namespace(team), "labels": _labels(applied)}
    yield {"apiVersion": version, "kind": LOCAL_QUEUE, "metadata": place, "spec": {"clusterQueue": facts.cluster_queue(team)}}


def _borrowing(sharing: Mapping[str, Any], nominal: Mapping[str, Resources]) -> dict[str, Resources]:
    """What a team may borrow by type: the absolute limit of a type, or else a percentage of what it holds."""
    if sharing["Strategy"] != "LendAndBorrow":
        return {name: {} for name in nominal}
    percent = sharing["BorrowLimit"]
    limits = {name: {each: amount * percent // 100 for each, amount in held.items()} for name, held in nominal.items()}
    return limits | by_type(sharing.get("AbsoluteBorrowLimits", ()))


def flavor(instance_type: str, version: str) -> Object:
    """The flavor of an instance type, which all teams share."""
    spec = {"nodeLabels": {kubernetes_nodes.INSTANCE_TYPE: instance_type}}
    return {"apiVersion": version, "kind": FLAVOR, "metadata": {"name": instance_type}, "spec": spec}


def pool(version: str) -> Object:
    """The member of a queue that names the cohort, in which all teams lend and borrow."""
    return {"cohort" if version.endswith("/v1beta1") else "cohortName": facts.COHORT}


def groups(nominal: Mapping[str, Resources], borrowed: Mapping[str, Resources], *, lends: bool) -> list[Object]:
    """The resource groups of a queue, with every covered resource in every flavor and in one order, as Kueue demands it.

    :param nominal: what the queue holds, by instance type.
    :param borrowed: what it may borrow, by instance type.
    :param lends: whether others may use what it does not.
    """
    if not nominal:
        return []
    covered = sorted({*facts.COVERED, *total([*nominal.values(), *borrowed.values()])})
    flavors: list[Object] = []
    for name, held in nominal.items():
        resources = [_resource(each, held.get(each, 0), borrowed.get(name, {}).get(each, 0), lends=lends) for each in covered]
        flavors.append({"name": name, "resources": resources})
    return [{"coveredResources": covered, "flavors": flavors}]


def _resource(name: str, held: int, borrowed: int, *, lends: bool) -> Object:
    amounts = {"nominalQuota": held, "borrowingLimit": borrowed, **({} if lends else {"lendingLimit": 0})}
    return {"name": name, **{member: written(name, amount) for member, amount in amounts.items()}}
