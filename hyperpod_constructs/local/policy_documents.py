"""What IAM refuses of the text of a policy: moto's grammar of policies, whose messages are IAM's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Document = str | Mapping[str, Any]


def policy_problem(document: Document) -> str | None:
    """The message of MalformedPolicyDocument for a policy of permissions; None if it has no mistake."""
    from moto.iam.policy_validation import IAMPolicyDocumentValidator

    return _problem(IAMPolicyDocumentValidator, document)


def trust_problem(document: Document) -> str | None:
    """The message of MalformedPolicyDocument for the policy that says who may assume a role; None if it has no mistake."""
    from moto.iam.policy_validation import IAMTrustPolicyDocumentValidator

    problem = _problem(IAMTrustPolicyDocumentValidator, document)
    if problem is not None:
        return problem
    statements = json.loads(_text(document))["Statement"]
    named = [statement.get("Principal") for statement in (statements if isinstance(statements, list) else [statements])]
    return None if named and all(named) else "Missing required field Principal"


def _problem(validator: Any, document: Document) -> str | None:
    from moto.core.exceptions import ServiceException

    try:
        validator(_versioned(_text(document))).validate()
    except ServiceException as error:
        return str(error.message)
    return None


def _versioned(text: str) -> str:
    """The document in the version that moto takes; IAM takes the older one too, which is that of a document without one."""
    try:
        document = json.loads(text)
    except ValueError:
        return text
    older = isinstance(document, dict) and document.get("Version", "2008-10-17") == "2008-10-17"
    return json.dumps({**document, "Version": "2012-10-17"}) if older else text


def _text(document: Document) -> str:
    return document if isinstance(document, str) else json.dumps(document)
