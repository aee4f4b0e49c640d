"""Versions of Kubernetes and of add-ons."""

from __future__ import annotations

from datetime import date

import pytest
from aws_cdk import aws_eks_v2 as eks

from hyperpod_constructs.facts import addon_versions, addons, kubernetes
from hyperpod_constructs.facts import eks as eks_facts
from hyperpod_constructs.facts.kubernetes import KubernetesVersion


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1.35", (1, 35)),
        ("v1.20.1-eksbuild.3", (1, 20, 1)),
        ("v1.20.x", None),
        ("", None),
        ("1.²", None),
        ("1." + "9" * 5000, None),
    ],
)
def test_a_version_is_numbers(text: str, numbers: tuple[int, ...] | None) -> None:
    assert kubernetes.version_of(text) == numbers


def test_every_version_has_its_name_and_is_known_to_the_cdk() -> None:
    assert [version.name for version in KubernetesVersion] == [f"V{version.replace('.', '_')}" for version in KubernetesVersion]
    assert all(hasattr(eks.KubernetesVersion, version.name) for version in KubernetesVersion)
    assert (kubernetes.OLDEST, kubernetes.NEWEST) == (KubernetesVersion.V1_30, KubernetesVersion.V1_35)


@pytest.mark.parametrize("name", addons.known_addons())
def test_what_is_known_of_an_add_on_holds_together(name: str) -> None:
    facts = addons.addon_facts(name)
    assert facts is not None
    assert facts.source.startswith("https://")
    assert {*facts.prerequisites, *facts.companions} <= set(addons.known_addons())
    for known in facts.versions:
        assert known.source.startswith("https://")
        assert addon_versions.version_mistake(name, known.version, known.kubernetes) is None
    for least in (facts.least, *facts.prerequisites.values(), *facts.companions.values()):
        assert least is None or kubernetes.version_of(least) is not None


@pytest.mark.parametrize("name", [addons.COREDNS, addons.KUBE_PROXY])
@pytest.mark.parametrize("version", KubernetesVersion)
def test_a_version_of_coredns_and_kube_proxy_is_named_for_each_kubernetes(name: str, version: KubernetesVersion) -> None:
    facts = addons.addon_facts(name)
    assert facts is not None
    assert version in {known.kubernetes for known in facts.versions}


@pytest.mark.parametrize(
    ("name", "account", "meant"),
    [
        ("aws-efs-csi-driver", "efs-csi-node", "efs-csi-node-sa"),
        ("aws-efs-csi-driver", "efs-csi-node-sa", None),
        ("aws-efs-csi-driver", "somebody", None),
        ("unknown", "efs-csi-node", None),
    ],
)
def test_a_service_account_may_be_misspelled(name: str, account: str, meant: str | None) -> None:
    assert addons.misspelled_account(name, account) == meant


def test_a_pair_that_no_source_names_is_not_judged() -> None:
    facts = addons.addon_facts(addons.VPC_CNI)
    assert facts is not None
    assert "1.35" not in {known.kubernetes for known in facts.versions}
    assert addon_versions.version_mistake(addons.VPC_CNI, "v1.21.1-eksbuild.8", "1.35") is None


def test_an_add_on_that_nobody_described_is_not_judged() -> None:
    assert addons.addon_facts("adot") is None
    assert addon_versions.version_mistake("adot", "anything", None) is None
    assert addons.configuration_mistake("adot", {"any": "key"}, lambda value: False) is None


@pytest.mark.parametrize(("kubernetes_version", "is_refused"), [("1.29", True), ("1.30", False), (None, False)])
def test_an_add_on_can_need_a_newer_kubernetes(kubernetes_version: str | None, is_refused: bool) -> None:
    found = addon_versions.kubernetes_mistake(addons.TASK_GOVERNANCE, kubernetes_version)
    assert (found is not None) == is_refused


@pytest.mark.parametrize(
    ("value", "refused"),
    [
        ({"logging": {"enabled": 1}}, "logging.enabled is 1; allowed: boolean"),
        ({"metricsProvider": {"nodeMetrics": {"level": "ALL"}}}, "metricsProvider.nodeMetrics.level is 'ALL'; allowed: BASIC, "),
        ({"metricsProvider": {"nodeMetrics": {"scrapeInterval": True}}}, "metricsProvider.nodeMetrics.scrapeInterval is True"),
        ({"metricsProvider": {"nodeMetrics": {"scrapeInterval": 30}}}, ""),
        ({"logging": {"enabled": "<unknown>"}}, ""),
    ],
)
def test_a_configuration_is_compared_with_its_schema(value: dict[str, object], refused: str) -> None:
    found = addons.configuration_mistake(addons.OBSERVABILITY, value, lambda part: part == "<unknown>")
    assert (found or "").startswith(refused)
    assert (found is None) == (refused == "")


