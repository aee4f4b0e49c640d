"""The operations of task governance: policies and quotas are created, updated and deleted over time, each with its version.

The service says that a cluster has one policy, that names are unique in a cluster, that Slurm clusters and partitions that a type
does not have are refused, and that versions guard updates. Not documented, so decided here: a team has one quota; a policy or quota
in work refuses an update and a deletion; an update that fails leaves the settings and the version as they were; all go with their
cluster. The service takes quotas beyond the nodes, so they are taken here too; whether it takes a type that the cluster lacks is
not known, and it is taken.

Sources: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateComputeQuota.html and the resource schemas of
`AWS::SageMaker::ComputeQuota` and `AWS::SageMaker::ClusterSchedulerConfig`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

from hyperpod_constructs.facts import governance as facts
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.changes import mapped
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.governance.queues import Applied, Queues
from hyperpod_constructs.local.governance.state import KINDS, WORKING, GovernedCluster, Kind, Policy, new_id
from hyperpod_constructs.local.governance.views import describe, listed_by, summarize
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.timed_service import Operation, Parameters

log = logging.getLogger(__name__)

INVALID, CONFLICT = "ValidationException", "ConflictException"

Find = Callable[[str, Caller], GovernedCluster]
"""The cluster with an ARN."""


class Pending(Protocol):
    """Work outside the service's lock."""

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        ...


Begin = Callable[[Callable[[], None]], Pending]


