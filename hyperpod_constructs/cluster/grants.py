"""Permissions on a cluster."""

from __future__ import annotations

from typing import Protocol

from aws_cdk import Aws, Fn
from aws_cdk import aws_iam as iam

_READ = ("DescribeCluster", "DescribeClusterEvent", "DescribeClusterNode", "ListClusterEvents", "ListClusterNodes")
_MANAGE = (
    "BatchAddClusterNodes",
    "BatchDeleteClusterNodes",
    "BatchRebootClusterNodes",
    "BatchReplaceClusterNodes",
    "UpdateClusterSoftware",
)


class ClusterReference(Protocol):
    """A cluster as grants need it."""

    @property
    def cluster_arn(self) -> str: ...


class ClusterGrants:
    """Permissions on one cluster, by its ARN; reached as `cluster.grants`.

    The grantee cannot be a role of the cluster's own nodes, because the cluster awaits that role: attach your own `iam.Policy` to
    it.
    """

    def __init__(self, cluster_arn: str) -> None:
        self._arn = cluster_arn

    @classmethod
    def from_cluster(cls, cluster: ClusterReference) -> ClusterGrants:
        """Grants on a cluster of this app or an imported one."""
        return cls(cluster.cluster_arn)

    def connect(self, grantee: iam.IGrantable) -> iam.Grant:
        """Open shells on the nodes by Session Manager, and list the nodes to find one.

        The session documents are AWS's own: a shell, SSH, and a single command.
        """
        region, partition = Fn.select(3, Fn.split(":", self._arn)), Aws.PARTITION
        documents = ("SSM-SessionManagerRunShell", "AWS-StartSSHSession", "AWS-StartNonInteractiveCommand")
        session = iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["ssm:StartSession"],
            resource_arns=[
                self._arn,
                f"arn:{partition}:ssm:{region}:{Aws.ACCOUNT_ID}:document/{documents[0]}",
                *(f"arn:{partition}:ssm:{region}::document/{name}" for name in documents[1:]),
            ],
        )
        own = iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["ssm:ResumeSession", "ssm:TerminateSession"],
            resource_arns=[f"arn:{partition}:ssm:{region}:{Aws.ACCOUNT_ID}:session/${{aws:userid}}-*"],
        )
        return session.combine(own).combine(self.read(grantee))

    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """See the cluster, its nodes and its events."""
        return self._grant(grantee, _READ)

    def manage_nodes(self, grantee: iam.IGrantable) -> iam.Grant:
        """See, reboot, replace, add and delete nodes, and update their software.

        A replaced node loses its volumes. On Slurm the controller cannot be replaced.
        """
        return self._grant(grantee, _MANAGE).combine(self.read(grantee))

    def _grant(self, grantee: iam.IGrantable, operations: tuple[str, ...]) -> iam.Grant:
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=[f"sagemaker:{operation}" for operation in operations],
            resource_arns=[self._arn],
        )
