"""Calls of AWS in the code of a function that stands in its template: the code is parsed, and never executed.

Python's clients and resources of boto3, and the commands of AWS's SDK for JavaScript are known. A parameter is known where it is
a text, a variable of the function's environment, or in Python an object or a list of such, or a property of the custom resource
for which alone the function works.

Sources: https://docs.aws.amazon.com/boto3/latest/guide/clients.html and
https://docs.aws.amazon.com/AWSJavaScriptSDK/v3/latest/
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from hyperpod_constructs.analysis.custom_resources import IS_COMPLETE, ON_EVENT, made_behind, made_by, makers
from hyperpod_constructs.facts.sdk_calls import Operation, by_client, by_package
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Text, Value, as_str, at, is_known, joined, parts_of

if TYPE_CHECKING:
    import ast

T = TypeVar("T")

FUNCTION, _PROPERTIES = "AWS::Lambda::Function", "ResourceProperties"
_LONGEST = 1 << 16
_MANAGED: Mapping[str, str] = {
    "download_file": "getobject",
    "download_fileobj": "getobject",
    "upload_file": "putobject",
    "upload_fileobj": "putobject",
}
"""Methods of clients that make several calls, by the operation that they need."""
_RESOURCES: Mapping[tuple[str, str], str] = {("dynamodb", "Table"): "TableName", ("sns", "Topic"): "TopicArn"}
"""Resources of boto3 by their service, each with the parameter that names it."""
_DOCUMENTS: Mapping[str, str] = {"Delete": "deleteitem", "Get": "getitem", "Put": "putitem", "Update": "updateitem"}
"""Commands for documents of DynamoDB, by their operation."""
_MOST_VALUES, _MOST_TURNS, _DEEPEST = 10_000, 100, 8
_CHANGES = ("append", "clear", "extend", "insert", "pop", "remove", "setdefault", "update")
"""Methods that change a list or an object."""
_PACKAGE = re.compile(r"""(?:from|require\()\s*["']@aws-sdk/((?:client|lib)-[a-z0-9-]+)["']""")
_TAKEN = re.compile(r"""\{([^{}]{1,2000})\}\s*(?:=\s*require\(|from)\s*["']@aws-sdk/(client-[a-z0-9-]+)["']""")
_COMMAND = re.compile(r"\bnew\s+(\w{1,80})Command\s*\(\s*(\{)?")
_GIVEN = re.compile(r"""(\w{1,80})\s*:\s*(?:process\.env\.(\w+)|["'`]([^"'`$\n]*)["'`])""")


OTHERS = "**"
"""Stands for parameters whose names are not known."""


class CodeCall(NamedTuple):
    """A call in the code of a function.

    :param parameters: those that are known, by their names in small letters.
    """

    operation: Operation
    parameters: Mapping[str, Value]


def calls_of(function: Resource) -> tuple[CodeCall, ...]:
    """The calls in the code of a function, as far as they are known; computed once."""
    return function.template.model.cached((calls_of, function), lambda: tuple(_calls_of(function)))


def answers_of(function: Resource) -> Mapping[str, Value]:
    """The attributes that a function in Python gives its custom resource by `cfnresponse`, if they are known; computed once."""
    return function.template.model.cached((answers_of, function), lambda: _answers_of(function))


def _answers_of(function: Resource) -> Mapping[str, Value]:
    code = _python(function)
    answers = [one for one in (code.answers() if code is not None else ()) if one]
    names = dict.fromkeys(name for one in answers for name in one)
    values = {name: [one[name] for one in answers if name in one] for name in names}
    return {name: found[0] for name, found in values.items() if all(one == found[0] is not UNKNOWN for one in found)}


def id_of(resource: Resource) -> Value:
    """The physical id that a function in Python answers for its one custom resource by `cfnresponse`; `UNKNOWN` if nobody knows."""
    maker = makers(resource.template.model).get(resource)
    code = None if maker is None or made_by(maker) != (resource,) else _python(maker)
    found = [] if code is None else code.ids()
    return found[0] if found and is_known(found[0]) and all(one == found[0] for one in found) else UNKNOWN


def _calls_of(function: Resource) -> Iterator[CodeCall]:
    text, code = _text(function), _python(function)
    if code is not None and "boto3" in text:
        yield from code.calls()
    elif len(text) <= _LONGEST and (as_str(function.get("Runtime")) or "").startswith("nodejs") and "@aws-sdk" in text:
        yield from _of_javascript(text, _variables(function))


def _python(function: Resource) -> _Python | None:
    text, runtime = _text(function), as_str(function.get("Runtime")) or ""
    known = text and len(text) <= _LONGEST and runtime.startswith("python")
    return _Python(text, _variables(function), _event(function) if _PROPERTIES in text else {}) if known else None


def _text(function: Resource) -> str:
    code = function.get("Code", "ZipFile")
    return "".join(part if isinstance(part, str) else "_hole_" for part in parts_of(code)) if isinstance(code, str | Text) else ""


def _variables(function: Resource) -> Mapping[str, Value]:
    environment = function.get("Environment", "Variables")
    return environment if isinstance(environment, Mapping) else {}


def _event(function: Resource) -> Mapping[str, Value]:
    """The event of a function that works for one custom resource, also behind a framework."""
    found = made_by(function) or made_behind(function, ON_EVENT, IS_COMPLETE)
    return {_PROPERTIES: found[0].get()} if len(found) == 1 else {}


def _of_javascript(text: str, variables: Mapping[str, Value]) -> Iterator[CodeCall]:
    packages = [found for name in dict.fromkeys(_PACKAGE.findall(text)) if (found := by_package(name)) is not None]
    documents = by_client("dynamodb") if "@aws-sdk/lib-dynamodb" in text else None
    for match in _COMMAND.finditer(text):
        name = match[1].lower()
        operation = next((one[name] for one in packages if name in one), None)
        if operation is None and documents is not None:
            operation = documents.get(_DOCUMENTS.get(match[1], name))
        if operation is not None:
            given = _GIVEN.findall(text[match.end() : _end(text, match.end())]) if match[2] else []
            yield CodeCall(operation, {key.lower(): variables.get(name, UNKNOWN) if name else value for key, name, value in given})


def unknown_commands(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Commands that code in JavaScript takes from a package of AWS's SDK which has none of this name, with those that it has."""
    for names, package in _TAKEN.findall(text):
        operations = by_package(package)
        for word in re.findall(r"\b(\w+)Command\b", names) if operations is not None else ():
            if operations is not None and word.lower() not in operations:
                yield f"@aws-sdk/{package}", f"{word}Command", [f"{one.name}Command" for one in operations.values()]


def _end(text: str, start: int) -> int:
    """Where the braces of an object end."""
    depth = 1
    for position in range(start, len(text)):
        depth += (text[position] == "{") - (text[position] == "}")
        if depth == 0:
            return position
    return len(text)


class _Python:
    """The code of a function in Python."""

    def __init__(self, text: str, variables: Mapping[str, Value], event: Mapping[str, Value]) -> None:
        self._text = text
        self._variables = variables
        self._event = event
        self._clients: dict[str, tuple[str, Mapping[str, Value]] | None] = {}
        self._given: dict[str, list[ast.expr]] = {}
        self._changed: set[str] = set()
        self._left = _MOST_VALUES
        self._turn: Mapping[str, Value] = {}

    def calls(self) -> list[CodeCall]:
        """The calls of clients and resources; none of code that Python cannot read."""
        return self._read(self._calls)

    def answers(self) -> list[Mapping[str, Value]]:
        """The data in the answers to CloudFormation; none of code that Python cannot read, or that answers with other data."""
        return self._read(self._answers)

    def _read(self, look: Callable[[list[ast.AST]], Iterator[T]]) -> list[T]:
        import ast  # few templates have code
        import warnings

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                nodes = list(ast.walk(ast.parse(self._text)))
                self._changed.update(name for node in nodes for name in _changed(node))
                for name, value in (pairs := [pair for node in nodes for pair in _assigned(node)]):
                    self._given.setdefault(name, []).append(value)
                for name, value in (*pairs, *pairs):  # a resource of a resource is known when its parent is
                    self._assign(name, value)
                return list(look(nodes))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []

    def _calls(self, nodes: list[ast.AST]) -> Iterator[CodeCall]:
        import ast

        from hyperpod_constructs.analysis.code_loops import loops_around

        for node, loops in loops_around(nodes[0]):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                found: list[CodeCall] = []
                for turn in self._turns(loops):
                    self._turn = turn
                    found += [one for one in self._call(node, node.func) if one not in found]
                yield from found
        self._turn = {}

    def _turns(self, loops: tuple[ast.For, ...]) -> list[Mapping[str, Value]]:
        """The variables of loops in each of their turns, as far as it is known over what they go."""
        from hyperpod_constructs.analysis.code_loops import over, turns

        found: list[Mapping[str, Value]] = [{}]
        for loop in loops:
            of, taken = over(loop)
            following: list[Mapping[str, Value]] = []
            for turn in found:
                self._turn = turn
                following += [{**turn, **one} for one in turns(loop.target, self._value(of), taken) or [{}]]
            found = following if len(following) <= _MOST_TURNS else found
        return found

    def _answers(self, nodes: list[ast.AST]) -> Iterator[Mapping[str, Value]]:
        from hyperpod_constructs.analysis.sent_answers import data_in

        found = [UNKNOWN if data is None else self._value(data) for data in data_in(nodes)]
        known = [one for one in found if isinstance(one, Mapping)]
        yield from known if len(known) == len(found) else ()

    def ids(self) -> list[Value]:
        """The physical ids in the answers to CloudFormation, each once for an answer."""
        return self._read(self._ids)

    def _ids(self, nodes: list[ast.AST]) -> Iterator[Value]:
        from hyperpod_constructs.analysis.sent_answers import ids_in

        return (UNKNOWN if one is None else self._value(one) for one in ids_in(nodes))

    def _assign(self, name: str, value: ast.expr) -> None:
        found = self._client(value)
        if found is not None:
            known = self._clients.setdefault(name, found)
            self._clients[name] = found if known is not None and known[0] == found[0] else None

    def _client(self, node: ast.expr) -> tuple[str, Mapping[str, Value]] | None:
        """The service of a client or a resource, with the parameters that it brings."""
        import ast

        if isinstance(node, ast.Name | ast.Attribute):
            return self._clients.get(ast.unparse(node))
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        first = node.args[0] if node.args else None
        if node.func.attr in ("client", "resource") and isinstance(first, ast.Constant) and isinstance(first.value, str):
            return first.value, {}
        parent = self._client(node.func.value)
        parameter = None if parent is None else _RESOURCES.get((parent[0], node.func.attr))
        if parent is None or parameter is None or first is None:
            return None
        return parent[0], {parameter.lower(): self._value(first)}

    def _call(self, node: ast.Call, function: ast.Attribute) -> Iterator[CodeCall]:
        import ast

        client = self._client(function.value)
        operations = None if client is None else by_client(client[0])
        if client is None or operations is None:
            return
        name = _MANAGED.get(function.attr, function.attr.replace("_", ""))
        first = node.args[0] if node.args else None
        if function.attr == "get_paginator" and isinstance(first, ast.Constant):
            name = str(first.value).replace("_", "")
        operation = operations.get(name)
        if operation is not None:
            given = {(one.arg or OTHERS).lower(): self._value(one.value) for one in node.keywords}
            given |= {OTHERS: UNKNOWN} if node.args else {}
            yield CodeCall(operation, {**client[1], **given})

    def _value(self, node: ast.expr, depth: int = 0) -> Value:
        """A text, a variable of the environment, or an object or a list of such; unknown for others."""
        import ast

        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return UNKNOWN
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else UNKNOWN
        if isinstance(node, ast.List | ast.Tuple):
            return tuple(self._value(one, depth + 1) for one in node.elts)
        if isinstance(node, ast.Dict):
            values = [self._value(one, depth + 1) for one in node.values]
            keys = [one.value if isinstance(one, ast.Constant) else None for one in node.keys]
            return dict(zip(map(str, keys), values, strict=True)) if None not in keys else UNKNOWN
        if isinstance(node, ast.Name):
            if node.id in self._turn and node.id not in self._given:
                return self._turn[node.id]
            return self._event if node.id == "event" and self._event else self._named(node.id, depth + 1)
        if isinstance(node, ast.JoinedStr):
            pieces = [one.value if isinstance(one, ast.FormattedValue) else one for one in node.values]
            return _joined(self._value(one, depth + 1) for one in pieces)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return _joined(self._value(one, depth + 1) for one in (node.left, node.right))
        return self._looked_up(node, depth)

    def _looked_up(self, node: ast.expr, depth: int) -> Value:
        """A variable of the environment, or an item of an object."""
        import ast

        written = ast.unparse(node) if isinstance(node, ast.Call | ast.Subscript) else ""
        found = re.fullmatch(r"(?:os\.)?(?:environ\[|environ\.get\(|getenv\()'(\w+)'(?:, .*)?[\])]", written)
        if found is not None:
            value = self._variables.get(found[1], ABSENT)
        else:
            of, key = _item(node)
            value = ABSENT if of is None else at(self._value(of, depth + 1), key)
        return UNKNOWN if value is ABSENT else value

    def _named(self, name: str, depth: int) -> Value:
        """The one value of a name."""
        values = [self._value(one, depth) for one in self._given.get(name, ())] if name not in self._changed else []
        return values[0] if values and all(one == values[0] for one in values[1:]) else UNKNOWN


def _item(node: ast.expr) -> tuple[ast.expr | None, str]:
    """The object of which code takes an item, and the name of that, as in `a["b"]` and `a.get("b")`."""
    import ast

    of: ast.expr | None = None
    key: ast.expr | None = None
    if isinstance(node, ast.Subscript):
        of, key = node.value, node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        of, key = node.func.value, node.args[0]
    known = isinstance(key, ast.Constant) and isinstance(key.value, str)
    return (of, str(key.value)) if known and isinstance(key, ast.Constant) else (None, "")


def _joined(values: Iterable[Value]) -> Value:
    """A text of several; unknown if one of them is none."""
    found = list(values)
    return (
        joined(part for one in found for part in parts_of(one))
        if all(isinstance(one, str | Text | Reference) for one in found)
        else UNKNOWN
    )


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement gives, each with its value."""
    import ast

    if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else (node.target,):
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) and len(target.elts) == len(node.value.elts):
                yield from ((ast.unparse(name), value) for name, value in zip(target.elts, node.value.elts, strict=True))
            else:
                yield ast.unparse(target), node.value


def _changed(node: ast.AST) -> Iterator[str]:
    """The names whose values are not followed: parameters, variables of loops, and what is changed in its place."""
    import ast

    if isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield from (one.id for one in ast.walk(node.target) if isinstance(one, ast.Name))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
        yield ast.unparse(node.func.value)
    elif isinstance(node, ast.AugAssign):
        yield ast.unparse(node.target)
    elif isinstance(node, ast.Assign):
        yield from (ast.unparse(one.value) for one in node.targets if isinstance(one, ast.Subscript))
