"""Users who start sessions with a key: their policy names the key, and does not let them make the key of a session with it.

Sources: https://docs.aws.amazon.com/systems-manager/latest/userguide/session-preferences-enable-encryption.html and
https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-restrict-access-quickstart.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.contexts import OF_PEOPLE
from hyperpod_constructs.analysis.documents import Written
from hyperpod_constructs.analysis.people import policies_of_users
from hyperpod_constructs.analysis.policy_document import Call, Layer, Statement, layer_of
from hyperpod_constructs.analysis.session_calls import session_keys
from hyperpod_constructs.facts.permissions import STARTING
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import UNKNOWN, Reference

_START = "ssm:StartSession"


class Keyless(NamedTuple):
    """A policy that names a key, and does not allow what sessions take of it.

    :param statement: the statement that names the key.
    """

    statement: Written
    document: Resource
    key: Resource


def keyless(model: Model) -> Iterator[Keyless]:
    """The policies of users who may start sessions of a document, and not use its key for them."""
    keys = dict(session_keys(model))
    for statements in policies_of_users(model).values() if keys else ():
        started = [one for one in keys if any(_starts(each.statement, one) for each in statements)]
        for document in started:
            named = [each for each in statements if _names(each.statement, keys[document])]
            if named and not _may_begin(statements, keys[document]):
                yield Keyless(named[0], document, keys[document])


def _starts(statement: Statement, document: Resource) -> bool:
    """Whether a statement allows to start sessions of a document, which it names."""
    return _is_plain(statement) and statement.speaks_of(_START) is True and document in references(statement.resources)


def _names(statement: Statement, key: Resource) -> bool:
    """Whether a statement allows something with a key, which it names."""
    return _is_plain(statement) and key in references(statement.resources)


def _is_plain(statement: Statement) -> bool:
    return statement.effect == "Allow" and not statement.excludes_resources and not statement.excludes_actions


def _may_begin(statements: Sequence[Written], key: Resource) -> bool:
    """Whether a policy, or that of the key, may let users make the key of a session."""
    context = dict.fromkeys(OF_PEOPLE, UNKNOWN)
    calls = [Call(action, Reference(key, "Arn"), context) for action in STARTING.actions]
    layers = (Layer(tuple(one.statement for one in statements)), _of_key(key))
    return any(layer.allows(call) is not False for layer in layers for call in calls)


def _of_key(key: Resource) -> Layer:
    """What the policy of a key gives to single users; the account gives what its own policies say."""
    layer = layer_of(key.get("KeyPolicy"))
    named = (one for one in layer.statements if any(not _is_account(each) for each in one.principals("AWS") or ()))
    return Layer(tuple(named), layer.complete)


def _is_account(principal: object) -> bool:
    return str(principal).endswith(":root")
