"""Fields of a cluster's groups that the API takes and CloudFormation does not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Protocol

from aws_cdk import CustomResource, Duration, Fn, Stack, Token
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs._support.cluster_properties import Clusterlike, follows, is_function, pascal, rendered
from hyperpod_constructs._support.deferred import check_at_synthesis, deferred_value, resolved_value
from hyperpod_constructs._support.statements import Statement
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.custom_resources.provider import HandlerProvider
from hyperpod_constructs.facts import node_permissions, patching

IdleWait = Annotated[int, patching.IDLE_WAIT]
DrainTimeout = Annotated[int, patching.DRAIN_TIMEOUT]
_OF_EKS = ["eks:CreateAccessEntry", "eks:DescribeCluster"]
_OF_ENTRIES = ["eks:AssociateAccessPolicy", "eks:DeleteAccessEntry", "eks:DescribeAccessEntry"]
"""What the service does for a group on EKS with the rights of who updates the cluster.

Source: the permissions of the handler in the resource schema of AWS::SageMaker::Cluster.
"""
_KINDS = {False: "InstanceGroups", True: "RestrictedInstanceGroups"}


class Rendered(Protocol):
    """A value object that renders an L1 struct."""

    def render(self) -> Any:
        """The L1 struct."""
        ...


class OnDrainTimeout(StrEnum):
    """The service's reaction to pods that do not leave a node in time."""

    SKIP = "Skip"
    """The node is not patched."""
    FORCE = "Force"
    """The pods are deleted, without regard to disruption budgets."""


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class IdlePatching:
    """Fields of automatic patching that waits for idle nodes; its strategy stands in the cluster's group.

    :param idle_wait_window_in_seconds: time for which a patch waits for idle nodes, 3600 to 2160000; a day when not given.
    :param next_patch_date: another date for the next patch, with a time zone; the service's own when not given. Once it has passed,
        it is not asked for any more.
    :raises ValueError: without a field, or for a date without a time zone.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAutoPatchConfig.html
    """

    idle_wait_window_in_seconds: IdleWait | None = None
    next_patch_date: datetime | None = None

    def __post_init__(self) -> None:
        if self.idle_wait_window_in_seconds is None and self.next_patch_date is None:
            raise ValueError("IdlePatching has no field; write idle_wait_window_in_seconds=3600, or leave the object out")
        _check_date(self.next_patch_date)

    def render(self) -> dict[str, Any]:
        """The fields with the names of the API."""
        wait = self.idle_wait_window_in_seconds
        return {**({} if wait is None else {"IdleWaitWindowInSeconds": wait}), **_schedule(self.next_patch_date)}


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class DrainPatching:
    """Automatic patching that evicts the pods of a node first (`DrainFirst`), on a cluster that EKS orchestrates.

    The cluster's group states no automatic patching beside it. When the object is taken away, the group is not patched any more.

    :param deployment_config: the batches, with a maximum size: an L1 struct, or a value object that renders one.
    :param drain_timeout_in_seconds: time for which a patch waits for the pods of a node, 0 to 5400; an hour when not given.
    :param on_drain_timeout: what happens to a node with pods after that time; it is skipped when not given.
    :param next_patch_date: see `IdlePatching`.
    :raises ValueError: for a date without a time zone.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAutoPatchConfig.html
    """

    deployment_config: sagemaker.CfnCluster.DeploymentConfigProperty | Rendered
    drain_timeout_in_seconds: DrainTimeout | None = None
    on_drain_timeout: OnDrainTimeout | None = None
    next_patch_date: datetime | None = None

    def __post_init__(self) -> None:
        _check_date(self.next_patch_date)

    def render(self) -> dict[str, Any]:
        """The fields with the names of the API; the deployment is an L1 struct."""
        policy = {
            **({} if self.drain_timeout_in_seconds is None else {"DrainTimeoutInSeconds": self.drain_timeout_in_seconds}),
            **({} if self.on_drain_timeout is None else {"OnDrainTimeout": self.on_drain_timeout.value}),
        }
        return {
            "PatchingStrategy": patching.DRAIN_FIRST,
            "DeploymentConfig": _struct(self.deployment_config),
            **({"DrainPolicy": policy} if policy else {}),
            **_schedule(self.next_patch_date),
        }


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class GroupFields:
    """Fields of an instance group.

    :param auto_patch: fields of its automatic patching.
    :param multi_node_training_validation: whether the deep health checks at start include one over several nodes, beside those of
        the cluster's group; no unless given.
    :raises ValueError: without a field.
    """

    auto_patch: IdlePatching | DrainPatching | None = None
    multi_node_training_validation: bool = False

    def __post_init__(self) -> None:
        _check_any(self)

    def render(self) -> dict[str, Any]:
        """The fields with the names of the API."""
        config = None if self.auto_patch is None else self.auto_patch.render()
        return {**({} if config is None else {"AutoPatchConfig": config}), **_checks(self.multi_node_training_validation)}


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class RestrictedGroupFields:
    """Fields of a restricted instance group.

    :param scheduled_update_config: the schedule of its software updates: an L1 struct, or a value object that renders one.
    :param multi_node_training_validation: see `GroupFields`.
    :raises ValueError: without a field.
    """

    scheduled_update_config: sagemaker.CfnCluster.ScheduledUpdateConfigProperty | Rendered | None = None
    multi_node_training_validation: bool = False

    def __post_init__(self) -> None:
        _check_any(self)

    def render(self) -> dict[str, Any]:
        """The fields with the names of the API; the schedule is an L1 struct."""
        schedule = None if self.scheduled_update_config is None else _struct(self.scheduled_update_config)
        return {**({} if schedule is None else {"ScheduledUpdateConfig": schedule}), **_checks(self.multi_node_training_validation)}


