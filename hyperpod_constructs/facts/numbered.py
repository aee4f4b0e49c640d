"""Rules that are resources of their own and have a number in a list: nobody else there has it (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateNetworkAclEntry.html,
https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_CreateRule.html and
https://docs.aws.amazon.com/Route53/latest/APIReference/API_route53resolver_AssociateFirewallRuleGroup.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Numbered(NamedTuple):
    """The list of a rule.

    :param owner: the property with the list.
    :param number: the property with the number in it.
    :param half: a property that is true or false and divides the list; empty for none.
    """

    owner: str
    number: str
    half: str = ""


NUMBERED: Mapping[str, Numbered] = {
    "AWS::EC2::NetworkAclEntry": Numbered("NetworkAclId", "RuleNumber", "Egress"),
    "AWS::ElasticLoadBalancingV2::ListenerRule": Numbered("ListenerArn", "Priority"),
    "AWS::Route53Resolver::FirewallRuleGroupAssociation": Numbered("VpcId", "Priority"),
}
"""The list of each such type."""
