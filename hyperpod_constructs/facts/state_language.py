"""Amazon States Language: the fields of states, functions, errors and integrations (as of 2026-11-27; read, not measured).

Sources: https://states-language.net/spec.html,
https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html,
https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html and
https://docs.aws.amazon.com/step-functions/latest/dg/integrate-optimized.html
"""

from __future__ import annotations

from collections.abc import Mapping

JSON_PATH, JSONATA = "JSONPath", "JSONata"

_ANY = ("Type", "Comment", "QueryLanguage")
_NEXT = ("Next", "End", "Assign", "InputPath", "OutputPath", "Output")
_TRIES = ("Retry", "Catch", "ResultPath", "ResultSelector", "Parameters", "Arguments")
_TOLERATED = ("ToleratedFailurePercentage", "ToleratedFailureCount")
FIELDS: Mapping[str, tuple[str, ...]] = {
    "Task": (
        *(*_ANY, *_NEXT, *_TRIES, "Resource", "Credentials"),
        *("TimeoutSeconds", "TimeoutSecondsPath", "HeartbeatSeconds", "HeartbeatSecondsPath"),
    ),
    "Pass": (*_ANY, *_NEXT, "Result", "ResultPath", "Parameters"),
    "Choice": (*_ANY, "Choices", "Default", "InputPath", "OutputPath", "Output", "Assign"),
    "Wait": (*_ANY, *_NEXT, "Seconds", "SecondsPath", "Timestamp", "TimestampPath"),
    "Succeed": (*_ANY, "InputPath", "OutputPath", "Output"),
    "Fail": (*_ANY, "Error", "ErrorPath", "Cause", "CausePath"),
    "Parallel": (*_ANY, *_NEXT, *_TRIES, "Branches"),
    "Map": (
        *(*_ANY, *_NEXT, *_TRIES, *_TOLERATED, *(f"{name}Path" for name in _TOLERATED)),
        *("ItemProcessor", "Iterator", "ItemsPath", "Items", "ItemSelector", "ItemReader", "ItemBatcher", "ResultWriter"),
        *("MaxConcurrency", "MaxConcurrencyPath", "Label"),
    ),
}
"""The fields of a state by its type."""

PATHS = (
    *("InputPath", "OutputPath", "ResultPath", "ItemsPath", "SecondsPath", "TimestampPath", "TimeoutSecondsPath"),
    *("HeartbeatSecondsPath", "MaxConcurrencyPath", "ErrorPath", "CausePath"),
)
"""Fields that hold a path, or null."""

OF_JSON_PATH = frozenset(
    (
        *("InputPath", "OutputPath", "ResultPath", "ResultSelector", "Parameters", "SecondsPath", "TimestampPath", "ItemsPath"),
        *("TimeoutSecondsPath", "HeartbeatSecondsPath", "MaxConcurrencyPath", "ErrorPath", "CausePath", "Variable", "Result"),
        *(f"{name}Path" for name in _TOLERATED),
    )
)
OF_JSONATA = frozenset(("Arguments", "Output", "Condition", "Items"))
"""Fields of one query language only."""

_OF = ("Equals", "EqualsPath")
_ORDERED = ("LessThan", "LessThanPath", "GreaterThan", "GreaterThanPath", "LessThanEquals", "LessThanEqualsPath")
_MORE = ("GreaterThanEquals", "GreaterThanEqualsPath")
COMPARISONS = (
    *(f"{kind}{end}" for kind in ("String", "Numeric", "Timestamp") for end in (*_OF, *_ORDERED, *_MORE)),
    *("StringMatches", "BooleanEquals", "BooleanEqualsPath", "And", "Or", "Not"),
    *(f"Is{kind}" for kind in ("Null", "Present", "Numeric", "String", "Boolean", "Timestamp")),
)

