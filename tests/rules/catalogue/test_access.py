from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import eks, findings, rules_of

POLICIES = "arn:aws:eks::aws:cluster-access-policy/"
PEOPLE = {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/people"}


def entry(**given: Any) -> dict[str, Any]:
    properties = {"ClusterName": {"Ref": "Control"}, "PrincipalArn": PEOPLE, **given}
    return {"Entry": {"Type": "AWS::EKS::AccessEntry", "Properties": properties}}


def policy(arn: Any, kind: str = "cluster", *namespaces: str) -> dict[str, Any]:
    scope = {"Type": kind, **({"Namespaces": list(namespaces)} if namespaces else {})}
    return entry(AccessPolicies=[{"PolicyArn": arn, "AccessScope": scope}])


ADMIN, EDIT = f"{POLICIES}AmazonEKSClusterAdminPolicy", f"{POLICIES}AmazonEKSEditPolicy"
ANY_PARTITION = {"Fn::Sub": "arn:${AWS::Partition}:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"}
CASES = [
    Case("HP-ACC-001", eks(), policy("arn:aws:iam::aws:policy/AdministratorAccess"), policy(ADMIN)),
    Case("HP-ACC-001", eks(), policy("AmazonEKSClusterAdminPolicy"), policy(ADMIN)),
    Case("HP-ACC-001", eks(), policy(f"{POLICIES}AmazonEKSClusterAdminsPolicy"), policy(ANY_PARTITION)),
    Case("HP-ACC-002", eks(), entry(Type="EC2_LINUX", KubernetesGroups=["nodes"]), entry(KubernetesGroups=["nodes"])),
    Case("HP-ACC-002", eks(), entry(Type="EC2_LINUX", KubernetesGroups=["nodes"], Username="node"), entry(Type="EC2_LINUX")),
    Case("HP-ACC-002", eks(), entry(Type="HYPERPOD_LINUX", Username="node"), entry(Type="HYPERPOD_LINUX", KubernetesGroups=[])),
    Case("HP-ACC-003", eks(), entry(KubernetesGroups=["research", "system:masters"]), entry(KubernetesGroups=["research"])),
    Case("HP-ACC-003", eks(), entry(Username="eks:me"), entry(Username="me:{{SessionName}}")),
    Case("HP-ACC-003", eks(), entry(Username="me:{{SessionNames}}"), entry(Username="{{AccountID}}:{{SessionNameRaw}}")),
    Case("HP-SCH-007", eks(), policy(EDIT, "namespace"), policy(EDIT, "namespace", "hyperpod-ns-research")),
    Case("HP-SCH-007", eks(), policy(EDIT, "cluster", "default"), policy(EDIT)),
    Case("HP-ACC-005", eks(), entry(PrincipalArn="arn:aws:sts::123456789012:assumed-role/People/me"), entry()),
    Case("HP-ACC-005", eks(), entry(PrincipalArn="arn:aws:iam::123456789012:group/people"), {}),
    Case("HP-ACC-005", eks(), entry(PrincipalArn="arn:aws:iam::123456789012:role/people-*"), {}),
    Case("HP-ACC-005", eks(), entry(PrincipalArn="arn:aws:lambda:us-west-2:123456789012:function:charts"), entry()),
    Case("HP-ACC-005", eks(), entry(PrincipalArn={"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/"}), {}),
    Case("HP-ACC-005", eks(), entry(PrincipalArn={"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:root"}), {}),
]

TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}


LINES = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"


def chart(**given: Any) -> dict[str, Any]:
    """A function of the user that installs HyperPod's chart, and the access entry of its role."""
    admin = {"PolicyArn": ADMIN, "AccessScope": {"Type": "cluster"}}
    role = {"Fn::GetAtt": ["ChartRole", "Arn"]}
    code = {"Runtime": "python3.13", "Handler": "index.handler", "Role": role, "Code": {"S3Bucket": "code", "S3Key": "helm.zip"}}
    own = {"ClusterName": {"Ref": "Control"}, "PrincipalArn": role, "AccessPolicies": [admin], **given}
    properties = {"ServiceToken": {"Fn::GetAtt": ["ChartFunction", "Arn"]}, "ClusterName": {"Ref": "Control"}}
    return {
        "Chart": {"Type": "Custom::HyperPodHelmChart", "DependsOn": "ChartEntry", "Properties": properties},
        "ChartEntry": {"Type": "AWS::EKS::AccessEntry", "Properties": own},
        "ChartFunction": {"Type": "AWS::Lambda::Function", "Properties": code},
        "ChartRole": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": TRUST, "ManagedPolicyArns": [LINES]}},
    }


