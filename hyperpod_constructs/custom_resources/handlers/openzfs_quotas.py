"""Sets quotas of users and groups on a volume of OpenZFS in place; CloudFormation would replace the file system.

The start of an operation calls nothing: each look compares the volume with the wanted quotas and asks for the change if no other
update is under way. So an event that comes twice, a lost answer or a killed function does no harm. Quotas of other ids stay: each
update sends them too, and a quota of 0 GiB for each that goes, so that it does not matter whether the service replaces its list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from botocore.exceptions import ClientError

from . import answers, resource
from .aws import LOOK_SECONDS, Patient, code
from .errors import OperationError
from .properties import PropertyError
from .resource import Done, Request, Resource, Undo, Waiting

_PREFIX = "openzfs-quotas|"

_GONE = frozenset({"DELETING", "FAILED"})
_LOST = _GONE | {"MISCONFIGURED"}
_UNDER_WAY = frozenset({"PENDING", "IN_PROGRESS"})
_KINDS = ("USER", "GROUP")

Owner: TypeAlias = tuple[str, int]
"""`USER` or `GROUP`, and the id."""
Quotas: TypeAlias = Mapping[Owner, int]
"""GiB by owner."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Quota:
    """The quota of a user or a group, in GiB."""

    type: str
    id: int
    gib: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Properties:
    """The volume and its quotas."""

    volume_id: str
    quotas: tuple[Quota, ...]

    def __post_init__(self) -> None:
        for quota in self.quotas:
            if quota.type not in _KINDS or quota.id < 0 or quota.gib < 1:
                raise PropertyError(
                    f"property Quotas has {quota.type} {quota.id} with {quota.gib} GiB; "
                    "allowed: USER or GROUP, an id of 0 or more, and 1 GiB or more"
                )

    @property
    def wanted(self) -> Quotas:
        """The quotas by owner."""
        return {(quota.type, quota.id): quota.gib for quota in self.quotas}


@dataclass(frozen=True)
class _Volume:
    """A volume as DescribeVolumes shows it."""

    shown: Mapping[str, Any]

    @property
    def lifecycle(self) -> str:
        return answers.text(self.shown, "Lifecycle")

    @property
    def quotas(self) -> Quotas | None:
        """Its quotas; one of 0 GiB is none. `None` if they cannot be read: an update would then take quotas of others away."""
        if not answers.structure(self.shown, "OpenZFSConfiguration"):
            return None
        found: dict[Owner, int] = {}
        for each in answers.structures(self.shown, "OpenZFSConfiguration", "UserAndGroupQuotas"):
            kind, number, gib = answers.text(each, "Type"), answers.number(each, "Id"), _gib(each)
            if kind not in _KINDS or number is None or gib is None:
                return None
            found[kind, number] = gib
        return {owner: gib for owner, gib in found.items() if gib}

    @property
    def busy(self) -> bool:
        """Whether an update is under way."""
        return self.lifecycle not in ("AVAILABLE", "CREATED") or any(
            answers.text(each, "Status") in _UNDER_WAY for each in self._updates()
        )

    def failure(self, wanted: Quotas, since: float) -> str | None:
        """Why an update to these quotas failed since then."""
        for each in self._updates():
            asked = answers.moment(each, "RequestTime")
            target = answers.structures(each, "TargetVolumeValues", "OpenZFSConfiguration", "UserAndGroupQuotas")
            asked_for = {(answers.text(one, "Type"), answers.number(one, "Id")): _gib(one) for one in target}
            is_ours = target and all(asked_for.get(owner) == gib for owner, gib in wanted.items())
            if is_ours and answers.text(each, "Status") == "FAILED" and asked is not None and asked.timestamp() >= since:
                return answers.shown(each, "FailureDetails", "Message", otherwise="the service gives no reason", limit=300)
        return None

    def _updates(self) -> list[Mapping[str, Any]]:
        found = answers.structures(self.shown, "AdministrativeActions")
        return [each for each in found if answers.text(each, "AdministrativeActionType") == "VOLUME_UPDATE"]


