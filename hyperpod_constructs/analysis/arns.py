"""ARNs of a template's resources, brought to one form, so that the two sides of a policy can be compared.

A bucket's ARN is written as `Fn::GetAtt`, as text around its `Ref`, or with its literal name; a partition as `aws` or as
`AWS::Partition`. Here all of them are one sequence of parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from hyperpod_constructs.analysis.regions import own_region_of
from hyperpod_constructs.facts.arn_forms import FORMS, ArnForm
from hyperpod_constructs.templates.globs import Segment, glob, matches
from hyperpod_constructs.templates.model import Resource, target_of
from hyperpod_constructs.templates.values import (
    ABSENT,
    UNKNOWN,
    Absent,
    Part,
    Reference,
    Text,
    Value,
    as_str,
    joined,
    parts_of,
)

_BUCKET, _ATTACHMENT = "AWS::S3::Bucket", "AWS::SecretsManager::SecretTargetAttachment"
_REGION, _ACCOUNT, _LAST = 3, 4, 5  # fields of an ARN
_PARTITION = re.compile(r"^arn:aws(-[a-z-]+)?:")
_OF_BUCKETS, _LOG_GROUP = "arn:aws:s3:::", ":log-group:"
_WITH_IDS = ("arn:aws:ec2:", "arn:aws:eks:", "arn:aws:kms:", "arn:aws:sagemaker:")
_MADE = "\ue000"
"""Stands around the part of a made name that no literal has."""


class Arn:
    """An ARN or a pattern for ARNs, in forms that can be compared; each is computed once."""

    def __init__(self, value: Value) -> None:
        self.value = value

    @cached_property
    def named(self) -> tuple[Part, ...]:
        """Its parts, with resources as references."""
        return arn_parts(self.value, names=False)

    @cached_property
    def spelled(self) -> tuple[object, ...]:
        """Its parts, with the forms and the chosen names of resources; a made name is one that no literal has."""
        parts: list[object] = []
        for part in _with_any_partition(parts_of(self.value)):
            parts += _spelled(part) if isinstance(part, Reference) else [part]
        return tuple(_segmented(_merged(parts)))

    def covers(self, arn: Arn) -> bool | None:
        """Whether this pattern covers an ARN; `None` if not known. An unknown end of the ARN stands for any end."""
        answer = matches(self.named, arn.named) if self._named and arn._named else None
        told = answer is True or (answer is False and self._named.isdisjoint(arn._named))
        return answer if told else matches(self.spelled, arn.spelled)

    @cached_property
    def _named(self) -> frozenset[Resource]:
        """The resources that it names; two that name one, by its ARN and by its name, are not told apart as references."""
        return frozenset(target_of(_meant(part)) for part in parts_of(self.value) if isinstance(part, Reference))


def arn_parts(value: Value, *, names: bool = True) -> tuple[Part, ...]:
    """The parts of an ARN or a pattern for ARNs, in the one form; a value other than a text is one unknown part.

    :param names: whether a bucket with a name of its own is written with it, instead of as a reference.
    """
    expanded: list[Part] = []
    for part in _with_any_partition(parts_of(value)):
        expanded += _expanded(part, names=names) if isinstance(part, Reference) else [part]
    first, *rest = parts_of(joined(expanded))
    return (_PARTITION.sub("arn:aws:", first) if isinstance(first, str) else first, *rest)


def bucket_arn(name: Value, key: str | None = None) -> Value:
    """The ARN of a bucket by its name (a string or `Ref`), or of its objects by a pattern for their keys."""
    return joined(["arn:aws:s3:::", *parts_of(name), *([] if key is None else ["/", key])])


def s3_uri_arns(uri: Value) -> tuple[Value, Value] | None:
    """Of `s3://bucket/prefix` the ARNs of the bucket and of any object under the prefix; `None` if it is not known so far."""
    cut = _s3_uri(uri)
    if cut is None:
        return None
    bucket, key = cut
    arn = joined(["arn:aws:s3:::", *bucket])
    return arn, joined([*parts_of(arn), "/", *key, UNKNOWN])


def s3_uri_prefix(uri: Value) -> str | None:
    """Of `s3://bucket/prefix` the prefix with a slash at its end, empty if there is none; `None` if it is not known."""
    cut = _s3_uri(uri)
    return None if cut is None else as_str(joined(cut[1]))


def s3_place(uri: Value) -> tuple[Value, Value] | None:
    """Of `s3://bucket/key` the bucket's name and the key; `None` for another text."""
    scheme, *behind = parts_of(uri)
    if not isinstance(scheme, str) or not scheme.startswith("s3://"):
        return None
    bucket, key = _cut([scheme.removeprefix("s3://"), *behind])
    return joined(bucket), joined(key)


def _s3_uri(uri: Value) -> tuple[list[Part], list[Part]] | None:
    """The parts of the bucket's name and those of the prefix, with its slash."""
    place = s3_place(uri)
    if place is None:
        return None
    bucket, key = (list(parts_of(one)) if one != "" else [] for one in place)
    ends = not key or (isinstance(key[-1], str) and key[-1].endswith("/"))
    return bucket, key if ends else [*key, "/"]


def _cut(parts: Sequence[Part]) -> tuple[list[Part], list[Part]]:
    """Parts before and behind the first slash; an empty string is no part."""
    for index, part in enumerate(parts):
        if isinstance(part, str) and "/" in part:
            before, _, behind = part.partition("/")
            return [*parts[:index], before], [*([behind] if behind else []), *parts[index + 1 :]]
    return list(parts), []