class ClusterFields(Construct):
    """Sets fields of a cluster's groups that CloudFormation does not know, through `UpdateCluster`.

    Each update of the cluster by CloudFormation drops the fields. So this resource runs after each change of the cluster's
    properties, reads the groups, sets only its own fields, and waits until the service shows them. It sends each group as the
    service describes it, without an image that the template does not state. Overrides of the L1 (`add_property_override`) are not
    seen: after a change of them alone, the fields stay away until the next change.

    A field that is taken away goes back to the service's default where it still has our value, and so do all fields when this
    resource is deleted. `drift` tells what was otherwise than the last deployment had left it. A group that the cluster no longer
    has is left out.

    A change of `cluster` leaves the old cluster with the defaults. If the construct gets another id, take it away in one deployment
    and add it in the next: else the old one resets what the new one has set.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateCluster.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: Clusterlike,
        groups: Mapping[str, GroupFields] | None = None,
        restricted_groups: Mapping[str, RestrictedGroupFields] | None = None,
        execution_roles: Sequence[iam.IRole] | None = None,
        timeout: Duration | None = None,
    ) -> None:
        """
        :param cluster: the cluster.
        :param groups: the fields by name of the instance group.
        :param restricted_groups: the fields by name of the restricted instance group.
        :param execution_roles: the roles of all groups of an existing cluster, which an update names again; those of a cluster of
            this app are known.
        :param timeout: time for one deployment, 5 minutes to 1 hour; 1 hour unless given. The answer comes three minutes earlier.
        :raises ValueError: without a group, or for an existing cluster without its roles.
        """
        super().__init__(scope, id)
        self._cluster, self._groups, self._restricted = cluster, dict(groups or {}), dict(restricted_groups or {})
        self._roles = execution_roles
        self._check_arguments()
        provider = HandlerProvider.of(self, "HyperPodClusterFieldsProvider", module="cluster_fields")
        #: The custom resource, to make other resources wait for the fields.
        self.resource: CustomResource = provider.add_resource(
            self,
            resource_type="Custom::HyperPodClusterFields",
            properties={
                "ClusterArn": cluster.cluster_arn,
                "Groups": deferred_value(self._render_groups),
                "Stated": deferred_value(self._render_stated),
                "Follows": resolved_value(lambda: follows(self._cluster, self)),
            },
            statements=self._statements(),
            timeout=timeout,
        )
        check_at_synthesis(self, self._check_and_permit, resource=self.resource)

    @property
    def drift(self) -> str:
        """The fields that were otherwise than the last deployment had set them; empty without one."""
        return self.resource.get_att_string("Drift")

    @property
    def left_out(self) -> str:
        """The groups that the cluster does not have; empty without one."""
        return self.resource.get_att_string("LeftOut")

    def _check_arguments(self) -> None:
        if not self._groups and not self._restricted:
            raise ValueError(f'{self.node.path}: no group has fields; write groups={{"workers": GroupFields(...)}}')
        if self._roles is None and not self._of_this_app():
            raise ValueError(
                f"{self.node.path}: the roles of an existing cluster are unknown, and an update names them; write "
                "execution_roles=[...] with the role of each group"
            )

    def _of_this_app(self) -> bool:
        return isinstance(getattr(self._cluster, "resource", None), sagemaker.CfnCluster)

    def _named(self) -> Iterator[tuple[bool, str, GroupFields | RestrictedGroupFields]]:
        yield from ((False, name, fields) for name, fields in sorted(self._groups.items()))
        yield from ((True, name, fields) for name, fields in sorted(self._restricted.items()))

    def _render_groups(self) -> list[dict[str, Any]]:
        stack = Stack.of(self)
        return [
            {"Name": name, "Kind": _KINDS[restricted], "Fields": pascal(stack.resolve(fields.render()))}
            for restricted, name, fields in self._named()
        ]

    def _render_stated(self) -> list[str]:
        """The members that the template states: an image is sent back only if it is one, and none of them may be missing."""
        specs = (spec for kind in _KINDS.values() for spec in _specs(self._cluster, kind))
        return sorted(f"{spec['InstanceGroupName']}/{name}" for spec in specs if _has_known_name(spec) for name in spec)

    def _render_roles(self) -> list[str]:
        specs = (spec for kind in _KINDS.values() for spec in _specs(self._cluster, kind))
        return _texts(spec["ExecutionRole"] for spec in specs if "ExecutionRole" in spec)

    def _check_and_permit(self) -> list[str]:
        """Permit the roles, and what the service does with the caller's rights for keys and EKS, now that all groups are known."""
        policy: Any = self.node.find_child("Policy")
        stack = Stack.of(self)
        if self._roles is None:
            policy.add_statements(_pass(_late(self._render_roles)).made())
        if self._keys():
            service = f"sagemaker.{stack.region}.{stack.url_suffix}"
            policy.add_statements(
                iam.PolicyStatement(
                    actions=["kms:CreateGrant", "kms:DescribeKey"],
                    resources=_late(self._keys),
                    conditions={"StringEquals": {"kms:ViaService": service}},
                )
            )
        kubernetes = self._kubernetes()
        if kubernetes is not None:
            name = Fn.select(1, Fn.split("/", kubernetes)) if is_unknown(kubernetes) else kubernetes.rpartition("/")[2]
            entries = stack.format_arn(service="eks", resource="access-entry", resource_name=f"{name}/*")
            for actions, arn in ((_OF_EKS, kubernetes), (_OF_ENTRIES, entries)):
                policy.add_statements(iam.PolicyStatement(actions=actions, resources=[arn]))
        return self._mistakes()

    def _keys(self) -> list[str]:
        """The ARNs of the keys of the groups' volumes, which may be given as ids."""
        specs = (spec for kind in _KINDS.values() for spec in _specs(self._cluster, kind))
        volumes = (volume.get("EbsVolumeConfig") or {} for spec in specs for volume in spec.get("InstanceStorageConfigs") or ())
        keys = _texts(volume["VolumeKmsKeyId"] for volume in volumes if "VolumeKmsKeyId" in volume)
        return [key if is_unknown(key) or key.startswith("arn:") else self._key_arn(key) for key in keys]

    def _key_arn(self, id: str) -> str:
        return Stack.of(self).format_arn(service="kms", resource="key", resource_name=id)

    def _kubernetes(self) -> str | None:
        """The ARN of the EKS cluster that orchestrates."""
        orchestrator = (rendered(self._cluster) or {}).get("Orchestrator") or {}
        arn = (orchestrator.get("Eks") or {}).get("ClusterArn")
        return None if arn is None else _texts([arn])[0]

    def _mistakes(self) -> list[str]:
        properties = rendered(self._cluster)
        return (
            []
            if properties is None
            else [*self._unknown_groups(), *self._patching_mistakes("Eks" in properties.get("Orchestrator", {}))]
        )

    def _unknown_groups(self) -> Iterator[str]:
        for restricted, wanted in ((False, self._groups), (True, self._restricted)):
            specs = _specs(self._cluster, _KINDS[restricted])
            names = [spec.get("InstanceGroupName") for spec in specs]
            if not all(map(_has_known_name, specs)):
                continue
            for name in wanted:
                if name not in names and not is_unknown(name):
                    kind, there = "restricted group" if restricted else "group", ", ".join(map(repr, names)) or "none"
                    yield f"{kind} {name!r} has fields; the cluster has {there}; write one of these names"

    def _patching_mistakes(self, eks: bool) -> Iterator[str]:
        specs = {spec["InstanceGroupName"]: spec for spec in _specs(self._cluster, "InstanceGroups") if _has_known_name(spec)}
        for name, fields in self._groups.items():
            patch, config = fields.auto_patch, specs.get(name, {}).get("AutoPatchConfig")
            if isinstance(patch, DrainPatching) and not eks:
                yield str(patching.drain_first_on_slurm(name))
            elif isinstance(patch, DrainPatching) and config is not None:
                yield str(patching.two_strategies(name, str(config.get("PatchingStrategy"))))
            elif isinstance(patch, IdlePatching) and name in specs and config is None:
                yield str(patching.no_patching(name))

    def _statements(self) -> list[Statement]:
        update = Statement(actions=["sagemaker:DescribeCluster", "sagemaker:UpdateCluster"], resources=[self._cluster.cluster_arn])
        return [update] if self._roles is None else [update, _pass([role.role_arn for role in self._roles])]


