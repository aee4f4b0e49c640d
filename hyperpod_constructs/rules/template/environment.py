"""Where a stack is deployed, as far as it is known: the pseudo parameters."""

from __future__ import annotations

from dataclasses import dataclass

from hyperpod_constructs.rules.template.values import ABSENT, UNKNOWN, Value

# https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html
_PARTITIONS = (("cn-", "aws-cn", "amazonaws.com.cn"), ("us-gov-", "aws-us-gov", "amazonaws.com"))
_COMMERCIAL = (
    "af-",
    "ap-",
    "ca-",
    "eu-central-",
    "eu-north-",
    "eu-south-",
    "eu-west-",
    "il-",
    "me-",
    "mx-",
    "sa-",
    "us-east-",
    "us-west-",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """What is known of a stack's place: ``None`` is not known."""

    region: str | None = None
    account: str | None = None
    stack_name: str | None = None

    def pseudo_parameter(self, name: str) -> Value | None:
        """What ``Ref`` to a name that begins with ``AWS::`` yields; ``None`` if there is no such pseudo parameter.

        https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html
        """
        partition, suffix = self._partition()
        known: dict[str, str | None] = {
            "AWS::AccountId": self.account,
            "AWS::NotificationARNs": None,
            "AWS::Partition": partition,
            "AWS::Region": self.region,
            "AWS::StackId": None,
            "AWS::StackName": self.stack_name,
            "AWS::URLSuffix": suffix,
        }
        if name == "AWS::NoValue":
            return ABSENT
        if name not in known:
            return None
        found = known[name]
        return UNKNOWN if found is None else found

    def is_beside(self, other: Environment) -> bool:
        """Whether two stacks can be in one account and region, where exports are seen."""
        pairs = ((self.region, other.region), (self.account, other.account))
        return all(one == two or one is None or two is None for one, two in pairs)

    def _partition(self) -> tuple[str | None, str | None]:
        for prefix, partition, suffix in _PARTITIONS:
            if self.region is not None and self.region.startswith(prefix):
                return partition, suffix
        return ("aws", "amazonaws.com") if self.region is not None and self.region.startswith(_COMMERCIAL) else (None, None)
