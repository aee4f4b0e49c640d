"""Objects as a client asks for them: which, in which order, and in which form."""

from __future__ import annotations

import base64
import binascii
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hyperpod_constructs.local.kubernetes import objects, selectors, status, tables
from hyperpod_constructs.local.kubernetes.connection import Call
from hyperpod_constructs.local.kubernetes.objects import Objects, Request
from hyperpod_constructs.local.kubernetes.resources import ResourceType
from hyperpod_constructs.local.kubernetes.store import Place, place_of

Object = dict[str, Any]


def chosen(served: Objects, call: Call, request: Request, after: Place | None = None) -> Iterator[Object]:
    """The selected objects, from one on."""
    test = selection(call, request.kind)
    name = selectors.name_in(call.query.get("fieldSelector", ""))
    key, namespace = request.kind.key, request.namespace
    if name is not None and (namespace or not request.kind.namespaced):
        one = served.store.get(key, Place(namespace, name))
        found: Iterable[Object] = [] if one is None else [one]
    else:
        found = served.store.select(key, namespace, after)
    return (objects.versioned(request.kind, obj) for obj in found if test(obj))


def listed(served: Objects, call: Call, request: Request) -> Object:
    """The answer to a list, in parts where the client asks for them."""
    limit = call.query.number("limit")
    some = chosen(served, call, request, _continued(call.query.get("continue", "")))
    metadata: Object = {"resourceVersion": str(served.store.revision)}
    if not limit:
        found = list(some)
    else:
        found = list(itertools.islice(some, limit))
        if len(found) == limit and next(some, None) is not None:
            metadata["continue"] = base64.urlsafe_b64encode(json.dumps(place_of(found[-1])).encode()).decode()
    if call.form.form == "Table":
        return tables.table(request.kind, found, metadata, call.query.get("includeObject", "Metadata"))
    if call.form.form.startswith("PartialObjectMetadata"):
        items = [partial(obj) for obj in found]
        return {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "items": items}
    return list_of(request.kind, found, metadata)


def list_of(kind: ResourceType, found: list[Object], metadata: Object) -> Object:
    """A list of objects."""
    items = found if kind.custom else [_untyped(obj) for obj in found]
    return {"kind": kind.listed_as, "apiVersion": kind.api_version, "metadata": metadata, "items": items}


def selection(call: Call, kind: ResourceType) -> Callable[[Object], bool]:
    """The test that the selectors of a request are."""
    label_text, field_text = call.query.get("labelSelector", ""), call.query.get("fieldSelector", "")
    labels, fields = selectors.labels(label_text), selectors.fields(field_text, kind.plural)
    return lambda obj: labels(obj["metadata"].get("labels") or {}) and fields(obj)


def formed(kind: ResourceType, obj: Object, call: Call) -> Object:
    """One object, whole, as a table or as its metadata."""
    if call.form.form == "Table":
        metadata = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
        return tables.table(kind, [obj], metadata, call.query.get("includeObject", "Metadata"))
    return partial(obj) if call.form.form == "PartialObjectMetadata" else obj


def partial(obj: Object) -> Object:
    """The metadata of an object."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}


def _untyped(obj: Object) -> Object:
    return {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}


def _continued(token: str) -> Place | None:
    if not token:
        return None
    try:
        namespace, name = json.loads(base64.urlsafe_b64decode(token[:2000]))
        return Place(str(namespace), str(name))
    except (ValueError, TypeError, binascii.Error):
        raise status.bad_request("continue key is not valid") from None
