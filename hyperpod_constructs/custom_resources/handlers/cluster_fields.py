"""Fields of a cluster's groups that the API takes and CloudFormation does not.

It reads the cluster, sets only its own fields, and calls `UpdateCluster` with the groups as they are. CloudFormation's own updates
drop the fields, so this resource runs again after each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import answers, resource
from .aws import LOOK_SECONDS, Patient, code, transient, unsettled
from .errors import OperationError, describe, fit
from .group_specs import IMAGES, KINDS, Path, converted, differences, group_requests, with_fields, without_fields
from .redaction import one_line
from .resource import Done, Replace, Request, Resource, Started, Undo, Waiting
from .wire.models import model

# Times in which the start of an operation repeats calls.
_START_SECONDS, _RENAMED_SECONDS = 60.0, 20.0

# The service may not show a field at once, or never. So a later look asks for the same again only in the first part of each period.
_PERIOD_SECONDS, _PART_SECONDS = 120.0, 20.0

_BUSY = ("Creating", "Updating", "RollingBack", "SystemUpdating")
_LOST = ("Failed", "Deleting")
_ATTRIBUTE_BYTES = 1200

DEFAULTS: Mapping[Path, Any] = {
    ("AutoPatchConfig", "IdleWaitWindowInSeconds"): 86_400,
    ("AutoPatchConfig", "DrainPolicy", "DrainTimeoutInSeconds"): 3600,
    ("AutoPatchConfig", "DrainPolicy", "OnDrainTimeout"): "Skip",
    ("ScheduledUpdateConfig",): None,
}
"""The service's defaults of fields; none is left out, with all that is in it.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAutoPatchConfig.html
"""

DRAINING = "DrainFirst"
"""A strategy that CloudFormation does not know: the whole configuration is ours then."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupProperties:
    """The fields of one group, with the names of the API."""

    name: str
    fields: Mapping[str, Any]
    kind: str = "InstanceGroups"


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldsProperties:
    """The cluster and its groups. `stated` names the members of groups that the template states, such as `workers/ImageId`."""

    cluster_arn: str
    groups: tuple[GroupProperties, ...]
    stated: tuple[str, ...] = ()


_Groups = dict[str, list[dict[str, Any]]]


