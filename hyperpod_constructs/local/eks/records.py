"""What the embedded EKS remembers: clusters with what belongs to them, and updates."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import partition
from hyperpod_constructs.local.hyperpod.background import Task
from hyperpod_constructs.local.kubernetes.interface import RunningControlPlane
from hyperpod_constructs.local.timed_service import Parameters

INVALID, REFUSED = "InvalidParameterException", "InvalidRequestException"
IN_USE, MISSING = "ResourceInUseException", "ResourceNotFoundException"


def invalid(message: str) -> AwsError:
    """The error for a parameter that is wrong."""
    return AwsError(INVALID, message)


def refusal(message: str) -> AwsError:
    """The error for a request that does not suit the state of things."""
    return AwsError(REFUSED, message)


@dataclass
class Update:
    """A change that takes time: `effect` holds when it ends."""

    kind: str
    params: dict[str, str]
    created: float
    due: float
    of: str = ""
    """The node group or add-on; empty for the cluster."""
    effect: Callable[[], None] = lambda: None
    status: str = "InProgress"
    identifier: str = field(default_factory=lambda: str(uuid.uuid4()))

    def advance(self, now: float) -> None:
        """End it when its time has come."""
        if self.status == "InProgress" and now >= self.due:
            self.status = "Successful"
            self.effect()

    def describe(self) -> dict[str, Any]:
        """As DescribeUpdate answers it."""
        return {
            "id": self.identifier,
            "status": self.status,
            "type": self.kind,
            "params": [{"type": key, "value": value} for key, value in self.params.items()],
            "createdAt": moment(self.created),
            "errors": [],
        }


@dataclass
class Child:
    """A node group or an add-on: `body` has the members that describe it, beside its state."""

    arn: str
    created: float
    due: float
    body: dict[str, Any]
    tags: dict[str, str]
    status: str = "CREATING"
    modified: float = 0.0
    zones: tuple[str, ...] = ()
    """The zones of the subnets of a node group."""

    def advance(self, now: float) -> bool:
        """End what its time has come for. False for one that is gone."""
        if now >= self.due and self.status == "CREATING":
            self.status = "ACTIVE"
        return not (self.status == "DELETING" and now >= self.due)

    def describe(self) -> dict[str, Any]:
        """As the API answers it."""
        return {
            **self.body,
            "status": self.status,
            "createdAt": moment(self.created),
            "modifiedAt": moment(self.modified or self.created),
            **({"tags": self.tags} if self.tags else {}),
        }


@dataclass
class Record:
    """An access entry or a pod identity association, which is there at once."""

    arn: str
    created: float
    body: dict[str, Any]
    tags: dict[str, str]
    modified: float = 0.0
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By ARN, the access policies of an entry."""

    def describe(self) -> dict[str, Any]:
        """As the API answers it."""
        times = {"createdAt": moment(self.created), "modifiedAt": moment(self.modified or self.created)}
        return {**self.body, **times, **({"tags": self.tags} if self.tags else {})}


@dataclass
class Cluster:
    """A cluster with its control plane; `body` has the members of its description that the request and the network give."""

    caller: Caller
    name: str
    arn: str
    created: float
    due: float
    body: dict[str, Any]
    tags: dict[str, str]
    oidc: str
    webhook: str
    """Where the control plane asks whom a token belongs to."""
    status: str = "CREATING"
    control: RunningControlPlane | None = None
    task: Task | None = None
    failure: str = ""
    interfaces: list[str] = field(default_factory=list)
    protected: bool = False
    raised: tuple[str, float] | None = None
    """The version before the last update, and when that was."""
    updates: dict[str, Update] = field(default_factory=dict)
    node_groups: dict[str, Child] = field(default_factory=dict)
    addons: dict[str, Child] = field(default_factory=dict)
    entries: dict[str, Record] = field(default_factory=dict)
    associations: dict[str, Record] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """The version of Kubernetes."""
        return str(self.body["version"])

    @property
    def mode(self) -> str:
        """The authentication mode."""
        return str(self.body["accessConfig"]["authenticationMode"])

    def advance(self, now: float) -> None:
        """End what its time has come for."""
        if self.status == "CREATING" and self.task is not None and self.task.done and (self.failure or now >= self.due):
            self.status = "FAILED" if self.failure else "ACTIVE"
        for update in self.updates.values():
            update.advance(now)
        if self.status == "UPDATING" and not any(item.status == "InProgress" and not item.of for item in self.updates.values()):
            self.status = "ACTIVE"
        for children in (self.node_groups, self.addons):
            for key in [key for key, child in children.items() if not child.advance(now)]:
                del children[key]

    def require_active(self) -> None:
        """Refuse what only an active cluster takes.

        :raises AwsError: unless it is active.
        """
        if self.status != "ACTIVE":
            raise refusal(f"Cluster '{self.name}' is not in ACTIVE status: it is {self.status}")

    def prefix(self, kind: str) -> str:
        """The beginning of the ARNs of what belongs to it."""
        region, account = self.caller.region, self.caller.account
        return f"arn:{partition(region)}:eks:{region}:{account}:{kind}/{self.name}"

    def begin(self, update: Update) -> dict[str, Any]:
        """Take an update on, and answer with it."""
        self.updates[update.identifier] = update
        return {"update": update.describe()}


class Find(Protocol):
    """Finds the cluster that a request names."""

    def __call__(self, name: str, caller: Caller) -> Cluster:
        """The cluster.

        :raises AwsError: if the caller has none of this name.
        """


def moment(seconds: float) -> datetime:
    """A time as the service answers it."""
    return datetime.fromtimestamp(seconds, UTC)


def child_of(children: dict[str, Child], name: str, what: str, cluster: Cluster) -> Child:
    """The node group or add-on of this name.

    :raises AwsError: if there is none.
    """
    found = children.get(name)
    if found is None:
        raise AwsError(MISSING, f"No {what}: {name} found in cluster: {cluster.name}", 404)
    return found


def page_parameters(parameters: Parameters) -> dict[str, Any]:
    """The parameters of a page as `paging.page` names them."""
    return {"MaxResults": parameters.get("maxResults"), "NextToken": parameters.get("nextToken")}


def following(token: dict[str, str]) -> dict[str, str]:
    """The token of the next page as EKS names it."""
    return {"nextToken": token["NextToken"]} if token else {}