def elsewhere(**given: Any) -> dict[str, Any]:
    """The same, by a function of another template, whose role has the entry that the chart awaits."""
    found = chart(PrincipalArn="arn:aws:iam::123456789012:role/charts", **given)
    token = "arn:aws:lambda:us-west-2:123456789012:function:charts"
    properties = {"ServiceToken": token, "ClusterName": {"Ref": "Control"}}
    return {"Chart": {**found["Chart"], "Properties": properties}, "ChartEntry": found["ChartEntry"]}


CONTROL_ARN = {"Fn::GetAtt": ["Control", "Arn"]}
BY_VARIABLE: dict[str, Any] = {
    "Chart/ClusterName": REMOVED,
    "ChartFunction/Environment": {"Variables": {"CLUSTER": {"Ref": "Control"}}},
}
"""The chart's function knows the cluster, and the chart does not name it."""
NARROW = {"Type": "namespace", "Namespaces": ["default"]}
CALL = {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": {"Fn::GetAtt": ["ChartFunction", "Arn"]}}
BEHIND: dict[str, Any] = {
    "Framework": {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            **{"Runtime": "nodejs22.x", "Handler": "framework.onEvent", "Code": {"S3Bucket": "code", "S3Key": "framework.zip"}},
            **{"Role": {"Fn::GetAtt": ["FrameworkRole", "Arn"]}},
            "Environment": {"Variables": {"USER_ON_EVENT_FUNCTION_ARN": {"Fn::GetAtt": ["ChartFunction", "Arn"]}}},
        },
    },
    "FrameworkRole": {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": TRUST,
            "ManagedPolicyArns": [LINES],
            "Policies": [{"PolicyName": "call", "PolicyDocument": {"Version": "2012-10-17", "Statement": [CALL]}}],
        },
    },
    "Chart/ServiceToken": {"Fn::GetAtt": ["Framework", "Arn"]},
}
"""The chart's function is behind the CDK's framework, which has a role of its own."""
CASES += [
    Case("HP-ACC-006", eks(), {**chart(AccessPolicies=[]), **BEHIND}, {**chart(), **BEHIND}),
    Case("HP-ACC-006", eks(), chart(AccessPolicies=[{"PolicyArn": EDIT, "AccessScope": {"Type": "cluster"}}]), chart()),
    Case("HP-ACC-006", eks(), chart(AccessPolicies=[{"PolicyArn": ADMIN, "AccessScope": NARROW}]), chart(KubernetesGroups=["x"])),
    Case("HP-ACC-006", eks(), chart(PrincipalArn=PEOPLE), chart(AccessPolicies=[], KubernetesGroups=["administrators"])),
    Case(
        "HP-ACC-006",
        eks(),
        elsewhere(AccessPolicies=[{"PolicyArn": EDIT, "AccessScope": {"Type": "cluster"}}]),
        elsewhere(),
    ),
    Case("HP-ACC-006", eks(), chart(AccessPolicies=[]), chart(PrincipalArn={"Fn::ImportValue": "role"})),
    Case("HP-ACC-006", eks(), {**chart(AccessPolicies=[]), **BY_VARIABLE}, {**chart(), **BY_VARIABLE}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize("arn", [f"{POLICIES}AmazonEKSHybridPolicy", f"{POLICIES}AmazonEKSEventPolicy", {"Ref": "AWS::StackName"}])
def test_policies_that_may_be_there_are_not_judged(arn: Any) -> None:
    assert rules_of(edited(eks(), policy(arn))) == []


@pytest.mark.parametrize(
    ("changes", "late"),
    [
        ({"Chart/.DependsOn": REMOVED}, True),
        ({"Chart/.DependsOn": "ChartRole", "ChartFunction/Environment": {"Variables": {"ARN": CONTROL_ARN}}}, True),
        ({}, False),
        ({"Chart/.DependsOn": REMOVED, "ChartFunction/.DependsOn": "ChartEntry"}, False),
        ({"Chart/.DependsOn": REMOVED, "ChartFunction/Environment": {"Variables": {"CLUSTER": "another"}}}, False),
        ({"Chart/.DependsOn": REMOVED, "ChartEntry/PrincipalArn": PEOPLE}, False),
    ],
)
def test_a_chart_awaits_the_access_to_the_cluster_that_only_its_function_knows(changes: dict[str, Any], late: bool) -> None:
    found = findings(edited(eks(), {**chart(), **BY_VARIABLE, **changes}), rules="HP-DEP-002")
    assert [one.resource for one in found] == ["Chart"] * late


def test_a_function_in_the_vpc_reaches_the_control_plane_to_which_it_installs_a_chart() -> None:
    group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "charts", "VpcId": {"Ref": "Vpc"}}}
    door = {
        "Type": "AWS::EC2::SecurityGroupIngress",
        "Properties": {
            "GroupId": {"Fn::GetAtt": ["Control", "ClusterSecurityGroupId"]},
            "IpProtocol": "tcp",
            "FromPort": 443,
            "ToPort": 443,
            "SourceSecurityGroupId": {"Ref": "ChartGroup"},
        },
    }
    inside = {"SubnetIds": [{"Ref": "NodeSubnet"}], "SecurityGroupIds": [{"Ref": "ChartGroup"}]}
    private = {"Control/ResourcesVpcConfig/EndpointPrivateAccess": True, "ChartFunction/VpcConfig": inside}
    vpc = {"ChartRole/ManagedPolicyArns": ["arn:aws:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole"]}
    made = edited(
        eks(),
        {
            **chart(),
            "ChartGroup": group,
            "Door": door,
            **vpc,
            **private,
            "Chart/.DependsOn": ["ChartEntry", "Door", "NodeDefaultRoute", "NodeAssociation"],
        },
    )

    assert rules_of(made) == []
    assert rules_of(edited(made, {"Door": REMOVED})) == ["HP-REACH-006"]


