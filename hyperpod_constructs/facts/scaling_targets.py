"""What Application Auto Scaling scales: the ids of its targets, by the dimension that is scaled (as of 2026-11-27).

Source: https://docs.aws.amazon.com/autoscaling/application/APIReference/API_RegisterScalableTarget.html
"""

from __future__ import annotations

from collections.abc import Mapping

IDS: Mapping[str, str] = {
    "appstream:fleet": "fleet/NAME",
    "cassandra:table": "keyspace/KEYSPACE/table/NAME",
    "dynamodb:index": "table/TABLE/index/NAME",
    "dynamodb:table": "table/NAME",
    "ec2:spot-fleet-request": "spot-fleet-request/ID",
    "ecs:service": "service/CLUSTER/NAME",
    "elasticache:cache-cluster": "cache-cluster/NAME",
    "elasticache:replication-group": "replication-group/NAME",
    "elasticmapreduce:instancegroup": "instancegroup/CLUSTER/ID",
    "lambda:function": "function:NAME:ALIAS",
    "neptune:cluster": "cluster:NAME",
    "rds:cluster": "cluster:NAME",
    "sagemaker:inference-component": "inference-component/NAME",
    "sagemaker:variant": "endpoint/NAME/variant/VARIANT",
    "workspaces:workspacespool": "workspacespool/ID",
}
"""The forms of ids by the first two fields of a dimension; words in capitals are names."""

NAMED: Mapping[str, tuple[str, ...]] = {
    "cassandra:table": ("AWS::Cassandra::Keyspace", "AWS::Cassandra::Table"),
    "dynamodb:index": ("AWS::DynamoDB::GlobalTable", "AWS::DynamoDB::Table"),
    "dynamodb:table": ("AWS::DynamoDB::GlobalTable", "AWS::DynamoDB::Table"),
    "ecs:service": ("AWS::ECS::Cluster", "AWS::ECS::Service"),
    "lambda:function": ("AWS::Lambda::Alias", "AWS::Lambda::Function", "AWS::Lambda::Version"),
    "rds:cluster": ("AWS::RDS::DBCluster",),
    "sagemaker:inference-component": ("AWS::SageMaker::InferenceComponent",),
    "sagemaker:variant": ("AWS::SageMaker::Endpoint",),
}
"""The types whose resources such an id names (as of 2026-11-27)."""

NAMES: Mapping[str, str] = {
    "dynamodb:index": "TableName",
    "dynamodb:table": "TableName",
    "sagemaker:inference-component": "InferenceComponentName",
    "sagemaker:variant": "EndpointName",
}
"""Their property with the name that is the second part of such an id (as of 2026-11-27)."""

MONITORS = ("DataQuality", "ModelBias", "ModelExplainability", "ModelQuality")
"""The kinds of jobs that monitor an endpoint by what it captures (as of 2026-11-27).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_EndpointInput.html
"""

BURSTABLE = ("ml.t2.",)
"""Instances behind a variant that is not scaled, by the begin of their types (as of 2026-11-27).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-add-console.html
"""
