"""Functions and builds that install charts, and the access of their roles to the Kubernetes cluster.

A role that may assume another one is passed over, as is a cluster with entries whose principal is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.cluster_builds import ClusterBuild, cluster_builds
from hyperpod_constructs.analysis.custom_resources import maker_itself
from hyperpod_constructs.analysis.first_calls import called_first
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters
from hyperpod_constructs.analysis.policy_document import Call
from hyperpod_constructs.analysis.security_groups import is_resource
from hyperpod_constructs.facts.eks import ACCESS_POLICIES, READING
from hyperpod_constructs.facts.kubernetes import CLUSTER_ADMIN
from hyperpod_constructs.templates.dependencies import parameter_at
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Value, as_items, as_str, at, is_known, parts_of


class ShutOut(NamedTuple):
    """A role that cannot install a chart, and the resource with the mistake."""

    resource: Resource
    path: tuple[str | int, ...]
    message: str


def shut_out(model: Model) -> Iterator[ShutOut]:
    """The roles of functions and builds that surely cannot install what they are asked to into their cluster."""
    for eks in eks_clusters(model) if model.complete else ():
        if eks.authentication_mode in ("API", "API_AND_CONFIG_MAP") and eks.resource.exists and not eks.manifests:
            for chart in eks.hyperpod_charts:
                role = _role_of(chart)
                if _is_of_build(chart):
                    continue
                if role is None:
                    yield from _awaited_by(chart, eks)
                elif _is_itself(role):
                    yield from _lacking(chart, role, eks, f"the role that installs {chart.logical_id}")
            yield from (found for one in cluster_builds(model) if one.eks == eks for found in _of_build(one))


def _is_of_build(chart: Resource) -> bool:
    """Whether the function of a chart starts a build that works on a Kubernetes cluster: the build installs it, as its own role."""
    called = called_first(chart.template.model).get(chart, ())
    return any(one.project in called for one in cluster_builds(chart.template.model))


def _is_itself(role: Resource) -> bool:
    """Whether a role surely assumes no other one."""
    return role_facts(role).identity.allows(Call("sts:AssumeRole")) is False


def _of_build(one: ClusterBuild) -> Iterator[ShutOut]:
    role = resource_of(one.project.get("ServiceRole"), ROLE)
    if role is not None and _is_itself(role):
        few = _is_partial if one.installs_hyperpod else _only_reads if one.changes else _is_nothing
        yield from _lacking(one.project, role, one.eks, f"the role of {one.project.logical_id}", few)


def _awaited_by(chart: Resource, eks: EksCluster) -> Iterator[ShutOut]:
    """The only access entry that a chart awaits is for whoever installs it, a function of another template."""
    written = chart.raw.get("DependsOn")
    names = written if isinstance(written, list) else [written]
    awaited = [entry for entry in eks.access_entries if entry.logical_id in names and entry.template is chart.template]
    if len(awaited) == 1 and not chart.type.startswith("Custom::AWSCDK-"):
        yield from _of_entry(awaited[0], f"the principal of {awaited[0].logical_id}, which {chart.logical_id} awaits,")


def _role_of(chart: Resource) -> Resource | None:
    """The role of the function that answers for a custom resource; none for the CDK's, which has others behind it."""
    function = None if chart.type.startswith("Custom::AWSCDK-") else maker_itself(chart)
    return None if function is None else resource_of(function.get("Role"), ROLE)


def _lacking(
    user: Resource, role: Resource, eks: EksCluster, words: str, few: Callable[[Value], bool] | None = None
) -> Iterator[ShutOut]:
    own = [entry for entry in eks.access_entries if _may_be_for(entry, role)]
    if not own:
        yield ShutOut(user, (), f"{role.logical_id}, {words}, has no access entry in {eks.resource.logical_id}")
    if len(own) == 1 and is_resource(own[0].get("PrincipalArn"), role):
        yield from _of_entry(own[0], f"{role.logical_id}, {words},", few)


def _of_entry(entry: Resource, whose: str, few: Callable[[Value], bool] | None = None) -> Iterator[ShutOut]:
    """An access entry whose policies are too few for a chart; groups may have roles of Kubernetes."""
    policies = entry.get("AccessPolicies")
    if entry.get("KubernetesGroups") is ABSENT and isinstance(policies, tuple) and all(map(few or _is_partial, policies)):
        names = enumerated(_named(one) for one in policies) or "no policy"
        yield ShutOut(entry, ("AccessPolicies",), f"{whose} has {names}")


def _may_be_for(entry: Resource, role: Resource) -> bool:
    """Whether an entry is for a role, or may be; a parameter gives no role that its own deployment makes, nor does another name."""
    value = entry.get("PrincipalArn")
    answer, last = is_resource(value, role), parts_of(value)[-1]
    if answer is not None or parameter_at(entry, ("PrincipalArn",)) is not None:
        return bool(answer)
    chosen = role.get("RoleName")
    named = isinstance(last, str) and "/" in last
    return not named or not (chosen is ABSENT or is_known(chosen)) or as_str(chosen) == str(last).rpartition("/")[2]


def _is_partial(policy: Value) -> bool:
    """Whether a policy surely gives less than the whole cluster."""
    name, scope = _policy(policy), as_str(at(policy, "AccessScope", "Type"))
    return name in ACCESS_POLICIES and scope is not None and not (name == CLUSTER_ADMIN and scope == "cluster")


def _only_reads(policy: Value) -> bool:
    return _policy(policy) in READING


def _is_nothing(policy: Value) -> bool:
    return False


def _policy(policy: Value) -> str | None:
    last = parts_of(at(policy, "PolicyArn"))[-1:]
    return last[0].rpartition("/")[2] if last and isinstance(last[0], str) else None


def _named(policy: Value) -> str:
    scope = as_str(at(policy, "AccessScope", "Type"))
    spaces = at(policy, "AccessScope", "Namespaces")
    known = [text for one in as_items(spaces) or () if spaces is not UNKNOWN and (text := as_str(one)) is not None]
    where = "the cluster" if scope == "cluster" else f"the namespaces {enumerated(known)}" if known else "some namespaces"
    return f"{_policy(policy)} for {where}"
