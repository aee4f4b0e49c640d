"""Services that answer each operation as a test says; requests and answers must fit the vendored models."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from botocore import xform_name
from botocore.exceptions import ClientError
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator

from hyperpod_constructs.custom_resources.handlers.wire.models import MODELS

Answer = Mapping[str, Any] | Exception | Callable[..., Mapping[str, Any]]


@cache
def model(service: str) -> ServiceModel:
    """The model with which the functions work."""
    return ServiceModel(Loader(extra_search_paths=[str(MODELS)]).load_service_model(service, "service-2"), service)


def refused(operation: str, code: str = "AccessDenied", message: str = "not authorized", status: int = 400) -> ClientError:
    """An error of a service."""
    metadata: Any = {"HTTPStatusCode": status}
    return ClientError({"Error": {"Code": code, "Message": message}, "ResponseMetadata": metadata}, operation)


class FakeAws:
    """The account. `answers` holds by operation a structure, an error, or a function of the request.

    What the models forbid is in `violations`: code under test may catch an exception.
    """

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.answers = dict(answers)
        self.calls: Counter[str] = Counter()
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.violations: list[str] = []

    def __call__(self, service: str) -> FakeClient:
        """The client of a service."""
        return FakeClient(self, model(service))


class FakeClient:
    def __init__(self, aws: FakeAws, shapes: ServiceModel) -> None:
        self._aws, self._model = aws, shapes

    def __getattr__(self, name: str) -> Callable[..., Mapping[str, Any]]:
        operation = next(found for found in self._model.operation_names if xform_name(found) == name)

        def call(**parameters: Any) -> Mapping[str, Any]:
            self._aws.calls[operation] += 1
            self._aws.requests.append((operation, json.loads(json.dumps(parameters, default=str))))
            self._judge(self._model.operation_model(operation).input_shape, parameters)
            answer = self._aws.answers[operation]
            if isinstance(answer, Exception):
                raise answer
            found = answer(**parameters) if callable(answer) else answer
            self._judge(self._model.operation_model(operation).output_shape, found)
            return found

        return call

    def _judge(self, shape: Any, value: Any) -> None:
        if shape is not None:
            report = ParamValidator().validate(value, shape)
            if report.has_errors():
                self._aws.violations.append(report.generate_report())
