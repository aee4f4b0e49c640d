"""CodePipeline: what actions take and give, and what their configuration names (as of 2026-11-27; read, not measured).

Sources: https://docs.aws.amazon.com/codepipeline/latest/userguide/reference-action-artifacts.html,
https://docs.aws.amazon.com/codepipeline/latest/userguide/action-requirements.html and
https://docs.aws.amazon.com/codepipeline/latest/userguide/reference-pipeline-structure.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Artifacts(NamedTuple):
    """The numbers of artifacts that an action takes and gives, least and most."""

    least_in: int
    most_in: int
    least_out: int
    most_out: int


SOURCE = "Source"
ARTIFACTS: Mapping[tuple[str, str], Artifacts] = {
    **{(SOURCE, name): Artifacts(0, 0, 1, 1) for name in ("S3", "CodeCommit", "ECR", "CodeStarSourceConnection")},
    **{(kind, "CodeBuild"): Artifacts(1, 5, 0, 5) for kind in ("Build", "Test")},
    **{("Deploy", name): Artifacts(1, 1, 0, 0) for name in ("S3", "CodeDeploy", "ECS")},
    ("Deploy", "CloudFormation"): Artifacts(0, 10, 0, 1),
    ("Invoke", "Lambda"): Artifacts(0, 5, 0, 5),
    ("Approval", "Manual"): Artifacts(0, 0, 0, 0),
}
"""The artifacts of actions, by their category and provider."""

CONFIGURATION: Mapping[tuple[str, str], tuple[str, ...]] = {
    (SOURCE, "S3"): ("S3Bucket", "S3ObjectKey"),
    (SOURCE, "CodeStarSourceConnection"): ("ConnectionArn", "FullRepositoryId", "BranchName"),
    ("Build", "CodeBuild"): ("ProjectName",),
    ("Test", "CodeBuild"): ("ProjectName",),
    ("Invoke", "Lambda"): ("FunctionName",),
}
"""What the configuration of an action always has.

Source: https://docs.aws.amazon.com/codepipeline/latest/userguide/action-reference.html
"""

VERSION = "1"
"""The version of every action of AWS."""

MODES: Mapping[str, tuple[str, ...]] = {
    "CHANGE_SET_EXECUTE": ("ChangeSetName", "StackName"),
    "CHANGE_SET_REPLACE": ("ChangeSetName", "RoleArn", "StackName", "TemplatePath"),
    "CREATE_UPDATE": ("RoleArn", "StackName", "TemplatePath"),
    "DELETE_ONLY": ("RoleArn", "StackName"),
    "REPLACE_ON_FAILURE": ("RoleArn", "StackName", "TemplatePath"),
}
CAPABILITIES = ("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND")
"""What an action of CloudFormation does, each with what its configuration then has, and what it may acknowledge.

Source: https://docs.aws.amazon.com/codepipeline/latest/userguide/action-reference-CloudFormation.html (as of 2026-11-28)
"""

PATHS = ("TemplatePath", "TemplateConfiguration")
"""Settings that name a file of an artifact, as ARTIFACT::FILE."""

FORMS: Mapping[str, tuple[str, str]] = {
    "FullRepositoryId": (r"(?!https?:|git@)[^/\s]+(/[^/\s]+)+(?<!\.git)", "OWNER/NAME, without an address"),
    "BranchName": (r"(?!refs/).+", "the name of a branch, without refs/heads/"),
}
"""The forms of settings of sources, with words.

Source: https://docs.aws.amazon.com/codepipeline/latest/userguide/action-reference-CodestarConnectionSource.html (as of 2026-11-28)
"""
