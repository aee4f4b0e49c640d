"""The outputs of a cluster: its ARN, its log group, and the command that opens a shell on a node."""

from __future__ import annotations

from collections.abc import Callable

from aws_cdk import CfnOutput
from constructs import Construct

from hyperpod_constructs._support.deferred import deferred_text
from hyperpod_constructs._support.tree import region_of
from hyperpod_constructs.facts.node_permissions import LOG_GROUPS


def create_outputs(cluster: Construct, *, arn: str, id: str, name: str | None, node: str, group: Callable[[], str]) -> None:
    """Make the outputs in the cluster's scope.

    :param arn: the cluster's ARN.
    :param id: its last part.
    :param name: its name, if it is known.
    :param node: the kind of node that the shell opens on, such as `the controller`.
    :param group: the name of that node's group, known at synthesis.
    """
    region = region_of(cluster)
    CfnOutput(cluster, "ClusterArn", value=arn, description="ARN of the HyperPod cluster")
    CfnOutput(
        cluster,
        "LogGroup",
        value=f"{LOG_GROUPS}/{_name_in_a_shell(name, arn, region)}/{id}",
        description="log group of lifecycle scripts and health monitoring"
        + ("; a shell fills in the cluster's name" if name is None else ""),
    )
    CfnOutput(
        cluster,
        "ConnectCommand",
        value=deferred_text(lambda: _connect_command(arn, id, region, group())),
        description=f"opens a shell on {node}, which it finds when it is run",
    )


def _name_in_a_shell(name: str | None, arn: str, region: str) -> str:
    """The name, or a command that reads it: CloudFormation does not return the name that it makes."""
    if name is not None:
        return name
    asked = f"aws sagemaker describe-cluster --region {region} --cluster-name {arn}"
    return f"$({asked} --query ClusterName --output text)"


def _connect_command(arn: str, id: str, region: str, group: str) -> str:
    query = f"ClusterNodeSummaries[?InstanceGroupName=='{group}']|[0].InstanceId"
    node = f'aws sagemaker list-cluster-nodes --region {region} --cluster-name {arn} --output text --query "{query}"'
    target = f"sagemaker-cluster:{id}_{group}-$({node})"
    return f'aws ssm start-session --region {region} --target "{target}"'
