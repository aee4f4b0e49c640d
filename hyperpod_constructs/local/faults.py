"""What a test can make go wrong in the embedded HyperPod and FSx: one object, shared by the services and the control
endpoint.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from hyperpod_constructs.local.quota_names import LARGE, names

DEFAULT_TRANSITION_SECONDS = 0.5


@dataclass
class Faults:
    """Faults to inject; a new object injects none. Takes effect at the next transition or request, for clusters that
    exist too.

    As JSON it is one object with the fields' names as keys; a key that is left out has its default, so `{}` heals
    everything:

        {"no_capacity": ["workers", "ml.p5.48xlarge"],
         "failing_scripts": {"controller": "mount.lustre: connection timed out"},
         "throttle": {"CreateCluster": 2},
         "unhealthy": {"controller": 1},
         "faulty": {"workers": 1},
         "extension_issues": {"sagemaker-observability/workers": "AccessDenied: the role lacks aps:RemoteWrite"},
         "quotas": {"ml.p5.48xlarge for cluster usage": 0},
         "slow_creation": 3.0}
    """

    no_capacity: frozenset[str] = frozenset()
    """Names of instance groups and instance types for which there is no capacity."""

    failing_scripts: Mapping[str, str] = field(default_factory=dict)
    """Instance group to the last line that its lifecycle script logs before it exits with 1."""

    throttle: Mapping[str, int] = field(default_factory=dict)
    """Operation (`CreateCluster`) to the number of its next calls that are answered with ThrottlingException."""

    unhealthy: Mapping[str, int] = field(default_factory=dict)
    """Instance group to the number of its next launches that yield an unhealthy instance: an error that the service retries."""

    faulty: Mapping[str, int] = field(default_factory=dict)
    """Instance group to the number of its nodes in which the next deep health checks find a fault."""

    extension_issues: Mapping[str, str] = field(default_factory=dict)
    """Extension, or extension and instance group with a slash between, to the code and the message of a problem on their nodes. An
    extension with a problem on every node fails, and one with a problem on some is Degraded."""

    quotas: Mapping[str, int] = field(default_factory=dict)
    """Name of a service quota to its value; a quota that is not named is large."""

    slow_creation: float = DEFAULT_TRANSITION_SECONDS
    """Seconds that one transition takes, such as Creating to InService of a file system, or Pending to Running of a
    node.
    """

    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @classmethod
    def from_json(cls, mapping: Mapping[str, Any]) -> Faults:
        """The faults that a JSON object describes.

        :raises ValueError: for an unknown key or a value of another kind.
        """
        known = [item.name for item in fields(cls) if item.init]
        for key in mapping:
            if key not in known:
                raise ValueError(f"faults: found the key {key!r}; allowed are {', '.join(known)}")
        values: dict[str, Any] = dict(mapping)
        if "no_capacity" in values:
            values["no_capacity"] = frozenset(_strings("no_capacity", values["no_capacity"]))
        if "failing_scripts" in values:
            _mapping_of("failing_scripts", values["failing_scripts"], str, "instance group to a log line")
        if "throttle" in values:
            _mapping_of("throttle", values["throttle"], int, "operation to a number of calls")
        if "unhealthy" in values:
            _mapping_of("unhealthy", values["unhealthy"], int, "instance group to a number of launches")
        if "faulty" in values:
            _mapping_of("faulty", values["faulty"], int, "instance group to a number of nodes")
        if "extension_issues" in values:
            _mapping_of("extension_issues", values["extension_issues"], str, "extension to a code and a message")
        if "quotas" in values:
            _quotas(values["quotas"])
        if "slow_creation" in values:
            values["slow_creation"] = _seconds(values["slow_creation"])
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """The JSON object of `from_json`."""
        with self._lock:
            return {
                "no_capacity": sorted(self.no_capacity),
                "failing_scripts": dict(self.failing_scripts),
                "throttle": dict(self.throttle),
                "unhealthy": dict(self.unhealthy),
                "faulty": dict(self.faulty),
                "extension_issues": dict(self.extension_issues),
                "quotas": dict(self.quotas),
                "slow_creation": self.slow_creation,
            }

    def assign(self, other: Faults) -> None:
        """Take the other's values: the way to change faults that services share."""
        with self._lock:
            self.no_capacity = other.no_capacity
            self.failing_scripts = dict(other.failing_scripts)
            self.throttle = dict(other.throttle)
            self.unhealthy = dict(other.unhealthy)
            self.faulty = dict(other.faulty)
            self.extension_issues = dict(other.extension_issues)
            self.quotas = dict(other.quotas)
            self.slow_creation = other.slow_creation

    def quota(self, name: str) -> int:
        """The value of a service quota."""
        return self.quotas.get(name, LARGE)

    def take_throttle(self, operation: str) -> bool:
        """Whether this call of the operation is to be throttled; counts it."""
        with self._lock:
            self.throttle, taken = _counted(self.throttle, operation)
            return taken

    def take_unhealthy(self, group: str) -> bool:
        """Whether this launch of the group is to yield an unhealthy instance; counts it."""
        with self._lock:
            self.unhealthy, taken = _counted(self.unhealthy, group)
            return taken

    def take_faulty(self, group: str) -> bool:
        """Whether the checks of this node of the group are to find a fault; counts it."""
        with self._lock:
            self.faulty, taken = _counted(self.faulty, group)
            return taken


def _counted(left: Mapping[str, int], key: str) -> tuple[Mapping[str, int], bool]:
    return ({**left, key: left[key] - 1}, True) if left.get(key, 0) > 0 else (left, False)


def _strings(key: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"faults: found {value!r} for {key!r}; write a list of instance groups or types, such as ['workers']")
    return value


def _mapping_of(key: str, value: Any, kind: type, meaning: str) -> None:
    if not isinstance(value, Mapping) or not all(type(item) is kind for item in value.values()):
        raise ValueError(f"faults: found {value!r} for {key!r}; write an object that maps {meaning}")


def _quotas(value: Any) -> None:
    _mapping_of("quotas", value, int, "the name of a service quota to its value")
    for name, number in value.items():
        if name not in names():
            raise ValueError(
                f"faults: found the quota {name!r}; write a name of Service Quotas, such as 'ml.p5.48xlarge for cluster usage'"
            )
        if number < 0:
            raise ValueError(f"faults: found {number} for the quota {name!r}; write 0 or more")


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ValueError(f"faults: found {value!r} for 'slow_creation'; write a number of seconds, 0 or more")
    return float(value)
