"""Lists as tables, as `kubectl get` asks for them."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hyperpod_constructs.facts.kubernetes import RBAC
from hyperpod_constructs.local.kubernetes.resources import Key, ResourceType
from hyperpod_constructs.local.kubernetes.values import at

Object = Mapping[str, Any]


class Column(NamedTuple):
    """A column: its title, how a cell is read, and its type."""

    title: str
    cell: Callable[[Object], Any]
    type: str = "string"
    format: str = ""


def _field(*path: str, default: Any = "<none>") -> Callable[[Object], Any]:
    def cell(obj: Object) -> Any:
        found = at(obj, *path)
        return default if found is None else found

    return cell


def _age(obj: Object) -> str:
    created = at(obj, "metadata", "creationTimestamp")
    return _since(created) if isinstance(created, str) else "<unknown>"


def _since(text: str) -> str:
    try:
        then = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        seconds = int((datetime.datetime.now(datetime.UTC) - then).total_seconds())
    except (ValueError, TypeError):
        return "<unknown>"
    for size, unit, limit in ((1, "s", 120), (60, "m", 120 * 60), (3600, "h", 48 * 3600)):
        if seconds < limit:
            return f"{max(0, seconds) // size}{unit}"
    return f"{seconds // 86400}d"


def _count(*path: str) -> Callable[[Object], Any]:
    return lambda obj: len(at(obj, *path) or ())


def _ready(obj: Object) -> str:
    return f"{at(obj, 'status', 'readyReplicas') or 0}/{at(obj, 'spec', 'replicas') or 0}"


def _ports(obj: Object) -> str:
    ports = at(obj, "spec", "ports") or ()
    shown = (f"{port.get('port')}" + (f":{port['nodePort']}" if port.get("nodePort") else "") for port in ports)
    return ",".join(f"{text}/{port.get('protocol', 'TCP')}" for text, port in zip(shown, ports, strict=True)) or "<none>"


def _pod_ready(obj: Object) -> str:
    statuses = at(obj, "status", "containerStatuses") or ()
    return f"{sum(bool(one.get('ready')) for one in statuses)}/{len(at(obj, 'spec', 'containers') or ())}"


def _pod_status(obj: Object) -> str:
    return "Terminating" if at(obj, "metadata", "deletionTimestamp") else str(at(obj, "status", "phase") or "Unknown")


def _node_status(obj: Object) -> str:
    conditions = at(obj, "status", "conditions") or ()
    ready: Object = next((one for one in conditions if one.get("type") == "Ready"), {})
    text = {"True": "Ready", "False": "NotReady"}.get(ready.get("status", ""), "Unknown")
    return text + (",SchedulingDisabled" if at(obj, "spec", "unschedulable") else "")


def _roles(obj: Object) -> str:
    prefix = "node-role.kubernetes.io/"
    roles = (key.removeprefix(prefix) for key in at(obj, "metadata", "labels") or {} if key.startswith(prefix))
    return ",".join(sorted(roles)) or "<none>"


def _role(obj: Object) -> str:
    return f"{at(obj, 'roleRef', 'kind')}/{at(obj, 'roleRef', 'name')}"


_NAME = Column("Name", _field("metadata", "name"), format="name")
_AGE = Column("Age", _age)
_CREATED = Column("Created At", _field("metadata", "creationTimestamp"), "date")
_COLUMNS: Mapping[Key, Sequence[Column]] = {
    Key("", "configmaps"): (Column("Data", _count("data"), "integer"),),
    Key("", "secrets"): (Column("Type", _field("type")), Column("Data", _count("data"), "integer")),
    Key("", "namespaces"): (Column("Status", _field("status", "phase")),),
    Key("", "nodes"): (
        Column("Status", _node_status),
        Column("Roles", _roles),
        _AGE,
        Column("Version", _field("status", "nodeInfo", "kubeletVersion", default="")),
    ),
    Key("", "pods"): (Column("Ready", _pod_ready), Column("Status", _pod_status), Column("Restarts", lambda obj: "0")),
    Key("", "services"): (
        Column("Type", _field("spec", "type")),
        Column("Cluster-IP", _field("spec", "clusterIP")),
        Column("External-IP", lambda obj: "<none>"),
        Column("Port(s)", _ports),
    ),
    Key("", "persistentvolumeclaims"): (
        Column("Status", _field("status", "phase")),
        Column("Volume", _field("spec", "volumeName", default="")),
        Column("StorageClass", _field("spec", "storageClassName", default="")),
    ),
    Key("apps", "deployments"): (
        Column("Ready", _ready),
        Column("Up-to-date", _field("status", "updatedReplicas", default=0), "integer"),
        Column("Available", _field("status", "availableReplicas", default=0), "integer"),
    ),
    Key("apps", "statefulsets"): (Column("Ready", _ready),),
    Key("apps", "daemonsets"): (
        Column("Desired", _field("status", "desiredNumberScheduled", default=0), "integer"),
        Column("Ready", _field("status", "numberReady", default=0), "integer"),
    ),
    Key("batch", "jobs"): (
        Column("Status", lambda obj: "Suspended" if at(obj, "spec", "suspend") else "Running"),
        Column("Completions", lambda obj: f"{at(obj, 'status', 'succeeded') or 0}/{at(obj, 'spec', 'completions') or 1}"),
    ),
    Key("scheduling.k8s.io", "priorityclasses"): (
        Column("Value", _field("value"), "integer"),
        Column("Global-Default", _field("globalDefault", default=False), "boolean"),
    ),
    Key(RBAC, "roles"): (_CREATED,),
    Key(RBAC, "clusterroles"): (_CREATED,),
    Key(RBAC, "rolebindings"): (Column("Role", _role),),
    Key(RBAC, "clusterrolebindings"): (Column("Role", _role),),
    Key("apiextensions.k8s.io", "customresourcedefinitions"): (_CREATED,),
}


def table(kind: ResourceType, objects: Iterable[Object], metadata: Object, include: str) -> dict[str, Any]:
    """A table of objects; `include` says what each row carries: `Metadata`, `Object` or `None`."""
    columns = _columns(kind)
    definitions = [
        {"name": one.title, "type": one.type, "format": one.format, "description": one.title, "priority": 0} for one in columns
    ]
    rows = [{"cells": [column.cell(obj) for column in columns], "object": _shown(obj, include)} for obj in objects]
    header = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": dict(metadata)}
    return {**header, "columnDefinitions": definitions, "rows": rows}


def _shown(obj: Object, include: str) -> Any:
    if include == "None":
        return None
    if include == "Object":
        return obj
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}


def _columns(kind: ResourceType) -> list[Column]:
    own = [_NAME, *_COLUMNS.get(kind.key, ())]
    for one in (kind.definition or {}).get("additionalPrinterColumns") or ():
        if not one.get("priority"):
            own.append(Column(one["name"], _path(one["jsonPath"], one["type"]), one["type"]))
    if kind.definition is None or not kind.definition.get("additionalPrinterColumns"):
        own += [_AGE] if _AGE not in own and _CREATED not in own else []
    return own


def _path(path: str, kind: str) -> Callable[[Object], Any]:
    """A simple JSONPath such as `.status.conditions[?(@.type=="Ready")].status`."""
    steps = re.findall(
        r"\.([A-Za-z0-9_-]+)|\['?([^'\]?(]+)'?\]|\[\?\(@\.([\w.]+)==[\"']([^\"']*)[\"']\)\]", path.replace("\\.", ".")
    )

    def cell(obj: Object) -> Any:
        found: Any = obj
        for name, other, field, wanted in steps:
            if field:
                items = found if isinstance(found, list) else ()
                found = next((item for item in items if str(at(item, *field.split("."))) == wanted), None)
            elif isinstance(found, list):
                found = found[int(other)] if other.isdigit() and int(other) < len(found) else None
            else:
                found = at(found, name or other)
        if isinstance(found, str) and kind == "date":
            return _since(found)
        return json.dumps(found) if isinstance(found, (dict, list)) else found

    return cell
