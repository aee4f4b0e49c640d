"""What a service of the embedded AWS is: operations by name, over plain dictionaries.

A service knows nothing of HTTP or of the CloudFormation engine. `serving` maps wire requests to `Service.call`, and validates
request and response against the newest botocore model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class AwsError(Exception):
    """An error as the service answers it: botocore raises it as ClientError with this code and message."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and where: account (12 digits), region, and the endpoint under which the other services are reached.

    `principal` is the user or role, for the services that ask for it: its ARN, for Session Manager its `aws:userid`.
    """

    account: str
    region: str
    endpoint: str
    principal: str = ""


class Service(Protocol):
    """One AWS service; `name` is botocore's name for it (`fsx`, `sagemaker`)."""

    name: str

    def call(self, operation: str, parameters: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Answer one operation; parameters are validated already. Thread-safe.

        :raises AwsError: with the cause of the refusal.
        """

    def reset(self) -> None:
        """Forget everything."""
