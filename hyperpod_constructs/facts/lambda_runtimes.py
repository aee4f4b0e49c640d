"""Runtimes of Lambda, and packages that they do not have (dates as in cfn-lint 1.58.0)."""

from __future__ import annotations

from collections.abc import Mapping

RUNTIMES = (
    "python3.11",
    "python3.12",
    "python3.13",
    "python3.14",
    "python3.15",
    "nodejs22.x",
    "nodejs24.x",
    "nodejs26.x",
    "java11",
    "java11.al2023",
    "java17",
    "java17.al2023",
    "java21",
    "java25",
    "java8.al2",
    "java8.al2023",
    "dotnet10",
    "ruby3.3",
    "ruby3.4",
    "ruby4.0",
    "provided.al2023",
)
"""Those that get updates: the enumeration of the API without the deprecated ones.

Source: https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html, as botocore 1.44.5 has it (Apache-2.0)
"""
RUNTIME_FAMILIES = ("python", "nodejs", "ruby", "dotnet", "java", "provided.al")
DEPRECATED_RUNTIMES: Mapping[str, str] = {
    "dotnet6": "2024-12-20",
    "dotnet8": "2026-11-10",
    "dotnet9": "2026-11-10",
    "nodejs16.x": "2024-06-12",
    "nodejs18.x": "2025-09-01",
    "nodejs20.x": "2026-04-30",
    "provided.al2": "2026-07-31",
    "python3.8": "2024-10-14",
    "python3.9": "2025-12-15",
    "python3.10": "2026-10-31",
    "ruby3.2": "2026-03-31",
}
"""Runtimes that no longer get updates, and since when; Lambda still makes functions with them."""

BLOCKED_RUNTIMES = (
    "dotnetcore1.0",
    "dotnetcore2.0",
    "dotnetcore2.1",
    "dotnetcore3.1",
    "dotnet5.0",
    "go1.x",
    "java8",
    "nodejs",
    "nodejs4.3",
    "nodejs4.3-edge",
    "nodejs6.10",
    "nodejs8.10",
    "nodejs10.x",
    "nodejs12.x",
    "nodejs14.x",
    "provided",
    "python2.7",
    "python3.6",
    "python3.7",
    "ruby2.5",
    "ruby2.7",
)
"""Runtimes of which Lambda makes no more functions.

Source: https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html#runtimes-deprecated
"""

# fmt: off
NOT_IN_LAMBDA = frozenset((
    "requests", "yaml", "numpy", "pandas", "scipy", "psycopg2", "psycopg", "pymysql", "mysql", "kubernetes", "paramiko",
    "crhelper", "pydantic", "httpx", "aiohttp", "jinja2", "cryptography", "slack_sdk", "sagemaker", "docker", "boto",
    "simplejson", "pytz", "redis", "sqlalchemy", "torch", "jwt", "jsonschema", "aws_lambda_powertools", "aws_xray_sdk",
))
# fmt: on
"""Well-known packages that no Python runtime of Lambda has.

Source: https://docs.aws.amazon.com/lambda/latest/dg/python-package.html
"""

NOT_IN_NODE = frozenset(
    ("aws-sdk", "axios", "got", "kubernetes-client", "lodash", "moment", "mysql2", "node-fetch", "pg", "request")
)
"""Well-known packages that no supported runtime of Node.js has; `aws-sdk` was there up to nodejs16.x.

Source: https://docs.aws.amazon.com/lambda/latest/dg/lambda-nodejs.html (as of 2026-11-28)
"""
