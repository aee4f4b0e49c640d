"""Code in templates: what it fails at when it runs is one finding, and what may be there is believed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import function

GOOD = """
import json
import os

import boto3

sagemaker = boto3.client("sagemaker", region_name=os.environ["AWS_REGION"])


def count(nodes, *, most=5):
    return [name for name in nodes if (size := len(name)) < most and size]


def handler(event, context):
    try:
        limit = int(os.environ["LIMIT"])
    except KeyError as error:
        limit = str(error)
    nodes = sagemaker.list_cluster_nodes(ClusterName=os.environ["CLUSTER"])
    pages = sagemaker.get_paginator("list_clusters")
    for s3 in (boto3.resource("s3"),):
        s3.Bucket("b").anything()
    match event:
        case {"detail": detail, **rest}:
            print(detail, rest, limit, pages)
    return json.dumps(count(nodes))
"""
MISTAKES = [
    ('client("sagemaker",', 'client("hyperpod",', "makes a client 'hyperpod'"),
    ("list_cluster_nodes(", "list_nodes(", "calls list_nodes, which clients of sagemaker do not have"),
    ("ClusterName=", "Cluster=", "calls list_cluster_nodes without ClusterName; the nearest is Cluster"),
    ("import json\n", "", "names json, which the code does not have"),
    ("count(nodes))", "counts(nodes))", "names counts"),
    ("handler(event, context)", "handler(event)", "has the handler handler with 1 parameters"),
    ("handler(event, context)", "handler(event, context, more)", "with 3 parameters"),
    ('environ["CLUSTER"]', 'environ["CLUSTER_NAME"]', "reads the variable CLUSTER_NAME, which the function does not have"),
    ('environ["LIMIT"]', 'environ["CLUSTERS"]', "the nearest is CLUSTER"),
]


def found(code: str, **properties: Any) -> list[str]:
    template = {"Resources": {"F": function(code, Environment={"Variables": {"CLUSTER": "a"}}, **properties)}}
    return [one.message for one in findings(template, rules="HP-TXT")]


def test_working_code_has_no_finding() -> None:
    assert found(GOOD) == []


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_fails_code_that_fails(old: str, new: str, message: str) -> None:
    (said,) = found(GOOD.replace(old, new))
    assert message in said


REPLACED = """
import json
import os
import boto3

ids = ["i-1"]


def handler(event, context):
    client = boto3.client("sagemaker")
    client.batch_replace_cluster_nodes(ClusterName=os.environ["CLUSTER"], NodeIds=ids)
    client.list_clusters(MaxResults=10, SortBy="NAME", SortOrder=event["order"])
    boto3.client("lambda").invoke(FunctionName="f", InvocationType="Event", Payload=json.dumps(event))
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("NodeIds=ids", "NodeIds='i-1'", "calls batch_replace_cluster_nodes with NodeIds, which is a text"),
        ("NodeIds=ids", 'NodeIds=os.environ["CLUSTER"]', "with NodeIds, which is a text"),
        ("MaxResults=10", 'MaxResults="10"', "with MaxResults, which is a text"),
        ('SortBy="NAME"', 'SortBy="Name"', "with SortBy, which is 'Name'; the nearest is NAME"),
        ('SortBy="NAME"', "SortBy=['NAME']", "with SortBy, which is a list"),
        ('"Event"', '"Async"', "with InvocationType, which is 'Async'"),
    ],
)
def test_fails_parameter_of_another_kind(old: str, new: str, message: str) -> None:
    assert found(REPLACED) == []
    (said,) = found(REPLACED.replace(old, new))
    assert message in said


@pytest.mark.parametrize(
    "code",
    [
        "from os import *\ndef handler(event, context):\n    return path\n",
        "exec('x = 1')\ndef handler(event, context):\n    return x\n",
        "import boto3\ndef handler(event, context, client=boto3.client('sqs')):\n    return client.anything()\n",
        "import boto3\nclient = boto3.client('sqs')\nclient = object()\ndef handler(event, context):\n    client.anything()\n",
        "import boto3\ndef handler(event, context):\n    return boto3.client('sqs').send_message(**event)\n",
        "import functools\n@functools.cache\ndef handler(event):\n    return event\n",
        "def handler(*arguments):\n    return arguments\n",
    ],
)
def test_what_may_be_there_is_believed(code: str) -> None:
    assert found(code) == []


