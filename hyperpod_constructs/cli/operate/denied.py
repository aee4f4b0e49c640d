"""A missing permission, with the statement that grants it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from hyperpod_constructs.cli.operate.patience import throttled
from hyperpod_constructs.custom_resources.handlers.redaction import one_line
from hyperpod_constructs.facts.cluster_actions import GRANTS

if TYPE_CHECKING:
    from botocore.exceptions import ClientError

_CODES = ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation")
_CHARACTERS = 1000
_SENTENCE = re.compile(r"not authorized to perform: ([a-z0-9-]{1,40}:[A-Za-z]{1,80})(?: on resource: (\S{1,2048}))?")


def explained(error: ClientError) -> str | None:
    """What to grant, or `None` for an error that is no missing permission.

    :param error: the answer of the service. Its sentence names action and resource; only those are taken from it.
    """
    answer = error.response.get("Error", {})
    if answer.get("Code") not in _CODES:
        return None
    sentence = said(answer.get("Message", ""))
    if sentence is None:
        return f"{error.operation_name} is not allowed, and AWS does not say why: ask whoever gives you permissions for it"
    return sentence


def advice(error: ClientError) -> str | None:
    """What to do about a missing permission, or about throttling; `None` for any other error."""
    sentence = throttled(error)
    return explained(error) if sentence is None else f"{sentence}; try again in a minute"


def in_words(error: Exception) -> str:
    """Any error as one line."""
    from botocore.exceptions import ClientError

    return (advice(error) if isinstance(error, ClientError) else None) or one_line(str(error), _CHARACTERS)


def said(message: str) -> str | None:
    """What to grant, by the sentence of a service or of the AWS CLI; `None` if it names no missing permission."""
    found = _SENTENCE.search(message)
    if found is None:
        return None
    action, resource = found[1], (found[2] or "*").rstrip(".,;")
    statement = json.dumps({"Effect": "Allow", "Action": action, "Resource": resource})
    grant = f", or cluster.grants.{GRANTS[action]}(role) in the app" if action in GRANTS else ""
    return f"{action} is not allowed; this statement grants it{grant}: {statement}"
