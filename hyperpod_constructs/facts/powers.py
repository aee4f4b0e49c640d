"""Powers: what makes whoever has it the administrator of an account (as of 2026-11-27)."""

from __future__ import annotations

from collections.abc import Mapping

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

BUILDERS = frozenset(
    (
        "cloudformation.amazonaws.com",
        "codebuild.amazonaws.com",
        "codedeploy.amazonaws.com",
        "codepipeline.amazonaws.com",
        "fis.amazonaws.com",
        "hooks.cloudformation.amazonaws.com",
        "servicecatalog.amazonaws.com",
        "ssm.amazonaws.com",
    )
)
"""Services that deploy whatever a template, a pipeline or a runbook says, with the roles that they are given.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-iam-servicerole.html (as of 2026-11-29)
"""

DEPLOYERS = frozenset(("lambda.amazonaws.com", "states.amazonaws.com"))
"""Those of them whose code may well change single roles: only all of IAM is too much for them.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-custom-resources.html
"""

WHOLE: Mapping[str, tuple[str, str]] = {
    "kms:ScheduleKeyDeletion": ("delete every key", ":key/*"),
    "s3:DeleteObject": ("delete what every bucket holds", ":s3:::*"),
    "s3:PutBucketPolicy": ("open every bucket", ":s3:::*"),
    "sagemaker:DeleteCluster": ("delete every cluster", ":cluster/*"),
    "secretsmanager:GetSecretValue": ("read every secret", ":secret:*"),
    "ssm:SendCommand": ("run commands as root on every machine", ":instance/*"),
    "sts:AssumeRole": ("take every role", ":role/*"),
}
"""Actions that users of nodes and pods have no business to take on all resources of an account: in words, and the end of an ARN
that is for all of them.

Source: https://docs.aws.amazon.com/wellarchitected/latest/security-pillar/sec_permissions_least_privileges.html and
https://docs.aws.amazon.com/secretsmanager/latest/userguide/best-practices.html (as of 2026-11-27)
"""

SHELLS: Mapping[str, tuple[str, str]] = {
    "ecs:ExecuteCommand": ("open a shell in every container", ":task/*"),
    "ssm:SendCommand": ("run commands as root on every machine", ":instance/*"),
    "ssm:StartSession": ("open a shell on every machine, with every document", ""),
    "sts:AssumeRole": ("take every role", ":role/*"),
}
"""Actions by which people become somebody else, where they are named and allowed on all resources of an account: in words, and the
end of an ARN that is for all of them; without an end it is only `*`.

Sources: https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-restrict-access-quickstart.html,
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-exec.html and
https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html (as of 2026-11-29)
"""

GIVERS = frozenset(("AWS::EKS::PodIdentityAssociation", "AWS::IAM::InstanceProfile", "AWS::SageMaker::Cluster"))
"""Types that give roles to whoever works on nodes, in pods or on instances.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html (as of 2026-11-27)
"""