def arn_matches(pattern: Value, arn: Value) -> bool | None:
    """Whether a policy's pattern covers an ARN; `None` if not known. An unknown end of the ARN stands for any end."""
    return Arn(pattern).covers(Arn(arn))


def reaches_other_accounts(pattern: Value, service: str, kind: str) -> bool:
    """Whether a policy's pattern may cover a resource of another account; an account that is not known is the stack's own.

    :param kind: the resource, such as `instance`.
    """
    written = ""
    for part in arn_parts(pattern, names=False):
        written += part if isinstance(part, str) else "own" if written.count(":") == _ACCOUNT else "*"
    fields = written.split(":", _ACCOUNT + 1)
    if len(fields) > _ACCOUNT + 1:
        fields[_REGION] = "*"
    return glob(":".join(fields), f"arn:aws:{service}:region:another:{kind}/id")


def _with_any_partition(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Parts whose unknown partition (`arn:` + unknown + `:service`) is the one to which all are brought."""
    if len(parts) >= 3 and parts[0] == "arn:" and parts[1] is UNKNOWN:
        service = parts[2]
        if isinstance(service, str) and service.startswith(":"):
            return (f"arn:aws{service}", *parts[3:])
    return tuple(parts)


def _meant(part: Reference) -> Reference:
    """The reference itself; for the id of an attachment, which is the ARN of its secret, the one to the secret."""
    secret = target_of(part).get("SecretId") if target_of(part).type == _ATTACHMENT else None
    return secret if isinstance(secret, Reference) and part.attribute in (None, "Id") else part


def _expanded(part: Reference, *, names: bool) -> list[Part]:
    part = _meant(part)
    resource, attribute = target_of(part), part.attribute
    if resource.type == _BUCKET and attribute in (None, "Arn"):
        name = resource.get("BucketName")
        known = parts_of(name) if names and isinstance(name, str | Text) else (Reference(resource),)
        return [*(["arn:aws:s3:::"] if attribute == "Arn" else []), *known]
    form = FORMS.get(resource.type, ArnForm())
    if attribute in form.arns:
        return [Reference(resource, "Arn")]
    return [Reference(resource)] if attribute in form.names else [part]


def _spelled(part: Reference) -> list[object]:
    part = _meant(part)
    resource, attribute = target_of(part), part.attribute
    form = FORMS.get(resource.type, ArnForm())
    if attribute in form.names:
        return list(_name_parts(resource, form))
    if attribute not in form.arns and attribute not in form.others:
        return [part]
    region, account = own_region_of(resource) or Segment(), resource.template.owner
    name = tuple(_name_parts(resource, form))
    places: Mapping[str, Sequence[object]] = {
        "{place}": (region, ":", account),
        "{account}": (account,),
        "{any}": (Segment(),),
        "{name}": name,
        "{/name}": name if str(name[0]).startswith("/") else ("/", *name),
        "{path}": _path_parts(resource),
    }
    written = form.others.get(attribute, form.form)
    return [one for piece in re.split(r"(\{/?[a-z]+\})", written) for one in places.get(piece, (piece,))]


def _path_parts(resource: Resource) -> Sequence[object]:
    """The path of an identity, without its first slash."""
    first, *others = parts_of(resource.get("Path")) if resource.get("Path") is not ABSENT else ("",)
    return (first.removeprefix("/"), *others) if isinstance(first, str) else (first, *others)


def _name_parts(resource: Resource, form: ArnForm) -> Iterator[object]:
    chosen: Value = ABSENT if form.chosen is None else resource.get(*form.chosen.split("/"))
    if isinstance(chosen, Absent):
        yield Segment()
        yield f"{_MADE}{resource.template.number}.{resource.logical_id}{_MADE}"
        return
    for part in (chosen,) if isinstance(chosen, str) else parts_of(chosen):
        yield Segment() if part is UNKNOWN and resource.type == _BUCKET else part
    if form.suffixed:
        yield "-"
        yield Segment()


def _merged(parts: Sequence[object]) -> list[object]:
    """Parts in which adjacent strings are one, and the partition is `aws`."""
    merged: list[object] = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif part != "":
            merged.append(part)
    if merged and isinstance(merged[0], str):
        merged[0] = _PARTITION.sub("arn:aws:", merged[0])
    return merged


def _segmented(parts: Sequence[object]) -> Iterator[object]:
    """Parts in which an unknown one is a segment: a whole field of an ARN that is no name of a log group, an id of EC2, or what is
    between two hyphens in the name of a bucket, such as a region."""
    ids = bool(parts) and str(parts[0]).startswith(_WITH_IDS)
    bucket = bool(parts) and str(parts[0]).startswith(_OF_BUCKETS)
    for index, part in enumerate(parts):
        before = parts[index - 1] if index else ""
        after = parts[index + 1] if index + 1 < len(parts) else ""
        field = str(before).endswith(":") and str(after).startswith(":") and not str(before).endswith(_LOG_GROUP)
        name = ids and str(before).endswith("/") and after == ""
        bucket = bucket and "/" not in str(before)
        inner = bucket and str(before).endswith("-") and str(after).startswith("-")
        yield Segment() if part is UNKNOWN and (field or name or inner) else part


def kind_of(value: Value) -> str:
    """The service and the beginning of the last field of an ARN, such as `events:event-bus/`; empty for no ARN."""
    written = ""
    for part in Arn(value).spelled:
        if not isinstance(part, str) and written.count(":") >= _LAST:
            break
        written += part if isinstance(part, str) else ""
    fields = written.split(":", _LAST)
    return f"{fields[2]}:{fields[_LAST]}" if written.startswith("arn:") and len(fields) > _LAST and fields[2] else ""