def schedule(arn: str, text: str | None) -> dict[str, Any]:
    target = {"Arn": f"arn:aws:scheduler:::aws-sdk:{arn}", "RoleArn": "arn:aws:iam::123456789012:role/r"}
    given = {"ScheduleExpression": "rate(1 day)", "FlexibleTimeWindow": {"Mode": "OFF"}}
    target |= {} if text is None else {"Input": text}
    return {"Resources": {"S": {"Type": "AWS::Scheduler::Schedule", "Properties": {**given, "Target": target}}}}


UPDATE, REPLACE = "sagemaker:updateClusterSoftware", "sagemaker:updateCluster"


@pytest.mark.parametrize(
    ("arn", "text", "message"),
    [
        ("sagemaker:updateClusterSoftwares", "{}", "has no operation updateClusterSoftwares; the nearest is updateClusterSoftware"),
        ("sagemaker:describeCluster", '{"ClusterName": "a"}', "describeCluster only reads"),
        (UPDATE, '{"ClusterNames": "a"}', "called without ClusterName; the nearest is ClusterNames"),
        (UPDATE, None, "called without ClusterName"),
        (UPDATE, "{ClusterName: a}", "is not JSON"),
        (UPDATE, '{"ClusterName": "a", "InstanceGroups": "b"}', "called with InstanceGroups, which is a text"),
        (UPDATE, '{"ClusterName": ["a"]}', "called with ClusterName, which is a list"),
        (
            REPLACE,
            '{"ClusterName": "a", "NodeRecovery": "automatic"}',
            "NodeRecovery, which is 'automatic'; the nearest is Automatic",
        ),
    ],
)
def test_fails_call_of_schedule(arn: str, text: str | None, message: str) -> None:
    (said,) = [one.message for one in findings(schedule(arn, text), rules="HP-TXT")]
    assert message in said


TAKEN = '{"ClusterName": "a", "InstanceGroups": [], "NodeRecovery": "None"}'


@pytest.mark.parametrize(("arn", "text"), [(UPDATE, '{"ClusterName": "a"}'), (REPLACE, TAKEN), ("personalize:anything", None)])
def test_calls_that_schedules_can_make(arn: str, text: str | None) -> None:
    assert findings(schedule(arn, text), rules="HP-TXT") == []


def test_fails_input_that_a_machine_does_not_take() -> None:
    template = schedule(UPDATE, "by timetable")
    template["Resources"]["S"]["Properties"]["Target"]["Arn"] = "arn:aws:states:us-west-2:123456789012:stateMachine:m"
    (said,) = [one.message for one in findings(template, rules="HP-TXT")]
    assert "is not JSON" in said


def test_fails_zone_that_is_none() -> None:
    template = schedule(UPDATE, '{"ClusterName": "a"}')
    template["Resources"]["S"]["Properties"]["ScheduleExpressionTimezone"] = "Europe/Bonn"
    (said,) = [one.message for one in findings(template, rules="HP-TXT")]
    assert "no time zone is named 'Europe/Bonn'" in said


@pytest.mark.parametrize(
    ("group", "own", "count"),
    [("/aws/lambda/triage", None, 0), ("/aws/lambda/other", None, 1), ("/aws/lambda/other", {"LogGroup": "/aws/lambda/other"}, 0)],
)
def test_a_function_may_write_into_the_group_of_its_name(group: str, own: Any, count: int) -> None:
    arn = {"Fn::GetAtt": ["G", "Arn"]}
    lines = {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": group, "RetentionInDays": 7}}
    statement = {"Effect": "Allow", "Action": ["logs:CreateLogStream", "logs:PutLogEvents"], "Resource": arn}
    trusted = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    policy = {"PolicyName": "p", "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}
    role = {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trusted]}, "Policies": [policy]}
    given = {"FunctionName": "triage", "Role": {"Fn::GetAtt": ["R", "Arn"]}, **({} if own is None else {"LoggingConfig": own})}
    program = function("def handler(event, context):\n    pass\n", **given)
    template = {"Resources": {"F": program, "R": {"Type": "AWS::IAM::Role", "Properties": role}, "G": lines}}
    assert [one.rule for one in findings(template, rules="HP-PERM")] == ["HP-PERM-002"] * count