ARGUMENTS: Mapping[str, tuple[int, int | None]] = {
    "States.Format": (1, None),
    "States.StringToJson": (1, 1),
    "States.JsonToString": (1, 1),
    "States.Array": (0, None),
    "States.ArrayPartition": (2, 2),
    "States.ArrayContains": (2, 2),
    "States.ArrayRange": (3, 3),
    "States.ArrayGetItem": (2, 2),
    "States.ArrayLength": (1, 1),
    "States.ArrayUnique": (1, 1),
    "States.Base64Encode": (1, 1),
    "States.Base64Decode": (1, 1),
    "States.Hash": (2, 2),
    "States.JsonMerge": (3, 3),
    "States.MathRandom": (2, 3),
    "States.MathAdd": (2, 2),
    "States.StringSplit": (2, 2),
    "States.UUID": (0, 0),
}
"""The intrinsic functions, each with the least and the most arguments; `None` for any number.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/intrinsic-functions.html (as of 2026-11-30)
"""
FUNCTIONS = tuple(ARGUMENTS)
HASHES = ("MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512")
"""Algorithms of `States.Hash` and `$hash`.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/intrinsic-functions.html (as of 2026-11-30)
"""

CONTEXT: Mapping[str, tuple[str, ...]] = {
    "": ("Execution", "Map", "State", "StateMachine", "Task"),
    "Execution": ("Id", "Input", "Name", "RedriveCount", "RedriveTime", "RoleArn", "StartTime"),
    "Map": ("Item",),
    "Map.Item": ("Index", "Key", "Source", "Value"),
    "State": ("EnteredTime", "Name", "RetryCount"),
    "StateMachine": ("Id", "Name"),
    "Task": ("Token",),
}
"""The members of the context object by their place in it.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/input-output-contextobject.html (as of 2026-11-30)
"""

_OF_TEXTS = (
    *("string", "length", "substring", "substringBefore", "substringAfter", "uppercase", "lowercase", "trim", "pad", "contains"),
    *("split", "join", "match", "replace", "base64encode", "base64decode", "encodeUrlComponent", "encodeUrl", "decodeUrlComponent"),
    "decodeUrl",
)
_OF_NUMBERS = (
    *("number", "abs", "floor", "ceil", "round", "power", "sqrt", "random", "formatNumber", "formatBase", "formatInteger"),
    *("parseInteger", "sum", "max", "min", "average", "boolean", "not", "exists"),
)
_OF_LISTS = (
    *("count", "append", "sort", "reverse", "shuffle", "distinct", "zip", "keys", "lookup", "spread", "merge", "sift", "each"),
    *("error", "assert", "type", "now", "millis", "fromMillis", "toMillis", "map", "filter", "single", "reduce"),
)
_OF_STATES = ("partition", "range", "hash", "uuid", "parse")
JSONATA_FUNCTIONS = tuple(f"${name}" for name in (*_OF_TEXTS, *_OF_NUMBERS, *_OF_LISTS, *_OF_STATES))
"""The functions of JSONata without `$eval`, and those that Step Functions adds (as of 2026-11-30).

Sources: https://docs.jsonata.org/string-functions with the pages beside it and
https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html
"""

ERRORS = tuple(
    f"States.{name}"
    for name in (
        *("ALL", "BranchFailed", "DataLimitExceeded", "ExceedToleratedFailureThreshold", "HeartbeatTimeout", "Http.Socket"),
        *("IntrinsicFailure", "ItemReaderFailed", "NoChoiceMatched", "ParameterPathFailure", "Permissions"),
        *("QueryEvaluationError", "ResultPathMatchFailure", "ResultWriterFailed", "Runtime", "TaskFailed", "Timeout"),
    )
)

LAMBDA_ERRORS = tuple(
    f"Lambda.{name}"
    for name in (
        *("AWSLambdaException", "ClientExecutionTimeoutException", "SdkClientException", "ServiceException"),
        *("TooManyRequestsException", "Unknown"),
    )
)
"""Errors of the integration of Lambda that a retry or a catch names; there are others (as of 2026-11-27).

Source: https://docs.aws.amazon.com/step-functions/latest/dg/bp-lambda-serviceexception.html
"""

RUNNERS = ("AWS::Lambda::Alias", "AWS::Lambda::Function", "AWS::Lambda::Version", "AWS::StepFunctions::Activity")
"""Types of resources that a task runs by their ARNs.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/state-task.html (as of 2026-11-30)
"""

