from __future__ import annotations

from typing import Any

import pytest

from app_settings import PRESETS, SettingError, read_settings

ZONE = {"availability_zone_id": "usw2-az4"}


def test_the_default_is_the_cluster_of_the_announcement() -> None:
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
        ({"preset": "anouncement"}, "'anouncement' is not a preset; the nearest is 'announcement'; allowed: announcement, llm"),
        ({"worker_count": "four"}, "'worker_count': 'four' is not a whole number of 0 or more; write -c worker_count=4"),
        ({"worker_count": -1}, "'worker_count': -1 is not a whole number"),
        ({"worker_count": True}, "'worker_count': True is not a whole number"),
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
            "'worker_groups' beside 'worker_count' and 'training_plan_arn': the groups replace the group 'workers'; leave",
        ),
    ],
)
def test_fails_with_key_value_allowed_and_nearest(context: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError) as caught:
        read_settings({**ZONE, **context})
    assert message in str(caught.value)


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
    assert {name: read_settings({**ZONE, "preset": name}).worker_count for name in PRESETS} == {"announcement": 4, "llm": 32}