class OpenZfsQuotas(Resource[Properties]):
    """Quotas of one volume. A deletion takes those away that are still as the resource has set them."""

    properties = Properties

    def create(self, request: Request[Properties], undo: Undo) -> str:
        """The physical id, from the volume's."""
        return f"{_PREFIX}{request.properties.volume_id}"

    def update(self, physical_id: str, request: Request[Properties]) -> str:
        """The physical id; for another volume it is another one, and the deletion of the old one takes its quotas away there."""
        return f"{_PREFIX}{request.properties.volume_id}"

    def delete(self, physical_id: str) -> None:
        """Nothing: without its properties the resource does not know its own quotas."""

    def created(self, physical_id: str, request: Request[Properties]) -> Waiting | Done:
        """Whether the volume has the quotas, and no update is under way.

        :raises OperationError: if the volume is lost, the update failed, or the time is over.
        """
        wanted = request.properties.wanted
        earlier = request.previous
        same_volume = earlier is not None and earlier.volume_id == request.properties.volume_id
        dropped = set(earlier.wanted) - set(wanted) if earlier is not None and same_volume else set()
        now = self._clock()
        fsx, name = self._patient(now), request.properties.volume_id
        found = _described(fsx, name)
        said = f"DescribeVolumes: {name} is {answers.shown(found.shown, 'Lifecycle', otherwise='not shown')}"
        if found.lifecycle in _LOST:
            why = answers.shown(found.shown, "LifecycleTransitionReason", "Message", otherwise="no reason", limit=300)
            raise OperationError(f"{said}: {why}")
        current = found.quotas
        target = {**{owner: gib for owner, gib in (current or {}).items() if owner not in dropped}, **wanted}
        if target == current and not found.busy:
            return Done({})
        failure = found.failure(wanted, request.started)
        if failure is not None:
            raise OperationError(f"UpdateVolume: quotas of {name} failed: {failure}")
        if current is not None and not found.busy:
            self._set(fsx, name, target, dropped & set(current))
        if now >= request.deadline:
            raise OperationError(f"{said}, without the wanted quotas after {round((now - request.started) / 60)} min")
        return Waiting(f"{said}; its quotas become those of the template")

    def ended(self, physical_id: str, request: Request[Properties] | None) -> bool:
        """Whether the volume has no quota of this resource: they are taken away, someone set others, or the volume is gone.

        :raises OperationError: if the time is over.
        """
        name = physical_id.removeprefix(_PREFIX)
        if request is None or name == physical_id:
            return True
        now = self._clock()
        try:
            return self._is_off(name, request, now)
        except ClientError as error:
            if code(error) == "VolumeNotFound":
                return True
            raise

    def _is_off(self, name: str, request: Request[Properties], now: float) -> bool:
        fsx = self._patient(now)
        found = _described(fsx, name)
        current = found.quotas or {}
        own = {owner for owner, gib in request.properties.wanted.items() if current.get(owner) == gib}
        settled = found.quotas is not None and not found.busy
        if found.lifecycle in _GONE or (settled and not own):
            return True
        if settled:
            self._set(fsx, name, {owner: gib for owner, gib in current.items() if owner not in own}, own)
        if now >= request.deadline:
            raise OperationError(f"DescribeVolumes: {name} still has quotas of this resource")
        return False

    def _set(self, fsx: Patient, name: str, target: Quotas, dropped: set[Owner]) -> None:
        """Ask for quotas. A refusal beside an update of another, or of a call whose answer was lost, is no failure."""
        sent = {**target, **dict.fromkeys(sorted(dropped), 0)}
        quotas = [{"Type": kind, "Id": number, "StorageCapacityQuotaGiB": gib} for (kind, number), gib in sent.items()]
        try:
            fsx.call("update_volume", VolumeId=name, OpenZFSConfiguration={"UserAndGroupQuotas": quotas})
        except ClientError as error:
            if code(error) != "BadRequest" or not _described(fsx, name).busy:
                raise

    def _patient(self, now: float) -> Patient:
        return Patient(self._clients("fsx"), now + LOOK_SECONDS, self._clock, self._sleep)


def _gib(quota: Mapping[str, Any]) -> int | None:
    return answers.number(quota, "StorageCapacityQuotaGiB")


def _described(fsx: Patient, name: str) -> _Volume:
    found = answers.structures(fsx.call("describe_volumes", VolumeIds=[name]), "Volumes")
    return _Volume(next((each for each in found if answers.text(each, "VolumeId") == name), {}))


QUOTAS = OpenZfsQuotas()


def on_event(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Lambda entry: start an operation."""
    return resource.on_event(QUOTAS, event, context=context)


def is_complete(event: dict[str, Any], _: object) -> dict[str, Any]:
    """Lambda entry: look whether an operation is complete."""
    return resource.is_complete(QUOTAS, event)
