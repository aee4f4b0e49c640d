"""What code in Python fails at when it runs: clients, methods, parameters, names and variables that are not there.

The code is parsed, and never executed. What it may make itself, such as names of `exec` or attributes of objects, is believed.

Sources: https://docs.aws.amazon.com/boto3/latest/guide/clients.html and
https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial

from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.texts.assignments import pairs
from hyperpod_constructs.analysis.texts.environments import lacking_variables, reads_of_nothing, uses_of_nothing, variable
from hyperpod_constructs.analysis.texts.library_names import unknown_library_names
from hyperpod_constructs.analysis.texts.nested_kinds import KindOf, misfits_below
from hyperpod_constructs.analysis.texts.paged import paged_calls
from hyperpod_constructs.analysis.texts.parameter_kinds import misfit
from hyperpod_constructs.analysis.texts.reading import HOLE
from hyperpod_constructs.analysis.texts.slip import Slip, Slips
from hyperpod_constructs.analysis.texts.unset_names import unset_names
from hyperpod_constructs.facts.sdk_calls import REQUIRED_CHOICES, Operation, by_client, clients
from hyperpod_constructs.facts.sdk_helpers import helpers_of
from hyperpod_constructs.facts.sdk_inputs import inputs_of
from hyperpod_constructs.facts.sdk_shapes import parameters_of
from hyperpod_constructs.facts.sdk_values import LIST, MAP, NUMBER, OBJECTS_TOO, TRUE, kinds_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Value

_CODE = ("Code", "ZipFile")
_METHODS = frozenset(
    (
        *("can_paginate", "close", "exceptions", "generate_presigned_post", "generate_presigned_url", "get_paginator"),
        *("get_waiter", "meta", "waiter_names", "generate_db_auth_token", "copy", "download_file", "download_fileobj"),
        *("upload_file", "upload_fileobj", "generate_db_connect_auth_token", "generate_db_connect_admin_auth_token"),
    )
)
"""Methods of clients that are no operations."""
_PLAIN = "text"
"""What takes no object and no list: a text, bytes or a time."""
_OF_PAGES, _DEEPEST = "PaginationConfig", 4
_MADE = ("exec", "eval", "globals", "locals", "setattr", "vars")


def mistakes_in_program(tree: ast.Module, handler: str, environment: Value) -> Slips:
    """What the code fails at.

    :param handler: the name of its handler.
    :param environment: the variables of the function.
    """
    variables = () if environment is ABSENT else tuple(environment) if isinstance(environment, Mapping) else None
    yield from _of_code(tree, handler, variables)


@lru_cache(maxsize=64)
def _of_code(tree: ast.Module, handler: str, variables: tuple[str, ...] | None) -> tuple[Slip, ...]:
    """What the code fails at; it does not matter what a variable is.

    :param variables: the names of its variables; `None` if they are not known.
    """
    environment = UNKNOWN if variables is None else dict.fromkeys(variables)
    return (
        *_unknown_names(tree),
        *unknown_library_names(tree),
        *unset_names(tree),
        *_arguments(tree, handler),
        *_calls(tree, reads_of_nothing(tree, environment)),
        *uses_of_nothing(tree, environment),
        *lacking_variables(tree, environment),
    )


def _slip(node: ast.expr | ast.stmt, says: str, allowed: str) -> Slip:
    return Slip(f"line {node.lineno} of the code {says}", allowed, _CODE, dead=True)


def _unknown_names(tree: ast.Module) -> Iterator[Slip]:
    """Names that nothing in the code, and nothing in Python, makes."""
    found = {"__name__", "__file__", "__doc__", "__spec__", *dir(builtins)}
    read: list[ast.Name] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                read.append(node)
            else:
                found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        found.update(_bound(node))
    if "*" in found or any(name.id in _MADE for name in read):
        return
    unknown = next((node for node in read if node.id not in found and HOLE not in node.id and "_hole_" not in node.id), None)
    if unknown is not None:
        yield _slip(unknown, f"names {unknown.id}, which the code does not have", "a name that the code imports or defines")


def _bound(node: ast.AST) -> Iterator[str]:
    """Names that a node makes otherwise than by an assignment."""
    if isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names


def _arguments(tree: ast.Module, handler: str) -> Iterator[Slip]:
    """Lambda calls the handler with an event and a context."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == handler and not node.decorator_list:
            given = node.args
            most = len(given.posonlyargs) + len(given.args)
            lacking = [one.arg for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is None]
            if (most < 2 and given.vararg is None) or most - len(given.defaults) > 2 or lacking:
                says = f"has the handler {handler} with {most + len(lacking)} parameters"
                yield _slip(node, says, "two parameters: event and context")


