"""Dynamic references: `{{resolve:SERVICE:...}}`.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.database import ATTACHMENT, SECRET, keys_of, secret_of
from hyperpod_constructs.analysis.references.places import Misreference
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.facts.databases import KEYS_OF_ATTACHMENTS
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import Reference

_VARIABLE = re.compile(r"\$\{[^{}]*\}")
_REFERENCE = re.compile(r"\{\{\s*resolve:((?:[^{}]|\$\{[^{}]*\})*)\}\}")
_OF_SECRET = re.compile(r"(?:\$\{(\w+)(?:\.\w+)?\}|([^:${}]+)):SecretString:([^:${}]+)(?::.*)?")
_OWN = re.compile(r"\$\{(\w+)(?:\.Id)?\}")
_KEEPERS = {SECRET: "secretsmanager", ATTACHMENT: "secretsmanager", "AWS::SSM::Parameter": "ssm"}
"""The service that resolves a reference to a resource of each type."""
_ARN = re.compile(r"arn:[^:]*:(secretsmanager|ssm):")
_JOINED = re.compile(r"\{\{\s*resolve:[^{}]*$")
_NAME = re.compile(r"[a-zA-Z0-9_.\-/]+")
_UNREAD = re.compile(r"\{\{? ?resolve:(?:secretsmanager|ssm|ssm-secure):")
_SERVICES = ("secretsmanager", "ssm", "ssm-secure")
_SECURE = (
    ("AWS::DirectoryService::MicrosoftAD", "Password"),
    ("AWS::DirectoryService::SimpleAD", "Password"),
    ("AWS::ElastiCache::ReplicationGroup", "AuthToken"),
    ("AWS::IAM::User", "Password"),
    ("AWS::KinesisFirehose::DeliveryStream", "Password"),
    ("AWS::OpsWorks::App", "Password"),
    ("AWS::OpsWorks::Stack", "CustomCookbooksSource"),
    ("AWS::RDS::DBCluster", "MasterUserPassword"),
    ("AWS::RDS::DBInstance", "MasterUserPassword"),
    ("AWS::Redshift::Cluster", "MasterUserPassword"),
)
"""Types and properties that take a secure string of Systems Manager."""


def wrong_references(model: Model) -> Iterator[Misreference]:
    """Dynamic references that CloudFormation does not read."""
    for resource in model.resources():
        for path, text, within in _texts(resource) if not resource.template.rewritten else ():
            for odd in _unread(resource, path, text):
                message = f"{odd} begins a reference that CloudFormation does not read"
                yield Misreference(resource, path, message, text, "{{resolve:SERVICE:REFERENCE}}")
            for written in _REFERENCE.findall(text):
                said = _mistake(written, resource, path, {*path, *within})
                if said is not None:
                    doubts = tuple((one, ("GenerateSecretString",)) for one in _secrets(written, resource))
                    yield Misreference(resource, path, f"{{{{resolve:{written}}}}} {said[0]}", text, said[1], doubts=doubts)


def _unread(resource: Resource, path: tuple[str | int, ...], text: str) -> Iterator[str]:
    """The begin of what looks like a reference in a text of one line, and stays as it is: it has a brace too few."""
    odd = None if "\n" in text or _is_joined(resource, path) else _UNREAD.search(_REFERENCE.sub("", text))
    yield from () if odd is None else (odd[0],)


def _is_joined(resource: Resource, path: tuple[str | int, ...]) -> bool:
    """Whether a function puts the value together from parts, of which one text is not the whole."""
    value: Raw = resource.raw.get("Properties")
    for key in path:
        value = value[key] if isinstance(value, dict | list) else None  # type: ignore[index]
    return isinstance(value, dict) and "Fn::Sub" not in value


def _texts(resource: Resource) -> Iterator[tuple[tuple[str | int, ...], str, tuple[str | int, ...]]]:
    """The texts with such a reference, each at the property around all functions, and with the whole way to it."""
    start: tuple[Raw, tuple[str | int, ...], bool, tuple[str | int, ...]] = (resource.raw.get("Properties"), (), False, ())
    waiting = [start]
    while waiting:
        value, path, nested, way = waiting.pop()
        if isinstance(value, str):
            if "resolve:" in value:
                yield path, value, way
        elif isinstance(value, list):
            waiting += [(item, path if nested else (*path, index), nested, way) for index, item in enumerate(value)]
        elif isinstance(value, dict):
            joined = _joined(value)
            if joined is not None:
                yield path, joined, way
                continue
            inside = nested or any(key == "Ref" or key.startswith("Fn::") for key in value)
            for key, item in value.items():
                further = way if key.startswith("Fn::") else (*way, key)
                waiting.append((item, path if inside else (*path, key), inside, further))


def _joined(value: Mapping[str, Raw]) -> str | None:
    """The text with a reference that a function joins, in the words of `Fn::Sub`; `None` for another function."""
    argument = value.get("Fn::Join")
    parts = argument[1] if isinstance(argument, list) and len(argument) == 2 and argument[0] == "" else None
    if not isinstance(parts, list) or not any(isinstance(one, str) and _JOINED.search(one) for one in parts):
        return None
    return "".join(one if isinstance(one, str) else f"${{{_variable(one)}}}" for one in parts)


def _variable(part: Raw) -> str:
    """The name of a part that a function gives, as `Fn::Sub` has it; a hyphen where that has none."""
    if not isinstance(part, dict) or len(part) != 1:
        return "-"
    ((function, argument),) = part.items()
    found = argument if function in ("Ref", "Fn::GetAtt") else "-"
    return ".".join(map(str, found)) if isinstance(found, list) else str(found)


def _mistake(written: str, resource: Resource, path: tuple[str | int, ...], names: set[str | int]) -> tuple[str, str] | None:
    """The mistake of a reference, and the allowed form."""
    service, _, rest = written.partition(":")
    if service not in _SERVICES and "{" not in service and "$" not in service:
        return f"names no service that CloudFormation reads{meant(service, _SERVICES)}", listed(_SERVICES)
    place = next((one for one in reversed(path) if isinstance(one, str)), "")
    if service == "secretsmanager" and place.endswith(("Arn", "ARN")):
        return f"gives the value of a secret, and {place} takes an ARN", "an ARN, such as the Ref of a secret"
    other = _of_another_service(service, rest, resource)
    if other is not None:
        return other
    if "${" in written or "{" in rest:
        return (_key_mistake(rest, resource) or _secret_mistake(_VARIABLE.sub("-", rest))) if service == "secretsmanager" else None
    if service == "secretsmanager":
        return _key_mistake(rest, resource) or _secret_mistake(rest)
    name, _, version = rest.partition(":")
    if not _NAME.fullmatch(name) and not name.startswith("arn"):
        return "has no name of a parameter", f"{{{{resolve:{service}:NAME:VERSION}}}}"
    if version and not rest.startswith("arn:") and not version.isdecimal():
        return f"has {version!r} as version, which is a number", f"{{{{resolve:{service}:NAME:VERSION}}}}"
    if service == "ssm-secure" and not any(kind == resource.type and name in names for kind, name in _SECURE):
        return f"is a secure string, which {resource.type} does not take here", "a secret of Secrets Manager, or ssm"
    return None


def _of_another_service(service: str, rest: str, resource: Resource) -> tuple[str, str] | None:
    """A secret or a parameter of the template that is asked for at the other service."""
    match, arn = _OWN.match(rest), _ARN.match(rest)
    if arn is not None and not service.startswith(arn[1]):
        return f"asks {service} for the ARN of {arn[1]}", f"{{{{resolve:{arn[1]}:…}}}}"
    named = resource.template.by_id.get(match[1]) if match else _named(rest, service, resource)
    right = _KEEPERS.get(named.type) if named is not None else None
    if named is None or right is None or service.startswith(right):
        return None
    return f"asks {service} for {named.logical_id}, an {named.type}", f"{{{{resolve:{right}:${{{named.logical_id}}}…}}}}"


def _named(rest: str, service: str, resource: Resource) -> Resource | None:
    """The secret of the templates that Systems Manager is asked for by its name; `None` if a parameter has the same one."""
    name, model = rest.partition(":")[0], resource.template.model
    there = [one for kind in _KEEPERS for one in model.resources(kind) if one.get("Name") == name]
    return there[0] if len(there) == 1 and there[0].type == SECRET and service != "secretsmanager" else None


def _secrets(written: str, resource: Resource) -> Iterator[Resource]:
    """The secret of the templates of which a reference takes a key: by itself, by its attachment, or by its name."""
    match = _OF_SECRET.fullmatch(written.removeprefix("secretsmanager:"))
    if match is None:
        return
    name, template = match[1] or match[2], resource.template
    if match[2]:
        there = [one for one in template.model.resources(SECRET) if one.get("Name") == name]
        yield from there if len(there) == 1 else ()
    elif name in template.by_id and (found := secret_of(Reference(template.by_id[name]))) is not None:
        yield found


def _key_mistake(rest: str, resource: Resource) -> tuple[str, str] | None:
    """A key that a secret of the template does not have, if the template says all that it has."""
    match, secret = _OF_SECRET.fullmatch(rest), next(_secrets(f"secretsmanager:{rest}", resource), None)
    if match is None or secret is None:
        return None
    keys = sorted(keys_of(secret) or ())
    known = {*keys, *(KEYS_OF_ATTACHMENTS if secret.template.model.resources(ATTACHMENT) else ())}
    return (
        None
        if not keys or match[3] in known
        else (f"takes {match[3]!r} of {secret.logical_id}{meant(match[3], keys)}", listed(keys))
    )


def _secret_mistake(rest: str) -> tuple[str, str] | None:
    form = "{{resolve:secretsmanager:SECRET:SecretString:KEY:STAGE:VERSION}}"
    parts = rest.split(":")
    if parts[:1] == ["arn"]:
        parts = [":".join(parts[:7]), *parts[7:]]
    if not parts[0]:
        return "has no secret", form
    if len(parts) > 1 and parts[1] not in ("", "SecretString"):
        return f"has {parts[1]!r} in the place of SecretString", form
    if len(parts) > 4 and parts[3] and parts[4]:
        return "has a stage and a version, of which one is taken", form
    return ("has too many parts", form) if len(parts) > 5 else None
