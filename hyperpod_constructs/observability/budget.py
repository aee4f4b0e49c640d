"""What a cluster may cost in a month, and tags by which AWS tells the cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from aws_cdk import ArnFormat, Tags
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_sns as sns
from constructs import Construct, IConstruct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tree import placed, stack_of
from hyperpod_constructs._support.values import Email, Positive
from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.observability.topic import let_publish

CLUSTER_TAG, TEAM_TAG, GROUP_TAG = "hyperpod:cluster", "hyperpod:team", "hyperpod:group"
"""The tags of `cost_tags`."""

TagValue = Annotated[
    str,
    Limit(
        shortest=1,
        longest=256,
        pattern=r"^[\w\s.:/=+\-@]*$",
        words="{shortest} to {longest} letters, digits, spaces and . : / = + - @ _",
        example="research",
    ),
]
"""Source: https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html"""

TagKey = Annotated[str, Limit(shortest=1, longest=128, words="{shortest} to {longest} characters", example=CLUSTER_TAG)]

#: Source: https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_CreateBudget.html
_MOST_EMAILS, _MOST_MESSAGES = 10, 10


@checked
def cost_tags(
    construct: IConstruct, *, cluster: TagValue | None = None, team: TagValue | None = None, group: TagValue | None = None
) -> None:
    """Tag everything in a construct, such as a stack, for the bill: `hyperpod:cluster`, `hyperpod:team` and `hyperpod:group`.

    AWS bills the nodes of a cluster under the tags of the cluster: instance groups have none, and quotas cost nothing. So a group
    or a team has costs of its own only with a cluster, a file system or a stack of its own. Within a cluster, the bill tells
    instance types apart.

    The tags count in Cost Explorer and in budgets once they are activated in the billing console of the account that pays:
    `aws ce update-cost-allocation-tags-status`. They count from then on, after up to a day.

    :param cluster: the cluster, such as `trainer`; no such tag unless given.
    :param team: the team; no such tag unless given.
    :param group: the group of nodes or resources; no such tag unless given.
    :raises ValueError: without a value.

    Source: https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/custom-tags.html
    """
    given = {CLUSTER_TAG: cluster, TEAM_TAG: team, GROUP_TAG: group}
    values = {key: value for key, value in given.items() if value is not None}
    if not values:
        raise ValueError(f"{construct.node.path}: cost_tags without a value; give cluster, team or group")
    for key, value in values.items():
        Tags.of(construct).add(key, value)


class ClusterBudget(Construct):
    """A monthly budget of what has a tag, and messages before it is used up. It stops nothing.

    A change of the receivers or of the percents **replaces** the budget. A budget without actions, as this one, costs nothing.

    Source: https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-managing-costs.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        monthly_usd: Positive,
        tag_values: Sequence[TagValue],
        tag_key: TagKey = CLUSTER_TAG,
        percents: Sequence[Positive] = (80, 100),
        forecast: bool = True,
        emails: Sequence[Email] = (),
        topic: sns.ITopic | None = None,
    ) -> None:
        """
        :param monthly_usd: US dollars a month.
        :param tag_values: values of the tag of what counts, such as `["trainer"]`; see `cost_tags`.
        :param tag_key: the tag; `hyperpod:cluster` unless given.
        :param percents: parts of the budget at which a message comes; 80 and 100 percent unless given.
        :param forecast: whether a message comes too when the month is going to cost more than the budget; yes unless given.
        :param emails: receivers, at most ten; they need not confirm.
        :param topic: receives the messages; none unless given. A topic with a key needs one that admits budgets, see
            `alarms_topic`.
        :raises ValueError: without a value or a receiver, or for too many receivers or messages.
        """
        super().__init__(scope, id)
        placed(self, scope, id)
        self._check(tag_values, emails, topic, len(percents) + forecast)
        subscribers = [_subscriber("EMAIL", address) for address in emails]
        if topic is not None:
            subscribers.append(_subscriber("SNS", topic.topic_arn))
            own = stack_of(self).format_arn(service="budgets", region="", resource="*", arn_format=ArnFormat.NO_RESOURCE_NAME)
            let_publish(topic, self, "budgets.amazonaws.com", own)
        wanted = [("ACTUAL", percent) for percent in percents] + ([("FORECASTED", 100)] if forecast else [])
        #: The L1.
        self.resource = budgets.CfnBudget(
            self,
            "Resource",
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=monthly_usd, unit="USD"),
                cost_filters={"TagKeyValue": [f"user:{tag_key}${value}" for value in tag_values]},
            ),
            notifications_with_subscribers=[
                budgets.CfnBudget.NotificationWithSubscribersProperty(
                    notification=budgets.CfnBudget.NotificationProperty(
                        comparison_operator="GREATER_THAN", notification_type=kind, threshold=percent, threshold_type="PERCENTAGE"
                    ),
                    subscribers=subscribers,
                )
                for kind, percent in wanted
            ],
        )

    def _check(self, values: Sequence[str], emails: Sequence[str], topic: sns.ITopic | None, messages: int) -> None:
        if not values:
            raise ValueError(f'{self.node.path}: tag_values is empty; name what counts, such as tag_values=["trainer"]')
        if not emails and topic is None:
            raise ValueError(f"{self.node.path}: emails and topic are missing; give at least one receiver")
        if len(emails) > _MOST_EMAILS:
            raise ValueError(
                f"{self.node.path}: emails has {len(emails)} items; allowed: at most {_MOST_EMAILS}; give a topic for more"
            )
        if messages > _MOST_MESSAGES:
            raise ValueError(
                f"{self.node.path}: the budget has {messages} messages; allowed: at most {_MOST_MESSAGES}, the forecast too"
            )


def _subscriber(kind: str, address: str) -> budgets.CfnBudget.SubscriberProperty:
    return budgets.CfnBudget.SubscriberProperty(subscription_type=kind, address=address)
