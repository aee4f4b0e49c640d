"""Calls that give pages, such as `client.get_paginator("list_clusters").paginate()`, each with the operation behind it.

Source: https://docs.aws.amazon.com/boto3/latest/guide/paginators.html
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping

from hyperpod_constructs.facts.sdk_calls import Operation, by_client


def paged_calls(tree: ast.Module, clients: Mapping[str, str]) -> Mapping[int, Operation]:
    """The operations behind the calls that give pages, by the identity of the call.

    :param clients: the services of names that are clients.
    """
    stored = Counter(one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    named = {}
    for node in ast.walk(tree):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        operation = _operation(node.value, clients) if isinstance(node, ast.Assign) and isinstance(target, ast.Name) else None
        if operation is not None and isinstance(target, ast.Name) and stored[target.id] == 1:
            named[target.id] = operation
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "paginate":
            owner = node.func.value
            operation = named.get(owner.id) if isinstance(owner, ast.Name) else _operation(owner, clients)
            if operation is not None:
                found[id(node)] = operation
    return found


def _operation(node: ast.expr, clients: Mapping[str, str]) -> Operation | None:
    """The operation of `client.get_paginator(…)`."""
    if not (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get_paginator" and node.args
    ):
        return None
    owner, first = node.func.value, node.args[0]
    service = clients.get(owner.id) if isinstance(owner, ast.Name) else _made(owner)
    name = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    return None if service is None else (by_client(service) or {}).get(name.replace("_", ""))


def _made(node: ast.expr) -> str | None:
    """The service of a client that is made in place."""
    first = node.args[0] if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) == "boto3.client" else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
