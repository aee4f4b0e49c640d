"""Clients of services, made for a short start: of botocore, only its errors are loaded.

Credentials are those that Lambda puts into the environment.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

from botocore import xform_name
from botocore.exceptions import ClientError, NoCredentialsError

from .wire.connections import connection
from .wire.endpoints import endpoint
from .wire.models import Operation, model
from .wire.replies import reply
from .wire.requests import Request, request
from .wire.signatures import Credentials, signed


class Client:
    """A service. Its methods are the operations of its vendored model, in botocore's spelling, such as `describe_cluster`.

    A method takes the members of the request, and returns those of the answer with `ResponseMetadata`. It raises botocore's errors.

    :param again: whether an error deserves the second attempt.
    :raises NoRegionError: if the environment names no region.
    """

    def __init__(self, service: str, again: Callable[[Exception], bool], sleep: Callable[[float], None] = time.sleep) -> None:
        self._again, self._sleep = again, sleep
        self._model = model(service)
        self._methods = {xform_name(name): operation for name, operation in self._model.operations.items()}
        self._endpoint = endpoint(self._model)
        self._connection = connection(self._endpoint.url)

    def __getattr__(self, method: str) -> Callable[..., dict[str, Any]]:
        if method.startswith("_") or method not in self._methods:
            raise AttributeError(f"the model of {self._model.name} has no operation {method}")
        return partial(self._call, self._methods[method])

    def _call(self, operation: Operation, /, **parameters: Any) -> dict[str, Any]:
        """The answer of an operation. A second attempt sends the same token, so that the service does nothing twice."""
        tokens = {name: str(uuid4()) for name in operation.tokens if name not in parameters}
        try:
            asked = request(self._model, operation, {**parameters, **tokens}, self._endpoint.url)
            try:
                return self._attempt(operation, asked)
            except Exception as error:
                if not self._again(error):
                    raise
            self._sleep(random.random())  # spreads attempts, protects nothing
            return self._attempt(operation, asked)
        except Exception as error:
            error.operation_name = operation.name  # type: ignore[attr-defined]  # `errors.describe` reads it
            raise

    def _attempt(self, operation: Operation, asked: Request) -> dict[str, Any]:
        ready = signed(asked, _credentials(), self._model.signing_name, self._endpoint.region, datetime.now(UTC))
        got = self._connection.send(ready)
        answer: Mapping[str, Any] = reply(self._model, operation, got)
        if got.status >= 300:
            raise ClientError(answer, operation.name)  # type: ignore[arg-type]  # the reply has its members
        return dict(answer)


def _credentials() -> Credentials:
    """The credentials of the function's role.

    :raises NoCredentialsError: if the environment has none.
    """
    key, secret = (os.environ.get(f"AWS_{name}") for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"))
    if not key or not secret:
        raise NoCredentialsError
    return Credentials(key, secret, os.environ.get("AWS_SESSION_TOKEN") or "")
