"""Names, labels, annotations and the rest of `metadata`."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_constructs.facts.kubernetes import RBAC
from hyperpod_constructs.local.kubernetes import status
from hyperpod_constructs.local.kubernetes.resources import Key
from hyperpod_constructs.local.kubernetes.status import Cause, invalid_value

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_RFC_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_QUALIFIED})?"
MOST_ANNOTATIONS = 256 * 1024

LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
    f"alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with "
    f"an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
RFC_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with "
    f"an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '{_RFC_1035}')"
)
_KEY_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_QUALIFIED}')"
)
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    f"alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_VALUE}')"
)

_AS_LABEL = {Key("", "namespaces"), Key("apps", "statefulsets")}
_AS_1035 = {Key("", "services")}
_AS_PATH = {Key(RBAC, plural) for plural in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")}
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
_LONGEST_PREFIX = 58


def label_problem(value: str, pattern: str = _LABEL, text: str = LABEL_TEXT, limit: int = 63) -> str | None:
    """What is wrong with a name."""
    if len(value) > limit:
        return f"must be no more than {limit} bytes"
    return None if re.fullmatch(pattern, value, re.ASCII) else text


def name_problem(key: Key, name: str) -> str | None:
    """What is wrong with the name of an object of this resource."""
    if key in _AS_PATH:
        bad = next((part for part in ("/", "%") if part in name), None)
        if name in (".", ".."):
            return f"may not be '{name}'"
        return f"may not contain '{bad}'" if bad else None
    if key in _AS_LABEL:
        return label_problem(name)
    if key in _AS_1035:
        return label_problem(name, _RFC_1035, RFC_1035_TEXT)
    return label_problem(name, _SUBDOMAIN, SUBDOMAIN_TEXT, 253)


def generated(prefix: str) -> str:
    """A name for `generateName`."""
    return prefix[:_LONGEST_PREFIX] + "".join(secrets.choice(_SUFFIX) for _ in range(5))


def problems(key: Key, metadata: Mapping[str, Any]) -> Iterator[Cause]:
    """What is wrong with the metadata of an object."""
    name = metadata.get("name")
    if not name:
        yield status.required("metadata.name", "name or generateName is required")
    elif detail := name_problem(key, name):
        yield invalid_value("metadata.name", name, detail)
    yield from label_problems("metadata.labels", metadata.get("labels") or {})
    annotations = metadata.get("annotations") or {}
    for one in annotations:
        if detail := _key_problem(one.lower()):
            yield invalid_value("metadata.annotations", one, detail)
    if sum(len(one) + len(value) for one, value in annotations.items()) > MOST_ANNOTATIONS:
        yield status.too_long("metadata.annotations", MOST_ANNOTATIONS)
    for index, one in enumerate(metadata.get("finalizers") or ()):
        if detail := _key_problem(one):
            yield invalid_value(f"metadata.finalizers[{index}]", one, detail)
    for index, owner in enumerate(metadata.get("ownerReferences") or ()):
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field):
                yield invalid_value(f"metadata.ownerReferences[{index}].{field}", "", f"{field} must not be empty")


def label_problems(path: str, labels: Mapping[str, str]) -> Iterator[Cause]:
    """What is wrong with labels."""
    for key, value in labels.items():
        if detail := _key_problem(key):
            yield invalid_value(path, key, detail)
        if detail := label_problem(value, _VALUE, _VALUE_TEXT):
            yield invalid_value(path, value, detail)


def _key_problem(key: str) -> str | None:
    prefix, slash, name = key.rpartition("/")
    if slash and (not prefix or label_problem(prefix, _SUBDOMAIN, SUBDOMAIN_TEXT, 253)):
        return "prefix part " + (SUBDOMAIN_TEXT if prefix else "must be non-empty")
    if not name:
        return "name part must be non-empty"
    return label_problem(name, _QUALIFIED, _KEY_TEXT) and (
        _KEY_TEXT if len(name) <= 63 else "name part must be no more than 63 bytes"
    )
