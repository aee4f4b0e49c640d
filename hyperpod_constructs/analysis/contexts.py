"""Contexts of calls: the condition keys of which a call surely has a value, or surely has none.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hyperpod_constructs.analysis.conditions import Context
from hyperpod_constructs.templates.values import ABSENT, Value

OF_PEOPLE = (
    "aws:federatedprovider",
    "aws:multifactorauthage",
    "aws:multifactorauthpresent",
    "aws:username",
    "cognito-identity.amazonaws.com:aud",
    "saml:aud",
    "saml:iss",
    "sts:externalid",
)
"""The keys of calls of people, and of others from outside of AWS."""

_OF_PLACES = ("aws:sourcevpc", "aws:sourcevpce", "aws:vpcsourceip")
_OF_PRINCIPALS = ("aws:principalaccount", "aws:principalarn", "aws:principalorgid", "aws:principalorgpaths")
OF_OWNER = ("aws:resourceaccount", "s3:resourceaccount")
"""The keys with the account of what is called."""

OF_SERVICE: Context = {
    **dict.fromkeys((*OF_PEOPLE, *_OF_PLACES, *_OF_PRINCIPALS), ABSENT),
    "aws:principalisawsservice": "true",
    "aws:securetransport": "true",
}
"""The keys when a service calls as itself, as when it assumes a role; it may name itself by `aws:SourceArn`."""

OF_ANY_ROLE: Context = {"aws:principaltype": "AssumedRole", "aws:username": ABSENT}
"""The keys of a call of a role, whoever has assumed it: only users have a name."""

OF_USERS: Context = {"aws:principaltype": "User"}
"""The keys of a call of a user, who may come with long-term keys."""

OF_ROLE: Context = {
    **dict.fromkeys(OF_PEOPLE, ABSENT),
    **OF_ANY_ROLE,
    "aws:principalisawsservice": "false",
    "aws:securetransport": "true",
    "aws:sourceaccount": ABSENT,
    "aws:sourcearn": ABSENT,
}
"""The keys when a role that a service has assumed calls AWS."""


def having(contexts: Iterable[Mapping[str, Value]]) -> Context:
    """One context of several; the later ones win."""
    return {key: value for context in contexts for key, value in context.items()}