_SYNC, _TOKEN = ".sync", ".waitForTaskToken"
INTEGRATIONS: Mapping[str, tuple[str, ...]] = {
    "apigateway:invoke": (_TOKEN,),
    "athena:getQueryExecution": (),
    "athena:getQueryResults": (),
    "athena:startQueryExecution": (_SYNC,),
    "athena:stopQueryExecution": (),
    "batch:submitJob": (_SYNC,),
    "bedrock:createModelCustomizationJob": (_SYNC, _TOKEN),
    "bedrock:invokeModel": (_TOKEN,),
    "codebuild:startBuild": (_SYNC,),
    "codebuild:startBuildBatch": (_SYNC,),
    "codebuild:stopBuild": (),
    "dynamodb:deleteItem": (),
    "dynamodb:getItem": (),
    "dynamodb:putItem": (),
    "dynamodb:updateItem": (),
    "ecs:runTask": (_SYNC, _TOKEN),
    "eks:call": (_TOKEN,),
    "eks:createCluster": (_SYNC,),
    "eks:createFargateProfile": (_SYNC,),
    "eks:createNodegroup": (_SYNC,),
    "eks:deleteCluster": (_SYNC,),
    "eks:deleteFargateProfile": (_SYNC,),
    "eks:deleteNodegroup": (_SYNC,),
    "eks:runJob": (_SYNC, _TOKEN),
    "events:putEvents": (_TOKEN,),
    "glue:startJobRun": (_SYNC,),
    "http:invoke": (),
    "lambda:invoke": (_TOKEN,),
    "sagemaker:createEndpoint": (),
    "sagemaker:createEndpointConfig": (),
    "sagemaker:createHyperParameterTuningJob": (_SYNC,),
    "sagemaker:createLabelingJob": (_SYNC,),
    "sagemaker:createModel": (),
    "sagemaker:createProcessingJob": (_SYNC,),
    "sagemaker:createTrainingJob": (_SYNC,),
    "sagemaker:createTransformJob": (_SYNC,),
    "sagemaker:updateEndpoint": (),
    "sns:publish": (_TOKEN,),
    "sqs:sendMessage": (_TOKEN,),
    "states:startExecution": (_SYNC, ".sync:2", _TOKEN),
}
"""Optimized integrations of the services that are here, with the ways in which they wait: the table of services has a token for
Bedrock and EKS, and does not say for which of their calls.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/integrate-optimized.html (as of 2026-11-28)
"""

READ_FIELDS = (
    *("InputPath", "ItemsPath", "Parameters", "ItemSelector", "SecondsPath", "TimestampPath", "TimeoutSecondsPath"),
    *("HeartbeatSecondsPath", "MaxConcurrencyPath", "ErrorPath", "CausePath"),
)
"""Fields whose paths are of the data that comes to a state."""

AFTER_WORK = ("Assign", "Output")
EXPRESSION_FIELDS = (
    *("Arguments", "ItemSelector", "Items", "Seconds", "Timestamp", "TimeoutSeconds", "HeartbeatSeconds", "MaxConcurrency"),
    *("Error", "Cause", *AFTER_WORK),
)
"""Fields with expressions of JSONata that fail without a value; the first ones here also have the result of the state's work.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html (as of 2026-11-29)
"""

ERROR_OUTPUT = ("Error", "Cause")
"""What a catch hands on.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html
"""

SDK_METADATA = ("SdkHttpMetadata", "SdkResponseMetadata")
"""Members that integrations add to an answer.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/connect-lambda.html
"""

READING = (
    *("get", "describe", "list", "poll", "receive", "search", "scan", "query", "select", "read", "lookup", "discover"),
    *("validate", "batchget", "batchdescribe", "batchread", "transactget", "adminget", "adminlist", "retrieve"),
)
"""The beginnings of operations that only read, which a schedule of EventBridge cannot make.

Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html
"""


def only_reads(operation: str) -> bool:
    """Whether an operation only reads, by the beginning of its name."""
    return operation.lower().startswith(READING)