SEND = """
import os
import boto3
def handler(event, context):
    boto3.client("sns").publish(TopicArn=os.environ["TOPIC"], Message="x")
"""


@pytest.mark.parametrize(("topic", "wrong"), [({"Ref": "T"}, False), ({"Fn::GetAtt": ["T", "TopicName"]}, True), ("arn", False)])
def test_code_passes_arns_where_it_must(topic: Any, wrong: bool) -> None:
    topic_ = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "t"}}
    template = {"Resources": {"T": topic_, "F": function(SEND, Environment={"Variables": {"TOPIC": topic}})}}
    said = [one.path for one in findings(template, rules="HP-TXT")]
    assert said == (["Properties/Environment/Variables/TOPIC"] if wrong else [])


READS = """
import os
import boto3


def handler(event, context):
    {}
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("try:\n        open(os.environ['FILE'])\n        done = 1\n    except OSError:\n        done = 0", "variable FILE"),
        ("try:\n        print(os.environ['FILE'])\n        print()\n    except Exception:\n        raise", "variable FILE"),
        ("if event['RequestType'] == 'Create':\n        print(os.environ['FILE'])", "variable FILE"),
        ("try:\n        print(os.environ['FILE'])\n    except Exception:\n        raise", "variable FILE"),
        ("try:\n        print(os.environ['FILE'])\n    except Exception:\n        status = 'FAILED'", "variable FILE"),
        ("boto3.client('sns').publish(TopicArn=os.getenv('FILE'), Message='a')", "gives TopicArn the variable FILE"),
        ("return os.environ.get('FILE').split(',')", "needs the variable FILE"),
        ("return int(os.getenv('FILE'))", "needs the variable FILE"),
        ("try:\n        return os.environ['FILE']\n    except KeyError:\n        return ''", None),
        ("try:\n        return os.environ['FILE']\n    except Exception:\n        return ''", None),
        ("return os.environ['FILE'] if 'FILE' in os.environ else ''", None),
        ("return event.get('file') or os.environ['FILE']", None),
        ("if event['kind'] == 'file':\n        print(os.environ['FILE'])", None),
        ("boto3.client('sns').publish(TopicArn=os.getenv('FILE', 'arn'), Message='a')", None),
        ("return (os.getenv('FILE') or '').split(',')", None),
        ("return os.environ.get('CLUSTER').split(',')", None),
    ],
)
def test_variables_that_code_needs(body: str, message: str | None) -> None:
    said = found(READS.format(body))
    assert [message in one for one in said] == [True] if message else said == []


@pytest.mark.parametrize(
    ("read", "count"),
    [
        ("process.env.CLUSTERS", 1),
        ("process.env['CLUSTER_NAME']", 1),
        ("process.env.CLUSTER", 0),
        ("process.env.CLUSTERS || 'a'", 0),
        ("process.env.CLUSTERS ?? 'a'", 0),
        ("process.env.OTHER", 0),
        ("process.env.NODE_OPTIONS", 0),
    ],
)
def test_variables_that_javascript_reads(read: str, count: int) -> None:
    assert len(found(f"exports.handler = async () => {{ return {read}; }};", Runtime="nodejs22.x")) == count


NESTED = """
import json
import boto3


