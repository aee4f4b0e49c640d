"""What the API does with objects: create, read, update, patch, apply and delete, for every resource alike."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hyperpod_constructs.local.kubernetes import bootstrap, definitions, grants, metadata, patching, scale, status, values
from hyperpod_constructs.local.kubernetes.addresses import Addresses
from hyperpod_constructs.local.kubernetes.admission import WARN, Admission, Read
from hyperpod_constructs.local.kubernetes.authorization import CLUSTER_ROLES, MASTERS, Act, Authorizer, User
from hyperpod_constructs.local.kubernetes.deletion import BACKGROUND, NAMESPACES, ORPHAN, Deletion
from hyperpod_constructs.local.kubernetes.field_sets import Typing
from hyperpod_constructs.local.kubernetes.ownership import Manager, Ownership
from hyperpod_constructs.local.kubernetes.resources import DEFINITIONS, Key, Resources, ResourceType
from hyperpod_constructs.local.kubernetes.status import ApiError
from hyperpod_constructs.local.kubernetes.store import MOST_OBJECTS, Place, Store
from hyperpod_constructs.local.kubernetes.values import at

Object = dict[str, Any]
APPLY, JSON, MERGE, STRATEGIC = "apply-patch+yaml", "json-patch+json", "merge-patch+json", "strategic-merge-patch+json"
_SYSTEM = User("system:apiserver", (MASTERS,))
_COUNTED = frozenset(
    {"apps", "batch", "autoscaling", "networking.k8s.io", "policy", "admissionregistration.k8s.io", DEFINITIONS[0]}
)
_KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "generateName")


@dataclass(frozen=True, slots=True)
class Request:
    """One request for a resource; `warnings` collects what the answer's headers say."""

    kind: ResourceType
    user: User = _SYSTEM
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    dry_run: bool = False
    manager: str = "unknown"
    validation: str = WARN
    force: bool = False
    warnings: list[str] = field(default_factory=list)

    @property
    def place(self) -> Place:
        """Where the object is."""
        return Place(self.namespace if self.kind.namespaced else "", self.name)


