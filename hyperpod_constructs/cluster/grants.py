"""Permissions on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from aws_cdk import Aws, Fn
from aws_cdk import aws_iam as iam

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.values import ClusterArn
from hyperpod_constructs.facts import session_manager
from hyperpod_constructs.facts.cluster_actions import MANAGE_NODES, READ, READ_LOGS
from hyperpod_constructs.facts.node_permissions import LOG_GROUPS


class ClusterReference(Protocol):
    """A cluster as grants need it."""

    @property
    def cluster_arn(self) -> str: ...


class ClusterGrants:
    """Permissions on one cluster, by its ARN; reached as `cluster.grants`.

    A grant to a role of the cluster's own nodes is refused, because the cluster awaits that role with its policies: attach an
    `iam.Policy` of your own to it.
    """

    @checked
    def __init__(self, cluster_arn: ClusterArn, *, admit: Callable[[iam.IPrincipal], None] | None = None) -> None:
        """
        :param cluster_arn: the cluster.
        :param admit: called with each grantee before its grant, to refuse it; all are admitted when not given.
        :raises ValueError: for a text that is not the ARN of a cluster.
        """
        self._arn = cluster_arn
        self._admit = admit

    @classmethod
    @checked
    def from_cluster(cls, cluster: ClusterReference) -> ClusterGrants:
        """Grants on a cluster of this app or an imported one."""
        own = getattr(cluster, "grants", None)
        return own if isinstance(own, cls) else cls(cluster.cluster_arn)

    @checked
    def connect(self, grantee: iam.IGrantable) -> iam.Grant:
        """Open shells on the nodes by Session Manager, and list the nodes to find one.

        The session documents are AWS's own: a shell, SSH, a single command, and forwarding of ports.
        """
        region, partition = Fn.select(3, Fn.split(":", self._arn)), Aws.PARTITION
        session = self._add(
            grantee,
            ["ssm:StartSession"],
            [
                self._arn,
                f"arn:{partition}:ssm:{region}:{Aws.ACCOUNT_ID}:document/{session_manager.SHELL}",
                *(f"arn:{partition}:ssm:{region}::document/{name}" for name in session_manager.DOCUMENTS),
            ],
        )
        own = self._add(
            grantee,
            list(session_manager.OWN_SESSIONS),
            [f"arn:{partition}:ssm:{region}:{Aws.ACCOUNT_ID}:session/${{aws:userid}}-*"],
        )
        return session.combine(own).combine(self.read(grantee))

    @checked
    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """See the cluster, its nodes and its events."""
        return self._grant(grantee, READ)

    @checked
    def read_logs(self, grantee: iam.IGrantable) -> iam.Grant:
        """Read what the nodes have written to the cluster's log group, and see the cluster, its nodes and its events."""
        region, id = Fn.select(3, Fn.split(":", self._arn)), Fn.select(1, Fn.split("/", self._arn))
        group = f"arn:{Aws.PARTITION}:logs:{region}:{Aws.ACCOUNT_ID}:log-group:{LOG_GROUPS}/*/{id}:*"
        return self._add(grantee, [READ_LOGS], [group]).combine(self.read(grantee))

    @checked
    def manage_nodes(self, grantee: iam.IGrantable) -> iam.Grant:
        """See, reboot, replace, add, delete and examine nodes, and update their software.

        A replaced node loses its volumes. On Slurm the controller cannot be replaced.
        """
        return self._grant(grantee, MANAGE_NODES).combine(self.read(grantee))

    def _grant(self, grantee: iam.IGrantable, operations: tuple[str, ...]) -> iam.Grant:
        return self._add(grantee, [f"sagemaker:{operation}" for operation in operations], [self._arn])

    def _add(self, grantee: iam.IGrantable, actions: list[str], resources: list[str]) -> iam.Grant:
        if self._admit is not None:
            self._admit(grantee.grant_principal)
        return iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=resources)
