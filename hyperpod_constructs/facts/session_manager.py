"""Session Manager on HyperPod: targets, documents and limits.

A node takes `StartSession` only, not `SendCommand`. Its shell is root's. `sshd` listens on port 22.

Sources: https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-specify-session-document.html (documents, the
default; read on 2026-11-24), the source of https://github.com/aws/session-manager-plugin (a session ends with standard input, its
exit code is 0), and botocore's model of SSM (the longest value of a parameter). The form of the target stands in
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-run-jobs-slurm-access-nodes.html. No source says that HyperPod's
nodes take the documents for ports; it was not tried.
"""

from __future__ import annotations

SHELL = "SSM-SessionManagerRunShell"
"""A shell. It is the account's own document, and the one that a session has unless another is named."""

INTERACTIVE_COMMAND = "AWS-StartInteractiveCommand"
NON_INTERACTIVE_COMMAND = "AWS-StartNonInteractiveCommand"
SSH = "AWS-StartSSHSession"
"""Standard input and output, joined to a port of the node."""

PORT = "AWS-StartPortForwardingSession"
REMOTE_PORT = "AWS-StartPortForwardingSessionToRemoteHost"

DOCUMENTS = (SSH, NON_INTERACTIVE_COMMAND, INTERACTIVE_COMMAND, PORT, REMOTE_PORT)
"""Documents of AWS, which no account owns."""

OWN_SESSIONS = ("ssm:ResumeSession", "ssm:TerminateSession", "ssmmessages:OpenDataChannel")
"""Actions on sessions of one's own: to open their data channel, to join and to end them.

Source: https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-restrict-access-quickstart.html
"""

PARAMETER_CHARACTERS = 65_535
"""The longest value of a document's parameter."""

PLUGIN = "session-manager-plugin"
INSTALL_PLUGIN = "https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-working-with-install-plugin.html"
INSTALL_AWS_CLI = "https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html"

USERS = {"slurm": "ubuntu", "eks": "ec2-user"}
"""By orchestrator: the ordinary user that the image of the service has."""


def session_target(cluster_id: str, group: str, instance_id: str) -> str:
    """The target of a session on a node.

    :param cluster_id: the last part of the cluster's ARN.
    """
    return f"sagemaker-cluster:{cluster_id}_{group}-{instance_id}"
