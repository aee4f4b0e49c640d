"""The embedded HyperPod: the operations of Amazon SageMaker on clusters, nodes, extensions,
events, training plans, policies and quotas of task governance, and tags.

Everything that SageMaker has besides is answered with UnknownOperationException.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperpod_constructs.facts import clusters
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.changes import listed, mapped
from hyperpod_constructs.local.clients import Clients, partition
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.governance.queues import Queues
from hyperpod_constructs.local.governance.service import Governance
from hyperpod_constructs.local.governance.state import Policy
from hyperpod_constructs.local.hyperpod.addresses import Placements, taken, zones_of
from hyperpod_constructs.local.hyperpod.announcements import Announcements, SendEvent
from hyperpod_constructs.local.hyperpod.background import AtOnce, Tasks
from hyperpod_constructs.local.hyperpod.checks import Subnets, check_alarms, check_surroundings, legacy_problem
from hyperpod_constructs.local.hyperpod.cluster_operations import advance, counts, describe_operation, list_operations, note_scaling
from hyperpod_constructs.local.hyperpod.deployment import Deployment
from hyperpod_constructs.local.hyperpod.eks import EksOrchestrator, Kubernetes
from hyperpod_constructs.local.hyperpod.eks_nodes import nodes_of
from hyperpod_constructs.local.hyperpod.events import describe, list_events
from hyperpod_constructs.local.hyperpod.extensions import Extension, Extensions
from hyperpod_constructs.local.hyperpod.fleet import Fleet, Records, Recovery
from hyperpod_constructs.local.hyperpod.health_checks import HealthChecks
from hyperpod_constructs.local.hyperpod.limits import check_quotas
from hyperpod_constructs.local.hyperpod.machine import Machine, NewNodes
from hyperpod_constructs.local.hyperpod.nodes import NodeOperations
from hyperpod_constructs.local.hyperpod.provisioner import Provisioner
from hyperpod_constructs.local.hyperpod.restricted import restricted_in, specs_of
from hyperpod_constructs.local.hyperpod.rules import (
    check_create,
    check_software_update,
    check_update,
    groups_after,
    refusal,
    restricted_after,
    settings_of,
)
from hyperpod_constructs.local.hyperpod.schedules import Schedules
from hyperpod_constructs.local.hyperpod.side_effects import SideEffects
from hyperpod_constructs.local.hyperpod.software import SoftwareUpdates
from hyperpod_constructs.local.hyperpod.state import Cluster, LiveGroup, Node, Spec, new_cluster_id
from hyperpod_constructs.local.hyperpod.training_plans import Plan, TrainingPlans
from hyperpod_constructs.local.hyperpod.update_rules import deployments
from hyperpod_constructs.local.hyperpod.views import (
    describe_cluster,
    describe_node,
    summarize_cluster,
    summarize_node,
)
from hyperpod_constructs.local.hyperpod.watch import Watch
from hyperpod_constructs.local.kubernetes_nodes import Homes
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.timed_service import Operation, Parameters, TimedService
from hyperpod_constructs.local.times import between, second_of

INVALID = "ValidationException"
_TAGGED = {Cluster: "cluster", Plan: "training plan", Extension: "extension"}


class HyperPod(TimedService):
    """Amazon SageMaker, as far as HyperPod goes. `clock` gives seconds since the epoch; the real time unless a test
    gives another.

    Nodes are records unless a fleet boots them. Tasks are done while the caller waits unless others are given. State moves when
    it is looked at, by the time that has passed; see `state.Timeline`. Without `queues`, policies and quotas are records too;
    without `send_event`, nobody hears of events and metrics.
    """

    name = "sagemaker"

    def __init__(
        self,
        faults: Faults,
        clients: Clients,
        clock: Callable[[], float] = time.time,
        fleet: Fleet | None = None,
        tasks: Tasks | None = None,
        queues: Queues | None = None,
        kubernetes: Kubernetes | None = None,
        send_event: SendEvent | None = None,
    ) -> None:
        tasks = AtOnce() if tasks is None else tasks
        self._announcements = Announcements(clients, tasks, send_event)
        self._eks = EksOrchestrator(clients, kubernetes, tasks)
        self._clients = clients
        self._fleet = Records() if fleet is None else fleet
        self._side_effects = SideEffects(self._clients, tasks)
        self._plans = TrainingPlans(faults, self._clients, self._nodes_of_plan)
        self._provisioner = Provisioner(
            faults, self._side_effects, self._fleet, self._plans.waits, lambda *started: self._health_checks.on_start(*started)
        )
        self._machine = Machine(self._provisioner)
        watch = Watch(clients, self._fleet, tasks)
        self._updates = SoftwareUpdates(self._provisioner, watch, self._machine.rest)
        self._schedules = Schedules(self._updates)
        self._batch = NodeOperations(self._machine, self._provisioner, self._announcements.fault)
        self._health_checks = HealthChecks(faults, self._provisioner, watch, self._side_effects, self._batch.renew)
        self._clusters: dict[str, Cluster] = {}
        self._extensions = Extensions(faults, self._find)
        self._governance = Governance(faults, lambda arn, c: self._find({"ClusterName": arn}, c), tasks.begin, queues)
        operations: dict[str, Operation] = {
            "CreateCluster": self._create_cluster,
            "UpdateCluster": self._update_cluster,
            "DescribeCluster": lambda p, c, now: describe_cluster(self._find(p, c)),
            "DeleteCluster": self._delete_cluster,
            "ListClusters": self._list_clusters,
            "ListClusterNodes": self._list_nodes,
            "DescribeClusterNode": self._describe_node,
            "ListClusterEvents": lambda p, c, now: list_events(self._find(p, c), p),
            "DescribeClusterEvent": lambda p, c, now: describe(self._find(p, c), p),
            "BatchAddClusterNodes": self._add_nodes,
            "BatchDeleteClusterNodes": self._delete_nodes,
            "BatchRebootClusterNodes": lambda p, c, now: self._batch.reboot(self._find(p, c), p, now),
            "BatchReplaceClusterNodes": lambda p, c, now: self._batch.replace(self._find(p, c), p, now),
            "UpdateClusterSoftware": self._update_software,
            "StartClusterHealthCheck": self._check_health,
            "ListClusterOperations": lambda p, c, now: list_operations(self._find(p, c), p),
            "DescribeClusterOperation": lambda p, c, now: describe_operation(self._find(p, c), p),
            "SearchTrainingPlanOfferings": self._plans.search,
            "CreateTrainingPlan": self._plans.create,
            "DescribeTrainingPlan": self._plans.describe,
            "ListTrainingPlans": self._plans.list,
            **self._extensions.operations(),
            **self._governance.operations(),
            "AddTags": self._add_tags,
            "ListTags": lambda p, c, now: {"Tags": listed(self._tagged(p).tags)},
            "DeleteTags": self._delete_tags,
        }
        super().__init__(faults, clock, operations)

    def tend(self) -> None:
        """Let time pass, and recover the marked nodes, as the service does between calls."""
        self.recover(self._fleet.marks())

    def recover(self, marks: Mapping[str, Recovery]) -> Homes:
        """Let time pass and recover the marked nodes; answers the instances that are nodes of EKS clusters after that."""
        with self._lock:
            now = self._clock()
            self._advance(now)
            for cluster in self._clusters.values():
                self._batch.recover(cluster, marks, now)
                self._announcements.look(cluster, now)
            return nodes_of(self._clusters.values())

    def reset(self) -> None:
        """Forget every cluster."""
        with self._lock:
            nodes = [node for cluster in self._clusters.values() for node in cluster.nodes()]
            self._fleet.terminate(nodes)
            self._clusters.clear()
            self._announcements.forget()
            self._batch.forget()
            self._plans.forget()
            self._extensions.forget()
            self._governance.forget()
        self._side_effects.forget(nodes)

    def _advance(self, now: float) -> None:
        for cluster in list(self._clusters.values()):
            self._machine.advance(cluster, now)
            advance(cluster)
            self._schedules.arm(cluster, now)
            self._announcements.look(cluster, now)
            if cluster.gone:
                self._announcements.forget(cluster.arn)
                self._eks.let_out(cluster)
                del self._clusters[cluster.arn]
                self._extensions.forget(cluster.arn)
                self._governance.forget(cluster.arn)

    def _mine(self, caller: Caller) -> list[Cluster]:
        prefix = _arn(caller, "")
        return [cluster for cluster in self._clusters.values() if cluster.arn.startswith(prefix)]

    def _find(self, parameters: Parameters, caller: Caller) -> Cluster:
        wanted = parameters["ClusterName"]
        for cluster in self._mine(caller):
            if wanted in (cluster.name, cluster.arn):
                return cluster
        raise AwsError("ResourceNotFound", f"Cluster with name {wanted} not found.")

    def _create_cluster(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        name = parameters["ClusterName"]
        if any(cluster.name == name for cluster in self._mine(caller)):
            raise AwsError(
                "ResourceInUse",
                f"Resource Already Exists: Cluster with name {name} already exists. Choose a different name.",
            )
        check_create(parameters)
        settings, specs = settings_of(parameters), specs_of(parameters)
        self._check_fleet(specs, settings)
        subnets = check_surroundings(specs, settings, self._clients, caller)
        self._eks.check(settings, subnets, caller)
        self._plans.check(specs, {}, zones_of(specs, subnets, settings), caller, now)
        self._check_alarms(specs, caller)
        check_quotas(self.faults, specs, self._mine(caller))
        placements = self._placements(
            {spec["InstanceGroupName"]: (spec, spec["InstanceCount"]) for spec in specs}, subnets, settings
        )
        restricted = restricted_in(parameters)
        groups = {name: LiveGroup(spec, restricted=name in restricted) for spec in specs for name in [spec["InstanceGroupName"]]}
        tags = mapped(parameters.get("Tags", ()))
        cluster = Cluster(name, _arn(caller, new_cluster_id()), caller, now, settings, groups, tags)
        self._eks.let_in(cluster)
        self._clusters[cluster.arn] = cluster
        self._machine.create(cluster, placements, now, legacy_problem(specs, settings, self._clients, caller))
        self._eks.install_karpenter(cluster)
        self._schedules.arm(cluster, now)
        return {"ClusterArn": cluster.arn}

    def _update_cluster(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters, caller)
        _require_status(cluster, ("InService", "Failed"))
        check_update(cluster, parameters)
        settings = settings_of(parameters)
        specs = groups_after(cluster, parameters)
        self._check_fleet(specs, cluster.settings)
        whole = {**cluster.settings, **settings}
        subnets = check_surroundings(specs, whole, self._clients, cluster.caller)
        before = {name: group.spec for name, group in cluster.groups.items()}
        self._plans.check(specs, before, zones_of(specs, subnets, whole), cluster.caller, now)
        self._check_alarms(specs, cluster.caller)
        check_quotas(self.faults, specs, self._mine(caller), cluster)
        fault = legacy_problem(specs, whole, self._clients, cluster.caller)
        wanted: dict[str, tuple[Spec, int]] = {}
        for spec in specs:
            group = cluster.groups.get(spec["InstanceGroupName"])
            alive = 0 if group is None else sum(node.status != "ShuttingDown" for node in group.nodes)
            wanted[spec["InstanceGroupName"]] = (spec, max(0, spec["InstanceCount"] - alive))
        self._eks.let_in(cluster, specs)
        sizes = counts(cluster)
        groups = {spec["InstanceGroupName"]: spec for spec in specs}
        placements, restricted = self._placements(wanted, subnets, cluster.settings), restricted_after(cluster, parameters)
        self._machine.update(cluster, groups, restricted, placements, settings, now, fault)
        note_scaling(cluster, sizes, now)
        if "AutoScaling" in settings:
            self._eks.install_karpenter(cluster)
        self._schedules.arm(cluster, now)
        return {"ClusterArn": cluster.arn}

    def _check_alarms(self, specs: Sequence[Spec], caller: Caller) -> None:
        for spec in specs:
            names = {name for _, config in deployments(spec) for name in Deployment(config).alarms}
            check_alarms([spec], names, self._clients, caller)

    def _check_fleet(self, specs: Sequence[Spec], settings: Mapping[str, Any]) -> None:
        objection = self._fleet.objection(specs, settings)
        if objection is not None:
            raise refusal(objection)

    def _placements(self, wanted: Mapping[str, tuple[Spec, int]], subnets: Subnets, settings: Mapping[str, Any]) -> NewNodes:
        placements = Placements(subnets, taken(self._clusters.values()), settings)
        return {name: placements.take(spec, count) for name, (spec, count) in wanted.items()}

    def _delete_cluster(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters, caller)
        _require_status(cluster, ("InService", "Failed"))
        self._machine.delete(cluster, now)
        return {"ClusterArn": cluster.arn}

    def _list_clusters(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        after, before = second_of(parameters.get("CreationTimeAfter")), second_of(parameters.get("CreationTimeBefore"))
        plan = parameters.get("TrainingPlanArn")
        found = [
            cluster
            for cluster in self._mine(caller)
            if parameters.get("NameContains", "") in cluster.name
            and between(cluster.created, after, before)
            and (plan is None or any(group.spec.get("TrainingPlanArn") == plan for group in cluster.groups.values()))
        ]
        by_name = parameters.get("SortBy") == "NAME"
        found.sort(key=lambda c: (c.name if by_name else "", c.created), reverse=parameters.get("SortOrder") == "Descending")
        chosen, following = page(found, parameters, 10, INVALID)
        return {"ClusterSummaries": [summarize_cluster(cluster) for cluster in chosen], **following}

    def _list_nodes(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters, caller)
        after, before = second_of(parameters.get("CreationTimeAfter")), second_of(parameters.get("CreationTimeBefore"))
        part = parameters.get("InstanceGroupNameContains", "")
        logical_ids = bool(parameters.get("IncludeNodeLogicalIds"))
        known = [node for node in cluster.nodes() if node.instance_id or logical_ids]
        found = [node for node in known if part in node.group and between(node.created, after, before)]
        by_name = parameters.get("SortBy") == "NAME"
        found.sort(key=lambda n: (n.group if by_name else "", n.created), reverse=parameters.get("SortOrder") == "Descending")
        nodes, following = page(found, parameters, 100, INVALID)
        return {"ClusterNodeSummaries": [summarize_node(cluster, node, logical_ids) for node in nodes], **following}

    def _describe_node(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters, caller)
        wanted = {parameters.get("NodeId"), parameters.get("NodeLogicalId")} - {None}
        if not wanted:
            raise refusal("either NodeId or NodeLogicalId must be provided")
        node: Node | None = next((node for node in cluster.nodes() if wanted <= {node.instance_id, node.logical_id}), None)
        if node is None:
            named = " and ".join(str(name) for name in wanted)
            raise AwsError("ResourceNotFound", f"Instance with id {named} not found in cluster {cluster.name}.")
        return describe_node(cluster, node)

    def _add_nodes(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters, caller)

        def find(wanted: Mapping[str, int]) -> NewNodes:
            specs = {name: cluster.groups[name].spec for name in wanted}
            grown = [{**group.spec, "InstanceCount": group.target + wanted.get(name, 0)} for name, group in cluster.groups.items()]
            self._check_fleet(grown, cluster.settings)
            check_quotas(self.faults, grown, self._mine(caller), cluster)
            subnets = check_surroundings(specs.values(), cluster.settings, self._clients, cluster.caller)
            self._plans.check(grown, {name: group.spec for name, group in cluster.groups.items()}, {}, cluster.caller, now)
            return self._placements({name: (specs[name], count) for name, count in wanted.items()}, subnets, cluster.settings)

        sizes = counts(cluster)
        answer = self._batch.add(cluster, parameters, find, now)
        note_scaling(cluster, sizes, now)
        return answer

    def _delete_nodes(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters, caller)
        sizes = counts(cluster)
        answer = self._batch.delete(cluster, parameters, now)
        note_scaling(cluster, sizes, now)
        return answer

    def _check_health(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters, caller)
        _require_status(cluster, ("InService",))
        self._health_checks.start(cluster, parameters, now)
        return {"ClusterArn": cluster.arn}

    def _update_software(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters, caller)
        _require_status(cluster, ("InService",))
        check_software_update(cluster, parameters)
        items = parameters.get("InstanceGroups", [{"InstanceGroupName": name} for name in cluster.groups])
        specs = [cluster.groups[item["InstanceGroupName"]].spec for item in items]
        config = parameters.get("DeploymentConfig", {})
        check_surroundings(specs, cluster.settings, self._clients, cluster.caller)
        check_alarms(specs, Deployment(config).alarms, self._clients, cluster.caller)
        image = {"ImageId": parameters["ImageId"]} if "ImageId" in parameters else {}
        images = {item["InstanceGroupName"]: {**image, **_version(item)} for item in items}
        self._updates.begin(cluster, images, config, now)
        return {"ClusterArn": cluster.arn}

    def _nodes_of_plan(self, arn: str) -> int:
        groups = (group for cluster in self._clusters.values() for group in cluster.groups.values())
        return sum(group.target for group in groups if group.spec.get("TrainingPlanArn") == arn)

    def _tagged(self, parameters: Parameters) -> Cluster | Plan | Extension | Policy:
        arn = parameters["ResourceArn"]
        found = self._clusters.get(arn) or self._plans.find(arn) or self._extensions.find(arn) or self._governance.find(arn)
        if found is None:
            raise refusal(f"the resource {arn} does not exist")
        return found

    def _add_tags(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        tagged = self._tagged(parameters)
        tags = tagged.tags | mapped(parameters["Tags"])
        if len(tags) > (most := clusters.MOST_TAGS):
            kind = tagged.kind.words if isinstance(tagged, Policy) else _TAGGED[type(tagged)]
            raise AwsError("ResourceLimitExceeded", f"{kind} {tagged.name} would have {len(tags)} tags; at most {most} are allowed")
        tagged.tags = tags
        return {"Tags": listed(tags)}

    def _delete_tags(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        tagged = self._tagged(parameters)
        tagged.tags = {key: value for key, value in tagged.tags.items() if key not in parameters["TagKeys"]}
        return {}


def _arn(caller: Caller, cluster_id: str) -> str:
    return f"arn:{partition(caller.region)}:sagemaker:{caller.region}:{caller.account}:cluster/{cluster_id}"


def _version(item: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in item.items() if key == "ImageReleaseVersion"}


def _require_status(cluster: Cluster, allowed: tuple[str, ...]) -> None:
    if cluster.status not in allowed:
        raise AwsError(
            "ConflictException",
            f"Cluster {cluster.name} is in state {cluster.status}; it must be {' or '.join(allowed)}.",
        )
