"""A Lustre file system as a volume of Kubernetes."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Annotated, Any

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IDependable

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs._support.values import Namespace
from hyperpod_constructs.eks.base import KubernetesControlPlane
from hyperpod_constructs.facts.addons import FSX_CSI_DRIVER
from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.rules.plugin import register_rules
from hyperpod_constructs.storage.existing_lustre import LustreSource


class LustreVolume(Construct):
    """A persistent volume of an existing file system, with its claim in one namespace. Pods of all nodes read and write it.

    The add-on `aws-fsx-csi-driver` mounts it: see `Addon.fsx_csi`. The files stay when the volume is deleted.

    A claim stays with its file system: Kubernetes refuses an update that gives it another one. So another `file_system` needs
    another `claim_name`. The deployment then makes a new volume and claim and deletes the old ones, which stay until the last pod
    that uses them ends.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-setup-storage.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        control_plane: KubernetesControlPlane,
        file_system: LustreSource,
        namespace: Namespace = "default",
        claim_name: Namespace = "fsx",
        capacity_gib: Annotated[int, Limit(least=1)] = 1200,
        after: Sequence[IDependable] = (),
    ) -> None:
        """
        :param control_plane: the EKS cluster.
        :param file_system: in the nodes' subnet; its security group admits them.
        :param namespace: of the claim; it exists already, or `after` waits for it. A volume has one claim, so each namespace has a
            volume of its own.
        :param claim_name: pods name it in `persistentVolumeClaim`. A change makes a new claim, on which no running pod is.
        :param capacity_gib: the size that Kubernetes shows; it limits nothing.
        :param after: what it waits for, such as `team.namespace_ready`; nothing unless given.
        :raises ValueError: for a second claim of one name in a namespace of the control plane.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        _reserve(placed(self, scope, id), control_plane, namespace, claim_name)
        name = f"{claim_name}-{namespace}"
        self._manifest = eks.KubernetesManifest(
            self,
            "Resource",
            cluster=control_plane.cluster,
            manifest=[
                _volume(name, file_system, namespace, claim_name, capacity_gib),
                _claim(name, namespace, claim_name),
            ],
        )
        if after:
            self._manifest.node.add_dependency(*after)

    @property
    def manifest(self) -> eks.KubernetesManifest:
        """The volume and its claim."""
        return self._manifest


_claims: weakref.WeakKeyDictionary[KubernetesControlPlane, dict[tuple[str, str], str]] = weakref.WeakKeyDictionary()
"""The path of each volume by the namespace and the name of its claim."""


def _reserve(path: str, control_plane: KubernetesControlPlane, namespace: str, claim: str) -> None:
    """Refuse a second claim of one name, which Kubernetes refuses in the deployment."""
    first = _claims.setdefault(control_plane, {}).setdefault((namespace, claim), path)
    if first != path:
        raise ValueError(
            f"{path}: the claim {claim!r} in the namespace {namespace!r} is that of {first} already; give another claim_name"
        )


def _volume(name: str, file_system: LustreSource, namespace: str, claim: str, capacity: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": f"{capacity}Gi"},
            "volumeMode": "Filesystem",
            "accessModes": ["ReadWriteMany"],
            "mountOptions": ["flock"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
            "claimRef": {"name": claim, "namespace": namespace},
            "csi": {
                "driver": FSX_CSI_DRIVER,
                "volumeHandle": file_system.file_system_id,
                "volumeAttributes": {"dnsname": file_system.dns_name, "mountname": file_system.mount_name},
            },
        },
    }


def _claim(volume: str, namespace: str, claim: str) -> dict[str, Any]:
    """The claim. It asks for the least, because Kubernetes refuses a change of its size; it gets the whole volume."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": claim, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "volumeName": volume,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
