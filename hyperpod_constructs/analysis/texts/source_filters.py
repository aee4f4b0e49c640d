"""Filters of queues and streams that call a function or feed a pipe, and the answer of a function that reports what failed.

Sources: https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html,
https://docs.aws.amazon.com/lambda/latest/dg/with-ddb-filtering.html,
https://docs.aws.amazon.com/lambda/latest/dg/with-sqs-filtering.html and
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.function_answers import answer_of_function, answers_nothing
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.texts.event_patterns import literals
from hyperpod_constructs.analysis.texts.reading import from_json, known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.events import CHANGE, CHANGE_NAMES, CHANGE_RECORD, IMAGES_OF, QUEUE_RECORD, VALUE_TYPES
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value

_MAPPING, _PIPE, _QUEUE, _TABLE = "AWS::Lambda::EventSourceMapping", "AWS::Pipes::Pipe", "AWS::SQS::Queue", "AWS::DynamoDB::Table"
_FILTERS, _REPORT, _FAILED = ("FilterCriteria", "Filters"), "ReportBatchItemFailures", "batchItemFailures"
_ITEM, _EITHER = "itemIdentifier", "$or"


def event_source(mapped: Resource) -> Slips:
    """The filters of an event source, and under which name its function answers what failed."""
    yield from _filters(mapped, mapped.get("EventSourceArn"), ())
    asked = [known(one) for _, one in entries(mapped.get("FunctionResponseTypes"))]
    yield from _unreported(mapped)
    function = resource_of(mapped.get("FunctionName")) if _REPORT in asked else None
    answer = None if function is None else answer_of_function(function)
    name = next((one for one in answer.members if "fail" in one.lower()), None) if answer is not None else None
    if answer is not None and function is not None and name is not None and _FAILED not in answer.members:
        message = f"{function.logical_id} answers {name} where {_FAILED} says what failed: failed messages count as done"
        yield Slip(message, f"an answer with {_FAILED}", ("FunctionResponseTypes",), dead=True)
    elif function is not None and answers_nothing(function) and _ITEM in (known(function.get("Code", "ZipFile")) or ""):
        message = f"{function.logical_id} answers nothing where {_FAILED} says what failed: failed messages count as done"
        yield Slip(message, f"an answer with {_FAILED}", ("FunctionResponseTypes",), dead=True)


def _unreported(mapped: Resource) -> Slips:
    """A function that answers what failed, where nothing reads its answer."""
    function = resource_of(mapped.get("FunctionName"))
    answer = answer_of_function(function) if function is not None and mapped.get("FunctionResponseTypes") in (ABSENT, ()) else None
    if function is not None and answer is not None and _FAILED in answer.members:
        message = f"{function.logical_id} answers {_FAILED}, and nothing reads it: failed messages count as done"
        yield Slip(message, _REPORT, ("FunctionResponseTypes",), dead=True)


def pipe(resource: Resource) -> Slips:
    """The filters of a pipe."""
    yield from _filters(resource, resource.get("Source"), ("SourceParameters",))


def _filters(resource: Resource, source: Value, above: tuple[str, ...]) -> Slips:
    queue, table = resource_of(source, _QUEUE), resource_of(source, _TABLE)
    for index, one in entries(resource.get(*above, *_FILTERS)) if queue is not None or table is not None else ():
        pattern = from_json(mapping(one).get("Pattern", ABSENT))
        found = mapping(None if isinstance(pattern, Slip) else pattern)
        slips = _of_queue(found) if table is None else _of_table(found, table)
        yield from (slip.below(*above, *_FILTERS, index, "Pattern") for slip in list(slips)[:1])


def _of_queue(pattern: Mapping[str, Value]) -> Iterator[Slip]:
    """A filter of messages: their text is in the body."""
    for name in pattern:
        if name not in QUEUE_RECORD and name != _EITHER:
            yield Slip(
                f"no message has {name} beside its body{meant(name, QUEUE_RECORD)}", f'{{"body": {{"{name}": …}}}}', dead=True
            )


def _of_table(pattern: Mapping[str, Value], table: Resource) -> Iterator[Slip]:
    """A filter of the changes of a table."""
    yield from _unknown(pattern, CHANGE_RECORD, "no record of a stream has")
    for name in literals(pattern.get("eventName", ())):
        if name not in CHANGE_NAMES:
            yield Slip(f"eventName is never {name!r}{meant(name, CHANGE_NAMES)}", listed(CHANGE_NAMES), dead=True)
    change = mapping(pattern.get("dynamodb", ABSENT))
    yield from _unknown(change, CHANGE, "no change of a table has")
    view = known(table.get("StreamSpecification", "StreamViewType"))
    for image in ("NewImage", "OldImage"):
        if image in change and view in IMAGES_OF and image not in IMAGES_OF[view or ""]:
            yield Slip(f"the stream of {table.logical_id} has no {image}: it is of {view}", "NEW_AND_OLD_IMAGES", dead=True)
    for image in ("Keys", "NewImage", "OldImage"):
        yield from _values(mapping(change.get(image, ABSENT)))


def _unknown(given: Mapping[str, Value], names: tuple[str, ...], says: str) -> Iterator[Slip]:
    for name in given:
        if name not in names and name != _EITHER:
            yield Slip(f"{says} {name}{meant(name, names)}", listed(names), dead=True)


def _values(image: Mapping[str, Value]) -> Iterator[Slip]:
    """Attributes of an item, each below its type; numbers are texts."""
    for name, value in image.items():
        types = list(mapping(value))
        if isinstance(value, tuple) or (types and not any(one in VALUE_TYPES for one in types)):
            yield Slip(f"{name} is below no type, such as S", f'{{"{name}": {{"S": …}}}}', dead=True)
        for _, one in entries(mapping(value).get("N", ABSENT)):
            if isinstance(one, int | float) or "numeric" in mapping(one):
                yield Slip(f"{name} is compared with a number, and the stream has its numbers as texts", "texts", dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_MAPPING: event_source, _PIPE: pipe}
