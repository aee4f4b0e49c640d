from __future__ import annotations

import re
from typing import Any

import pytest

from app_settings import PRESETS, SettingError, read_settings
from hyperpod_constructs import KubernetesVersion
from tests.presets import ON_EKS, OTHER_ZONES

ZONE = {"availability_zone_id": "usw2-az4"}
EKS = {**ZONE, **ON_EKS, "orchestrator": "eks"}


def test_the_default_has_the_types_and_counts_of_the_announcement() -> None:
    settings = read_settings(ZONE)
    assert settings.cluster_name == "sagemaker-demo-cluster"
    assert settings.controller_instance_type.name == "ml.m5.xlarge"
    assert (settings.worker_instance_type.name, settings.worker_count) == ("ml.trn1.32xlarge", 4)


def test_the_preset_for_large_models() -> None:
    settings = read_settings({**ZONE, "preset": "llm"})
    assert settings.controller_instance_type.name == "ml.m5.2xlarge"
    assert (settings.worker_instance_type.name, settings.worker_count) == ("ml.p5.48xlarge", 32)


def test_a_key_overrides_the_preset_and_texts_are_converted() -> None:
    given = {
        **ZONE,
        "preset": "llm",
        "worker_count": "8",
        "worker_instance_type": "ml.p5en.48xlarge",
        "termination_protection": "false",
    }
    settings = read_settings(given)
    assert (settings.worker_count, settings.worker_instance_type.name) == (8, "ml.p5en.48xlarge")
    assert settings.termination_protection is False
    assert read_settings({**ZONE, "worker_count": 8}).worker_count == 8


