"""An extension of a cluster: software that the service installs and keeps on every node."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from aws_cdk import ArnFormat, CustomResource, Duration, Stack, Token
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.cluster_properties import Clusterlike, rendered
from hyperpod_constructs._support.deferred import check_at_synthesis
from hyperpod_constructs._support.statements import Statement
from hyperpod_constructs._support.tokens import is_list_token, is_token, is_unknown
from hyperpod_constructs.custom_resources.provider import HandlerProvider
from hyperpod_constructs.facts import extensions

ExtensionName = Annotated[str, extensions.NAME]
ExtensionVersion = Annotated[str, extensions.VERSION]


class ClusterExtension(Construct):
    """An extension of a Slurm cluster with continuous provisioning, as `CreateClusterExtension` makes it.

    The deployment goes on when the extension is Active on all running nodes. A Degraded one works on some nodes only: it counts as
    complete after ten minutes, and `status`, `issues` and the log tell. One that works on no node fails the deployment with the
    problems that the service reports, and a creation is removed again.

    A change of `cluster` or `name` makes another extension and deletes this one. A version only rises: a lower one is refused. If a
    later failure rolls the stack back, the new version stays.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateClusterExtension.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: Clusterlike,
        name: ExtensionName,
        version: ExtensionVersion | None = None,
        configuration: Mapping[str, Any] | None = None,
        tags: Mapping[str, str] | None = None,
        timeout: Duration | None = None,
    ) -> None:
        """
        :param cluster: the cluster. A change makes another extension.
        :param name: name of the extension, such as `sagemaker-observability`. A change makes another extension.
        :param version: three numbers with dots between. When not given, the newest at the creation, and it stays.
        :param configuration: the settings, at most 10,240 characters as JSON; the service's defaults when not given. A setting that
            an update no longer has, or that is `None`, goes back to its default.
        :param tags: tags of the extension; none unless given, beside the library's own with the stack's name.
        :param timeout: time for one deployment, 5 minutes to 1 hour; 1 hour unless given. The answer comes three minutes earlier.
        :raises ValueError: for a name or a version of another form, or settings that are too long or that JSON cannot hold.
        """
        super().__init__(scope, id)
        self._cluster, self._name = cluster, name
        provider = HandlerProvider.of(self, "HyperPodClusterExtensionProvider", module="cluster_extension")
        #: The custom resource, to make other resources wait for the extension.
        self.resource: CustomResource = provider.add_resource(
            self,
            resource_type="Custom::HyperPodClusterExtension",
            properties={
                "ClusterArn": cluster.cluster_arn,
                "Name": name,
                **({} if version is None else {"Version": version}),
                "Configuration": self._rendered(configuration or {}),
                "Tags": dict(tags or {}),
            },
            statements=self._statements(),
            timeout=timeout,
        )
        check_at_synthesis(self, self._mistakes, resource=self.resource)

    @staticmethod
    @checked
    def observability(
        scope: Construct,
        id: str,
        *,
        cluster: Clusterlike,
        advanced_node_metrics: bool = False,
        version: ExtensionVersion | None = None,
    ) -> ClusterExtension:
        """The extension `sagemaker-observability`: metrics of the nodes.

        :param cluster: the cluster.
        :param advanced_node_metrics: whether the nodes' metrics have the level ADVANCED, the only setting that AWS documents; the
            service's default unless given. For others, make a `ClusterExtension` with its `configuration`.
        :param version: see the constructor.
        """
        level = {"metricsProvider": {"nodeMetrics": {"level": "ADVANCED"}}}
        return ClusterExtension(
            scope,
            id,
            cluster=cluster,
            name=extensions.OBSERVABILITY,
            version=version,
            configuration=level if advanced_node_metrics else None,
        )

    @property
    def extension_arn(self) -> str:
        """The ARN of the extension."""
        return self.resource.get_att_string("ExtensionArn")

    @property
    def version(self) -> str:
        """The installed version."""
        return self.resource.get_att_string("Version")

    @property
    def status(self) -> str:
        """The status at the end of the last deployment: Active, or Degraded."""
        return self.resource.get_att_string("Status")

    @property
    def issues(self) -> str:
        """The problems on nodes at the end of the last deployment, each with its code and message; empty without one."""
        return self.resource.get_att_string("Issues")

    def _rendered(self, configuration: Mapping[str, Any]) -> str:
        """The settings as JSON, with tokens of texts and numbers in their places."""
        try:
            text = _json(_without_none(configuration))
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(
                f"{self.node.path}: configuration cannot be written as JSON: {error}; write texts, numbers, booleans, lists and "
                "mappings with texts as keys"
            ) from error
        if len(text) > extensions.MOST_CONFIGURATION and not is_token(text):
            raise ValueError(
                f"{self.node.path}: configuration has {len(text)} characters as JSON; allowed: {extensions.MOST_CONFIGURATION}; "
                "leave out settings that have their defaults"
            )
        return text

    def _mistakes(self) -> list[str]:
        properties = rendered(self._cluster)
        if properties is None or is_unknown(self._name):
            return []
        if "Eks" in properties.get("Orchestrator", {}):
            return [str(extensions.unsupported_cluster(self._name, "EKS"))]
        if "NodeProvisioningMode" not in properties:
            return [str(extensions.unsupported_cluster(self._name, "no NodeProvisioningMode"))]
        return []

    def _statements(self) -> list[Statement]:
        stack = Stack.of(self)
        extension = stack.format_arn(
            service="sagemaker",
            resource="extension",
            resource_name=f"*/{self._name}/*",
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )
        of_clusters = ["sagemaker:CreateClusterExtension", "sagemaker:ListClusterExtensions"]
        of_extensions = [f"sagemaker:{verb}ClusterExtension" for verb in ("Delete", "Describe", "Update")]
        tags = ["sagemaker:AddTags", "sagemaker:DeleteTags", "sagemaker:ListTags"]
        return [
            Statement(actions=[*of_clusters, *of_extensions], resources=[self._cluster.cluster_arn, extension]),
            Statement(actions=tags, resources=[extension]),
            Statement(actions=["cloudformation:DescribeStacks"], resources=[stack.stack_id]),
        ]


def _without_none(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that are stated: an update brings those back to their defaults that are not."""
    kept = {name: item for name, item in settings.items() if item is not None}
    return {name: _without_none(item) if isinstance(item, Mapping) else item for name, item in kept.items()}


def _json(value: Any) -> str:
    """JSON in which a number that is a token keeps its mark, as a text without quotes: `json` would write its digits."""
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise TypeError(f"the key {name!r} is no text")
        return "{" + ",".join(f"{json.dumps(name)}:{_json(item)}" for name, item in sorted(value.items())) + "}"
    if isinstance(value, list | tuple):
        if is_list_token(value):
            raise TypeError("a list that is a token cannot stand in JSON; name its items")
        return "[" + ",".join(map(_json, value)) + "]"
    if not isinstance(value, str | bool) and is_token(value):
        return Token.as_string(value)
    return json.dumps(value, allow_nan=False)
