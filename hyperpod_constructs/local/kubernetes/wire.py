"""Requests and answers on the wire: paths, queries, bodies, formats, warnings. All of it comes from strangers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from hyperpod_constructs.local.kubernetes import status, values

MOST_BYTES = 3 * 1024 * 1024
MOST_YAML_BYTES = 256 * 1024
_MOST_WARNINGS, _LONGEST_WARNING = 20, 500
_MOST_PARAMETERS = 50
_YES = frozenset({"1", "true", "True", "TRUE", "t", "T", ""})
JSON_TYPE, YAML_TYPE = "application/json", "application/yaml"


class Target(NamedTuple):
    """What a path names; empty parts are not there."""

    group: str
    version: str
    namespace: str
    plural: str
    name: str
    subresource: str


def segments(raw_path: bytes) -> list[str] | None:
    """The parts of a path, each decoded by itself; None for one that no client of the API writes."""
    parts = [unquote(part, errors="replace") for part in raw_path.decode("latin-1").partition("?")[0].strip("/").split("/")]
    return None if any(part in ("", ".", "..") or "/" in part for part in parts) and parts != [""] else parts


def target(parts: list[str]) -> Target | None:
    """The resource of a path such as `/apis/apps/v1/namespaces/a/deployments/b/scale`; None for another path."""
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and not (len(rest) == 3 and rest[2] in ("status", "finalize") and not group):
        namespace, rest = rest[1], rest[2:]
    if len(rest) > 3:
        return None
    plural, name, subresource = (*rest, "", "")[:3]
    return Target(group, version, namespace, plural, name, subresource)


class Query(dict[str, str]):
    """The parameters of a query."""

    @classmethod
    def parse(cls, text: bytes) -> Query:
        """The first value of each parameter.

        :raises ApiError: 400 for too many.
        """
        try:
            pairs = parse_qsl(text.decode("latin-1"), keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
        except ValueError:
            raise status.bad_request(f"more than {_MOST_PARAMETERS} parameters") from None
        found = cls()
        for name, value in pairs:
            found.setdefault(name, value)
        return found

    def flag(self, name: str) -> bool:
        """Whether a parameter says yes."""
        return name in self and self[name] in _YES

    def number(self, name: str) -> int:
        """A count; 0 where it is not given.

        :raises ApiError: 400 for what is no count.
        """
        text = self.get(name, "") or "0"
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise status.bad_request(f'invalid {name}: found "{text[:40]}", expected: a number')
        return int(text)

    @property
    def dry_run(self) -> bool:
        """Whether nothing is to be stored.

        :raises ApiError: 400 for an unknown stage.
        """
        if "dryRun" not in self:
            return False
        if self["dryRun"] != "All":
            raise status.bad_request('invalid dryRun: the only supported value is "All"')
        return True


@dataclass(frozen=True, slots=True)
class Format:
    """How an answer is wanted: JSON or YAML, and as what (`Table`, `APIGroupDiscoveryList`, ... or the object itself)."""

    media: str = JSON_TYPE
    form: str = ""
    text: str = JSON_TYPE


_FORMS = {
    ("Table", "meta.k8s.io", "v1"),
    ("PartialObjectMetadata", "meta.k8s.io", "v1"),
    ("PartialObjectMetadataList", "meta.k8s.io", "v1"),
    ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2"),
}


def wanted(accept: str) -> Format:
    """The first format of an `Accept` header that is offered.

    :raises ApiError: 406 where none is.
    """
    for part in accept.split(",")[:20]:
        media, *parameters = (piece.strip() for piece in part.split(";"))
        given = dict(piece.split("=", 1) for piece in parameters if "=" in piece)
        if media in ("", "*/*", "application/*"):
            return Format()
        if media not in (JSON_TYPE, YAML_TYPE, "application/yml"):
            continue
        kind = YAML_TYPE if "y" in media else JSON_TYPE
        if "as" not in given:
            return Format(kind, text=kind)
        if (given["as"], given.get("g", ""), given.get("v", "")) in _FORMS:
            return Format(kind, given["as"], part.strip() if given["as"] == "APIGroupDiscoveryList" else kind)
    raise status.not_acceptable(f"{JSON_TYPE}, {YAML_TYPE}")


def header(headers: Iterable[tuple[bytes, bytes]], name: bytes, default: str = "") -> str:
    """A header."""
    return next((value.decode("latin-1") for key, value in headers if key == name), default)


def read(body: bytes, content_type: str) -> Any:
    """The value of a body.

    :raises ApiError: 400 for what cannot be read, 413 for YAML that is too long, 415 for another format.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in ("", JSON_TYPE, YAML_TYPE, "application/yml", "application/apply-patch+yaml") and not kind.endswith(
        "patch+json"
    ):
        raise status.unsupported_media(f"{JSON_TYPE}, {YAML_TYPE}")
    try:
        found = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        if "y" not in kind or isinstance(error, RecursionError):
            raise status.bad_request(f"the object provided is unrecognized (must be of type json): {_short(error)}") from None
        found = _read_yaml(body)
    if not values.depth_within(found):
        raise status.bad_request(f"the object provided is nested deeper than {values.MOST_DEPTH} levels")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"invalid number {text}")


def _short(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]


def _read_yaml(body: bytes) -> Any:
    """YAML without aliases, which can grow a short text beyond all bounds."""
    import yaml

    if len(body) > MOST_YAML_BYTES:
        raise status.too_large(MOST_YAML_BYTES)
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(body, yaml.SafeLoader)):
            raise status.bad_request("yaml with aliases is not read: write the values out")
        return json.loads(json.dumps(yaml.load(body, _loader())))
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        raise status.bad_request(f"error converting YAML to JSON: {_short(error)}") from None


def _loader() -> Any:
    """A safe loader that leaves dates as text."""
    import yaml

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers = {  # noqa: RUF012
            first: [one for one in pairs if one[0] != "tag:yaml.org,2002:timestamp"]
            for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

    return Loader


def written(value: Any, form: Format) -> bytes:
    """A value as a body."""
    if form.media == JSON_TYPE:
        return values.compact(value)
    import yaml

    return str(yaml.safe_dump(value, sort_keys=False)).encode()


def warning_headers(warnings: Iterable[str]) -> list[tuple[bytes, bytes]]:
    """Warnings as headers. Their texts hold names of strangers, so only printable ASCII remains."""
    found = []
    for text in list(dict.fromkeys(warnings))[:_MOST_WARNINGS]:
        plain = "".join(letter if " " <= letter <= "~" else "?" for letter in text[:_LONGEST_WARNING])
        quoted = plain.replace("\\", "\\\\").replace('"', '\\"')
        found.append((b"warning", f'299 - "{quoted}"'.encode()))
    return found


def manager(query: Mapping[str, str], agent: str) -> str:
    """Who writes, for `managedFields`: the parameter, or the first word of the client's name.

    :raises ApiError: 400 for a name that is too long or not printable.
    """
    name = query.get("fieldManager") or agent.partition("/")[0].strip() or "unknown"
    if len(name) > 128 or not name.isprintable():
        raise status.bad_request("fieldManager: may not be more than 128 printable characters")
    return name
