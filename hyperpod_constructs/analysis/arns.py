"""ARNs of a template's resources, brought to one form, so that the two sides of a policy can be compared.

A bucket's ARN is written as `Fn::GetAtt`, as text around its `Ref`, or with its literal name; a partition as `aws` or as
`AWS::Partition`. Here all of them are one sequence of parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hyperpod_constructs.templates.globs import glob, matches
from hyperpod_constructs.templates.model import target_of
from hyperpod_constructs.templates.values import UNKNOWN, Part, Reference, Text, Value, joined, parts_of

# Attributes with the value of the ARN under another name; None is Ref.
_ALIASES: Mapping[str, frozenset[str | None]] = {
    "AWS::IAM::ManagedPolicy": frozenset({None, "PolicyArn"}),
    "AWS::SNS::Topic": frozenset({None, "TopicArn"}),
    "AWS::SageMaker::Cluster": frozenset({None, "ClusterArn"}),
    "AWS::SecretsManager::Secret": frozenset({None, "Id"}),
    "AWS::StepFunctions::StateMachine": frozenset({None, "Arn"}),
}
_BUCKET = "AWS::S3::Bucket"
_REGION, _ACCOUNT = 3, 4  # fields of an ARN
_PARTITION = re.compile(r"^arn:aws(-[a-z-]+)?:")


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
    parts = parts_of(uri)
    scheme = parts[0]
    if not isinstance(scheme, str) or not scheme.startswith("s3://"):
        return None
    bucket, key = _cut([scheme.removeprefix("s3://"), *parts[1:]])
    ends = not key or (isinstance(key[-1], str) and key[-1].endswith("/"))
    arn = joined(["arn:aws:s3:::", *bucket])
    return arn, joined([*parts_of(arn), "/", *key, *([] if ends else ["/"]), UNKNOWN])


def _cut(parts: Sequence[Part]) -> tuple[list[Part], list[Part]]:
    """Parts before and behind the first slash; an empty string is no part."""
    for index, part in enumerate(parts):
        if isinstance(part, str) and "/" in part:
            before, _, behind = part.partition("/")
            return [*parts[:index], before], [*([behind] if behind else []), *parts[index + 1 :]]
    return list(parts), []


def arn_matches(pattern: Value, arn: Value) -> bool | None:
    """Whether a policy's pattern covers an ARN; `None` if not known. An unknown end of the ARN stands for any end."""
    answer = matches(arn_parts(pattern, names=False), arn_parts(arn, names=False))
    return matches(arn_parts(pattern), arn_parts(arn)) if answer is None else answer


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


def _expanded(part: Reference, *, names: bool) -> list[Part]:
    resource, attribute = target_of(part), part.attribute
    if resource.type == _BUCKET and attribute in (None, "Arn"):
        name = resource.get("BucketName")
        known = parts_of(name) if names and isinstance(name, str | Text) else (Reference(resource),)
        return [*(["arn:aws:s3:::"] if attribute == "Arn" else []), *known]
    return [Reference(resource, "Arn")] if attribute in _ALIASES.get(resource.type, ()) else [part]
