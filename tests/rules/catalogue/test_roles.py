"""Trust, names, order and reach of roles."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_iam as iam

from hyperpod_constructs import ClusterInstanceType, HyperPodCluster, InstanceGroup, LifecycleScripts, SlurmNodeType
from hyperpod_constructs.rules.finding import Finding, Level
from tests.conftest import synthesize
from tests.presets import PRESETS
from tests.rules.catalogue.templates import eks, findings, findings_by_name, preset, slurm

Template = dict[str, Any]
ROLE_ARN = {"Fn::GetAtt": ["Role", "Arn"]}
CONTROLLER = InstanceGroup(
    name="controller", node_type=SlurmNodeType.CONTROLLER, instance_type=ClusterInstanceType.M5_XLARGE, count=1
)


def iam_findings(*templates: Template) -> list[Finding]:
    return findings(*templates, rules="HP-ROL")


def the_one(*templates: Template) -> Finding:
    (found,) = iam_findings(*templates)
    return found


def properties(template: Template, logical_id: str) -> dict[str, Any]:
    found: dict[str, Any] = template["Resources"][logical_id]["Properties"]
    return found


def trust(template: Template, logical_id: str = "Role") -> dict[str, Any]:
    found: dict[str, Any] = properties(template, logical_id)["AssumeRolePolicyDocument"]["Statement"][0]
    return found


def policy(*statements: Template, role: str = "Role") -> Template:
    document = {"Version": "2012-10-17", "Statement": list(statements)}
    return {"Type": "AWS::IAM::Policy", "Properties": {"PolicyName": "p", "Roles": [{"Ref": role}], "PolicyDocument": document}}


def allow(action: str | list[str], resource: Any = "*", **more: Any) -> Template:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def autoscaled(service: str = "hyperpod.sagemaker.amazonaws.com") -> Template:
    template = eks()
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    actions = ["sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes"]
    resource = {"Fn::Sub": "arn:${AWS::Partition}:sagemaker:${AWS::Region}:${AWS::AccountId}:cluster/*"}
    document = {"Version": "2012-10-17", "Statement": [allow(actions, resource)]}
    template["Resources"]["Scaler"] = {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [statement]},
            "Policies": [{"PolicyName": "scale", "PolicyDocument": document}],
        },
    }
    properties(template, "Cluster").update(
        ClusterRole={"Fn::GetAtt": ["Scaler", "Arn"]}, AutoScaling={"Mode": "Enable", "AutoScalerType": "Karpenter"}
    )
    return template


def late(*statements: Template) -> Template:
    """A policy in a resource of its own that nothing awaits."""
    template = slurm()
    template["Resources"]["Late"] = policy(*statements)
    return template


def moved_out() -> Template:
    """The role's permissions, moved into a policy that nothing awaits."""
    template = slurm()
    (inline,) = properties(template, "Role").pop("Policies")
    template["Resources"]["Late"] = policy(*inline["PolicyDocument"]["Statement"])
    return template


@pytest.mark.parametrize("template", [slurm(), eks(), autoscaled()], ids=["slurm", "eks", "autoscaled"])
def test_correct_templates_have_no_finding(template: Template) -> None:
    assert iam_findings(template) == []


@pytest.mark.parametrize("name", PRESETS)
def test_presets_have_no_finding(name: str) -> None:
    assert findings_by_name(preset(name), rules="HP-ROL") == []


def test_a_role_that_another_service_assumes() -> None:
    template = slurm()
    trust(template)["Principal"]["Service"] = "ec2.amazonaws.com"
    found = the_one(template)
    assert (found.rule, found.level, found.resource) == ("HP-ROL-001", Level.ERROR, "Role")
    assert found.found == [{"Service": "ec2.amazonaws.com"}]
    assert "'controller', 'login', 'workers' of Cluster" in found.message


@pytest.mark.parametrize(
    "principal",
    [{"Service": ["ec2.amazonaws.com", "sagemaker.amazonaws.com"]}, {"Service": {"Ref": "Service"}}],
    ids=["one of two", "unknown"],
)
def test_a_role_that_sagemaker_assumes_or_may_assume(principal: Template) -> None:
    template = slurm()
    template["Parameters"] = {"Service": {"Type": "String"}}
    trust(template)["Principal"] = principal
    assert iam_findings(template) == []