class Objects:
    """All objects of one cluster. For one thread."""

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self.store = Store()
        self.authorizer = Authorizer(self.store)
        self._admission = Admission(resources.schemas)
        self._typing = Typing(resources.schemas)
        self._strategic = patching.StrategicMerge(resources.schemas)
        self._deletion = Deletion(self.store, resources, self._forget)
        self._addresses = Addresses()
        for obj in bootstrap.objects():
            self._bootstrap(obj)
        self.authorizer.aggregate()

    def _bootstrap(self, obj: Object) -> None:
        kind = self.resources.of_kind(obj["apiVersion"], obj["kind"])
        if kind is not None:
            self.create(Request(kind, namespace=obj["metadata"].get("namespace", "")), obj)

    def get(self, request: Request) -> Object:
        """One object.

        :raises ApiError: 404.
        """
        found = self.store.get(request.kind.key, request.place)
        if found is None:
            raise status.not_found(request.kind.named(request.name))
        return scale.of(request.kind, found) if request.subresource == "scale" else versioned(request.kind, found)

    def create(self, request: Request, body: Mapping[str, Any]) -> Object:
        """Create an object.

        :raises ApiError: for what may not be created.
        """
        kind = request.kind
        obj = self._identified(request, body)
        read = self._admission.read(kind, obj, validation=request.validation, warnings=request.warnings)
        obj, found = read.value, read.value["metadata"]
        if found.pop("resourceVersion", None):
            raise status.bad_request("resourceVersion should not be set on objects to be created")
        if "status" in kind.subresources:
            obj.pop("status", None)
        if not found.get("name") and found.get("generateName"):
            found["name"] = metadata.generated(found["generateName"])
        return self._insert(replace(request, name=found.get("name", "")), obj, read.missing, Manager(request.manager, "Update"))

    def _insert(
        self,
        request: Request,
        obj: Object,
        missing: list[status.Cause],
        manager: Manager,
        owned: Callable[[Object], Object] | None = None,
    ) -> Object:
        """Complete, judge and keep a new object."""
        kind, name = request.kind, request.name
        self._open_namespace(request)
        if self.store.get(kind.key, request.place) is not None:
            raise status.exists(kind.named(name))
        if self.store.size >= MOST_OBJECTS:
            raise status.too_many_requests(f"the double keeps at most {MOST_OBJECTS} objects")
        for one in ("deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink"):
            obj["metadata"].pop(one, None)
        obj["metadata"] |= {"uid": str(uuid.uuid4()), "creationTimestamp": values.now()}
        if _counts(kind):
            obj["metadata"]["generation"] = 1
        obj = self._admission.complete(kind, obj)
        self._admission.judge(kind, obj, None, missing, request.warnings)
        grants.judge(self.authorizer, request.user, kind, obj)
        obj = self._addresses.assign(kind.key, obj, self.store, dry_run=request.dry_run)
        obj = owned(obj) if owned is not None else self._ownership(kind).written(None, obj, manager)
        return self._keep(request, None, obj)

    def update(
        self,
        request: Request,
        change: Callable[[Object], Mapping[str, Any]],
        *,
        manager: Manager | None = None,
        owned: Callable[[Object, Object], Object] | None = None,
    ) -> Object:
        """Replace an object by what `change` makes of it.

        :raises ApiError: 404, 409 for an older version, or for what may not be stored.
        """
        kind, before = request.kind, self.store.get(request.kind.key, request.place)
        if before is None:
            raise status.not_found(kind.named(request.name))
        before = versioned(kind, before)
        if request.subresource == "scale":
            return self._scale(request, change)
        obj = self._identified(request, change(values.copy(before)))
        self._same_version(request, before, obj)
        read = self._admission.read(kind, obj, validation=request.validation, warnings=request.warnings)
        obj = self._carried(request, before, read.value)
        self._addresses.carry(kind.key, before, obj)
        obj = self._admission.complete(kind, obj)
        if request.subresource == "status":
            obj = {**before, "metadata": before["metadata"], **({"status": obj["status"]} if "status" in obj else {})}
        self._admission.judge(kind, obj, before, read.missing, request.warnings)
        grants.judge(self.authorizer, request.user, kind, obj, before)
        obj = self._addresses.assign(kind.key, obj, self.store, dry_run=request.dry_run)
        if _counts(kind) and _desired(obj) != _desired(before):
            obj = {**obj, "metadata": {**obj["metadata"], "generation": before["metadata"].get("generation", 1) + 1}}
        if owned is not None:
            obj = owned(before, obj)
        else:
            who = manager or Manager(request.manager, "Update", request.subresource)
            obj = self._ownership(kind).written(before, obj, who)
        return self._keep(request, before, obj)

    def patch(self, request: Request, form: str, patch: Any) -> Object:
        """Change an object by a patch of one of the four forms.

        :raises ApiError: for a patch that does not apply, or for what may not be stored.
        """
        if form == APPLY:
            return self._apply(request, patch)
        if form == STRATEGIC and request.kind.custom:
            raise status.unsupported_media(
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
            )
        if form != JSON and not isinstance(patch, dict):
            raise status.bad_request("a patch must be an object")

        def change(obj: Object) -> Any:
            if form == JSON:
                return patching.json_patch(request.kind.named(request.name), obj, patch)
            if form == MERGE or request.subresource == "scale":
                return patching.merge_patch(obj, patch)
            return self._strategic.apply(request.kind.schema, obj, patch)

        return self.update(request, change)

    def _apply(self, request: Request, patch: Any) -> Object:
        if not isinstance(patch, dict) or at(patch, "metadata", "managedFields"):
            raise status.bad_request("metadata.managedFields must be nil")
        if request.manager == "unknown":
            raise status.bad_request(
                'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
            )
        kind = request.kind
        body = self._identified(request, patch)
        read = self._admission.read(kind, body, validation=request.validation, warnings=request.warnings, apply=True)
        given = at(read.value, "metadata", "resourceVersion")
        applied = _without_system(read.value)
        ownership, manager = self._ownership(kind), Manager(request.manager, "Apply", request.subresource)
        live = self.store.get(kind.key, request.place)
        if live is None:
            if given:
                raise status.not_found(kind.named(request.name))
            return self._apply_new(request, Read(applied, read.missing), ownership, manager)
        live = versioned(kind, live)
        if given and given != live["metadata"]["resourceVersion"]:
            raise status.conflict(kind.named(request.name), status.MODIFIED)
        if request.subresource == "status":
            applied = {key: applied[key] for key in ("apiVersion", "kind", "metadata", "status") if key in applied}
        merged = ownership.applied(live, applied, manager, force=request.force)
        fields = merged["metadata"].pop("managedFields", [])

        def owned(before: Object, obj: Object) -> Object:
            return {**obj, "metadata": {**obj["metadata"], "managedFields": fields}}

        return self.update(replace(request, validation="Ignore"), lambda _: merged, owned=owned)

    def _apply_new(self, request: Request, applied: Read, ownership: Ownership, manager: Manager) -> Object:
        kind = request.kind
        if request.subresource:
            raise status.not_found(kind.named(request.name))
        act = Act("create", kind.group, kind.plural, request.namespace, request.name)
        if not self.authorizer.allows(request.user, act):
            raise denied(request.user, act, kind)
        obj = {key: item for key, item in applied.value.items() if key != "status" or "status" not in kind.subresources}
        fields = ownership.applied(None, obj, manager, force=True)["metadata"].get("managedFields", [])

        def owned(obj: Object) -> Object:
            return {**obj, "metadata": {**obj["metadata"], "managedFields": fields}}

        return self._insert(request, values.copy(obj), applied.missing, manager, owned)

    def delete(self, request: Request, options: Mapping[str, Any]) -> Object:
        """Delete an object; answers its last state, with a deletion time if something still holds it.

        :raises ApiError: 404, or 409 for another object than the preconditions name.
        """
        kind, place = request.kind, request.place
        obj = self.store.get(kind.key, place)
        if obj is None:
            raise status.not_found(kind.named(request.name))
        for name, word in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
            wanted = at(options, "preconditions", name)
            if wanted and wanted != (found := obj["metadata"].get(name)):
                detail = f"Precondition failed: {word} in precondition: {wanted}, {word} in object meta: {found}"
                raise status.conflict(kind.named(request.name), detail)
        if kind.key == NAMESPACES and request.name in bootstrap.NAMESPACES[:1] + bootstrap.NAMESPACES[2:]:
            raise status.forbidden(kind.named(request.name), "this namespace may not be deleted")
        if request.dry_run:
            return obj
        default = ORPHAN if kind.key == Key("batch", "jobs") else BACKGROUND
        policy = options.get("propagationPolicy") or (ORPHAN if options.get("orphanDependents") else default)
        if policy not in (BACKGROUND, "Foreground", ORPHAN):
            raise status.bad_request(f'invalid propagationPolicy: found "{policy}", expected: Background, Foreground or Orphan')
        last = self._deletion.delete(kind.key, place, policy)
        self._settle_roles(kind.key)
        return versioned(kind, last)

    def _identified(self, request: Request, body: Any) -> Object:
        """The object, whose kind, version, name and namespace are those of the request."""
        kind = request.kind
        if not isinstance(body, Mapping) or not isinstance(body.get("metadata", {}), Mapping):
            raise status.bad_request(
                f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: json: cannot unmarshal'
            )
        for name, expected in (("apiVersion", kind.api_version), ("kind", kind.kind)):
            if (given := body.get(name, expected)) != expected:
                word = "API version" if name == "apiVersion" else name
                detail = f"the {word} in the data ({given}) does not match the expected {word} ({expected})"
                raise status.bad_request(detail)
        found = dict(body.get("metadata") or {})
        if kind.namespaced:
            if found.get("namespace", request.namespace) != request.namespace:
                raise status.bad_request("the namespace of the provided object does not match the namespace sent on the request")
            found["namespace"] = request.namespace
        else:
            found.pop("namespace", None)
        if request.name and found.setdefault("name", request.name) != request.name:
            detail = f"the name of the object ({found['name']}) does not match the name on the URL ({request.name})"
            raise status.bad_request(detail)
        return {**body, "apiVersion": kind.api_version, "kind": kind.kind, "metadata": found}

    def _same_version(self, request: Request, before: Object, obj: Object) -> None:
        named, found = request.kind.named(request.name), obj["metadata"]
        given = found.get("resourceVersion")
        if given and given != before["metadata"]["resourceVersion"]:
            raise status.conflict(named, status.MODIFIED)
        uid, existing = found.get("uid"), before["metadata"].get("uid")
        if uid and uid != existing:
            raise status.conflict(named, f"Precondition failed: UID in precondition: {uid}, UID in object meta: {existing}")

    def _carried(self, request: Request, before: Object, obj: Object) -> Object:
        """The new object with what only the server writes."""
        old, found = before["metadata"], obj["metadata"]
        kept = {key: old[key] for key in _KEPT if key in old}
        rest = {key: item for key, item in found.items() if key not in ("selfLink", *_KEPT)}
        obj = {**obj, "metadata": {**rest, **kept, "resourceVersion": old["resourceVersion"]}}
        if "managedFields" not in rest and "managedFields" in old:
            obj["metadata"]["managedFields"] = old["managedFields"]
        if "status" in request.kind.subresources and request.subresource != "status":
            obj.pop("status", None)
            if "status" in before:
                obj["status"] = before["status"]
        return obj

    def _keep(self, request: Request, before: Object | None, obj: Object) -> Object:
        """Store an object unless nothing changed, and do what follows from it."""
        kind = request.kind
        if kind.key == DEFINITIONS and request.subresource != "status":
            obj = definitions.established(obj)
        if request.dry_run:
            return {**obj, "metadata": {"resourceVersion": "", **obj["metadata"]}} if before is not None else obj
        if before is not None and _plain(before) == _plain(obj):
            return before
        kept = self.store.put(kind.key, obj)
        if kind.key == DEFINITIONS:
            self.resources.define(kept["metadata"]["name"], definitions.types(kept))
        if kind.key == NAMESPACES and before is None:
            for inner in bootstrap.of_namespace(kept["metadata"]["name"]):
                self._bootstrap(inner)
        self._settle_roles(kind.key)
        return versioned(kind, self._deletion.settle(kind.key, kept))

    def _settle_roles(self, key: Key) -> None:
        if key == CLUSTER_ROLES:
            self.authorizer.aggregate()

    def _forget(self, definition: Object) -> None:
        self.resources.forget(definition["metadata"]["name"])
        self.store.forget(Key(definition["spec"]["group"], definition["spec"]["names"]["plural"]))

    def _open_namespace(self, request: Request) -> None:
        """Whether new content may come into the namespace."""
        if not request.kind.namespaced:
            definition = self.store.get(Key(*DEFINITIONS), Place("", f"{request.kind.plural}.{request.kind.group}"))
            if definition is not None and definition["metadata"].get("deletionTimestamp"):
                raise status.ApiError(405, "MethodNotAllowed", "create not allowed while custom resource definition is terminating")
            return
        namespace = self.store.get(NAMESPACES, Place("", request.namespace))
        if namespace is None:
            raise status.not_found(status.Named("", "namespaces", "Namespace", request.namespace))
        if namespace["metadata"].get("deletionTimestamp"):
            detail = f"unable to create new content in namespace {request.namespace} because it is being terminated"
            cause = {"reason": "NamespaceTerminating", "message": f"namespace {request.namespace} is being terminated"}
            raise status.forbidden(request.kind.named(request.name), detail, [{**cause, "field": "metadata.namespace"}])

    def _scale(self, request: Request, change: Callable[[Object], Mapping[str, Any]]) -> Object:
        whole = replace(request, subresource="")

        def scaled(obj: Object) -> Object:
            return scale.onto(request.kind, obj, change(scale.of(request.kind, obj)))

        return scale.of(request.kind, self.update(whole, scaled, manager=Manager(request.manager, "Update", "scale")))

    def _ownership(self, kind: ResourceType) -> Ownership:
        return Ownership(self._typing, kind.schema, status_apart="status" in kind.subresources)