def handler(event, context):
    boto3.client("events").put_events(Entries=[{"Source": "own", "Detail": json.dumps(event), "Resources": [event["arn"]]}])
    boto3.client("fsx").create_backup(Tags=[{"Key": name, "Value": "a"} for name in event["names"]], **event)
    boto3.client("codebuild").start_build(projectName="a", environmentVariablesOverride=event["more"])
    boto3.client("eks").update_nodegroup_config(clusterName="a", nodegroupName="b", scalingConfig={"minSize": 1, **event})
    boto3.client("ssm").send_command(DocumentName="a", Targets=[{"Key": "tag:a", "Values": ["b"]}], Parameters={"commands": ["c"]})
    boto3.client("eks").get_waiter("cluster_active").wait(name="a")
    boto3.client("sagemaker").get_paginator("list_cluster_nodes")
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("json.dumps(event)", "event['a']", None),
        ('"Resources": [event["arn"]]', '"Resources": "arn"', "calls put_events with Entries.Resources, which is a text"),
        (
            '"Detail": json',
            '"Details": json',
            "Entries.Details, which it does not take; the nearest is Detail",
        ),
        ('"Value": "a"', '"Value": 5', "calls create_backup with Tags.Value, which is a number"),
        ('"Key": name, ', "", "calls create_backup with Tags without Key"),
        ('"minSize": 1', '"minSize": "1"', "with scalingConfig.minSize, which is a text"),
        ('"minSize": 1', '"minsize": 1', "with scalingConfig.minsize, which it does not take; the nearest is minSize"),
        ('["c"]', '"c"', "calls send_command with Parameters.commands, which is a text"),
        ("cluster_active", "cluster_activ", "asks for the waiter cluster_activ, which clients of eks do not have; the nearest"),
        ("list_cluster_nodes", "describe_cluster", "asks for pages of describe_cluster, which clients of sagemaker do not have"),
    ],
)
def test_parts_of_parameters(old: str, new: str, message: str | None) -> None:
    assert found(NESTED) == []
    said = found(NESTED.replace(old, new))
    assert [message in one for one in said] == [True] if message else said == []


PAGED = """
import boto3


def handler(event, context):
    eks = boto3.client("eks")
    pages = eks.get_paginator("list_nodegroups")
    message = {"names": []}
    for page in pages.paginate(clusterName="a", PaginationConfig={"PageSize": 5}):
        message["names"] += page["nodegroups"]
    try:
        state = eks.describe_cluster(name="a")["cluster"]["status"]
    except eks.exceptions.ClientError:
        state = "none"
    boto3.client("sns").publish(TopicArn=event["topic"], Message=str(message))
    with open("/tmp/state", "w") as file:
        file.write(state)
    return open("index.py").read()
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("clusterName=", "cluster=", "calls paginate without clusterName; the nearest is cluster"),
        ('page["nodegroups"]', 'page["Nodegroups"]', "reads page['Nodegroups'], and Nodegroups is never there"),
        ('["status"]', '["state"]', "and state is never there"),
        ("str(message)", "message", "calls publish with Message, which is an object"),
        ("/tmp/state", "state", "writes state, and a function can write only below /tmp"),
        ("/tmp/state", "/var/state", "writes /var/state"),
        ("/tmp/state", "/mnt/share/state", None),
        ("import boto3", "import boto3, os\nos.chdir('/tmp')\nopen('a', 'w')", None),
        ("except eks.exceptions.ClientError", "except (eks.exceptions.ClientError, KeyError)", None),
    ],
)
def test_pages_names_and_files(old: str, new: str, message: str | None) -> None:
    assert found(PAGED) == []
    said = found(PAGED.replace(old, new))
    assert [message in one for one in said] == [True] if message else said == []


COPIED = """
import boto3
s3 = boto3.client("s3")
def handler(event, context):
    for key in event["keys"]:
        s3.copy_object(Bucket="data", Key=key, CopySource={"Bucket": "others", "Key": key})
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('{"Bucket": "others", "Key": key}', '"others/" + key', None),
        ("copy_object(", "upload_part_copy(PartNumber=1, UploadId='a', ", None),
        ('{"Bucket": "others", "Key": key}', '["others", key]', "calls copy_object with CopySource, which is a list"),
        ("Key=key", 'Key={"Key": key}', "calls copy_object with Key, which is an object"),
    ],
)
def test_the_source_of_a_copy_is_an_object_or_a_text(old: str, new: str, message: str | None) -> None:
    assert found(COPIED) == []
    said = found(COPIED.replace(old, new))
    assert [message in one for one in said] == [True] if message else said == []


