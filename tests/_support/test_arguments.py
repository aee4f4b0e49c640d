"""An argument of a wrong type is named with the construct, before jsii meets it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jsii
import pytest
from aws_cdk import IStableNumberProducer, Lazy, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms

from hyperpod_constructs import (
    ClusterInstanceType,
    ClusterNetwork,
    EbsVolume,
    ExecutionRole,
    HyperPodCluster,
    InstanceGroup,
    LustreMount,
    LustreStorage,
    NodeRecovery,
    OpenZfsStorage,
    ReadinessGate,
    SlurmCluster,
    SlurmNodeType,
)
from tests.conftest import ZONE, only

M5 = ClusterInstanceType.M5_XLARGE


@jsii.implements(IStableNumberProducer)
class _Produced:
    def produce(self) -> int:
        return 2400


class Nonsense:
    """Fits no parameter."""


def _controller(**changes: Any) -> InstanceGroup:
    return InstanceGroup(**{"name": "head", "instance_type": M5, "count": 1, "node_type": SlurmNodeType.CONTROLLER, **changes})


def _cluster(stack: Stack, net: ClusterNetwork, /, **changes: Any) -> HyperPodCluster:
    return HyperPodCluster(stack, "X", **{"network": net, "instance_groups": [_controller()], **changes})


def _slurm(stack: Stack, net: ClusterNetwork, /, **changes: Any) -> SlurmCluster:
    lustre = LustreStorage(stack, "Fsx", network=net)
    given = {"network": net, "file_system": lustre, "worker_type": M5, "worker_count": 2}
    return SlurmCluster(stack, "X", **{**given, **changes})


MAKERS: dict[Any, Callable[..., object]] = {
    ClusterNetwork: lambda stack, _, /, **changes: ClusterNetwork(stack, "X", **{"availability_zone_id": ZONE, **changes}),
    ExecutionRole: lambda stack, _, /, **changes: ExecutionRole(stack, "X", **changes),
    HyperPodCluster: _cluster,
    LustreStorage: lambda stack, net, /, **changes: LustreStorage(stack, "X", **{"network": net, **changes}),
    OpenZfsStorage: lambda stack, net, /, **changes: OpenZfsStorage(stack, "X", **{"network": net, **changes}),
    ReadinessGate: lambda stack, net, /, **changes: ReadinessGate(
        stack, "X", **{"cluster": _cluster(Stack(stack.node.root, "Other"), net), **changes}
    ),
    SlurmCluster: _slurm,
}


def _parameters(constructor: Any) -> list[str]:
    return [name for name, given in inspect.signature(constructor).parameters.items() if given.kind is given.KEYWORD_ONLY]


@pytest.mark.parametrize(("construct", "name"), [(kind, name) for kind in MAKERS for name in _parameters(kind.__init__)])
def test_every_parameter_of_a_construct(construct: Any, name: str, stack: Stack, network: ClusterNetwork) -> None:
    with pytest.raises(TypeError, match=rf"^Stack/X: {name} is a Nonsense; allowed: \S"):
        MAKERS[construct](stack, network, **{name: Nonsense()})


@pytest.mark.parametrize("name", _parameters(InstanceGroup))
def test_every_field_of_a_group(name: str) -> None:
    label = "" if name == "name" else " 'head'"
    with pytest.raises(TypeError, match=rf"^InstanceGroup{label}: {name} is a Nonsense; allowed: \S"):
        _controller(**{name: Nonsense()})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": "4"}, "count is '4' (str); allowed: int"),
        ({"count": True}, "count is True (bool); allowed: int"),
        ({"count": 4.0}, "count is 4.0 (float); allowed: int"),
        (
            {"instance_type": "ml.m5.xlarge"},
            "instance_type is 'ml.m5.xlarge' (str); allowed: "
            'ClusterInstanceType.of("ml.p5.48xlarge") or Sequence of ClusterInstanceType.of("ml.p5.48xlarge")',
        ),
        ({"ebs_volumes": ["500"]}, "ebs_volumes is a list with '500' (str); allowed: Sequence of EbsVolume(size_gb=...)"),
        (
            {"node_type": "Controller"},
            "node_type is 'Controller' (str); allowed: SlurmNodeType.CONTROLLER or SlurmNodeType.LOGIN or SlurmNodeType.COMPUTE",
        ),
        ({"partition": 1}, "partition is 1 (int); allowed: str or None"),
    ],
)
def test_the_message_has_the_fix(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        _controller(**changes)
    assert str(caught.value) == f"InstanceGroup 'head': {message}"


def test_a_vpc_is_not_a_network(stack: Stack) -> None:
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-0123", availability_zones=["us-west-2a"])
    with pytest.raises(TypeError, match=r"^Stack/Fsx: network is an IVpc; allowed: a ClusterNetwork, or ClusterNetwork\."):
        LustreStorage(stack, "Fsx", network=vpc)  # type: ignore[arg-type]


def test_a_file_system_without_its_mount(lustre: LustreStorage) -> None:
    with pytest.raises(TypeError, match=r"file_systems is a list with a LustreStorage; allowed: Sequence of LustreMount\("):
        _controller(file_systems=[lustre])


def test_a_method_names_its_construct(lustre: LustreStorage) -> None:
    with pytest.raises(TypeError, match=r"^Stack/Lustre: bucket is 'data' \(str\); allowed: aws_s3\.IBucket$"):
        lustre.add_data_repository("Data", bucket="data", file_system_path="/data")  # type: ignore[arg-type]


def test_fitting_arguments_pass(stack: Stack, network: ClusterNetwork) -> None:
    """Tokens, keys of the L2, imported roles, sequences of any kind, members of an enumeration."""
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-west-2:123456789012:key/1")
    capacity: Any = Lazy.number(_Produced())
    lustre = LustreStorage(
        stack, "Fsx", network=network, storage_capacity_gib=capacity, kms_key=key, removal_policy=RemovalPolicy.RETAIN
    )
    group = _controller(file_systems=(LustreMount(file_system=lustre),), ebs_volumes=[EbsVolume(size_gb=100, kms_key=key)])
    HyperPodCluster(stack, "X", network=network, instance_groups=(group,), node_recovery=NodeRecovery.NONE)
    assert only(stack, "AWS::FSx::FileSystem")["Properties"]["StorageCapacity"] == 2400
