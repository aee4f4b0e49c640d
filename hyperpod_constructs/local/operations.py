"""Which operation a request names, decided once: for IAM, which judges it, and for the handler, which does it.

A request of AWS's protocols names its operation in one place. One that names it in two is refused, because two readers may
each take another: `Action` in the address and in the body, X-Amz-Target beside `Action`, a parameter twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qs, unquote

from botocore.exceptions import UnknownServiceError
from botocore.model import OperationModel, ServiceModel

from hyperpod_constructs.local.aws_service import AwsError

Parameters = Mapping[str, Sequence[str]]

_FORM = "application/x-www-form-urlencoded"
_FORMS = frozenset({"query", "ec2"})
_RPC_PATH = re.compile(r"/service/[^/]+/operation/([^/]+)")
_SIGNATURE = re.compile(r"x-amz-.*|AWSAccessKeyId|Signature|Expires", re.IGNORECASE)
"""Names of parameters that sign a request, or are headers that a signed address carries."""
_LABEL = re.compile(r"\{([^{}]+)\}")
_ARN = r"arn:[^/]*:.*?"


class Wire(NamedTuple):
    """How a service is asked: its model, and another model for addresses below a prefix."""

    model: str
    below: tuple[str, str] | None = None


class _Route(NamedTuple):
    operation: str
    method: str
    path: re.Pattern[str]
    literals: int
    required: frozenset[str]
    allowed: frozenset[str] | None
    """Names in the query of the address; None for any."""


class Operations:
    """Knows the protocols of services from botocore's models.

    :param models: the model of a service by botocore's name.
    :param names: botocore's names where the service is served under another.
    """

    def __init__(self, models: Callable[[str], ServiceModel], names: Mapping[str, Wire]) -> None:
        self._models = models
        self._names = names
        self._routes = lru_cache(maxsize=None)(self._routes_of)

    def named(self, service: str, method: str, path: str, headers: Mapping[str, str], parameters: Parameters) -> str | None:
        """The operation of a request that `refusal` lets pass; None if the models know none.

        :param parameters: those of the address and, for a service of forms, those of the body.
        """
        model = self._model(service, path)
        if model is None:
            return None
        protocols = _protocols(model)
        if not _rpc(protocols):
            found = self._routed(model, method, path, parameters)
            return max(found, key=lambda route: (route.literals, len(route.required))).operation if found else None
        if target := headers.get("x-amz-target"):
            return _known(model, target.rpartition(".")[2])
        if (found_path := _RPC_PATH.fullmatch(path)) and "smithy-rpc-v2-cbor" in protocols:
            return _known(model, found_path[1])
        actions = parameters.get("Action", ())
        return _known(model, actions[0]) if actions and protocols & _FORMS else None

    def knows(self, service: str, path: str) -> bool:
        """Whether there is a model of the service."""
        return self._model(service, path) is not None

    def api(self, service: str, path: str) -> str:
        """botocore's name of the API that a path belongs to; a service may have two."""
        wire = self._names.get(service, Wire(service))
        return wire.below[1] if wire.below is not None and path.startswith(wire.below[0]) else wire.model

    def takes_forms(self, service: str, path: str) -> bool:
        """Whether the service reads parameters out of a form in the body."""
        model = self._model(service, path)
        return model is not None and bool(_protocols(model) & _FORMS)

    def protocol(self, service: str, path: str) -> str:
        """The protocol in which a refusal is answered."""
        model = self._model(service, path)
        protocols = frozenset({"json"}) if model is None else _protocols(model)
        known = [one for one in ("query", "ec2", "json", "rest-xml", "rest-json") if one in protocols]
        return known[0] if known else "json"

    def refuse_ambiguous(
        self, service: str, method: str, path: str, headers: Mapping[str, str], body: bytes, query: Parameters
    ) -> None:
        """Refuse a request with more than one reading.

        :raises AwsError: with what was found, and what is allowed.
        """
        model = self._model(service, path)
        target = headers.get("x-amz-target", "")
        own = {name: values for name, values in query.items() if not _SIGNATURE.fullmatch(name)}
        if model is None or not _rpc(_protocols(model)):
            if target:
                raise _ambiguous(service, f"found X-Amz-Target {target[:100]!r}; method and path name the operation")
            if model is not None:
                self._refuse_route(model, service, method, path, own)
            return
        protocols = _protocols(model)
        if target:
            _refuse_target(model, service, protocols, target, path, own)
        elif "/operation/" in path:  # a handler may search the path for it
            if not _RPC_PATH.fullmatch(path) or "smithy-rpc-v2-cbor" not in protocols or own:
                raise _ambiguous(service, "found an operation in the path; it must be in the parameters, or in the path alone")
        elif protocols & _FORMS:
            _refuse_form(service, method, headers, body, own)
        elif own:
            raise _ambiguous(service, f"found the parameter {min(own)[:100]!r} in the address; the body holds the parameters")

    def _refuse_route(self, model: ServiceModel, service: str, method: str, path: str, query: Parameters) -> None:
        if service != "s3" and unquote(path) != path:
            raise _ambiguous(service, f"found the path {path[:100]!r}, which is encoded twice; encode it once")
        if path.startswith("//"):
            raise _ambiguous(service, f"found the path {path[:100]!r}; it must start with one slash")
        here = [route for route in self._routes(model.service_name) if route.method == method and route.path.fullmatch(path)]
        if here and not self._routed(model, method, path, query):
            raise _ambiguous(
                service, f"found {', '.join(sorted(query))[:200]} in the address; no operation of {method} here takes all of these"
            )

    def _routed(self, model: ServiceModel, method: str, path: str, query: Parameters) -> list[_Route]:
        names = frozenset(name for name in query if name != "x-id" and not _SIGNATURE.fullmatch(name))
        return [
            route
            for route in self._routes(model.service_name)
            if route.method == method
            and route.path.fullmatch(path)
            and route.required <= names
            and (route.allowed is None or names <= route.allowed)
        ]

    def _model(self, service: str, path: str) -> ServiceModel | None:
        try:
            return self._models(self.api(service, path))
        except UnknownServiceError:
            return None

    def _routes_of(self, name: str) -> Sequence[_Route]:
        model = self._models(name)
        return [_route(model.operation_model(operation)) for operation in model.operation_names]


