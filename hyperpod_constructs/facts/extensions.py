"""Cluster extensions: software that the service installs on every node of a cluster."""

from __future__ import annotations

from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.facts.mistake import fixed_by

OBSERVABILITY = "sagemaker-observability"
"""The only extension that AWS names (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateClusterExtension.html
"""

MOST_CONFIGURATION = 10_240
"""Most characters of an extension's configuration as JSON (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateClusterExtension.html
"""

NAME = Limit(
    shortest=1,
    longest=128,
    pattern="^[a-z]([a-z0-9]|-[a-z0-9])*$",
    words="{shortest} to {longest} lowercase letters, digits and single hyphens, with a letter first",
    example=OBSERVABILITY,
)
"""The form of an extension's name (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateClusterExtension.html
"""

VERSION = Limit(
    shortest=1,
    longest=64,
    pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$",
    words="three numbers with dots between, such as 1.0.0 (aws sagemaker list-cluster-extension-versions prints those on offer)",
    example="1.0.0",
)
"""The form of an extension's version (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateClusterExtension.html
"""

ISSUE_CODES = (
    "InvalidConfiguration",
    "ConfigurationConflict",
    "AccessDenied",
    "ResourceNotFound",
    "DependencyUnreachable",
    "ExtensionUnhealthy",
    "InternalFailure",
    "Other",
)
"""Codes of an extension's problems on nodes (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ExtensionHealthIssue.html
"""

TOKEN_HOURS = 8
"""Hours in which a repeated `CreateClusterExtension` with the same client token makes nothing new (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateClusterExtension.html
"""


@fixed_by("leave the extension out, or use a Slurm cluster with continuous provisioning")
def unsupported_cluster(name: str, found: str) -> str:
    """An extension on a cluster that cannot have one.

    :param found: the cluster's orchestrator or mode, in words.
    """
    return f"the extension {name!r} needs a cluster that Slurm orchestrates with continuous provisioning; this one has {found}"


ONLY_RISES = "the service only raises the version of an extension, and refuses a lower one"
INSTEAD = "keep the version, or remove the extension and add it again with the lower one in the next deployment"
UPDATE_PAGE = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateClusterExtension.html"


def is_lower(version: str, other: str) -> bool:
    """Whether a version is below another one; texts of another form are not compared."""
    if VERSION.mistake("", version) or VERSION.mistake("", other):
        return False
    first, second = (tuple(map(int, text.split("."))) for text in (version, other))
    return first < second