def _calls(tree: ast.Module, nothing: Mapping[int, str]) -> Iterator[Slip]:
    """Clients and their methods.

    :param nothing: expressions that give `None`, each with the variable that it reads in vain.
    """
    named = clients_in(tree)
    names, changed = _given_once(tree), set(_changed(tree))
    pages, kind_of = paged_calls(tree, named), partial(_kind_of, names=names)
    objects = {name: value for name, value in names.items() if name not in changed}
    yield from _clients_as_data(tree, named)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        made = _client_of(node)
        if made is not None and made not in clients():
            yield _slip(node, f"makes a client {made!r}, which boto3 does not have{meant(made, clients())}", "a client of boto3")
        service = _method_of(node, named)
        operations = None if service is None else by_client(service)
        if id(node) in pages:
            yield from _parameters(_opened(node, objects), node.func.attr, pages[id(node)], kind_of)
        elif service is not None and operations is not None:
            call = _opened(node, objects)
            yield from [*_call(call, node.func.attr, service, operations, kind_of)] or _given_nothing(node, nothing)


def _opened(node: ast.Call, objects: Mapping[str, ast.expr]) -> ast.Call:
    """A call with the members of objects behind `**` as its parameters, where these are written out once."""
    found: list[ast.keyword] = []
    for one in node.keywords:
        given = objects.get(one.value.id) if one.arg is None and isinstance(one.value, ast.Name) else one.value
        keys = [key.value if isinstance(key, ast.Constant) else None for key in given.keys] if isinstance(given, ast.Dict) else []
        if one.arg is None and isinstance(given, ast.Dict) and all(isinstance(key, str) for key in keys):
            found += [ast.keyword(str(key), value) for key, value in zip(keys, given.values, strict=True)]
        else:
            found.append(one)
    return ast.copy_location(ast.Call(node.func, node.args, found), node)


def _changed(tree: ast.Module) -> Iterator[str]:
    """The names of objects that get members, or whose methods are called, which may give them some."""
    for node in ast.walk(tree):
        owner = node.value if isinstance(node, ast.Attribute | ast.Subscript) else None
        if isinstance(owner, ast.Name) and (
            isinstance(node, ast.Attribute) or not isinstance(getattr(node, "ctx", None), ast.Load)
        ):
            yield owner.id


def _clients_as_data(tree: ast.Module, named: Mapping[str, str]) -> Iterator[Slip]:
    """A client where data is meant: it has no members, and no operation takes one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in named:
            yield _slip(
                node, f"reads {ast.unparse(node)}, and {node.value.id} is a client", "data, such as an answer of the client"
            )
        service = _method_of(node, named)
        for one in node.keywords if isinstance(node, ast.Call) and service else ():
            if isinstance(one.value, ast.Name) and one.value.id in named and one.arg is not None:
                yield _slip(one.value, f"gives {one.arg} the client {one.value.id}", "data, such as a text")


def _method_of(node: ast.AST, named: Mapping[str, str]) -> str | None:
    """The service of a call that a client makes."""
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    return named.get(owner.id) if isinstance(owner, ast.Name) else None if owner is None else _client_of(owner)


def clients_in(tree: ast.Module) -> Mapping[str, str]:
    """The services of names that are surely clients: nothing else has them, anywhere in the code."""
    made: dict[str, list[str]] = {}
    times: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            times[node.id] += 1
        elif isinstance(node, ast.arg):
            times[node.arg] += 1
        for name, value in pairs(node) if isinstance(node, ast.Assign) else ():
            service = _client_of(value)
            if service is not None:
                made.setdefault(name, []).append(service)
    return {name: found[0] for name, found in made.items() if len(found) == times[name] and len(set(found)) == 1}


def _client_of(node: ast.expr) -> str | None:
    """The service of a call that makes a client."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "client"):
        return None
    owner, first = node.func.value, node.args[0] if node.args else None
    is_boto3 = isinstance(owner, ast.Name) and owner.id in ("boto3", "session")
    return first.value if is_boto3 and isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def _given_once(tree: ast.Module) -> Mapping[str, ast.expr]:
    """The values of names that nothing else has."""
    stored = Counter(one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load))
    stored += Counter(one.arg for one in ast.walk(tree) if isinstance(one, ast.arg))
    given = (pair for one in ast.walk(tree) if isinstance(one, ast.Assign) for pair in pairs(one))
    return {name: value for name, value in given if stored[name] == 1}


