"""Functions of custom resources: each request is answered, also one that fails, with a status that CloudFormation knows.

A request that nobody answers keeps the stack waiting until its timeout. What is called with the event, and is not in the code, may
answer.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-lambda-function-code-cfnresponsemodule.html and
https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.custom_resources-readme.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from hyperpod_constructs.analysis.custom_resources import IS_COMPLETE, ON_EVENT, made_behind, made_by
from hyperpod_constructs.analysis.function_answers import answer_of_function
from hyperpod_constructs.analysis.function_code import runs_of
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.sent_answers import MODULE, SEND, status_of
from hyperpod_constructs.analysis.texts.guards import is_guard, is_type
from hyperpod_constructs.analysis.texts.new_ids import new_id
from hyperpod_constructs.analysis.texts.slip import Slip, Slips
from hyperpod_constructs.templates.model import Resource

_CODE = ("Code", "ZipFile")
_STATUSES = ("SUCCESS", "FAILED")
_OF_SEND = ("event", "context", "responseStatus", "responseData")
_OF_MODULE = (*_STATUSES, "send")
_ALL = ("Exception", "BaseException")
_URL = "ResponseURL"
"""Where an answer goes: code that has it may answer."""
_HARMLESS = ("print", "str", "repr", "json.dumps", "len", "dict")
"""Functions that get an event and answer nobody."""
_LOGGERS = ("log", "logger", "logging", "LOG", "LOGGER", "_logger")


def mistakes_in_answers(tree: ast.Module, function: Resource, name: str) -> Slips:
    """What the handler of a custom resource does wrong.

    :param name: the name of the handler.
    """
    yield from _words(tree)
    direct = made_by(function)
    handler = next((one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == name), None)
    if direct and handler is not None and not handler.decorator_list and handler.args.args:
        answers = _Answers(tree, handler)
        silent = next((one for one in direct if _unanswered(function, one, tree)), None)
        if silent is not None:
            says = f"answers no request to {listed(_unanswered(function, silent, tree)).lower()} {silent.logical_id}"
            yield _slip(handler, f"{says}: CloudFormation waits in vain", "an answer to each request, such as cfnresponse.send(…)")
        else:
            yield from answers.slips()
        found = new_id(tree, handler, answers.holds)
        if found is not None:
            says = f"answers each update with a new physical id, so CloudFormation has {direct[0].logical_id} deleted behind it"
            yield _slip(found, says, "the same id for the same resource, such as its name")
    yield from _completion(function)
    if handler is not None and handler.args.args and not handler.decorator_list:
        yield from _properties(handler, (*direct, *made_behind(function, ON_EVENT)))


def _slip(node: ast.expr | ast.stmt | ast.ExceptHandler, says: str, allowed: str) -> Slip:
    return Slip(f"line {node.lineno} of the code {says}", allowed, _CODE, dead=True)


def _words(tree: ast.Module) -> Iterator[Slip]:
    """The members of the module, and statuses."""
    for node in ast.walk(tree):
        is_member = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == MODULE
        if isinstance(node, ast.Attribute) and is_member and node.attr not in _OF_MODULE:
            yield _slip(node, f"names {MODULE}.{node.attr}, which is not there{meant(node.attr, _OF_MODULE)}", listed(_OF_MODULE))
        status = status_of(node) if isinstance(node, ast.Call) and ast.unparse(node.func) == SEND else None
        if isinstance(node, ast.Call) and ast.unparse(node.func) == SEND and not _is_open(node):
            names = {*_OF_SEND[: len(node.args)], *(one.arg for one in node.keywords)}
            lacking = [name for name in _OF_SEND if name not in names]
            if lacking or isinstance(status, ast.Dict):
                yield _slip(node, f"calls {SEND} without {(lacking or ['responseStatus'])[0]}", listed(_OF_SEND))
        if isinstance(status, ast.Constant) and status.value not in _STATUSES:
            yield _slip(status, f"answers {status.value!r}{meant(str(status.value), _STATUSES)}", listed(_STATUSES))


def _is_open(call: ast.Call) -> bool:
    """Whether a call has arguments that are not written out."""
    return any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)


def _unanswered(function: Resource, resource: Resource, tree: ast.Module) -> list[str]:
    """The requests for a custom resource that a function surely does not answer."""
    own = [one for one in runs_of(function) if one.resource is resource] if _URL not in ast.unparse(tree) else []
    return [one.request for one in own if one.is_whole and one.ends and not any(way.sent or way.hands_on for way in one.ends)]


class _Answers:
    """The ways of a handler on which it may answer."""

    def __init__(self, tree: ast.Module, handler: ast.FunctionDef) -> None:
        self._handler = handler
        self._event = handler.args.args[0].arg
        self._functions = {one.name: one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
        self._types = {
            one.targets[0].id
            for one in ast.walk(handler)
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and is_type(one.value)
        }

    def slips(self) -> Iterator[Slip]:
        """The first kind of failure without an answer."""
        for node in self._silent(self._handler.body, after=False):
            yield _slip(
                node, "catches every failure, and does not answer it: CloudFormation waits in vain", "an answer with FAILED"
            )
            return

    def _answers(self, node: ast.AST, depth: int = 0) -> bool:
        """Whether a call may answer: it does so here, or hands the event to what is not in the code."""
        if not isinstance(node, ast.Call):
            return False
        called = ast.unparse(node.func)
        local = self._functions.get(called)
        if called == SEND or depth > len(self._functions):
            return True
        given = [*node.args, *(one.value for one in node.keywords)]
        if not any(isinstance(part, ast.Name) and part.id == self._event for one in given for part in self._whole(one)):
            return local is not None and any(self._answers(one, depth + 1) for one in ast.walk(local))
        if local is not None:
            return _URL in ast.unparse(local) or any(self._answers(one, depth + 1) for one in ast.walk(local))
        return called not in _HARMLESS and called.partition(".")[0] not in _LOGGERS

    def _whole(self, node: ast.expr) -> Iterator[ast.AST]:
        """The parts of an argument, without those of which only a member is taken."""
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Call) and ast.unparse(node.func) == f"{self._event}.get"):
            return
        yield node
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.expr):
                yield from self._whole(one)

    def holds(self, test: ast.expr, request: str) -> bool | None:
        """Whether a comparison with the kind of a request holds; `None` for another test."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.holds(test.operand, request)
            return None if inner is None else not inner
        if isinstance(test, ast.BoolOp):
            found = [self.holds(one, request) for one in test.values]
            sure = isinstance(test.op, ast.Or)
            return sure if sure in found else None if None in found else not sure
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        left, operator, other = test.left, test.ops[0], test.comparators[0]
        asks_kind = is_type(left) or (isinstance(left, ast.Name) and left.id in self._types)
        items = other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]
        words = [one.value for one in items if isinstance(one, ast.Constant)]
        if not asks_kind or len(words) != len(items) or not isinstance(operator, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            return None
        return (request in words) == isinstance(operator, ast.Eq | ast.In)

    def _silent(self, body: Sequence[ast.stmt], *, after: bool) -> Iterator[ast.ExceptHandler]:
        """What catches every failure of a block that answers, and does not answer then.

        :param after: whether something behind the block may answer.
        """
        for index, node in enumerate(body):
            later = after or any(self._may(one) for one in body[index + 1 :])
            if isinstance(node, ast.Try) and not any(map(self._may, node.finalbody)) and any(map(self._may, node.body)):
                for one in node.handlers:
                    every = one.type is None or (isinstance(one.type, ast.Name) and one.type.id in _ALL)
                    ends = isinstance(one.body[-1], ast.Raise | ast.Return)
                    if every and not any(map(self._may, one.body)) and (ends or not later):
                        yield one

    def _may(self, node: ast.stmt) -> bool:
        return _URL in ast.unparse(node) or any(self._answers(one) for one in ast.walk(node))


def _completion(function: Resource) -> Iterator[Slip]:
    """What asks whether a resource is complete says so."""
    answer = answer_of_function(function) if made_behind(function, IS_COMPLETE) else None
    if answer is not None and not answer.is_open and "IsComplete" not in answer.members and not answer.items:
        names = tuple(answer.members)
        message = (
            f"the code answers {listed(names) or 'nothing'}, and the framework asks for IsComplete{meant('IsComplete', names)}"
        )
        yield Slip(message, "IsComplete: true or false", _CODE, dead=True)


def _properties(handler: ast.FunctionDef, resources: Sequence[Resource]) -> Iterator[Slip]:
    """Properties that the handler reads, whatever the request is, and that a resource does not have."""
    event = handler.args.args[0].arg
    whole = f"{event}['ResourceProperties']"
    names = {
        one.targets[0].id
        for one in ast.walk(handler)
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and ast.unparse(one.value) == whole
    }
    guarded = {id(one) for node in ast.walk(handler) if is_guard(node) for one in ast.walk(node)}
    for node in ast.walk(handler):
        of = ast.unparse(node.value) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) else ""
        key = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
        if not isinstance(node, ast.Subscript) or not isinstance(key, str) or (of != whole and of not in names):
            continue
        lacking = [one for one in resources if key not in one.properties]
        near = meant(key, lacking[0].properties) if lacking else ""
        if len(lacking) == len(resources) > 0 and (near or id(node) not in guarded):
            resource = lacking[0]
            says = f"reads the property {key}, which {resource.logical_id} does not have{near}"
            yield _slip(node, says, listed(resource.properties))
            return