def denied(user: User, act: Act, kind: ResourceType) -> ApiError:
    """The refusal of an act on a resource, as the API server writes it."""
    where = f' in the namespace "{act.namespace}"' if act.namespace else " at the cluster scope"
    detail = f'User "{user.name}" cannot {act.verb} resource "{act.resource}" in API group "{act.group}"{where}'
    return status.forbidden(kind.named(act.name), detail)


def versioned(kind: ResourceType, obj: Object) -> Object:
    """An object in the version that is asked for; versions differ by name alone here."""
    return obj if obj.get("apiVersion") == kind.api_version else {**obj, "apiVersion": kind.api_version}


def _counts(kind: ResourceType) -> bool:
    return kind.custom or kind.group in _COUNTED


def _desired(obj: Object) -> Object:
    return {key: item for key, item in obj.items() if key not in ("metadata", "status")}


def _plain(obj: Object) -> Object:
    """An object without what changes by writing alone."""
    found = {key: item for key, item in obj["metadata"].items() if key not in ("managedFields", "resourceVersion")}
    owned = _owned_by(obj["metadata"].get("managedFields") or ())
    return {**obj, "metadata": {**found, "managedFields": owned}}


def _owned_by(entries: Iterable[Mapping[str, Any]]) -> list[Object]:
    return [{key: item for key, item in entry.items() if key != "time"} for entry in entries]


def _without_system(obj: Object) -> Object:
    names = (*_KEPT, "resourceVersion", "managedFields", "selfLink")
    return {**obj, "metadata": {key: item for key, item in obj["metadata"].items() if key not in names}}