ROTATED = """
def handler(event, context):
    secret, step = event["SecretId"], event["Step"]
    if step == "finishSecret":
        return event["ClientRequestToken"], secret
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("secret, step", "secret, at", "names step"),
        ("finishSecret", "setSecret", None),
        ('"SecretId"', '"SecretArn"', "SecretArn is never there; the nearest is SecretId"),
        ('"finishSecret"', '"finish"', "compares step with 'finish', which it never is"),
        ('"ClientRequestToken"', '"Token"', "Token is never there"),
    ],
)
def test_events_of_a_rotation(old: str, new: str, message: str | None) -> None:
    schedule = {"SecretId": "a", "RotationLambdaARN": {"Fn::GetAtt": ["F", "Arn"]}, "RotationRules": {"AutomaticallyAfterDays": 30}}
    rotation = {"Type": "AWS::SecretsManager::RotationSchedule", "Properties": schedule}
    given = {"FunctionName": {"Ref": "F"}, "Action": "lambda:InvokeFunction", "Principal": "secretsmanager.amazonaws.com"}
    permission = {"Type": "AWS::Lambda::Permission", "Properties": {**given, "SourceAccount": {"Ref": "AWS::AccountId"}}}
    template = {"Resources": {"F": function(ROTATED.replace(old, new)), "R": rotation, "P": permission}}
    said = [one.message for one in findings(template, rules="HP-TXT-011")]
    assert [message in one for one in said] == [True] if message else said == []


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ("event, context, 'SUCCESS', {}", 0),
        ("event, context, responseStatus='SUCCESS', responseData={}", 0),
        ("*event", 0),
        ("event, context, 'SUCCESS'", 1),
        ("event, 'SUCCESS', {}, 'id'", 1),
    ],
)
def test_an_answer_has_its_parts(given: str, count: int) -> None:
    assert len(found(f"import cfnresponse\ndef handler(event, context):\n    cfnresponse.send({given})\n")) == count


LIBRARY = """
import json
import os
import urllib.request
from datetime import datetime, timezone

import boto3

sagemaker = boto3.client("sagemaker")


def handler(event, context):
    found = sagemaker.describe_cluster(ClusterName="a")
    count, text = len(found["InstanceGroups"]), f"{found['ClusterName']}"
    groups = [one["InstanceGroupName"] for one in found["InstanceGroups"]]
    urllib.request.urlopen(urllib.request.Request("https://a", method="PUT"))
    print(json.dumps(groups), datetime.now(timezone.utc).isoformat(), os.environ.get("A"), os.path.join("a", text.lower()))
    print(groups.count("a"), found.get("Orchestrator"), found["ClusterName"].upper(), count.bit_length())
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("boto3.client(", "boto3.Client(", "takes Client from boto3, which does not have it; the nearest is client"),
        ("json.dumps", "json.stringify", "takes stringify from json"),
        ("datetime.now", "datetime.nowadays", "takes nowadays from datetime, which does not have it"),
        ("os.environ.get", "os.environ.getenv", "takes getenv from os.environ"),
        ("os.path.join", "os.path.jion", "takes jion from os.path"),
        ("urllib.request.urlopen", "urllib.request.open", "takes open from urllib.request"),
        ("import json\n", "import json\nfrom datetime import timezones\n", "takes timezones from datetime, which does not have it"),
        ("isoformat()", "isoformat().joni()", None),
        ('os.path.join("a",', '", ".joni(["a"]), ("a",', "takes joni from ', ', which is a text"),
        ('found["ClusterName"].upper()', "found.ClusterName", "takes ClusterName from found, which is an object"),
        ('groups.count("a")', "groups.length", "takes length from groups, which is a list"),
        ("text.lower()", "text.lowercase()", "takes lowercase from text, which is a text"),
        ("count.bit_length()", "count.describe_cluster()", "takes describe_cluster from count, which is a number"),
        ("json.dumps(groups)", "os.process_cpu_count()", None),
        ("import json\n", "import json\nimport boto3.session\nfrom boto3.dynamodb.conditions import Key\n", None),
        (
            "import json\n",
            "from urllib import parse, error\nfrom os import path as p\nimport json, itertools\nitertools.batched\n",
            None,
        ),
        ("import json\n", "import json\ntry:\n    json.loads_lazily\nexcept Exception:\n    pass\n", None),
        ("count, text =", "count = 1\n    count, text =", None),
    ],
)
def test_modules_and_data_have_the_names_that_code_takes(old: str, new: str, message: str | None) -> None:
    assert found(LIBRARY) == []
    said = found(LIBRARY.replace(old, new))
    assert [message in one for one in said] == [True] if message else said == [], said


