"""What code in Python reads of answers and events: members that they have.

Names that are assigned in several places, what may fail inside `try`, and what the code asks for by `in`, are believed.

Sources: https://docs.aws.amazon.com/boto3/latest/guide/clients.html and
https://docs.aws.amazon.com/lambda/latest/dg/python-handler.html; of subjects
https://docs.aws.amazon.com/sns/latest/api/API_Publish.html
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

from hyperpod_constructs.analysis.data_forms import Data, Known, Lost, of_answer, read
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.texts.assignments import pairs
from hyperpod_constructs.analysis.texts.guards import is_guard
from hyperpod_constructs.analysis.texts.paged import paged_calls
from hyperpod_constructs.analysis.texts.slip import Slip, Slips
from hyperpod_constructs.facts.sdk_calls import by_client
from hyperpod_constructs.facts.sdk_shapes import answer_of

_CODE = ("Code", "ZipFile")
_OF_CLIENTS = ("ResponseMetadata",)
_ROUNDS, _LONGEST_SUBJECT = 4, 99
_WORDS: Mapping[type, str] = {dict: "an object", int: "a number", list: "a list", str: "a text"}
_GIVES: Mapping[str, type] = {"json.dumps": str, "len": int, "sorted": list, "str": str}
"""What functions give."""
_WRITTEN: Mapping[type, type] = {ast.Dict: dict, ast.DictComp: dict, ast.JoinedStr: str, ast.List: list, ast.ListComp: list}


def mistakes_in_reads(tree: ast.Module, clients: Mapping[str, str], handler: str, event: Known) -> Slips:
    """The first member that the code reads, and that is not there.

    :param clients: the services of names that are clients.
    :param event: the form of the events that come to the handler.
    """
    return _of_code(tree, tuple(clients.items())) if event is None else _found(tree, clients, handler, event)


@lru_cache(maxsize=64)
def _of_code(tree: ast.Module, clients: tuple[tuple[str, str], ...]) -> tuple[Slip, ...]:
    """What follows from the code alone."""
    return tuple(_found(tree, dict(clients), "", None))


def _found(tree: ast.Module, clients: Mapping[str, str], handler: str, event: Known) -> Slips:
    reader = _Reader(tree, clients)
    for one in tree.body:
        if isinstance(one, ast.FunctionDef) and one.name == handler and one.args.args:
            reader.set(one.args.args[0].arg, event)
    reader.assign()
    asked = set(_asked(tree))
    tried = (node for node in ast.walk(tree) if isinstance(node, ast.Try) and is_guard(node))
    guarded = {id(one) for node in tried for one in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and id(node) not in guarded:
            found = reader.form(node)
            if isinstance(found, Lost) and found.name not in asked:
                message = f"line {node.lineno} of the code reads {ast.unparse(node)}, and {found.name} is never there"
                yield Slip(message + meant(found.name, found.names), listed(found.names), _CODE, dead=True)
                return
        elif isinstance(node, ast.Compare) and id(node) not in guarded:
            yield from reader.compared(node)
        elif isinstance(node, ast.Attribute):
            yield from reader.attribute(node)
        elif isinstance(node, ast.Call):
            yield from reader.subject(node)


def _asked(tree: ast.Module) -> Iterator[str]:
    """The names of members for which the code asks, such as in `"Records" in event`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(isinstance(one, ast.In | ast.NotIn) for one in node.ops):
            left = node.left
            yield from (left.value,) if isinstance(left, ast.Constant) and isinstance(left.value, str) else ()
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
            first = node.args[0]
            yield from (first.value,) if isinstance(first, ast.Constant) and isinstance(first.value, str) else ()


