"""Workers of one kind by parameters, or of several by a list: exactly one of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from hyperpod_constructs.cluster.instance_group import DeepHealthCheck, PlanSource
from hyperpod_constructs.cluster.instance_type import ClusterInstanceType

G = TypeVar("G")

WORKERS = "workers"
"""The name of the workers' group where it is the only one."""


def groups_of_workers(
    path: str,
    groups: Sequence[G],
    *,
    worker_type: ClusterInstanceType | None,
    worker_count: int | None,
    training_plan_arn: str | PlanSource | None,
    deep_health_checks: Sequence[DeepHealthCheck],
    of: tuple[str, str],
    make: Callable[..., G],
) -> Sequence[G]:
    """The given groups, or one from the parameters of one group.

    :param of: the name of the list's parameter, and of its items.
    :param make: makes the one group.
    :raises ValueError: for both forms or none.
    """
    one = _one_group(
        path,
        type_=worker_type,
        count=worker_count,
        more={"training_plan_arn": training_plan_arn, "deep_health_checks": deep_health_checks},
        groups=groups,
        of=of,
    )
    if one is None:
        return groups
    return [
        make(
            name=WORKERS,
            instance_type=one[0],
            count=one[1],
            training_plan_arn=training_plan_arn,
            deep_health_checks=deep_health_checks,
        )
    ]


def _one_group(
    path: str,
    *,
    type_: ClusterInstanceType | None,
    count: int | None,
    more: Mapping[str, object],
    groups: object,
    of: tuple[str, str],
) -> tuple[ClusterInstanceType, int] | None:
    """The type and the number of workers in the short form; `None` if there are groups.

    :param more: the other parameters of one group.
    :param of: the name of the list's parameter, and of its items.
    :raises ValueError: for both forms or none.
    """
    parameter, item = of
    given = {"worker_type": type_, "worker_count": count, **{name: value or None for name, value in more.items()}}
    names = [name for name, value in given.items() if value is not None]
    if groups and names:
        raise ValueError(
            f"{path}: {' and '.join(names)} beside {parameter}; the groups are the workers then: write them as "
            f'{item}(name="{WORKERS}", instance_type=..., count=...) in {parameter}, with a plan and checks of its own'
        )
    if groups:
        return None
    if type_ is None or count is None:
        alone = "".join(f"{name} alone; " for name in names if name in ("worker_type", "worker_count"))
        raise ValueError(
            f"{path}: {alone}workers are worker_type with worker_count, or {parameter}; "
            "write worker_type=ClusterInstanceType.P5_48XLARGE, worker_count=4"
        )
    return type_, count
