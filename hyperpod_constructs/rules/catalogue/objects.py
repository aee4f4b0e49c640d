"""Objects of Kubernetes in the manifests of the CDK: what they name of each other, and of teams and their queues."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.clusters import Cluster
from hyperpod_constructs.analysis.embedded import has_hole
from hyperpod_constructs.analysis.governance import classes_of, teams_of
from hyperpod_constructs.analysis.kubernetes import EksCluster, joined
from hyperpod_constructs.analysis.manifests import KubernetesObject, known_text, kubernetes_objects, named_objects, objects_of
from hyperpod_constructs.facts import governance, jobs
from hyperpod_constructs.facts.addon_versions import is_lower
from hyperpod_constructs.facts.addons import TRAINING_OPERATOR
from hyperpod_constructs.facts.kubernetes import RBAC
from hyperpod_constructs.facts.kubernetes_objects import object_mistakes
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import warning
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import as_items, as_str, at

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_POLICIES = f"{_GUIDE}sagemaker-hyperpod-eks-operate-console-ui-governance-policies.html"
_VOLUMES = "https://kubernetes.io/docs/concepts/storage/persistent-volumes/"


def _of(kind: str, model: Model) -> Iterator[KubernetesObject]:
    return (one for one in kubernetes_objects(model) if one.kind == kind)


@warning(
    "HP-OBJ-001",
    on=partial(_of, "RoleBinding"),
    title="bindings name a role that is there",
    why="Kubernetes takes a binding to a role that does not exist, and it gives nobody anything",
    fix="write the name of a role in the same namespace, or kind ClusterRole",
    allowed="a Role of the same namespace in the manifests",
    source="https://kubernetes.io/docs/reference/access-authn-authz/rbac/#rolebinding-and-clusterrolebinding",
)
def bindings_name_a_role(one: KubernetesObject) -> str | None:
    name, known = one.text("roleRef", "name"), named_objects(one.eks, "Role")
    if one.group != RBAC or one.text("roleRef", "kind") != "Role" or name is None or known is None or one.namespace is None:
        return None
    where = f"the namespace {one.namespace}"
    return None if (one.namespace, name) in known else f"{one.label} names the role {name!r}, which {where} does not have"


@warning(
    "HP-OBJ-002",
    on=partial(_of, "PersistentVolumeClaim"),
    title="claims and their volumes name each other",
    why="Kubernetes binds a claim only to the volume that it names, and a volume only to the claim that it names: the claim, and "
    "every pod with it, stays pending",
    fix="write the claim's namespace and name in claimRef of its volume, and the volume's name in volumeName of the claim",
    allowed="a volume of the manifests whose claimRef, if it has one, is this claim",
    source=_VOLUMES,
)
def claims_and_volumes_fit(one: KubernetesObject) -> str | None:
    name, volumes = one.text("spec", "volumeName"), named_objects(one.eks, "PersistentVolume")
    if not name or one.name is None or one.namespace is None:
        return None
    if volumes is not None and (None, name) not in volumes:
        return f"{one.label} names the volume {name!r}, which is not in the manifests"
    for volume in _of("PersistentVolume", one.resource.template.model):
        wanted = tuple(volume.text("spec", "claimRef", key) for key in ("namespace", "name"))
        if (volume.name, volume.eks) == (name, one.eks) and None not in wanted and wanted != (one.namespace, one.name):
            return f"volume {name!r} is for the claim {'/'.join(map(str, wanted))}, and {one.namespace}/{one.name} names it"
    return None


@warning(
    "HP-OBJ-007",
    on=kubernetes_objects,
    title="objects have versions, names, labels and settings that Kubernetes takes",
    why="Kubernetes refuses the object, and the deployment with it",
    fix="write an allowed value: kubectl explain KIND.spec shows what is there",
    allowed="what the reference of Kubernetes' API names",
    source="https://kubernetes.io/docs/reference/kubernetes-api/",
)
def objects_are_taken(one: KubernetesObject) -> str | None:
    wrong = next(object_mistakes(one.raw, has_hole), None)
    return f"{one.label}: {wrong}" if wrong else None


def _jobs(model: Model) -> Iterator[KubernetesObject]:
    """The jobs of the training operator, also with a kind of another spelling."""
    named = (one for one in kubernetes_objects(model) if one.group == jobs.GROUP)
    return (one for one in named if (one.kind or "").casefold() == jobs.KIND.casefold())


@warning(
    "HP-OBJ-005",
    on=_jobs,
    title="jobs of the training operator have the form that it takes",
    why="Kubernetes refuses an object with another kind or an unknown key, and the stack rolls back; the definition of the kind is "
    "not public, so it may have a key that no page names",
    fix="correct the key or the value: kubectl explain hyperpodpytorchjob.spec --recursive shows what is there",
    allowed=f"{jobs.GROUP}/{jobs.VERSION}, {jobs.KIND}, with the keys of AWS's pages",
    source=f"{_GUIDE}sagemaker-eks-operator-usage.html",
)
def jobs_have_their_form(job: KubernetesObject) -> str | None:
    wrong = jobs.job_mistake(job.raw, has_hole)
    return f"{job.label}: {wrong}" if wrong else None


@warning(
    "HP-OBJ-006",
    on=_jobs,
    title="elastic jobs have an operator that knows them",
    why="an older operator ignores the policy, and the job keeps its first size",
    fix=f"take version {jobs.LEAST_ELASTIC} of the training operator or a newer one",
    allowed=f"the training operator v{jobs.LEAST_ELASTIC} or newer",
    source=f"{_GUIDE}sagemaker-eks-elastic-training.html",
)
def elastic_jobs_have_their_operator(job: KubernetesObject) -> str | None:
    operator = job.eks.addons.get(TRAINING_OPERATOR)
    version = None if operator is None else as_str(operator.get("AddonVersion"))
    old = version is not None and is_lower(version, jobs.LEAST_ELASTIC)
    return f"{job.label} is elastic, and the training operator is {version}" if old and job.get("spec", "elasticPolicy") else None


def _teams_of_clusters(model: Model) -> Iterator[tuple[Cluster, EksCluster, frozenset[str]]]:
    for cluster, eks in joined(model):
        known = teams_of(cluster)
        if known is not None:
            yield cluster, eks, known


_teams_warning = partial(warning, on=_teams_of_clusters)


@_teams_warning(
    "HP-OBJ-003",
    title="namespaces of teams are those of teams with a quota",
    why="the service makes a namespace for each quota: in another one manifests fail, waits run out, and access is of no use",
    fix="write the namespace of a team: hyperpod-ns-TEAM, with the TeamName of its quota",
    allowed="hyperpod-ns- and the TeamName of a quota",
    source=_POLICIES,
)
def namespaces_have_a_quota(cluster: Cluster, eks: EksCluster, known: frozenset[str]) -> Iterator[Hit]:
    """One hit for each namespace, at the first place that names it; a team with the name of a namespace is another mistake."""
    if any(team.startswith(governance.namespace("")) for team in known):
        return
    spaces = {governance.namespace(team) for team in known}
    for name, places in grouped((name, place) for name, place in _namespaces(eks) if name is not None).items():
        if name not in spaces and (name.startswith(governance.namespace("")) or name in known):
            (resource, path), *others = places
            text = f"no quota makes the namespace {name}; the teams are {', '.join(sorted(known))}"
            yield hit(resource, text, *path, covers=tuple(other for other, _ in others))


_Place = tuple[Resource, tuple[str | int, ...]]


def _namespaces(eks: EksCluster) -> Iterator[tuple[str | None, _Place]]:
    """The namespaces that waits, manifests, identities of pods and access entries name, with their places."""
    for wait in eks.waits:
        if as_str(wait.get("ObjectType")) in ("namespace", "namespaces", "ns"):
            yield as_str(wait.get("ObjectName")), (wait, ("ObjectName",))
    made = {one.name for one in objects_of(eks) if one.kind == "Namespace"}
    for one in objects_of(eks):
        for name in (one.namespace, *map(governance.namespace_of_group, _groups(one))):
            if name not in made:
                yield name, (one.resource, one.path)
    for identity in eks.pod_identities:
        yield as_str(identity.get("Namespace")), (identity, ("Namespace",))
    for entry in eks.access_entries:
        for index, policy in enumerate(as_items(entry.get("AccessPolicies")) or ()):
            for number, space in enumerate(as_items(at(policy, "AccessScope", "Namespaces")) or ()):
                name = as_str(space)
                place = (entry, ("AccessPolicies", index, "AccessScope", "Namespaces", number))
                yield None if name is None or "*" in name else name, place


def _groups(binding: KubernetesObject) -> list[str]:
    """The groups of people that a binding names."""
    subjects = binding.get("subjects") if binding.kind == "RoleBinding" else ()
    named = [known_text(one.get("name")) for one in subjects or () if isinstance(one, dict)] if isinstance(subjects, list) else []
    return [name for name in named if name is not None]


@_teams_warning(
    "HP-OBJ-004",
    title="jobs name a queue and a priority that the service makes",
    why="Kueue never admits a job of an unknown queue or priority, or of another namespace's queue",
    fix="write the queue of the team in its own namespace, and CLASS-priority with a class of the policy",
    allowed="hyperpod-ns-TEAM-localqueue in hyperpod-ns-TEAM, and CLASS-priority",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-operate-console-ui-governance-cli.html",
    silences=("HP-OBJ-003",),
)
def jobs_name_their_queue(cluster: Cluster, eks: EksCluster, known: frozenset[str]) -> Iterator[Hit]:
    queues = {governance.namespace(team): governance.local_queue(team) for team in known}
    classes = classes_of(cluster)
    for job in objects_of(eks):
        queue, priority = (job.text("metadata", "labels", key) for key in (governance.QUEUE_LABEL, governance.PRIORITY_LABEL))
        wrong_queue = queue is not None and job.namespace is not None and queues.get(job.namespace) != queue
        if wrong_queue and (queue or "").startswith(governance.namespace("")):
            yield hit(job, f"{job.label} in {job.namespace} names the queue {queue}; allowed: {queues.get(job.namespace or '')}")
        elif priority is not None and classes is not None and priority not in map(governance.priority_value, classes):
            names = ", ".join(map(governance.priority_value, sorted(classes))) or "none"
            yield hit(job, f"{job.label} names the priority {priority}; the policy makes {names}")
