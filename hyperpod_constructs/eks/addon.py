"""Add-ons of EKS, driven by the facts about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import ArnFormat, CfnTag
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.interfaces.aws_aps import IWorkspaceRef
from aws_cdk.interfaces.aws_kms import IKeyRef
from constructs import Construct, IDependable

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.tree import placed, stack_of
from hyperpod_constructs._support.values import AddonName
from hyperpod_constructs.eks.addon_checks import check_addon, check_order
from hyperpod_constructs.eks.addon_policies import attaching_volumes, collecting, looking_at_file_systems, mounting
from hyperpod_constructs.eks.base import KubernetesControlPlane
from hyperpod_constructs.eks.lustre_volume import LustreVolume
from hyperpod_constructs.eks.metrics import GrafanaWorkspace, MetricsCategory, MetricsLevel, observed
from hyperpod_constructs.eks.pod_identity import PodIdentity, associate, pod_role
from hyperpod_constructs.eks.prerequisites import Installed
from hyperpod_constructs.facts import addons as facts
from hyperpod_constructs.facts.addons import Nodes, addon_facts
from hyperpod_constructs.facts.orchestration import TAG_OF_ADDONS
from hyperpod_constructs.rules.plugin import register_rules
from hyperpod_constructs.storage.existing_lustre import LustreSource

_Configuration = Mapping[str, Any]


class Addon(Construct):
    """An add-on of EKS.

    What is known of an add-on decides the rest: versions that the control plane cannot have, unknown keys of the configuration and
    missing prerequisites are refused. Its pods get a role by an association of its own, before the add-on. It comes after the
    add-ons that it needs, and after `after`. Any other add-on of EKS is taken as it is.

    `Addon.training_operator`, `task_governance`, `observability`, `fsx_csi`, `ebs_csi` and `s3_csi` write the roles and the
    configuration that an add-on needs.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/eks-add-ons.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        control_plane: KubernetesControlPlane,
        name: AddonName,
        version: str | None = None,
        configuration: _Configuration | None = None,
        identities: Sequence[PodIdentity] = (),
        policy: iam.PolicyDocument | None = None,
        after: Sequence[IDependable] = (),
        preserve_on_delete: bool = False,
    ) -> None:
        """
        :param control_plane: the EKS cluster.
        :param name: such as `vpc-cni` or `cert-manager`. A change **replaces** the add-on.
        :param version: such as `v1.20.1-eksbuild.3`; EKS takes its default when not given, and keeps it at updates.
        :param configuration: values of the add-on; its own defaults when not given.
        :param identities: roles of its service accounts; when not given, a new role for each that is known.
        :param policy: permissions of these new roles, beside the managed policy for the add-on; none unless given.
        :param after: what it waits for. An add-on whose pods need a node waits for the readiness of the HyperPod cluster.
        :param preserve_on_delete: whether its pods and custom resources stay when it is deleted; no unless given.
        :raises ValueError: for a version that the control plane cannot have, an unknown key or value of the configuration, an
            add-on that needs nodes before there are any, one whose permissions depend on your resources, or a second one of its
            name.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        path = placed(self, scope, id)
        check_addon(path, control_plane, name, version, configuration)
        check_order(path, control_plane, name, after)
        self._control_plane, self._name, self._facts = control_plane, name, addon_facts(name)
        roles = list(identities) or self._own_roles(policy)
        self._resource = eks.CfnAddon(
            self,
            "Resource",
            addon_name=name,
            cluster_name=control_plane.cluster_name,
            addon_version=version,
            configuration_values=None if configuration is None else stack_of(self).to_json_string(configuration),
            preserve_on_delete=True if preserve_on_delete else None,
            resolve_conflicts="OVERWRITE",
            tags=[CfnTag(key=TAG_OF_ADDONS[0], value=TAG_OF_ADDONS[1])] if name.startswith(facts.OF_SAGEMAKER) else None,
        )
        for role in roles:
            self._resource.add_resource_dependency(
                associate(self, f"Identity{role.service_account}", cluster_name=control_plane.cluster_name, identity=role)
            )
        if after:
            self._resource.node.add_dependency(*after)
        needs = dict.fromkeys((*facts.prerequisites(name), *((facts.POD_IDENTITY_AGENT,) if roles else ())))
        self._join(Installed(construct=self, path=path, name=name, version=version, needs=tuple(needs), resource=self._resource))

    @property
    def resource(self) -> eks.CfnAddon:
        """The L1."""
        return self._resource

    @property
    def addon_name(self) -> str:
        """Such as `vpc-cni`."""
        return self._name

    @staticmethod
    @checked
    def training_operator(
        scope: Construct,
        id: str,
        *,
        control_plane: KubernetesControlPlane,
        after: Sequence[IDependable],
        version: str | None = None,
        configuration: _Configuration | None = None,
    ) -> Addon:
        """The training operator, which runs HyperPodPyTorchJob. It needs `cert-manager` and `eks-pod-identity-agent`.

        Elastic and checkpointless training need version 1.2.0 or newer.

        :param after: the readiness of the HyperPod cluster.
        :param version: the default of EKS when not given.
        :param configuration: `{"hpTrainingControllerManager": {...}}`; the add-on's defaults when not given.
        :raises ValueError: see `Addon`.

        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html
        """
        return Addon(
            scope,
            id,
            control_plane=control_plane,
            name=facts.TRAINING_OPERATOR,
            version=version,
            configuration=configuration,
            after=after,
        )

    @staticmethod
    @checked
    def task_governance(
        scope: Construct,
        id: str,
        *,
        control_plane: KubernetesControlPlane,
        after: Sequence[IDependable],
        version: str | None = None,
    ) -> Addon:
        """Task governance, which installs Kueue; no other Kueue may be in the cluster.

        :param after: the readiness of the HyperPod cluster.
        :param version: the default of EKS when not given. It goes up step by step: not from 1.3 to 1.5.
        :raises ValueError: see `Addon`.

        Source:
        https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-governance.html
        """
        return Addon(scope, id, control_plane=control_plane, name=facts.TASK_GOVERNANCE, version=version, after=after)

    @staticmethod
    @checked
    def observability(
        scope: Construct,
        id: str,
        *,
        control_plane: KubernetesControlPlane,
        workspace: IWorkspaceRef,
        after: Sequence[IDependable],
        grafana: GrafanaWorkspace | None = None,
        levels: Mapping[MetricsCategory, MetricsLevel] | None = None,
        logging: bool = False,
        version: str | None = None,
    ) -> Addon:
        """Observability: metrics of jobs, nodes and accelerators go to a workspace of Amazon Managed Service for Prometheus.

        :param workspace: of Prometheus, in the stack's region.
        :param after: the readiness of the HyperPod cluster.
        :param grafana: a workspace of Amazon Managed Grafana that shows them; none unless given.
        :param levels: more, or fewer, metrics of a category: BASIC for training, inference, nodes, accelerators and the cluster
            unless given, and DISABLED for the others.
        :param logging: whether logs of pods go to CloudWatch; no unless given.
        :param version: the default of EKS when not given.
        :raises ValueError: see `Addon`.

        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-observability-addon-setup.html
        """
        stack, arn = stack_of(scope), workspace.workspace_ref.workspace_arn
        name = stack.split_arn(arn, ArnFormat.SLASH_RESOURCE_NAME).resource_name
        endpoint = f"https://aps-workspaces.{stack.region}.{stack.url_suffix}/workspaces/{name}"
        return Addon(
            scope,
            id,
            control_plane=control_plane,
            name=facts.OBSERVABILITY,
            version=version,
            configuration=observed(arn, endpoint, grafana, levels or {}, logging),
            policy=collecting(stack, arn),
            after=after,
        )

    @staticmethod
    @checked
    def fsx_csi(
        scope: Construct,
        id: str,
        *,
        control_plane: KubernetesControlPlane,
        file_system: LustreSource | None = None,
        namespaces: Sequence[str] = ("default",),
        claim_name: str = "fsx",
        after: Sequence[IDependable] = (),
        version: str | None = None,
        configuration: _Configuration | None = None,
    ) -> Addon:
        """The driver of FSx for Lustre, with volumes of an existing file system. It needs `eks-pod-identity-agent`.

        Its role looks at file systems and makes none: pods mount what this app made.

        :param file_system: a persistent volume and its claim of this name are made in each namespace; none unless given.
        :param namespaces: they exist already: `LustreVolume` makes a volume for one that comes later, or whose name is known only
            in the deployment.
        :param claim_name: pods name it in `persistentVolumeClaim`.
        :param after: what the driver waits for; nothing unless given: it starts as soon as there are nodes.
        :param version: the default of EKS when not given.
        :param configuration: the add-on's defaults when not given.
        :raises ValueError: for a namespace that is known only in the deployment; see also `Addon`.

        Source: https://docs.aws.amazon.com/eks/latest/userguide/fsx-csi.html
        """
        if any(map(is_unknown, namespaces)):
            raise ValueError(
                f"{scope.node.path}/{id}: namespaces has one that is known only in the deployment, which cannot name a volume; "
                "leave it out, and make a LustreVolume(..., namespace=...) for it"
            )
        driver = Addon(
            scope,
            id,
            control_plane=control_plane,
            name=facts.FSX_CSI,
            version=version,
            configuration=configuration,
            policy=looking_at_file_systems(),
            after=after,
        )
        for namespace in namespaces if file_system is not None else ():
            assert file_system is not None
            LustreVolume(
                driver,
                f"Volume-{namespace}",
                control_plane=control_plane,
                file_system=file_system,
                namespace=namespace,
                claim_name=claim_name,
            )
        return driver

    @staticmethod
    @checked
    def ebs_csi(
        scope: Construct,
        id: str,
        *,
        control_plane: KubernetesControlPlane,
        keys: Sequence[IKeyRef] = (),
        after: Sequence[IDependable] = (),
        version: str | None = None,
        configuration: _Configuration | None = None,
    ) -> Addon:
        """The driver of EBS volumes, also on HyperPod's nodes. It needs `eks-pod-identity-agent`.

        :param keys: of volumes with customer managed keys; none unless given.
        :param after: what the driver waits for; nothing unless given: it starts as soon as there are nodes.
        :param version: 1.47.0 or newer; the default of EKS when not given.
        :param configuration: the add-on's defaults when not given.
        :raises ValueError: see `Addon`.

        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-ebs.html
        """
        return Addon(
            scope,
            id,
            control_plane=control_plane,
            name=facts.EBS_CSI,
            version=version,
            configuration=configuration,
            policy=attaching_volumes(stack_of(scope), control_plane.cluster_arn, keys),
            after=after,
        )

    @staticmethod
    @checked
    def s3_csi(
        scope: Construct,
        id: str,
        *,
        control_plane: KubernetesControlPlane,
        buckets: Sequence[s3.IBucket],
        read_only: bool = False,
        after: Sequence[IDependable] = (),
        version: str | None = None,
        configuration: _Configuration | None = None,
    ) -> Addon:
        """The driver of S3 buckets as volumes (Mountpoint). It needs `eks-pod-identity-agent`.

        :param buckets: the only buckets that pods may mount, one or more; with their keys.
        :param read_only: whether pods only read; they also write and delete unless given.
        :param after: what the driver waits for; nothing unless given: it starts as soon as there are nodes.
        :param version: the default of EKS when not given.
        :param configuration: the add-on's defaults when not given.
        :raises ValueError: without a bucket; see also `Addon`.

        Source: https://docs.aws.amazon.com/eks/latest/userguide/s3-csi.html
        """
        if not buckets:
            raise ValueError(f"{scope.node.path}/{id}: buckets is empty; give the buckets that pods mount, such as [bucket]")
        return Addon(
            scope,
            id,
            control_plane=control_plane,
            name=facts.S3_CSI,
            version=version,
            configuration=configuration,
            policy=mounting(buckets, read_only),
            after=after,
        )

    def _own_roles(self, policy: iam.PolicyDocument | None) -> list[PodIdentity]:
        """A role for each known service account."""
        known = () if self._facts is None else self._facts.identities
        if policy is None and any(identity.managed_policy is None for identity in known):
            raise ValueError(
                f"{self.node.path}: the add-on {self._name} needs permissions for your resources; "
                f"write Addon.{_FACTORIES[self._name]}(...), or give policy or identities"
            )
        if policy is not None and not known:
            raise ValueError(
                f"{self.node.path}: policy for the add-on {self._name}, whose service accounts are unknown; give identities"
            )
        return [
            pod_role(self, f"Role{one.service_account}", control_plane=self._control_plane, identity=one, policy=policy)
            for one in known
        ]

    def _join(self, installed: Installed) -> None:
        """Put it in order among the add-ons of the control plane."""
        self._control_plane.prerequisites.add(installed)
        if self._facts is not None and self._facts.nodes is Nodes.NONE:
            self._control_plane.add_awaited(self._resource)


_FACTORIES = {
    facts.EBS_CSI: "ebs_csi",
    facts.FSX_CSI: "fsx_csi",
    facts.OBSERVABILITY: "observability",
    facts.S3_CSI: "s3_csi",
}
