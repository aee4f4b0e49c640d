"""Updates of the Kubernetes cluster that HyperPod joins."""

from __future__ import annotations

import pytest

from hyperpod_constructs.plan.effect import Effect
from tests.plan.templates import resource, row


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ("1.31", "1.32", Effect.NO_INTERRUPTION),
        ("1.31", "1.33", Effect.REFUSED),
        ("1.9", "1.10", Effect.NO_INTERRUPTION),
        ("1.33", "1.32", Effect.NO_INTERRUPTION),
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
