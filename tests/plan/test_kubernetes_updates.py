"""Updates of the Kubernetes cluster that HyperPod joins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_constructs.facts.schema import type_facts
from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.plan.table import OURS
from tests.plan.templates import Template, change, resource, row, template


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ("1.31", "1.32", Effect.NO_INTERRUPTION),
        ("1.31", "1.33", Effect.REFUSED),
        ("1.9", "1.10", Effect.NO_INTERRUPTION),
        ("1.33", "1.32", Effect.REFUSED),
        ("1.33", "1.31", Effect.REFUSED),
        ({"Ref": "AWS::StackName"}, "1.33", Effect.NO_INTERRUPTION),
        ({"Ref": "AWS::NoValue"}, "1.33", Effect.NO_INTERRUPTION),
    ],
)
def test_a_version_changes_by_one_at_a_time(old: object, new: object, effect: Effect) -> None:
    one, other = (resource("AWS::EKS::Cluster", Version=version) for version in (old, new))
    found = row(one, other)
    assert (found.property, found.effect) == ("Version", effect)


def test_an_earlier_version_is_for_a_few_days_only() -> None:
    one, other = (resource("AWS::EKS::Cluster", Version=version) for version in ("1.33", "1.32"))
    assert "within 7 days" in row(one, other).why


def volume(handle: object, *, name: str = "fsx", capacity: int = 1200) -> dict[str, object]:
    parts = [
        f'[{{"kind":"PersistentVolume","metadata":{{"name":"{name}-default"}},"spec":{{"capacity":"{capacity}Gi","csi":{{"volumeHandle":"',
        handle,
        f'"}}}}}},{{"kind":"PersistentVolumeClaim","metadata":{{"name":"{name}","namespace":"default"}},'
        f'"spec":{{"volumeName":"{name}-default"}}}}]',
    ]
    return resource("Custom::AWSCDK-EKS-KubernetesResource", Manifest={"Fn::Join": ["", parts]})


@pytest.mark.parametrize(
    ("changes", "effect"),
    [
        ({"handle": "fs-2"}, Effect.REFUSED),
        ({"handle": {"Ref": "AWS::StackName"}}, Effect.REFUSED),
        ({"handle": "fs-2", "name": "other"}, Effect.NO_INTERRUPTION),
        ({"handle": "fs-1", "capacity": 2400}, Effect.NO_INTERRUPTION),
    ],
)
def test_a_volume_keeps_its_source(changes: dict[str, object], effect: Effect) -> None:
    found = row(volume("fs-1"), volume(**changes))  # type: ignore[arg-type]
    assert (found.property, found.effect) == ("Manifest", effect)


@pytest.mark.parametrize("manifest", ["no JSON", "{}", "[1]", '[{"kind":"ConfigMap"}]', '[{"kind":"PersistentVolume","spec":1}]'])
def test_a_manifest_without_volumes_refuses_nothing(manifest: str) -> None:
    one, other = (resource("Custom::AWSCDK-EKS-KubernetesResource", Manifest=text) for text in (manifest, "[]"))
    assert row(one, other).effect is Effect.NO_INTERRUPTION


_MODES = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")


@pytest.mark.parametrize(("old", "new"), [(old, new) for old in (None, *_MODES) for new in _MODES if old != new])
def test_the_authentication_mode_goes_one_step_forward_and_never_back(old: str | None, new: str) -> None:
    one, other = (
        resource("AWS::EKS::Cluster", AccessConfig={"AuthenticationMode": mode or {"Ref": "AWS::NoValue"}}) for mode in (old, new)
    )
    found = row(one, other)
    step = _MODES.index(new) - _MODES.index(old or "CONFIG_MAP")
    expected = Effect.NO_INTERRUPTION if step in (0, 1) else Effect.REFUSED
    assert (found.property, found.effect) == ("AccessConfig/AuthenticationMode", expected)
    if step == 2:
        assert "to API_AND_CONFIG_MAP only" in found.why


@pytest.mark.parametrize(("old", "new"), [({"Ref": "AWS::StackName"}, "API"), ("API", {"Ref": "AWS::NoValue"})])
def test_an_authentication_mode_that_is_unknown_or_gone_refuses_nothing(old: object, new: object) -> None:
    one, other = (resource("AWS::EKS::Cluster", AccessConfig={"AuthenticationMode": mode}) for mode in (old, new))
    assert row(one, other).effect is Effect.NO_INTERRUPTION


def _named_zone(index: int) -> Any:
    return f"us-west-2{'abc'[index]}"


def _picked_zone(index: int) -> Any:
    return {"Fn::Select": [index, {"Fn::GetAZs": ""}]}


def _subnet(number: int, zone: Any) -> dict[str, Any]:
    return resource("AWS::EC2::Subnet", VpcId="vpc-1", CidrBlock=f"10.0.{number}.0/28", AvailabilityZone=zone)


def _placed(zone: Callable[[int], Any], *names: str) -> Template:
    zones = {"A": 0, "A2": 0, "B": 1, "C": 2}
    control = resource("AWS::EKS::Cluster", ResourcesVpcConfig={"SubnetIds": [{"Ref": name} for name in names]})
    subnets = {name: _subnet(number, zone(index)) for number, (name, index) in enumerate(zones.items())}
    return template(Control=control, **subnets)


@pytest.mark.parametrize("zone", [_named_zone, _picked_zone])
@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        (("A", "B"), ("A2", "B"), Effect.NO_INTERRUPTION),
        (("A", "B"), ("A", "A2", "B"), Effect.NO_INTERRUPTION),
        (("A", "B"), ("A", "C"), Effect.REFUSED),
        (("A", "B"), ("A", "B", "C"), Effect.REFUSED),
        (("A", "B", "C"), ("A", "B"), Effect.REFUSED),
    ],
)
def test_the_control_plane_stays_in_its_zones(
    old: tuple[str, ...], new: tuple[str, ...], effect: Effect, zone: Callable[[int], Any]
) -> None:
    (found,) = change(_placed(zone, *old), _placed(zone, *new)).rows
    assert (found.property, found.effect) == ("ResourcesVpcConfig/SubnetIds", effect)


def test_zones_of_subnets_from_elsewhere_are_not_known() -> None:
    one, other = (resource("AWS::EKS::Cluster", ResourcesVpcConfig={"SubnetIds": [name, "subnet-2"]}) for name in ("s-1", "s-3"))
    found = row(one, other)
    assert (found.effect, "EKS refuses" in found.why) == (Effect.NO_INTERRUPTION, True)


GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"


@pytest.mark.parametrize(
    ("name", "old", "new", "effect"),
    [
        (GOVERNANCE, "v1.3.2-eksbuild.1", "v1.4.0-eksbuild.1", Effect.NO_INTERRUPTION),
        (GOVERNANCE, "v1.4.0-eksbuild.1", "v1.5.0-eksbuild.1", Effect.NO_INTERRUPTION),
        (GOVERNANCE, "v1.3.2-eksbuild.1", "v1.5.0-eksbuild.1", Effect.REFUSED),
        ("coredns", "v1.3.2-eksbuild.1", "v1.5.0-eksbuild.1", Effect.NO_INTERRUPTION),
    ],
)
def test_an_add_on_takes_no_step_over_a_version(name: str, old: str, new: str, effect: Effect) -> None:
    one, other = (resource("AWS::EKS::Addon", AddonName=name, ClusterName="k", AddonVersion=version) for version in (old, new))
    assert row(one, other).effect is effect


@pytest.mark.parametrize(
    ("way", "words"), [(None, "make the update fail (NONE)"), ("PRESERVE", "stay as they are"), ("OVERWRITE", "are set back")]
)
def test_the_plan_says_what_becomes_of_changed_fields(way: str | None, words: str) -> None:
    given: dict[str, Any] = {"AddonName": "coredns", "ClusterName": "k", **({} if way is None else {"ResolveConflicts": way})}
    one, other = (resource("AWS::EKS::Addon", ConfigurationValues=value, **given) for value in ("{}", '{"replicaCount": 3}'))
    assert words in row(one, other).why


@pytest.mark.parametrize(
    ("kind", "base", "name", "effect"),
    [
        ("AWS::EKS::Addon", {"AddonName": "coredns", "ClusterName": "k"}, "NamespaceConfig", Effect.REFUSED),
        ("AWS::EKS::AccessEntry", {"PrincipalArn": "arn", "ClusterName": "k"}, "Type", Effect.REFUSED),
        ("AWS::EKS::AccessEntry", {"ClusterName": "k"}, "PrincipalArn", Effect.REPLACE),
        ("AWS::EKS::PodIdentityAssociation", {"ClusterName": "k", "ServiceAccount": "s"}, "Namespace", Effect.REPLACE),
        ("AWS::EKS::Nodegroup", {"ClusterName": "k"}, "Version", Effect.ROLLING),
        ("AWS::EKS::Nodegroup", {"ClusterName": "k"}, "NodeRole", Effect.REPLACE),
        ("AWS::EKS::Cluster", {"RoleArn": "r"}, "EncryptionConfig", Effect.REPLACE),
        ("AWS::EKS::Cluster", {"RoleArn": "r"}, "Logging", Effect.NO_INTERRUPTION),
        ("AWS::SageMaker::ComputeQuota", {"ClusterArn": "a"}, "Name", Effect.REPLACE),
        ("AWS::Scheduler::Schedule", {"Target": {}}, "ScheduleExpression", Effect.NO_INTERRUPTION),
    ],
)
def test_what_is_fixed_is_made_anew_unless_the_old_one_holds_its_place(
    kind: str, base: dict[str, Any], name: str, effect: Effect
) -> None:
    one, other = ({**base, name: value} for value in ("one", "two"))
    assert row(resource(kind, **one), resource(kind, **other)).effect is effect


def _modes_of(compute: object, balancing: object, storage: object) -> Template:
    return resource(
        "AWS::EKS::Cluster",
        ComputeConfig={"Enabled": compute},
        KubernetesNetworkConfig={"ElasticLoadBalancing": {"Enabled": balancing}},
        StorageConfig={"BlockStorage": {"Enabled": storage}},
    )


@pytest.mark.parametrize(
    ("new", "effect"),
    [
        ((True, True, True), Effect.NO_INTERRUPTION),
        ((True, False, False), Effect.REFUSED),
        ((True, True, False), Effect.REFUSED),
        ((True, {"Ref": "AWS::StackName"}, True), Effect.NO_INTERRUPTION),
    ],
)
def test_the_parts_of_auto_mode_are_switched_together(new: tuple[object, object, object], effect: Effect) -> None:
    found = change(template(One=_modes_of(False, False, False)), template(One=_modes_of(*new))).rows
    assert {one.effect for one in found} == {effect}


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [("1.34", "1.35", Effect.ROLLING), ("1.33", "1.35", Effect.ROLLING), ("1.35", "1.34", Effect.REFUSED)],
)
def test_node_groups_go_up_only(old: str, new: str, effect: Effect) -> None:
    given: dict[str, Any] = {"ClusterName": "k", "NodeRole": "arn", "Subnets": ["subnet-1"]}
    one, other = (resource("AWS::EKS::Nodegroup", Version=version, **given) for version in (old, new))
    assert row(one, other).effect is effect


@pytest.mark.parametrize(("old", "new", "told"), [("1.3.0", "1.2.1", True), ("1.2.1", "1.3.0", False)])
def test_jobs_go_before_their_operator_goes_back(old: str, new: str, told: bool) -> None:
    name = "amazon-sagemaker-hyperpod-training-operator"
    one, other = (
        resource("AWS::EKS::Addon", AddonName=name, ClusterName="k", AddonVersion=f"v{version}-eksbuild.1")
        for version in (old, new)
    )
    assert ("delete the operator's jobs first" in row(one, other).why) is told


_NOT_DESCRIBED = {
    "AWS::EKS::Cluster": {
        "ActiveCertificateAuthorityId",
        "CertificateAuthority",
        "KubeApiServerConfig",
        "KubeControllerManagerConfig",
        "KubeSchedulerConfig",
        "OutpostConfig",
    },
    "AWS::EKS::Nodegroup": {"ClusterName", "NodegroupName", "WarmPoolConfig"},
    "AWS::SageMaker::ClusterSchedulerConfig": {"Name"},
}
"""Properties whose row is the schema's alone: it says whether they are fixed, and no page says what else a change does."""


@pytest.mark.parametrize(
    "kind",
    [
        *(f"AWS::EKS::{name}" for name in ("AccessEntry", "Addon", "Cluster", "Nodegroup", "PodIdentityAssociation")),
        *(f"AWS::SageMaker::{name}" for name in ("ClusterSchedulerConfig", "ComputeQuota")),
    ],
)
def test_each_property_has_a_row_of_its_own(kind: str) -> None:
    facts = type_facts(kind)
    assert facts is not None
    own = {one.path.split("/")[0] for one in OURS[kind]}
    assert set(facts.properties) - {"Tags"} - own == _NOT_DESCRIBED.get(kind, set())
