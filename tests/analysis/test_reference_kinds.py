"""References that give another kind of thing than their property takes."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.references.kinds import wrong_kinds
from tests.templates.models import model_of

THINGS = """
    Secret: {Type: AWS::SecretsManager::Secret}, Documents: {Type: AWS::DocDB::DBCluster},
    Attached: {Type: AWS::SecretsManager::SecretTargetAttachment}, Vpc: {Type: AWS::EC2::VPC},
    DocumentSubnets: {Type: AWS::DocDB::DBSubnetGroup}, GraphSubnets: {Type: AWS::Neptune::DBSubnetGroup},
    Subnets: {Type: AWS::RDS::DBSubnetGroup}, Subnet: {Type: AWS::EC2::Subnet}, Group: {Type: AWS::EC2::SecurityGroup},
    Llm: {Type: AWS::SageMaker::Model}, Config: {Type: AWS::SageMaker::EndpointConfig},
    Template: {Type: AWS::EC2::LaunchTemplate}, Bucket: {Type: AWS::S3::Bucket},
    Role: {Type: AWS::IAM::Role}, Vault: {Type: AWS::Backup::BackupVault}, Relay: {Type: AWS::Lambda::Function},
    Topic: {Type: AWS::SNS::Topic},
    Code: {Type: AWS::SageMaker::CodeRepository}, Machines: {Type: AWS::AutoScaling::AutoScalingGroup},
    Address: {Type: AWS::Lambda::Url},
    Database: {Type: AWS::RDS::DBInstance}, Scraper: {Type: AWS::APS::Scraper},
    Nodes: {Type: AWS::SageMaker::Cluster},
    Chat: {Type: AWS::SageMaker::Endpoint}, Setup: {Type: AWS::SageMaker::NotebookInstanceLifecycleConfig},"""
GROUP_OF_PROVIDER = "AutoScalingGroupProvider: {AutoScalingGroupArn: !%s}"


@pytest.mark.parametrize(
    ("kind", "name", "right", "wrong"),
    [
        ("AWS::SecretsManager::ResourcePolicy", "SecretId", ("Secret", "Attached"), "Documents"),
        ("AWS::SecretsManager::RotationSchedule", "SecretId", ("Secret", "Attached"), "Documents"),
        ("AWS::SecretsManager::RotationSchedule", "SecretId", ("Database.MasterUserSecret.SecretArn",), "Role.Arn"),
        ("AWS::Lambda::Permission", "FunctionName", ("Address.FunctionArn",), "Nodes.ClusterArn"),
        ("AWS::Lambda::Function", "Role", ("Scraper.RoleArn",), "Address.FunctionArn"),
        ("AWS::EKS::Cluster", "KeyArn", ("Vault.EncryptionKeyArn",), "Scraper.RoleArn"),
        ("AWS::SecretsManager::SecretTargetAttachment", "TargetId", ("Documents",), "Secret"),
        ("AWS::DocDB::DBCluster", "DBSubnetGroupName", ("DocumentSubnets",), "Subnets"),
        ("AWS::Neptune::DBCluster", "DBSubnetGroupName", ("GraphSubnets",), "Subnets"),
        ("AWS::RDS::DBCluster", "DBSubnetGroupName", ("Subnets",), "DocumentSubnets"),
        ("AWS::EC2::Subnet", "VpcId", ("Vpc",), "Subnets"),
        ("AWS::Lambda::Url", "TargetFunctionArn", ("Relay", "Relay.Arn"), "Topic"),
        ("AWS::Logs::SubscriptionFilter", "DestinationArn", ("Relay.Arn",), "Topic"),
        ("AWS::Logs::SubscriptionFilter", "DestinationArn", ("Relay.Arn",), "Relay"),
        ("AWS::EC2::VPCEndpoint", "SubnetIds", ("Subnet.SubnetId",), "Group.GroupId"),
        ("AWS::EC2::VPCEndpoint", "VpcId", ("Vpc.VpcId",), "Vpc.DefaultSecurityGroup"),
        ("AWS::SageMaker::Endpoint", "EndpointConfigName", ("Config.EndpointConfigName",), "Llm.ModelName"),
        ("AWS::SageMaker::InferenceComponent", "EndpointName", ("Chat.EndpointName",), "Config.EndpointConfigName"),
        (
            "AWS::SageMaker::NotebookInstance",
            "LifecycleConfigName",
            ("Setup.NotebookInstanceLifecycleConfigName",),
            "Setup",
        ),
        (
            "AWS::SageMaker::NotebookInstance",
            "DefaultCodeRepository",
            ("Code.CodeRepositoryName",),
            "Setup.NotebookInstanceLifecycleConfigName",
        ),
    ],
)
def test_a_property_takes_some_kinds(kind: str, name: str, right: tuple[str, ...], wrong: str) -> None:
    def found(target: str) -> list[str]:
        given = "!GetAtt" if "." in target else "!Ref"
        model = model_of(f"{{Resources: {{{THINGS} User: {{Type: {kind}, Properties: {{{name}: {given} {target}}}}}}}}}")
        return [" ".join(map(str, one.path)) for one in wrong_kinds(model)]

    assert [found(one) for one in right] == [[] for _ in right]
    assert found(wrong) == [name]


@pytest.mark.parametrize(
    ("kind", "place", "right", "wrong"),
    [
        ("AWS::ECS::CapacityProvider", GROUP_OF_PROVIDER, "Ref Machines", "GetAtt Machines.LaunchConfigurationName"),
        ("AWS::ECS::CapacityProvider", GROUP_OF_PROVIDER, "GetAtt Machines.AutoScalingGroupARN", "Ref Group"),
        ("AWS::EKS::Nodegroup", "LaunchTemplate: {Id: !%s}", "Ref Template", "GetAtt Template.LatestVersionNumber"),
        ("AWS::EKS::Nodegroup", "LaunchTemplate: {Version: !%s}", "GetAtt Template.LatestVersionNumber", "Ref Template"),
        ("AWS::EC2::Instance", "LaunchTemplate: {LaunchTemplateId: !%s}", "Ref Template", "GetAtt Template.LatestVersionNumber"),
        ("AWS::SSM::Document", "Content: {assumeRole: !%s}", "GetAtt Role.Arn", "Ref Role"),
        ("AWS::SSM::Document", "Content: {mainSteps: [{inputs: {TopicArn: !%s}}]}", "Ref Topic", "GetAtt Topic.TopicName"),
        ("AWS::SSM::Document", "Content: {inputs: {s3BucketName: !%s}}", "Ref Bucket", "GetAtt Bucket.Arn"),
    ],
)
def test_a_place_inside_a_property_takes_some_kinds(kind: str, place: str, right: str, wrong: str) -> None:
    def found(target: str) -> int:
        user = f"User: {{Type: {kind}, Properties: {{{place % target}}}}}"
        return len(wrong_kinds(model_of(f"{{Resources: {{{THINGS} {user}}}}}")))

    assert (found(right), found(wrong)) == (0, 1)


def test_no_reference_gives_the_name_of_a_launch_template() -> None:
    user = "User: {Type: AWS::EKS::Nodegroup, Properties: {LaunchTemplate: {Name: !Ref Template}}}"
    (found,) = wrong_kinds(model_of(f"{{Resources: {{{THINGS} {user}}}}}"))
    assert found.path == ("LaunchTemplate", "Name")
    assert found.allowed.endswith("no reference gives")


def test_what_is_wrong_in_one_text_is_said_at_once() -> None:
    text = """'{"a": {"arn": "${Space.PrometheusEndpoint}", "url": "${Space.Arn}"}}'"""
    user = (
        f"Space: {{Type: AWS::APS::Workspace}}, User: {{Type: AWS::EKS::Addon, Properties: {{ConfigurationValues: !Sub {text}}}}}"
    )
    (found,) = wrong_kinds(model_of(f"{{Resources: {{{user}}}}}"))
    assert "which is an ARN; arn in" in found.message


@pytest.mark.parametrize(
    ("kind", "properties", "wrong"),
    [
        ("AWS::SageMaker::MlflowTrackingServer", "ArtifactStoreUri: !Sub 's3://${Bucket}/mlflow'", False),
        ("AWS::SageMaker::MlflowTrackingServer", "ArtifactStoreUri: !Sub 's3://${Bucket.Arn}/mlflow'", True),
        ("AWS::IAM::ManagedPolicy", "PolicyDocument: {Statement: [{Resource: !Sub 'arn:aws:s3:::${Bucket.Arn}/*'}]}", True),
        ("AWS::IAM::ManagedPolicy", "PolicyDocument: {Statement: [{Resource: !Sub '${Bucket.Arn}/*'}]}", False),
        ("AWS::SageMaker::Model", "PrimaryContainer: {Image: !Sub '${Images.RepositoryUri}:3'}", False),
        ("AWS::SageMaker::Model", "PrimaryContainer: {Image: !Sub '${Images.Arn}:3'}", True),
        ("AWS::SageMaker::Model", "PrimaryContainer: {Image: !Ref Bucket}", True),
    ],
)
def test_texts_have_names_where_an_arn_is_none(kind: str, properties: str, wrong: bool) -> None:
    things = "Bucket: {Type: AWS::S3::Bucket}, Images: {Type: AWS::ECR::Repository},"
    model = model_of(f"{{Resources: {{{things} User: {{Type: {kind}, Properties: {{{properties}}}}}}}}}")
    assert bool(wrong_kinds(model)) is wrong


def test_an_arn_in_several_addresses_is_one_mistake() -> None:
    user = "{Type: AWS::SageMaker::MlflowTrackingServer, Properties: {ArtifactStoreUri: !Sub 's3://${Bucket.Arn}/a'}}"
    (found,) = wrong_kinds(model_of(f"{{Resources: {{Bucket: {{Type: AWS::S3::Bucket}}, One: {user}, Other: {user}}}}}"))
    assert found.message.endswith("the same in Other")
    assert [one.logical_id for one in found.covers] == ["Other"]


def test_names_in_free_data_are_not_those_of_properties() -> None:
    """`EndpointName` of a pattern is a field of the event, and not that of an endpoint of EventBridge."""
    pattern = "{source: [aws.sagemaker], detail: {EndpointName: [!GetAtt Chat.EndpointName]}}"
    things = "Chat: {Type: AWS::SageMaker::Endpoint, Properties: {EndpointConfigName: chat}},"
    model = model_of(f"{{Resources: {{{things} User: {{Type: AWS::Events::Rule, Properties: {{EventPattern: {pattern}}}}}}}}}")
    assert wrong_kinds(model) == ()


@pytest.mark.parametrize(
    ("parameter", "value", "wrong"),
    [
        ("BucketName", "!Ref Storage", True),
        ("Topic", "!Ref Storage", True),
        ("StorageStack", "!Ref Storage", False),
        ("BucketName", "!GetAtt Storage.Outputs.BucketName", False),
        ("BucketName", "!Ref AWS::StackName", False),
    ],
)
def test_a_nested_stack_takes_outputs_of_another(parameter: str, value: str, wrong: bool) -> None:
    storage = "Storage: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: https://a.s3.amazonaws.com/a.yaml}}"
    user = f"User: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: a, Parameters: {{{parameter}: {value}}}}}}}"
    assert bool(wrong_kinds(model_of(f"{{Resources: {{{storage}, {user}}}}}"))) is wrong


@pytest.mark.parametrize(
    ("kind", "properties", "message"),
    [
        ("AWS::IAM::Role", "PermissionsBoundary: limits", "PermissionsBoundary is 'limits', which is no ARN"),
        ("AWS::IAM::Role", "PermissionsBoundary: !Sub 'limits-${Vpc}'", "PermissionsBoundary is 'limits-${Vpc}', which is no ARN"),
        ("AWS::IAM::Role", "PermissionsBoundary: !Sub '${Vpc}-limits'", None),
        ("AWS::IAM::Role", "PermissionsBoundary: !Sub 'arn:${AWS::Partition}:iam::aws:policy/Limits'", None),
        ("AWS::IAM::Role", "PermissionsBoundary: '{{resolve:ssm:/limits}}'", None),
        ("AWS::RDS::EventSubscription", "SourceIds: [data]", None),
        ("AWS::RDS::EventSubscription", "SourceIds: ['arn:aws:rds:eu-west-1:111122223333:db:a']", "SourceIds is"),
        ("AWS::RDS::EventSubscription", "SourceIds: [!GetAtt Data.DBClusterArn]", "SourceIds is DBClusterArn of Data"),
        ("AWS::RDS::EventSubscription", "SourceIds: [!Ref Data]", None),
        ("AWS::RDS::DBInstance", "DBClusterIdentifier: !GetAtt Data.DBClusterArn", "DBClusterIdentifier is DBClusterArn of Data"),
        ("AWS::RDS::DBInstance", "DBClusterIdentifier: 'arn:aws:rds:eu-west-1:111122223333:cluster:a'", "DBClusterIdentifier is"),
        ("AWS::RDS::DBInstance", "DBClusterIdentifier: !Ref Data", None),
        ("AWS::RDS::DBInstance", "SourceDBInstanceIdentifier: 'arn:aws:rds:eu-west-1:111122223333:db:a'", None),
        ("AWS::EC2::Instance", "SubnetId: 'arn:aws:ec2:eu-west-1:111122223333:subnet/a'", "SubnetId is"),
        (
            "AWS::Backup::BackupPlan",
            "BackupPlan: {BackupPlanRule: [{TargetBackupVault: 'arn:aws:backup:a'}]}",
            "TargetBackupVault is",
        ),
        ("AWS::Lambda::Permission", "FunctionName: 'arn:aws:lambda:eu-west-1:111122223333:function:a'", None),
        ("AWS::EFS::MountTarget", "FileSystemId: 'arn:aws:elasticfilesystem:eu-west-1:111122223333:file-system/fs-1'", None),
    ],
)
def test_texts_are_arns_where_arns_are_taken_and_nowhere_else(kind: str, properties: str, message: str | None) -> None:
    things = "Vpc: {Type: AWS::EC2::VPC}, Data: {Type: AWS::RDS::DBCluster},"
    found = wrong_kinds(model_of(f"{{Resources: {{{things} User: {{Type: {kind}, Properties: {{{properties}}}}}}}}}"))
    assert [one.message.startswith(message or "?") for one in found] == ([] if message is None else [True])


NAMED = """
    Plan: {Type: AWS::Backup::BackupPlan, Properties: {BackupPlan: {BackupPlanName: homes, BackupPlanRule: []}}},
    Studio: {Type: AWS::SageMaker::Domain, Properties: {DomainName: homes}},
    Net: {Type: AWS::EC2::VPC, Properties: {Tags: [{Key: Team, Value: homes}, {Key: Name, Value: main}]}},
    Password: {Type: AWS::SecretsManager::Secret, Properties: {Name: homes}},
    Cache: {Type: AWS::ElastiCache::ReplicationGroup, Properties: {ReplicationGroupId: homes}},"""


@pytest.mark.parametrize(
    ("kind", "key", "text", "named"),
    [
        ("AWS::Backup::BackupSelection", "BackupPlanId", "homes", "Plan"),
        ("AWS::Backup::BackupSelection", "BackupPlanId", "8f81f553-3a74-4a3f-b93d-b3360dc80c50", ""),
        ("AWS::SageMaker::UserProfile", "DomainId", "homes", "Studio"),
        ("AWS::EC2::Subnet", "VpcId", "main", "Net"),
        ("AWS::EC2::Subnet", "VpcId", "homes", ""),
        ("AWS::SecretsManager::ResourcePolicy", "SecretId", "homes", ""),
        ("AWS::ElastiCache::Snapshot", "ReplicationGroupId", "homes", ""),
    ],
)
def test_a_name_is_no_id(kind: str, key: str, text: str, named: str) -> None:
    model = model_of(f"{{Resources: {{{NAMED} A: {{Type: '{kind}', Properties: {{{key}: '{text}'}}}}}}}}")
    found = [one.message for one in wrong_kinds(model)]
    assert found == ([f"{key} is {text!r}, the name of {named}, and not its id"] if named else [])
