"""The nodes' role and the bucket of their scripts."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from botocore.exceptions import ClientError

from .. import answers
from ..aws import Patient, code
from .findings import Finding, error, warning

# The service that assumes the role of nodes, as in the library's facts, which a function cannot import.
PRINCIPAL = "sagemaker.amazonaws.com"

_ASSUME = "sts:assumerole"

# What S3 answers for a bucket of another region than the endpoint's, with the header x-amz-bucket-region.
_ELSEWHERE = (301, 400)


def check_role(iam: Patient, arn: str) -> Iterator[Finding]:
    """A role that SageMaker cannot assume."""
    try:
        answer = iam.call("get_role", RoleName=arn.rpartition("/")[2])
    except ClientError as failure:
        if code(failure) != "NoSuchEntity":
            raise
        yield error(f"role {arn} does not exist; name an existing role, or let the library make one")
        return
    document = _document(answer.get("Role", {}).get("AssumeRolePolicyDocument"))
    if document is None:
        yield warning(f"the trust policy of {arn} was not checked: IAM did not return it")
    elif not any(_allows(statement) for statement in _listed(document.get("Statement"))):
        yield error(
            f"role {arn} does not trust {PRINCIPAL}, so the service cannot give it to nodes; add to its trust policy: "
            f'{{"Effect": "Allow", "Principal": {{"Service": "{PRINCIPAL}"}}, "Action": "sts:AssumeRole"}}'
        )


def check_bucket(s3: Patient, name: str) -> Iterator[Finding]:
    """A bucket of scripts that does not exist; one in another region does, and S3 answers with that region."""
    try:
        s3.call("head_bucket", Bucket=name)
    except ClientError as failure:
        answer = failure.response.get("ResponseMetadata", {})
        if answer.get("HTTPStatusCode") in _ELSEWHERE and answer.get("HTTPHeaders", {}).get("x-amz-bucket-region"):
            return
        if answer.get("HTTPStatusCode") != 404:
            raise
        yield error(f"bucket {name} of the lifecycle scripts does not exist; nodes would fail: create it, or name another")


def _document(found: object) -> Mapping[str, Any] | None:
    """The policy, which IAM answers as a text with escapes."""
    if isinstance(found, str):
        try:
            found = json.loads(unquote(found))
        except ValueError:
            return None
    return found if isinstance(found, Mapping) else None


def _allows(statement: object) -> bool:
    """Whether a statement may let SageMaker assume the role; what this cannot judge counts as yes."""
    if not isinstance(statement, Mapping) or statement.get("Effect") != "Allow":
        return False
    if "NotPrincipal" in statement or "NotAction" in statement:
        return True
    principal = statement.get("Principal")
    services = _listed(answers.structure(statement, "Principal").get("Service"))
    trusted = principal == "*" or "*" in services or PRINCIPAL in services
    return trusted and any(fnmatch.fnmatchcase(_ASSUME, str(action).lower()) for action in _listed(statement.get("Action")))


def _listed(value: object) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
