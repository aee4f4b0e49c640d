"""What the API serves: resource types, the built-in ones and those of custom resource definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hyperpod_constructs.local.kubernetes.schemas import Schema, Schemas
from hyperpod_constructs.local.kubernetes.status import Named

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
DEFINITIONS = ("apiextensions.k8s.io", "customresourcedefinitions")

# group/version, plural, kind, N(amespaced) or C(luster), subresources, short names, categories; "-" for none.
_BUILT_IN = """
v1 bindings Binding N - - -
v1 configmaps ConfigMap N - cm -
v1 endpoints Endpoints N - ep -
v1 events Event N - ev -
v1 limitranges LimitRange N - limits -
v1 namespaces Namespace C status ns -
v1 nodes Node C status no -
v1 persistentvolumeclaims PersistentVolumeClaim N status pvc -
v1 persistentvolumes PersistentVolume C status pv -
v1 pods Pod N status po all
v1 podtemplates PodTemplate N - - -
v1 replicationcontrollers ReplicationController N scale,status rc all
v1 resourcequotas ResourceQuota N status quota -
v1 secrets Secret N - - -
v1 serviceaccounts ServiceAccount N - sa -
v1 services Service N status svc all
admissionregistration.k8s.io/v1 mutatingwebhookconfigurations MutatingWebhookConfiguration C - - api-extensions
admissionregistration.k8s.io/v1 validatingadmissionpolicies ValidatingAdmissionPolicy C status - api-extensions
admissionregistration.k8s.io/v1 validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding C - - api-extensions
admissionregistration.k8s.io/v1 validatingwebhookconfigurations ValidatingWebhookConfiguration C - - api-extensions
apiextensions.k8s.io/v1 customresourcedefinitions CustomResourceDefinition C status crd,crds api-extensions
apiregistration.k8s.io/v1 apiservices APIService C status - api-extensions
apps/v1 controllerrevisions ControllerRevision N - - -
apps/v1 daemonsets DaemonSet N status ds all
apps/v1 deployments Deployment N scale,status deploy all
apps/v1 replicasets ReplicaSet N scale,status rs all
apps/v1 statefulsets StatefulSet N scale,status sts all
autoscaling/v2 horizontalpodautoscalers HorizontalPodAutoscaler N status hpa all
batch/v1 cronjobs CronJob N status cj all
batch/v1 jobs Job N status - all
certificates.k8s.io/v1 certificatesigningrequests CertificateSigningRequest C approval,status csr -
coordination.k8s.io/v1 leases Lease N - - -
discovery.k8s.io/v1 endpointslices EndpointSlice N - - -
events.k8s.io/v1 events Event N - ev -
flowcontrol.apiserver.k8s.io/v1 flowschemas FlowSchema C status - -
flowcontrol.apiserver.k8s.io/v1 prioritylevelconfigurations PriorityLevelConfiguration C status - -
networking.k8s.io/v1 ingressclasses IngressClass C - - -
networking.k8s.io/v1 ingresses Ingress N status ing -
networking.k8s.io/v1 networkpolicies NetworkPolicy N - netpol -
node.k8s.io/v1 runtimeclasses RuntimeClass C - - -
policy/v1 poddisruptionbudgets PodDisruptionBudget N status pdb -
rbac.authorization.k8s.io/v1 clusterrolebindings ClusterRoleBinding C - - -
rbac.authorization.k8s.io/v1 clusterroles ClusterRole C - - -
rbac.authorization.k8s.io/v1 rolebindings RoleBinding N - - -
rbac.authorization.k8s.io/v1 roles Role N - - -
resource.k8s.io/v1 deviceclasses DeviceClass C - - -
resource.k8s.io/v1 resourceclaims ResourceClaim N status - -
resource.k8s.io/v1 resourceclaimtemplates ResourceClaimTemplate N - - -
resource.k8s.io/v1 resourceslices ResourceSlice C - - -
scheduling.k8s.io/v1 priorityclasses PriorityClass C - pc -
storage.k8s.io/v1 csidrivers CSIDriver C - - -
storage.k8s.io/v1 csinodes CSINode C - - -
storage.k8s.io/v1 csistoragecapacities CSIStorageCapacity N - - -
storage.k8s.io/v1 storageclasses StorageClass C - sc -
storage.k8s.io/v1 volumeattachments VolumeAttachment C status - -
authentication.k8s.io/v1 selfsubjectreviews SelfSubjectReview C - - -
authentication.k8s.io/v1 tokenreviews TokenReview C - - -
authorization.k8s.io/v1 localsubjectaccessreviews LocalSubjectAccessReview N - - -
authorization.k8s.io/v1 selfsubjectaccessreviews SelfSubjectAccessReview C - - -
authorization.k8s.io/v1 selfsubjectrulesreviews SelfSubjectRulesReview C - - -
authorization.k8s.io/v1 subjectaccessreviews SubjectAccessReview C - - -
"""
BUILT_IN_NAMES = frozenset(
    (api_version.rpartition("/")[0], name)
    for api_version, *names in (line.split()[:3] for line in _BUILT_IN.strip().splitlines())
    for name in names
)
"""Groups with the plurals and kinds that are built in, in whatever version."""
_QUESTIONS = frozenset({"authentication.k8s.io", "authorization.k8s.io"})


class Key(NamedTuple):
    """A resource whatever its version: where objects are kept."""

    group: str
    plural: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceType:
    """One resource in one version. `definition` is the version's entry in a custom resource definition; None for a built-in one."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    schema: Schema
    singular: str = ""
    list_kind: str = ""
    subresources: tuple[str, ...] = ()
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = VERBS
    definition: Mapping[str, Any] | None = field(default=None, compare=False)

    @property
    def key(self) -> Key:
        """Where its objects are kept."""
        return Key(self.group, self.plural)

    @property
    def api_version(self) -> str:
        """`group/version`, or `v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def listed_as(self) -> str:
        """The kind of a list of these."""
        return self.list_kind or f"{self.kind}List"

    @property
    def custom(self) -> bool:
        """Whether a custom resource definition made it."""
        return self.definition is not None

    def named(self, name: str = "") -> Named:
        """This resource or one of its objects, for a message."""
        return Named(self.group, self.plural, self.kind, name)


class Resources:
    """All resource types of one server; definitions come and go."""

    def __init__(self, schemas: Schemas) -> None:
        self.schemas = schemas
        self._types: dict[tuple[str, str, str], ResourceType] = {}
        self._custom: dict[str, list[ResourceType]] = {}
        self.generation = 0
        for found in _built_in(schemas):
            self._types[found.group, found.version, found.plural] = found

    def __iter__(self) -> Iterator[ResourceType]:
        return iter(self._types.values())

    def find(self, group: str, version: str, plural: str) -> ResourceType | None:
        """The resource of a path."""
        return self._types.get((group, version, plural))

    def of_key(self, key: Key) -> ResourceType | None:
        """A version of a resource; the first that is served."""
        return next((found for found in self if found.key == key), None)

    def of_kind(self, api_version: str, kind: str) -> ResourceType | None:
        """The resource of an object."""
        return next((found for found in self if found.kind == kind and found.api_version == api_version), None)

    def define(self, name: str, types: list[ResourceType]) -> None:
        """Serve the versions of a custom resource definition in place of what it served before."""
        self.forget(name)
        self._custom[name] = types
        for found in types:
            self._types[found.group, found.version, found.plural] = found

    def forget(self, name: str) -> None:
        """Serve a custom resource definition no longer."""
        self.generation += 1
        for found in self._custom.pop(name, []):
            self._types.pop((found.group, found.version, found.plural), None)


def _built_in(schemas: Schemas) -> Iterator[ResourceType]:
    for line in _BUILT_IN.strip().splitlines():
        api_version, plural, kind, scope, *lists = line.split()
        group, _, version = api_version.rpartition("/")
        schema = schemas.get(group, version, kind)
        if schema is None:
            continue
        subresources, short_names, categories = (() if text == "-" else tuple(text.split(",")) for text in lists)
        yield ResourceType(
            group=group,
            version=version,
            plural=plural,
            kind=kind,
            namespaced=scope == "N",
            schema=schema,
            singular=kind.lower(),
            subresources=subresources,
            short_names=short_names,
            categories=categories,
            verbs=("create",) if group in _QUESTIONS or plural == "bindings" else VERBS,
        )
