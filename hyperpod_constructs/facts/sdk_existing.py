"""Operations that make a thing, and refuse to make it twice. `sdk_existing.tsv` has them, each with its exception."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.sdk_calls import Operation

REPEATABLE = frozenset(("s3:CreateBucket", "sqs:CreateQueue", "states:CreateActivity", "states:CreateStateMachine"))
"""Actions that give what is there if it is the same, of buckets in one region only.

Sources: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html,
https://docs.aws.amazon.com/step-functions/latest/apireference/API_CreateStateMachine.html and
https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html
"""
REPLACING: Mapping[str, str] = {"ssm:PutParameter": "Overwrite"}
"""Actions with a parameter that lets them change what is there.

Source: https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html
"""


def refusal(operation: Operation) -> str | None:
    """The exception by which an operation refuses to make what is there; `None` for one that makes nothing, or makes it again."""
    return None if operation.action in REPEATABLE else _refusals().get((operation.client, operation.name))


@cache
def _refusals() -> Mapping[tuple[str, str], str]:
    pairs = ((client, *one.split("=")) for client, *found in rows("sdk_existing.tsv") for one in found)
    return {(client, operation): error for client, operation, error in pairs}