REQUESTED = """
import cfnresponse


def handler(event, context):
    wishes = event["ResourceProperties"]
    if event["RequestType"] == "Delete":
        print(event["PhysicalResourceId"])
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {"Name": wishes["Name"]})
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('event["ResourceProperties"]', 'event["Properties"]', "Properties is never there"),
        ('"RequestType"', '"requestType"', "requestType is never there; the nearest is RequestType"),
        ('"Delete"', '"DELETE"', "compares event['RequestType'] with 'DELETE', which it never is; the nearest is Delete"),
        ('event["PhysicalResourceId"]', 'event["PhysicalId"]', "PhysicalId is never there"),
        ('event["PhysicalResourceId"]', 'event["OldResourceProperties"]', "request to delete R: there is no OldResourceProperties"),
        ('event["PhysicalResourceId"]', 'event.get("Other")', None),
    ],
)
def test_requests_for_custom_resources(old: str, new: str, message: str | None) -> None:
    own = {"Type": "Custom::Name", "Properties": {"ServiceToken": {"Fn::GetAtt": ["F", "Arn"]}, "ServiceTimeout": 60, "Name": "a"}}
    said = [
        one.message for one in findings({"Resources": {"F": function(REQUESTED.replace(old, new)), "R": own}}, rules="HP-TXT-011")
    ]
    assert [message in one for one in said] == [True] if message else said == [], said


GIVEN = """
import boto3

s3, watch = boto3.client("s3"), boto3.client("cloudwatch")
events = boto3.client("events")
seen = 0


def handler(event, context):
    global seen
    seen += 1
    words = event["words"]
    long = [word for word in words if len(word) > 9]
    place = {"Bucket": "b", "Key": "k"}
    with open("/tmp/a") as file:
        text = file.read()
    for word in long:
        last = word
    client = boto3.client("s3")
    client.put_object(Body=text, **place)
    watch.put_metric_data(Namespace="a", MetricData=[{"MetricName": "b", "Value": len(long)}])
    return count(last) if long else None


def count(word):
    return len(word)
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("word in words if", "word in long if", "reads long, which has its value only behind it"),
        ('place = {"Bucket": "b"', 'place = {"Bucket": place["a"]', "reads place, which has its value only behind it"),
        ("    global seen\n", "", "reads seen, which has its value only behind it"),
        ("text = file.read()", "text = text.strip()", "reads text, which has its value only behind it"),
        ('"Key": "k"', '"Keys": "k"', "calls put_object without Key; the nearest is Keys"),
        (
            ', MetricData=[{"MetricName": "b", "Value": len(long)}]',
            "",
            "calls put_metric_data without MetricData, EntityMetricData",
        ),
        ("Body=text", "Body=client", "gives Body the client client"),
        ('event["words"]', 'events["words"]', "reads events['words'], and events is a client"),
        ("    client = ", "    place.update(Keys=text)\n    client = ", None),
        ('place = {"Bucket": "b", "Key": "k"}', 'place = {"Bucket": "b"}\n    place["Key"] = "k"', None),
        ("last = word\n", "last = word\n        print(text, last)\n", None),
        ("last = word\n", "if word != long[0]:\n            print(before)\n        before = last = word\n", None),
        ("text = file.read()", "text = [text for text in file]", None),
    ],
)
def test_names_have_a_value_and_calls_get_data(old: str, new: str, message: str | None) -> None:
    assert found(GIVEN) == []
    said = found(GIVEN.replace(old, new))
    assert [message in one for one in said] == [True] if message else said == [], said