def test_keys_of_cdk_are_passed_over() -> None:
    given = {**ZONE, "@aws-cdk/core:flag": True, "aws:cdk:enable-path-metadata": True, "availability-zones:account=1:region=2": []}
    assert read_settings(given) == read_settings(ZONE)


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"worker_cont": "4"}, "unknown context key 'worker_cont' (value '4'); the nearest is 'worker_count'; allowed: preset, "),
        (
            {"preset": "anouncement"},
            "'anouncement' is not a preset; the nearest is 'announcement'; allowed: slurm, announcement, llm",
        ),
        ({"orchestrator": "esk"}, "'orchestrator': 'esk' is unknown; the nearest is 'eks'; allowed: slurm, eks"),
        (
            {"orchestrator": "slurm", "preset": "kubernetes"},
            "'preset': 'kubernetes' is a cluster on eks, and 'orchestrator' is slurm; leave one of the two keys out, or take a "
            "preset of slurm: slurm, announcement, llm",
        ),
        (
            {"teams": "research:5", "chart": "stand-in"},
            "'teams' and 'chart': of no use to a cluster on slurm; leave it out, or write -c orchestrator=eks",
        ),
        ({"worker_count": "four"}, "'worker_count': 'four' is not a whole number of 0 or more; write -c worker_count=4"),
        ({"worker_count": -1}, "'worker_count': -1 is not a whole number"),
        ({"worker_count": True}, "'worker_count': True is not a whole number"),
        (
            {"accounting": "true"},
            "'accounting_zone_id': is not given and has no default; a database of RDS needs subnets in two zones",
        ),
        ({"accounting": "true", "accounting_zone_id": "usw2-az4"}, "'accounting_zone_id': 'usw2-az4' is the zone of the nodes"),
        ({"accounting_zone_id": "usw2-az1"}, "'accounting_zone_id': of no use without a database; write -c accounting=true"),
        ({"retain_data": "false"}, "if the data may go, also write -c confirm_data_loss=true"),
        ({"termination_protection": "yes"}, "'termination_protection': 'yes' is neither true nor false"),
        ({"worker_instance_type": "ml.p5.48xlrge"}, "'worker_instance_type': "),
        ({"cluster_name": ""}, "'cluster_name': '' is not a text; leave the key out for its default"),
        ({"availability_zone_id": None}, "is not a text"),
        (
            {"node_recovery": "automatic"},
            "'node_recovery': 'automatic' is unknown; the nearest is 'Automatic'; allowed: Auto",
        ),
        (
            {"deep_health_checks": "InstanceStress,Connectivity"},
            "'deep_health_checks': 'Connectivity' is unknown; the nearest is 'InstanceConnectivity'; allowed: InstanceStress, Inst",
        ),
        ({"threads_per_core": "0"}, "'threads_per_core': '0' is not a whole number of 1 or more; write -c threads_per_core=1"),
        (
            {"worker_groups": "gpus:ml.p5.48xlarge"},
            "'worker_groups': 'gpus:ml.p5.48xlarge' is not a name, a type and a count with colons between them; write -c worker_",
        ),
        ({"worker_groups": "gpus:ml.p5.48xlrge:4"}, "'worker_groups': "),
        ({"worker_groups": "gpus:ml.p5.48xlarge:x"}, "'worker_groups': 'x' is not a whole number of 0 or more"),
        (
            {"worker_groups": "my gpus:ml.p5.48xlarge:4"},
            "'worker_groups': WorkerGroup 'my gpus': name is 'my gpus'; allowed: 1",
        ),
        (
            {"worker_groups": "gpus:ml.p5.48xlarge:4", "worker_count": 2, "training_plan_arn": "x"},
            "'worker_groups' beside 'worker_count' and 'training_plan_arn': the groups replace the one group; leave",
        ),
    ],
)
def test_fails_with_key_value_allowed_and_nearest(context: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError) as caught:
        read_settings({**ZONE, **context})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"preset": "llm"}, "'preset': 'llm' is a cluster on slurm, and 'orchestrator' is eks; leave one of the two keys out, or"),
        (
            {"controller_instance_type": "ml.m5.xlarge"},
            "'controller_instance_type': of no use to a cluster on eks; leave it out, or write -c orchestrator=slurm",
        ),
        ({"kubernetes_version": "1.29"}, "'kubernetes_version': '1.29' is unknown; the nearest is '1.3"),
        ({"control_plane_zone_ids": "usw2-az1"}, "'usw2-az1' is not two zones; the control plane of EKS needs subnets in"),
        ({"control_plane_zone_ids": "usw2-az1,usw2-az1"}, "'usw2-az1,usw2-az1' is not two zones"),
        ({"chart": "standin"}, "'chart': 'standin' is unknown; the nearest is 'stand-in'; allowed: cache, stand-in"),
        ({"teams": "research"}, "'teams': 'research' is not a name and a count with a colon between them; write -c teams="),
        ({"teams": "research:five"}, "'teams': 'five' is not a whole number of 0 or more"),
        ({"teams": "research:1,research:2"}, "'teams': 'research' is there twice"),
        (
            {"worker_count": "2"},
            "'teams': research:5,product:3 is 8 workers, and the cluster has 2 of that type; write -c teams=research:1 with counts",
        ),
    ],
)
def test_fails_on_kubernetes_with_key_value_allowed_and_nearest(context: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError) as caught:
        read_settings({**EKS, **context})
    assert message in str(caught.value)


def test_fails_without_the_zones_of_the_control_plane() -> None:
    with pytest.raises(SettingError, match="'control_plane_zone_ids': is not given and has no default; the control plane of EKS"):
        read_settings({**ZONE, "orchestrator": "eks"})


@pytest.mark.parametrize(
    "given", [{"orchestrator": "eks"}, {"preset": "kubernetes"}, {"orchestrator": "eks", "preset": "kubernetes"}]
)
def test_orchestrator_and_preset_say_the_same(given: dict[str, str]) -> None:
    settings = read_settings({**ZONE, **ON_EKS, **given})
    assert (settings.orchestrator, settings.worker_instance_type.name, settings.worker_count) == ("eks", "ml.p5.48xlarge", 8)
    assert [str(team) for team in settings.teams] == ["research:5", "product:3"]
    assert settings.kubernetes_version == max(KubernetesVersion)


def test_the_settings_of_kubernetes_are_read() -> None:
    given = {"kubernetes_version": "1.33", "chart": "cache", "teams": "a:1, b:2", "system_node_count": "2"}
    given |= {"admin_role_arn": "arn:x"}
    settings = read_settings({**EKS, **given, "control_plane_zone_ids": "usw2-az2, usw2-az3"})
    assert (settings.kubernetes_version, settings.chart, settings.teams) == ("1.33", "cache", (("a", 1), ("b", 2)))
    assert (settings.system_node_count, settings.admin_role_arn) == (2, "arn:x")
    assert settings.control_plane_zone_ids == ("usw2-az2", "usw2-az3")


