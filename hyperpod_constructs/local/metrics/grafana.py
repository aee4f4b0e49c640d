"""AWS::Grafana::Workspace. There is no Grafana behind it: what is deployed is judged and remembered."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.trust import trusts_service

Properties = Mapping[str, Any]
_PRINCIPAL = "grafana.amazonaws.com"
_BY_SCHEMA = (
    *("AccountAccessType", "ClientToken", "DataSources", "Description", "GrafanaVersion", "NetworkAccessControl", "Name"),
    *("NotificationDestinations", "OrganizationRoleName", "OrganizationalUnits", "PluginAdminEnabled", "StackSetName", "Tags"),
    *("VpcConfiguration", "PermissionType"),
)


class Workspace:
    """AWS::Grafana::Workspace. `Ref` is its id."""

    type_name = "AWS::Grafana::Workspace"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the workspace."""
        self._judge(properties, caller)
        return _provisioned(f"g-{uuid.uuid4().hex[:10]}", properties, caller)

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the workspace in place."""
        self._judge(new, caller)
        return _provisioned(physical_id, new, caller)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the workspace."""

    def _judge(self, properties: Properties, caller: Caller) -> None:
        for name in _BY_SCHEMA:
            properties.get(name)
        role = properties.get("RoleArn")
        if role is None:
            raise _refused("RoleArn is missing: a workspace that no console makes needs the role that it acts as")
        if not trusts_service(str(role), _PRINCIPAL, self._clients("iam", caller)):
            raise _refused(f"RoleArn: {role} does not let {_PRINCIPAL} assume it")
        providers = properties.get("AuthenticationProviders") or ()
        if properties.get("SamlConfiguration") is not None and "SAML" not in providers:
            raise _refused(f"SamlConfiguration needs SAML among AuthenticationProviders, not {list(providers)}")


def _provisioned(name: str, properties: Properties, caller: Caller) -> Provisioned:
    saml = "NOT_CONFIGURED" if properties.get("SamlConfiguration") is None else "CONFIGURED"
    attributes = {
        "Endpoint": f"{name}.grafana-workspace.{caller.region}.amazonaws.com",
        "Id": name,
        "SamlConfigurationStatus": saml,
        "Status": "ACTIVE",
    }
    return Provisioned(name, attributes)


def _refused(cause: str) -> AwsError:
    return AwsError("ValidationException", cause)