ALLOWED, PUBLIC = (f"Control/ResourcesVpcConfig/{key}" for key in ("PublicAccessCidrs", "EndpointPublicAccess"))
OFFICE = "198.51.100.0/24"
BESIDE = {"Type": "AWS::Lambda::Function", "Properties": chart()["ChartFunction"]["Properties"]}
ADDRESS = {"Type": "AWS::EC2::EIP", "Properties": {"Domain": "vpc"}}


def unreached(changes: dict[str, Any]) -> list[str]:
    return [one.resource for one in findings(edited(eks(), {**chart(), **changes}), rules="HP-REACH-006")]


@pytest.mark.parametrize(
    "changes",
    [
        {ALLOWED: [OFFICE]},
        {ALLOWED: [OFFICE, {"Fn::Sub": "${Outlet}/32"}], "Outlet": ADDRESS},
        {PUBLIC: False},
        {PUBLIC: False, "ChartFunction/VpcConfig": {"SubnetIds": [], "SecurityGroupIds": []}},
        {ALLOWED: [OFFICE], "Chart/.Type": "Custom::Other", "Chart/ClusterName": REMOVED},
    ],
)
def test_fails_when_a_function_in_no_vpc_asks_a_cluster_that_lets_others_in(changes: dict[str, Any]) -> None:
    assert unreached(changes) == ["ChartFunction"]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {ALLOWED: ["0.0.0.0/0"]},
        {ALLOWED: [OFFICE, "3.8.0.0/14"]},
        {ALLOWED: [OFFICE, {"Fn::ImportValue": "block"}]},
        {PUBLIC: {"Ref": "AWS::StackName"}},
        {ALLOWED: [OFFICE], "ChartEntry/PrincipalArn": PEOPLE},
        {ALLOWED: [OFFICE], "Beside": BESIDE},
        {ALLOWED: [OFFICE], "ChartFunction/VpcConfig": {"Ref": "AWS::StackName"}},
    ],
)
def test_passes_when_a_function_may_come_from_an_address_that_is_let_in(changes: dict[str, Any]) -> None:
    assert unreached(changes) == []
