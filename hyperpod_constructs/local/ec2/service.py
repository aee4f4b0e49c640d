"""Amazon EC2 of the embedded AWS: moto's backend, in this process, because ministack's EC2 validates almost nothing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlencode

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.ec2 import rules
from hyperpod_constructs.local.ec2.parameters import Fields
from hyperpod_constructs.local.ec2.tags import look_up_by_id
from hyperpod_constructs.local.judging import Request, Response, answered

log = logging.getLogger(__name__)


class Ec2:
    """Answers EC2 requests with moto; loaded at the first request, one request at a time, as moto is not thread-safe.

    Its imports are not thread-safe either: moto's modules import each other in circles, so one lock guards them too.
    """

    def __init__(self, caller: Callable[[], Caller]) -> None:
        self._caller = caller
        self._lock = threading.Lock()

    def operation(self, request: Request) -> str | None:
        """The operation that `answer` gives this request to, which IAM must allow; None if it names none."""
        return _parameters(request).get("Action")

    def answer(self, request: Request) -> Response:
        """Answer one request of the query protocol."""
        _, _, headers, _, _ = request
        caller = self._caller()
        parameters = _parameters(request)
        with self._lock:
            from moto.core.exceptions import ServiceException

            backend = self._backends[caller.account][caller.region]
            try:
                rules.refuse(backend, parameters)
                response = self._ask_moto(headers, urlencode(parameters), caller)
                if response[0] == 200:
                    rules.complete(backend, parameters)
                return response
            except AwsError as error:
                return _error(error)
            except ServiceException as error:
                return _error(AwsError(str(error.code), str(error.message)))
            except NotImplementedError:
                return _error(AwsError("UnsupportedOperation", f"the embedded AWS does not serve ec2 {parameters.get('Action')}"))
            except Exception:
                if (refusal := rules.unknown(backend, parameters)) is not None:
                    return _error(refusal)
                log.exception("ec2 %s failed", parameters.get("Action"))
                return _error(AwsError("InternalError", "the embedded aws failed; its log tells why", 500))

    def load(self) -> None:
        """Load moto before the first request needs it."""
        with self._lock:
            self._application  # noqa: B018

    def reset(self) -> None:
        """Forget every network, in every account and region."""
        with self._lock:
            from moto.core.base_backend import BackendDict

            BackendDict.reset()

    def _ask_moto(self, headers: Mapping[str, str], encoded: str, caller: Caller) -> Response:
        from werkzeug.test import Client

        sent = {
            "authorization": headers.get("authorization", ""),
            "content-type": "application/x-www-form-urlencoded",
            "x-moto-account-id": caller.account,
        }
        place = f"http://ec2.{caller.region}.amazonaws.com"
        answered = Client(self._application).post(base_url=place, headers=sent, data=encoded)
        content_type = answered.headers.get("Content-Type", "text/xml")
        return answered.status_code, {"Content-Type": content_type}, answered.get_data()

    @cached_property
    def _application(self) -> Any:
        from moto.moto_server.werkzeug_app import create_backend_app

        look_up_by_id()
        return create_backend_app("ec2")

    @cached_property
    def _backends(self) -> Any:
        from moto.ec2.models import ec2_backends

        return ec2_backends


def _parameters(request: Request) -> Fields:
    """Each parameter once, as moto gets it too; of two with one name that in the query, of two there the last."""
    _, _, _, body, query = request
    in_query = [(name, value) for name, values in query.items() for value in values]
    return Fields([*parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True), *in_query])


def _error(error: AwsError) -> Response:
    return answered("ec2", error)
