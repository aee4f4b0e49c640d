"""Updates of custom resources whose properties have texts for a bucket: what writes them at their creation writes them again.

CloudFormation asks for an update because a property has changed. Code that only answers leaves the old texts in the bucket.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requesttypes-update.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_constructs.analysis.code_runs.answers_sent import Sent
from hyperpod_constructs.analysis.code_runs.runs import CREATE, UPDATE, Run, Way
from hyperpod_constructs.analysis.sent_answers import FAILED
from hyperpod_constructs.analysis.uploads import is_body, is_files, written_object
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import UNKNOWN

_WRITES = ("PutObject", "UploadFile", "UploadFileobj")


def idle_updates(runs: Sequence[Run]) -> Iterator[tuple[int, str]]:
    """The line that answers an update which writes nothing, and what that means."""
    for create, update in ((one, other) for one in runs for other in runs if one.resource is other.resource is not None):
        if (create.request, update.request) != (CREATE, UPDATE) or create.resource is None:
            continue
        written = [one.operation.name for one in create.calls if one.operation.name in _WRITES]
        if written and _has_texts(create.resource) and _does_nothing(update):
            says = (
                f"calls {written[0]} to create {create.resource.logical_id}, and nothing to update it: its changes are not written"
            )
            yield _answers(update)[0].line, says
            return


def _has_texts(resource: Resource) -> bool:
    """Whether a custom resource has the texts that its function writes: files by their names, or one beside its key."""
    bodies = (value for name, value in resource.properties.items() if is_body(name) and value is not UNKNOWN)
    return any(map(is_files, resource.properties.values())) or (written_object(resource) is not None and any(bodies))


def _does_nothing(run: Run) -> bool:
    """Whether code surely does nothing with a request but to answer that it is served."""
    served = _answers(run)
    return run.is_whole and not run.calls and bool(served) and not any(map(_may_do_more, run.ways))


def _may_do_more(way: Way) -> bool:
    return way.hands_on or bool(way.commands or way.opened or way.failures)


def _answers(run: Run) -> list[Sent]:
    return [sent for way in run.ends for sent in way.sent if sent.status != FAILED]
