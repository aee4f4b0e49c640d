"""The AWS JSON 1.1 protocol: wire requests become `Service.call`, judged by the service's model on the way in and out."""

from __future__ import annotations

import base64
import json
import logging
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError
from botocore.model import OperationModel, ServiceModel

from hyperpod_constructs.local.authorization import ResourceNames
from hyperpod_constructs.local.aws_service import AwsError, Caller, Service
from hyperpod_constructs.local.constraints import violations
from hyperpod_constructs.local.judging import Request, Response, answered, problems_of, read_json, read_parameters, summary, target

log = logging.getLogger(__name__)


class JsonService:
    """One service on the wire.

    :param principal: who signed a request; nobody unless given.
    """

    def __init__(
        self,
        service: Service,
        model: ServiceModel,
        caller: Callable[[], Caller],
        names: ResourceNames | None = None,
        *,
        principal: Callable[[Request], str] = lambda _: "",
    ) -> None:
        self._service = service
        self._principal = principal
        self._names = ResourceNames() if names is None else names
        self._model = model
        self._caller = caller

    @property
    def target_prefix(self) -> str:
        """The first part of the X-Amz-Target header of the service's requests."""
        return str(self._model.metadata["targetPrefix"])

    @property
    def signing_name(self) -> str:
        """The service's name in signatures, by which requests are routed."""
        return str(self._model.signing_name)

    def operation(self, request: Request) -> str | None:
        """The operation that `answer` gives this request to, which IAM must allow; None if it refuses the request."""
        try:
            return self._operation(request).name
        except AwsError:
            return None

    def answer(self, request: Request) -> Response:
        """Answer one request; whatever goes wrong becomes an error that botocore understands."""
        try:
            operation = self._operation(request)
            parameters = self._judged(operation, self._members(request))
            caller = self._caller_of(request)
            result = self._service.call(operation.name, parameters, caller)
            self._names.learn(parameters, result, caller)
            return _response(200, self._body(operation, result))
        except AwsError as error:
            return self._error(error)
        except ClientError as error:
            # The service called another one on the caller's behalf: its refusal is the answer.
            details = error.response.get("Error", {})
            return self._error(AwsError(details.get("Code", self._validation_code()), details.get("Message", str(error))))
        except Exception:
            log.exception("%s failed", self._model.service_name)
            return self._error(AwsError("InternalFailure", "the embedded aws failed; its log tells why", 500))

    def _caller_of(self, request: Request) -> Caller:
        return replace(self._caller(), principal=self._principal(request))

    def _operation(self, request: Request) -> OperationModel:
        _, _, headers, _, _ = request
        name = target(headers)
        if name not in self._model.operation_names:
            raise AwsError("UnknownOperationException", f"the service has no operation {name!r}")
        return self._model.operation_model(name)

    def _members(self, request: Request) -> dict[str, Any]:
        """The members of a request's input."""
        _, _, _, body, _ = request
        return read_json(body)

    def _judged(self, operation: OperationModel, members: dict[str, Any]) -> dict[str, Any]:
        parameters = read_parameters(operation, members, self._validation_code())
        if operation.input_shape is not None and (problems := violations(operation.input_shape, parameters)):
            raise AwsError(self._validation_code(), summary(problems))
        return parameters

    def _validation_code(self) -> str:
        known = self._model.shape_names
        return next((code for code in ("BadRequest", "InvalidParameterException") if code in known), "ValidationException")

    def _error(self, error: AwsError) -> Response:
        status, headers, body = answered("json", error)
        return status, {**headers, "x-amzn-RequestId": str(uuid.uuid4())}, body

    def _body(self, operation: OperationModel, result: Mapping[str, Any]) -> bytes:
        shape = operation.output_shape
        if shape is not None:
            problems = problems_of(shape, result) or violations(shape, result)
            if problems:
                raise RuntimeError(f"{operation.name} answered what its model does not allow: {summary(problems)}")
        return json.dumps(result, default=_wire).encode()


def _wire(value: object) -> object:
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    raise TypeError(f"no wire form for {type(value).__name__}")


def _response(status: int, body: bytes) -> Response:
    return status, {"Content-Type": "application/x-amz-json-1.1", "x-amzn-RequestId": str(uuid.uuid4())}, body
