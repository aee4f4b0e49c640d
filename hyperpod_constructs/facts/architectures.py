"""Architectures of functions, and how names tell them (as of 2026-11-29).

Sources: https://docs.aws.amazon.com/lambda/latest/dg/foundation-arch.html,
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Lambda-Insights-extension-versionsARM.html,
https://docs.aws.amazon.com/secretsmanager/latest/userguide/retrieving-secrets_lambda.html and
https://docs.aws.amazon.com/appconfig/latest/userguide/appconfig-integration-lambda-extensions-versions.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

DEFAULT = "x86_64"
"""The architecture of a function that names none."""

_WORDS: Mapping[str, re.Pattern[str]] = {
    "arm64": re.compile(r"(?<![a-z0-9])(arm64|aarch64)(?![a-z0-9])", re.IGNORECASE),
    "x86_64": re.compile(r"(?<![a-z0-9])(x86[_-]64|amd64)(?![a-z0-9])", re.IGNORECASE),
}
_WITH_TWINS = ("AWS-AppConfig-Extension", "AWS-Parameters-and-Secrets-Lambda-Extension", "LambdaInsightsExtension")
"""Layers of AWS for x86_64; those for arm64 have the word behind the same name."""


def architecture_in(name: str) -> str | None:
    """The one architecture that a name tells.

    >>> architecture_in("AWSLambdaPowertoolsPythonV3-python313-arm64")
    'arm64'
    >>> architecture_in("tools")
    """
    if name in _WITH_TWINS:
        return "x86_64"
    found = [one for one, form in _WORDS.items() if form.search(name)]
    return found[0] if len(found) == 1 else None