def _call(node: ast.Call, method: str, service: str, operations: Mapping[str, Operation], kind_of: KindOf) -> Iterator[Slip]:
    if method in _METHODS:
        yield from _helper(node, method, service)
        return
    operation = operations.get(method.replace("_", ""))
    if operation is None:
        names = [_snake(one.name) for one in operations.values()]
        yield _slip(node, f"calls {method}, which clients of {service} do not have{meant(method, names)}", "a method of the client")
    else:
        yield from _parameters(node, method, operation, kind_of)


def _parameters(node: ast.Call, method: str, operation: Operation, kind_of: KindOf) -> Iterator[Slip]:
    given = {one.arg for one in node.keywords}
    lacking = [name for name in operation.required if name not in given]
    choice = REQUIRED_CHOICES.get(operation.action, ())
    if choice and given.isdisjoint((None, *choice)) and not node.args:
        yield _slip(node, f"calls {method} without {listed(choice)}", f"one of {listed(choice)}")
    elif lacking and None not in given and not node.args:
        says = f"calls {method} without {lacking[0]}{meant(lacking[0], [one for one in given if one])}"
        yield _slip(node, says, listed(operation.required))
    else:
        taken = parameters_of(operation.client, operation.name)
        own = (_OF_PAGES,) if method == "paginate" else ()
        unknown = [name for name in given if name is not None and taken is not None and name not in (*taken, *own)]
        if unknown and taken is not None:
            says = f"calls {method} with {unknown[0]}, which it does not take{meant(unknown[0], taken)}"
            yield _slip(node, says, listed(taken))
        else:
            yield from _kinds(node, method, operation, kind_of)


def _helper(node: ast.Call, method: str, service: str) -> Iterator[Slip]:
    """A waiter that a client does not have, or an operation without pages."""
    helpers, first = helpers_of(service), node.args[0] if node.args else None
    name = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
    if helpers is None or name is None:
        return
    if method == "get_waiter" and name not in helpers.waiters:
        says = f"asks for the waiter {name}, which clients of {service} do not have{meant(name, helpers.waiters)}"
        yield _slip(node, says, listed(helpers.waiters) or "a loop that asks itself")
    elif method == "get_paginator" and name.replace("_", "") not in helpers.pages:
        yield _slip(node, f"asks for pages of {name}, which clients of {service} do not have", f"a call of {name}, or its pages")


def _given_nothing(node: ast.Call, nothing: Mapping[int, str]) -> Iterator[Slip]:
    """A parameter that is a variable which the function does not have: clients refuse `None`."""
    for one in node.keywords:
        if id(one.value) in nothing and one.arg is not None:
            says = f"gives {one.arg} the variable {nothing[id(one.value)]}, which the function does not have"
            yield _slip(node, says, f"Environment with {nothing[id(one.value)]}")
            return


def _kinds(node: ast.Call, method: str, operation: Operation, kind_of: KindOf) -> Iterator[Slip]:
    """Parameters of another kind than the operation takes; a variable of the environment is a text."""
    kinds, taken = kinds_of(operation.client, operation.name), parameters_of(operation.client, operation.name) or ()
    for one in node.keywords:
        own, text = kind_of(one.value)
        also = own == MAP and f"{operation.name}.{one.arg}" in OBJECTS_TOO
        plain = _PLAIN if own in (LIST, MAP) and one.arg in taken and not also else None
        wanted = kinds.get(one.arg or "", plain)
        found = misfit(own, text, wanted) if own and wanted is not None else None
        if found is not None:
            yield _slip(node, f"calls {method} with {one.arg}, which {found[0]}", found[1])
            return
    forms = inputs_of(operation.client, operation.name)
    for one in node.keywords:
        for part in misfits_below(one.value, operation.client, forms.get(one.arg or "", ""), kind_of, one.arg or ""):
            yield _slip(node, f"calls {method} with {part.says}", part.allowed)
            return


def _kind_of(node: ast.expr, names: Mapping[str, ast.expr], depth: int = 0) -> tuple[str, str | None]:
    """The kind of what an expression gives, empty if it is not known, and the text that it is.

    :param names: the values of names that have one.
    """
    if isinstance(node, ast.Name) and node.id in names and depth < _DEEPEST:
        return _kind_of(names[node.id], names, depth + 1)
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, str):
            return "text", value
        return (TRUE if isinstance(value, bool) else NUMBER if isinstance(value, int | float) else ""), None
    if isinstance(node, ast.JoinedStr) or variable(node) is not None:
        return "text", None
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("json.dumps", "str", "os.getenv", "os.environ.get"):
        return "text", None
    if isinstance(node, ast.List | ast.ListComp | ast.Tuple):
        return LIST, None
    return (MAP if isinstance(node, ast.Dict | ast.DictComp) else ""), None


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
