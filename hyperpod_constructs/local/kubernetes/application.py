"""The double as an ASGI application: who asks, may he, what is asked, and the answer."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from hyperpod_constructs.local.kubernetes import (
    authentication,
    discovery,
    objects,
    protobuf,
    reviews,
    status,
    values,
    wire,
)
from hyperpod_constructs.local.kubernetes.admission import IGNORE, STRICT, WARN
from hyperpod_constructs.local.kubernetes.authentication import Authenticator
from hyperpod_constructs.local.kubernetes.authorization import Act, User
from hyperpod_constructs.local.kubernetes.connection import (
    CLOSING,
    Answer,
    Call,
    Incoming,
    Receive,
    Scope,
    Send,
    body_of,
    lifespan,
    send_answer,
)
from hyperpod_constructs.local.kubernetes.objects import Objects, Request
from hyperpod_constructs.local.kubernetes.openapi import OpenApi
from hyperpod_constructs.local.kubernetes.resources import Resources, ResourceType
from hyperpod_constructs.local.kubernetes.schemas import Schemas
from hyperpod_constructs.local.kubernetes.status import ApiError, Named
from hyperpod_constructs.local.kubernetes.store import place_of
from hyperpod_constructs.local.kubernetes.views import chosen, formed, list_of, listed
from hyperpod_constructs.local.kubernetes.watching import Watches
from hyperpod_constructs.local.kubernetes.wire import Format, Query, Target

Object = dict[str, Any]

_HEALTH = ("healthz", "livez", "readyz")


class Application:
    """Serves one cluster."""

    def __init__(self, schemas: Schemas, version: str, administrator: str, webhook: str, address: str) -> None:
        self.resources = Resources(schemas)
        self.objects = Objects(self.resources)
        self._authenticator = Authenticator(administrator, webhook)
        self._openapi = OpenApi(self.resources, version)
        self._version = version
        self._address = address
        self._watches = Watches(self.objects)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one connection."""
        if scope["type"] == "lifespan":
            return await lifespan(receive, send)
        if scope["type"] != "http":
            return
        form, incoming = Format(), Incoming(receive)
        try:
            call = await self._read(scope, incoming, send)
            form = call.form
            answer = await self._answer(call)
        except ApiError as error:
            if error.code not in CLOSING:
                await incoming.drain()
            form = Format(form.media, text=form.media)
            answer = Answer(error.render(), error.code)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            answer = Answer(
                ApiError(500, "InternalError", "Internal error occurred: the double failed; its log says why").render(), 500
            )
        if answer is not None:
            await send_answer(send, answer, form)

    async def _read(self, scope: Scope, receive: Receive, send: Send) -> Call:
        headers = list(scope["headers"])
        user = await self._authenticator.user(headers)
        user = authentication.impersonated(user, headers, self.objects.authorizer)
        parts = wire.segments(scope.get("raw_path") or scope["path"].encode())
        if parts is None:
            raise status.no_such_path()
        form = wire.wanted(wire.header(headers, b"accept"))
        query = Query.parse(scope["query_string"])
        path = "/" + "/".join(parts)
        return Call(scope["method"], path, parts, query, headers, user, form, receive, send)

    async def _answer(self, call: Call) -> Answer | None:
        found = wire.target(call.parts)
        if found is None:
            return self._answer_path(call)
        act = _act(call, found)
        kind = self.resources.find(found.group, found.version, found.plural)
        if not self.objects.authorizer.allows(call.user, act):
            if kind is None:
                raise status.forbidden(Named(found.group, found.plural, "", found.name), _denied(call.user, act))
            raise objects.denied(call.user, act, kind)
        if kind is None or (found.namespace and not kind.namespaced):
            raise status.no_such_path()
        return await self._answer_resource(call, kind, found, act.verb)

    def _answer_path(self, call: Call) -> Answer:
        if not self.objects.authorizer.allows(call.user, Act(call.method.lower(), path=call.path)):
            raise status.forbidden_path(call.user.name, call.method.lower(), call.path)
        if call.method != "GET":
            raise status.not_allowed()
        match call.parts:
            case ["version"]:
                return Answer(self._versions())
            case [name, *_] if name in _HEALTH:
                return Answer(b"ok")
            case [""]:
                return Answer({"paths": ["/api", "/apis", "/healthz", "/openapi/v2", "/openapi/v3", "/version"]})
            case ["api"] | ["apis"] if call.form.form == "APIGroupDiscoveryList":
                return Answer(discovery.aggregated(self.resources, core=call.parts == ["api"]))
            case ["api"]:
                return Answer(discovery.core_versions(self._address))
            case ["apis"]:
                return Answer(discovery.group_list(self.resources))
            case ["apis", group]:
                return Answer(discovery.group(self.resources, group))
            case ["api", version]:
                return Answer(discovery.resource_list(self.resources, "", version))
            case ["apis", group, version]:
                return Answer(discovery.resource_list(self.resources, group, version))
            case ["openapi", "v2"]:
                return Answer(self._openapi.version_2())
            case ["openapi", "v3"]:
                return Answer(self._openapi.index())
            case ["openapi", "v3", *rest]:
                return Answer(self._openapi.version_3("/".join(rest)))
        raise status.no_such_path()

    def _versions(self) -> Object:
        major, _, minor = self._version.partition(".")
        found = {
            "major": major,
            "minor": minor,
            "gitVersion": f"v{self._version}.0-hyperpod-double",
            "gitCommit": "",
            "gitTreeState": "",
        }
        return {**found, "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "double/any"}

    async def _answer_resource(self, call: Call, kind: ResourceType, found: Target, verb: str) -> Answer | None:
        if verb not in kind.verbs or (found.subresource and verb not in ("get", "update", "patch")):
            raise status.not_allowed()
        if found.subresource and found.subresource not in kind.subresources:
            raise status.no_such_path()
        request = self._request(call, kind, found)
        if verb == "watch":
            await self._watches.serve(call, request)
            return None
        if verb == "list":
            return Answer(listed(self.objects, call, request))
        if verb == "get":
            return Answer(formed(kind, self.objects.get(request), call))
        body = await body_of(call)
        if verb == "create" and kind.group in reviews.GROUPS:
            review = self._mapping(call, body)
            reviewed = await reviews.answer(kind, review, call.user, self.objects.authorizer, self._authenticator)
            return Answer(reviewed, HTTPStatus.CREATED)
        return self._write(call, request, verb, body)

    def _request(self, call: Call, kind: ResourceType, found: Target) -> Request:
        validation = call.query.get("fieldValidation", WARN) or WARN
        if validation not in (STRICT, WARN, IGNORE):
            raise status.bad_request(f'invalid fieldValidation: found "{validation[:40]}", expected: Ignore, Strict or Warn')
        return Request(
            kind,
            user=call.user,
            namespace=found.namespace,
            name=found.name,
            subresource=found.subresource,
            dry_run=call.query.dry_run,
            manager=wire.manager(call.query, wire.header(call.headers, b"user-agent")),
            validation=validation,
            force=call.query.flag("force"),
        )

    def _write(self, call: Call, request: Request, verb: str, body: bytes) -> Answer:
        kind, content_type = request.kind, _content_type(call)
        if verb in ("delete", "deletecollection"):
            options = self._mapping(call, body) if body.strip() else {}
            options = {**options, **{name: call.query[name] for name in ("propagationPolicy",) if name in call.query}}
            request = replace(request, dry_run=request.dry_run or bool(options.get("dryRun")))
            return Answer(self._delete(request, options) if verb == "delete" else self._delete_all(call, request, options))
        if verb == "patch":
            form = content_type.partition(";")[0].strip().removeprefix("application/")
            if form not in (objects.APPLY, objects.JSON, objects.MERGE, objects.STRATEGIC):
                raise status.unsupported_media(
                    "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, "
                    "application/apply-patch+yaml"
                )
            new = form == objects.APPLY and self.objects.store.get(kind.key, request.place) is None
            stored = self.objects.patch(request, form, wire.read(body, content_type))
            return Answer(formed(kind, stored, call), HTTPStatus.CREATED if new else HTTPStatus.OK, request.warnings)
        manifest = self._mapping(call, body)
        if verb == "create":
            return Answer(formed(kind, self.objects.create(request, manifest), call), HTTPStatus.CREATED, request.warnings)
        version = values.at(manifest, "metadata", "resourceVersion")
        if kind.custom and not version and not request.subresource:
            cause = status.invalid_value("metadata.resourceVersion", 0, "must be specified for an update")
            raise status.invalid(kind.named(request.name), [cause])
        return Answer(formed(kind, self.objects.update(request, lambda _: manifest), call), warnings=request.warnings)

    def _mapping(self, call: Call, body: bytes) -> Mapping[str, Any]:
        """The object of a body."""
        if _content_type(call).startswith(protobuf.MEDIA):
            return protobuf.read(self.resources.schemas, body)
        value = wire.read(body, _content_type(call))
        if not isinstance(value, Mapping):
            raise status.bad_request("the object provided is unrecognized: found no object")
        return value

    def _delete(self, request: Request, options: Mapping[str, Any]) -> Object:
        last = self.objects.delete(request, options)
        if last["metadata"].get("deletionTimestamp") and self.objects.store.get(request.kind.key, request.place) is not None:
            return last
        kind = request.kind
        details = {**kind.named(request.name).details(), "uid": last["metadata"].get("uid")}
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}

    def _delete_all(self, call: Call, request: Request, options: Mapping[str, Any]) -> Object:
        found = list(chosen(self.objects, call, request))
        for obj in found:
            place = place_of(obj)
            one = Request(request.kind, request.user, place.namespace, place.name, dry_run=request.dry_run)
            if self.objects.store.get(request.kind.key, place) is not None:
                self.objects.delete(one, options)
        return list_of(request.kind, found, {})


def _act(call: Call, found: Target) -> Act:
    """What a request for a resource asks for, as roles name it."""
    verb = {"POST": "create", "PUT": "update", "PATCH": "patch"}.get(call.method, "")
    if call.method in ("GET", "HEAD"):
        watching = call.query.flag("watch") and not found.name
        verb = "get" if found.name else "watch" if watching else "list"
    elif call.method == "DELETE":
        verb = "delete" if found.name else "deletecollection"
    if not verb or (verb == "create" and found.name) or (verb in ("update", "patch") and not found.name):
        raise status.not_allowed()
    namespace = found.namespace or (found.name if found.plural == "namespaces" and not found.group else "")
    resource = found.plural + (f"/{found.subresource}" if found.subresource else "")
    return Act(verb, found.group, resource, namespace, found.name)


def _denied(user: User, act: Act) -> str:
    where = f' in the namespace "{act.namespace}"' if act.namespace else " at the cluster scope"
    return f'User "{user.name}" cannot {act.verb} resource "{act.resource}" in API group "{act.group}"{where}'


def _content_type(call: Call) -> str:
    return wire.header(call.headers, b"content-type")
