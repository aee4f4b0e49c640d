"""The settings of the reference app, from `cdk.json` and `-c key=value`, checked before the app is built."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from hyperpod_constructs import (
    ClusterInstanceType,
    DeepHealthCheck,
    KubernetesVersion,
    LifecycleMode,
    NodeRecovery,
    NodeUser,
    WorkerGroup,
)

Choice = TypeVar("Choice", bound=StrEnum)


class OrchestratorName(StrEnum):
    """What schedules the jobs of a cluster."""

    SLURM = "slurm"
    EKS = "eks"


class Chart(StrEnum):
    """Where the service's Helm chart comes from."""

    CACHE = "cache"
    STAND_IN = "stand-in"


class SettingError(ValueError):
    """A context key or value that the app does not accept; the text gives both, the allowed ones and the nearest."""


class TeamShare(NamedTuple):
    """A team, and the number of workers that it has at least."""

    name: str
    nodes: int

    def __str__(self) -> str:
        return f"{self.name}:{self.nodes}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """One field per context key. This text generates the page of settings.

    :param orchestrator: `slurm`, or `eks` for Kubernetes; that of the preset when not given.
    :param availability_zone_id: zone of all nodes, by id. Required unless `availability_zone` is given; the embedded AWS takes its
        first zone. **Replaces** everything.
    :param availability_zone: zone of all nodes, by name. **Replaces** everything.
    :param cidr: primary block of the VPC. **Replaces** everything.
    :param node_cidr: secondary block of the VPC, for the nodes. **Replaces** node subnet, file system and cluster.
    :param internet: whether nodes reach the internet, by a NAT gateway. `false`: services of AWS by endpoints in the VPC, and
        nothing else; images of containers then come from ECR.
    :param customer_managed_key: whether one key of your account encrypts buckets, file system, volumes, logs of functions and the
        secrets of Kubernetes; `false`: keys of AWS. **Replaces** the file system, and the control plane of Kubernetes.
    :param alarms: whether there are alarms, a dashboard and a topic that hears of them.
    :param alarms_email: addresses that receive alarms and events, with commas between them; each confirms the first message. They
        bring `alarms` with them.
    :param monthly_budget_usd: US dollars that everything may cost in a month; the topic of `alarms` hears before they are spent.
        `0`: no budget.
    :param cluster_name: name of the cluster; CloudFormation makes one when not given. **Replaces** the cluster. Destroy a
        cluster with a name before you replace it.
    :param controller_instance_type: type of the one controller.
    :param login_instance_type: type of the one login node; no login node when not given.
    :param worker_instance_type: type of the workers.
    :param worker_count: number of workers.
    :param worker_group_name: name of the workers' group. A change removes the group with its nodes and makes another.
    :param min_running_workers: number of workers that the deployment waits for. On Kubernetes `0` waits for one, which the add-ons
        need, unless `system_node_count` brings other nodes.
    :param training_plan_arn: reserved capacity of the workers; on-demand capacity when not given.
    :param worker_groups: several groups of workers as `name:type:count`, with commas between them, such as
        `gpus:ml.p5.48xlarge:4,neurons:ml.trn1.32xlarge:8`. They take the place of `worker_instance_type`, `worker_count`,
        `worker_group_name`, `min_running_workers` and `training_plan_arn`.
    :param controller_group_name: name of the controller's group. A change removes the controller, with Slurm's queue.
    :param login_group_name: name of the login group.
    :param threads_per_core: `1` switches simultaneous multithreading off on every node; each type's default when not given. The
        service refuses a change for an existing group.
    :param lifecycle_mode: time of the nodes' scripts. `OnInitComplete`: after the image's own set-up. `OnCreate`: instead of it.
        `None`: never.
    :param deep_health_checks: checks of the workers before they take work, `InstanceStress` and `InstanceConnectivity` with a comma
        between them; none when not given. On Kubernetes they need `system_node_count`, because they take about two hours.
    :param node_recovery: `Automatic`: the service reboots or replaces faulty nodes. `None`: it only labels them.
    :param storage_capacity_gib: capacity of the Lustre file system, in GiB.
    :param per_unit_storage_throughput: throughput of the Lustre file system, in MB/s per TiB.
    :param users: people with an account on every node, as `name:uid` with commas between them, such as `ann:2001,bob:2002`.
    :param home_capacity_gib: capacity of an OpenZFS file system for homes at `/home`, in GiB; `0`: there is none, and homes are on
        Lustre.
    :param accounting: whether Slurm's accounting is in a database of its own, RDS for MariaDB in two zones, which outlives the
        cluster; `false`: it is on the controller, and goes with it. There is no way back to `false` for a cluster.
    :param accounting_zone_id: second zone of that database, by id; the first is that of the nodes. Required with `accounting`; the
        embedded AWS takes another one of its zones. **Replaces** the database's subnet.
    :param node_metrics: whether nodes tell CloudWatch their figures: GPUs, memory, Neuron devices, EFA and disks. Each figure of a
        node costs by the month: `hyperpod cost` says how much.
    :param prometheus: whether there is a workspace of Amazon Managed Service for Prometheus with alert rules, to which nodes write
        all their figures.
    :param metrics_interval_seconds: seconds between two looks of a node at its figures.
    :param kubernetes_version: version of Kubernetes; it goes up by one minor version at a time.
    :param control_plane_zone_ids: two zones of the control plane, by id, with a comma between them, such as `usw2-az1,usw2-az2`.
        Required for Kubernetes; the embedded AWS takes its first two. **Replaces** the control plane, with every object in it.
    :param system_node_count: number of EC2 nodes of EKS for the pods of the system, beside HyperPod's.
    :param chart: the service's Helm chart. `cache`: what `hyperpod chart fetch` has fetched, as `hyperpod-chart.lock` says.
        `stand-in`: a small one for the embedded AWS, which takes it unless given; nothing in it runs on nodes.
    :param teams: teams with the number of workers that each has at least, as `name:count` with commas between them, such as
        `research:5,product:3`. The workers are those of the first group. Another name **replaces** the quota of the team.
    :param admin_role_arn: role of those who administer Kubernetes, by ARN. A new role when not given: everybody in the account may
        assume it whose own permissions allow it.
    :param preflight: whether the deployment looks at quotas, addresses, zones, roles and the scripts' bucket before it makes the
        cluster, and stops at a proven mistake. `false` after a refusal that you know better.
    :param termination_protection: protection of the stack `Foundation`; `false` on the embedded AWS unless given.
    :param retain_data: whether network, file system, database, data bucket and logs stay when their stack is destroyed. `false`, to
        try the app, needs `confirm_data_loss`. Only an empty bucket can be destroyed.
    :param confirm_data_loss: agreement to `retain_data=false`; `true` on the embedded AWS unless given.
    """

    orchestrator: OrchestratorName = OrchestratorName.SLURM
    availability_zone_id: str | None = None
    availability_zone: str | None = None
    cidr: str = "10.0.0.0/16"
    node_cidr: str = "10.1.0.0/16"
    internet: bool = True
    customer_managed_key: bool = False
    alarms: bool = False
    alarms_email: tuple[str, ...] = ()
    monthly_budget_usd: int = 0
    cluster_name: str | None = None
    controller_instance_type: ClusterInstanceType = ClusterInstanceType.M5_XLARGE
    login_instance_type: ClusterInstanceType | None = None
    worker_instance_type: ClusterInstanceType = ClusterInstanceType.TRN1_32XLARGE
    worker_count: int = 4
    worker_group_name: str = "workers"
    min_running_workers: int = 0
    training_plan_arn: str | None = None
    worker_groups: tuple[WorkerGroup, ...] = ()
    controller_group_name: str = "controller"
    login_group_name: str = "login"
    threads_per_core: int | None = None
    lifecycle_mode: LifecycleMode | None = None
    deep_health_checks: tuple[DeepHealthCheck, ...] = ()
    node_recovery: NodeRecovery = NodeRecovery.AUTOMATIC
    storage_capacity_gib: int = 1200
    per_unit_storage_throughput: int = 250
    users: tuple[NodeUser, ...] = ()
    home_capacity_gib: int = 0
    accounting: bool = False
    accounting_zone_id: str | None = None
    node_metrics: bool = False
    prometheus: bool = False
    metrics_interval_seconds: int = 60
    kubernetes_version: KubernetesVersion = KubernetesVersion.V1_35
    control_plane_zone_ids: tuple[str, ...] = ()
    system_node_count: int = 0
    chart: Chart = Chart.CACHE
    teams: tuple[TeamShare, ...] = ()
    admin_role_arn: str | None = None
    preflight: bool = True
    termination_protection: bool = True
    retain_data: bool = True
    confirm_data_loss: bool = False

    @property
    def workers(self) -> tuple[WorkerGroup, ...]:
        """The groups of workers."""
        plain = WorkerGroup(
            name=self.worker_group_name,
            instance_type=self.worker_instance_type,
            count=self.worker_count,
            training_plan_arn=self.training_plan_arn,
        )
        return tuple(replace(group, deep_health_checks=self.deep_health_checks) for group in self.worker_groups or (plain,))

    @property
    def shared_type(self) -> ClusterInstanceType:
        """The type of the workers that teams share: that of the first group."""
        kind = self.workers[0].instance_type
        assert isinstance(kind, ClusterInstanceType)
        return kind

    @property
    def min_running(self) -> dict[str, int]:
        """The workers that the deployment waits for, by group."""
        return {} if self.worker_groups else {self.worker_group_name: self.min_running_workers}


#: Clusters by the value of the context key `preset`: `announcement` and `llm` are those of published documents, name by name.
PRESETS: Mapping[str, Settings] = {
    "slurm": Settings(cluster_name="sagemaker-demo-cluster"),
    "announcement": Settings(
        cluster_name="sagemaker-demo-cluster",
        controller_group_name="my-controller-group",
        worker_group_name="worker-group-1",
        threads_per_core=1,
        lifecycle_mode=LifecycleMode.ON_CREATE,
    ),
    "llm": Settings(
        cluster_name="llm-training-cluster",
        controller_instance_type=ClusterInstanceType.M5_2XLARGE,
        controller_group_name="head-nodes",
        worker_group_name="worker-nodes",
        threads_per_core=1,
        lifecycle_mode=LifecycleMode.ON_CREATE,
        worker_instance_type=ClusterInstanceType.P5_48XLARGE,
        worker_count=32,
        storage_capacity_gib=4800,
    ),
    "production": Settings(
        internet=False,
        customer_managed_key=True,
        alarms=True,
        login_instance_type=ClusterInstanceType.M5_XLARGE,
        worker_instance_type=ClusterInstanceType.P5_48XLARGE,
        worker_count=8,
        storage_capacity_gib=9600,
        home_capacity_gib=1024,
        accounting=True,
        node_metrics=True,
        prometheus=True,
    ),
    "kubernetes": Settings(
        orchestrator=OrchestratorName.EKS,
        worker_instance_type=ClusterInstanceType.P5_48XLARGE,
        worker_count=8,
        teams=(TeamShare("research", 5), TeamShare("product", 3)),
    ),
}

DEFAULT_PRESETS: Mapping[OrchestratorName, str] = {OrchestratorName.SLURM: "slurm", OrchestratorName.EKS: "kubernetes"}
OF_ONE_ORCHESTRATOR: Mapping[str, OrchestratorName] = {
    **dict.fromkeys(
        (
            "controller_instance_type",
            "login_instance_type",
            "controller_group_name",
            "login_group_name",
            "lifecycle_mode",
            "users",
            "home_capacity_gib",
            "accounting",
            "accounting_zone_id",
            "node_metrics",
            "prometheus",
            "metrics_interval_seconds",
        ),
        OrchestratorName.SLURM,
    ),
    **dict.fromkeys(
        ("kubernetes_version", "control_plane_zone_ids", "system_node_count", "chart", "teams", "admin_role_arn"),
        OrchestratorName.EKS,
    ),
}
"""Settings that mean nothing to the other orchestrator."""
_ZONES_OF_CONTROL_PLANE = 2
_MOST_DIGITS = 9
_OF_ONE_GROUP = ("worker_instance_type", "worker_count", "worker_group_name", "min_running_workers", "training_plan_arn")
"""Settings of the one group of workers, which `worker_groups` replaces."""
_GROUP = re.compile(r"(?P<name>[^:]*):(?P<type>[^:]*):(?P<count>[^:]*)")
_ADDRESS = re.compile(r"[^@\s]{1,64}@[^@\s.]{1,63}(?:\.[^@\s.]{1,63})+")
_COUNTED = re.compile(r"(?P<name>[^:]*):(?P<count>[^:]*)")


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
    preset = _preset(given)
    values: dict[str, Any] = {}
    for key, value in given.items():
        read: Callable[[str, Any], Any] = _READERS.get(key, _text)
        values[key] = read(key, value)
    _check_workers(given)
    settings = replace(preset, **values)
    _check_orchestrator(settings, given)
    _check_zone(settings)
    _check_accounting(settings)
    _check_retention(settings)
    _check_alarms(settings)
    if settings.orchestrator is OrchestratorName.EKS:
        _check_control_plane(settings)
        _check_teams(settings)
    return settings


def _preset(given: dict[str, Any]) -> Settings:
    """Take the preset out of the context: the one that is named, else the one of the orchestrator."""
    wanted = _one_of(OrchestratorName)("orchestrator", given["orchestrator"]) if "orchestrator" in given else None
    name = given.pop("preset", DEFAULT_PRESETS[wanted or OrchestratorName.SLURM])
    if name not in PRESETS:
        raise SettingError(f"context key 'preset': {name!r} is not a preset; {_nearest(name, list(PRESETS))}")
    preset = PRESETS[name]
    if wanted is not None and preset.orchestrator is not wanted:
        fitting = [name for name, other in PRESETS.items() if other.orchestrator is wanted]
        raise SettingError(
            f"context key 'preset': {name!r} is a cluster on {preset.orchestrator!s}, and 'orchestrator' is {wanted!s}; "
            f"leave one of the two keys out, or take a preset of {wanted!s}: {', '.join(fitting)}"
        )
    return preset


def _check_orchestrator(settings: Settings, given: Mapping[str, Any]) -> None:
    foreign = [key for key in given if OF_ONE_ORCHESTRATOR.get(key, settings.orchestrator) is not settings.orchestrator]
    if foreign:
        raise SettingError(
            f"context key {' and '.join(map(repr, foreign))}: of no use to a cluster on {settings.orchestrator!s}; "
            f"leave it out, or write -c orchestrator={OF_ONE_ORCHESTRATOR[foreign[0]]!s}"
        )


def _check_control_plane(settings: Settings) -> None:
    zones = settings.control_plane_zone_ids
    if len(set(zones)) != len(zones) or len(zones) != _ZONES_OF_CONTROL_PLANE:
        found = f"{','.join(zones)!r} is not two zones" if zones else "is not given and has no default"
        raise SettingError(
            f"context key 'control_plane_zone_ids': {found}; the control plane of EKS needs subnets in two zones: "
            "write -c control_plane_zone_ids=usw2-az1,usw2-az2"
        )


def _check_teams(settings: Settings) -> None:
    names = [team.name for team in settings.teams]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SettingError(f"context key 'teams': {twice[0]!r} is there twice; write one count for it")
    there = sum(group.count for group in settings.workers if group.instance_type == settings.shared_type)
    wanted = sum(team.nodes for team in settings.teams)
    if wanted > there:
        raise SettingError(
            f"context key 'teams': {','.join(map(str, settings.teams))} is {wanted} workers, and the cluster has {there} of that "
            "type; write -c teams=research:1 with counts that fit, or more workers"
        )


def _check_zone(settings: Settings) -> None:
    if settings.availability_zone_id is None and settings.availability_zone is None:
        raise SettingError(
            "context key 'availability_zone_id' is not given and has no default: capacity is sold by zone; "
            "write -c availability_zone_id=usw2-az4 with the zone of your capacity (or availability_zone with its name)"
        )


def _check_accounting(settings: Settings) -> None:
    zone = settings.accounting_zone_id
    if settings.accounting and (zone is None or zone == settings.availability_zone_id):
        found = "is not given and has no default" if zone is None else f"{zone!r} is the zone of the nodes"
        raise SettingError(
            f"context key 'accounting_zone_id': {found}; a database of RDS needs subnets in two zones: "
            "write -c accounting_zone_id=usw2-az1 with another zone of the region"
        )
    if zone is not None and not settings.accounting:
        raise SettingError(
            "context key 'accounting_zone_id': of no use without a database; write -c accounting=true, or leave it out"
        )


def _check_workers(given: Mapping[str, Any]) -> None:
    mixed = [key for key in _OF_ONE_GROUP if key in given]
    if "worker_groups" in given and mixed:
        raise SettingError(
            f"context key 'worker_groups' beside {' and '.join(map(repr, mixed))}: the groups replace the one group; "
            "leave the other keys out"
        )


def _check_alarms(settings: Settings) -> None:
    wrong = [address for address in settings.alarms_email if _ADDRESS.fullmatch(address) is None]
    if wrong:
        raise SettingError(
            f"context key 'alarms_email': {wrong[0]!r} is not an address; write -c alarms_email=team@example.com, with commas "
            "between several"
        )
    if settings.monthly_budget_usd and not (settings.alarms or settings.alarms_email):
        raise SettingError(
            "context key 'monthly_budget_usd': nobody would hear of the budget; also write -c alarms_email=team@example.com"
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


def _one_of(kind: type[Choice]) -> Callable[[str, Any], Choice]:
    def read(key: str, value: Any) -> Choice:
        known = [str(choice) for choice in kind]
        if value not in known:
            raise SettingError(f"context key {key!r}: {_nearest_value(value, known)}")
        return kind(value)

    return read


def _nearest_value(value: object, known: list[str]) -> str:
    return f"{value!r} is unknown; {_nearest(value, known)}"


def _checks(key: str, value: Any) -> tuple[DeepHealthCheck, ...]:
    read = _one_of(DeepHealthCheck)
    return tuple(read(key, part) for part in _texts(key, value))


def _worker_groups(key: str, value: Any) -> tuple[WorkerGroup, ...]:
    return tuple(_worker_group(key, part) for part in _texts(key, value))


def _worker_group(key: str, text: str) -> WorkerGroup:
    found = _GROUP.fullmatch(text)
    if found is None:
        raise SettingError(
            f"context key {key!r}: {text!r} is not a name, a type and a count with colons between them; "
            f"write -c {key}=gpus:ml.p5.48xlarge:4,neurons:ml.trn1.32xlarge:8"
        )
    kind, count = _instance_type(key, found["type"]), _whole_number(0, 4)(key, found["count"])
    try:
        return WorkerGroup(name=found["name"], instance_type=kind, count=count)
    except ValueError as error:
        raise SettingError(f"context key {key!r}: {error}") from None


def _texts(key: str, value: Any) -> tuple[str, ...]:
    return tuple(part.strip() for part in _text(key, value).split(","))


def _teams(key: str, value: Any) -> tuple[TeamShare, ...]:
    return tuple(_team(key, part) for part in _texts(key, value))


def _team(key: str, text: str) -> TeamShare:
    return TeamShare(*_counted(key, text, "a count", "research:5,product:3"))


def _counted(key: str, text: str, what: str, example: str) -> tuple[str, int]:
    """A name, and the number behind its colon."""
    found = _COUNTED.fullmatch(text)
    if found is None:
        raise SettingError(
            f"context key {key!r}: {text!r} is not a name and {what} with a colon between them; write -c {key}={example}"
        )
    number = _whole_number(0, int(example.partition(",")[0].partition(":")[2]))
    return found["name"], number(key, found["count"])


def _users(key: str, value: Any) -> tuple[NodeUser, ...]:
    return tuple(_user(key, part) for part in _texts(key, value))


def _user(key: str, text: str) -> NodeUser:
    name, uid = _counted(key, text, "a number", "ann:2001,bob:2002")
    try:
        return NodeUser(name=name, uid=uid)
    except ValueError as error:
        raise SettingError(f"context key {key!r}: {error}") from None


_READERS: Mapping[str, Callable[[str, Any], Any]] = {
    "orchestrator": _one_of(OrchestratorName),
    "controller_instance_type": _instance_type,
    "login_instance_type": _instance_type,
    "worker_instance_type": _instance_type,
    "worker_count": _whole_number(0, 4),
    "min_running_workers": _whole_number(0, 4),
    "worker_groups": _worker_groups,
    "threads_per_core": _whole_number(1, 1),
    "lifecycle_mode": _one_of(LifecycleMode),
    "deep_health_checks": _checks,
    "node_recovery": _one_of(NodeRecovery),
    "storage_capacity_gib": _whole_number(1, 1200),
    "per_unit_storage_throughput": _whole_number(1, 250),
    "users": _users,
    "home_capacity_gib": _whole_number(0, 512),
    "accounting": _truth,
    "node_metrics": _truth,
    "prometheus": _truth,
    "metrics_interval_seconds": _whole_number(15, 60),
    "kubernetes_version": _one_of(KubernetesVersion),
    "control_plane_zone_ids": _texts,
    "alarms": _truth,
    "alarms_email": _texts,
    "monthly_budget_usd": _whole_number(0, 50_000),
    "system_node_count": _whole_number(0, 2),
    "chart": _one_of(Chart),
    "teams": _teams,
    "internet": _truth,
    "customer_managed_key": _truth,
    "preflight": _truth,
    "termination_protection": _truth,
    "retain_data": _truth,
    "confirm_data_loss": _truth,
}
