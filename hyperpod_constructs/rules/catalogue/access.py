"""Access entries of the Kubernetes cluster: whom they are for, and what they give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.chart_access import shut_out
from hyperpod_constructs.analysis.clusters import given
from hyperpod_constructs.analysis.kubernetes import ACCESS_ENTRY
from hyperpod_constructs.analysis.schema.violation import nearest
from hyperpod_constructs.facts import eks as facts
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import Value, as_items, as_str, at, parts_of

_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_ENTRIES = f"{_GUIDE}creating-access-entries.html"
_POLICY = re.compile(r".*:eks::aws:cluster-access-policy/(?P<name>[A-Za-z]+)")
_VARIABLE = re.compile(r"\{\{[^{}]*\}\}")
_SESSION = re.compile(
    r"arn:[a-z?-]+:(?!iam:)[a-z0-9-]+:|.*:(?:assumed-role|instance-profile|group)/|.*:root$|.*[*]|.*:(?:role|user)/$"
)

_entry_error = partial(error, on=ACCESS_ENTRY)


def _last(value: Value) -> str | None:
    """The end of a text that begins with an unknown partition; the whole of a known one."""
    part = parts_of(value)[-1]
    return part if isinstance(part, str) and ("/" in part or part == value) else None


@_entry_error(
    "HP-ACC-001",
    title="access entries have access policies of EKS",
    why="EKS refuses a policy that it does not have; policies of IAM say nothing about Kubernetes",
    fix="write the ARN of an access policy: arn:aws:eks::aws:cluster-access-policy/NAME",
    allowed=", ".join(facts.ACCESS_POLICIES),
    source=f"{_GUIDE}access-policy-permissions.html",
)
def policies_are_of_eks(entry: Resource) -> Iterator[Hit]:
    for index, policy in enumerate(as_items(entry.get("AccessPolicies")) or ()):
        arn = _last(at(policy, "PolicyArn"))
        wrong = None if arn is None else _unknown_policy(arn)
        if wrong is not None:
            yield hit(entry, wrong, "AccessPolicies", index, "PolicyArn")


def _unknown_policy(arn: str) -> str | None:
    """A policy of IAM, or a name that nearly is a known one; EKS has others for its own features."""
    found = _POLICY.fullmatch(arn)
    if found is None:
        return f"{arn!r} is no access policy of EKS"
    if found["name"] in facts.ACCESS_POLICIES:
        return None
    other_form = not (found["name"].startswith("Amazon") and found["name"].endswith("Policy"))
    near = nearest(found["name"], facts.ACCESS_POLICIES, 0.0 if other_form else 0.93)
    return f"EKS is not known to have the access policy {found['name']}; did you mean {near}?" if near else None


@_entry_error(
    "HP-ACC-002",
    title="access entries of nodes have no names, groups or policies",
    why="EKS names the users and groups of nodes itself, and refuses others; access policies are for people",
    fix="leave them out, or give the people a role and an entry of their own",
    allowed=f"Username and KubernetesGroups in entries of the type {facts.STANDARD}",
    source=_ENTRIES,
)
def entries_of_nodes_are_bare(entry: Resource) -> Iterator[Hit]:
    kind = as_str(entry.get("Type"))
    keys = ("Username", "KubernetesGroups", "AccessPolicies") if kind in facts.NODE_NAMES else ()
    written = [key for key in keys if given(entry.get(key)) is True and as_items(entry.get(key)) != ()]
    if written:
        yield hit(entry, f"{enumerated(written)} in an access entry of the type {kind}", written[0])


@_entry_error(
    "HP-ACC-003",
    title="names and groups of access entries are not Kubernetes' own, and have known variables",
    why="EKS refuses names and groups with a reserved beginning, and names with other variables",
    fix="bind the roles of Kubernetes to a group of your own, or take an access policy such as AmazonEKSClusterAdminPolicy",
    allowed=f"names that do not begin with {', '.join(facts.RESERVED_GROUPS)}",
    source=_ENTRIES,
)
def names_are_not_reserved(entry: Resource) -> Iterator[Hit]:
    name = as_str(entry.get("Username"))
    if name is not None and name.startswith(facts.RESERVED_NAMES):
        yield hit(entry, f"the user name {name!r} begins as those of the service", "Username")
    strange = [one for one in _VARIABLE.findall(name or "") if one not in facts.NAME_VARIABLES]
    if strange:
        variables = enumerated(facts.NAME_VARIABLES)
        yield hit(entry, f"{strange[0]} is no variable of user names", "Username", allowed=f"the variables {variables}")
    for index, group in enumerate(as_items(entry.get("KubernetesGroups")) or ()):
        text = as_str(group)
        if text is not None and text.startswith(facts.RESERVED_GROUPS):
            yield hit(entry, f"the group {text!r} begins as those of the service", "KubernetesGroups", index)


@_entry_error(
    "HP-ACC-005",
    at=("PrincipalArn",),
    title="access entries are for roles and users of IAM",
    why="EKS refuses sessions, groups, instance profiles and accounts: it knows a session by its role",
    fix="write the ARN of the role: arn:aws:iam::ACCOUNT:role/NAME",
    allowed="the ARN of a role or a user of IAM",
    source=_ENTRIES,
)
def principals_are_roles_or_users(entry: Resource) -> str | None:
    text = "".join(part if isinstance(part, str) else "?" for part in parts_of(entry.get("PrincipalArn")))
    return f"the principal {text} is neither a role nor a user" if _SESSION.match(text) else None


@warning(
    "HP-ACC-006",
    title="a role that installs HyperPod's chart is administrator of the Kubernetes cluster; one of a build has access to it",
    why="the chart has roles of the whole cluster, and parts in several namespaces: Kubernetes refuses them to others",
    fix="write an AWS::EKS::AccessEntry of the role with AmazonEKSClusterAdminPolicy for the scope cluster, before the chart",
    allowed="an access entry with AmazonEKSClusterAdminPolicy for the whole cluster",
    source=f"{_GUIDE}access-policy-permissions.html",
)
def charts_are_installed_by_administrators(model: Model) -> Iterator[Hit]:
    return (Hit(one.resource, one.path, one.message) for one in shut_out(model))