def _route(operation: OperationModel) -> _Route:
    path, _, query = str(operation.http["requestUri"]).partition("?")
    pattern, end = "", 0
    for label in _LABEL.finditer(path):
        # A name has no slash; a greedy label and an ARN have some.
        inside = r".+" if label[1].endswith("+") else f"(?:{_ARN}|[^/]+)"
        pattern, end = pattern + re.escape(path[end : label.start()]) + inside, label.end()
    pattern += re.escape(path[end:].rstrip("/")) + "/?"
    required = frozenset(part.partition("=")[0] for part in query.split("&") if part) - {"x-id"}
    literals = sum(1 for part in path.split("/") if part and not _LABEL.fullmatch(part))
    return _Route(operation.name, operation.http["method"], re.compile(pattern), literals, required, _allowed(operation, required))


def _allowed(operation: OperationModel, required: frozenset[str]) -> frozenset[str] | None:
    found = set(required)
    for name, member in operation.input_shape.members.items() if operation.input_shape is not None else ():
        if member.serialization.get("location") == "querystring":
            if member.type_name == "map":
                return None
            found.add(member.serialization.get("name", name))
    return frozenset(found)


def _protocols(model: ServiceModel) -> frozenset[str]:
    return frozenset({model.metadata["protocol"], *model.metadata.get("protocols", ())})


def _rpc(protocols: frozenset[str]) -> bool:
    return not any(protocol.startswith("rest-") for protocol in protocols)


def _known(model: ServiceModel, name: str) -> str | None:
    return name if name in model.operation_names else None


def _refuse_target(model: ServiceModel, service: str, protocols: frozenset[str], target: str, path: str, query: Parameters) -> None:
    prefix = model.metadata.get("targetPrefix")
    if "json" not in protocols or target.rpartition(".")[0] != prefix or "," in target:
        wanted = f"one {prefix}.Operation" if "json" in protocols else "no such header, but the parameter Action"
        raise _ambiguous(service, f"found X-Amz-Target {target[:100]!r}; it must be {wanted}")
    if path != "/" or query:
        found = f"the path {path[:100]!r}" if path != "/" else f"the parameter {min(query)[:100]!r} in the address"
        raise _ambiguous(service, f"found {found} beside X-Amz-Target; the path must be '/' and the body hold the parameters")


def _refuse_form(service: str, method: str, headers: Mapping[str, str], body: bytes, query: Parameters) -> None:
    kind = headers.get("content-type", "")
    if body and (method != "POST" or not kind.startswith(_FORM)):
        raise _ambiguous(service, f"found a body of the type {kind[:60]!r} by {method}; it must be {_FORM} by POST")
    if body and query:
        raise _ambiguous(service, f"found the parameter {min(query)[:100]!r} in the address and a body; use one of them")
    form = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True) if body else query
    repeated = [name for name, values in form.items() if len(values) > 1]
    if repeated:
        raise _ambiguous(service, f"found the parameter {min(repeated)[:100]!r} more than once; give it once")
    if "amz-json" in kind:
        raise _ambiguous(service, f"found the content type {kind[:60]!r}; it must be {_FORM}")


def _ambiguous(service: str, problem: str) -> AwsError:
    return AwsError("InvalidRequest", f"a request to {service} must have one reading: {problem}")
