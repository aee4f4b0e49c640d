"""Custom resources that write into a bucket while the stack is deployed: `BucketDeployment` of CDK and the like."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeGuard

from hyperpod_constructs.analysis.answered_values import answered
from hyperpod_constructs.analysis.arns import arn_matches, arn_parts, bucket_arn, s3_uri_arns
from hyperpod_constructs.analysis.code_runs.service_calls import OTHERS, CodeCall
from hyperpod_constructs.analysis.custom_resources import makers
from hyperpod_constructs.analysis.function_code import calls_of, runs_of
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import UNKNOWN, Text, Value, as_str, leaves, parts_of

_BUCKET_NAME = re.compile(r"^(destination|target|dest)?_?bucket_?(name)?$", re.IGNORECASE)
_PREFIX_NAME = re.compile(r"prefix$", re.IGNORECASE)
_MOST_FILES = 10_000
_FILE, _PUT = re.compile(r"[\w./-]+\.[a-z]{1,5}"), "putobject"
_COPYING = ("copyobject", "completemultipartupload")
_BY_RESOURCES = re.compile(r"""resource\(\s*["']s3""")
"""Code that takes the resources of boto3 for S3, whose calls are not followed."""
_OBJECT_BUCKET, _OBJECT_KEY = (
    re.compile(rf"(?:destination|target|dest|script|s3)?_?{word}_?(?:name)?", re.IGNORECASE)
    for word in ("bucket", "(?:object)?_?key")
)
_BODY = re.compile(r"body|contents?|text|script|data", re.IGNORECASE)
_SOURCE_KEYS = ("SourceObjectKeys", "SourceKey")
_ASSET = re.compile(r"^([0-9a-f]{64})\.zip$")
# Custom resources that name a bucket and write nothing into it.
writes_nothing = re.compile(r"delete|empty|clean|notification|policy|endpoint|preflight|check|validat", re.IGNORECASE).search


class Upload(NamedTuple):
    """A resource that uploads."""

    resource: Resource

    def holds(self, name: str) -> bool:
        """Whether it surely uploads a file of this name: by a key in its properties, or in an asset beside the
        template."""
        if any(text == name or text.endswith(f"/{name}") for text in _texts(self.resource.properties)):
            return True
        file = self.resource.template.file
        if file is None:
            return False
        places = (file.parent, file.parent.parent)  # a stage's assets are beside its directory
        return any((place / f"asset.{asset}" / name).is_file() for asset in self._assets() for place in places)

    def files(self) -> frozenset[str]:
        """The files of its assets, by their path and their name; empty if an asset is not beside the template.

        Without assets, those that its properties have by their names, if its code puts them into the bucket.
        """
        file = self.resource.template.file
        assets = set(self._assets())
        if not assets:
            return frozenset(self._written())
        places = () if file is None else (file.parent, file.parent.parent)
        folders = [place / f"asset.{asset}" for asset in assets for place in places if (place / f"asset.{asset}").is_dir()]
        if len(folders) < len(assets):
            return frozenset()
        found = [(folder, one) for folder in folders for one in itertools.islice(folder.rglob("*"), _MOST_FILES)]
        return frozenset(name for folder, one in found for name in (one.name, one.relative_to(folder).as_posix()))

    @property
    def key(self) -> str | None:
        """The key of the one object that its properties name, if its code puts it into the bucket."""
        place = written_object(self.resource)
        key = as_str(self.resource.get(place[1])) if place else None
        return None if key is None else key.strip("/")

    @property
    def prefix(self) -> str | None:
        """The prefix to which it uploads, if that is known."""
        given = list(_prefixes(self.resource))
        return as_str(given[0]) if len(given) == 1 else None

    def _written(self) -> Iterator[str]:
        given = [(key, value) for key, value in self.resource.properties.items() if is_files(value)]
        if len(given) == 1 and puts_of(self.resource) and not _writes_unknown(self.resource):
            keys = (as_str(one.parameters.get("key")) for one in puts_of(self.resource))
            yield from (*given[0][1], *(key.rpartition("/")[2] for key in keys if key is not None))

    def _assets(self) -> Iterator[str]:
        for key in _SOURCE_KEYS:
            for text in _texts(self.resource.get(key)):
                found = _ASSET.match(text)
                if found is not None:
                    yield found[1]


def written_object(resource: Resource) -> tuple[str, str] | None:
    """The properties with the bucket and the key of the one object that a custom resource writes; `None` for others.

    It writes if its code puts objects, or the text of one is beside the key.
    """
    buckets, keys, bodies = (list(filter(one.fullmatch, resource.properties)) for one in (_OBJECT_BUCKET, _OBJECT_KEY, _BODY))
    return (buckets[0], keys[0]) if len(buckets) == len(keys) == 1 and (bodies or puts_of(resource)) else None


def is_body(name: str) -> bool:
    """Whether a property has this name for the text of an object."""
    return _BODY.fullmatch(name) is not None


def puts_of(resource: Resource) -> list[CodeCall]:
    """The calls in the code of a custom resource that put objects into a bucket."""
    maker = makers(resource.template.model).get(resource)
    own = [] if maker is None else [call for one in runs_of(maker) if one.resource is resource for call in one.calls]
    return [one for one in own or (() if maker is None else calls_of(maker)) if one.operation.name.lower() == _PUT]


def _writes_unknown(resource: Resource) -> bool:
    """Whether the code of a custom resource may write objects whose names are not known."""
    maker = makers(resource.template.model).get(resource)
    calls = () if maker is None else calls_of(maker)
    copies = any(one.operation.name.lower() in _COPYING for one in calls)
    uploads = any(OTHERS in one.parameters or one.parameters.get("key") is UNKNOWN for one in puts_of(resource))
    return copies or uploads or (maker is not None and writes_by_resources(maker))


def writes_by_resources(function: Resource) -> bool:
    """Whether code may write objects by the resources of boto3."""
    return _BY_RESOURCES.search(as_str(function.get("Code", "ZipFile")) or "") is not None


def uploads_of(model: Model, uri: Value) -> tuple[Upload, ...]:
    """The uploads of the model to the bucket of an S3 URI, without those to another prefix; computed once."""
    key = tuple(None if part is UNKNOWN else part for part in parts_of(uri))
    return model.cached(("uploads", key), lambda: _uploads_of(model, uri))


def _uploads_of(model: Model, uri: Value) -> tuple[Upload, ...]:
    uri = answered(uri)
    arns = s3_uri_arns(uri)
    if arns is None:
        return ()
    custom = model.cached("custom resources", lambda: tuple(filter(_is_custom, model.resources())))
    return tuple(Upload(resource) for resource in custom if _names(resource, arns[0]) and _reaches(resource, uri))


def bucket_name_prefix(uri: Value) -> str:
    """The characters with which the bucket's name in an S3 URI is sure to begin."""
    arns = s3_uri_arns(uri)
    return "" if arns is None else _literal(arn_parts(arns[0])[0]).removeprefix("arn:aws:s3:::")


def _is_custom(resource: Resource) -> bool:
    custom = resource.type.startswith("Custom::") or resource.type == "AWS::CloudFormation::CustomResource"
    return custom and writes_nothing(resource.type) is None and resource.exists is True


def _names(resource: Resource, bucket: Value) -> bool:
    """Whether it names a bucket in its properties, or its code puts objects there."""
    values = [value for key, value in resource.properties.items() if _BUCKET_NAME.match(key)]
    values = values or [one.parameters.get("bucket", UNKNOWN) for one in puts_of(resource)]
    return any(arn_matches(bucket_arn(value), bucket) for value in values if value is not UNKNOWN)


def _reaches(resource: Resource, uri: Value) -> bool:
    """Whether the upload can be to this prefix: one of the two is, as far as known, the beginning of the other."""
    own = key_of(uri)
    starts = [_literal(parts_of(value)[0]).lstrip("/") for value in _prefixes(resource)]
    return not starts or any(own.startswith(start) or start.startswith(own) for start in starts)


def _prefixes(resource: Resource) -> Iterator[Value]:
    found = resource.properties.items()
    return (value for key, value in found if _PREFIX_NAME.search(key) and "source" not in key.lower())


def key_of(uri: Value) -> str:
    """The characters with which the key in an S3 URI is sure to begin."""
    for part in parts_of(uri):
        text = _literal(part).removeprefix("s3://")
        if "/" in text:
            return text.partition("/")[2]
    return ""


def is_files(value: Value) -> TypeGuard[Mapping[str, Value]]:
    """Whether a property is texts by the names of files."""
    texts = value.items() if isinstance(value, Mapping) else ()
    return bool(texts) and all(_FILE.fullmatch(name) and isinstance(one, str | Text) for name, one in texts)


def _literal(part: object) -> str:
    return part if isinstance(part, str) else ""


def _texts(value: Value) -> Iterator[str]:
    return (text for text in map(as_str, leaves(value)) if text is not None)
