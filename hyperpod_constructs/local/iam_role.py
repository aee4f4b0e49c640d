"""The CloudFormation provider of IAM roles: ministack's own takes any managed policy, no boundary, and a name that is taken."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.changes import tag_changes
from hyperpod_constructs.local.clients import Clients, ignoring
from hyperpod_constructs.local.ec2.provider import document, given, tag_list
from hyperpod_constructs.local.provider import Provisioned

Properties = Mapping[str, Any]


class Role:
    """AWS::IAM::Role."""

    type_name = "AWS::IAM::Role"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the role with its policies; a role that cannot have them is deleted again."""
        iam = self._clients("iam", caller)
        name = properties.get("RoleName") or f"{stack[:24]}-{logical_id[:24]}-{uuid.uuid4().hex[:12]}"
        role = iam.create_role(
            RoleName=name,
            AssumeRolePolicyDocument=document(properties["AssumeRolePolicyDocument"]),
            Tags=tag_list(properties.get("Tags")),
            **given(properties, "Path", "Description", "PermissionsBoundary"),
            **_session(properties),
        )["Role"]
        try:
            self._reconcile_policies(iam, name, {}, properties)
        except Exception:
            self._delete(iam, name)
            raise
        return Provisioned(name, {"Arn": role["Arn"], "RoleId": role["RoleId"]})

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change everything but name and path; policies attached from elsewhere stay."""
        iam = self._clients("iam", caller)
        iam.update_assume_role_policy(RoleName=physical_id, PolicyDocument=document(new["AssumeRolePolicyDocument"]))
        iam.update_role(
            RoleName=physical_id, Description=new.get("Description") or "", **(_session(new) or {"MaxSessionDuration": 3600})
        )
        self._reconcile_boundary(iam, physical_id, old, new)
        self._reconcile_policies(iam, physical_id, old, new)
        wanted, gone = tag_changes(old.get("Tags") or (), new.get("Tags") or ())
        if gone:
            iam.untag_role(RoleName=physical_id, TagKeys=gone)
        iam.tag_role(RoleName=physical_id, Tags=wanted)
        role = iam.get_role(RoleName=physical_id)["Role"]
        return Provisioned(physical_id, {"Arn": role["Arn"], "RoleId": role["RoleId"]})

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the role; refused while it has policies or instance profiles that other resources gave it."""
        iam = self._clients("iam", caller)
        with ignoring("NoSuchEntity"):
            self._reconcile_policies(iam, physical_id, properties, {})
            iam.delete_role(RoleName=physical_id)

    def _delete(self, iam: Any, name: str) -> None:
        for policy in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]:
            iam.detach_role_policy(RoleName=name, PolicyArn=policy["PolicyArn"])
        for policy_name in iam.list_role_policies(RoleName=name)["PolicyNames"]:
            iam.delete_role_policy(RoleName=name, PolicyName=policy_name)
        iam.delete_role(RoleName=name)

    def _reconcile_boundary(self, iam: Any, name: str, old: Properties, new: Properties) -> None:
        boundary = new.get("PermissionsBoundary")
        if boundary is not None:
            iam.put_role_permissions_boundary(RoleName=name, PermissionsBoundary=boundary)
        elif "PermissionsBoundary" in old:
            iam.delete_role_permissions_boundary(RoleName=name)

    def _reconcile_policies(self, iam: Any, name: str, old: Properties, new: Properties) -> None:
        before, after = list(old.get("ManagedPolicyArns") or ()), list(new.get("ManagedPolicyArns") or ())
        for arn in after:
            if arn not in before:
                iam.attach_role_policy(RoleName=name, PolicyArn=arn)
        for arn in before:
            if arn not in after:
                iam.detach_role_policy(RoleName=name, PolicyArn=arn)
        inline = {policy["PolicyName"]: policy["PolicyDocument"] for policy in new.get("Policies") or ()}
        for policy_name, policy_document in inline.items():
            iam.put_role_policy(RoleName=name, PolicyName=policy_name, PolicyDocument=document(policy_document))
        for policy in old.get("Policies") or ():
            if policy["PolicyName"] not in inline:
                iam.delete_role_policy(RoleName=name, PolicyName=policy["PolicyName"])


def _session(properties: Properties) -> dict[str, int]:
    duration = properties.get("MaxSessionDuration")
    return {} if duration is None else {"MaxSessionDuration": int(duration)}
