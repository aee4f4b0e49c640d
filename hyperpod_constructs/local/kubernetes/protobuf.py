"""Bodies in Kubernetes' protobuf: typed clients of kubectl and Helm send a few kinds so, whatever the server offers.

The schemas say the types; here are only the field numbers of the messages that these clients send.
"""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_constructs.local.kubernetes import status
from hyperpod_constructs.local.kubernetes.schemas import Schema, Schemas

MEDIA = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_META, _CORE = "io.k8s.apimachinery.pkg.apis.meta.v1.", "io.k8s.api.core.v1."
_RBAC, _AUTHORIZATION = "io.k8s.api.rbac.v1.", "io.k8s.api.authorization.v1."
_AUTHENTICATION, _COORDINATION = "io.k8s.api.authentication.v1.", "io.k8s.api.coordination.v1."
_TIMES = (_META + "Time", _META + "MicroTime")
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"


def _numbered(names: str) -> dict[int, str]:
    """Names in the order of their numbers; `-` for a number that is not in use."""
    return {number: name for number, name in enumerate(names.split(), 1) if name != "-"}


_REVIEW = _numbered("metadata spec status")
_BINDING = _numbered("metadata subjects roleRef")
_FIELDS: Mapping[str, Mapping[int, str]] = {
    _META + "ObjectMeta": _numbered(
        "name generateName namespace selfLink uid resourceVersion generation creationTimestamp deletionTimestamp "
        "deletionGracePeriodSeconds labels annotations ownerReferences finalizers - - managedFields"
    ),
    _META + "OwnerReference": _numbered("kind - name uid apiVersion controller blockOwnerDeletion"),
    _META + "ManagedFieldsEntry": _numbered("manager operation apiVersion time - fieldsType fieldsV1 subresource"),
    _META + "LabelSelector": _numbered("matchLabels matchExpressions"),
    _META + "LabelSelectorRequirement": _numbered("key operator values"),
    _META + "DeleteOptions": _numbered("gracePeriodSeconds preconditions orphanDependents propagationPolicy dryRun"),
    _META + "Preconditions": _numbered("uid resourceVersion"),
    _CORE + "ConfigMap": _numbered("metadata data binaryData immutable"),
    _CORE + "Secret": _numbered("metadata data type stringData immutable"),
    _CORE + "Namespace": _numbered("metadata spec status"),
    _CORE + "NamespaceSpec": _numbered("finalizers"),
    _CORE + "NamespaceStatus": _numbered("phase conditions"),
    _CORE + "ServiceAccount": _numbered("metadata secrets imagePullSecrets automountServiceAccountToken"),
    _CORE + "ObjectReference": _numbered("kind namespace name uid apiVersion resourceVersion fieldPath"),
    _CORE + "LocalObjectReference": _numbered("name"),
    _CORE + "ResourceQuota": _numbered("metadata spec status"),
    _CORE + "ResourceQuotaSpec": _numbered("hard scopes"),
    _CORE + "ResourceQuotaStatus": _numbered("hard used"),
    "io.k8s.api.scheduling.v1.PriorityClass": _numbered("metadata value globalDefault description preemptionPolicy"),
    _COORDINATION + "Lease": _numbered("metadata spec"),
    _COORDINATION + "LeaseSpec": _numbered("holderIdentity leaseDurationSeconds acquireTime renewTime leaseTransitions"),
    _RBAC + "PolicyRule": _numbered("verbs apiGroups resources resourceNames nonResourceURLs"),
    _RBAC + "AggregationRule": _numbered("clusterRoleSelectors"),
    _RBAC + "Role": _numbered("metadata rules"),
    _RBAC + "ClusterRole": _numbered("metadata rules aggregationRule"),
    _RBAC + "RoleBinding": _BINDING,
    _RBAC + "ClusterRoleBinding": _BINDING,
    _RBAC + "Subject": _numbered("kind apiGroup name namespace"),
    _RBAC + "RoleRef": _numbered("apiGroup kind name"),
    _AUTHORIZATION + "SelfSubjectAccessReview": _REVIEW,
    _AUTHORIZATION + "SubjectAccessReview": _REVIEW,
    _AUTHORIZATION + "LocalSubjectAccessReview": _REVIEW,
    _AUTHORIZATION + "SelfSubjectRulesReview": _REVIEW,
    _AUTHORIZATION + "SelfSubjectAccessReviewSpec": _numbered("resourceAttributes nonResourceAttributes"),
    _AUTHORIZATION + "SubjectAccessReviewSpec": _numbered("resourceAttributes nonResourceAttributes user groups - uid"),
    _AUTHORIZATION + "SelfSubjectRulesReviewSpec": _numbered("namespace"),
    _AUTHORIZATION + "ResourceAttributes": _numbered("namespace verb group version resource subresource name"),
    _AUTHORIZATION + "NonResourceAttributes": _numbered("path verb"),
    _AUTHENTICATION + "SelfSubjectReview": _numbered("metadata status"),
    _AUTHENTICATION + "TokenReview": _REVIEW,
    _AUTHENTICATION + "TokenReviewSpec": _numbered("token audiences"),
}