def _pass(roles: list[str]) -> Statement:
    return Statement(
        actions=["iam:PassRole"],
        resources=roles,
        conditions={"StringEquals": {"iam:PassedToService": node_permissions.NODES_PRINCIPAL}},
    )


def _late(produce: Callable[[], list[str]]) -> list[str]:
    """As many tokens as there are texts now; what a text of another stack becomes is known later."""
    return [Token.as_string(resolved_value(partial(_item, produce, index))) for index in range(len(produce()))]


def _item(produce: Callable[[], list[str]], index: int) -> str:
    return produce()[index]


def _texts(values: Iterable[Any]) -> list[str]:
    """Texts and functions, each once and as a text."""
    found = {json.dumps(value, sort_keys=True): value for value in values}
    return [Token.as_string(value) if is_function(value) else value for value in found.values()]


def _specs(cluster: Clusterlike, kind: str) -> list[Mapping[str, Any]]:
    found = (rendered(cluster) or {}).get(kind)
    return [spec for spec in found if isinstance(spec, Mapping)] if isinstance(found, list) else []


def _has_known_name(spec: Mapping[str, Any]) -> bool:
    return isinstance(spec.get("InstanceGroupName"), str)


def _struct(value: Any) -> Any:
    return value.render() if hasattr(value, "render") else value


def _checks(multi_node: bool) -> dict[str, Any]:
    return {"OnStartDeepHealthChecks": [patching.MULTI_NODE_CHECK]} if multi_node else {}


def _schedule(date: datetime | None) -> dict[str, Any]:
    if date is None:
        return {}
    return {"PatchSchedule": {"NextPatchDate": date.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}}


def _check_date(date: datetime | None) -> None:
    if date is not None and date.tzinfo is None:
        raise ValueError(f"next_patch_date is {date.isoformat()}, without a time zone; write datetime(..., tzinfo=UTC)")


def _check_any(fields: GroupFields | RestrictedGroupFields) -> None:
    if not fields.render():
        raise ValueError(f"{type(fields).__name__} has no field; give it one, or leave the group out")
