"""AWS::APS::Workspace and AWS::APS::RuleGroupsNamespace. Nothing takes samples here: what is deployed is judged and remembered."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients, partition
from hyperpod_constructs.local.provider import Provisioned

Properties = Mapping[str, Any]
_MOST_BYTES = 1024 * 1024


@dataclass
class Workspaces:
    """The workspaces that exist, with the names of their rules."""

    rules: dict[str, set[str]] = field(default_factory=dict)

    def rules_of(self, arn: str) -> set[str]:
        """The names of the rules of a workspace."""
        if arn not in self.rules:
            raise AwsError("ResourceNotFoundException", f"Workspace {arn} does not exist", 404)
        return self.rules[arn]


class Workspace:
    """AWS::APS::Workspace. `Ref` is its ARN."""

    type_name = "AWS::APS::Workspace"

    def __init__(self, clients: Clients, workspaces: Workspaces) -> None:
        self._clients = clients
        self._workspaces = workspaces

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the workspace."""
        self._judge(properties, caller)
        place = f"arn:{partition(caller.region)}:aps:{caller.region}:{caller.account}"
        arn = f"{place}:workspace/ws-{uuid.uuid4()}"
        self._workspaces.rules[arn] = set()
        return _workspace(arn, caller)

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the workspace in place."""
        self._workspaces.rules_of(physical_id)
        self._judge(new, caller)
        return _workspace(physical_id, caller)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the workspace with its rules."""
        self._workspaces.rules.pop(physical_id, None)

    def _judge(self, properties: Properties, caller: Caller) -> None:
        for name in ("Alias", "QueryLoggingConfiguration", "Tags", "WorkspaceConfiguration"):
            properties.get(name)  # judged by the schema alone
        key = properties.get("KmsKeyArn")
        if key is not None:
            self._clients("kms", caller).describe_key(KeyId=key)
        group = (properties.get("LoggingConfiguration") or {}).get("LogGroupArn")
        if group is not None:
            self._judge_log_group(group, caller)
        definition = properties.get("AlertManagerDefinition")
        if definition is not None:
            _judge_alert_manager(definition)

    def _judge_log_group(self, arn: str, caller: Caller) -> None:
        name, _, rest = arn.partition(":log-group:")[2].partition(":")
        found = self._clients("logs", caller).describe_log_groups(logGroupNamePrefix=name)["logGroups"] if name else []
        if rest != "*" or name not in (group["logGroupName"] for group in found):
            raise _refused("LoggingConfiguration/LogGroupArn", f"is {arn!r}; it must be the ARN of a log group with :* at its end")


class RuleGroups:
    """AWS::APS::RuleGroupsNamespace. `Ref` is its ARN."""

    type_name = "AWS::APS::RuleGroupsNamespace"

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the rules; a workspace has each name once."""
        workspace, name = str(properties["Workspace"]), str(properties["Name"])
        names = self._workspaces.rules_of(workspace)
        if name in names:
            raise AwsError("ConflictException", f"The workspace has rules of the name {name!r} already", 409)
        _judge_rules(properties)
        names.add(name)
        return _rules(f"{workspace.replace(':workspace/', ':rulegroupsnamespace/')}/{name}")

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Take other rules in place of the old ones."""
        self._workspaces.rules_of(str(new["Workspace"]))
        _judge_rules(new)
        return _rules(physical_id)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the rules; those of a workspace that is gone went with it."""
        self._workspaces.rules.get(str(properties["Workspace"]), set()).discard(str(properties["Name"]))


def _workspace(arn: str, caller: Caller) -> Provisioned:
    name = arn.rpartition("/")[2]
    endpoint = f"https://aps-workspaces.{caller.region}.amazonaws.com/workspaces/{name}/"
    return Provisioned(arn, {"Arn": arn, "WorkspaceId": name, "PrometheusEndpoint": endpoint})


def _rules(arn: str) -> Provisioned:
    return Provisioned(arn, {"Arn": arn})


def _judge_rules(properties: Properties) -> None:
    properties.get("Tags")
    document = _read("Data", str(properties["Data"]))
    groups = document.get("groups") if isinstance(document, dict) else None
    if not isinstance(groups, list) or not groups:
        raise _refused("Data", "has no list groups")
    for group in groups:
        rules = group.get("rules") if isinstance(group, dict) and group.get("name") else None
        if not isinstance(rules, list):
            raise _refused("Data", f"has a group without a name or a list of rules: {str(group)[:80]}")
        for rule in rules:
            if not isinstance(rule, dict) or "expr" not in rule or len(rule.keys() & {"alert", "record"}) != 1:
                raise _refused("Data", f"has a rule that is neither an alert nor a record with an expr: {str(rule)[:80]}")


def _judge_alert_manager(definition: str) -> None:
    document = _read("AlertManagerDefinition", definition)
    inner = document.get("alertmanager_config") if isinstance(document, dict) else None
    config = _read("AlertManagerDefinition", inner) if isinstance(inner, str) else None
    if not isinstance(config, dict) or not isinstance(config.get("receivers"), list):
        raise _refused("AlertManagerDefinition", "has no text alertmanager_config with a list of receivers")
    names = {receiver.get("name") for receiver in config["receivers"] if isinstance(receiver, dict)}
    route = config.get("route")
    if not isinstance(route, dict) or route.get("receiver") not in names:
        raise _refused("AlertManagerDefinition", f"has a route to none of its receivers, {json.dumps(sorted(map(str, names)))}")


def _read(name: str, text: str) -> Any:
    if len(text) > _MOST_BYTES:
        raise _refused(name, f"has {len(text)} characters; at most {_MOST_BYTES} are taken")
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _refused(name, f"is no YAML: {error}") from error


def _refused(name: str, cause: str) -> AwsError:
    return AwsError("ValidationException", f"{name} {cause}")
