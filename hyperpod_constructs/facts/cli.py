"""Commands of the AWS CLI and of Docker: the operations that they call (as of 2026-11-29; read, not measured).

Sources: https://docs.aws.amazon.com/cli/latest/reference/ and
https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-push-iam.html
"""

from __future__ import annotations

from collections.abc import Mapping

CREDENTIALS = frozenset({"*", "AWS_ACCESS_KEY_ID", "AWS_CONFIG_FILE", "AWS_PROFILE", "AWS_ROLE_ARN", "AWS_SHARED_CREDENTIALS_FILE"})
"""Variables with which the CLI calls as somebody else; the star stands for any.

Source: https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-envvars.html
"""

REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""Variables with the region of a call; the first one wins.

Source: https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-envvars.html
"""

WITHOUT_VALUE = frozenset(
    {
        *("debug", "delete", "dryrun", "follow-symlinks", "no-cli-pager", "no-follow-symlinks", "no-paginate", "no-progress"),
        *("no-sign-request", "no-verify-ssl", "only-show-errors", "quiet", "recursive", "verbose", "with-decryption"),
    }
)
"""Options of the CLI without a value."""

SERVICES: Mapping[str, str] = {"configservice": "config", "deploy": "codedeploy", "s3api": "s3"}
"""Services whose name in the CLI is not that of their client in boto3."""

OF_COMMANDS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("ecr", "get-login-password"): ("ecr", "get-authorization-token"),
    ("eks", "update-kubeconfig"): ("eks", "describe-cluster"),
}
"""Commands that are no operations: the service and the operation that they call."""

OF_STORAGE: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "cp": (("getobject", "?listobjectsv2"), ("putobject",)),
    "ls": (("listobjectsv2",),),
    "mv": (("getobject", "deleteobject", "?listobjectsv2"), ("putobject",)),
    "rm": (("deleteobject", "?listobjectsv2"),),
    "sync": (("getobject", "listobjectsv2"), ("putobject", "listobjectsv2")),
}
"""Commands for objects: the operations on the first place and on the second; those behind a question mark for many objects."""

OF_IMAGES: Mapping[str, tuple[str, ...]] = {
    "pull": ("ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
    "push": (
        *("ecr:BatchCheckLayerAvailability", "ecr:CompleteLayerUpload", "ecr:InitiateLayerUpload", "ecr:PutImage"),
        "ecr:UploadLayerPart",
    ),
}
"""Commands of Docker, and what they need of a repository in ECR."""

OF_CONTAINERS = ("buildah", "docker", "finch", "nerdctl", "podman")
"""Programs with the commands of Docker."""

IMAGE_FLAGS = frozenset({"a", "all-tags", "load", "no-cache", "pull", "push", "q", "quiet"})
"""Options of Docker's commands for images without a value.

Source: https://docs.docker.com/reference/cli/docker/image/push/ (as of 2026-11-30)
"""

INSTALLING, CHANGING = (
    ("install", "upgrade"),
    ("annotate", "apply", "create", "delete", "label", "patch", "replace", "scale", "taint"),
)
"""Commands of Helm that install a chart, and of kubectl that change objects.

Sources: https://helm.sh/docs/helm/helm_upgrade/ and https://kubernetes.io/docs/reference/kubectl/
"""

KUBECTL_VALUES = frozenset(
    {
        *("--as", "--as-group", "--as-uid", "--cache-dir", "--certificate-authority", "--client-certificate", "--client-key"),
        *("--cluster", "--context", "--kubeconfig", "--log-flush-frequency", "--namespace", "--password", "--profile"),
        *("--profile-output", "--request-timeout", "--server", "--tls-server-name", "--token", "--user", "--username", "-n", "-s"),
        *("--v", "--vmodule", "-v"),
    }
)
"""The options of all commands of kubectl that have a value behind a space.

Source: https://kubernetes.io/docs/reference/kubectl/kubectl/ (as of 2026-12-01)
"""

MAKING_OBJECTS = ("autoscale", "edit", "expose", "kustomize", "label", "patch", "run", "set")
MAKING_PROGRAMS = (
    *("ansible-playbook", "argocd", "cdk", "cdk8s", "curl", "eksctl", "flux", "helm", "helmfile", "hyp", "hyperpod", "istioctl"),
    *("kustomize", "linkerd", "operator-sdk", "pulumi", "python", "python3", "skaffold", "terraform", "tofu"),
)
"""Commands of kubectl, and programs, that make or change objects which no manifest of the shell has.

Source: https://kubernetes.io/docs/reference/kubectl/ (as of 2026-12-01)
"""

HELM_FLAGS = frozenset(
    {
        *("atomic", "create-namespace", "debug", "dependency-update", "devel", "force", "generate-name", "g", "i", "install"),
        *("no-hooks", "replace", "reset-values", "reuse-values", "skip-crds", "take-ownership", "verify", "wait", "wait-for-jobs"),
    }
)
"""Options of Helm without a value.

Source: https://helm.sh/docs/helm/helm_upgrade/
"""

OWN_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "s3": ("cp", "ls", "mb", "mv", "presign", "rb", "rm", "sync", "website"),
    "ecr": ("get-login", "get-login-password"),
    "eks": ("get-token", "update-kubeconfig"),
}
"""Commands of services that are no operations.

Sources: https://docs.aws.amazon.com/cli/latest/reference/s3/, https://docs.aws.amazon.com/cli/latest/reference/ecr/ and
https://docs.aws.amazon.com/cli/latest/reference/eks/
"""

KUBECONFIG = frozenset(
    {"alias", "assume-role-arn", "dry-run", "kubeconfig", "name", "proxy-url", "role-arn", "user-alias", "verbose"},
)
"""The options of `aws eks update-kubeconfig`.

Source: https://docs.aws.amazon.com/cli/latest/reference/eks/update-kubeconfig.html
"""

OF_ALL = frozenset(
    {
        *("ca-bundle", "cli-auto-prompt", "cli-binary-format", "cli-connect-timeout", "cli-error-format", "cli-input-json"),
        *("cli-input-yaml", "cli-read-timeout", "color", "debug", "endpoint-url", "generate-cli-skeleton", "max-items"),
        *(
            "no-cli-auto-prompt",
            "no-cli-pager",
            "no-paginate",
            "no-sign-request",
            "no-verify-ssl",
            "output",
            "page-size",
            "profile",
        ),
        *("query", "region", "starting-token", "v2-debug"),
    }
)
"""The options of all commands.

Source: https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-options.html
"""