def test_a_role_that_is_given_by_its_name() -> None:
    template = slurm()
    properties(template, "Cluster")["InstanceGroups"][1]["ExecutionRole"] = {"Ref": "Role"}
    (found,) = findings(template)
    assert (found.rule, found.path, found.found) == ("HP-REF-012", "Properties/InstanceGroups/1/ExecutionRole", "${Role}")


def test_a_cluster_role_that_only_sagemaker_assumes() -> None:
    found = the_one(autoscaled("sagemaker.amazonaws.com"))
    assert (found.rule, found.level, found.resource) == ("HP-ROL-001", Level.ERROR, "Scaler")


def test_a_policy_that_the_creation_needs_and_the_cluster_does_not_await() -> None:
    found = the_one(moved_out())
    assert (found.rule, found.level, found.resource) == ("HP-ROL-004", Level.ERROR, "Cluster")
    assert "policy Late" in found.message
    assert "ec2:DescribeSubnets" in found.message


def test_the_same_policy_awaited() -> None:
    template = moved_out()
    template["Resources"]["Cluster"]["DependsOn"] = "Late"
    assert iam_findings(template) == []


def of_eks(*, dependencies: list[str]) -> Template:
    """The same for a cluster on EKS, whose control plane is made in the same stack."""
    template = eks()
    (inline,) = properties(template, "Role").pop("Policies")
    template["Resources"]["Late"] = {**policy(*inline["PolicyDocument"]["Statement"]), "DependsOn": dependencies}
    return template


def test_a_control_plane_takes_longer_than_a_policy() -> None:
    """Nothing orders the two, but the cluster waits for minutes longer than the policy."""
    found = the_one(of_eks(dependencies=[]))
    assert (found.rule, found.level, found.resource) == ("HP-ROL-005", Level.WARNING, "Cluster")


@pytest.mark.parametrize("dependency", ["Control", "Cni"])
def test_a_policy_that_awaits_the_control_plane_is_late_again(dependency: str) -> None:
    assert the_one(of_eks(dependencies=[dependency])).rule == "HP-ROL-004"


def test_a_policy_for_later_that_the_cluster_does_not_await() -> None:
    found = the_one(late(allow("s3:GetObject", {"Fn::Sub": "${Data.Arn}/*"})))
    assert (found.rule, found.level, found.resource) == ("HP-ROL-005", Level.WARNING, "Cluster")


