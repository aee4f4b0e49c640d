"""What the code of a function gives to calls of AWS: a parameter that names a topic, a queue or the like names one.

Values are those of the environment and of texts; two variables that are exchanged give each call what the other one needs.

Source: https://docs.aws.amazon.com/sns/latest/api/API_Publish.html and the other references of the calls
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.function_code import FUNCTION, calls_of
from hyperpod_constructs.analysis.references.forms import arns_of, gives_arn
from hyperpod_constructs.analysis.schema.violation import listed, quoted
from hyperpod_constructs.analysis.texts.named_in_calls import misnamed
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, mapping
from hyperpod_constructs.facts.property_schemas import property_schema
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, target_of
from hyperpod_constructs.templates.values import Reference, Value

_CODE, _VARIABLES = ("Code", "ZipFile"), ("Environment", "Variables")
_NAMED: Mapping[str, tuple[str, ...]] = {
    "bucket": ("AWS::S3::AccessPoint", "AWS::S3::Bucket", "AWS::S3Express::DirectoryBucket"),
    "clustername": ("AWS::ECS::Cluster", "AWS::EKS::Cluster", "AWS::SageMaker::Cluster"),
    "functionname": ("AWS::Lambda::Alias", "AWS::Lambda::Function", "AWS::Lambda::Version"),
    "queueurl": ("AWS::SQS::Queue",),
    "secretid": ("AWS::RDS::DBCluster", "AWS::RDS::DBInstance", "AWS::SecretsManager::Secret"),
    "statemachinearn": (
        *("AWS::StepFunctions::StateMachine", "AWS::StepFunctions::StateMachineAlias"),
        "AWS::StepFunctions::StateMachineVersion",
    ),
    "tablename": ("AWS::DynamoDB::GlobalTable", "AWS::DynamoDB::Table"),
    "topicarn": ("AWS::SNS::Topic",),
}
"""The types of what a parameter names, by its name in small letters."""
_ADDRESSES = ("queueurl",)
_FREE = ("AWS::CloudFormation::", "AWS::SSM::Parameter")
"""Types whose references may be anything."""


def given(function: Resource) -> Slips:
    """The first parameter of a call that names something else than the call needs."""
    variables = mapping(function.get("Environment", "Variables"))
    for call in calls_of(function):
        for name, value in call.parameters.items():
            keys = [one for one, found in variables.items() if found == value]
            for words, allowed in (*_mistaken(name, value), *_misnamed(function, call.operation.action, name, value)):
                message = f"the code calls {call.operation.action} with {keys[0] if len(keys) == 1 else name} as {words}"
                yield Slip(message, allowed, (*_VARIABLES, keys[0]) if len(keys) == 1 else _CODE, value, dead=True)
                return


def _mistaken(name: str, value: Value) -> Iterator[tuple[str, str]]:
    """What a parameter is for, and the value is not, in words, with what is allowed."""
    of_arn = name.endswith("arn")
    if isinstance(value, Reference):
        yield from _of_reference(name, value)
    elif isinstance(value, str) and value and of_arn and not value.startswith("arn"):
        yield f"an ARN, and {quoted(value)} is none", "an ARN"
    elif isinstance(value, str) and name in _ADDRESSES and value.startswith("arn:"):
        yield f"an address, and {quoted(value)} is none", "https://…"


def _misnamed(function: Resource, action: str, name: str, value: Value) -> Iterator[tuple[str, str]]:
    """The name of another thing than the call is about."""
    wrong = misnamed(function.template.model, action, name, value)
    if wrong is not None:
        yield f"{name}, and that is {wrong[0]}", wrong[1]


def _of_reference(name: str, value: Reference) -> Iterator[tuple[str, str]]:
    target, types, is_arn = target_of(value), _NAMED.get(name, ()), gives_arn(value)
    if property_schema(target.type) is None or target.type.startswith(_FREE):
        return
    if types and target.type not in types:
        yield f"{name}, and {quoted(value)} is of an {target.type}", f"one of an {types[-1]}"
    elif name.endswith("arn") and is_arn is False:
        arns = listed(f"{target.logical_id}.{one}" for one in arns_of(target.type))
        yield f"an ARN, and {quoted(value)} is none", arns or "an ARN"
    elif name in _ADDRESSES and is_arn:
        yield f"an address, and {quoted(value)} is none", "its address, by Ref"


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {FUNCTION: given}
