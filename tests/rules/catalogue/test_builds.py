"""Builds that a stack starts: the variables that their commands take, and what they call."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import Template, findings
from tests.rules.catalogue.test_calls import role
from tests.rules.catalogue.test_deliveries import KEPT, att

STARTER = """\
import os
import boto3
import cfnresponse

def handler(event, context):
    if event["RequestType"] != "Delete":
        boto3.client("codebuild").start_build(projectName=os.environ["PROJECT"])
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, "install")
"""
SPEC = """\
version: 0.2
phases:
  build:
    commands:
      - for one in a b; do echo "$one" > "${PLACE:-/tmp}/$one"; done
      - NOW=$(date +%s)
      - aws s3 cp start.sh "s3://$BUCKET/$NOW/start.sh"
"""
BASE: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "Scripts": {"Type": "AWS::S3::Bucket", **KEPT, "Properties": {}},
        "Build": {
            "Type": "AWS::CodeBuild::Project",
            "Properties": {
                "ServiceRole": att("BuildRole", "Arn"),
                "Artifacts": {"Type": "NO_ARTIFACTS"},
                "Environment": {
                    "Type": "LINUX_CONTAINER",
                    "ComputeType": "BUILD_GENERAL1_SMALL",
                    "Image": "aws/codebuild/amazonlinux-x86_64-standard:5.0",
                    "EnvironmentVariables": [{"Name": "BUCKET", "Value": {"Ref": "Scripts"}}],
                },
                "Source": {"Type": "NO_SOURCE", "BuildSpec": SPEC},
                "LogsConfig": {"CloudWatchLogs": {"Status": "DISABLED"}},
            },
        },
        "BuildRole": role("codebuild.amazonaws.com", ("s3:PutObject", {"Fn::Sub": "${Scripts.Arn}/*"})),
        "Starter": {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "Runtime": "python3.13",
                "Handler": "index.handler",
                "Code": {"ZipFile": STARTER},
                "Role": att("StarterRole", "Arn"),
                "Environment": {"Variables": {"PROJECT": {"Ref": "Build"}}},
            },
        },
        "StarterRole": role("lambda.amazonaws.com", ("codebuild:StartBuild", att("Build", "Arn"))),
        "Install": {"Type": "Custom::Install", "Properties": {"ServiceToken": att("Starter", "Arn"), "ServiceTimeout": 300}},
    },
}
NAME = "Build/Environment/EnvironmentVariables/0/Name"
TEXT = "Build/Source/BuildSpec"
ALONE = {"Install": None, "Starter": None, "StarterRole": None}


def bastion(script: Any) -> Template:
    """A machine with a script."""
    properties = {"ImageId": "ami-0123456789abcdef0", "InstanceType": "t3.micro", "UserData": {"Fn::Base64": script}}
    return {"Resources": {"Tool": {"Type": "AWS::EC2::Instance", "Properties": properties}}}


def said(template: Template, rule: str) -> list[str]:
    """The messages of a rule."""
    return [one.message for one in findings(template) if one.rule == rule]


def without(template: Template, *names: str) -> Template:
    """A template without some resources."""
    return {**template, "Resources": {key: value for key, value in template["Resources"].items() if key not in names}}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({NAME: "SCRIPTS"}, "BUCKET"),
        ({TEXT: SPEC.replace("$BUCKET", "${BUCKT}")}, "BUCKT"),
        ({TEXT: SPEC.replace("NOW=", "LATER=")}, "NOW"),
        ({TEXT: SPEC + "      - |\n        cat <<END > a.yaml\n        region: $PLACED\n        END\n"}, "PLACED"),
        ({TEXT: SPEC + '      - echo "$(echo "$FIRST")"\n'}, "FIRST"),
    ],
)
def test_fails_when_commands_take_what_nobody_sets(changes: dict[str, Any], name: str) -> None:
    (message,) = said(edited(BASE, changes), "HP-TXT-011")
    assert f"take the variable {name}," in message


def test_variables_under_a_condition_may_be_any() -> None:
    wrong = edited(BASE, {NAME: "SCRIPTS"})
    variables = [[{"Name": name, "Value": "a"}] for name in ("BUCKET", "SCRIPTS")]
    place = "Build/Environment/EnvironmentVariables"
    more = {"Parameters": {"Stage": {"Type": "String"}}, "Conditions": {"Live": {"Fn::Equals": [{"Ref": "Stage"}, "live"]}}}
    template = {**edited(wrong, {place: {"Fn::If": ["Live", *variables]}}), **more}
    assert [one for one in said(template, "HP-TXT-011") if "take the variable" in one] == []


def test_fails_when_a_build_that_nobody_starts_sets_another_name() -> None:
    (message,) = said(without(edited(BASE, {NAME: "SCRIPT_BUCKET"}), *ALONE), "HP-TXT-011")
    assert "SCRIPT_BUCKET is set" in message


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {TEXT: SPEC + "      - echo '$THERE' \\$THERE ${THERE:-no} $CODEBUILD_BUILD_ID $JAVA_HOME\n"},
        {TEXT: SPEC + '      - test -z "${THERE:-}" || echo $THERE\n'},
        {TEXT: SPEC + "      - |\n        cat <<'END' > a.sh\n        echo $THERE\n        END\n"},
        {TEXT: SPEC + "      - . ./settings && echo $THERE\n"},
        {TEXT: SPEC + "      - export THERE=1\n      - echo $THERE\n"},
        {TEXT: SPEC + "      - while read -r THERE; do echo $THERE; done < a\n"},
        {TEXT: SPEC.replace("phases", "env:\n  secrets-manager: {THERE: 'a:b'}\nphases") + "      - echo $THERE\n"},
        {TEXT: "buildspec.yaml"},
        {
            TEXT: SPEC + "      - echo $THERE\n",
            "Starter/Code/ZipFile": STARTER.replace(
                '["PROJECT"])', '["PROJECT"], environmentVariablesOverride=[{"name": "THERE", "value": "a"}])'
            ),
        },
    ],
)
def test_passes_when_the_variables_of_a_build_are_set(changes: dict[str, Any]) -> None:
    assert said(edited(BASE, changes), "HP-TXT-011") == []


VALUES = 'values = {"THERE": "a"}\n    '
MADE = '[{"name": k, "value": v} for k, v in values.items()]'


@pytest.mark.parametrize(
    ("before", "given", "count"),
    [
        ("", '[{"name": "HERE", "value": "a"}]', 1),
        (VALUES.replace("THERE", "HERE"), MADE, 1),
        (VALUES, MADE, 0),
        (VALUES.replace("THERE", "HERE") + "values.update(event)\n    ", MADE, 0),
        ("", '[{"name": k, "value": v} for k, v in event.items()]', 0),
        ("", "event['variables']", 0),
    ],
)
def test_what_a_starter_gives_a_build_is_set(before: str, given: str, count: int) -> None:
    code = STARTER.replace('["PROJECT"])', f'["PROJECT"], environmentVariablesOverride={given})')
    code = code.replace("boto3.client(", f"{before}boto3.client(", 1)
    template = edited(BASE, {TEXT: SPEC + "      - echo $THERE\n", "Starter/Code/ZipFile": code})
    assert len([one for one in said(template, "HP-TXT-011") if "take the variable THERE" in one]) == count


def test_passes_when_a_build_that_nobody_starts_takes_what_its_start_may_set() -> None:
    assert said(without(edited(BASE, {TEXT: SPEC + "      - echo $THERE\n"}), *ALONE), "HP-TXT-011") == []


@pytest.mark.parametrize(
    ("script", "count"),
    [
        ("#!/bin/bash\necho $THERE > a\n", 1),
        ({"Fn::Sub": "#!/bin/bash\naws s3 cp a s3://${!PLACE}/${AWS::Region}\n"}, 1),
        ({"Fn::Sub": "#!/bin/bash\nPLACE=a\naws s3 cp a s3://${!PLACE}/${AWS::Region}\n"}, 0),
        ("#!/bin/bash\nsource /etc/environment\necho $THERE\n", 0),
        ("#!/usr/bin/python3\nprint('$THERE')\n", 0),
    ],
)
def test_a_script_of_a_machine_sets_what_it_takes(script: Any, count: int) -> None:
    assert len(said(bastion(script), "HP-TXT-011")) == count


OF_BUILD = "BuildRole/Policies/0/PolicyDocument/Statement"
IMAGES = {"Images": {"Type": "AWS::ECR::Repository", **KEPT, "Properties": {}}}
PUSHES = SPEC + "      - docker push $IMAGES:$NOW\n"


def with_images(*actions: str) -> Template:
    """A build that pushes an image, and may do something with its repository."""
    variables = [{"Name": "BUCKET", "Value": {"Ref": "Scripts"}}, {"Name": "IMAGES", "Value": att("Images", "RepositoryUri")}]
    statement = {"Effect": "Allow", "Action": list(actions), "Resource": att("Images", "Arn")}
    changes = {
        TEXT: PUSHES,
        "Build/Environment/EnvironmentVariables": variables,
        "Build/Environment/PrivilegedMode": True,
        f"{OF_BUILD}/1": statement,
        f"{OF_BUILD}/2": {"Effect": "Allow", "Action": "ecr:GetAuthorizationToken", "Resource": "*"},
    }
    return edited({**BASE, "Resources": {**BASE["Resources"], **IMAGES}}, changes)


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("aws s3 sync s3://$BUCKET/a .", "s3:GetObject on arn:aws:s3:::${Scripts}/a"),
        ("aws s3 rm s3://${BUCKET}/a.sh", "s3:DeleteObject on arn:aws:s3:::${Scripts}/a.sh"),
        ("aws sts get-caller-identity && aws s3api get-object --bucket $BUCKET --key a.sh a.sh", "s3:GetObject"),
        ('aws --region "$AWS_REGION" ssm put-parameter --name /a --value b --type String', "ssm:PutParameter"),
        ("aws ecr get-login-password | docker login --username AWS --password-stdin a", "ecr:GetAuthorizationToken"),
        ("if ! aws eks update-kubeconfig --name own; then exit 1; fi", "eks:DescribeCluster on"),
        ("IDENTITY=$(aws ec2 describe-vpcs --query Vpcs --output text)", "ec2:DescribeVpcs"),
    ],
)
def test_fails_when_the_role_of_a_build_may_not_do_what_its_commands_do(command: str, missing: str) -> None:
    messages = said(edited(BASE, {TEXT: SPEC + f"      - |\n        {command}\n"}), "HP-PERM-002")
    assert any(f"missing {missing}" in one and "its commands" in one for one in messages)


def test_fails_when_the_role_of_a_build_may_not_push_its_image() -> None:
    (message,) = said(with_images("ecr:BatchGetImage"), "HP-PERM-002")
    assert "may not push its image" in message
    assert "ecr:PutImage" in message


@pytest.mark.parametrize(
    "template",
    [
        BASE,
        edited(BASE, {TEXT: SPEC.replace("start.sh", "a/b/start.sh", 1).replace('/start.sh"', '/"')}),
        edited(BASE, {TEXT: SPEC + "      - aws eks describe-cluster --name own || true\n"}),
        edited(BASE, {TEXT: SPEC + "      - aws eks describe-cluster --name own --profile other\n"}),
        edited(BASE, {TEXT: SPEC + "      - export AWS_PROFILE=other\n      - aws eks describe-cluster --name own\n"}),
        edited(BASE, {TEXT: SPEC + "      - echo 'aws eks describe-cluster --name own'\n"}),
        with_images(
            *("ecr:BatchCheckLayerAvailability", "ecr:CompleteLayerUpload", "ecr:InitiateLayerUpload", "ecr:PutImage"),
            "ecr:UploadLayerPart",
        ),
    ],
)
def test_passes_when_the_role_of_a_build_may_do_what_its_commands_do(template: Template) -> None:
    assert said(template, "HP-PERM-002") == []


WORKS = SPEC + '      - aws eks update-kubeconfig --name "$CONTROL"\n'
CHART = "      - helm upgrade --install parts cli/helm_chart/HyperPodHelmChart --namespace kube-system\n"
ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
EDIT = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy"
POLICY = "Access/AccessPolicies/0/PolicyArn"


def subnet(block: str, zone: str) -> dict[str, Any]:
    properties = {"VpcId": {"Ref": "Vpc"}, "CidrBlock": block, "AvailabilityZone": zone}
    return {"Type": "AWS::EC2::Subnet", "Properties": properties}


def group(**properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "a", "VpcId": {"Ref": "Vpc"}, **properties}}


def plain(type_: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::EC2::{type_}", "Properties": properties}


def routed(name: str, table: str) -> dict[str, Any]:
    return plain("SubnetRouteTableAssociation", SubnetId={"Ref": name}, RouteTableId={"Ref": table})


ANYWHERE = "0.0.0.0/0"
ROUTES: Template = {
    "Gateway": plain("InternetGateway"),
    "Attached": plain("VPCGatewayAttachment", VpcId={"Ref": "Vpc"}, InternetGatewayId={"Ref": "Gateway"}),
    "Public": subnet("10.0.2.0/24", "us-west-2a"),
    "PublicRoutes": plain("RouteTable", VpcId={"Ref": "Vpc"}),
    "PublicRoute": {
        **plain("Route", RouteTableId={"Ref": "PublicRoutes"}, DestinationCidrBlock=ANYWHERE, GatewayId={"Ref": "Gateway"}),
        "DependsOn": "Attached",
    },
    "PublicRouted": routed("Public", "PublicRoutes"),
    "Address": plain("EIP", Domain="vpc"),
    "Nat": {
        **plain("NatGateway", SubnetId={"Ref": "Public"}, AllocationId=att("Address", "AllocationId")),
        "DependsOn": ["Attached", "PublicRoute", "PublicRouted"],
    },
    "Routes": plain("RouteTable", VpcId={"Ref": "Vpc"}),
    "Route": plain("Route", RouteTableId={"Ref": "Routes"}, DestinationCidrBlock=ANYWHERE, NatGatewayId={"Ref": "Nat"}),
    "RoutedA": routed("SubnetA", "Routes"),
    "RoutedB": routed("SubnetB", "Routes"),
}
WAYS = ["Route", "RoutedA", "RoutedB"]
INNER = [{"Ref": "SubnetA"}, {"Ref": "SubnetB"}]
WITH_CLUSTER: Template = {
    "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": True}},
    "SubnetA": subnet("10.0.0.0/24", "us-west-2a"),
    "SubnetB": subnet("10.0.1.0/24", "us-west-2b"),
    "Tools": group(),
    "Others": group(),
    "Control": {
        "Type": "AWS::EKS::Cluster",
        "Properties": {
            "RoleArn": att("ControlRole", "Arn"),
            "AccessConfig": {"AuthenticationMode": "API"},
            "ResourcesVpcConfig": {"SubnetIds": INNER, "EndpointPrivateAccess": True, "EndpointPublicAccess": False},
        },
    },
    "ControlRole": role("eks.amazonaws.com", ("ec2:DescribeVpcs", "*")),
    "FromTools": {
        "Type": "AWS::EC2::SecurityGroupIngress",
        "Properties": {
            "GroupId": att("Control", "ClusterSecurityGroupId"),
            "SourceSecurityGroupId": {"Ref": "Tools"},
            "IpProtocol": "tcp",
            "FromPort": 443,
            "ToPort": 443,
        },
    },
    "Access": {
        "Type": "AWS::EKS::AccessEntry",
        "Properties": {
            "ClusterName": {"Ref": "Control"},
            "PrincipalArn": att("BuildRole", "Arn"),
            "AccessPolicies": [{"PolicyArn": ADMIN, "AccessScope": {"Type": "cluster"}}],
        },
    },
}
IN_CLUSTER: Template = edited(
    {**BASE, "Resources": {**BASE["Resources"], **ROUTES, **WITH_CLUSTER}},
    {
        TEXT: WORKS + CHART,
        "Build/Environment/EnvironmentVariables/1": {"Name": "CONTROL", "Value": {"Ref": "Control"}},
        "Build/VpcConfig": {"VpcId": {"Ref": "Vpc"}, "Subnets": INNER, "SecurityGroupIds": [{"Ref": "Tools"}]},
        f"{OF_BUILD}/1": {"Effect": "Allow", "Action": "eks:DescribeCluster", "Resource": att("Control", "Arn")},
        "Install/.DependsOn": ["Access", "FromTools", *WAYS],
    },
)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({POLICY: VIEW}, "BuildRole, the role of Build, has AmazonEKSViewPolicy for the cluster"),
        ({POLICY: EDIT}, "BuildRole, the role of Build, has AmazonEKSEditPolicy for the cluster"),
        ({POLICY: VIEW, TEXT: WORKS + "      - kubectl apply -f queue.yaml\n"}, "has AmazonEKSViewPolicy"),
        ({"Access/PrincipalArn": att("StarterRole", "Arn")}, "BuildRole, the role of Build, has no access entry in Control"),
    ],
)
def test_fails_when_a_build_has_too_little_access_to_a_cluster(changes: dict[str, Any], text: str) -> None:
    (message,) = said(edited(IN_CLUSTER, changes), "HP-ACC-006")
    assert text in message


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {POLICY: EDIT, TEXT: WORKS + "      - kubectl apply -f queue.yaml\n"},
        {POLICY: VIEW, TEXT: WORKS + "      - kubectl get nodes\n"},
        {POLICY: VIEW, TEXT: WORKS.replace("kubeconfig", "kubeconfig --role-arn arn:aws:iam::123456789012:role/admin") + CHART},
        {POLICY: VIEW, "Access/KubernetesGroups": ["installers"]},
        {"Install/Cluster": {"Ref": "Control"}, "Install/Chart": "hyperpod-dependencies"},
    ],
)
def test_passes_when_a_build_has_the_access_that_it_needs(changes: dict[str, Any]) -> None:
    assert said(edited(IN_CLUSTER, changes), "HP-ACC-006") == []


def unreached(template: Template) -> list[str]:
    return [one for one in said(template, "HP-REACH-006") if "reach Control" in one]


@pytest.mark.parametrize(
    "changes",
    [
        {"FromTools/SourceSecurityGroupId": {"Ref": "Others"}},
        {"FromTools": None},
        {"FromTools/FromPort": 80, "FromTools/ToPort": 80},
        {"Build/VpcConfig/SecurityGroupIds": [{"Ref": "Others"}]},
    ],
)
def test_fails_when_a_build_does_not_reach_the_cluster_on_which_it_works(changes: dict[str, Any]) -> None:
    gone = [name for name, value in changes.items() if value is None]
    template = without(edited(IN_CLUSTER, {"Install/.DependsOn": ["Access"], **{k: v for k, v in changes.items() if v}}), *gone)
    assert len(unreached(template)) == 1


def test_passes_when_a_build_reaches_the_cluster_on_which_it_works() -> None:
    assert unreached(IN_CLUSTER) == []
    elsewhere = edited(IN_CLUSTER, {"FromTools/SourceSecurityGroupId": {"Ref": "Others"}, TEXT: WORKS})
    assert unreached(elsewhere) == []


def test_fails_when_a_build_starts_before_its_access_or_its_policy() -> None:
    (message,) = said(edited(IN_CLUSTER, {"Install/.DependsOn": ["FromTools", *WAYS]}), "HP-DEP-002")
    assert "does not await Access, the access of its function or its build" in message
    statement = IN_CLUSTER["Resources"]["BuildRole"]["Properties"]["Policies"][0]["PolicyDocument"]
    late = {"PolicyName": "late", "PolicyDocument": statement, "Roles": [{"Ref": "BuildRole"}]}
    added = {**IN_CLUSTER, "Resources": {**IN_CLUSTER["Resources"], "Late": {"Type": "AWS::IAM::Policy", "Properties": late}}}
    (message,) = said(added, "HP-DEP-002")
    assert "does not await Late" in message


HANDED = {
    "Starter/Code/ZipFile": STARTER.replace('os.environ["PROJECT"]', 'event["ResourceProperties"]["Project"]'),
    "Starter/Environment": REMOVED,
    "Install/Project": {"Ref": "Build"},
}


def test_a_custom_resource_can_name_the_build_that_its_function_starts() -> None:
    assert said(edited(IN_CLUSTER, HANDED), "HP-DEP-002") == []
    (message,) = said(edited(IN_CLUSTER, {**HANDED, "Install/.DependsOn": ["FromTools", *WAYS]}), "HP-DEP-002")
    assert "does not await Access, the access of its function or its build" in message


JOINED = {"Type": "AWS::SageMaker::Cluster", "Properties": {"Orchestrator": {"Eks": {"ClusterArn": att("Control", "Arn")}}}}


@pytest.mark.parametrize("changes", [{}, HANDED])
def test_a_cluster_awaits_the_build_that_installs_its_chart(changes: dict[str, Any]) -> None:
    template = edited(IN_CLUSTER, {**changes, "Nodes": JOINED})
    assert len(said(template, "HP-EKS-008")) == 1
    assert said(edited(template, {"Nodes/.DependsOn": ["Install"]}), "HP-EKS-008") == []
    assert said(edited(template, {TEXT: WORKS}), "HP-EKS-008") == []


def test_of_two_resources_with_one_function_the_one_that_names_the_build_installs_the_chart() -> None:
    template = edited(IN_CLUSTER, {"Nodes": JOINED, "Other": IN_CLUSTER["Resources"]["Install"]})
    assert said(template, "HP-EKS-008") == []
    assert len(said(edited(template, HANDED), "HP-EKS-008")) == 1


def test_passes_when_what_a_stack_calls_starts_no_build() -> None:
    calls = "Starter/Code/ZipFile"
    template = edited(
        IN_CLUSTER, {"Install/.DependsOn": ["FromTools", *WAYS], calls: STARTER.replace("start_build", "list_builds_for_project")}
    )
    assert said(template, "HP-DEP-002") == []


def commands(*lines: str) -> str:
    """A specification with these commands behind those of the base."""
    return WORKS + "".join(f"      - {one}\n" for one in lines)


CLONE = "git clone https://github.com/aws/sagemaker-hyperpod-cli.git cli"
PARTS = "helm upgrade --install parts cli/helm_chart/HyperPodHelmChart --namespace kube-system"
FETCH = "helm dependency update cli/helm_chart/HyperPodHelmChart"
QUEUE = "helm upgrade --install queue oci://registry.k8s.io/kueue/charts/kueue"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (commands("helm install queue oci://registry.k8s.io/kueue"), "helm install queue fails when the build runs again"),
        (commands("helm upgrade queue oci://registry.k8s.io/kueue"), "helm upgrade queue fails in the first build"),
        (commands(CLONE, PARTS), "HyperPodHelmChart lacks the charts that it needs"),
        (commands(CLONE, FETCH, PARTS.replace("helm_chart/", "")), "takes HyperPodHelmChart of https://github.com/aws/"),
        (
            commands(CLONE, FETCH, PARTS.replace("helm_chart", "charts")),
            "takes charts/HyperPodHelmChart of https://github.com/aws/",
        ),
        (commands(f"{QUEUE} -n queues"), "for the namespace queues, which nothing makes"),
        (commands("SPACE=queues", f"{QUEUE} --namespace=$SPACE --wait"), "for the namespace queues, which nothing makes"),
        (SPEC + f"      - {QUEUE}\n", "helm upgrade runs before aws eks update-kubeconfig"),
        (
            SPEC + "      - kubectl apply -f a.yaml\n      - aws eks update-kubeconfig --name $CONTROL\n",
            "kubectl apply runs before",
        ),
    ],
)
def test_fails_when_a_command_for_charts_surely_fails(text: str, message: str) -> None:
    messages = said(edited(IN_CLUSTER, {TEXT: text}), "HP-TXT-011")
    assert len(messages) == 1
    assert message in messages[0]


def test_fails_when_a_chart_is_of_a_repository_that_no_command_adds() -> None:
    chart = 'version: 0.2\nphases:\n  build:\n    commands:\n      - aws eks update-kubeconfig --name "$CONTROL"\n'
    chart += "      - helm repo add kuberay https://ray-project.github.io/kuberay-helm\n"
    chart += "      - helm upgrade --install ray {}/kuberay-operator\n"
    (message,) = said(edited(IN_CLUSTER, {TEXT: chart.format("kube-ray")}), "HP-TXT-011")
    assert "no command adds the repository kube-ray" in message
    assert "kuberay is added" in message
    assert said(edited(IN_CLUSTER, {TEXT: chart.format("kuberay")}), "HP-TXT-011") == []


@pytest.mark.parametrize(
    "text",
    [
        commands(CLONE, FETCH, PARTS),
        commands(CLONE, FETCH, PARTS.replace("cli/", "./cli/")),
        commands(CLONE, FETCH, "cd cli/helm_chart", PARTS.replace("cli/helm_chart/", "./")),
        commands(CLONE, FETCH, "cp -r cli/helm_chart cli/charts", PARTS.replace("helm_chart", "charts")),
        commands(CLONE.replace("/aws/", "/own/"), FETCH, PARTS.replace("helm_chart/", "")),
        commands(CLONE, f"{PARTS} --dependency-update"),
        commands(f"{QUEUE} -n queues --create-namespace"),
        commands("kubectl create namespace queues", f"{QUEUE} -n queues"),
        commands(f"{QUEUE} -n amazon-cloudwatch"),
        commands(f"{QUEUE} -n $CODEBUILD_BUILD_ID"),
        commands("helm status queue || helm install queue oci://registry.k8s.io/kueue"),
        commands("helm install oci://registry.k8s.io/kueue --generate-name"),
        commands("helm install queue oci://registry.k8s.io/kueue || true", "helm upgrade queue oci://registry.k8s.io/kueue"),
        SPEC + f"      - eksctl utils write-kubeconfig --cluster a\n      - {QUEUE}\n",
        SPEC + f"      - export KUBECONFIG=/tmp/config\n      - {QUEUE}\n",
        SPEC + "      - kubectl create namespace a --dry-run=client -o yaml\n",
    ],
)
def test_passes_when_a_command_for_charts_may_succeed(text: str) -> None:
    assert said(edited(IN_CLUSTER, {TEXT: text}), "HP-TXT-011") == []


def test_passes_when_a_build_runs_once_or_another_one_made_the_release() -> None:
    once = STARTER.replace('!= "Delete"', '== "Create"')
    changes = {TEXT: commands("helm install queue oci://registry.k8s.io/kueue"), "Starter/Code/ZipFile": once}
    assert said(edited(IN_CLUSTER, changes), "HP-TXT-011") == []


def test_fails_when_a_build_starts_before_a_way_is_open() -> None:
    def late(*gone: str) -> list[str]:
        awaited = [one for one in ("Access", "FromTools", *WAYS) if one not in gone]
        return said(edited(IN_CLUSTER, {"Install/.DependsOn": awaited}), "HP-DEP-004")

    assert late() == []
    (message,) = late("FromTools")
    assert "it does not await FromTools, without which Build cannot reach Control" in message
    (message,) = late(*WAYS)
    assert "it does not await Route, RoutedA, RoutedB" in message
    inside = {"Starter/VpcConfig": {"SubnetIds": INNER, "SecurityGroupIds": [{"Ref": "Tools"}]}}
    alone = edited(
        IN_CLUSTER, {**inside, "Build/VpcConfig": {"Ref": "AWS::NoValue"}, "Install/.DependsOn": ["Access", "RoutedA", "RoutedB"]}
    )
    assert any("does not await Route, without which Starter cannot reach" in one for one in said(alone, "HP-DEP-004"))
    assert said(edited(IN_CLUSTER, {"Install/.DependsOn": [], "Build/VpcConfig": {"Ref": "AWS::NoValue"}}), "HP-DEP-004") == []


FETCHES = SPEC + "      - curl -fsSL https://get.helm.sh/helm.tar.gz | tar xz\n"
CLOSED = ["Route", "RoutedA", "RoutedB"]


@pytest.mark.parametrize(
    ("line", "reached"),
    [
        ("curl -fsSL https://get.helm.sh/helm.tar.gz | tar xz", "get.helm.sh"),
        ("git clone --depth 1 https://github.com/aws/sagemaker-hyperpod-cli.git", "github.com"),
        ('VERSION=1; wget -q "https://dl.example.com/$VERSION.zip"', "dl.example.com"),
        ("helm repo add kuberay https://ray-project.github.io/kuberay-helm", "ray-project.github.io"),
        ("curl https://example.com/a || echo no", ""),
        ("curl https://artifacts.corp/a", ""),
        ("curl https://$HOST_NAME/a", ""),
        ("export HTTPS_PROXY=http://10.0.0.9:3128; curl https://example.com/a", ""),
        ("echo https://example.com", ""),
    ],
)
def test_a_build_in_a_closed_network_fetches_nothing_from_the_internet(line: str, reached: str) -> None:
    template = edited(IN_CLUSTER, {TEXT: SPEC + f"      - {line!r}\n", "Install/.DependsOn": ["Access", "FromTools"]})
    closed = without(template, *CLOSED)
    messages = [one for one in said(closed, "HP-REACH-006") if one.startswith("Build")]
    names = " ".join(one.partition(": the way")[0] for one in messages)
    assert (reached in names) if reached else ("." not in names)
    assert said(edited(template, {"Install/.DependsOn": ["Access", "FromTools", *WAYS]}), "HP-REACH-006") == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("aws eks update-kube-config --name own", "aws eks has no command update-kube-config; the nearest is update-kubeconfig"),
        ("aws s3 copy a.sh s3://$BUCKET/a.sh", "aws s3 has no command copy; the nearest is cp"),
        ("aws eks update-kubeconfig --cluster-name own", "aws eks update-kubeconfig has no option --cluster-name"),
        ("aws ssm put-paramter --name a --value b", "aws ssm has no command put-paramter; the nearest is put-parameter"),
        ("aws sagemaker describe-cluster --cluster-names own", "has no option --cluster-names; the nearest is cluster-name"),
        ("aws secretsmanger get-secret-value --secret-id a", "aws secretsmanger is no service of the CLI"),
        ("aws s3 mb s3://$BUCKET", ""),
        ("aws ssm get-parameter --name a --with-decryption --query Parameter.Value --output text --no-cli-pager", ""),
        ("aws eks wait cluster-active --name own", ""),
        ("aws cloudformation deploy --stack-name a --template-file b", ""),
        ("aws logs tail a --follow", ""),
        ("aws ec2 run-instances --count 1", ""),
        ("aws rds generate-db-auth-token --hostname a --port 1 --username b", ""),
        ("aws $SERVICE list-things", ""),
        ("aws configure set region us-west-2", ""),
        ("aws s3api list-objects-v2 --bucket $BUCKET", ""),
        ("echo aws s3 copy", ""),
    ],
)
def test_the_cli_knows_the_commands_and_options_of_builds_and_machines(line: str, message: str) -> None:
    built = said(edited(BASE, {TEXT: SPEC + f"      - BUCKET=a SERVICE=b; {line}\n"}), "HP-TXT-011")
    started = said(bastion(f"#!/bin/bash\nBUCKET=a SERVICE=b\n{line}\n"), "HP-TXT-011")
    for found in (built, started):
        assert len(found) == bool(message)
        assert message in "".join(found)


WRITES = "cat > a.sh <<{0}\n{2}#!/bin/bash\n{2}{1}\naws s3 cp a.sh s3://a/b\n"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (WRITES.format("END", "ENDS", ""), 1),
        (WRITES.format("'END'", "END", "  "), 1),
        (WRITES.format("-END", "END", "  "), 1),
        (WRITES.format("END", "End", ""), 1),
        (WRITES.format("'END'", "END", ""), 0),
        (WRITES.format("-END", "END", "\t"), 0),
        ("cat <<< END\n", 0),
        ("echo $((1<<END))\n", 0),
        ("echo 'a <<END'\n", 0),
        ("let a=1<<2\n", 0),
    ],
)
def test_a_text_in_a_script_has_its_end(text: str, count: int) -> None:
    lines = "".join(f"        {line}\n" for line in text.splitlines())
    for template in (edited(BASE, {TEXT: f"{SPEC}      - |2\n{lines}"}), bastion(f"#!/bin/bash\n{text}")):
        assert len([one for one in said(template, "HP-TXT-011") if "that never ends" in one]) == count
