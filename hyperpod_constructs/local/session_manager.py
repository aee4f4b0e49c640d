"""The embedded Session Manager: who may start a session on a node of a cluster, and on which node.

A session has no data channel here: who may start one enters a virtual node by its command.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.facts import session_manager
from hyperpod_constructs.local.aws_service import AwsError, Caller, Service
from hyperpod_constructs.local.clients import partition

Parameters = Mapping[str, Any]

OPERATIONS = frozenset({"StartSession", "TerminateSession"})
"""What is answered here; Systems Manager's other operations are ministack's."""

_TARGET = re.compile(r"sagemaker-cluster:(?P<cluster>[a-z0-9]{1,64})_(?P<group>[A-Za-z0-9-]{1,63})-(?P<node>i-[0-9a-f]{8,17})")
_OWNER_CHARACTERS = 78
"""What is left of the 96 characters of a session's id for its owner."""


class SessionManager:
    """Sessions on the nodes of clusters. Nothing is remembered, so a session that is ended twice is no error.

    :param sagemaker: tells which nodes run.
    """

    name = "ssm"

    def __init__(self, sagemaker: Service) -> None:
        self._sagemaker = sagemaker

    def call(self, operation: str, parameters: Parameters, caller: Caller) -> dict[str, Any]:
        """Answer one operation.

        :raises AwsError: for a target that is no running node, and for a document that is not known.
        """
        if operation == "TerminateSession":
            return {"SessionId": parameters["SessionId"]}
        document = parameters.get("DocumentName", session_manager.SHELL)
        if document not in (session_manager.SHELL, *session_manager.DOCUMENTS):
            raise AwsError("InvalidDocument", f"Document with name {document} does not exist.")
        target = parameters["Target"]
        if not self._runs(target, caller):
            raise AwsError("TargetNotConnected", f"{target} is not connected.")
        owner = (caller.principal or caller.account)[:_OWNER_CHARACTERS]
        session = f"{owner}-{secrets.token_hex(9)[1:]}"
        channel = f"{caller.endpoint.replace('http', 'ws', 1)}/v1/data-channel/{session}"
        return {"SessionId": session, "TokenValue": secrets.token_urlsafe(48), "StreamUrl": channel}

    def reset(self) -> None:
        """Nothing to forget."""

    def _runs(self, target: str, caller: Caller) -> bool:
        found = _TARGET.fullmatch(target)
        if found is None:
            return False
        asked = {"ClusterName": cluster_arn(found["cluster"], caller), "NodeId": found["node"]}
        try:
            node = self._sagemaker.call("DescribeClusterNode", asked, caller)["NodeDetails"]
        except AwsError as error:
            if error.code != "ResourceNotFound":
                raise
            return False
        return bool(node["InstanceGroupName"] == found["group"] and node["InstanceStatus"]["Status"] == "Running")


def target_arn(target: Any, caller: Caller) -> str | None:
    """The cluster of the node that a target names, which policies speak of; None for a target of another form."""
    found = _TARGET.fullmatch(target) if isinstance(target, str) else None
    return None if found is None else cluster_arn(found["cluster"], caller)


def document_arn(name: Any, caller: Caller) -> str:
    """The ARN of a session document, by default the account's own. AWS's documents belong to no account."""
    document = name if isinstance(name, str) else session_manager.SHELL
    account = "" if document in session_manager.DOCUMENTS else caller.account
    return f"arn:{partition(caller.region)}:ssm:{caller.region}:{account}:document/{document}"


def cluster_arn(id: str, caller: Caller) -> str:
    """The ARN of a cluster by its last part."""
    return f"arn:{partition(caller.region)}:sagemaker:{caller.region}:{caller.account}:cluster/{id}"
