"""Clients made of botocore's parts: its models, checks, signatures, endpoints, connections and parsers, without its sessions.

A session and its clients take most of the start of a function. Credentials are those that Lambda puts into the environment.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from botocore import __version__, xform_name
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import create_request_object, prepare_request_dict
from botocore.endpoint_provider import EndpointProvider
from botocore.exceptions import ClientError, NoCredentialsError, NoRegionError
from botocore.httpsession import URLLib3Session
from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel
from botocore.parsers import create_parser
from botocore.serialize import create_serializer
from botocore.utils import get_environ_proxies

# Service models that are newer than boto3 in AWS Lambda.
MODELS = Path(__file__).parent / "models"

CONNECT_SECONDS, READ_SECONDS = 5, 10

_AGENT = f"hyperpod-constructs Botocore/{__version__}"


class Client:
    """A service. Its methods are the operations of its vendored model, in botocore's spelling, such as `describe_cluster`.

    A method takes the members of the request, and returns those of the answer with `ResponseMetadata`. It raises botocore's errors.

    :param again: whether an error deserves the second attempt.
    :raises NoRegionError: if the environment names no region.
    """

    def __init__(self, service: str, again: Callable[[Exception], bool], sleep: Callable[[float], None] = time.sleep) -> None:
        self._again, self._sleep = again, sleep
        self._model = model(service)
        self._methods = {xform_name(name): name for name in self._model.operation_names}
        protocol = self._model.metadata["protocol"]
        self._serializer, self._parser = create_serializer(protocol), create_parser(protocol)
        self._endpoint = _endpoint(self._model)
        self._connections = _connections(
            tuple(sorted(get_environ_proxies(self._endpoint.url).items())),
            os.environ.get("AWS_CA_BUNDLE") or os.environ.get("REQUESTS_CA_BUNDLE") or True,
        )

    def __getattr__(self, method: str) -> Callable[..., dict[str, Any]]:
        if method.startswith("_") or method not in self._methods:
            raise AttributeError(f"the model of {self._model.service_name} has no operation {method}")
        return partial(self._call, self._model.operation_model(self._methods[method]))

    def _call(self, operation: OperationModel, /, **parameters: Any) -> dict[str, Any]:
        """The answer of an operation. A second attempt sends the same token, so that the service does nothing twice."""
        tokens = {name: str(uuid4()) for name in operation.idempotent_members if name not in parameters}
        try:
            try:
                return self._attempt(operation, {**parameters, **tokens})
            except Exception as error:
                if not self._again(error):
                    raise
            self._sleep(random.random())  # spreads attempts, protects nothing
            return self._attempt(operation, {**parameters, **tokens})
        except Exception as error:
            error.operation_name = operation.name  # type: ignore[attr-defined]  # `errors.describe` reads it
            raise

    def _attempt(self, operation: OperationModel, parameters: Mapping[str, Any]) -> dict[str, Any]:
        asked = self._serializer.serialize_to_request(parameters, operation)
        prepare_request_dict(asked, self._endpoint.url, user_agent=_AGENT)
        request = create_request_object(asked)
        sign = S3SigV4Auth if self._endpoint.signed_as == "s3" else SigV4Auth
        credentials: Any = _credentials()  # a signer reads three attributes; botocore's own class would load all its sources
        sign(credentials, self._endpoint.signed_as, self._endpoint.region).add_auth(request)
        got = self._connections.send(request.prepare())
        shape: Any = operation.output_shape  # none for an operation without an answer
        response = {"headers": got.headers, "status_code": got.status_code, "body": got.content}
        answer: dict[str, Any] = self._parser.parse(response, shape)
        if got.status_code >= 300:
            raise ClientError(answer, operation.name)  # type: ignore[arg-type]  # the parser's answer has its members
        return answer


@cache
def model(service: str) -> ServiceModel:
    """The vendored model of a service."""
    loader = Loader(extra_search_paths=[str(MODELS)], include_default_search_paths=False)
    return ServiceModel(loader.load_service_model(service, "service-2"), service)


class _Endpoint(NamedTuple):
    """Where a service answers, and the scope of signatures."""

    url: str
    signed_as: str
    region: str


def _endpoint(service: ServiceModel) -> _Endpoint:
    """The endpoint by botocore's rules, or the environment's, such as the embedded AWS."""
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise NoRegionError
    own = f"AWS_ENDPOINT_URL_{service.service_id.replace(' ', '_').upper()}"
    url = os.environ.get(own) or os.environ.get("AWS_ENDPOINT_URL") or None
    fips, dual = (os.environ.get(f"AWS_USE_{kind}_ENDPOINT", "").lower() == "true" for kind in ("FIPS", "DUALSTACK"))
    found = _rules(service).resolve_endpoint(Region=region, UseFIPS=fips, UseDualStack=dual, Endpoint=url)
    scheme = (found.properties.get("authSchemes") or [{}])[0]
    return _Endpoint(found.url, scheme.get("signingName", service.signing_name), scheme.get("signingRegion", region))


def _rules(service: ServiceModel) -> EndpointProvider:
    """The rules of this botocore. They are read by their path: a listing of all services takes longer than all else."""
    loader = Loader()
    name = f"{service.service_name}/{service.api_version}/endpoint-rule-set-1"
    return EndpointProvider(loader.load_data(name), loader.load_data("partitions"))


@cache
def _connections(proxies: tuple[tuple[str, str], ...], verify: str | bool) -> URLLib3Session:
    """Connections that all clients share."""
    timeouts: Any = (CONNECT_SECONDS, READ_SECONDS)
    trusted: Any = verify  # the path of a bundle too
    return URLLib3Session(verify=trusted, proxies=dict(proxies), timeout=timeouts)


class _Credentials(NamedTuple):
    access_key: str
    secret_key: str
    token: str | None


def _credentials() -> _Credentials:
    """The credentials of the function's role.

    :raises NoCredentialsError: if the environment has none.
    """
    key, secret = (os.environ.get(f"AWS_{name}") for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"))
    if not key or not secret:
        raise NoCredentialsError
    return _Credentials(key, secret, os.environ.get("AWS_SESSION_TOKEN") or None)
