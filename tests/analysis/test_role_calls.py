"""Calls of services as the roles of resources: which calls there are, and on what."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.iam import role_facts
from hyperpod_constructs.analysis.needs import refused
from hyperpod_constructs.analysis.role_calls import called
from hyperpod_constructs.templates.values import shown
from tests.templates.models import model_of

Calls = set[tuple[str, tuple[str, ...], object]]


def calls(resources: str, policies: str = "[]") -> Calls:
    """The resources that call, what they do, and on what."""
    model = model_of(f"""{{Resources: {{
      Role: {{Type: AWS::IAM::Role, Properties: {{Policies: {policies}}}}},
      Other: {{Type: AWS::IAM::Role}}, Bucket: {{Type: AWS::S3::Bucket}}, {resources}}}}}""")
    return {(one.role.logical_id, one.task.actions, shown(one.arn)) for one in called(model)}


POLICY_ON_ALL = "[{PolicyDocument: {Statement: [{Effect: Allow, Action: 'sagemaker:AddTags', Resource: '*'}]}}]"


def actions(found: Calls) -> set[str]:
    return {name for _, names, _ in found for name in names}


PIPELINE = """Pipeline: {{Type: AWS::CodePipeline::Pipeline, Properties: {{RoleArn: !GetAtt Role.Arn, Stages: [{{Name: s, Actions: [
  {{Name: b, ActionTypeId: {{Provider: CodeBuild}}, Configuration: {{ProjectName: images}} {}}}]}}]}}}}"""


def test_an_action_with_a_role_of_its_own_is_not_done_as_the_role_of_the_pipeline() -> None:
    assert "codebuild:StartBuild" in actions(calls(PIPELINE.format("")))
    assert actions(calls(PIPELINE.format(", RoleArn: !GetAtt Other.Arn"))) == {"sts:AssumeRole"}


BUILDS = """Project: {{Type: AWS::CodeBuild::Project, Properties: {{ServiceRole: !GetAtt Role.Arn}}}},
  Pipeline: {{Type: AWS::CodePipeline::Pipeline, Properties: {{ArtifactStore: {{Location: !Ref Bucket}}, Stages: [{{Actions: [
    {{Name: b, ActionTypeId: {{Provider: CodeBuild}}, Configuration: {{ProjectName: !Ref Project}}, {}}}]}}]}}}}"""


@pytest.mark.parametrize(
    ("outputs", "writes"), [("OutputArtifacts: [{Name: image}]", True), ("OutputArtifacts: []", False), ("RunOrder: 1", False)]
)
def test_a_build_writes_artifacts_where_it_has_some(outputs: str, writes: bool) -> None:
    found = actions(calls(BUILDS.format(outputs)))
    assert ("s3:GetObject" in found, "s3:PutObject" in found) == (True, writes)


@pytest.mark.parametrize(("outputs", "writes"), [("OutputArtifacts: [{Name: image}]", True), ("OutputArtifacts: []", False)])
def test_a_build_uses_its_key_where_it_has_artifacts(outputs: str, writes: bool) -> None:
    keyed = "EncryptionKey: !GetAtt Key.Arn, Artifacts: {Type: CODEPIPELINE}, ServiceRole"
    resources = BUILDS.format(outputs).replace("ServiceRole", keyed, 1)
    assert ("kms:GenerateDataKey" in actions(calls(f"{resources}, Key: {{Type: AWS::KMS::Key}}"))) is writes


TRAIL = """{Resources: {Lines: {Type: AWS::Logs::LogGroup}, Others: {Type: AWS::Logs::LogGroup},
  Role: {Type: AWS::IAM::Role, Properties: {Policies: [{PolicyDocument: {Statement: [
    {Effect: Allow, Action: 'logs:*', Resource: <policy>}]}}]}},
  Trail: {Type: AWS::CloudTrail::Trail, Properties: {
    CloudWatchLogsRoleArn: !GetAtt Role.Arn, CloudWatchLogsLogGroupArn: <group>}}}}"""


HERE = "arn:aws:logs:${AWS::Region}:${AWS::AccountId}:log-group:"


@pytest.mark.parametrize("group", ["!GetAtt Lines.Arn", f"!Sub '{HERE}${{Lines}}:*'"])
@pytest.mark.parametrize(
    ("policy", "refused"),
    [
        ("!GetAtt Lines.Arn", False),
        (f"!Sub '{HERE}${{Lines}}:log-stream:*'", False),
        ("!GetAtt Others.Arn", True),
        (f"!Sub '{HERE}${{Others}}:log-stream:*'", True),
    ],
)
def test_a_trail_writes_streams_of_its_group(group: str, policy: str, refused: bool) -> None:
    (call,) = called(model_of(TRAIL.replace("<group>", group).replace("<policy>", policy)))
    assert call.task.actions == ("logs:CreateLogStream", "logs:PutLogEvents")
    assert (role_facts(call.role).may("logs:PutLogEvents", call.arn) is False) is refused


SERVER = """Server: {{Type: AWS::SageMaker::MlflowTrackingServer, Properties: {{RoleArn: !GetAtt Role.Arn,
  AutomaticModelRegistration: {}}}}}"""


@pytest.mark.parametrize("registers", ["true", "false"])
def test_a_server_of_experiments_registers_models_where_it_is_told_to(registers: str) -> None:
    found = actions(calls(SERVER.format(registers), POLICY_ON_ALL))
    assert ("sagemaker:CreateModelPackage" in found) is (registers == "true")


BOARDS = "Boards: {{Type: AWS::Grafana::Workspace, Properties: {{RoleArn: !GetAtt Role.Arn, {}}}}}"


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ("DataSources: [XRAY]", {"xray:GetTraceSummaries", "xray:BatchGetTraces"}),
        ("NotificationDestinations: [SNS]", {"sns:Publish"}),
        ("DataSources: [TIMESTREAM]", set()),
    ],
)
def test_boards_read_their_sources_and_send_alerts(properties: str, expected: set[str]) -> None:
    assert actions(calls(BOARDS.format(properties), POLICY_ON_ALL)) == expected


FUNCTION = """Function: {Type: AWS::Lambda::Function, Properties: {Role: !GetAtt Role.Arn, KmsKeyArn: !GetAtt Key.Arn,
  Environment: {Variables: {AA: b}}, VpcConfig: {SubnetIds: [subnet-0123456789abcdef0]}}},
  Key: {Type: AWS::KMS::Key, Properties: {}}"""


def test_only_descriptions_of_interfaces_are_on_everything() -> None:
    assert calls(FUNCTION) == {
        ("Role", ("ec2:DescribeNetworkInterfaces",), "*"),
        ("Role", ("ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface"), "${?}"),
        ("Role", ("logs:CreateLogStream", "logs:PutLogEvents"), "${?}"),
    }


TASK = """Task: {{Type: AWS::ECS::TaskDefinition, Properties: {{ExecutionRoleArn: !GetAtt Role.Arn, {}
  ContainerDefinitions: [{{Name: a, Image: '123456789012.dkr.ecr.us-west-2.amazonaws.com/images:1',
    LogConfiguration: {{LogDriver: awslogs, Options: {{awslogs-group: lines}}}},
    Secrets: [{{Name: P, ValueFrom: 'arn:aws:secretsmanager:us-west-2:123456789012:secret:login-abcdef:password::'}}]}}]}}}}"""


@pytest.mark.parametrize(
    ("compatible", "expected"),
    [
        ("RequiresCompatibilities: [FARGATE],", True),
        ("RequiresCompatibilities: [EC2, FARGATE],", True),
        ("RequiresCompatibilities: [EC2],", False),
        ("", False),
    ],
)
def test_images_and_lines_take_the_execution_role_without_instances_of_your_own(compatible: str, expected: bool) -> None:
    found = actions(calls(TASK.format(compatible)))
    assert ("ecr:BatchGetImage" in found, "logs:PutLogEvents" in found) == (expected, expected)
    assert "secretsmanager:GetSecretValue" in found


BACKUP = """Selection: {Type: AWS::Backup::BackupSelection, Properties: {BackupSelection: {
  IamRoleArn: !GetAtt Role.Arn, Resources: ['arn:aws:dynamodb:us-west-2:123456789012:table/runs', !GetAtt Files.Arn]}}},
  Files: {Type: AWS::EFS::FileSystem}"""
OWN = "[{PolicyName: p, PolicyDocument: {Statement: [{Effect: Allow, Action: 'dynamodb:CreateBackup', Resource: '*'}]}}]"


def test_one_of_several_actions_is_enough() -> None:
    table = "arn:aws:dynamodb:us-west-2:123456789012:table/runs"
    assert ("Role", ("dynamodb:StartAwsBackupJob",), table) in calls(BACKUP)
    assert ("Role", ("dynamodb:CreateBackup",), table) in calls(BACKUP, OWN)


def test_each_target_has_the_calls_of_its_service() -> None:
    found = calls(BACKUP)
    assert ("Role", ("elasticfilesystem:Backup",), "${Files.Arn}") in found
    assert len(found) == 2


BY_TAG = """Selection: {Type: AWS::Backup::BackupSelection, Properties: {BackupSelection: {
  IamRoleArn: !GetAtt Role.Arn, ListOfTags: [{ConditionType: STRINGEQUALS, ConditionKey: a, ConditionValue: b}]}}}"""


def test_a_role_that_backs_up_by_tags_may_back_something_up() -> None:
    assert len(calls(BY_TAG)) == 1
    assert actions(calls(BY_TAG, OWN)) <= {"dynamodb:CreateBackup"}


COPIED = """Data: {{Type: AWS::S3::Bucket, Properties: {{ReplicationConfiguration: {{Role: !GetAtt Role.Arn,
  Rules: [{{Status: Enabled, Destination: {{Bucket: 'arn:aws:s3:::copies'{}}}}}]}}}}}}"""


def test_copies_with_a_new_owner_are_given_to_it() -> None:
    owned = ", Account: '123456789012', AccessControlTranslation: {Owner: Destination}"
    assert "s3:ObjectOwnerOverrideToBucketOwner" in actions(calls(COPIED.format(owned)))
    assert "s3:ObjectOwnerOverrideToBucketOwner" not in actions(calls(COPIED.format("")))


SNAPSHOTS = """Policy: {{Type: AWS::DLM::LifecyclePolicy, Properties: {{ExecutionRoleArn: !GetAtt Role.Arn,
  PolicyDetails: {{PolicyType: EBS_SNAPSHOT_MANAGEMENT, ResourceTypes: [{}]}}}}}}"""


def test_snapshots_of_instances_are_another_call_than_those_of_volumes() -> None:
    assert actions(calls(SNAPSHOTS.format("VOLUME"))) == {"ec2:CreateSnapshot", "ec2:DescribeVolumes"}
    assert calls(SNAPSHOTS.format("INSTANCE")) == set()


def test_roles_go_with_targets_in_the_same_items() -> None:
    rule = """Rule: {Type: AWS::Events::Rule, Properties: {Targets: [
      {Id: a, Arn: !GetAtt Queue.Arn, RoleArn: !GetAtt Role.Arn}, {Id: b, Arn: !Ref Topic, RoleArn: !GetAtt Other.Arn}]}},
      Queue: {Type: AWS::SQS::Queue}, Topic: {Type: AWS::SNS::Topic}"""
    assert calls(rule) == {("Role", ("sqs:SendMessage",), "${Queue.Arn}"), ("Other", ("sns:Publish",), "${Topic}")}


def test_a_form_takes_the_property_beside_the_target() -> None:
    table = "{RoleARN: !GetAtt Role.Arn, DatabaseName: lake, TableName: events}"
    stream = f"""Stream: {{Type: AWS::KinesisFirehose::DeliveryStream, Properties: {{ExtendedS3DestinationConfiguration: {{
      DataFormatConversionConfiguration: {{Enabled: true, SchemaConfiguration: {table}}}}}}}}}"""
    wanted = ("glue:GetTable", "glue:GetTableVersion", "glue:GetTableVersions")
    assert ("Role", wanted, "arn:aws:glue:${?}:${?}:table/lake/events") in calls(stream)
    assert ("Role", wanted, "arn:aws:glue:${?}:${?}:table/${?}/events") in calls(stream.replace("DatabaseName: lake, ", ""))


def test_an_object_is_the_only_one_at_its_place() -> None:
    job = """Job: {Type: AWS::Glue::Job, Properties: {Role: !GetAtt Role.Arn,
      Command: {ScriptLocation: !Sub 's3://${Bucket}/a.py'}, DefaultArguments: {--TempDir: !Sub 's3://${Bucket}/b'}}}"""
    assert calls(job) == {
        ("Role", ("s3:GetObject",), "arn:aws:s3:::${Bucket}/a.py"),
        ("Role", ("s3:GetObject", "s3:PutObject"), "arn:aws:s3:::${Bucket}/b/${?}"),
    }


@pytest.mark.parametrize(("location", "known"), [("!Sub '${Bucket}/a.zip'", True), ("!Sub '${Bucket.Arn}/a.zip'", False)])
def test_a_name_goes_into_a_form_and_an_arn_does_not(location: str, known: bool) -> None:
    build = f"Build: {{Type: AWS::CodeBuild::Project, Properties: {{ServiceRole: !GetAtt Role.Arn, LogsConfig: {{}}, Source: \
      {{Type: S3, Location: {location}}}}}}}".replace("\\\n", "")
    assert (("Role", ("s3:GetObject",), "arn:aws:s3:::${Bucket}/a.zip") in calls(build)) is known


@pytest.mark.parametrize("way", ["TaskRoleArn", "ExecutionRoleArn"])
def test_a_role_is_handed_to_the_service_that_takes_it(way: str) -> None:
    rule = f"""Task: {{Type: AWS::ECS::TaskDefinition, Properties: {{{way}: !GetAtt Other.Arn}}}},
      Rule: {{Type: AWS::Events::Rule, Properties: {{Targets: [{{RoleArn: !GetAtt Role.Arn,
        EcsParameters: {{TaskDefinitionArn: !Ref Task}}}}]}}}}"""
    model = model_of(f"{{Resources: {{Role: {{Type: AWS::IAM::Role}}, Other: {{Type: AWS::IAM::Role}}, {rule}}}}}")
    handed = [one.task.context for one in called(model) if one.task.actions == ("iam:PassRole",)]
    assert handed == [{"iam:passedtoservice": "ecs-tasks.amazonaws.com"}]


INTEGRATION = """Asks: {{Type: AWS::ApiGatewayV2::Integration, Properties: {{
  CredentialsArn: !GetAtt Role.Arn, IntegrationSubtype: {},
  RequestParameters: {{QueueUrl: 'https://sqs.us-west-2.amazonaws.com/123456789012/jobs'}}}}}}"""


@pytest.mark.parametrize("action", ["SendMessage", "ReceiveMessage"])
def test_an_integration_does_what_its_subtype_says(action: str) -> None:
    queue = "arn:aws:sqs:us-west-2:123456789012:jobs"
    assert calls(INTEGRATION.format(f"SQS-{action}")) == {("Role", (f"sqs:{action}",), queue)}


@pytest.mark.parametrize(("owner", "takes"), [("{Owner: Destination}", True), ("!Ref AWS::NoValue", False)])
def test_copies_that_change_their_owner_take_a_permission_for_it(owner: str, takes: bool) -> None:
    copies = f"""Source: {{Type: AWS::S3::Bucket, Properties: {{ReplicationConfiguration: {{Role: !GetAtt Role.Arn, Rules: [
      {{Destination: {{Bucket: !GetAtt Bucket.Arn, AccessControlTranslation: {owner}}}}}]}}}}}}"""
    assert ("s3:ObjectOwnerOverrideToBucketOwner" in actions(calls(copies))) is takes


MODEL = """Model: {{Type: AWS::SageMaker::Model, Properties: {{ExecutionRoleArn: !GetAtt Role.Arn, PrimaryContainer: {{
  Image: !Sub "763104351884.dkr.ecr.{}.amazonaws.com/serving:1"}}}}}}"""


@pytest.mark.parametrize(("region", "there"), [("${AWS::Region}", "${?}"), ("us-east-1", "us-east-1")])
def test_an_image_of_the_region_is_pulled_from_its_repository(region: str, there: str) -> None:
    found = {arn for _, names, arn in calls(MODEL.format(region)) if "ecr:BatchGetImage" in names}
    assert found == {f"arn:aws:ecr:{there}:763104351884:repository/serving"}
    assert "ecr:GetAuthorizationToken" in actions(calls(MODEL.format(region)))


@pytest.mark.parametrize("registers", [True, False])
def test_a_tracking_server_that_registers_models_makes_packages(registers: bool) -> None:
    server = "Server: {{Type: AWS::SageMaker::MlflowTrackingServer, Properties: {{RoleArn: !GetAtt Role.Arn, {}: {}}}}}"
    found = actions(calls(server.format("AutomaticModelRegistration", str(registers).lower())))
    assert ("sagemaker:CreateModelPackage" in found) is registers


COPY = """Copy: {{Type: 'Custom::CDKBucketDeployment', Properties: {{ServiceToken: !GetAtt Copier.Arn,
  DestinationBucketName: !Ref Bucket}}}}, Copier: {{Type: AWS::Lambda::Function, Properties: {{Role: !GetAtt Role.Arn{}}}}},
  Handler: {{Type: AWS::Lambda::Function}}"""


def test_functions_of_the_cdk_write_files_and_call_handlers() -> None:
    found = calls(COPY.format(""))
    assert ("Role", ("s3:PutObject",), "arn:aws:s3:::${Bucket}/${?}") in found
    handed = calls(COPY.format(", Environment: {Variables: {USER_ON_EVENT_FUNCTION_ARN: !GetAtt Handler.Arn}}"))
    assert ("Role", ("lambda:InvokeFunction",), "${Handler.Arn}") in handed - found


@pytest.mark.parametrize(
    ("sources", "read"),
    [
        ("[!Ref Bucket]", {"arn:aws:s3:::${Bucket}/${?}"}),
        ("[assets, !Ref Bucket]", {"arn:aws:s3:::assets/${?}", "arn:aws:s3:::${Bucket}/${?}"}),
        ("[]", set()),
        ("!Ref Elsewhere", set()),
    ],
)
def test_functions_of_the_cdk_read_the_archives_that_they_copy(sources: str, read: set[str]) -> None:
    found = calls(COPY.format("").replace("DestinationBucketName", f"SourceBucketNames: {sources}, DestinationBucketName"))
    assert {arn for _, names, arn in found if "s3:GetObject" in names} == read


IN_VPC = """{{Resources: {{
  Role: {{Type: AWS::IAM::Role, Properties: {{Policies: [{{PolicyDocument: {{Statement: [
    {{Effect: Allow, Action: 'ec2:*', Resource: '*'{}}}]}}}}]}}}},
  Project: {{Type: AWS::CodeBuild::Project, Properties: {{ServiceRole: !GetAtt Role.Arn, VpcConfig: {{VpcId: vpc-1}},
    LogsConfig: {{}}}}}}}}}}"""


@pytest.mark.parametrize(
    ("service", "may"), [("codebuild.amazonaws.com", True), ("codebuild.*", True), ("lambda.amazonaws.com", False), ("*", True)]
)
def test_an_interface_is_for_the_service_that_has_the_role(service: str, may: bool) -> None:
    limits = f", Condition: {{StringLike: {{'ec2:AuthorizedService': '{service}'}}}}"
    found = refused(model_of(IN_VPC.format(limits)))
    assert ("ec2:CreateNetworkInterfacePermission" in {one.refusal.call.action for one in found}) is not may
