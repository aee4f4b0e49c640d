"""Extensions of clusters: created, updated and deleted over time, node by node.

The documentation does not settle these, so they are decided here: which versions exist, beside that the newest is installed when
none is named; the configuration of an extension is any JSON object, merged as RFC 7396 says; an extension in work refuses an
update and a deletion; and a node that joins later has the extension when it is Running.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateClusterExtension.html
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_constructs.facts import extensions as facts
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.changes import mapped
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.hyperpod.rules import refusal
from hyperpod_constructs.local.hyperpod.state import Cluster
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.timed_service import Operation, Parameters
from hyperpod_constructs.local.times import moment, second_of

OFFERED: Mapping[str, tuple[str, ...]] = {facts.OBSERVABILITY: ("1.2.0", "1.1.0", "1.0.0")}
"""The extensions and their versions, the highest first. AWS names the extension and publishes no versions: these are examples."""

Find = Callable[[Parameters, Caller], Cluster]
"""The cluster that a request names."""

_WORKING = {"Creating": "CreateFailed", "Updating": "UpdateFailed", "Deleting": "DeleteFailed"}
"""The states in which the service is at work, with the state of a failure on every node."""


@dataclass(eq=False)
class Extension:
    """An extension of a cluster. `change` counts its creation and its updates; only the newest ends by itself."""

    name: str
    arn: str
    version: str
    configuration: dict[str, Any]
    tags: dict[str, str]
    created: float
    modified: float
    status: str = "Creating"
    change: int = 0
    tokens: dict[str, Mapping[str, Any]] = field(default_factory=dict)


class Extensions:
    """The extensions of every cluster."""

    def __init__(self, faults: Faults, find: Find) -> None:
        self._faults = faults
        self._find_cluster = find
        self._made: dict[str, dict[str, Extension]] = {}

    def operations(self) -> dict[str, Operation]:
        """The operations by name."""
        return {
            "CreateClusterExtension": self._create,
            "UpdateClusterExtension": self._update,
            "DescribeClusterExtension": self._describe,
            "DeleteClusterExtension": self._delete,
            "ListClusterExtensions": self._list,
            "ListClusterExtensionVersions": _list_versions,
        }

    def find(self, arn: str) -> Extension | None:
        """The extension with this ARN."""
        return next((found for found in self._all() if found.arn == arn), None)

    def forget(self, cluster_arn: str | None = None) -> None:
        """Forget the extensions of a cluster, or all."""
        if cluster_arn is None:
            self._made.clear()
        else:
            self._made.pop(cluster_arn, None)

    def _all(self) -> Iterator[Extension]:
        for those in self._made.values():
            yield from those.values()

    def _create(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster, name = self._cluster(parameters, caller), parameters["ExtensionName"]
        there = self._made.setdefault(cluster.arn, {})
        repeated = _sent_before(there.values(), parameters, now)
        if repeated is not None:
            return {"ExtensionArn": repeated.arn}
        _check_cluster(cluster, name)
        if any(found.name == name for found in there.values()):
            raise AwsError("ResourceInUse", f"Extension {name} already exists on cluster {cluster.name}.")
        version = _version(name, parameters.get("ExtensionVersion"))
        configuration = _merged({}, _read(parameters))
        prefix = cluster.arn.rpartition(":cluster/")[0]
        arn = f"{prefix}:extension/sagemaker-{cluster.cluster_id}/{name}/{secrets.token_hex(6)}"
        extension = Extension(name, arn, version, configuration, mapped(parameters.get("Tags", ())), now, now)
        _remember(extension, parameters)
        there[arn] = extension
        self._work(cluster, extension, now)
        return {"ExtensionArn": arn}

    def _update(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster, extension = self._extension(parameters, caller)
        if _sent_before([extension], parameters, now) is not None:
            return {"ExtensionArn": extension.arn}
        _check_idle(extension, "updated")
        wanted = parameters.get("ExtensionVersion")
        if wanted is not None and _order(wanted) <= _order(extension.version):
            raise refusal(
                f"ExtensionVersion {wanted} of extension {extension.name} must be later than the current one, {extension.version}"
            )
        if wanted is not None:
            extension.version = _version(extension.name, wanted)
        extension.configuration = _merged(extension.configuration, _read(parameters))
        extension.status, extension.modified = "Updating", now
        _remember(extension, parameters)
        self._work(cluster, extension, now)
        return {"ExtensionArn": extension.arn}

    def _delete(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster, extension = self._extension(parameters, caller)
        _check_idle(extension, "deleted")
        extension.status, extension.modified = "Deleting", now
        self._work(cluster, extension, now)
        return {"ExtensionArn": extension.arn}

    def _describe(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster, extension = self._extension(parameters, caller)
        running, issues = _running(cluster), self._issues(cluster, extension)
        active = 0 if extension.status in _WORKING else running - sum(issue["NodeCount"] for issue in issues)
        details: dict[str, Any] = {
            "ClusterArn": cluster.arn,
            **_summary(extension, self._status(cluster, extension)),
            "ConfigurationValues": json.dumps(extension.configuration, sort_keys=True),
            "LastModifiedTime": moment(extension.modified),
        }
        answer = {"ExtensionDetails": details, "NodeSummary": {"TotalCount": running, "ActiveCount": active}}
        return answer | ({"Health": {"Issues": issues}} if issues and extension.status not in _WORKING else {})

    def _list(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._cluster(parameters, caller)
        after, before = second_of(parameters.get("CreationTimeAfter")), second_of(parameters.get("CreationTimeBefore"))
        found = [
            extension
            for extension in self._made.get(cluster.arn, {}).values()
            if (after is None or extension.created >= after) and (before is None or extension.created <= before)
        ]
        chosen, following = page(found, parameters, 100, "ValidationException")
        return {"Extensions": [_summary(each, self._status(cluster, each)) for each in chosen], **following}

    def _cluster(self, parameters: Parameters, caller: Caller) -> Cluster:
        return self._find_cluster({"ClusterName": parameters["ClusterArn"]}, caller)

    def _extension(self, parameters: Parameters, caller: Caller) -> tuple[Cluster, Extension]:
        cluster, arn = self._cluster(parameters, caller), parameters["ExtensionArn"]
        extension = self._made.get(cluster.arn, {}).get(arn)
        if extension is None:
            raise AwsError("ResourceNotFound", f"Extension {arn} not found on cluster {cluster.name}.")
        return cluster, extension

    def _work(self, cluster: Cluster, extension: Extension, now: float) -> None:
        """Let the service finish its work on the nodes, after the time of one transition."""
        extension.change += 1
        change = extension.change

        def end(_: float) -> None:
            if extension.change != change:
                return
            failed = self._failed(cluster, extension) == _running(cluster) > 0
            if extension.status == "Deleting" and not failed:
                self._made.get(cluster.arn, {}).pop(extension.arn, None)
            else:
                extension.status = _WORKING[extension.status] if failed else "Active"

        cluster.timeline.at(now + self._faults.slow_creation, end)

    def _status(self, cluster: Cluster, extension: Extension) -> str:
        """Its state; what is Active is Degraded while nodes have a problem."""
        return "Degraded" if extension.status == "Active" and self._failed(cluster, extension) else extension.status

    def _failed(self, cluster: Cluster, extension: Extension) -> int:
        return sum(issue["NodeCount"] for issue in self._issues(cluster, extension))

    def _issues(self, cluster: Cluster, extension: Extension) -> list[dict[str, Any]]:
        """The problems that a test has injected, on the Running nodes of each group."""
        counts: Counter[tuple[str, str]] = Counter()
        for place, text in self._faults.extension_issues.items():
            name, _, group = place.partition("/")
            code, _, message = text.partition(": ")
            if name == extension.name:
                counts[code, message] += _running(cluster, group or None)
        return [{"Code": code, "Message": text, "NodeCount": count} for (code, text), count in counts.most_common(20) if count]


def _list_versions(parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
    chosen, following = page(OFFERED.get(parameters["ExtensionName"], ()), parameters, 100, "ValidationException")
    return {"ExtensionVersions": [{"ExtensionVersion": version} for version in chosen], **following}


def _check_cluster(cluster: Cluster, name: str) -> None:
    if "Eks" in cluster.settings.get("Orchestrator", {}):
        raise refusal(str(facts.unsupported_cluster(name, "EKS")))
    if not cluster.continuous:
        raise refusal(str(facts.unsupported_cluster(name, "no NodeProvisioningMode")))
    if cluster.status != "InService":
        raise AwsError("ConflictException", f"Cluster {cluster.name} is in state {cluster.status}; it must be InService.")


def _check_idle(extension: Extension, what: str) -> None:
    if extension.status in _WORKING:
        raise AwsError(
            "ConflictException", f"Extension {extension.name} is in state {extension.status}; it cannot be {what} meanwhile."
        )


def _version(name: str, wanted: str | None) -> str:
    offered = OFFERED.get(name)
    if offered is None:
        raise refusal(f"Extension {name} does not exist; the embedded AWS has {', '.join(OFFERED)}")
    if wanted is not None and wanted not in offered:
        raise refusal(f"Extension {name} has no version {wanted}; the embedded AWS offers {', '.join(offered)}")
    return offered[0] if wanted is None else wanted


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _read(parameters: Parameters) -> dict[str, Any]:
    text = parameters.get("ConfigurationValues", "{}")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise refusal(f"ConfigurationValues is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise refusal("ConfigurationValues is not a JSON object")
    return found


def _merged(current: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """The settings after a change: null takes one away, and others stay."""
    merged = dict(current)
    for name, value in change.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            inside = merged.get(name)
            merged[name] = _merged(inside if isinstance(inside, dict) else {}, value)
        else:
            merged[name] = value
    return merged


def _sent_before(extensions: Any, parameters: Parameters, now: float) -> Extension | None:
    """The extension of an earlier request with the same token."""
    token = parameters.get("ClientToken")
    for extension in extensions:
        if token and token in extension.tokens and now - extension.created <= facts.TOKEN_HOURS * 3600:
            if extension.tokens[token] != parameters:
                raise AwsError("ConflictException", f"ClientToken {token} was used with other parameters")
            return extension  # type: ignore[no-any-return]
    return None


def _remember(extension: Extension, parameters: Parameters) -> None:
    if parameters.get("ClientToken"):
        extension.tokens[parameters["ClientToken"]] = dict(parameters)


def _summary(extension: Extension, status: str) -> dict[str, Any]:
    return {
        "ExtensionArn": extension.arn,
        "ExtensionName": extension.name,
        "ExtensionVersion": extension.version,
        "Status": status,
        "CreationTime": moment(extension.created),
    }


def _running(cluster: Cluster, group: str | None = None) -> int:
    return sum(node.status == "Running" and group in (None, node.group) for node in cluster.nodes())
