"""Whether a value is known only at deployment, or not before a look-up, told without a call into jsii."""

from __future__ import annotations

from hyperpod_constructs._placeholders import holds_placeholder

_MARK = "${Token["


def is_token(value: object) -> bool:
    """Whether a text holds a CDK token, or a number is one: CDK encodes them as a mark in texts, and as negative numbers beyond
    any count or size (https://docs.aws.amazon.com/cdk/v2/guide/tokens.html)."""
    if isinstance(value, str):
        return _MARK in value
    return isinstance(value, int | float) and value < -1e280


def is_unknown(value: object) -> bool:
    """Whether a value cannot be judged: it is a token, or stands for what CDK has yet to look up."""
    return is_token(value) or (isinstance(value, str) and holds_placeholder(value))
