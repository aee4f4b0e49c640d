"""Waits in a deployment for objects of Kubernetes that the service makes some time after the resource that asks for them.

kubectl applies a manifest once: without its namespace or its kind it fails, and the stack with it.
"""

from __future__ import annotations

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IDependable

from hyperpod_constructs.custom_resources.provider import minutes

_LONGEST_MINUTES = 14
"""Below the 15 minutes of the Lambda function, so that its own message tells what was missing.

Source: https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html
"""


def await_namespace(scope: Construct, id: str, *, cluster: eks.ICluster, name: str, after: IDependable) -> IDependable:
    """Complete when a namespace is there, for 14 minutes at most.

    :param after: what makes the service make it.
    """
    return _await(scope, id, cluster, "namespace", name, ".status.phase", after)


def await_definition(scope: Construct, id: str, *, cluster: eks.ICluster, name: str, after: IDependable) -> IDependable:
    """Complete when a kind of custom objects is there, for 14 minutes at most.

    :param name: of its CustomResourceDefinition, such as `nodepools.karpenter.sh`.
    :param after: what makes the service install it.
    """
    return _await(scope, id, cluster, "customresourcedefinition", name, ".status.acceptedNames.kind", after)


def _await(
    scope: Construct, id: str, cluster: eks.ICluster, kind: str, name: str, path: str, after: IDependable
) -> eks.KubernetesObjectValue:
    """Complete when the object has a value at `path`."""
    found = eks.KubernetesObjectValue(
        scope, id, cluster=cluster, object_type=kind, object_name=name, json_path=path, timeout=minutes(_LONGEST_MINUTES)
    )
    found.node.add_dependency(after)
    return found
