"""The permissions that roles need, feature by feature."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from hyperpod_constructs import (
    ClusterInstanceType,
    ClusterNetwork,
    EbsVolume,
    HyperPodCluster,
    InstanceGroup,
    LifecycleScripts,
    LustreMount,
    LustreStorage,
    SlurmNodeType,
)
from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.rules.finding import Finding, Level
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.raw import raw_template
from tests.conftest import synthesize
from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import KEPT, eks, findings, slurm
from tests.rules.catalogue.test_addons import ALONE, WITH_OPERATOR
from tests.rules.catalogue.test_roles import allow, autoscaled, policy, properties

Template = dict[str, Any]
BASE = ["logs:*", "ssmmessages:*", "cloudwatch:PutMetricData"]
KEY = {
    **KEPT,
    "Type": "AWS::KMS::Key",
    "Properties": {"KeyPolicy": {"Statement": [allow("kms:*", Principal={"AWS": "arn:aws:iam::123456789012:root"})]}},
}


def iam_findings(*templates: Template) -> list[Finding]:
    return findings(*templates, rules="HP-PERM")


def the_one(*templates: Template) -> Finding:
    (found,) = iam_findings(*templates)
    return found


def statements(template: Template) -> list[Template]:
    found: list[Template] = properties(template, "Role")["Policies"][0]["PolicyDocument"]["Statement"]
    return found


def without(template: Template, *actions: str) -> Template:
    """The template with the role without some actions; the given one stays, because other tests share it."""
    template = edited(template, {})
    for statement in statements(template):
        listed = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        statement["Action"] = [action for action in listed if action not in actions] or ["none:None"]
    return template


OWN = "arn:${AWS::Partition}:ec2:${AWS::Region}:${AWS::AccountId}"


def detaching(*resources: str) -> Template:
    """The role detaches interfaces on these resources only."""
    template = without(slurm(), "ec2:DetachNetworkInterface")
    return granted(template, allow("ec2:DetachNetworkInterface", [{"Fn::Sub": resource} for resource in resources]))


def own_bucket(template: Template, name: str = "my-scripts") -> Template:
    """Scripts in a bucket whose name the managed policy does not cover."""
    properties(template, "Scripts")["BucketName"] = name
    return template


def with_key(template: Template) -> Template:
    """Scripts in a bucket with a key of its own."""
    template["Resources"]["Key"] = KEY
    default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": {"Fn::GetAtt": ["Key", "Arn"]}}
    properties(template, "Scripts")["BucketEncryption"] = {
        "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": default}]
    }
    return template


def with_volume_key(template: Template) -> Template:
    template["Resources"]["Key"] = KEY
    group = properties(template, "Cluster")["InstanceGroups"][2]
    group["InstanceStorageConfigs"][0]["EbsVolumeConfig"]["VolumeKmsKeyId"] = {"Ref": "Key"}
    return template


def with_alarms(template: Template) -> Template:
    """An update in batches that alarms roll back."""
    deployment = {
        "RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1}},
        "WaitIntervalInSeconds": 60,
        "AutoRollbackConfiguration": [{"AlarmName": "errors"}],
    }
    group = properties(template, "Cluster")["InstanceGroups"][1]
    group["ScheduledUpdateConfig"] = {"ScheduleExpression": "cron(0 3 ? * SUN *)", "DeploymentConfig": deployment}
    return template


def alarmed(*resources: str) -> Template:
    """The role looks at these alarms only, and the alarm of an update is called errors."""
    template = without(with_alarms(eks()), "cloudwatch:DescribeAlarms")
    return granted(template, allow("cloudwatch:DescribeAlarms", list(resources)))


def with_accounting(template: Template) -> Template:
    template["Resources"]["Secret"] = {"Type": "AWS::SecretsManager::Secret", "Properties": {}}
    database = {"Endpoint": "db.example.com", "SecretArn": {"Ref": "Secret"}}
    properties(template, "Cluster")["Orchestrator"]["Slurm"]["AccountingDatabase"] = database
    return template


def of_bucket(*statements: Template) -> Template:
    """Scripts in a bucket that only its own policy can let the nodes read."""
    template = without(own_bucket(slurm()), *ALL_SCRIPTS)
    document = {"Bucket": {"Ref": "Scripts"}, "PolicyDocument": {"Statement": list(statements)}}
    template["Resources"]["Access"] = {"Type": "AWS::S3::BucketPolicy", "Properties": document}
    return template


def of_secret(*statements: Template, secret: Any = None) -> Template:
    """A password that only the policy of its secret can let the controller read."""
    template = with_accounting(slurm())
    document = {"SecretId": {"Ref": "Secret"} if secret is None else secret, "ResourcePolicy": {"Statement": list(statements)}}
    template["Resources"]["Access"] = {"Type": "AWS::SecretsManager::ResourcePolicy", "Properties": document}
    return template


def by_attachment(template: Template) -> Template:
    """The secret of accounting, named by its attachment to a database."""
    attachment = {"SecretId": {"Ref": "Secret"}, "TargetId": "db", "TargetType": "AWS::RDS::DBInstance"}
    template["Resources"]["Attachment"] = {"Type": "AWS::SecretsManager::SecretTargetAttachment", "Properties": attachment}
    properties(template, "Cluster")["Orchestrator"]["Slurm"]["AccountingDatabase"]["SecretArn"] = {"Ref": "Attachment"}
    return template


def with_parameter(template: Template) -> Template:
    template["Parameters"] = {"Outside": {"Type": "String"}}
    return template


def with_efa(template: Template) -> Template:
    file_system = properties(template, "FileSystem")
    file_system["StorageCapacity"] = 19200
    file_system["LustreConfiguration"]["EfaEnabled"] = True
    return template


def with_plan(template: Template, resource: Any) -> Template:
    group = properties(template, "Cluster")["InstanceGroups"][2]
    group["TrainingPlanArn"] = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan"
    template["Resources"]["Pipeline"] = {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {"Statement": []},
            "Policies": [{"PolicyName": "p", "PolicyDocument": {"Statement": [allow("sagemaker:CreateCluster", resource)]}}],
        },
    }
    return template


def granted(template: Template, *more: Template) -> Template:
    statements(template).extend(more)
    return template


def without_managed_policy(template: Template, *more: Template) -> Template:
    del properties(template, "Role")["ManagedPolicyArns"]
    return granted(template, *more)


def slow_scaling() -> Template:
    template = autoscaled()
    scaler = properties(template, "Scaler")["Policies"][0]["PolicyDocument"]["Statement"][0]
    scaler["Action"].remove("sagemaker:BatchDeleteClusterNodes")
    return template


ALL_SCRIPTS = ("s3:GetObject", "s3:ListBucket")
CLUSTERS = "arn:aws:sagemaker:*:*:cluster/*"
MISTAKES: dict[str, tuple[Callable[[], Template], str, Level, str]] = {
    "another bucket": (
        lambda: without(own_bucket(slurm()), *ALL_SCRIPTS),
        "HP-PERM-001",
        Level.ERROR,
        "missing s3:GetObject on arn:aws:s3:::${Scripts}/lifecycle/*, s3:ListBucket on",
    ),
    "no list": (lambda: without(own_bucket(slurm()), "s3:ListBucket"), "HP-PERM-001", Level.ERROR, "missing s3:ListBucket on"),
    "no describe": (lambda: without(slurm(), "ec2:DescribeSubnets"), "HP-PERM-001", Level.ERROR, "missing ec2:DescribeSubnets"),
    "no interfaces on eks": (
        lambda: without(eks(), "ec2:CreateNetworkInterfacePermission"),
        "HP-PERM-001",
        Level.ERROR,
        "missing ec2:CreateNetworkInterfacePermission",
    ),
    "no secret": (
        lambda: with_accounting(slurm()),
        "HP-PERM-001",
        Level.ERROR,
        "the role of group 'controller' of Cluster may not read the password of the accounting database",
    ),
    "no key of the bucket": (
        lambda: with_key(slurm()),
        "HP-PERM-001",
        Level.ERROR,
        "may not decrypt what it reads: missing kms:Decrypt",
    ),
    "no key of the volumes": (lambda: with_volume_key(slurm()), "HP-PERM-001", Level.ERROR, "kms:CreateGrant, kms:DescribeKey"),
    "an encryption context with the key of the volumes": (
        lambda: granted(
            with_volume_key(slurm()),
            allow(["kms:CreateGrant", "kms:DescribeKey"], OWN_KEY, Condition={"StringLike": {"kms:EncryptionContext:a": "*"}}),
        ),
        "HP-PERM-001",
        Level.ERROR,
        "kms:CreateGrant, kms:DescribeKey",
    ),
    "no look at alarms": (
        lambda: without(with_alarms(eks()), "cloudwatch:DescribeAlarms"),
        "HP-PERM-002",
        Level.WARNING,
        "cloudwatch:DescribeAlarms",
    ),
    "no look at the alarm of an update": (
        lambda: alarmed("arn:aws:cloudwatch:*:*:alarm:others-*"),
        "HP-PERM-002",
        Level.WARNING,
        "missing cloudwatch:DescribeAlarms on arn:aws:cloudwatch:",
    ),
    "no removal": (
        lambda: without(slurm(), "ec2:DetachNetworkInterface"),
        "HP-PERM-002",
        Level.WARNING,
        "ec2:DetachNetworkInterface",
    ),
    "no detaching from the instances of the service": (
        lambda: detaching(f"{OWN}:network-interface/*", f"{OWN}:instance/*"),
        "HP-PERM-002",
        Level.WARNING,
        "missing ec2:DetachNetworkInterface on instances of other accounts",
    ),
    "no detaching from the instances of the service, by the name of the account": (
        lambda: detaching("arn:aws:ec2:*:123456789012:*"),
        "HP-PERM-002",
        Level.WARNING,
        "missing ec2:DetachNetworkInterface on instances of other accounts",
    ),
    "no pod addresses": (lambda: without(eks(), "ec2:DescribeTags"), "HP-PERM-002", Level.WARNING, "missing ec2:DescribeTags"),
    "no images": (lambda: without(eks(), "ecr:BatchGetImage"), "HP-PERM-002", Level.WARNING, "missing ecr:BatchGetImage"),
    "no credentials": (
        lambda: without(WITH_OPERATOR, "eks-auth:AssumeRoleForPodIdentity"),
        "HP-PERM-002",
        Level.WARNING,
        "missing eks-auth:AssumeRoleForPodIdentity",
    ),
    "no credentials for an identity inside an add-on": (
        lambda: without(edited(WITH_OPERATOR, ALONE), "eks-auth:AssumeRoleForPodIdentity"),
        "HP-PERM-002",
        Level.WARNING,
        "missing eks-auth:AssumeRoleForPodIdentity",
    ),
    "no check of EFA": (
        lambda: without(with_efa(slurm()), "fsx:DescribeFileSystems"),
        "HP-PERM-002",
        Level.WARNING,
        "missing fsx:DescribeFileSystems",
    ),
    "no logs": (lambda: without_managed_policy(slurm()), "HP-PERM-002", Level.WARNING, "missing logs:CreateLogGroup"),
    "no plan": (lambda: with_plan(slurm(), CLUSTERS), "HP-PERM-003", Level.WARNING, "training-plan/plan"),
    "no scaling": (slow_scaling, "HP-PERM-002", Level.WARNING, "missing sagemaker:BatchDeleteClusterNodes"),
}
SECRET = {"Ref": "Secret"}
NODES = {"AWS": {"Fn::GetAtt": ["Role", "Arn"]}}
ACCOUNT = {"AWS": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:root"}}
PARAMETER = {"AWS": {"Ref": "Outside"}}
BUCKET = {"Fn::GetAtt": ["Scripts", "Arn"]}
OBJECTS = {"Fn::Sub": "${Scripts.Arn}/*"}
READ = ["s3:GetObject*", "s3:List*"]
PASSWORD = "secretsmanager:GetSecretValue"
OWN_KEY: dict[str, Any] = {"Fn::GetAtt": ["Key", "Arn"]}
ADMITTING = {
    **KEY,
    "Properties": {"KeyPolicy": {"Statement": [allow("kms:*", Principal={"AWS": {"Fn::GetAtt": ["Role", "Arn"]}})]}},
}


GRANTED: dict[str, Callable[[], Template]] = {
    "to the role": lambda: of_bucket(allow(READ, [BUCKET, OBJECTS], Principal=NODES)),
    "to the role, object by object": lambda: of_bucket(
        allow("s3:ListBucket", BUCKET, Principal=NODES),
        allow("s3:GetObject", {"Fn::Sub": "arn:aws:s3:::${Scripts}/lifecycle/*"}, Principal=NODES),
    ),
    "to everybody of an organization": lambda: of_bucket(
        allow(READ, [BUCKET, OBJECTS], Principal="*", Condition={"StringEquals": {"aws:PrincipalOrgID": "o-1234567890"}})
    ),
    "to a role that is not known": lambda: with_parameter(of_bucket(allow(READ, [BUCKET, OBJECTS], Principal=PARAMETER))),
    "to all but somebody": lambda: of_bucket(allow(READ, [BUCKET, OBJECTS], NotPrincipal=ACCOUNT)),
    "the secret, to the role": lambda: of_secret(allow(PASSWORD, Principal=NODES)),
    "the secret, by its attachment": lambda: by_attachment(of_secret(allow(PASSWORD, Principal=NODES, Resource={"Ref": "Secret"}))),
    "the secret, by a name": lambda: of_secret(allow(PASSWORD, Principal=NODES), secret="database"),
    "the secret, to a role that is not known": lambda: with_parameter(of_secret(allow(PASSWORD, Principal=PARAMETER))),
}
REFUSED: dict[str, tuple[Callable[[], Template], str]] = {
    "to the account": (lambda: of_bucket(allow(READ, [BUCKET, OBJECTS], Principal=ACCOUNT)), "s3:GetObject on"),
    "to another role": (
        lambda: of_bucket(allow(READ, [BUCKET, OBJECTS], Principal={"AWS": {"Fn::GetAtt": ["Other", "Arn"]}})),
        "s3:GetObject on",
    ),
    "to a service": (lambda: of_bucket(allow("s3:*", OBJECTS, Principal={"Service": "fsx.amazonaws.com"})), "s3:GetObject on"),
    "the objects only": (lambda: of_bucket(allow(READ, OBJECTS, Principal=NODES)), "missing s3:ListBucket on"),
    "what the role's own policy denies": (
        lambda: granted(
            of_bucket(allow(READ, [BUCKET, OBJECTS], Principal=NODES)),
            {"Effect": "Deny", "Action": "s3:GetObject", "Resource": "*"},
        ),
        "its policies deny s3:GetObject on",
    ),
    "another secret": (lambda: of_secret(allow(PASSWORD, Principal=NODES), secret={"Ref": "Elsewhere"}), f"missing {PASSWORD}"),
    "another action on the secret": (
        lambda: of_secret(allow("secretsmanager:DescribeSecret", Principal=NODES)),
        f"missing {PASSWORD}",
    ),
}


@pytest.mark.parametrize("case", GRANTED)
def test_the_policy_of_a_bucket_or_secret_is_enough(case: str) -> None:
    assert iam_findings(GRANTED[case]()) == []


@pytest.mark.parametrize("case", REFUSED)
def test_the_policy_of_a_bucket_or_secret_must_grant_it_to_the_role(case: str) -> None:
    make, text = REFUSED[case]
    template = make()
    template["Resources"]["Other"] = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {"Statement": []}}}
    template["Resources"]["Elsewhere"] = {"Type": "AWS::SecretsManager::Secret", "Properties": {}}
    found = the_one(template)
    assert found.rule == "HP-PERM-001"
    assert text in found.message


def test_a_role_can_be_known_by_its_name() -> None:
    statement = allow(READ, [BUCKET, OBJECTS], Principal={"AWS": "arn:aws:iam::123456789012:role/nodes"})
    for name, rules in (("nodes", []), ("others", ["HP-PERM-001"])):
        template = of_bucket(statement)
        properties(template, "Role")["RoleName"] = name
        assert [found.rule for found in iam_findings(template)] == rules


def with_admitting_key() -> Template:
    template = with_key(slurm())
    template["Resources"]["Key"] = ADMITTING
    return template


def with_unknown_policy() -> Template:
    template = without(eks(), "ec2:DescribeTags", "ecr:BatchGetImage", "ec2:DescribeSubnets")
    properties(template, "Role")["ManagedPolicyArns"].append("arn:aws:iam::aws:policy/SomethingElse")
    return template


def with_policy_for_images(name: str) -> Template:
    """Images are pulled by a managed policy alone; the actions on single layers are for those who push."""
    actions = ("BatchCheckLayerAvailability", "BatchGetImage", "GetAuthorizationToken", "GetDownloadUrlForLayer")
    template = without(eks(), *(f"ecr:{action}" for action in actions))
    properties(template, "Role")["ManagedPolicyArns"].append(f"arn:aws:iam::aws:policy/{name}")
    return template


def with_role_of_the_cni() -> Template:
    template = without(eks(), "ec2:DescribeTags")
    properties(template, "Cni")["ServiceAccountRoleArn"] = {"Fn::GetAtt": ["ControlRole", "Arn"]}
    return template


def with_service_account(name: str) -> Template:
    template = without(eks(), "ec2:DescribeTags")
    template["Resources"]["Identity"] = {
        "Type": "AWS::EKS::PodIdentityAssociation",
        "Properties": {
            "ClusterName": {"Ref": "Control"},
            "Namespace": "kube-system",
            "ServiceAccount": name,
            "RoleArn": "arn:aws:iam::123456789012:role/pods",
        },
    }
    return template


CORRECT: dict[str, Callable[[], Template]] = {
    "another bucket": lambda: own_bucket(slurm()),
    "a look at alarms": lambda: with_alarms(eks()),
    "a look at the alarm of an update": lambda: alarmed("arn:aws:cloudwatch:*:*:alarm:err*"),
    "bucket by prefix of the managed policy": lambda: without(slurm(), *ALL_SCRIPTS),
    "secret": lambda: granted(with_accounting(slurm()), allow("secretsmanager:GetSecretValue", SECRET)),
    "key of the bucket": lambda: granted(with_key(slurm()), allow("kms:Decrypt", OWN_KEY)),
    "key that admits the role": with_admitting_key,
    "key of the volumes": lambda: granted(with_volume_key(slurm()), allow(["kms:CreateGrant", "kms:DescribeKey"], OWN_KEY)),
    "detaching from everything": lambda: detaching("*"),
    "detaching from the instances of any account": lambda: detaching(
        f"{OWN}:network-interface/*", "arn:aws:ec2:${AWS::Region}:*:instance/*"
    ),
    "detaching from what a parameter says": lambda: with_parameter(detaching("${Outside}:*")),
    "EFA": lambda: with_efa(slurm()),
    "no EFA": lambda: without(slurm(), "fsx:DescribeFileSystems"),
    "own logs": lambda: without_managed_policy(slurm(), allow(BASE)),
    "plan": lambda: with_plan(slurm(), [CLUSTERS, "arn:aws:sagemaker:*:*:training-plan/*"]),
    "a managed policy that nobody here knows": with_unknown_policy,
    "images without asking for layers": lambda: without(eks(), "ecr:BatchCheckLayerAvailability"),
    "the policy that only pulls": lambda: with_policy_for_images("AmazonEC2ContainerRegistryPullOnly"),
    "the policy that reads registries": lambda: with_policy_for_images("AmazonEC2ContainerRegistryReadOnly"),
    "a role of the CNI": with_role_of_the_cni,
    "a role of the CNI's service account": lambda: with_service_account("aws-node"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_each_mistake_is_one_finding(case: str) -> None:
    make, rule, level, text = MISTAKES[case]
    found = the_one(make())
    assert (found.rule, found.level) == (rule, level)
    assert text in found.message


@pytest.mark.parametrize("case", CORRECT)
def test_correct_ones_have_none(case: str) -> None:
    assert iam_findings(CORRECT[case]()) == []


def test_a_composite_alarm_takes_the_permission_on_all() -> None:
    template = alarmed("arn:aws:cloudwatch:*:*:alarm:err*")
    template["Resources"]["Errors"] = {"Type": "AWS::CloudWatch::CompositeAlarm", "Properties": {"AlarmName": "errors"}}
    deployment = properties(template, "Cluster")["InstanceGroups"][1]["ScheduledUpdateConfig"]["DeploymentConfig"]
    deployment["AutoRollbackConfiguration"] = [{"AlarmName": {"Ref": "Errors"}}]
    found = the_one(template)
    assert "missing cloudwatch:DescribeAlarms" in found.message
    assert "alarm:" not in found.message


def test_the_policy_that_only_pulls_is_known() -> None:
    template = without(with_policy_for_images("AmazonEC2ContainerRegistryPullOnly"), "ec2:DescribeTags")
    assert the_one(template).rule == "HP-PERM-002"


def test_another_service_account_gives_the_cni_nothing() -> None:
    assert the_one(with_service_account("driver")).rule == "HP-PERM-002"


@pytest.mark.parametrize(("subnet", "rules"), [("PublicSubnet", ["HP-PERM-001"]), ("NodeSubnet", [])])
def test_interfaces_are_needed_in_the_subnet_of_the_cluster(subnet: str, rules: list[str]) -> None:
    arns = [f"subnet/${{{subnet}}}", "network-interface/*", "security-group/*"]
    allowed = allow(
        "ec2:CreateNetworkInterface", [{"Fn::Sub": f"arn:aws:ec2:${{AWS::Region}}:${{AWS::AccountId}}:{arn}"} for arn in arns]
    )
    template = granted(without(slurm(), "ec2:CreateNetworkInterface"), allowed)
    environment = Environment(region="us-west-2", account="123456789012")
    model = Model([Document(name="t", body=raw_template(template), environment=environment)])
    assert [found.rule for found in check(model) if found.rule.startswith("HP-PERM")] == rules


@pytest.mark.parametrize(("shared", "places"), [(["Role", "Second"], ["Role"]), (["Role"], ["Role", "Second"])])
def test_what_a_common_policy_lacks_is_one_mistake(shared: list[str], places: list[str]) -> None:
    template = without(slurm(), "ec2:CreateNetworkInterface")
    template["Resources"]["Second"] = deepcopy(template["Resources"]["Role"])
    template["Resources"]["Common"] = policy(allow("logs:DescribeLogStreams"))
    properties(template, "Common")["Roles"] = [{"Ref": role} for role in shared]
    properties(template, "Cluster")["InstanceGroups"][1]["ExecutionRole"] = {"Fn::GetAtt": ["Second", "Arn"]}
    template["Resources"]["Cluster"]["DependsOn"] = "Common"
    found = [one for one in iam_findings(template) if one.rule == "HP-PERM-001"]
    assert [one.resource for one in found] == places
    assert "'controller'" in " ".join(one.message for one in found)


@pytest.mark.parametrize(
    ("more", "places"),
    [("ec2:DeleteNetworkInterface", ["Role"]), ("ec2:DescribeVpcs", ["Role", "Second"])],
    ids=["there", "elsewhere"],
)
def test_a_role_that_lacks_more_on_the_same_resources_is_the_same_mistake(more: str, places: list[str]) -> None:
    template = without(slurm(), "ec2:CreateNetworkInterface")
    template["Resources"]["Second"] = without(deepcopy(template), more)["Resources"]["Role"]
    template["Resources"]["Common"] = policy(allow("logs:DescribeLogStreams"))
    properties(template, "Common")["Roles"] = [{"Ref": "Role"}, {"Ref": "Second"}]
    properties(template, "Cluster")["InstanceGroups"][1]["ExecutionRole"] = {"Fn::GetAtt": ["Second", "Arn"]}
    template["Resources"]["Cluster"]["DependsOn"] = "Common"
    found = [one for one in iam_findings(template) if one.rule == "HP-PERM-001"]
    assert [one.resource for one in found] == places
    assert more in " ".join(one.message for one in found)


def test_a_policy_that_denies_counts() -> None:
    template = granted(slurm(), {"Effect": "Deny", "Action": "ec2:Describe*", "Resource": "*"})
    assert the_one(template).rule == "HP-PERM-001"


def test_a_common_policy_that_denies_is_one_mistake_at_the_policy() -> None:
    template = slurm()
    template["Resources"]["Second"] = deepcopy(template["Resources"]["Role"])
    denial = {"Effect": "Deny", "NotAction": "sts:*", "Resource": "*"}
    outside = {**denial, "Condition": {"StringNotEquals": {"aws:RequestedRegion": "eu-west-1"}}}
    template["Resources"]["Common"] = policy(outside)
    properties(template, "Common")["Roles"] = [{"Ref": "Role"}, {"Ref": "Second"}]
    properties(template, "Cluster")["InstanceGroups"][1]["ExecutionRole"] = {"Fn::GetAtt": ["Second", "Arn"]}
    template["Resources"]["Cluster"]["DependsOn"] = "Common"
    environment = Environment(region="us-west-2", account="123456789012")
    model = Model([Document(name="t", body=raw_template(template), environment=environment)])
    assert [one.resource for one in check(model) if one.rule == "HP-PERM-001"] == ["Common"]


@pytest.mark.parametrize("effect", ["Allow", "Deny"])
def test_the_policy_of_a_repository_may_deny_what_a_role_pulls(effect: str) -> None:
    pull = ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
    own = allow(pull, {"Fn::GetAtt": ["Images", "Arn"]})
    template = granted(slurm(), own, allow("ecr:GetAuthorizationToken"))
    document = {"Version": "2012-10-17", "Statement": [{"Effect": effect, "Principal": "*", "Action": pull}]}
    template["Resources"]["Images"] = {"Type": "AWS::ECR::Repository", **KEPT, "Properties": {"RepositoryPolicyText": document}}
    assert [one.resource for one in iam_findings(template)] == (["Images"] if effect == "Deny" else [])


def test_separate_policies_count() -> None:
    template = without(slurm(), "ec2:DescribeSubnets")
    template["Resources"]["More"] = policy(allow("ec2:DescribeSubnets"))
    template["Resources"]["Cluster"]["DependsOn"] = "More"
    assert iam_findings(template) == []


def found_in(stack: Stack) -> list[Finding]:
    return iam_findings(synthesize(stack))


def test_reachable_by_a_role_that_takes_no_permissions() -> None:
    stack = Stack(App(context={"hyperpod:rules": False}), "Stack")
    key = kms.Key(stack, "Key")
    bucket = s3.Bucket(stack, "Scripts", encryption=s3.BucketEncryption.KMS, encryption_key=kms.Key(stack, "BucketKey"))
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")
    lustre = LustreStorage(
        stack, "Lustre", network=network, efa_enabled=True, storage_capacity_gib=19200, per_unit_storage_throughput=250
    )
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    controller = InstanceGroup(
        name="controller",
        node_type=SlurmNodeType.CONTROLLER,
        instance_type=ClusterInstanceType.P5_48XLARGE,
        count=1,
        ebs_volumes=(EbsVolume(size_gb=500, kms_key=key),),
        file_systems=(LustreMount(file_system=lustre),),
    )
    HyperPodCluster(
        stack,
        "Cluster",
        network=network,
        instance_groups=[controller],
        execution_role=role.without_policy_updates(),
        lifecycle_scripts=LifecycleScripts.from_bucket(bucket, "lifecycle"),
    )
    (found,) = found_in(stack)
    assert found.rule == "HP-PERM-001"
    for words in ("read the lifecycle scripts", "make interfaces", "decrypt what it reads", "key of the volumes", "has EFA"):
        assert words in found.message


def test_the_constructs_give_what_each_feature_needs(stack: Stack) -> None:
    key = kms.Key(stack, "Key")
    bucket = s3.Bucket(stack, "Scripts", encryption=s3.BucketEncryption.KMS, encryption_key=kms.Key(stack, "BucketKey"))
    network = ClusterNetwork.from_attributes(
        vpc=ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-west-2a"]),
        node_subnet=ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-1"),
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1"),
    )
    controller = InstanceGroup(
        name="controller",
        node_type=SlurmNodeType.CONTROLLER,
        instance_type=ClusterInstanceType.M5_XLARGE,
        count=1,
        ebs_volumes=(EbsVolume(size_gb=500, kms_key=key),),
    )
    HyperPodCluster(
        stack,
        "Cluster",
        network=network,
        instance_groups=[controller],
        lifecycle_scripts=LifecycleScripts.from_bucket(bucket, "lifecycle"),
    )
    assert found_in(stack) == []


@pytest.mark.parametrize(("name", "expected"), [("*", []), ("errors", []), ("err*", []), ("other", ["HP-PERM-002"])])
def test_alarms_of_updates_are_looked_up_by_name(name: str, expected: list[str]) -> None:
    template = without(with_alarms(eks()), "cloudwatch:DescribeAlarms")
    arn = {"Fn::Sub": f"arn:${{AWS::Partition}}:cloudwatch:${{AWS::Region}}:${{AWS::AccountId}}:alarm:{name}"}
    statement = {"Effect": "Allow", "Action": "cloudwatch:DescribeAlarms", "Resource": arn}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    properties(template, "Role")["Policies"].append({"PolicyName": "alarms", "PolicyDocument": document})
    assert [one.rule for one in findings(template) if one.rule.startswith("HP-PERM")] == expected


@pytest.mark.parametrize(
    ("action", "found"),
    [
        ("sqs:SendMessage", ["HP-PERM-001", "HP-POL-002"]),
        ("ec2:CreateNetworkInterface", ["HP-PERM-001"]),
        ("ec3:CreateNetworkInterface", ["HP-PERM-001"]),
    ],
)
def test_a_refused_call_silences_the_policies_that_may_be_meant_for_it_alone(action: str, found: list[str]) -> None:
    idle = {"Version": "2012-10-17", "Statement": [allow(action, "arn:aws:s3:::data")]}
    extra = {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": idle, "Roles": [{"Ref": "Role"}]}}
    template = edited(slurm(), {"Extra": extra})
    del statements(template)[0]
    assert sorted({one.rule for one in findings(template, rules="HP-P")}) == found
