"""Scripts of nodes that are not where the nodes look for them.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterLifeCycleConfig.html
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from hyperpod_constructs.analysis.answered_values import answered
from hyperpod_constructs.analysis.arns import s3_place
from hyperpod_constructs.analysis.build_commands import PROJECT
from hyperpod_constructs.analysis.cli_calls import calls_in
from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.files_read import read_in_vain
from hyperpod_constructs.analysis.first_calls import called_first
from hyperpod_constructs.analysis.node_programs import ENTRIES, LIFE_CYCLE, URI, programs_of
from hyperpod_constructs.analysis.object_writes import Write, writers, writes
from hyperpod_constructs.analysis.schema.violation import Path, nearest
from hyperpod_constructs.analysis.scripts import scripts_for
from hyperpod_constructs.analysis.uploads import Upload, key_of, uploads_of, writes_nothing
from hyperpod_constructs.templates.dependencies import awaits, depends_on
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import Reference, Value, as_str, joined, parts_of, shown

_BUCKET, _COPY = "AWS::S3::Bucket", "GetObject"

_FILLERS = (
    *("Custom::", "AWS::CloudFormation::CustomResource", "AWS::CodeBuild::", "AWS::CodePipeline::", "AWS::DataSync::"),
    "AWS::Lambda::Function",
)
"""The beginnings of types that may put scripts into a bucket."""

_VERSION = re.compile(r"v?\d[\w.-]*|[0-9a-f]{6,64}")


class Lacking(NamedTuple):
    """A script that is not there.

    :param path: the place that names it, from the instance group, or from the resource with the text that does.
    :param at: that resource.
    """

    path: Path
    message: str
    at: Resource | None = None


def lacking(group: Group) -> Iterator[Lacking]:
    """The scripts of a group that nobody uploads, where every file of the only upload is known, or the bucket is a new one."""
    uploads = _uploads(group)
    files, said = uploads[0].files() if len(uploads) == 1 else None, set()
    for key in ENTRIES if files else ():
        name = as_str(group.get(LIFE_CYCLE, key))
        if files and name is not None and name not in files and PurePosixPath(name).name not in files:
            text = f"{key} of instance group {group.label!r} is {name!r}, which {uploads[0].resource.logical_id} does not upload"
            said.add((LIFE_CYCLE, key))
            yield Lacking((LIFE_CYCLE, key), text)
    started = list(_started_in_vain(group, files or programs_of(group).files)) if len(uploads) == 1 and not said else []
    yield from started or (_read_in_vain(group, uploads) if not said else ())
    yield from (one for one in _written_elsewhere(group, uploads) if one.path not in said)
    yield from _written_into_another_bucket(group) if not uploads else ()
    yield from (one for one in _copied_in_vain(group) if one.path not in said)
    bucket = None if uploads else _bucket(group)
    others = () if bucket is None else uploads_of(bucket.template.model, joined(["s3://", Reference(bucket)]))
    if bucket is not None and others and not _may_be_filled(bucket, {one.resource for one in others}):
        text = f"nobody uploads the scripts of instance group {group.label!r} to this place in {bucket.logical_id}"
        of_cluster = _is_made_with(bucket, group) and any(map(_uploads, group.cluster.groups))
        if of_cluster or any(_is_another_version(one, group) for one in others):
            yield Lacking((LIFE_CYCLE, URI), f"{text}; {others[0].resource.logical_id} uploads elsewhere")


def _read_in_vain(group: Group, uploads: Sequence[Upload]) -> Iterator[Lacking]:
    """The first file that a program reads, and that is not among those of the uploads, of which all have some."""
    files = programs_of(group).files.values()
    if uploads and {one.resource for one in uploads} == {one.resource for one in files}:
        for one in itertools.islice(read_in_vain(group), 1):
            beside = f"; {one.there} is in another folder" if one.there else ", which nobody uploads"
            yield Lacking(one.by.path, f"{one.by.name} reads {one.name}{beside}", one.by.resource)


def _started_in_vain(group: Group, files: Collection[str]) -> Iterator[Lacking]:
    """The first file that a script starts or opens, and that nobody uploads or makes."""
    programs = programs_of(group)
    texts = [str(shown(one.text)) for one in programs.files.values()]
    for one in programs.started if not programs.makes else ():
        named = sum(text.count(one.name) for text in texts)
        if one.name not in files and "/" not in one.name and named == 1:
            near = nearest(one.name, files)
            text = f"{one.by} {'opens' if one.arguments is None else 'starts'} {one.name}, which nobody uploads"
            file = programs.files[one.by]
            yield Lacking(file.path, text + ("" if near is None else f"; the nearest is {near}"), file.resource)
            return
    for stray in programs.strayed:
        file = programs.files[stray.by]
        yield Lacking(file.path, f"{stray.by} starts {stray.name} in {stray.folder}, where nobody puts it", file.resource)


def _copied_in_vain(group: Group) -> Iterator[Lacking]:
    """The first object that a script copies from a bucket of the templates, where all that is written is at other places."""
    written = writes(group.resource.template.model)
    for script in scripts_for(group) if written else ():
        for call in calls_in(script.run, script.resource) if script.entry and script.run is not None else ():
            key, bucket = as_str(call.parameters.get("key")), resource_of(call.parameters.get("bucket"), _BUCKET)
            if call.operation.name == _COPY and bucket is not None and key and _surely_lacks(bucket, key, written, group):
                near = nearest(key, [str(shown(one.key)) for one in written])
                text = f"{script.path[-1]} copies {key} from {bucket.logical_id}, where nobody writes it"
                yield Lacking(script.path, text + ("" if near is None else f"; the nearest is {near}"), script.resource)
                return


def _surely_lacks(bucket: Resource, key: str, written: Sequence[Write], group: Group) -> bool:
    """Whether a bucket that is made with the cluster has other objects alone."""
    beside = [one for one in written if one.is_in(Reference(bucket)) is not False]
    may_be_there = key.endswith("/") or any(one.is_at(key) is not False for one in beside)
    return bool(beside) and not may_be_there and _is_made_with(bucket, group) and not _may_be_filled(bucket, writers(beside))


def late_writers(group: Group) -> Iterator[Resource]:
    """What starts a build that writes the scripts of a group, and is not awaited by the cluster."""
    place, cluster = s3_place(_uri(group)), group.cluster.resource
    names = [as_str(group.get(LIFE_CYCLE, key)) for key in ENTRIES]
    for one in writes(cluster.template.model) if place is not None else ():
        wanted = [joined([*parts_of(_folder(place[1])), name]) for name in names if name] if place is not None else []
        if one.resource.type == PROJECT and place is not None and one.is_in(place[0]) and any(map(one.is_at, wanted)):
            starting = (caller for caller, programs in called_first(cluster.template.model).items() if one.resource in programs)
            yield from (caller for caller in starting if not awaits(cluster, caller) and not awaits(caller, cluster))


def _written_elsewhere(group: Group, uploads: tuple[Upload, ...]) -> Iterator[Lacking]:
    """The script of a group at a place where no known write is, while one is at another place, or another file at this one."""
    place = s3_place(_uri(group))
    bucket = _bucket(group)
    beside = [] if place is None else [one for one in writes(group.resource.template.model) if one.is_in(place[0]) is not False]
    if place is None or not beside or not {one.resource for one in uploads} <= writers(beside):
        return
    for key in ENTRIES:
        name, prefix = as_str(group.get(LIFE_CYCLE, key)), _folder(place[1])
        wanted = joined([*parts_of(prefix), name or ""])
        if name is None or any(one.is_at(wanted) is not False or one.is_in(place[0]) is None for one in beside):
            continue
        here = [one for one in beside if one.is_at(joined([*parts_of(prefix), _name_of(one.key)]))]
        open_ = bucket is not None and _may_be_filled(bucket, writers(beside))
        same = [one for one in beside if _name_of(one.key) == PurePosixPath(name).name and not open_]
        found = _most_alike(wanted, here or same) or _only(group, beside)
        if found is not None:
            written = f"{found.resource.logical_id} writes {shown(found.key)}"
            text = f"instance group {group.label!r} starts with {shown(wanted)}, and {written}"
            yield Lacking((LIFE_CYCLE, key if here else URI), text)


def _written_into_another_bucket(group: Group) -> Iterator[Lacking]:
    """The script of a group in a bucket that is made with the cluster and that nothing fills, while it is written into another."""
    place, bucket = s3_place(_uri(group)), _bucket(group)
    known = writes(group.resource.template.model)
    if place is None or bucket is None or not _is_made_with(bucket, group) or _may_be_filled(bucket, writers(known)):
        return
    for name in map(as_str, (group.get(LIFE_CYCLE, key) for key in ENTRIES)):
        wanted = joined([*parts_of(_folder(place[1])), name or ""])
        found = next((one for one in known if name and one.is_at(wanted)), None)
        if found is not None and all(one.is_in(place[0]) is False for one in known):
            written = f"{found.resource.logical_id} writes it into {shown(found.bucket)}"
            text = f"instance group {group.label!r} starts with {shown(wanted)} in {bucket.logical_id}, and {written}"
            yield Lacking((LIFE_CYCLE, URI), text)


def _most_alike(wanted: Value, found: list[Write]) -> Write | None:
    """The object that was probably meant."""
    near = nearest(str(shown(wanted)), (str(shown(one.key)) for one in found), 0)
    return next((one for one in found if str(shown(one.key)).casefold() == (near or "").casefold()), None)


def _only(group: Group, beside: list[Write]) -> Write | None:
    """One of the objects that are written into a bucket, if nothing else can fill that: it is made with the cluster."""
    bucket, first = _bucket(group), beside[0]
    made = bucket is not None and _is_made_with(bucket, group)
    return first if bucket is not None and made and not _may_be_filled(bucket, {one.resource for one in beside}) else None


def _folder(prefix: Value) -> Value:
    *_, last = parts_of(prefix)
    return prefix if prefix == "" or (isinstance(last, str) and last.endswith("/")) else joined([*parts_of(prefix), "/"])


def _name_of(key: Value) -> str:
    *_, last = parts_of(key)
    return last.rpartition("/")[2] if isinstance(last, str) else ""


def _uploads(group: Group) -> tuple[Upload, ...]:
    return uploads_of(group.resource.template.model, _uri(group))


def _uri(group: Group) -> Value:
    return answered(group.get(LIFE_CYCLE, URI))


def _bucket(group: Group) -> Resource | None:
    """The bucket of the scripts."""
    parts = parts_of(_uri(group))
    return resource_of(parts[1], _BUCKET) if len(parts) > 1 and parts[0] == "s3://" else None


def _is_made_with(bucket: Resource, group: Group) -> bool:
    """Whether a bucket is made with the cluster, and so is empty before the uploads."""
    return bucket.template.root is group.resource.template.root


def _is_another_version(upload: Upload, group: Group) -> bool:
    """Whether the scripts of a group have the place of an upload, but for the last word, which is another version or digest."""
    places = [PurePosixPath(one.strip("/")) for one in (key_of(_uri(group)), upload.prefix or "")]
    return places[0].parent == places[1].parent and all(_VERSION.fullmatch(one.name) for one in places)


def _may_be_filled(bucket: Resource, known: Collection[Resource]) -> bool:
    """Whether something else that may put scripts into the bucket names it."""
    others = (one for one in bucket.template.model.resources() if one.type.startswith(_FILLERS) and one not in known)
    return any(bucket in depends_on(one) and writes_nothing(one.type) is None for one in others)