def read(schemas: Schemas, body: bytes) -> dict[str, Any]:
    """The object of a body.

    :raises ApiError: 400 for what is broken, 415 for a kind whose numbers are not known here.
    """
    if not body.startswith(_MAGIC):
        raise status.bad_request("the body is no kubernetes protobuf: its first bytes are others")
    try:
        envelope = dict(_pairs(body[len(_MAGIC) :]))
        names = dict(_pairs(_bytes(envelope.get(1, b""))))
        api_version, kind = _bytes(names.get(1, b"")).decode(), _bytes(names.get(2, b"")).decode()
        name = _definition(schemas, api_version, kind)
        obj = _message(schemas, name, _bytes(envelope.get(2, b"")))
    except (IndexError, ValueError, OverflowError, RecursionError) as error:
        raise status.bad_request(f"the body is no kubernetes protobuf: {str(error)[:100]}") from None
    return {"apiVersion": api_version, "kind": kind, **obj}


def _definition(schemas: Schemas, api_version: str, kind: str) -> str:
    group, _, version = api_version.rpartition("/")
    name = _META + kind if kind == "DeleteOptions" else schemas.name(group, version, kind)
    if name is None or name not in _FIELDS:
        raise status.ApiError(
            415,
            "UnsupportedMediaType",
            f"this double cannot read a {kind or 'body'} as protobuf; send json: kubectl create ... "
            "--dry-run=client -o json | kubectl apply -f -",
        )
    return name


def _message(schemas: Schemas, name: str, data: bytes) -> dict[str, Any]:
    fields, properties = _FIELDS.get(name), schemas.definitions[name].get("properties", {})
    if fields is None:
        raise ValueError(f"the field numbers of {name.rpartition('.')[2]} are not known here")
    found: dict[str, Any] = {}
    for number, value in _pairs(data):
        field = fields.get(number)
        if field is None or field not in properties or field == "status":
            continue  # Typed clients send an empty status with every object; the server writes its own.
        schema = properties[field]
        kind = _type(schema)
        if kind == "array":
            found.setdefault(field, []).append(_value(schemas, schema["items"], value))
        elif kind == "object" and "$ref" not in schema:
            entry = dict(_pairs(_bytes(value)))
            key = _bytes(entry.get(1, b"")).decode()
            found.setdefault(field, {})[key] = _value(schemas, schema["additionalProperties"], entry.get(2, b""))
        else:
            read = _value(schemas, schema, value)
            if read not in (None, {}, "") or field == "spec":
                found[field] = read
    return found


def _value(schemas: Schemas, schema: Schema, value: int | bytes) -> Any:
    reference = str(schema.get("$ref", "")).rpartition("/")[2]
    if reference in _TIMES:
        return _time(_bytes(value))
    if reference == _QUANTITY:
        return _bytes(dict(_pairs(_bytes(value))).get(1, b"")).decode()
    if reference == _META + "FieldsV1":
        return json.loads(_bytes(dict(_pairs(_bytes(value))).get(1, b"{}")))
    if reference:
        return _message(schemas, reference, _bytes(value))
    kind = _type(schema)
    if kind == "boolean":
        return bool(value)
    if kind == "integer":
        if not isinstance(value, int):
            raise ValueError("a number is written as bytes")
        return value - 2**64 if value >= 2**63 else value
    return base64.b64encode(_bytes(value)).decode() if schema.get("format") == "byte" else _bytes(value).decode()


def _time(data: bytes) -> str | None:
    pairs = dict(_pairs(data))
    seconds = pairs.get(1, 0)
    if not isinstance(seconds, int) or not 0 < seconds < 2**36:
        return None
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _type(schema: Schema) -> str | None:
    kind = schema.get("type")
    return next((one for one in kind if one != "null"), None) if isinstance(kind, list) else kind


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("bytes are written as a number")
    return value


def _pairs(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers and values of a message."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, position = _varint(data, position)
            yield number, value
            continue
        if wire == 2:
            length, position = _varint(data, position)
        elif wire in (1, 5):
            length = 8 if wire == 1 else 4
        else:
            raise ValueError(f"wire type {wire}")
        if position + length > len(data):
            raise ValueError("a field is longer than the body")
        yield number, data[position : position + length]
        position += length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = data[position]
        position += 1
        found |= (byte & 0x7F) << shift
        if byte < 0x80:
            return found, position
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")
