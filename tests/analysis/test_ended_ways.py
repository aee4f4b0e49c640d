"""Ways beside those of HyperPod's nodes: which surely end, and at what."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.ended_ways import ended_ways
from tests.templates.models import model_of

NETWORK = """
    Vpc: {Type: AWS::EC2::VPC, Properties: {CidrBlock: 10.0.0.0/16, EnableDnsHostnames: true}},
    Subnet: {Type: AWS::EC2::Subnet, Properties: {VpcId: !Ref Vpc, CidrBlock: 10.0.1.0/24}},
    Table: {Type: AWS::EC2::RouteTable, Properties: {VpcId: !Ref Vpc}},
    Joined: {Type: AWS::EC2::SubnetRouteTableAssociation, Properties: {SubnetId: !Ref Subnet, RouteTableId: !Ref Table}},
    Outer: {Type: AWS::EC2::Subnet, Properties: {VpcId: !Ref Vpc, CidrBlock: 10.0.2.0/24}},
    OuterTable: {Type: AWS::EC2::RouteTable, Properties: {VpcId: !Ref Vpc}},
    OuterJoined: {Type: AWS::EC2::SubnetRouteTableAssociation, Properties: {SubnetId: !Ref Outer, RouteTableId: !Ref OuterTable}},
    Gateway: {Type: AWS::EC2::InternetGateway},
    Attached: {Type: AWS::EC2::VPCGatewayAttachment, Properties: {VpcId: !Ref Vpc, InternetGatewayId: !Ref Gateway}},
    Open: {Type: AWS::EC2::SecurityGroup, Properties: {GroupDescription: open, VpcId: !Ref Vpc,
      SecurityGroupIngress: [{IpProtocol: '-1', CidrIp: 10.0.0.0/16}],
      SecurityGroupEgress: [{IpProtocol: '-1', CidrIp: 0.0.0.0/0}]}},
    Shut: {Type: AWS::EC2::SecurityGroup, Properties: {GroupDescription: shut, VpcId: !Ref Vpc,
      SecurityGroupIngress: [{IpProtocol: tcp, FromPort: 22, ToPort: 22, CidrIp: 10.0.0.0/16}],
      SecurityGroupEgress: [{IpProtocol: tcp, FromPort: 443, ToPort: 443, CidrIp: 0.0.0.0/0}]}},"""
PUBLIC = """Public: {Type: AWS::EC2::Route, Properties: {
  RouteTableId: !Ref OuterTable, DestinationCidrBlock: 0.0.0.0/0, GatewayId: !Ref Gateway}},"""
OUT = (
    "Out: {Type: AWS::EC2::Route, Properties: {RouteTableId: !Ref Table, DestinationCidrBlock: 0.0.0.0/0, NatGatewayId: !Ref Nat}},"
)


def ended(*resources: str) -> list[tuple[str, str, str]]:
    """The users, what they do not reach, and where the way ends."""
    model = model_of(f"{{Resources: {{{NETWORK} {' '.join(resources)}}}}}")
    found = []
    for one in ended_ways(model):
        assert one.way.end is not None
        found.append((one.user.logical_id, one.target, one.way.end.resource.logical_id))
    return found


def nat(more: str = "") -> str:
    return f"Nat: {{Type: AWS::EC2::NatGateway, Properties: {{SubnetId: !Ref Outer, {more}}}}},"


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ((nat(), PUBLIC, OUT), []),
        ((nat(), OUT), [("Nat", "the internet", "Nat")]),
        ((nat("ConnectivityType: private"), PUBLIC, OUT), [("Nat", "the internet", "Nat")]),
        ((nat(),), []),
    ],
)
def test_a_nat_gateway_that_is_used_leads_to_the_internet(resources: tuple[str, ...], expected: list[tuple[str, str, str]]) -> None:
    assert ended(*resources) == expected


def nodes(kind: str, subnet: str, more: str = "") -> str:
    return f"Users: {{Type: AWS::EKS::{kind}, Properties: {{Subnets: [!Ref {subnet}], {more}}}}},"


TEMPLATE = "Template: {Type: AWS::EC2::LaunchTemplate, Properties: {LaunchTemplateData: {NetworkInterfaces: [{DeviceIndex: 0}]}}},"
WITH_TEMPLATE = "LaunchTemplate: {Id: !Ref Template}"


def test_nodes_without_a_way_out_do_not_reach_what_they_start_with() -> None:
    found = ended(nodes("Nodegroup", "Subnet"))
    assert {user for user, _, _ in found} == {"Users"}
    assert {"ecr.api", "s3"} < {target for _, target, _ in found}
    assert ended(nodes("Nodegroup", "Subnet"), nat(), PUBLIC, OUT) == []


def test_pods_on_fargate_take_their_images() -> None:
    assert sorted(target for _, target, _ in ended(nodes("FargateProfile", "Subnet"))) == ["ecr.api", "ecr.dkr", "s3"]


def test_nodes_in_a_public_subnet_need_public_addresses() -> None:
    assert {user for user, _, _ in ended(nodes("Nodegroup", "Outer"), PUBLIC)} == {"Users"}
    assert ended(nodes("Nodegroup", "Outer", WITH_TEMPLATE), TEMPLATE, PUBLIC) == []
    assert {user for user, _, _ in ended(nodes("FargateProfile", "Outer", WITH_TEMPLATE), TEMPLATE, PUBLIC)} == {"Users"}
    mapped = NETWORK.replace("CidrBlock: 10.0.2.0/24", "CidrBlock: 10.0.2.0/24, MapPublicIpOnLaunch: true")
    model = model_of(f"{{Resources: {{{mapped} {nodes('Nodegroup', 'Outer')} {PUBLIC}}}}}")
    assert ended_ways(model) == ()


RESOLVER = """
    Endpoint: {{Type: AWS::Route53Resolver::ResolverEndpoint, Properties: {{
      Direction: {direction}, SecurityGroupIds: [!Ref {group}], IpAddresses: [{{SubnetId: !Ref Subnet}}]}}}},
    Rule: {{Type: AWS::Route53Resolver::ResolverRule, Properties: {{RuleType: FORWARD, DomainName: a.example,
      ResolverEndpointId: !Ref Endpoint, TargetIps: [{{Ip: {ip}{more}}}]}}}},"""
HOME = """Home: {Type: AWS::EC2::Route, Properties: {
  RouteTableId: !Ref Table, DestinationCidrBlock: 192.168.0.0/16, TransitGatewayId: tgw-1}},"""


def resolver(ip: str, group: str = "Open", direction: str = "OUTBOUND", more: str = "") -> str:
    return RESOLVER.format(ip=ip, group=group, direction=direction, more=more)


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ((resolver("192.168.1.2"), HOME), []),
        ((resolver("192.168.1.2"),), [("Endpoint", "192.168.1.2", "Table")]),
        ((resolver("192.168.1.2"), nat(), PUBLIC, OUT), [("Endpoint", "192.168.1.2", "Table")]),
        ((resolver("192.168.1.2"), nat(), PUBLIC, OUT, HOME), []),
        ((resolver("10.0.2.2"),), []),
        ((resolver("9.9.9.9"), nat(), PUBLIC, OUT), []),
        ((resolver("192.168.1.2", group="Shut"), HOME), [("Endpoint", "192.168.1.2", "Shut")]),
        ((resolver("192.168.1.2", more=", Port: 443"), HOME), []),
        ((resolver("192.168.1.2", group="Shut", more=", Protocol: DoH, Port: 443"), HOME), []),
        ((resolver("192.168.1.2", direction="INBOUND"),), []),
        ((resolver("not-known"),), []),
    ],
)
def test_a_resolver_reaches_the_servers_of_its_rules(resources: tuple[str, ...], expected: list[tuple[str, str, str]]) -> None:
    assert ended(*resources) == expected


COPY = """
    Files: {{Type: AWS::EFS::FileSystem}},
    Target: {{Type: AWS::EFS::MountTarget, Properties: {{
      FileSystemId: !Ref Files, SubnetId: !Ref Subnet, SecurityGroups: [!Ref {target}]}}}},
    Location: {{Type: AWS::DataSync::LocationEFS, Properties: {{EfsFilesystemArn: !GetAtt Files.Arn, Ec2Config: {{
      SubnetArn: !Sub 'arn:aws:ec2:us-west-2:123456789012:subnet/${{Subnet}}',
      SecurityGroupArns: [!Sub 'arn:aws:ec2:us-west-2:123456789012:security-group/${{{source}}}'{more}]}}}}}},"""


@pytest.mark.parametrize(
    ("target", "source", "more", "expected"),
    [
        ("Open", "Open", "", []),
        ("Shut", "Open", "", [("Location", "Target", "Shut")]),
        ("Open", "Shut", "", [("Location", "Target", "Shut")]),
        ("Open", "Shut", ", 'arn:aws:ec2:us-west-2:123456789012:security-group/sg-0123456789abcdef0'", []),
    ],
)
def test_copies_reach_their_file_system(target: str, source: str, more: str, expected: list[tuple[str, str, str]]) -> None:
    assert ended(COPY.format(target=target, source=source, more=more)) == expected


BUCKET = "Bucket: {Type: AWS::S3::Bucket},"
READER = """Reader: {Type: AWS::IAM::Role, Properties: {Policies: [{PolicyName: read, PolicyDocument: {Statement: [
  {Effect: Allow, Action: 's3:Get*', Resource: !Sub '${Bucket.Arn}/models/*'}]}}]}},"""
WRITER = READER.replace("s3:Get*", "s3:Put*")
TO_S3 = """ToS3: {Type: AWS::EC2::VPCEndpoint, Properties: {
  VpcId: !Ref Vpc, ServiceName: com.amazonaws.us-west-2.s3, RouteTableIds: [!Ref Table]}},"""
TO_API, TO_RUNTIME = (
    f"""To{name}: {{{{Type: AWS::EC2::VPCEndpoint, Properties: {{{{VpcId: !Ref Vpc, VpcEndpointType: Interface,
  PrivateDnsEnabled: true, ServiceName: com.amazonaws.us-west-2.sagemaker.{name}, SubnetIds: [!Ref Subnet],
  SecurityGroupIds: [!Ref {{group}}]}}}}}}}},"""
    for name in ("api", "runtime")
)
TO_STUDIO = TO_API + TO_RUNTIME
STUDIO = """Studio: {{Type: AWS::SageMaker::Domain, Properties: {{AppNetworkAccessType: {access}, VpcId: !Ref Vpc,
  SubnetIds: [!Ref Subnet], DefaultUserSettings: {{SecurityGroups: [!Ref Open], ExecutionRole: !GetAtt Reader.Arn}}}}}},"""
LLM = """Llm: {{Type: AWS::SageMaker::Model, Properties: {{PrimaryContainer: {{Image: llm, {data}}},
  VpcConfig: {{Subnets: [!Ref Subnet], SecurityGroupIds: [!Ref Open]}}}}}},"""
NOTEBOOK = """Book: {{Type: AWS::SageMaker::NotebookInstance, Properties: {{RoleArn: !GetAtt Reader.Arn, SubnetId: !Ref Subnet,
  DirectInternetAccess: {access}, SecurityGroupIds: [!Ref Open]}}}},"""
DATA = "ModelDataUrl: s3://models/llm.tar.gz"


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ((STUDIO.format(access="VpcOnly"), TO_STUDIO.format(group="Open"), READER, BUCKET), [("Studio", "s3", "Subnet")]),
        ((STUDIO.format(access="VpcOnly"), TO_STUDIO.format(group="Open"), READER, BUCKET, TO_S3), []),
        ((STUDIO.format(access="VpcOnly"), TO_STUDIO.format(group="Open"), WRITER, BUCKET), []),
        (
            (STUDIO.format(access="VpcOnly"), TO_API.format(group="Open"), WRITER, BUCKET),
            [("Studio", "sagemaker.runtime", "Subnet")],
        ),
        ((STUDIO.format(access="PublicInternetOnly"), READER, BUCKET), []),
        ((LLM.format(data=DATA),), [("Llm", "s3", "Subnet")]),
        ((LLM.format(data=DATA), TO_S3), []),
        ((LLM.format(data=""),), []),
        ((NOTEBOOK.format(access="Disabled"), READER, BUCKET), [("Book", "s3", "Subnet")]),
        ((NOTEBOOK.format(access="Disabled"), WRITER, BUCKET), []),
        ((NOTEBOOK.format(access="Enabled"), READER, BUCKET), []),
    ],
)
def test_apps_models_and_notebooks_reach_their_services(resources: tuple[str, ...], expected: list[tuple[str, str, str]]) -> None:
    assert ended(*resources) == expected


APART = "Ada: {Type: AWS::SageMaker::UserProfile, Properties: {DomainId: !Ref Studio, UserSettings: {SecurityGroups: [sg-1]}}},"
WEB, APPS, SAME = "tcp, FromPort: 443, ToPort: 443", "tcp, FromPort: 8192, ToPort: 65535", "SourceSecurityGroupId: !Ref Own"


@pytest.mark.parametrize(
    ("rule", "more", "ends"),
    [
        (f"{APPS}, {SAME}", "", False),
        ("'-1', CidrIp: 10.0.1.0/24", "", False),
        ("tcp, FromPort: 9000, ToPort: 65535, " + SAME, "", True),
        (f"{WEB}, {SAME}", "", True),
        (f"{WEB}, {SAME}", APART, False),
        (f"{WEB}, {SAME}", APART.replace("sg-1", "!Ref Own"), True),
    ],
)
def test_apps_of_studio_reach_each_other(rule: str, more: str, ends: bool) -> None:
    own = """Own: {Type: AWS::EC2::SecurityGroup, Properties: {GroupDescription: apps, VpcId: !Ref Vpc}},
      Let: {Type: AWS::EC2::SecurityGroupIngress, Properties: {GroupId: !Ref Own, IpProtocol: %s}},"""
    studio = STUDIO.format(access="VpcOnly").replace("!Ref Open", "!Ref Own")
    found = ended(studio, TO_STUDIO.format(group="Open"), WRITER, BUCKET, own % rule, more)
    assert found == ([("Studio", "its other apps", "Own")] if ends else [])


HALF, OTHER_HALF, HOST = "10.0.1.0/25", "10.0.1.128/25", "10.0.1.7/32"


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ((HALF,), [("Studio", "sagemaker.api", "Half"), ("Studio", "sagemaker.runtime", "Half")]),
        ((HOST,), [("Studio", "sagemaker.api", "Half"), ("Studio", "sagemaker.runtime", "Half")]),
        ((HALF, OTHER_HALF), []),
        ((HALF, "10.0.0.0/16"), []),
    ],
)
def test_a_block_around_a_part_of_a_subnet_leaves_out_the_rest(
    blocks: tuple[str, ...], expected: list[tuple[str, str, str]]
) -> None:
    rules = ", ".join(f"{{IpProtocol: tcp, FromPort: 443, ToPort: 443, CidrIp: {one}}}" for one in blocks)
    half = f"Half: {{Type: AWS::EC2::SecurityGroup, Properties: {{VpcId: !Ref Vpc, SecurityGroupIngress: [{rules}]}}}},"
    assert ended(STUDIO.format(access="VpcOnly"), READER, BUCKET, TO_S3, TO_STUDIO.format(group="Half"), half) == expected


SENDER = """Sender: {{Type: AWS::Lambda::Function, Properties: {{Runtime: python3.13, Role: !GetAtt Reader.Arn,
  VpcConfig: {{SubnetIds: [!Ref Subnet], SecurityGroupIds: [!Ref Open]}}, Environment: {{Variables: {{TOPIC: !Ref Alerts}}}},
  Code: {{ZipFile: "import os\\nimport boto3\\nboto3.client('sns').publish(TopicArn=os.environ['TOPIC'], Message='x')"}}}}}},
  Alerts: {{Type: AWS::SNS::Topic}}, Other: {{Type: AWS::SNS::Topic}},
  ToSns: {{Type: AWS::EC2::VPCEndpoint, Properties: {{VpcId: !Ref Vpc, VpcEndpointType: Interface, PrivateDnsEnabled: true,
    ServiceName: com.amazonaws.us-west-2.sns, SubnetIds: [!Ref Subnet], SecurityGroupIds: [!Ref Open],
    PolicyDocument: {{Statement: [{{Effect: Allow, Principal: '*', Action: 'sns:Publish', Resource: !Ref {topic}}}]}}}}}},"""


@pytest.mark.parametrize(("topic", "expected"), [("Alerts", []), ("Other", [("Sender", "sns", "ToSns")])])
def test_the_policy_of_an_endpoint_allows_what_code_calls(topic: str, expected: list[tuple[str, str, str]]) -> None:
    assert ended(SENDER.format(topic=topic), READER, BUCKET, TO_S3) == expected


FILES = """Files: {{Type: AWS::EFS::FileSystem}},
  Here: {{Type: AWS::EC2::Subnet, Properties: {{VpcId: !Ref Vpc, CidrBlock: 10.0.3.0/24, AvailabilityZone: us-west-2a}}}},
  There: {{Type: AWS::EC2::Subnet, Properties: {{VpcId: !Ref Vpc, CidrBlock: 10.0.4.0/24, AvailabilityZone: us-west-2b}}}},
  Target: {{Type: AWS::EFS::MountTarget, Properties: {{FileSystemId: !Ref Files, SubnetId: !Ref {}, SecurityGroups: [!Ref Open]}}}},
  Team: {{Type: AWS::SageMaker::Domain, Properties: {{VpcId: !Ref Vpc, SubnetIds: [!Ref Here],
    DefaultUserSettings: {{SecurityGroups: [!Ref Open],
      CustomFileSystemConfigs: [{{EFSFileSystemConfig: {{FileSystemId: !Ref Files}}}}]}}}}}},"""


@pytest.mark.parametrize(("subnet", "ends"), [("Here", False), ("There", True)])
def test_apps_mount_a_file_system_in_their_zone(subnet: str, ends: bool) -> None:
    assert ended(FILES.format(subnet)) == ([("Team", "Files", "Target")] if ends else [])


ALL, HERE = (
    "{Effect: Allow, Principal: '*', Action: '*', Resource: '*'}",
    "{StringEquals: {aws:PrincipalAccount: !Ref AWS::AccountId}}",
)
OWN = f"{{Effect: Allow, Principal: '*', Action: 's3:*', Resource: '*', Condition: {HERE}}}"
ANSWERS = (
    "{Effect: Allow, Principal: '*', Action: 's3:PutObject', Resource: 'arn:aws:s3:::cloudformation-custom-resource-response-*/*'}"
)
BY_SERVICES = (
    "{Effect: Allow, Principal: '*', Action: 's3:*', Resource: '*', Condition: {Bool: {aws:PrincipalIsAWSService: 'true'}}}"
)


def function(code: str = "def handler(event, context): pass") -> str:
    role = "arn:aws:iam::123456789012:role/functions"
    return f"""Maker: {{Type: AWS::Lambda::Function, Properties: {{Runtime: python3.13, Handler: index.handler, Role: '{role}',
      VpcConfig: {{SubnetIds: [!Ref Subnet], SecurityGroupIds: [!Ref Open]}}, Code: {{ZipFile: "{code}"}}}}}},"""


def endpoint(service: str, *statements: str) -> str:
    kind = (
        "VpcEndpointType: Gateway, RouteTableIds: [!Ref Table]"
        if service == "s3"
        else "VpcEndpointType: Interface, PrivateDnsEnabled: true, SubnetIds: [!Ref Subnet], SecurityGroupIds: [!Ref Open]"
    )
    document = f"{{Version: '2012-10-17', Statement: [{', '.join(statements)}]}}"
    return f"""Door: {{Type: AWS::EC2::VPCEndpoint, Properties: {{VpcId: !Ref Vpc, {kind},
      ServiceName: !Sub 'com.amazonaws.${{AWS::Region}}.{service}', PolicyDocument: {document}}}}},"""


MADE, ANSWER = (
    "Made: {Type: 'Custom::Made', Properties: {ServiceToken: !GetAtt Maker.Arn}},",
    "the bucket of CloudFormation's answers",
)


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ((function(), MADE, endpoint("s3", OWN)), [("Maker", ANSWER, "Door")]),
        ((function(), MADE, endpoint("s3", OWN, ANSWERS.replace("PutObject", "GetObject"))), [("Maker", ANSWER, "Door")]),
        ((function(), MADE, endpoint("s3", OWN.replace("PrincipalAccount", "ResourceAccount"))), [("Maker", ANSWER, "Door")]),
        ((function(), MADE, endpoint("s3", OWN, ANSWERS)), []),
        ((function(), MADE, endpoint("s3", OWN, BY_SERVICES)), []),
        ((function(), MADE, endpoint("s3", ALL)), []),
        ((function(), endpoint("s3", OWN)), []),
    ],
)
def test_a_function_answers_cloudformation_in_a_bucket_of_aws(
    resources: tuple[str, ...], expected: list[tuple[str, str, str]]
) -> None:
    """CloudFormation signs the address of the answer: it is no call of the account."""
    assert ended(*resources) == expected


def asking(*calls: str) -> str:
    lines = [f"boto3.client('sqs').{call}(QueueUrl='https://sqs.us-west-2.amazonaws.com/123456789012/jobs')" for call in calls]
    return function("\\n".join(["import boto3", "def handler(event, context):", *(f"    {line}" for line in lines)]))


@pytest.mark.parametrize(
    ("calls", "allowed", "shut"),
    [
        (["send_message", "purge_queue"], "'sqs:SendMessage'", True),
        (["purge_queue", "send_message"], "'sqs:SendMessage'", True),
        (["send_message", "purge_queue"], "['sqs:SendMessage', 'sqs:Purge*']", False),
        (["send_message"], "'sqs:SendMessage'", False),
    ],
)
def test_the_policy_of_an_endpoint_allows_each_call_of_a_function(calls: list[str], allowed: str, *, shut: bool) -> None:
    door = endpoint("sqs", ALL.replace("Action: '*'", f"Action: {allowed}"))
    assert ended(asking(*calls), door) == ([("Maker", "sqs", "Door")] if shut else [])


SECRETS = """Password: {{Type: AWS::SecretsManager::Secret}}, Other: {{Type: AWS::SecretsManager::Secret}},
  Database: {{Type: AWS::RDS::DBInstance, Properties: {{Engine: mariadb, DBSubnetGroupName: !Ref Places,
    VPCSecurityGroups: [!Ref {database}]}}}},
  Places: {{Type: AWS::RDS::DBSubnetGroup, Properties: {{SubnetIds: [!Ref Subnet, !Ref Outer]}}}},
  Bound: {{Type: AWS::SecretsManager::SecretTargetAttachment, Properties: {{SecretId: !Ref Password, TargetId: !Ref Database}}}},
  Rotation: {{Type: AWS::SecretsManager::RotationSchedule, Properties: {{SecretId: !Ref Bound, {rotation}}}}},"""
HOSTED = "HostedRotationLambda: {RotationType: MariaDBSingleUser, VpcSubnetIds: %s, VpcSecurityGroupIds: !Ref Open}"
ROTATES = str(
    [f"secretsmanager:{call}" for call in ("DescribeSecret", "GetSecretValue", "PutSecretValue", "UpdateSecretVersionStage")]
)


def rotation(hosted: str = HOSTED % "!Ref Subnet", database: str = "Open") -> str:
    return SECRETS.format(rotation=hosted, database=database)


def to_secrets(action: str = ROTATES, resource: str = "'*'", more: str = "") -> str:
    return endpoint("secretsmanager", f"{{Effect: Allow, Principal: '*', Action: {action}, Resource: {resource}{more}}}")


SHUT_DOOR, NOT_THERE = ("Rotation", "secretsmanager", "Door"), ("Rotation", "secretsmanager", "Subnet")
BOTH = HOSTED % "!Sub '${Outer}, ${Subnet}'"


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ((rotation(), to_secrets()), []),
        ((rotation(), to_secrets("'secretsmanager:*'", "!Ref Password")), []),
        ((rotation(), to_secrets(ROTATES.replace("Put", "Get"))), [SHUT_DOOR]),
        ((rotation(), to_secrets(resource="!Ref Other")), [SHUT_DOOR]),
        ((rotation(), to_secrets(more=", Condition: {StringEquals: {aws:PrincipalAccount: '123456789012'}}")), []),
        ((rotation(),), [NOT_THERE]),
        ((rotation(), nat(), PUBLIC, OUT), []),
        ((rotation(BOTH), nat(), PUBLIC), [("Rotation", "secretsmanager", "Outer"), NOT_THERE]),
        ((rotation(HOSTED % "subnet-0123456789abcdef0"),), []),
        ((rotation("HostedRotationLambda: {RotationType: MariaDBSingleUser}"),), []),
        ((rotation("RotationLambdaARN: !GetAtt Maker.Arn"), function()), [("Maker", "secretsmanager", "Subnet")]),
        ((rotation("RotationLambdaARN: !GetAtt Maker.Arn"), function(), to_secrets()), []),
        ((rotation(database="Shut"), to_secrets()), [("Rotation", "Database", "Shut")]),
    ],
)
def test_a_rotation_reaches_secrets_manager_and_its_database(
    resources: tuple[str, ...], expected: list[tuple[str, str, str]]
) -> None:
    assert ended(*resources) == expected


NARROW = """Narrow: {Type: AWS::EC2::SecurityGroup, Properties: {GroupDescription: endpoints, VpcId: !Ref Vpc,
  SecurityGroupEgress: [{IpProtocol: tcp, FromPort: 443, ToPort: 443, CidrIp: 10.0.0.0/16}]}},"""


def lists_nodes(group: str) -> str:
    code = "import boto3\\nboto3.client('sagemaker').list_cluster_nodes(ClusterName='team')"
    return function(code).replace("!Ref Open", f"!Ref {group}")


@pytest.mark.parametrize(
    ("group", "endpoints", "expected"),
    [
        ("Narrow", TO_RUNTIME, [("Maker", "sagemaker.api", "Toruntime")]),
        ("Narrow", TO_STUDIO, []),
        ("Narrow", "", [("Maker", "sagemaker.api", "Narrow")]),
        ("Open", TO_RUNTIME, []),
    ],
)
def test_an_endpoint_may_be_mistaken_for_another_of_its_service(
    group: str, endpoints: str, expected: list[tuple[str, str, str]]
) -> None:
    """The group leads to endpoints alone: the endpoint is the mistake, and not the group."""
    assert ended(lists_nodes(group), NARROW, endpoints.format(group="Open"), nat(), PUBLIC, OUT) == expected