NAMING = """
import os

import boto3


def handler(event, context):
    boto3.client("sns").publish(TopicArn=os.environ["TOPIC"], Message="a")
    boto3.client("sqs").send_message(QueueUrl=os.environ["QUEUE"], MessageBody="a")
    boto3.client("sagemaker").list_cluster_nodes(ClusterName=os.environ["CLUSTER"])
"""
NAMES: dict[str, Any] = {"TOPIC": {"Ref": "T"}, "QUEUE": {"Ref": "Q"}, "CLUSTER": "train"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, None),
        ({"TOPIC": {"Ref": "Q"}, "QUEUE": {"Ref": "T"}}, "with TOPIC as topicarn, and '${Q}' is of an AWS::SQS::Queue"),
        ({"TOPIC": "train", "CLUSTER": {"Ref": "T"}}, "with TOPIC as an ARN, and 'train' is none"),
        ({"CLUSTER": {"Ref": "T"}}, "with clustername as clustername, and '${T}' is of an AWS::SNS::Topic"),
        ({"TOPIC": {"Fn::GetAtt": ["T", "TopicName"]}}, "with TOPIC as an ARN, and '${T.TopicName}' is none"),
        ({"QUEUE": {"Fn::GetAtt": ["Q", "Arn"]}}, "with QUEUE as an address, and '${Q.Arn}' is none"),
        ({"QUEUE": "arn:aws:sqs:us-west-2:123456789012:q"}, "with QUEUE as an address"),
        ({"TOPIC": "arn:aws:sns:us-west-2:123456789012:t"}, None),
        ({"TOPIC": {"Fn::Sub": "arn:${AWS::Partition}:sns:us-west-2:123456789012:t"}}, None),
        ({"TOPIC": {"Fn::GetAtt": ["S", "Value"]}, "CLUSTER": {"Ref": "AWS::StackName"}}, None),
    ],
)
def test_calls_get_what_their_parameters_name(changes: dict[str, Any], message: str | None) -> None:
    def one(kind: str, **properties: Any) -> dict[str, Any]:
        return {"Type": kind, "Properties": properties}

    things = {"T": one("AWS::SNS::Topic"), "Q": one("AWS::SQS::Queue"), "S": one("AWS::SSM::Parameter", Type="String", Value="a")}
    code = function(NAMING, Environment={"Variables": {**NAMES, **changes}})
    said = [found.message for found in findings({"Resources": {"F": code, **things}}, rules="HP-TXT-011") if "F" in found.resource]
    assert message in " ".join(said) if message else said == [], said


SENDING = """
import boto3

sns = boto3.client("sns")


def handler(event, context):
    text = "\\n".join([f"Node {event['id']}", "is unhealthy"])
    sns.publish(TopicArn="arn:aws:sns:us-west-2:123456789012:alerts", Subject=SUBJECT, Message=text)
"""


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        ("text", "publishes with a subject of several lines"),
        ("f'Node\\n{text}'", "of several lines"),
        (repr("a" * 100), "publishes with a subject of 100 characters, which SNS refuses"),
        (repr("a" * 99), None),
        ("text[:99]", None),
        ("text.replace(chr(10), ' ')", None),
        ("' '.join(['Node', 'is unhealthy'])", None),
        ("'\\n'.join(['Node'])", None),
        ("event['title']", None),
    ],
)
def test_the_subject_of_a_message_is_a_line(subject: str, message: str | None) -> None:
    said = found(SENDING.replace("SUBJECT", subject))
    assert [message in one for one in said] == [True] if message else said == [], said