class ClusterFields(Resource[FieldsProperties]):
    """Sets the fields, and sets them again until the service shows them. A deletion brings the service's defaults back."""

    properties = FieldsProperties

    def create(self, request: Request[FieldsProperties], undo: Undo) -> str:
        """Set the fields, unless the service is at work on the cluster: then `created` does it."""
        wanted = request.properties
        sagemaker = self._patient(_START_SECONDS, patient_with_new=True)
        cluster = sagemaker.call("describe_cluster", ClusterName=wanted.cluster_arn)
        if _settled(cluster):
            before, after = self._wanted(cluster, wanted, None)
            if before != after:
                undo.push("the fields", lambda: self._reset_soon(wanted, undo.until))
            self._set(sagemaker, wanted.cluster_arn, before, after)
        return f"fields|{wanted.cluster_arn}"

    def update(self, physical_id: str, request: Request[FieldsProperties]) -> Started:
        """Set the fields, and bring those back to their defaults that the properties no longer have.

        The attribute `Drift` tells what was otherwise than the last deployment had set it.

        :raises Replace: for another cluster.
        """
        wanted, identity = request.properties, f"fields|{request.properties.cluster_arn}"
        if identity != physical_id:
            raise Replace
        previous, sagemaker = request.previous, self._patient(_START_SECONDS)
        if previous is not None and previous.cluster_arn != wanted.cluster_arn:
            self._reset_renamed(previous, request)
            previous = None
        cluster = sagemaker.call("describe_cluster", ClusterName=wanted.cluster_arn)
        drift = self._drift(cluster, previous)
        if _settled(cluster):
            before, after = self._wanted(cluster, wanted, previous)
            self._set(sagemaker, wanted.cluster_arn, before, after)
        return Started(physical_id, {"Drift": fit(drift, _ATTRIBUTE_BYTES)})

    def delete(self, physical_id: str) -> None:
        """Nothing: without its properties nobody knows the fields."""

    def end(self, physical_id: str, request: Request[FieldsProperties] | None) -> None:
        """Bring the service's defaults back, unless the service is at work on the cluster: then `ended` does it."""
        if request is not None:
            self._reset(physical_id, request, self._patient(_START_SECONDS), ask=True)

    def created(self, physical_id: str, request: Request[FieldsProperties]) -> Waiting | Done:
        """Whether the service shows the fields and has ended its work.

        :raises OperationError: for a cluster that failed, or if the time is over.
        """
        now = self._clock()
        state = self._look(request, now)
        if isinstance(state, Waiting) and now >= request.deadline:
            raise OperationError(f"{state.reason} (after {round((now - request.started) / 60)} min)")
        return state

    def ended(self, physical_id: str, request: Request[FieldsProperties] | None) -> bool:
        """Whether no field has our value any more; at the end of the time, the log tells what remains."""
        if request is None:
            return True
        now = self._clock()
        late = now >= request.deadline
        rest = self._reset(physical_id, request, self._patient(LOOK_SECONDS), ask=_asks(request, now))
        if rest and late:
            resource.logger.warning("left as they are: %s", rest)
        return late or not rest

    def _patient(self, seconds: float, *, patient_with_new: bool = False) -> Patient:
        """A client that repeats calls. The policy of a creation may be so new that a service does not know it."""

        def again(error: Exception) -> bool:
            return transient(error) or (patient_with_new and unsettled(error))

        return Patient(self._clients("sagemaker"), self._clock() + seconds, self._clock, self._sleep, again)

    def _look(self, request: Request[FieldsProperties], now: float) -> Waiting | Done:
        wanted, sagemaker = request.properties, self._patient(LOOK_SECONDS)
        cluster = sagemaker.call("describe_cluster", ClusterName=wanted.cluster_arn)
        name = answers.shown(cluster, "ClusterName", otherwise=wanted.cluster_arn)
        if not _settled(cluster):
            status = answers.shown(cluster, "ClusterStatus", otherwise="of unknown status")
            return Waiting(f"DescribeCluster: cluster {name} is {status}; the fields wait until it is InService")
        old = request.previous
        before, after = self._wanted(cluster, wanted, old if old and old.cluster_arn == wanted.cluster_arn else None)
        if before != after:
            if _asks(request, now):
                self._set(sagemaker, wanted.cluster_arn, before, after)
            return Waiting(f"UpdateCluster: cluster {name} does not show the fields yet: {_changed(before, after)}")
        return Done(_attributes(wanted, before))

    def _wanted(
        self, cluster: Mapping[str, Any], wanted: FieldsProperties, previous: FieldsProperties | None
    ) -> tuple[_Groups, _Groups]:
        """The groups as they are and as they shall be. A group that is gone is in neither."""
        before = _groups(cluster, wanted)
        ours, old = _fields(wanted), {} if previous is None else _fields(previous)
        after: _Groups = {}
        for kind, specs in before.items():
            after[kind] = []
            for spec in specs:
                key = (kind, spec["InstanceGroupName"])
                mine = ours.get(key, {})
                reset = without_fields(spec, old.get(key, {}), mine, _defaults(old.get(key, {})))
                after[kind].append(with_fields(reset, mine, self._clock()))
        return {kind: [with_fields(spec, {}, self._clock()) for spec in specs] for kind, specs in before.items()}, after

    def _set(self, sagemaker: Patient, arn: str, before: _Groups, after: _Groups) -> bool:
        """Update the kinds of groups that change; whether the service has taken it.

        The cluster may change between the look and the update: then the update is refused or would be wrong, and a later look
        begins anew.
        """
        changed = {kind: specs for kind, specs in after.items() if specs != before[kind]}
        if not changed:
            return True
        try:
            sagemaker.call("update_cluster", ClusterName=arn, **changed)
        except Exception as error:
            if code(error) != "ConflictException":
                raise
            resource.logger.info("the service is at work on the cluster: %s", describe(error))
            return False
        return True

    def _drift(self, cluster: Mapping[str, Any], previous: FieldsProperties | None) -> str:
        """The fields of the last deployment that have other values now; CloudFormation's own update is a cause too."""
        if previous is None:
            return ""
        ours, found = _fields(previous), []
        for kind, specs in _groups(cluster, previous).items():
            for spec in specs:
                group = spec["InstanceGroupName"]
                found += [f"{group}: {text}" for text in differences(spec, ours.get((kind, group), {}))]
        drift = one_line("; ".join(found), 1000)
        if drift:
            resource.logger.warning("drift: %s", drift)
        return drift

    def _reset_renamed(self, before: FieldsProperties, request: Request[FieldsProperties]) -> None:
        """Reset the fields of another cluster: this update rolls back a change to it whose function may have been stopped.

        The rollback may have taken the permission away, and must go on without it.
        """
        asked = Request(properties=before, request_id=request.request_id, started=request.started, deadline=request.deadline)
        try:
            self._reset(f"fields|{before.cluster_arn}", asked, self._patient(_RENAMED_SECONDS), ask=True)
        except Exception as error:
            resource.logger.warning("the fields of %s may stay: %s", before.cluster_arn, describe(error))

    def _reset(self, physical_id: str, request: Request[FieldsProperties], sagemaker: Patient, *, ask: bool) -> str:
        """Bring the defaults back; returns what is not as it should be yet, in words."""
        arn, before = physical_id.removeprefix("fields|"), request.properties
        if ":cluster/" not in arn:
            return ""
        try:
            cluster = sagemaker.call("describe_cluster", ClusterName=arn)
        except Exception as error:
            if not code(error).startswith("ResourceNotFound"):
                raise
            return ""
        if answers.text(cluster, "ClusterStatus") in _LOST:
            return ""
        if not _settled(cluster):
            return f"the cluster is {answers.shown(cluster, 'ClusterStatus', otherwise='of unknown status')}"
        nothing = FieldsProperties(cluster_arn=arn, groups=(), stated=before.stated)
        current, after = self._wanted(cluster, nothing, before)
        if ask:
            self._set(sagemaker, arn, current, after)
        return _changed(current, after)

    def _reset_soon(self, wanted: FieldsProperties, until: float) -> None:
        """Bring the defaults back after a failed creation, which may have set the fields without an answer.

        :raises OperationError: if the service is at work on the cluster for too long.
        """
        sagemaker = self._patient(until - self._clock())
        request = Request(properties=wanted, request_id="", started=0.0, deadline=until)
        while rest := self._reset(f"fields|{wanted.cluster_arn}", request, sagemaker, ask=True):
            if self._clock() >= until:
                raise OperationError(rest)
            self._sleep(5.0)


