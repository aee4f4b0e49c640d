"""AWS::CloudWatch::CompositeAlarm and AWS::Budgets::Budget, over the APIs of CloudWatch and Budgets."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.changes import tag_changes
from hyperpod_constructs.local.clients import Clients, ignoring
from hyperpod_constructs.local.conversion import parameters
from hyperpod_constructs.local.provider import Provisioned

Properties = Mapping[str, Any]


class CompositeAlarm:
    """AWS::CloudWatch::CompositeAlarm. `Ref` is its name."""

    type_name = "AWS::CloudWatch::CompositeAlarm"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the alarm; CloudWatch refuses a rule with an alarm that does not exist."""
        return self._put(properties.get("AlarmName") or _name(stack, logical_id), properties, caller)

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Put the alarm again under its name; its state stays until the rule says otherwise."""
        made = self._put(physical_id, new, caller)
        changed, gone = tag_changes(_tags(old), _tags(new))
        client, arn = self._clients("cloudwatch", caller), made.attributes["Arn"]
        if changed:
            client.tag_resource(ResourceARN=arn, Tags=changed)
        if gone:
            client.untag_resource(ResourceARN=arn, TagKeys=gone)
        return made

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the alarm."""
        with ignoring("ResourceNotFound"):
            self._clients("cloudwatch", caller).delete_alarms(AlarmNames=[physical_id])

    def _put(self, name: str, properties: Properties, caller: Caller) -> Provisioned:
        client = self._clients("cloudwatch", caller)
        shape = client.meta.service_model.operation_model("PutCompositeAlarm").input_shape
        client.put_composite_alarm(**{**parameters(shape, properties), "AlarmName": name, "Tags": _tags(properties)})
        (alarm,) = client.describe_alarms(AlarmNames=[name], AlarmTypes=["CompositeAlarm"])["CompositeAlarms"]
        return Provisioned(name, {"Arn": alarm["AlarmArn"]})


class Budget:
    """AWS::Budgets::Budget. `Ref` is its name."""

    type_name = "AWS::Budgets::Budget"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the budget with its notifications."""
        client = self._clients("budgets", caller)
        budget = self._budget(client, properties)
        budget.setdefault("BudgetName", _name(stack, logical_id))
        notifications = [
            {"Notification": dict(each["Notification"]), "Subscribers": [dict(one) for one in each["Subscribers"]]}
            for each in properties.get("NotificationsWithSubscribers") or ()
        ]
        tags = [dict(tag) for tag in properties.get("ResourceTags") or ()]
        client.create_budget(AccountId=caller.account, Budget=budget, NotificationsWithSubscribers=notifications, ResourceTags=tags)
        return Provisioned(budget["BudgetName"])

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the budget. Other notifications make a new one."""
        client = self._clients("budgets", caller)
        client.update_budget(AccountId=caller.account, NewBudget={**self._budget(client, new), "BudgetName": physical_id})
        return Provisioned(physical_id)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the budget."""
        with ignoring("NotFoundException"):
            self._clients("budgets", caller).delete_budget(AccountId=caller.account, BudgetName=physical_id)

    def _budget(self, client: Any, properties: Properties) -> dict[str, Any]:
        shape = client.meta.service_model.shape_for("Budget")
        return parameters(shape, properties["Budget"])


def _name(stack: str, logical_id: str) -> str:
    return f"{stack[:40]}-{logical_id[:40]}-{uuid.uuid4().hex[:12]}"


def _tags(properties: Properties) -> list[dict[str, str]]:
    """The tags without those of CloudFormation itself, which composite alarms do not take."""
    return [dict(tag) for tag in properties.get("Tags") or () if not tag["Key"].startswith("aws:")]
