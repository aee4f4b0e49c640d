"""Values that are unknown until the deployment or a look-up, recognized without a call into jsii."""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_constructs._support.placeholders import holds_placeholder

_MARK = "${Token["
_LIST_MARK = "#{Token["


def is_token(value: object) -> bool:
    """Whether a text holds a CDK token, or a number is one.

    CDK encodes tokens as a mark in texts, and as negative numbers beyond any count or size.

    Source: https://docs.aws.amazon.com/cdk/v2/guide/tokens.html
    """
    if isinstance(value, str):
        return _MARK in value
    return isinstance(value, int | float) and value < -1e280


def is_list_token(values: Sequence[object]) -> bool:
    """Whether a list is a token as a whole: CDK encodes it as a list with one marked text."""
    return any(isinstance(value, str) and _LIST_MARK in value for value in values)


def is_unknown(value: object) -> bool:
    """Whether a value cannot be judged: it holds a token or a placeholder of a look-up."""
    return is_token(value) or (isinstance(value, str) and holds_placeholder(value))
