"""A workspace of Amazon Managed Grafana, and the dashboards of this library for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from aws_cdk import ArnFormat, RemovalPolicy
from aws_cdk import aws_grafana as grafana
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs._support.statements import Statement, document
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.tree import placed, stack_of
from hyperpod_constructs.eks.metrics import GrafanaWorkspace
from hyperpod_constructs.facts import prometheus as facts
from hyperpod_constructs.observability.prometheus import ManagedPrometheus
from hyperpod_constructs.rules.plugin import register_rules

GrafanaName = Annotated[str, facts.GRAFANA_NAME]
_DASHBOARDS = Path(__file__).parent / "dashboards"


def node_dashboards() -> Mapping[str, Path]:
    """The dashboards of this library by name: JSON that any Grafana imports. They ask for their Prometheus by a variable."""
    return {file.stem: file for file in sorted(_DASHBOARDS.glob("*.json"))}


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class SamlLogin:
    """Login by an identity provider of yours, in place of IAM Identity Center.

    :param metadata_url: the address of the provider's metadata.
    :param role_attribute: the attribute of an assertion with the role of a user; `role` unless given.
    :param admin_roles: values of it that make an administrator.
    :param editor_roles: values of it that make an editor; none unless given. Others may look.
    :raises ValueError: for metadata without https, or no role of administrators: nobody could then set the workspace up.
    """

    metadata_url: str
    admin_roles: Sequence[str]
    role_attribute: str = "role"
    editor_roles: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not is_unknown(self.metadata_url) and not self.metadata_url.startswith("https://"):
            raise ValueError(
                f"SamlLogin: metadata_url is {self.metadata_url!r}; allowed: an address with https; "
                'write metadata_url="https://idp.example.com/metadata"'
            )
        if not self.admin_roles:
            raise ValueError('SamlLogin: admin_roles is empty, so nobody could set the workspace up; write admin_roles=["admin"]')

    def render(self) -> grafana.CfnWorkspace.SamlConfigurationProperty:
        """`SamlConfiguration`."""
        return grafana.CfnWorkspace.SamlConfigurationProperty(
            idp_metadata=grafana.CfnWorkspace.IdpMetadataProperty(url=self.metadata_url),
            assertion_attributes=grafana.CfnWorkspace.AssertionAttributesProperty(role=self.role_attribute),
            role_values=grafana.CfnWorkspace.RoleValuesProperty(
                admin=list(self.admin_roles), editor=list(self.editor_roles) or None
            ),
        )


class ManagedGrafana(Construct):
    """A workspace of Grafana that reads a workspace of Prometheus, and CloudWatch, by a role with no more than that.

    People log in by IAM Identity Center, or by `saml`. It outlives its stack with its dashboards. Each active user costs by the
    month. `node_dashboards()` names the files of this library's dashboards.

    Source: https://docs.aws.amazon.com/grafana/latest/userguide/what-is-Amazon-Managed-Service-Grafana.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        prometheus: ManagedPrometheus,
        name: GrafanaName | None = None,
        saml: SamlLogin | None = None,
        cloudwatch: bool = True,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        """
        :param prometheus: the workspace that it reads.
        :param name: its name; the path of the construct when not given.
        :param saml: an identity provider of yours; IAM Identity Center, which the account must have enabled, when not given.
        :param cloudwatch: whether it reads metrics and alarms of CloudWatch too; yes unless given.
        :param removal_policy: the workspace stays when it is removed or replaced, unless given otherwise.
        :raises ValueError: for a name of another form.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        path = placed(self, scope, id)
        self._name = path.replace("/", "-") if name is None else name
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=self._grafana(),
            description="Amazon Managed Grafana reads metrics",
            inline_policies={"Metrics": document(_reading(prometheus, cloudwatch))},
        )
        self._resource = grafana.CfnWorkspace(
            self,
            "Resource",
            name=self._name,
            account_access_type="CURRENT_ACCOUNT",
            authentication_providers=["AWS_SSO" if saml is None else "SAML"],
            permission_type="SERVICE_MANAGED",
            role_arn=self.role.role_arn,
            data_sources=["PROMETHEUS", *(["CLOUDWATCH"] if cloudwatch else [])],
            saml_configuration=None if saml is None else saml.render(),
        )
        self._resource.node.add_dependency(self.role)
        self._resource.apply_removal_policy(removal_policy)

    @property
    def resource(self) -> grafana.CfnWorkspace:
        """The L1."""
        return self._resource

    @property
    def url(self) -> str:
        """The address for people, without `https://`."""
        return self._resource.attr_endpoint

    @cached_property
    def workspace(self) -> GrafanaWorkspace:
        """The workspace as `Addon.observability` takes it."""
        arn = stack_of(self).format_arn(
            service="grafana",
            resource="/workspaces",
            resource_name=self._resource.attr_id,
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )
        return GrafanaWorkspace(name=self._name, arn=arn)

    def _grafana(self) -> iam.ServicePrincipal:
        """The service, for workspaces of this account and region."""
        stack = stack_of(self)
        own = stack.format_arn(
            service="grafana", resource="/workspaces", resource_name="*", arn_format=ArnFormat.SLASH_RESOURCE_NAME
        )
        return iam.ServicePrincipal(
            facts.GRAFANA_PRINCIPAL,
            conditions={"StringEquals": {"aws:SourceAccount": stack.account}, "StringLike": {"aws:SourceArn": own}},
        )


def _reading(prometheus: ManagedPrometheus, cloudwatch: bool) -> list[Statement]:
    """CloudWatch's actions know no resources."""
    metrics = Statement(actions=list(facts.QUERY), resources=[prometheus.workspace_arn])
    return [metrics, *([Statement(actions=list(facts.READ_CLOUDWATCH), resources=["*"])] if cloudwatch else [])]
