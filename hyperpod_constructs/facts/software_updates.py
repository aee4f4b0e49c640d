"""Software updates of clusters: batches, alarms, schedules and automatic patches, and the words for mistakes.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ami-update.html,
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateClusterSoftware.html and
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAutoPatchConfig.html (as of 2026-11-22)
"""

from __future__ import annotations

from hyperpod_constructs.facts.limits import property_limit
from hyperpod_constructs.facts.mistake import Mistake, fixed_by

UPDATE_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ami-update.html"

MOST_PERCENT = 100
"""The whole of a group, for a batch of the type `CAPACITY_PERCENTAGE`."""

MOST_WAIT_SECONDS = 3600
"""The longest wait between two batches."""

MOST_ALARMS = 10
"""Most alarms of an update."""

JOBS_ARE_NOT_DRAINED = "The service does not wait for jobs: those on these nodes end."
"""What becomes of jobs, in words for the operator (as of 2026-11-24).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-update-cluster-software.html
"""

IDLE_WAIT_SECONDS = 86400
"""Seconds that an automatic patch waits for nodes without jobs, unless `IdleWaitWindowInSeconds` says otherwise."""

CUSTOM_IMAGE = "ami-"
"""The first part of an `ImageId` that names an image; a group with one is updated to an image that the request names."""

WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
"""Days of the week in the order of their numbers, from 1. The guide contradicts itself: four of its examples count from Monday
(`1` is Monday, `5L` the last Friday), and one counts from Sunday (`3#2` is the second Tuesday). Names are safe.
"""

LAST_YEAR = 2099
"""The last year of a schedule."""

SCHEDULE = property_limit(
    "AWS::SageMaker::Cluster/InstanceGroups/*/ScheduledUpdateConfig/ScheduleExpression",
    words="cron(minute hour day-of-month month day-of-week year) with a number as minute and as hour, a number or ? as day of the "
    "month, a number, * or */step as month, a name such as SUN, a number, L, 1#2 or ? as day of the week, and a year or *",
    example="cron(0 3 ? * SUN *)",
)
"""The form of a schedule: narrower than the cron expressions of other services, which take lists, ranges and * for days. The API
takes any text; CloudFormation's schema has this pattern.
"""

_FIELDS = 6

UNSEEN_ALARMS = Mistake(
    "rollback alarms without batches and a wait between them, and the service looks at the alarms during that wait only",
    "give a RollingUpdatePolicy and a WaitIntervalInSeconds above 0, or leave the alarms out",
)

BATCHES_ON_SLURM = Mistake(
    "updates in batches, with waits or with rollback alarms, on a Slurm cluster; they are available only with EKS",
    "leave DeploymentConfig out; then all nodes of the group are updated at a time",
)


@fixed_by(
    "write ? for one of the two, such as cron(0 3 ? * SUN *) for each Sunday or cron(0 3 1 * ? *) for the first of each month"
)
def days_of_both_kinds(expression: str) -> str:
    """A schedule with a day of the month and a day of the week, or with neither."""
    return f"the schedule {expression!r} needs either a day of the month or a day of the week, with ? for the other"


@fixed_by(f"write 1 to {MOST_PERCENT}, or a number of nodes as INSTANCE_COUNT")
def percentage_above_all(percentage: int) -> str:
    """A batch of more than all nodes."""
    return f"a batch of {percentage} % of the nodes"


def fields(expression: str) -> list[str]:
    """The fields of a schedule: minute, hour, day of the month, month, day of the week, year."""
    return expression.removeprefix("cron(").removesuffix(")").split()


def schedule_mistake(expression: str) -> Mistake | None:
    """What is wrong with a schedule; `None` for a good one.

    Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html (one of the two days is ?)
    """
    malformed = SCHEDULE.mistake("ScheduleExpression", expression)
    if malformed is not None:
        return malformed
    found = fields(expression)
    return days_of_both_kinds(expression) if len(found) != _FIELDS or (found[2] == "?") == (found[4] == "?") else None


def lost_with_root_volume(node_type: str | None, *, own_database: bool) -> str:
    """What a node of a role loses with its root volume, in words for the operator (as of 2026-11-24).

    The queue is Slurm's state directory, `/var/spool/slurmctld`; the accounting records are in MariaDB on the controller.

    :param node_type: the Slurm node type; `None` on Kubernetes, and where scripts configure Slurm.
    :param own_database: whether Slurm's accounting is in a database outside of the cluster.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-operate.html
    """
    if node_type == "Controller":
        records = "" if own_database else " and the accounting records"
        return f"root volume with Slurm's queue{records}; no job starts until it is back"
    if node_type == "Login":
        return "root volume and open sessions"
    return "root volume and instance store"
