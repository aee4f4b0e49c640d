"""What code in Python sends to CloudFormation by `cfnresponse`: the code is parsed, and never executed.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-lambda-function-code-cfnresponsemodule.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import reduce

from hyperpod_constructs.analysis.data_forms import Data, Known, either

MODULE, SEND, FAILED = "cfnresponse", "cfnresponse.send", "FAILED"
_STATUS, _DATA, _ID = 2, 3, 4


def data_sent(tree: ast.Module) -> Known:
    """The form of the data in all answers; `None` if it is not known, or if others may answer."""
    sent = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == SEND]
    passed = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node) == SEND]
    if not sent or len(passed) != len(sent) or any("ResponseURL" in str(node.value) for node in _constants(tree)):
        return None
    forms = [_form(tree, argument(node, _DATA, "responseData")) for node in sent if not _failed(node)]
    return reduce(either, forms) if forms else None


def data_in(nodes: Iterable[ast.AST]) -> Iterator[ast.expr | None]:
    """The data in each answer that a request was served."""
    return (argument(node, _DATA, "responseData") for node in _served(nodes))


def ids_in(nodes: Iterable[ast.AST]) -> Iterator[ast.expr | None]:
    """The physical id in each answer that a request was served; `None` in one without."""
    return (argument(node, _ID, "physicalResourceId") for node in _served(nodes))


def id_of_answer(node: ast.Call) -> ast.expr | None:
    """The physical id in an answer that a request was served; `None` for another call, and in an answer without."""
    return argument(node, _ID, "physicalResourceId") if _is_send(node) and not _failed(node) else None


def _served(nodes: Iterable[ast.AST]) -> Iterator[ast.Call]:
    return (node for node in nodes if isinstance(node, ast.Call) and _is_send(node) and not _failed(node))


def argument(call: ast.Call, index: int, name: str) -> ast.expr | None:
    """An argument of a call, by its place or its name."""
    named = next((one.value for one in call.keywords if one.arg == name), None)
    return call.args[index] if len(call.args) > index else named


def status_of(call: ast.Call) -> ast.expr | None:
    """The status of an answer."""
    return argument(call, _STATUS, "responseStatus")


def _failed(call: ast.Call) -> bool:
    status = status_of(call)
    return status is not None and ast.unparse(status).rpartition(".")[2].strip("'\"") == FAILED


def _constants(tree: ast.Module) -> Iterator[ast.Constant]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))


def _form(tree: ast.Module, node: ast.expr | None) -> Known:
    """The names of an object that is written out, or of a name that is only given such objects and items."""
    if isinstance(node, ast.Dict):
        names = [one.value if isinstance(one, ast.Constant) and isinstance(one.value, str) else None for one in node.keys]
        return None if None in names else Data(dict.fromkeys(name for name in names if name is not None))
    return _named(tree, node.id) if isinstance(node, ast.Name) else None


def _named(tree: ast.Module, name: str) -> Known:
    forms: list[Known] = []
    known = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name) and target.id == name:
                forms.append(_form(tree, node.value) if isinstance(node.value, ast.Dict) else None)
                known += 1
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == name:
                key = target.slice.value if isinstance(target.slice, ast.Constant) else None
                forms.append(Data({key: None}) if isinstance(key, str) else None)
                known += 1
        elif isinstance(node, ast.Call) and argument(node, _DATA, "responseData") is not None:
            known += sum(isinstance(one, ast.Name) and one.id == name for one in node.args) if _is_send(node) else 0
            known += sum(isinstance(one.value, ast.Name) and one.value.id == name for one in node.keywords) if _is_send(node) else 0
    uses = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))
    return reduce(either, forms) if forms and uses == known else None


def _is_send(node: ast.Call) -> bool:
    return ast.unparse(node.func) == SEND
