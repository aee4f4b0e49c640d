"""Names of service quotas, and the values that AWS documents (as of 2026-11-22).

An account's values and codes come from Service Quotas: most values are 0 until AWS grants more, and the codes of instance types
differ from each other in public sources. The names of spot quotas and of FSx come from public records of answers of Service Quotas,
not from AWS's documentation; an account that lists no such name is not held to one.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
"""

from __future__ import annotations

NODES_OF_TYPE = "{} for cluster usage"
"""Nodes of an instance type, in all clusters of the account in a region."""

SPOT_NODES_OF_TYPE = "{} for cluster spot instance usage"
"""Spot nodes of an instance type, in all clusters of the account in a region."""

NODES_OF_A_CLUSTER = "Maximum number instances allowed per SageMaker HyperPod cluster"

NODES_OF_ALL_CLUSTERS = "Total number of instances allowed across SageMaker HyperPod clusters"

SPOT_NODES_OF_ALL_CLUSTERS = "Total number of Spot instances allowed across SageMaker HyperPod clusters"

VOLUME_SIZE = "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance"

INTERFACES = "Network interfaces per Region"
"""Of Amazon VPC; 5,000 unless AWS grants more.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
"""

FILE_SYSTEMS = "{} file systems"
"""File systems of a kind, such as `Lustre Persistent_2`."""

FILE_SYSTEM_CAPACITY = "{} storage capacity"
"""Storage of all file systems of a kind."""

PERSISTENT_KINDS = ("Lustre Persistent_1", "Lustre Persistent_2")
"""Kinds of Lustre file systems with quotas of their own."""

INCREASE = "request an increase of this quota in Service Quotas"
"""What SageMaker asks for when it refuses more than a quota, in our words."""
