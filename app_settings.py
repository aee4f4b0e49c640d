"""The settings of the reference app, from `cdk.json` and `-c key=value`, checked before the app is built."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from hyperpod_constructs import ClusterInstanceType


class SettingError(ValueError):
    """A context key or value that the app does not accept; the text gives both, the allowed ones and the nearest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """One field per context key. This text generates the page of settings.

    :param availability_zone_id: zone of all nodes, by id. Required unless `availability_zone` is given; the embedded AWS takes its
        first zone. **Replaces** everything.
    :param availability_zone: zone of all nodes, by name. **Replaces** everything.
    :param cidr: primary block of the VPC. **Replaces** everything.
    :param node_cidr: secondary block of the VPC, for the nodes. **Replaces** node subnet, file system and cluster.
    :param cluster_name: name of the cluster; CloudFormation makes one when not given. **Replaces** the cluster. Destroy a
        cluster with a name before you replace it.
    :param controller_instance_type: type of the one controller.
    :param login_instance_type: type of the one login node; no login node when not given.
    :param worker_instance_type: type of the workers.
    :param worker_count: number of workers.
    :param min_running_workers: number of workers that the deployment waits for.
    :param training_plan_arn: reserved capacity of the workers; on-demand capacity when not given.
    :param storage_capacity_gib: capacity of the Lustre file system, in GiB.
    :param per_unit_storage_throughput: throughput of the Lustre file system, in MB/s per TiB.
    :param termination_protection: protection of the stack `Foundation`; `false` on the embedded AWS unless given.
    :param retain_data: whether network, file system, data bucket and logs stay when their stack is destroyed. `false`, to try the
        app, needs `confirm_data_loss`. Only an empty bucket can be destroyed.
    :param confirm_data_loss: agreement to `retain_data=false`; `true` on the embedded AWS unless given.
    """

    availability_zone_id: str | None = None
    availability_zone: str | None = None
    cidr: str = "10.0.0.0/16"
    node_cidr: str = "10.1.0.0/16"
    cluster_name: str | None = None
    controller_instance_type: ClusterInstanceType = ClusterInstanceType.M5_XLARGE
    login_instance_type: ClusterInstanceType | None = None
    worker_instance_type: ClusterInstanceType = ClusterInstanceType.TRN1_32XLARGE
    worker_count: int = 4
    min_running_workers: int = 0
    training_plan_arn: str | None = None
    storage_capacity_gib: int = 1200
    per_unit_storage_throughput: int = 250
    termination_protection: bool = True
    retain_data: bool = True
    confirm_data_loss: bool = False


#: Clusters from published documents, by the value of the context key `preset`.
PRESETS: Mapping[str, Settings] = {
    "announcement": Settings(cluster_name="sagemaker-demo-cluster"),
    "llm": Settings(
        controller_instance_type=ClusterInstanceType.M5_2XLARGE,
        worker_instance_type=ClusterInstanceType.P5_48XLARGE,
        worker_count=32,
        storage_capacity_gib=4800,
    ),
}

DEFAULT_PRESET = "announcement"
_MOST_DIGITS = 9


def read_settings(context: Mapping[str, Any]) -> Settings:
    """Settings from the context of an app: the preset, changed by every given key.

    CDK's own keys (feature flags, look-ups) are ignored.

    :raises SettingError: for an unknown key or a value that the key does not accept.
    """
    given = {key: value for key, value in context.items() if not _of_cdk(key)}
    known = ["preset", *(field.name for field in fields(Settings))]
    for key, value in given.items():
        if key not in known:
            raise SettingError(f"unknown context key {key!r} (value {value!r}); {_nearest(key, known)}")
    preset = given.pop("preset", DEFAULT_PRESET)
    if preset not in PRESETS:
        raise SettingError(f"context key 'preset': {preset!r} is not a preset; {_nearest(preset, list(PRESETS))}")
    values: dict[str, Any] = {}
    for key, value in given.items():
        read: Callable[[str, Any], Any] = _READERS.get(key, _text)
        values[key] = read(key, value)
    settings = replace(PRESETS[preset], **values)
    _check_zone(settings)
    _check_retention(settings)
    return settings


def _check_zone(settings: Settings) -> None:
    if settings.availability_zone_id is None and settings.availability_zone is None:
        raise SettingError(
            "context key 'availability_zone_id' is not given and has no default: capacity is sold by zone; "
            "write -c availability_zone_id=usw2-az4 with the zone of your capacity (or availability_zone with its name)"
        )


def _check_retention(settings: Settings) -> None:
    if not settings.retain_data and not settings.confirm_data_loss:
        raise SettingError(
            "context key 'retain_data': False deletes the file system and the network with their stack; "
            "if the data may go, also write -c confirm_data_loss=true"
        )


def _of_cdk(key: str) -> bool:
    return key.startswith(("@", "aws:", "aws-cdk:")) or ":" in key


def _nearest(word: object, known: list[str]) -> str:
    close = difflib.get_close_matches(str(word), known, n=1, cutoff=0.4)
    hint = f"the nearest is {close[0]!r}; " if close else ""
    return f"{hint}allowed: {', '.join(known)}"


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise SettingError(f"context key {key!r}: {value!r} is not a text; leave the key out for its default")
    return value.strip()


def _whole_number(minimum: int, example: int) -> Callable[[str, Any], int]:
    def read(key: str, value: Any) -> int:
        text = str(value).strip()
        if isinstance(value, bool) or not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) < minimum:
            raise SettingError(
                f"context key {key!r}: {value!r} is not a whole number of {minimum} or more; write -c {key}={example}"
            )
        return int(text)

    return read


def _truth(key: str, value: Any) -> bool:
    known = {"true": True, "false": False}.get(str(value).lower())
    if known is None:
        raise SettingError(f"context key {key!r}: {value!r} is neither true nor false; write -c {key}=true")
    return known


def _instance_type(key: str, value: Any) -> ClusterInstanceType:
    try:
        return ClusterInstanceType.of(_text(key, value))
    except SettingError:
        raise
    except ValueError as error:
        raise SettingError(f"context key {key!r}: {error}") from None


_READERS: Mapping[str, Callable[[str, Any], Any]] = {
    "controller_instance_type": _instance_type,
    "login_instance_type": _instance_type,
    "worker_instance_type": _instance_type,
    "worker_count": _whole_number(0, 4),
    "min_running_workers": _whole_number(0, 4),
    "storage_capacity_gib": _whole_number(1, 1200),
    "per_unit_storage_throughput": _whole_number(1, 250),
    "termination_protection": _truth,
    "retain_data": _truth,
    "confirm_data_loss": _truth,
}