class Governance:
    """The policies and quotas of every cluster.

    :param begin: takes on work that calls other services.
    :param queues: the Kubernetes side; without one, policies and quotas are records.
    """

    def __init__(self, faults: Faults, find: Find, begin: Begin, queues: Queues | None = None) -> None:
        self._faults, self._find, self._begin, self._queues = faults, find, begin, queues
        self._policies: dict[str, Policy] = {}

    def operations(self) -> dict[str, Operation]:
        """The operations by name."""
        verbs = {"Create": self._create, "Update": self._update, "Describe": self._describe, "Delete": self._delete}
        found: dict[str, Operation] = {
            f"{verb}{kind.noun}": partial(operation, kind) for kind in KINDS for verb, operation in verbs.items()
        }
        return found | {f"List{kind.noun}s": partial(self._list, kind) for kind in KINDS}

    def find(self, arn: str) -> Policy | None:
        """The policy or quota with this ARN."""
        return self._policies.get(arn)

    def forget(self, cluster_arn: str | None = None) -> None:
        """Forget those of a cluster, with what Kubernetes has of them, or all."""
        gone = [arn for arn, policy in self._policies.items() if cluster_arn in (None, policy.cluster.arn)]
        for arn in gone:
            policy = self._policies.pop(arn)
            if cluster_arn is not None and self._queues is not None:
                self._begin(partial(_remove, self._queues, policy))

    def _create(self, kind: Kind, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["ClusterArn"], caller)
        if "Eks" not in cluster.settings.get("Orchestrator", {}):
            raise AwsError(INVALID, str(facts.ON_SLURM))
        if cluster.status in ("Creating", "Deleting"):
            raise AwsError(CONFLICT, f"Cluster {cluster.name} is in state {cluster.status}; it must be InService.")
        settings = {name: parameters[name] for name in kind.members if name in parameters}
        kind.check(settings)
        self._check_unique(kind, cluster, parameters["Name"], settings)
        policy_id = new_id()
        arn = f"{cluster.arn.rpartition(':cluster/')[0]}:{kind.resource}/{policy_id}"
        tags = mapped(parameters.get("Tags", ()))
        policy = Policy(kind, policy_id, arn, parameters["Name"], cluster, {1: kind.complete(settings)}, tags, now, now)
        self._policies[arn] = policy
        self._work(policy, now)
        return {kind.named("Arn"): arn, kind.named("Id"): policy_id}

    def _check_unique(self, kind: Kind, cluster: GovernedCluster, name: str, settings: Parameters) -> None:
        others = [other for other in self._policies.values() if other.kind is kind and other.cluster is cluster]
        target = settings.get("ComputeQuotaTarget")
        for other in others:
            if target is None:
                raise AwsError(CONFLICT, str(facts.second_scheduler(other.id)))
            if other.name == name:
                raise AwsError(CONFLICT, f"a quota of cluster {cluster.name} is named {name} already ({other.id})")
            if other.team == target["TeamName"]:
                raise AwsError(CONFLICT, str(facts.second_quota(target["TeamName"], other.id)))

    def _update(self, kind: Kind, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        policy = self._policy(kind, parameters, caller)
        _check_idle(policy, "updated")
        if parameters["TargetVersion"] != policy.version:
            raise AwsError(
                CONFLICT,
                f"TargetVersion {parameters['TargetVersion']} of {kind.words} {policy.id} is not its version, {policy.version}; "
                "describe it, and update what you find",
            )
        changes = {name: parameters[name] for name in kind.members if name in parameters}
        if policy.team is not None and changes.get("ComputeQuotaTarget", {}).get("TeamName", policy.team) != policy.team:
            raise AwsError(INVALID, f"the team of quota {policy.id} is {policy.team} and stays; create a quota for another team")
        settings = {**policy.settings, **changes}
        kind.check(settings)
        policy.version += 1
        policy.versions[policy.version] = kind.complete(settings)
        policy.status, policy.modified = "Updating", now
        self._work(policy, now)
        return {kind.named("Arn"): policy.arn, kind.named("Version"): policy.version}

    def _describe(self, kind: Kind, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        policy = self._policy(kind, parameters, caller)
        version = parameters.get(kind.named("Version"), policy.version)
        if version not in policy.versions:
            raise AwsError("ResourceNotFound", f"Version {version} of {kind.words} {policy.id} not found.")
        return describe(policy, version)

    def _delete(self, kind: Kind, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        policy = self._policy(kind, parameters, caller)
        _check_idle(policy, "deleted")
        policy.status, policy.modified = "Deleting", now
        self._work(policy, now)
        return {}

    def _list(self, kind: Kind, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        found = listed_by([policy for policy in self._mine(caller) if policy.kind is kind], parameters)
        chosen, following = page(found, parameters, 100, INVALID)
        return {f"{kind.noun}Summaries": [summarize(policy) for policy in chosen], **following}

    def _mine(self, caller: Caller) -> Iterator[Policy]:
        owner = f":sagemaker:{caller.region}:{caller.account}:"
        return (policy for arn, policy in self._policies.items() if owner in arn)

    def _policy(self, kind: Kind, parameters: Parameters, caller: Caller) -> Policy:
        wanted = parameters[kind.named("Id")]
        for policy in self._mine(caller):
            if policy.kind is kind and policy.id == wanted:
                return policy
        raise AwsError("ResourceNotFound", f"{kind.noun} {wanted} not found.")

    def _work(self, policy: Policy, now: float) -> None:
        """Let the service finish its work: after the time of one transition, and not before the Kubernetes side is done."""
        policy.work += 1
        work, problems = policy.work, list[str]()
        pending = self._begin(partial(self._change_queues, policy, problems)) if self._queues is not None else None

        def end(second: float) -> None:
            if policy.work != work or policy.arn not in self._policies:
                return
            if pending is not None and not pending.done:
                policy.cluster.timeline.at(second + _LOOK_AGAIN, end)
                return
            self._settle(policy, problems)

        policy.cluster.timeline.at(now + self._faults.slow_creation, end)

    def _change_queues(self, policy: Policy, problems: list[str]) -> None:
        assert self._queues is not None
        change = self._queues.remove if policy.status == "Deleting" else self._queues.apply
        try:
            change(_applied(policy))
        except Exception as error:  # whatever it is, it is the reason
            problems.append(str(error)[:_LONGEST_REASON] or type(error).__name__)

    def _settle(self, policy: Policy, problems: list[str]) -> None:
        succeeded, failed = WORKING[policy.status]
        if policy.status == "Deleting" and not problems:
            del self._policies[policy.arn]
            return
        if policy.status == "Updating" and problems:
            del policy.versions[policy.version]
            policy.version -= 1
        policy.status = failed if problems else succeeded
        policy.failure = problems[0] if problems else ""


_LOOK_AGAIN = 0.1
_LONGEST_REASON = 1024


def _applied(policy: Policy) -> Applied:
    return Applied(
        kind=policy.kind.noun,
        policy_id=policy.id,
        eks_cluster_arn=policy.cluster.settings["Orchestrator"]["Eks"]["ClusterArn"],
        caller=policy.cluster.caller,
        settings=policy.settings,
    )


def _remove(queues: Queues, policy: Policy) -> None:
    """Take what Kubernetes has of a policy whose cluster is gone. Nobody is left to hear of a failure but the log."""
    try:
        queues.remove(_applied(policy))
    except Exception as error:
        log.warning("the objects of %s %s stay in Kubernetes: %s", policy.kind.words, policy.id, error)


def _check_idle(policy: Policy, what: str) -> None:
    if policy.status in WORKING:
        words = policy.kind.words
        raise AwsError(CONFLICT, f"The {words} {policy.id} is in state {policy.status}; it cannot be {what} meanwhile.")
