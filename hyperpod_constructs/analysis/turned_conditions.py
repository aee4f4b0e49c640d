"""Conditions the wrong way round: statements that let in whoever comes without a second factor or without TLS, and the like.

Sources: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html and
https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_mfa_configure-api-require.html
"""

from __future__ import annotations

from hyperpod_constructs.analysis.conditions import taken_apart
from hyperpod_constructs.analysis.policy_document import Statement, listed
from hyperpod_constructs.templates.values import as_bool, at

_FACTOR, _TLS, _AGE = "aws:multifactorauthpresent", "aws:securetransport", "aws:multifactorauthage"
_WITHOUT = {_FACTOR: "a second factor", _TLS: "TLS"}
_OLDER, _YOUNGER = ("numericgreaterthan", "numericgreaterthanequals"), ("numericlessthan", "numericlessthanequals")


def turned(statement: Statement, operator: str, name: str, *, of_users: bool = False) -> str | None:
    """Words for a condition the wrong way round; `None` for another one.

    :param of_users: the statement is of a policy of users, who come with access keys too.
    """
    key, (base, _, optional) = name.lower(), taken_apart(operator)
    value, allows = at(statement.raw, "Condition", operator, name), statement.effect == "Allow"
    if key == _AGE and base in (_OLDER if allows else _YOUNGER):
        return f"{name} {'lets only those' if allows else 'denies those'} in whose second factor is {_age(allows)}"
    if key not in _WITHOUT or base not in ("bool", "stringequals", "stringequalsignorecase"):
        return None
    asked = [as_bool(one) for one in listed(value)]
    return _of_protection(statement, name, asked, optional=optional, of_users=of_users) if len(asked) == 1 else None


def _age(allows: bool) -> str:
    return "old" if allows else "new"


def _of_protection(statement: Statement, name: str, asked: list[bool | None], *, optional: bool, of_users: bool) -> str | None:
    without = _WITHOUT[name.lower()]
    if statement.effect == "Allow" and asked == [False]:
        return f"{name} false lets in only who comes without {without}"
    if name.lower() != _FACTOR:
        return None
    if statement.effect == "Allow":
        open_ = optional and asked == [True] and (of_users or statement.principals("AWS"))
        return f"access keys have no {name}, and IfExists lets them in without {without}" if open_ else None
    if statement.effect != "Deny":
        return None
    if asked == [True]:
        return f"{name} true denies those with {without}, and nobody else"
    if asked == [False] and not optional:
        return f"access keys have no {name}, and only BoolIfExists denies them too"
    return None
