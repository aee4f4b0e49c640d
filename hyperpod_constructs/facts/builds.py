"""What CodeBuild and Image Builder read of their documents (as of 2026-11-27; read, not measured).

Sources: https://docs.aws.amazon.com/codebuild/latest/userguide/build-spec-ref.html and
https://docs.aws.amazon.com/imagebuilder/latest/userguide/toe-use-documents.html
"""

from __future__ import annotations

BUILD_VERSIONS = ("0.1", "0.2")
BUILD_KEYS = ("version", "run-as", "env", "proxy", "batch", "phases", "reports", "artifacts", "cache")
BUILD_PHASES = ("install", "pre_build", "build", "post_build")
PHASE_KEYS = ("run-as", "on-failure", "runtime-versions", "commands", "steps", "finally")
"""The keys of a build specification, of its phases, and of each of those."""

IMAGE_PHASES = ("build", "validate", "test")
"""The phases of a component that Image Builder runs; one more is for containers."""

IMAGE_ACTIONS = (
    *(
        "AppendFile",
        "Assert",
        "CopyFile",
        "CopyFolder",
        "CreateFile",
        "CreateFolder",
        "CreateSymlink",
        "DeleteFile",
        "DeleteFolder",
    ),
    *("ExecuteBash", "ExecuteBinary", "ExecuteDocument", "ExecutePowerShell", "InstallMSI", "ListFiles", "MoveFile", "MoveFolder"),
    *("ReadFile", "Reboot", "S3Download", "S3Upload", "SetFileEncoding", "SetFileOwner", "SetFilePermissions", "SetFolderOwner"),
    *("SetFolderPermissions", "SetRegistry", "UninstallMSI", "UpdateOS", "WebDownload"),
)
"""The actions of the steps of a component.

Source: https://docs.aws.amazon.com/imagebuilder/latest/userguide/toe-action-modules.html (as of 2026-11-28)
"""