def test_the_teams_share_the_workers_of_the_first_type() -> None:
    given = {**EKS, "worker_groups": "a:ml.p5.48xlarge:4,b:ml.g5.48xlarge:8,c:ml.p5.48xlarge:2"}
    assert read_settings({**given, "teams": "research:6"}).teams == (("research", 6),)
    with pytest.raises(SettingError, match="is 7 workers, and the cluster has 6"):
        read_settings({**given, "teams": "research:7"})


def test_the_workers_are_one_group_unless_several_are_given() -> None:
    (group,) = read_settings({**ZONE, "min_running_workers": "2"}).workers
    assert (group.name, group.count) == ("workers", 4)
    assert read_settings({**ZONE, "min_running_workers": "2"}).min_running == {"workers": 2}
    several = read_settings({**ZONE, "worker_groups": "gpus:ml.p5.48xlarge:4, neurons:ml.trn1.32xlarge:8"})
    assert [(group.name, group.count) for group in several.workers] == [("gpus", 4), ("neurons", 8)]
    assert several.min_running == {}


def test_checks_threads_recovery_and_names_are_read() -> None:
    given = {
        **ZONE,
        "deep_health_checks": "InstanceStress, InstanceConnectivity",
        "threads_per_core": "1",
        "node_recovery": "None",
        "controller_group_name": "head",
        "login_group_name": "front",
    }
    settings = read_settings(given)
    assert [[check.value for check in group.deep_health_checks] for group in settings.workers] == [
        ["InstanceStress", "InstanceConnectivity"]
    ]
    assert (settings.threads_per_core, settings.node_recovery.value) == (1, "None")
    assert (settings.controller_group_name, settings.login_group_name) == ("head", "front")


def test_the_nearest_instance_type_is_named() -> None:
    with pytest.raises(SettingError, match=r"ml\.p5\.48xlarge"):
        read_settings({**ZONE, "worker_instance_type": "ml.p5.48xlrge"})


def test_fails_without_a_zone() -> None:
    with pytest.raises(SettingError, match="'availability_zone_id' is not given and has no default"):
        read_settings({})


def test_data_may_go_when_that_is_confirmed() -> None:
    assert read_settings({**ZONE, "retain_data": "false", "confirm_data_loss": "true"}).retain_data is False


def test_every_preset_is_complete() -> None:
    context = {name: {**ZONE, **OTHER_ZONES.get(name, {}), "preset": name} for name in PRESETS}
    assert {name: read_settings(given).worker_count for name, given in context.items()} == {
        "slurm": 4,
        "announcement": 4,
        "llm": 32,
        "production": 8,
        "kubernetes": 8,
    }


def test_people_have_a_name_and_a_number() -> None:
    users = read_settings({**ZONE, "users": "ann:2001, bob:2002"}).users
    assert [(user.name, user.uid) for user in users] == [("ann", 2001), ("bob", 2002)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ann", "'users': 'ann' is not a name and a number with a colon between them; write -c users=ann:2001,bob:2002"),
        ("ann:x", "'users': 'x' is not a whole number of 0 or more"),
        ("root:2001", "'users': "),
        ("ann:999", "'users': NodeUser 'ann': uid 999 is not one of 1000 to 60000"),
    ],
)
def test_fails_with_people_that_no_node_can_have(text: str, message: str) -> None:
    with pytest.raises(SettingError, match=re.escape(message)):
        read_settings({**ZONE, "users": text})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alarms_email": "team@example.com, me"}, "'alarms_email': 'me' is not an address; write -c alarms_email=team@example"),
        ({"monthly_budget_usd": "100"}, "'monthly_budget_usd': nobody would hear of the budget; also write -c alarms_email="),
    ],
)
def test_fails_for_alarms_that_nobody_hears(given: dict[str, str], message: str) -> None:
    with pytest.raises(SettingError, match=re.escape(message)):
        read_settings({"availability_zone_id": "usw2-az4", **given})


def test_several_addresses_hear_of_alarms() -> None:
    settings = read_settings({"availability_zone_id": "usw2-az4", "alarms_email": "a@example.com,b@example.com"})
    assert settings.alarms_email == ("a@example.com", "b@example.com")
