"""What the CloudFormation types of EKS have in common: waits, updates, tags and names."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any, ClassVar

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.eks.properties import tags
from hyperpod_constructs.local.stable import Properties, StableProvider
from hyperpod_constructs.local.waiting import wait

HANDLER_SECONDS = 36 * 3600.0
BUSY = ("CREATING", "UPDATING", "DELETING")
GONE = "ResourceNotFoundException"


class EksProvider(StableProvider):
    """Creates, updates and deletes what has a state of its own."""

    service = "eks"
    status, ready, busy, undeletable = "status", "ACTIVE", BUSY, ("CREATING", "UPDATING", "DELETING")
    missing = GONE
    member: ClassVar[str]
    """The member of answers with the resource."""

    def __init__(self, clients: Clients, timeout: float = HANDLER_SECONDS) -> None:
        super().__init__(clients, timeout)

    def _stable(self, client: Any, identifier: str) -> Mapping[str, Any]:
        def described() -> Mapping[str, Any] | None:
            found = self._describe(client, identifier)
            return None if found["status"] in ("CREATING", "UPDATING") else found

        return wait(described, self._timeout, identifier)

    def _failure(self, described: Mapping[str, Any]) -> AwsError:
        issues = [issue.get("message", "") for issue in described.get("health", {}).get("issues", ())]
        cause = "; ".join(issues) or "no cause was given"
        name = self._provisioned(described).physical_id
        return AwsError("NotStabilized", f"Resource of type '{self.type_name}' {name} is {described['status']}: {cause}")

    def _updated(self, client: Any, identifier: str, update: Mapping[str, Any], **owner: str) -> None:
        """Wait for an update.

        :raises AwsError: if it fails.
        """
        name = identifier.partition("|")[0]

        def ended() -> Mapping[str, Any] | None:
            found = client.describe_update(name=name, updateId=update["update"]["id"], **owner)["update"]
            return None if found["status"] == "InProgress" else found

        found = wait(ended, self._timeout, identifier)
        if found["status"] != "Successful":
            raise AwsError("NotStabilized", f"the update of {identifier} is {found['status']}: {found.get('errors')}")


def given_tags(properties: Properties) -> dict[str, dict[str, str]]:
    """The parameter `tags` of a request; none for none."""
    found = tags(properties)
    return {"tags": found} if found else {}


def retag(client: Any, arn: str, old: Properties, new: Properties) -> None:
    """Change the tags of a resource to those of its new properties."""
    before, after = tags(old), tags(new)
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    gone = [key for key in before if key not in after]
    if changed:
        client.tag_resource(resourceArn=arn, tags=changed)
    if gone:
        client.untag_resource(resourceArn=arn, tagKeys=gone)


def parted(identifier: str, mark: str) -> tuple[str, str]:
    """The two names in a physical id."""
    first, _, second = identifier.partition(mark)
    return first, second


def generated_name(stack: str, logical_id: str, longest: int) -> str:
    """A name for a resource whose template gives none."""
    words = [re.sub("[^a-zA-Z0-9]+", "-", word).strip("-") for word in (stack, logical_id)]
    return f"{'-'.join(words)[: longest - 13].strip('-')}-{secrets.token_hex(6)}"
