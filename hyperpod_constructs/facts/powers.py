"""Powers: what makes whoever has it the administrator of an account (as of 2026-11-27)."""

from __future__ import annotations

ESCALATING = (
    "iam:AttachRolePolicy",
    "iam:CreateAccessKey",
    "iam:CreatePolicyVersion",
    "iam:PutRolePolicy",
    "iam:SetDefaultPolicyVersion",
    "iam:UpdateAssumeRolePolicy",
)
"""Actions by which a principal gives itself every permission, where they are allowed on every role, policy or user.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_managed-vs-inline.html and
https://docs.aws.amazon.com/wellarchitected/latest/security-pillar/sec_permissions_least_privileges.html
"""

WIDE_POLICIES = ("AdministratorAccess", "IAMFullAccess", "PowerUserAccess")
"""Managed policies for administrators and developers, not for programs.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_job-functions.html
"""

PROGRAMS = frozenset(
    (
        "ec2.amazonaws.com",
        "ecs-tasks.amazonaws.com",
        "glue.amazonaws.com",
        "lambda.amazonaws.com",
        "pods.eks.amazonaws.com",
        "sagemaker.amazonaws.com",
        "states.amazonaws.com",
    )
)
"""Services that run code of users, or their tasks, with the roles that they are given."""

DEPLOYERS = frozenset(("lambda.amazonaws.com", "states.amazonaws.com"))
"""Those of them whose code may well change single roles: only all of IAM is too much for them.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-custom-resources.html
"""
