"""ARNs of clusters, which hold their ids."""

from __future__ import annotations

from aws_cdk import Token

from hyperpod_constructs._support.tokens import is_token


def cluster_id(cluster_arn: str) -> str:
    """The last part of a cluster's ARN; `Fn.select` and `Fn.split` would be two calls into jsii."""
    return (
        Token.as_string({"Fn::Select": [1, {"Fn::Split": ["/", cluster_arn]}]})
        if is_token(cluster_arn)
        else cluster_arn.split("/")[1]
    )