def _settled(cluster: Mapping[str, Any]) -> bool:
    """Whether the service takes an update.

    :raises OperationError: for a cluster that failed or goes.
    """
    status = answers.text(cluster, "ClusterStatus")
    if not status:
        raise OperationError("DescribeCluster: the answer has no ClusterStatus; nothing was changed")
    if status in _LOST:
        why = answers.shown(cluster, "FailureMessage", otherwise="the service gives no reason", limit=1000)
        name = answers.shown(cluster, "ClusterName", otherwise="of unknown name")
        raise OperationError(f"DescribeCluster: cluster {name} is {status}, so its fields cannot be set: {why}")
    return status == "InService"


def _groups(cluster: Mapping[str, Any], wanted: FieldsProperties) -> _Groups:
    """The cluster's groups as requests; those that the service deletes are left out."""
    found = group_requests(model("sagemaker").operations["UpdateCluster"].input_shape, cluster)
    return {kind: [_without_images(spec, wanted) for spec in specs] for kind, specs in found.items()}


def _without_images(spec: dict[str, Any], wanted: FieldsProperties) -> dict[str, Any]:
    """A group without an image that only the service has chosen.

    :raises OperationError: if the answer lacks what the template states: sent so, CloudFormation's value would be lost.
    """
    name = spec["InstanceGroupName"]
    stated = [member.partition("/")[2] for member in wanted.stated if member.startswith(f"{name}/")]
    missing = [member for member in stated if member not in spec]
    if missing:
        raise OperationError(f"DescribeCluster: group {name} has no {missing[0]} in the answer; nothing was changed")
    return {member: value for member, value in spec.items() if member not in IMAGES or member in stated}


def _fields(wanted: FieldsProperties) -> dict[tuple[str, str], dict[str, Any]]:
    shape = model("sagemaker").operations["UpdateCluster"].input_shape
    found = {}
    for group in wanted.groups:
        if group.kind not in KINDS:
            raise OperationError(f"property Kind of group {group.name} is {group.kind!r}; allowed: {' or '.join(KINDS)}")
        found[group.kind, group.name] = converted(shape.members[group.kind].member, group.fields, group.name)
    return found


def _defaults(fields: Mapping[str, Any]) -> Mapping[Path, Any]:
    """The defaults of a group's fields. With a strategy of ours the whole configuration goes, and the group is not patched."""
    drains = fields.get("AutoPatchConfig", {}).get("PatchingStrategy") == DRAINING
    return {**DEFAULTS, ("AutoPatchConfig",): None} if drains else DEFAULTS


def _asks(request: Request[Any], now: float) -> bool:
    return (now - request.started) % _PERIOD_SECONDS < _PART_SECONDS


def _changed(before: _Groups, after: _Groups) -> str:
    """What an update changes, in words."""
    found = []
    for kind, specs in after.items():
        for old, new in zip(before[kind], specs, strict=True):
            members = [name for name in {**old, **new} if old.get(name) != new.get(name)]
            found += [f"{new['InstanceGroupName']}: {', '.join(members)}"] if members else []
    return one_line("; ".join(found), 500)


def _attributes(wanted: FieldsProperties, groups: _Groups) -> dict[str, str]:
    present = {(kind, spec["InstanceGroupName"]) for kind, specs in groups.items() for spec in specs}
    missing = [group.name for group in wanted.groups if (group.kind, group.name) not in present]
    if missing:
        resource.logger.warning("left out, because the cluster has no such group: %s", ", ".join(missing))
    return {"Groups": str(len(wanted.groups) - len(missing)), "LeftOut": fit(", ".join(missing), _ATTRIBUTE_BYTES), "Drift": ""}


FIELDS = ClusterFields()


def on_event(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Lambda entry: start an operation."""
    return resource.on_event(FIELDS, event, context=context)


def is_complete(event: dict[str, Any], _: object) -> dict[str, Any]:
    """Lambda entry: look whether an operation is complete."""
    return resource.is_complete(FIELDS, event)
