"""CloudFormation providers: security groups and their rules."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import ignoring
from hyperpod_constructs.local.ec2.provider import GONE, Ec2Provider, Properties, given
from hyperpod_constructs.local.provider import Provisioned

_EVERYTHING = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
"""The egress rule that AWS gives a new group, and that CloudFormation keeps only if the template names none."""


def permission(rule: Properties, peer: str) -> dict[str, Any]:
    """A rule of a template as the API takes it; `peer` is `Source` or `Destination`.

    :raises AwsError: if it names no peer or more than one.
    """
    protocol = str(rule["IpProtocol"])
    wanted: dict[str, Any] = {"IpProtocol": protocol}
    for name in ("FromPort", "ToPort"):
        port = rule.get(name)
        if port is not None and protocol != "-1":
            wanted[name] = int(port)
    text = {} if (description := rule.get("Description")) is None else {"Description": description}
    peers: list[tuple[str, dict[str, Any]]] = []
    if (block := rule.get("CidrIp")) is not None:
        peers.append(("IpRanges", {"CidrIp": block}))
    if (block := rule.get("CidrIpv6")) is not None:
        peers.append(("Ipv6Ranges", {"CidrIpv6": block}))
    if (prefixes := rule.get(f"{peer}PrefixListId")) is not None:
        peers.append(("PrefixListIds", {"PrefixListId": prefixes}))
    if (group := rule.get(f"{peer}SecurityGroupId")) is not None:
        owner = {} if (account := rule.get("SourceSecurityGroupOwnerId")) is None else {"UserId": account}
        peers.append(("UserIdGroupPairs", {"GroupId": group, **owner}))
    if len(peers) != 1:
        raise AwsError(
            "InvalidParameterCombination", f"a rule names exactly one of a CIDR block, a prefix list and a group: {peers}"
        )
    kind, value = peers[0]
    return {**wanted, kind: [{**value, **text}]}


class SecurityGroup(Ec2Provider):
    """AWS::EC2::SecurityGroup."""

    type_name = "AWS::EC2::SecurityGroup"
    creation, deletion = "create_security_group", "delete_security_group"
    found_at = ("GroupId",)
    tagged_as = "security-group"

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the group with its rules; a group that cannot have them is deleted again."""
        ingress, egress = self._rules(properties)
        created = super().create(properties, logical_id, stack, caller)
        ec2 = self.ec2(caller)
        try:
            self._reconcile(ec2, created.physical_id, [], ingress, [_EVERYTHING], egress)
        except Exception:
            ec2.delete_security_group(GroupId=created.physical_id)
            raise
        return created

    def _wanted(self, properties: Properties, logical_id: str, stack: str) -> dict[str, Any]:
        name = properties.get("GroupName") or f"{stack}-{logical_id}-{uuid.uuid4().hex[:12].upper()}"
        return {"GroupName": name, "Description": properties["GroupDescription"], **given(properties, "VpcId")}

    def _change(self, ec2: Any, physical_id: str, old: Properties, new: Properties) -> None:
        """Change the rules; those of other resources stay."""
        old_ingress, old_egress = self._rules(old)
        ingress, egress = self._rules(new)
        self._reconcile(ec2, physical_id, old_ingress, ingress, old_egress, egress)

    def _rules(self, properties: Properties) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        ingress = [permission(rule, "Source") for rule in properties.get("SecurityGroupIngress") or ()]
        egress = [permission(rule, "Destination") for rule in properties.get("SecurityGroupEgress") or ()]
        return ingress, egress or [_EVERYTHING]

    def _reconcile(
        self,
        ec2: Any,
        group_id: str,
        old_ingress: Sequence[dict[str, Any]],
        ingress: Sequence[dict[str, Any]],
        old_egress: Sequence[dict[str, Any]],
        egress: Sequence[dict[str, Any]],
    ) -> None:
        for old, new, revoke, authorize in (
            (old_ingress, ingress, ec2.revoke_security_group_ingress, ec2.authorize_security_group_ingress),
            (old_egress, egress, ec2.revoke_security_group_egress, ec2.authorize_security_group_egress),
        ):
            if gone := [rule for rule in old if rule not in new]:
                revoke(GroupId=group_id, IpPermissions=gone)
            if added := [rule for rule in new if rule not in old]:
                authorize(GroupId=group_id, IpPermissions=added)

    def _attributes(self, ec2: Any, physical_id: str) -> dict[str, str]:
        group = ec2.describe_security_groups(GroupIds=[physical_id])["SecurityGroups"][0]
        return {"GroupId": physical_id, "Id": physical_id, "VpcId": group["VpcId"]}


class _Rule(Ec2Provider):
    """A rule that is a resource of its own. Everything but its description replaces it."""

    direction: ClassVar[str]
    peer: ClassVar[str]

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Authorize the rule."""
        ec2 = self.ec2(caller)
        authorize = getattr(ec2, f"authorize_security_group_{self.direction}")
        wanted = permission(properties, self.peer)
        answer = authorize(GroupId=properties["GroupId"], IpPermissions=[wanted])
        rule = str(answer["SecurityGroupRules"][0]["SecurityGroupRuleId"])
        return Provisioned(rule, {"Id": rule})

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the description."""
        describe = getattr(self.ec2(caller), f"update_security_group_rule_descriptions_{self.direction}")
        describe(GroupId=new["GroupId"], IpPermissions=[permission(new, self.peer)])
        return Provisioned(physical_id, {"Id": physical_id})

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Revoke the rule."""
        revoke = getattr(self.ec2(caller), f"revoke_security_group_{self.direction}")
        with ignoring(*GONE):
            revoke(GroupId=properties["GroupId"], SecurityGroupRuleIds=[physical_id])


class SecurityGroupIngress(_Rule):
    """AWS::EC2::SecurityGroupIngress."""

    type_name = "AWS::EC2::SecurityGroupIngress"
    direction, peer = "ingress", "Source"


class SecurityGroupEgress(_Rule):
    """AWS::EC2::SecurityGroupEgress."""

    type_name = "AWS::EC2::SecurityGroupEgress"
    direction, peer = "egress", "Destination"
