"""A team: its names, its quota, and its people."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack
from aws_cdk import aws_iam as iam

from hyperpod_constructs import (
    ClusterInstanceType,
    ComputeQuotaResource,
    ExistingControlPlane,
    LustreStorage,
    LustreVolume,
    PriorityClass,
    SchedulerConfig,
    Team,
)
from hyperpod_constructs.facts.governance import COMPUTE_QUOTA
from tests.conftest import only, resources
from tests.eks.governed import Governed, control_plane_of

P5 = ClusterInstanceType.P5_48XLARGE
MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"


@pytest.fixture
def cluster(stack: Stack) -> Governed:
    return Governed(stack, workers=(P5.name, 8))


@pytest.fixture
def control_plane(stack: Stack) -> ExistingControlPlane:
    return control_plane_of(stack)


def team(stack: Stack, cluster: Governed, control_plane: ExistingControlPlane, name: str = "research", **members: Any) -> Team:
    wanted = [ComputeQuotaResource(instance_type=P5, count=4)]
    return Team(stack, name.title(), name=name, cluster=cluster, control_plane=control_plane, resources=wanted, **members)


def objects(stack: Stack) -> list[dict[str, Any]]:
    found = stack.resolve(only(stack, MANIFEST)["Properties"]["Manifest"])
    return list(json.loads(found))


def allowed(stack: Stack) -> set[tuple[str, str, str]]:
    (role,) = [found for found in objects(stack) if found["kind"] == "Role"]
    return {
        (api, resource, verb)
        for rule in role["rules"]
        for api in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_a_team_tells_the_names_of_the_service(stack: Stack, cluster: Governed, control_plane: ExistingControlPlane) -> None:
    made = team(stack, cluster, control_plane)
    assert made.namespace == "hyperpod-ns-research"
    assert made.local_queue == "hyperpod-ns-research-localqueue"
    assert made.cluster_queue == "hyperpod-ns-research-clusterqueue"
    assert made.priority_class("any") == "any-priority"
    assert only(stack, COMPUTE_QUOTA)["Properties"]["ComputeQuotaTarget"]["TeamName"] == "research"


def test_a_job_names_queue_and_priority(stack: Stack, cluster: Governed, control_plane: ExistingControlPlane) -> None:
    made = team(stack, cluster, control_plane)
    SchedulerConfig(stack, "Policy", cluster=cluster, priority_classes=[PriorityClass(name="high", weight=90)])
    assert made.job_labels() == {"kueue.x-k8s.io/queue-name": "hyperpod-ns-research-localqueue"}
    assert made.job_labels(priority_class="high")["kueue.x-k8s.io/priority-class"] == "high-priority"
    with pytest.raises(ValueError, match="Research: the scheduling policy has no priority class 'low'; it has 'high'"):
        made.job_labels(priority_class="low")


def test_the_service_makes_the_namespace(stack: Stack, cluster: Governed, control_plane: ExistingControlPlane) -> None:
    team(stack, cluster, control_plane)
    assert [found["kind"] for found in objects(stack)] == ["Role", "RoleBinding"]
    assert {found["metadata"]["namespace"] for found in objects(stack)} == {"hyperpod-ns-research"}


def test_objects_of_the_team_wait_for_the_namespace(
    stack: Stack, cluster: Governed, control_plane: ExistingControlPlane, lustre: LustreStorage
) -> None:
    made = team(stack, cluster, control_plane)
    after = [made.namespace_ready]
    LustreVolume(stack, "Volume", control_plane=control_plane, file_system=lustre, namespace=made.namespace, after=after)
    (quota,) = resources(stack, COMPUTE_QUOTA)
    ((id, wait),) = resources(stack, "Custom::AWSCDK-EKS-KubernetesObjectValue").items()
    found = wait["Properties"]
    assert (found["ObjectType"], found["ObjectName"], found["JsonPath"]) == ("namespace", made.namespace, ".status.phase")
    assert found["TimeoutSeconds"] == 840
    assert quota in wait["DependsOn"]
    assert [id in one["DependsOn"] for one in resources(stack, MANIFEST).values()] == [True, True]


def test_people_may_run_jobs_and_no_more(stack: Stack, cluster: Governed, control_plane: ExistingControlPlane) -> None:
    team(stack, cluster, control_plane)
    found = allowed(stack)
    assert ("sagemaker.amazonaws.com", "hyperpodpytorchjobs", "create") in found
    assert ("batch", "jobs", "create") in found
    assert ("", "pods/log", "get") in found
    assert {resource for _, resource, verb in found if verb in ("create", "update", "patch", "delete")} == {
        "configmaps",
        "hyperpodpytorchjobs",
        "jobs",
        "mpijobs",
        "pods",
        "pods/exec",
        "pods/portforward",
        "pytorchjobs",
    }
    assert ("", "pods", "create") not in found
    assert not {"secrets", "roles", "rolebindings", "serviceaccounts", "nodes", "*"} & {resource for _, resource, _ in found}
    assert not any("*" in part for rule in found for part in rule)


def test_the_role_of_people_is_bound_by_group(stack: Stack, cluster: Governed, control_plane: ExistingControlPlane) -> None:
    made = team(stack, cluster, control_plane)
    group = "hyperpod-ns-research-namespace-level-group"
    role, binding = objects(stack)
    assert binding["subjects"] == [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group}]
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role["metadata"]["name"]}
    assert only(stack, "AWS::EKS::AccessEntry")["Properties"] == {
        "ClusterName": "k",
        "KubernetesGroups": [group],
        "PrincipalArn": stack.resolve(made.role.role_arn),
        "Type": "STANDARD",
    }


def test_people_see_both_clusters_in_aws_and_change_nothing(
    stack: Stack, cluster: Governed, control_plane: ExistingControlPlane
) -> None:
    team(stack, cluster, control_plane)
    (policy,) = (one for id, one in resources(stack, "AWS::IAM::Policy").items() if id.startswith("Research"))
    statements = policy["Properties"]["PolicyDocument"]["Statement"]
    actions = {
        action for item in statements for action in ([item["Action"]] if isinstance(item["Action"], str) else item["Action"])
    }
    assert {"eks:DescribeCluster", "sagemaker:DescribeCluster"} <= actions
    assert all(action.partition(":")[2].startswith(("Describe", "List")) for action in actions)
    assert all(item["Resource"] != "*" for item in statements)


def test_a_given_role_is_used(stack: Stack, cluster: Governed, control_plane: ExistingControlPlane) -> None:
    people = iam.Role.from_role_arn(stack, "People", "arn:aws:iam::123456789012:role/people")
    made = team(stack, cluster, control_plane, role=people)
    assert made.role is people
    assert only(stack, "AWS::EKS::AccessEntry")["Properties"]["PrincipalArn"] == "arn:aws:iam::123456789012:role/people"
    assert not any(id.startswith("Research") for id in resources(stack, "AWS::IAM::Role"))


def groups(stack: Stack) -> list[Any]:
    found: list[Any] = only(stack, "AWS::EKS::AccessEntry")["Properties"]["KubernetesGroups"]
    return found


BOTH = ["hyperpod-ns-research-namespace-level-group", "hyperpod-ns-second-namespace-level-group"]


@pytest.mark.parametrize("given", [True, False])
def test_a_role_in_two_teams_has_one_entry(
    stack: Stack, cluster: Governed, control_plane: ExistingControlPlane, given: bool
) -> None:
    people = iam.Role.from_role_arn(stack, "People", "arn:aws:iam::123456789012:role/people") if given else None
    first = team(stack, cluster, control_plane, role=people)
    team(stack, cluster, control_plane, "second", role=first.role)
    assert groups(stack) == BOTH


@pytest.mark.parametrize("team_first", [True, False])
def test_grants_of_the_control_plane_meet_the_entry_of_the_team(
    stack: Stack, cluster: Governed, control_plane: ExistingControlPlane, team_first: bool
) -> None:
    people = iam.Role.from_role_arn(stack, "People", "arn:aws:iam::123456789012:role/people")
    if not team_first:
        control_plane.access.grant_viewer(people)
    team(stack, cluster, control_plane, role=people)
    if team_first:
        control_plane.access.grant_viewer(people)
    (id,) = resources(stack, "AWS::EKS::AccessEntry")
    assert id.startswith("KubernetesAccessEntry"), "its place does not depend on the order of the code"
    assert groups(stack) == BOTH[:1]
    assert len(only(stack, "AWS::EKS::AccessEntry")["Properties"]["AccessPolicies"]) == 1


def test_a_role_of_the_stack_of_teams_has_its_entry_there() -> None:
    app = App()
    first, second = (Stack(app, name) for name in ("First", "Second"))
    control_plane = control_plane_of(first)
    people = iam.Role(second, "People", assumed_by=iam.AccountRootPrincipal())
    team(second, Governed(first, workers=(P5.name, 8)), control_plane, role=people)
    assert resources(first, "AWS::EKS::AccessEntry") == {}
    assert groups(second) == BOTH[:1]


def test_two_constructs_of_one_cluster_share_its_entries() -> None:
    app = App()
    first, second = (Stack(app, name) for name in ("First", "Second"))
    people = iam.Role.from_role_arn(first, "People", "arn:aws:iam::123456789012:role/people")
    control_plane_of(first).access.grant_admin(people)
    team(second, Governed(second, workers=(P5.name, 8)), control_plane_of(second), role=people)
    assert groups(first) == BOTH[:1]
    assert resources(second, "AWS::EKS::AccessEntry") == {}


def test_fails_for_the_role_of_nodes(stack: Stack, cluster: Governed, control_plane: ExistingControlPlane) -> None:
    nodes = iam.Role.from_role_arn(stack, "Nodes", "arn:aws:iam::123456789012:role/nodes")
    control_plane.access.grant_nodes(nodes)
    with pytest.raises(ValueError, match="Stack/Nodes has an access entry already, of the type HYPERPOD_LINUX; a principal has"):
        team(stack, cluster, control_plane, role=nodes)


def test_every_argument_of_a_quota_reaches_it(stack: Stack, cluster: Governed, control_plane: ExistingControlPlane) -> None:
    team(
        stack,
        cluster,
        control_plane,
        borrow_limit=80,
        fair_share_weight=3,
        enabled=False,
        quota_name="other",
        description="ours",
    )
    found = only(stack, COMPUTE_QUOTA)["Properties"]
    assert (found["Name"], found["Description"], found["ActivationState"]) == ("other", "ours", "Disabled")
    assert found["ComputeQuotaTarget"]["FairShareWeight"] == 3
    assert found["ComputeQuotaConfig"]["ResourceSharingConfig"]["BorrowLimit"] == 80


def test_tokens_are_taken(stack: Stack, cluster: Governed, control_plane: ExistingControlPlane) -> None:
    text = CfnParameter(stack, "Text").value_as_string
    number: Any = CfnParameter(stack, "Number", type="Number").value_as_number
    wanted = [ComputeQuotaResource(instance_type=P5, count=number)]
    role = iam.Role.from_role_arn(stack, "Unknown", text)
    made = Team(
        stack,
        "Team",
        name=text,
        cluster=cluster,
        control_plane=control_plane,
        resources=wanted,
        borrow_limit=number,
        absolute_borrow_limits=wanted,
        fair_share_weight=number,
        quota_name=text,
        description=text,
        role=role,
    )
    control_plane.access.grant_team(role, namespaces=[text], kubernetes_groups=[text])
    found = only(stack, COMPUTE_QUOTA)["Properties"]
    assert found["ComputeQuotaTarget"] == {"TeamName": {"Ref": "Text"}, "FairShareWeight": {"Ref": "Number"}}
    assert stack.resolve(made.local_queue) == {"Fn::Join": ["", ["hyperpod-ns-", {"Ref": "Text"}, "-localqueue"]]}
    namespace = {"Fn::Join": ["", ["hyperpod-ns-", {"Ref": "Text"}]]}
    assert only(stack, "Custom::AWSCDK-EKS-KubernetesObjectValue")["Properties"]["ObjectName"] == namespace
    assert groups(stack) == [
        {"Fn::Join": ["", ["hyperpod-ns-", {"Ref": "Text"}, "-namespace-level-group"]]},
        {"Ref": "Text"},
    ]
