"""Functions of custom resources: each request is answered, also one that fails, with a status that CloudFormation knows.

A request that nobody answers keeps the stack waiting until its timeout. What is called with the event, and is not in the code, may
answer. An update with another physical id is a replacement for CloudFormation, which then asks to delete the old resource.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requesttypes-update.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-lambda-function-code-cfnresponsemodule.html and
https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.custom_resources-readme.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from hyperpod_constructs.analysis.code_runs.known_calls import OF_REQUEST
from hyperpod_constructs.analysis.code_runs.runs import AGAIN, CREATE, DELETE, UPDATE, Run, Way
from hyperpod_constructs.analysis.code_runs.things import FRESH, Fresh, Items, Object, Thing
from hyperpod_constructs.analysis.custom_resources import IS_COMPLETE, made_behind, made_by
from hyperpod_constructs.analysis.function_answers import answer_of_function
from hyperpod_constructs.analysis.function_code import runs_of
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.sent_answers import FAILED, MODULE, SEND, status_of
from hyperpod_constructs.analysis.texts.slip import Slip, Slips
from hyperpod_constructs.analysis.texts.update_answers import idle_updates
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import Text, parts_of

_CODE = ("Code", "ZipFile")
_STATUSES = ("SUCCESS", "FAILED")
_OF_SEND = ("event", "context", "responseStatus", "responseData")
_OF_MODULE = (*_STATUSES, "send")
_OLD = "PhysicalResourceId"
"""Code that has it may answer with the old id, or delete by it."""
_PUT = "PUT"
_MOST_BYTES = 4096
_DELETING = ("Delete", "Deregister", "Terminate")
_MAKING = ("Create", "Put")
_TAKES_AWAY = re.compile(r"(?i)clean|delet|disabl|empt|paus|purg|remov|restrict|revok|suspend|without")
"""Names of custom resources that take something away as long as they are there."""


def mistakes_in_answers(tree: ast.Module, function: Resource, name: str) -> Slips:
    """What the handler of a custom resource does wrong.

    :param name: the name of the handler.
    """
    yield from _words(tree)
    handler = next((one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == name), None)
    if handler is not None and not handler.decorator_list:
        known = [one for one in runs_of(function) if one.resource is not None]
        runs = [one for one in known if one.request != AGAIN]
        direct = runs if made_by(function) else []
        yield from _properties(runs)
        yield from _failing(runs)
        yield from _turned(handler, runs)
        yield from _repeated([one for one in known if one.request == AGAIN])
        yield from _silent(handler, direct)
        yield from (_slip(line, says, "the same calls with each update") for line, says in idle_updates(runs))
        yield from (slip for run in direct for slip in _refused(run))
        yield from _new_id(handler, direct) if _OLD not in ast.unparse(tree) else ()
    yield from _completion(function)


def _slip(line: int, says: str, allowed: str) -> Slip:
    return Slip(f"line {line} of the code {says}", allowed, _CODE, dead=True)


def _words(tree: ast.Module) -> Iterator[Slip]:
    """The members of the module, and statuses."""
    for node in ast.walk(tree):
        is_member = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == MODULE
        if isinstance(node, ast.Attribute) and is_member and node.attr not in _OF_MODULE:
            yield _slip(
                node.lineno, f"names {MODULE}.{node.attr}, which is not there{meant(node.attr, _OF_MODULE)}", listed(_OF_MODULE)
            )
        status = status_of(node) if isinstance(node, ast.Call) and ast.unparse(node.func) == SEND else None
        if isinstance(node, ast.Call) and ast.unparse(node.func) == SEND and not _is_open(node):
            names = {*_OF_SEND[: len(node.args)], *(one.arg for one in node.keywords)}
            lacking = [name for name in _OF_SEND if name not in names]
            if lacking or isinstance(status, ast.Dict):
                yield _slip(node.lineno, f"calls {SEND} without {(lacking or ['responseStatus'])[0]}", listed(_OF_SEND))
        if isinstance(status, ast.Constant) and status.value not in _STATUSES:
            yield _slip(status.lineno, f"answers {status.value!r}{meant(str(status.value), _STATUSES)}", listed(_STATUSES))


def _is_open(call: ast.Call) -> bool:
    """Whether a call has arguments that are not written out."""
    return any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)


def _silent(handler: ast.FunctionDef, runs: Sequence[Run]) -> Iterator[Slip]:
    """Requests that nobody answers, or a failure that is caught and not answered."""
    for resource in dict.fromkeys(one.resource for one in runs):
        own = [one for one in runs if one.resource is resource and one.is_whole]
        silent = [one.request for one in own if one.ends and not any(way.sent or way.hands_on for way in one.ends)]
        if silent and resource is not None:
            says = f"answers no request to {listed(silent).lower()} {resource.logical_id}: CloudFormation waits in vain"
            yield _slip(handler.lineno, says, "an answer to each request, such as cfnresponse.send(…)")
            return
    ways = (way for one in runs if one.is_whole for way in one.ways)
    caught = [way.caught[-1] for way in ways if way.caught and not (way.sent or way.hands_on or way.raises)]
    for line in caught[:1]:
        yield _slip(line, "catches a failure, and does not answer it: CloudFormation waits in vain", "an answer with FAILED")
    raised = [way.caught[-1] for one in runs if one.is_whole for way in one.ways if _is_raised_again(way)]
    for line in raised[: not caught]:
        says = "catches a failure and raises it again, and nothing answers it: CloudFormation waits in vain"
        yield _slip(line, says, "an answer with FAILED")


def _is_raised_again(way: Way) -> bool:
    """Whether a failure that the code catches ends a way without an answer."""
    return way.raises and bool(way.caught) and not (way.sent or way.hands_on or way.failures)


def _failing(runs: Sequence[Run]) -> Iterator[Slip]:
    """The first failure of a request that no way serves."""
    for run in runs:
        failing = [way.failures[0] for way in run.ways if way.failures]
        if run.is_whole and failing and not run.ends and run.resource is not None:
            says = f"fails with each request to {run.request.lower()} {run.resource.logical_id}: {failing[0].says}"
            yield _slip(failing[0].line, says, "code that serves the request")
            return


def _repeated(runs: Sequence[Run]) -> Iterator[Slip]:
    """An update that makes again what the request to create has made, and does not serve then."""
    for run in runs:
        served = [way for way in run.ways if not way.raises and not (way.sent and all(one.status == FAILED for one in way.sent))]
        failing = [way.failures[0] for way in run.ways if way.failures]
        if run.is_whole and failing and not served and run.resource is not None:
            says = f"fails with each request to update {run.resource.logical_id}: {failing[0].says}"
            yield _slip(failing[0].line, says, "a call that changes what is there, or code that serves the request then too")
            return


def _refused(run: Run) -> Iterator[Slip]:
    """Answers that CloudFormation does not take, or with which it takes no request for served."""
    ends = run.ends if run.is_whole else ()
    for sent in (sent for way in ends for sent in way.sent):
        if isinstance(sent.status, Object) or (isinstance(sent.status, str) and sent.status not in _STATUSES):
            status = "an object" if isinstance(sent.status, Object) else repr(sent.status)
            yield _slip(sent.line, f"answers with {status} as its status", listed(_STATUSES))
        if sent.request is None or isinstance(sent.request, Fresh):
            yield _slip(sent.line, "does not answer with the id of the request", "RequestId of the event")
        if sent.request is not OF_REQUEST and sent.id in (None, ""):
            yield _slip(sent.line, f"answers without {_OLD}", "the same id for the same resource, such as its name")
        size = _least(sent.data)
        if size > _MOST_BYTES:
            yield _slip(sent.line, f"answers with data of {size:,} bytes or more", f"an answer of at most {_MOST_BYTES:,} bytes")
        if sent.method not in ("", _PUT):
            yield _slip(sent.line, f"answers by {sent.method}, and the address is signed for {_PUT}", _PUT)
    if ends and run.resource is not None and all(way.sent and all(one.status == FAILED for one in way.sent) for way in ends):
        says = f"answers each request to {run.request.lower()} {run.resource.logical_id} with {FAILED}"
        yield _slip(ends[0].sent[0].line, says, "SUCCESS where the request is served")


def _least(thing: Thing) -> int:
    """The characters that are surely in some data."""
    if isinstance(thing, Object):
        return sum(len(str(name)) + _least(one) for name, one in thing.items.items())
    if isinstance(thing, Items):
        return sum(map(_least, thing.items))
    return sum(len(part) for part in parts_of(thing) if isinstance(part, str)) if isinstance(thing, str | Text) else 0


def _new_id(handler: ast.FunctionDef, runs: Sequence[Run]) -> Iterator[Slip]:
    """An id that is another one with each update, where a request to delete deletes something."""
    for update, delete in ((one, other) for one in runs for other in runs if one.resource is other.resource is not None):
        if update.request != UPDATE or delete.request != DELETE or not (update.is_whole and update.ends and update.resource):
            continue
        updating = set() if delete.is_whole else {one.operation.action for one in update.calls}
        deletes = any(one.operation.name.startswith(_DELETING) and one.operation.action not in updating for one in delete.calls)
        if deletes and all(sent.id is FRESH for way in update.ends for sent in way.sent):
            says = (
                f"answers each update with a new physical id, so CloudFormation has {update.resource.logical_id} deleted behind it"
            )
            yield _slip(handler.lineno, says, "the same id for the same resource, such as its name")
            return


def _turned(handler: ast.FunctionDef, runs: Sequence[Run]) -> Iterator[Slip]:
    """What a request to create deletes alone, and a request to delete makes."""
    for create, delete in ((one, other) for one in runs for other in runs if one.resource is other.resource is not None):
        if (create.request, delete.request) != (CREATE, DELETE) or not (create.is_whole and delete.is_whole):
            continue
        made, makes = (_things(one, *_MAKING) for one in (create, delete))
        deletes, deleted = (_things(one, "Delete") for one in (create, delete))
        same, resource = sorted({*deletes} & {*makes}), create.resource
        if same and not made and not deleted and resource is not None and not _TAKES_AWAY.search(resource.type):
            first, second = deletes[same[0]], makes[same[0]]
            says = f"calls {first} with the request to create {resource.logical_id}, and {second} with the one to delete it"
            yield _slip(handler.lineno, says, "the reverse")
            return


def _things(run: Run, *verbs: str) -> dict[str, str]:
    """The calls of a run whose names begin with one of some verbs, by their things, such as `Object` of `PutObject`."""
    names = dict.fromkeys(one.operation.name for one in run.calls)
    return {name.removeprefix(verb): name for name in names for verb in verbs if name.startswith(verb)}


def _properties(runs: Sequence[Run]) -> Iterator[Slip]:
    """A property that the code surely reads, or one that is nearly there, and that no custom resource of the function has."""
    for run in runs:
        resource, ways = run.resource, run.ends or run.ways
        for missed in (one for way in ways for one in way.missed) if resource is not None else ():
            near = meant(missed.name, resource.properties) if resource is not None else ""
            surely = run.is_whole and not run.ends
            if resource is not None and (near or surely):
                says = f"reads the property {missed.name}, which {resource.logical_id} does not have{near}"
                yield _slip(missed.line, says, listed(resource.properties))
                return


def _completion(function: Resource) -> Iterator[Slip]:
    """What asks whether a resource is complete says so."""
    answer = answer_of_function(function) if made_behind(function, IS_COMPLETE) else None
    if answer is not None and not answer.is_open and "IsComplete" not in answer.members and not answer.items:
        names = tuple(answer.members)
        message = (
            f"the code answers {listed(names) or 'nothing'}, and the framework asks for IsComplete{meant('IsComplete', names)}"
        )
        yield Slip(message, "IsComplete: true or false", _CODE, dead=True)
