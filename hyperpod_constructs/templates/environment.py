"""The account, region and name of a stack, as far as they are known, and its pseudo parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hyperpod_constructs.facts import regions
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Value, as_str


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """The place of a stack; `None` is unknown."""

    region: str | None = None
    account: str | None = None
    stack_name: str | None = None

    def pseudo_parameter(self, name: str) -> Value | None:
        """The value of `Ref` to a name that begins with `AWS::`; `None` if there is no such pseudo parameter.

        Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html
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
        """Whether two stacks may be in the same account and region, and so see each other's exports."""
        pairs = ((self.region, other.region), (self.account, other.account))
        return all(one == two or one is None or two is None for one, two in pairs)

    def place(self, given: Mapping[str, Value]) -> Environment:
        """The place of `Fn::GetStackOutput`: the given `Region`, and with a `RoleArn` an unknown account."""
        region = as_str(given["Region"]) if "Region" in given else self.region
        return Environment(region=region, account=None if "RoleArn" in given else self.account)

    def _partition(self) -> tuple[str | None, str | None]:
        return (None, None) if self.region is None else regions.partition(self.region) or (None, None)
