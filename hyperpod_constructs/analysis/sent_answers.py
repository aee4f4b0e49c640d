"""What code in Python sends to CloudFormation by `cfnresponse`: the code is parsed, and never executed.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-lambda-function-code-cfnresponsemodule.html
"""

from __future__ import annotations

import ast

MODULE, SEND, FAILED = "cfnresponse", "cfnresponse.send", "FAILED"
_STATUS, _DATA, _ID = 2, 3, 4


def id_of_answer(node: ast.Call) -> ast.expr | None:
    """The physical id in an answer that a request was served; `None` for another call, and in an answer without."""
    return argument(node, _ID, "physicalResourceId") if _is_send(node) and not _failed(node) else None


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


def _is_send(node: ast.Call) -> bool:
    return ast.unparse(node.func) == SEND