@pytest.mark.parametrize(
    "resource", ["*", "arn:aws:iam::123456789012:role/*", {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/*"}]
)
@pytest.mark.parametrize("action", ["iam:PassRole", ["iam:passrole"], "iam:*"])
def test_any_role_can_be_passed(resource: Any, action: Any) -> None:
    template = slurm()
    template["Resources"]["Deployer"] = policy(allow(action, resource), role="Other")
    properties(template, "Deployer")["Roles"] = ["deployer"]
    found = the_one(template)
    assert (found.rule, found.path) == ("HP-ROL-006", "Properties/PolicyDocument/Statement/0/Resource")


@pytest.mark.parametrize(
    "statement",
    [
        allow("iam:PassRole", {"Fn::GetAtt": ["Role", "Arn"]}),
        allow("iam:PassRole", "*", Condition={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}),
        allow("*"),
        {**allow("iam:PassRole"), "Effect": "Deny"},
    ],
    ids=["named", "one service", "administrator", "denied"],
)
def test_some_roles_can_be_passed(statement: Template) -> None:
    template = slurm()
    template["Resources"]["Deployer"] = policy(statement)
    properties(template, "Deployer")["Roles"] = ["deployer"]
    assert iam_findings(template) == []


@pytest.mark.parametrize(
    "statement",
    [
        allow("*"),
        allow("iam:*", {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/*"}),
        allow(["s3:GetObject", "iam:PutRolePolicy"]),
    ],
    ids=["everything", "all of IAM", "one action"],
)
def test_nodes_administer_the_account(statement: Template) -> None:
    template = slurm()
    template["Resources"]["Wide"] = policy(statement)
    template["Resources"]["Cluster"]["DependsOn"] = [*template["Resources"]["Cluster"].get("DependsOn", []), "Wide"]
    found = the_one(template)
    assert (found.rule, found.path) == ("HP-ROL-007", "Properties/PolicyDocument/Statement/0")


@pytest.mark.parametrize(
    "statement",
    [
        allow("iam:AttachRolePolicy", {"Fn::GetAtt": ["Role", "Arn"]}),
        allow("*", Condition={"StringEquals": {"aws:RequestedRegion": "us-west-2"}}),
        allow("ec2:*"),
        {**allow("*"), "Effect": "Deny", "Action": "iam:*"},
    ],
    ids=["one role", "under a condition", "another service", "denied"],
)
def test_nodes_do_not_administer_the_account(statement: Template) -> None:
    template = slurm()
    template["Resources"]["Wide"] = policy(statement)
    template["Resources"]["Cluster"]["DependsOn"] = [*template["Resources"]["Cluster"].get("DependsOn", []), "Wide"]
    assert iam_findings(template) == []


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (allow("s3:*"), "delete what every bucket holds, open every bucket"),
        (allow("s3:*", "arn:aws:s3:::*"), "delete what every bucket holds, open every bucket"),
        (allow("secretsmanager:GetSecretValue"), "read every secret"),
        (
            {"Effect": "Allow", "Action": "kms:*", "NotResource": "arn:aws:kms:us-west-2:111122223333:key/1"},
            "delete every key",
        ),
        (allow("sts:AssumeRole", {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/*"}), "take every role"),
    ],
    ids=["buckets", "buckets by their ARNs", "secrets", "all but a key", "roles"],
)
def test_nodes_reach_what_is_of_others(statement: Template, words: str) -> None:
    template = slurm()
    template["Resources"]["Wide"] = policy(statement)
    template["Resources"]["Cluster"]["DependsOn"] = [*template["Resources"]["Cluster"].get("DependsOn", []), "Wide"]
    found = the_one(template)
    assert (found.rule, found.path) == ("HP-ROL-008", "Properties/PolicyDocument/Statement/0")
    assert words in found.message


@pytest.mark.parametrize(
    "statement",
    [
        allow("s3:*", "arn:aws:s3:::sagemaker-*"),
        allow("secretsmanager:GetSecretValue", {"Fn::Sub": "${Password}*"}),
        allow("secretsmanager:GetSecretValue", Condition={"StringEquals": {"aws:ResourceTag/team": "a"}}),
        allow(["s3:GetObject", "kms:Decrypt", "ssm:GetParameter"]),
        {"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"},
    ],
    ids=["by prefix", "by its ARN", "by tag", "reads", "all but IAM"],
)
def test_nodes_reach_what_is_their_own(statement: Template) -> None:
    template = slurm()
    template["Resources"]["Password"] = {"Type": "AWS::SecretsManager::Secret", "Properties": {}}
    template["Resources"]["Wide"] = policy(statement)
    template["Resources"]["Cluster"]["DependsOn"] = [*template["Resources"]["Cluster"].get("DependsOn", []), "Wide"]
    assert iam_findings(template) == []


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("PowerUserAccess", ["HP-ROL-007"]),
        ("AmazonS3FullAccess", ["HP-ROL-008"]),
        ("SecretsManagerReadWrite", ["HP-ROL-008"]),
        ("ReadOnlyAccess", []),
    ],
)
def test_policies_for_people_are_not_for_nodes(name: str, rules: list[str]) -> None:
    template = slurm()
    arns = properties(template, "Role").setdefault("ManagedPolicyArns", [])
    arns.append(f"arn:aws:iam::aws:policy/{name}")
    assert [found.rule for found in iam_findings(template)] == rules


@pytest.mark.parametrize(
    ("service", "user", "rules"),
    [
        (
            "backup.amazonaws.com",
            {"Type": "AWS::Backup::RestoreTestingSelection", "Properties": {"IamRoleArn": ROLE_ARN}},
            ["HP-ROL-007"],
        ),
        ("eks.amazonaws.com", {"Type": "AWS::EKS::Cluster", "Properties": {"RoleArn": ROLE_ARN}}, ["HP-ROL-007"]),
        ("codepipeline.amazonaws.com", {"Type": "AWS::CodePipeline::Pipeline", "Properties": {"RoleArn": ROLE_ARN}}, []),
    ],
    ids=["backups", "a control plane", "deployments"],
)
def test_services_that_deploy_nothing_administer_nothing(service: str, user: Template, rules: list[str]) -> None:
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}]}
    arns = ["arn:aws:iam::aws:policy/AdministratorAccess"]
    role = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust, "ManagedPolicyArns": arns}}
    assert [one.rule for one in findings({"Resources": {"Role": role, "User": user}}) if one.rule == "HP-ROL-007"] == rules


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (allow("ssm:StartSession"), "open a shell on every machine"),
        (allow(["ssm:SendCommand", "ssm:GetCommandInvocation"]), "run commands as root on every machine"),
        (allow("sts:AssumeRole", {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/*"}), "take every role"),
        (allow("ssm:StartSession", ["arn:aws:sagemaker:*:*:cluster/*", "arn:aws:ssm:*:*:document/shell"]), ""),
        (allow("ssm:StartSession", Condition={"StringEquals": {"aws:ResourceTag/team": "a"}}), ""),
        (allow("*"), ""),
        ({**allow("ssm:StartSession"), "Effect": "Deny"}, ""),
    ],
    ids=["sessions", "commands", "roles", "named", "tagged", "administrators", "denied"],
)
def test_people_open_shells_on_named_machines(statement: Template, words: str) -> None:
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"AWS": "123456789012"}, "Action": "sts:AssumeRole"}]}
    own = [{"PolicyName": "own", "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}]
    role = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust, "Policies": own}}
    group = {"Type": "AWS::IAM::Group", "Properties": {"Policies": own}}
    for holder in (role, group):
        found = [one.message for one in findings({"Resources": {"Holder": holder}}) if one.rule == "HP-ROL-008"]
        assert len(found) == bool(words)
        assert words in " ".join(found)


def test_shells_of_users_that_something_bounds_are_not_judged() -> None:
    shell = policy(allow("ssm:StartSession"))
    shell["Properties"] |= {"Roles": [], "Users": [{"Ref": "Somebody"}]}
    user: Template = {"Type": "AWS::IAM::User", "Properties": {}}
    bounded = {**user, "Properties": {"PermissionsBoundary": "arn:aws:iam::123456789012:policy/boundary"}}
    denied = policy(allow("ssm:StartSession"), {**allow("ssm:*"), "Effect": "Deny"})
    denied["Properties"] |= {"Roles": [], "Users": [{"Ref": "Somebody"}]}
    for given, somebody, count in ((shell, user, 1), (shell, bounded, 0), (denied, user, 0)):
        found = findings({"Resources": {"Shell": given, "Somebody": somebody}})
        assert [one.rule for one in found].count("HP-ROL-008") == count


DATA, SCRIPTS = {"Fn::Sub": "${Data.Arn}/*"}, {"Fn::Sub": "${Scripts.Arn}/*"}
ONE_BUCKET = {"Fn::Sub": "${Scripts.Arn}/data/*"}
UPLOADED = {"Type": "Custom::Files", "Properties": {"ServiceToken": "arn:aws:lambda:a:1:function:b", "Bucket": {"Ref": "Scripts"}}}


@pytest.mark.parametrize("place", [{"Fn::Sub": "s3://${Scripts}/config"}, {"Fn::GetAtt": ["Files", "Uri"]}])
@pytest.mark.parametrize(
    ("statements", "place_of_mistake"),
    [
        ([allow("s3:PutObject", [DATA, SCRIPTS])], 0),
        ([allow("s3:GetObject", SCRIPTS), allow("s3:*", DATA), allow("s3:Put*", SCRIPTS)], 2),
        ([allow("s3:PutObject", DATA)], None),
        ([allow("s3:PutObject", SCRIPTS)], None),
        ([allow("s3:PutObject", [DATA, ONE_BUCKET])], None),
        ([allow("s3:PutObject", DATA), allow("s3:PutObject", SCRIPTS, Condition={"Bool": {"aws:ViaAWSService": "true"}})], None),
        ([allow("s3:GetObject", [DATA, SCRIPTS])], None),
        ([allow("*")], None),
    ],
)
def test_pods_do_not_replace_the_scripts_of_nodes(place: Any, statements: list[Template], place_of_mistake: int | None) -> None:
    own = [{"PolicyName": "own", "PolicyDocument": {"Version": "2012-10-17", "Statement": statements}}]
    trust = {"Statement": [allow(["sts:AssumeRole", "sts:TagSession"], Principal={"Service": "pods.eks.amazonaws.com"})]}
    group = {"InstanceGroupName": "a", "LifeCycleConfig": {"SourceS3Uri": place, "OnCreate": "a.sh"}}
    resources = {
        **{name: {"Type": "AWS::S3::Bucket"} for name in ("Data", "Scripts")},
        "Files": UPLOADED,
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust, "Policies": own}},
        "Trainer": {"Type": "AWS::EKS::PodIdentityAssociation", "Properties": {"RoleArn": ROLE_ARN}},
        "Nodes": {"Type": "AWS::SageMaker::Cluster", "DependsOn": "Files", "Properties": {"InstanceGroups": [group]}},
    }
    found = [one for one in findings({"Resources": resources}) if one.rule == "HP-ROL-008"]
    expected = [] if place_of_mistake is None else [f"Properties/Policies/0/PolicyDocument/Statement/{place_of_mistake}"]
    assert [one.path for one in found] == expected
    assert all("Trainer may replace the scripts that run as root on the nodes of Nodes" in one.message for one in found)


@pytest.mark.parametrize(("actions", "rules"), [(["iam:PutRolePolicy"], []), (["iam:*"], ["HP-ROL-007"])])
def test_a_function_may_change_roles_and_not_all_of_iam(actions: list[str], rules: list[str]) -> None:
    template = slurm()
    template["Resources"]["Code"] = {"Type": "AWS::Lambda::Function", "Properties": {"Role": {"Fn::GetAtt": ["Coder", "Arn"]}}}
    trusted = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    document = {"Version": "2012-10-17", "Statement": [trusted]}
    template["Resources"]["Coder"] = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": document}}
    template["Resources"]["Wide"] = policy(allow(actions), role="Coder")
    assert [found.rule for found in iam_findings(template)] == rules


def test_roles_are_not_judged_in_templates_without_a_cluster() -> None:
    template: Template = {"Resources": {"P": policy(allow("iam:PassRole")), "Role": slurm()["Resources"]["Role"]}}
    assert iam_findings(template) == []


def rules_of(stack: Stack) -> set[str]:
    return {found.rule for found in iam_findings(synthesize(stack))}


def stack_of_parts() -> Stack:
    return Stack(App(context={"hyperpod:rules": False}), "Stack")


def test_reachable_by_a_role_of_your_own() -> None:
    stack = stack_of_parts()
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    late_policy = iam.Policy(stack, "Late", roles=[role])
    late_policy.add_statements(iam.PolicyStatement(actions=["iam:PassRole"], resources=["*"]))
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER], execution_role=role, lifecycle_scripts=LifecycleScripts.none())
    assert rules_of(stack) == {"HP-ROL-001", "HP-ROL-005", "HP-ROL-006"}


def test_reachable_by_the_l1() -> None:
    stack = stack_of_parts()
    cluster = HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER])
    role = cluster.execution_role
    cluster.resource.add_property_override("InstanceGroups.0.ExecutionRole", role.role_name)
    cluster.resource.add_property_override("ClusterRole", role.role_arn)
    assert rules_of(stack) == {"HP-ROL-001"}
    assert [found.rule for found in findings(synthesize(stack), rules="HP-REF")] == ["HP-REF-012"]
