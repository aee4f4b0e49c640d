"""What the L1 of a cluster renders, known at synthesis: with the service's names, and with CloudFormation's functions where a value
comes later.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Protocol

from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from hyperpod_constructs._support.tree import stack_of


class Clusterlike(Protocol):
    """A cluster of this app, or an existing one."""

    @property
    def cluster_arn(self) -> str:
        """Its ARN."""
        ...


def rendered(cluster: Clusterlike) -> Mapping[str, Any] | None:
    """The properties of a cluster of this app; `None` for an existing one. Overrides of the L1 are not in them."""
    resource = getattr(cluster, "resource", None)
    if not isinstance(resource, sagemaker.CfnCluster):
        return None
    found: Mapping[str, Any] = pascal(stack_of(resource).resolve(resource._cfn_properties))
    return found


def follows(cluster: Clusterlike, scope: Construct) -> list[Any]:
    """A property with which a resource in `scope` runs again after each change of the cluster's properties.

    It holds a digest of them and, in the cluster's own stack, each value that is known only in the deployment. It is empty for an
    existing cluster.
    """
    properties = rendered(cluster)
    if properties is None:
        return []
    digest = sha256(json.dumps(properties, sort_keys=True, default=str).encode()).hexdigest()[:32]
    beside = stack_of(scope) is stack_of(getattr(cluster, "resource", scope))
    functions = {json.dumps(found, sort_keys=True): found for found in functions_in(properties)} if beside else {}
    return [digest, *(functions[key] for key in sorted(functions))]


def pascal(value: Any) -> Any:
    """A value of an L1 with the names of its properties as in a template; functions stay as they are."""
    if isinstance(value, Mapping):
        return value if is_function(value) else {name[:1].upper() + name[1:]: pascal(item) for name, item in value.items()}
    return [pascal(item) for item in value] if isinstance(value, list) else value


def is_function(value: Any) -> bool:
    """Whether CloudFormation computes the value in the deployment."""
    return isinstance(value, Mapping) and len(value) == 1 and next(iter(value)).startswith(("Ref", "Fn::"))


def functions_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every value inside that CloudFormation computes."""
    if is_function(value):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from functions_in(item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from functions_in(item)