class _Reader:
    """The forms of the names and expressions of some code."""

    def __init__(self, tree: ast.Module, clients: Mapping[str, str]) -> None:
        self._tree = tree
        self._clients = clients
        self._forms: dict[str, Known] = {}
        self._pages = paged_calls(tree, clients)
        self._times = Counter(_bound(tree))
        once = (pair for one in ast.walk(tree) if isinstance(one, ast.Assign) for pair in pairs(one))
        self._values = {name: value for name, value in once if self._times[name] == 1}

    def set(self, name: str, form: Known) -> None:
        """Give a name its form, if nothing else has the name."""
        if self._times[name] == 1 and form is not None:
            self._forms[name] = form

    def assign(self) -> None:
        """Find the forms of all names."""
        for _ in range(_ROUNDS):
            for node in ast.walk(self._tree):
                if isinstance(node, ast.Assign):
                    for name, value in pairs(node):
                        self._take(name, self.form(value))
                elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
                    items = self.form(node.iter)
                    self._take(node.target.id, read(items, (0,)) if not isinstance(items, Lost) else None)

    def _take(self, name: str, form: Known | Lost) -> None:
        self.set(name, None if isinstance(form, Lost) else form)

    def form(self, node: ast.expr) -> Known | Lost:
        """The form of an expression, or the member that it reads in vain."""
        if isinstance(node, ast.Name):
            return self._forms.get(node.id)
        if isinstance(node, ast.Call):
            return self._answer(node)
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
            return None
        owner, key = self.form(node.value), node.slice.value
        if isinstance(owner, Lost) or owner is None or not isinstance(key, str | int):
            return None
        return None if key in _OF_CLIENTS else read(owner, (key,))

    def attribute(self, node: ast.Attribute) -> Slips:
        """A name behind a dot, of data: objects, lists, texts and numbers have only their own methods."""
        kind = self._kind(node.value)
        if kind is not None and not hasattr(kind, node.attr):
            says = f"line {node.lineno} of the code takes {node.attr} from {ast.unparse(node.value)}, which is {_WORDS[kind]}"
            allowed = f"{ast.unparse(node.value)}[{node.attr!r}]" if kind is dict else f"a method of {_WORDS[kind]}"
            yield Slip(says, allowed, _CODE, dead=True)

    def _kind(self, node: ast.expr) -> type | None:
        """The kind of data that an expression surely is; `None` for what is no data, or not known."""
        found = self.form(node)
        if found is not None and not isinstance(found, Lost):
            return list if found.items else str if found.words else dict
        given = self._values.get(node.id) if isinstance(node, ast.Name) else node
        if isinstance(given, ast.Constant):
            return str if isinstance(given.value, str) else None
        called = ast.unparse(given.func) if isinstance(given, ast.Call) else ""
        return _GIVES.get(called) or _WRITTEN.get(type(given))

    def compared(self, node: ast.Compare) -> Slips:
        """A comparison with a word that a text never is, or of an object or a list with a text."""
        found, other = self.form(node.left), node.comparators[0]
        words = found.words if found is not None and not isinstance(found, Lost) else ()
        items = other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]
        given = [one.value for one in items if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        wrong = [one for one in given if words and one not in words]
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            return
        if given and isinstance(found, Data) and not found.is_open and (found.members or found.items):
            what = f"{ast.unparse(node.left)}, which is {_WORDS[list if found.items else dict]}, with {given[0]!r}"
            yield Slip(f"line {node.lineno} of the code compares {what}", _texts_of(node.left, found), _CODE, dead=True)
        elif wrong:
            message = f"line {node.lineno} of the code compares {ast.unparse(node.left)} with {wrong[0]!r}, which it never is"
            yield Slip(message + meant(wrong[0], words), listed(words), _CODE, dead=True)

    def subject(self, node: ast.Call) -> Slips:
        """The subject of a message, of one line."""
        given = [one.value for one in node.keywords if one.arg == "Subject"]
        publishes = isinstance(node.func, ast.Attribute) and node.func.attr == "publish"
        if not publishes or not given or not isinstance(node.func, ast.Attribute) or self._service(node.func.value) != "sns":
            return
        found = self._values.get(given[0].id) if isinstance(given[0], ast.Name) else given[0]
        text = _spelled(found)
        if "\n" in text or len(text) > _LONGEST_SUBJECT:
            what = "of several lines" if "\n" in text else f"of {len(text)} characters"
            allowed = f"one line of at most {_LONGEST_SUBJECT} characters"
            yield Slip(
                f"line {node.lineno} of the code publishes with a subject {what}, which SNS refuses", allowed, _CODE, dead=True
            )

    def _answer(self, node: ast.Call) -> Known:
        """The form of what a client answers, or of its pages."""
        if id(node) in self._pages:
            paged = self._pages[id(node)]
            return Data(items=(of_answer(paged.client, answer_of(paged.client, paged.name)),))
        if not isinstance(node.func, ast.Attribute):
            return None
        service = self._service(node.func.value)
        operation = (by_client(service) or {}).get(node.func.attr.replace("_", "")) if service is not None else None
        return None if operation is None else of_answer(operation.client, answer_of(operation.client, operation.name))

    def _service(self, node: ast.expr) -> str | None:
        """The service of a client that has a name, or is made in place."""
        if isinstance(node, ast.Name):
            return self._clients.get(node.id)
        made = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and ast.unparse(node.func) == "boto3.client"
        first = node.args[0] if made and isinstance(node, ast.Call) and node.args else None
        return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def _spelled(node: ast.expr | None) -> str:
    """What is surely in a text: its written parts, and what joins several."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_spelled, node.values))
    joins = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join"
    items = node.args[0] if isinstance(node, ast.Call) and joins and len(node.args) == 1 else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(items, ast.List | ast.Tuple):
        return _spelled(node.func.value).join("" if isinstance(one, ast.Starred) else _spelled(one) for one in items.elts)
    return ""


def _texts_of(node: ast.expr, found: Data) -> str:
    """The members of an object that a text can be compared with."""
    return listed(f"{ast.unparse(node)}[{name!r}]" for name in found.members) or "a text"


def _bound(tree: ast.Module) -> Iterator[str]:
    """Each place where a name gets a value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