@pytest.mark.parametrize(
    ("day", "version", "support"),
    [
        (date(2026, 7, 28), "1.33", "standard support"),
        (date(2026, 7, 29), "1.33", "extended support"),
        (date(2027, 7, 29), "1.33", "no support"),
        (date(2026, 7, 29), "1.99", "standard support"),
        (date(2026, 7, 29), "1.12", None),
        (date(2026, 7, 29), "latest", None),
    ],
)
def test_support_ends_on_a_day(day: date, version: str, support: str | None) -> None:
    assert eks_facts.support_on(day, version) == support


def test_support_of_every_version_ends_once() -> None:
    assert all(support.standard < support.extended for support in eks_facts.SUPPORT.values())
    assert set(KubernetesVersion) == set(eks_facts.SUPPORT)


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("kube-proxy", {"mode": "ebpf"}, {"mode": "ipvs", "ipvs": {"scheduler": "rr"}}),
        ("metrics-server", {"replicas": "two"}, {"replicas": 2, "anything": {"else": 1}}),
        ("metrics-server", {"args": "--kubelet-insecure-tls"}, {"args": ["--kubelet-insecure-tls"]}),
        ("eks-pod-identity-agent", {"agent": {"additionalArg": {}}}, {"agent": {"additionalArgs": {"-b": "169.254.170.23"}}}),
        ("cert-manager", {"webhook": {"replicaCount": "3"}}, {"webhook": {"replicaCount": 3}, "enabled": True}),
        ("aws-mountpoint-s3-csi-driver", {"node": {"tolerateAllTaint": True}}, {"node": {"tolerateAllTaints": True}}),
        ("aws-mountpoint-s3-csi-driver", {"tolerateAllTaints": True}, {"node": {"defaultTolerations": False}}),
        ("aws-ebs-csi-driver", {"defaultStorageClass": {"enabled": "true"}}, {"defaultStorageClass": {"enabled": True}}),
        ("aws-ebs-csi-driver", {"controller": {"extraVolumeTags": {"a": 1}}}, {"controller": {"extraVolumeTags": {"a": "1"}}}),
        ("aws-efs-csi-driver", {"deleteAccessPointRootDir": True}, {"controller": {"deleteAccessPointRootDir": True}}),
        ("aws-fsx-csi-driver", {"node": {"logLevel": "5"}}, {"node": {"logLevel": 5}}),
        ("amazon-cloudwatch-observability", {"containerLogs": {"enabled": "no"}}, {"containerLogs": {"enabled": False}}),
        ("amazon-cloudwatch-observability", {"agents": {"config": {}}, "containerLog": {}}, {"agent": {"config": {"logs": {}}}}),
        ("amazon-cloudwatch-observability", {"applicationSignal": {}}, {"applicationSignals": {"enabled": False}, "agents": []}),
        ("amazon-cloudwatch-observability", {"otelContainerInsight": {}}, {"otelContainerInsights": {"enabled": True}}),
        ("kube-proxy", {"mode": "nftable"}, {"mode": "nftables"}),
        ("eks-pod-identity-agent", {"agent": {"probPort": 1}}, {"agent": {"livenessEndpoint": "/a", "readinessEndpoint": "/b"}}),
        ("metrics-server", {"hostNetwork": True}, {"hostNetwork": {"enabled": True}}),
        ("aws-ebs-csi-driver", {"nodeSelector": {}}, {"controller": {"nodeSelector": {}, "defaultFsType": None}}),
        ("aws-ebs-csi-driver", {"node": {"kubletPath": "/a"}}, {"node": {"kubeletPath": "/a", "priorityClassName": None}}),
        ("aws-ebs-csi-driver", {"controller": {"env": {}}}, {"controller": {"env": [], "envFrom": []}, "nodeComponentOnly": False}),
        ("aws-efs-csi-driver", {"controller": {"hostNetwork": "no"}}, {"controller": {"podLabel": {"a": "b"}, "logLevel": 5}}),
        ("aws-fsx-csi-driver", {"node": {"extraArgs": "-v"}}, {"node": {"extraArgs": ["-v"], "lustreMaxCachedMB": 102400}}),
        ("aws-mountpoint-s3-csi-driver", {"controller": {"replicaCount": "1"}}, {"experimental": {"headroomPodLabels": {}}}),
    ],
)
def test_configurations_of_other_add_ons(name: str, wrong: dict[str, object], right: dict[str, object]) -> None:
    assert addons.configuration_mistake(name, wrong, lambda _: False) is not None
    assert addons.configuration_mistake(name, right, lambda _: False) is None
