"""What CodeBuild and Image Builder read of their documents (as of 2026-11-27; read, not measured).

Sources: https://docs.aws.amazon.com/codebuild/latest/userguide/build-spec-ref.html and
https://docs.aws.amazon.com/imagebuilder/latest/userguide/toe-use-documents.html
"""

from __future__ import annotations

import re

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

OF_IMAGES = re.compile(
    r"[a-z]\w*_proxy|_|[A-Z_]+_PROXY|GO\w+|(?:AWS|BASH|CODEBUILD|DOCKER|EPEL|GRADLE|JAVA|JDK|LC|MAVEN|N|NODE|NVM|PHP|PYENV|PYTHON|RUBY|SAGEMAKER"
    r"|SM|SSM|SUDO|XDG)(?:_\w+)?|\w+_(?:DIR|HOME|PATH|ROOT|VERSION)|CI|COLUMNS|DEBIAN_FRONTEND|EUID|FUNCNAME|GROUPS|HOME|HOST|HOSTNAME"
    r"|HOSTTYPE|IFS|LANG|LANGUAGE|LINENO|LINES|LOGNAME|MACHTYPE|MAIL|OLDPWD|OPTARG|OPTIND|OSTYPE|PATH|PIPESTATUS|PPID|PS\d|PWD|RANDOM"
    r"|REPLY|SECONDS|SHELL|SHELLOPTS|SHLVL|SRC_DIR|TERM|TMPDIR|TZ|UID|USER"
)
"""Variables that a shell, a service or an image sets, and names that an image may well set.

Sources: https://docs.aws.amazon.com/codebuild/latest/userguide/build-env-ref-env-vars.html and
https://github.com/aws/aws-codebuild-docker-images (as of 2026-11-29)
"""

NOT_AT_BOOT = ("HOME",)
"""Variables that systemd does not give to its services, such as those that run user data and scripts of nodes.

Sources: https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html#Environment%20Variables%20in%20Spawned%20Processes
and https://github.com/awslabs/awsome-distributed-ai/pull/874 (as of 2026-11-29)
"""

STARTERS = (
    "AWS::CodePipeline::Pipeline",
    "AWS::Events::Rule",
    "AWS::Lambda::Function",
    "AWS::Scheduler::Schedule",
    "AWS::StepFunctions::StateMachine",
)
"""Types that start builds, and may give them other variables.

Source: https://docs.aws.amazon.com/codebuild/latest/APIReference/API_StartBuild.html
"""

FETCHING = ("curl", "git", "helm", "wget")
"""Programs that fetch what is at the addresses behind them.

Source: https://docs.aws.amazon.com/codebuild/latest/userguide/vpc-support.html
"""
