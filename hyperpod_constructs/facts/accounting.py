"""Slurm's accounting in a database of one's own: the conditions of the service, and the words for mistakes."""

from __future__ import annotations

import re

from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.facts.mistake import Mistake, fixed_by

DEFAULT_PORT = 3306
"""The port of a database without `Port` (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAccountingDatabase.html
"""

IMAGES_AFTER = "2026-08-30"
"""The image of the controller must be newer than this day (as of 2026-11-22). No template tells the date of an image.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-external-accounting-db-slurm.html
"""

TAKEN_AWAY = "a cluster with an accounting database of your own cannot go back to the database on its controller"
"""Whether a cluster can lose its `AccountingDatabase` (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-external-accounting-db-slurm.html
"""

WITHOUT_CONTINUOUS = Mistake(
    "an accounting database of your own needs continuous provisioning",
    "provision continuously, or leave the database out: then it is on the controller",
)


@fixed_by("let the controller run OnInitComplete, or give the database to the scripts instead, as NodeSoftware(accounting=...)")
def beside_scripts(group: str) -> str:
    """A database in the API beside scripts that set Slurm up themselves."""
    return (
        f"the controller's group {group!r} runs OnCreate: its scripts set Slurm's accounting up, "
        "and know nothing of the orchestrator's accounting_database"
    )


@fixed_by("import the secret by its complete ARN, or pass the secret of this app")
def partial_arn(name: str) -> str:
    """The ARN of a secret without its last characters, so that a policy for it allows nothing."""
    return f"the ARN of the secret ends in {name!r}, without the hyphen and the six characters that Secrets Manager adds to a name"


BACKUP_DAYS = Limit(least=1, most=35)
"""Days that RDS keeps automatic backups; 0 would switch them off (as of 2026-11-24).

Source: https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBInstance.html
"""

STORAGE_GIB = Limit(least=20, most=65_536)
"""GiB of general purpose storage of a MariaDB instance (as of 2026-11-24).

Source: https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBInstance.html
"""

INSTANCE_CLASS = Limit(
    pattern=r"db\.[a-z0-9-]+\.[a-z0-9]+", words="the class of a database instance, which begins with db.", example="db.t4g.medium"
)
MARIADB_VERSION = Limit(pattern=r"\d+\.\d+(\.\d+)?", words="a version of MariaDB, two or three numbers with dots", example="11.4")
TIME_PATTERN = r"([01]\d|2[0-3]):[0-5]\d"
BACKUP_WINDOW = Limit(pattern=f"{TIME_PATTERN}-{TIME_PATTERN}", words="two times of a day in UTC", example="03:00-03:30")
_DAY_TIME = f"(mon|tue|wed|thu|fri|sat|sun):{TIME_PATTERN}"
MAINTENANCE_WINDOW = Limit(pattern=f"{_DAY_TIME}-{_DAY_TIME}", words="two times of a week in UTC", example="sun:04:00-sun:04:30")

GROWTH = 1.1
"""Storage that grows by itself has a limit of so many times its size, or more (as of 2026-11-24).

Source: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_PIOPS.Autoscaling.html
"""

PARAMETERS = {
    "innodb_lock_wait_timeout": "900",
    "innodb_log_file_size": "536870912",
    "max_allowed_packet": "16777216",
}
"""Parameters that Slurm recommends for InnoDB and for large rows (as of 2026-11-24).

Slurm also asks for a buffer pool of a good part of the memory. RDS gives it three quarters, so it stays as it is.

Source: https://slurm.schedmd.com/accounting.html#slurm-accounting-configuration-before-build
"""

TLS_PARAMETER = "require_secure_transport"
"""The parameter that makes the database refuse connections without TLS; RDS changes it without a restart (as of 2026-11-24).

Source: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/mariadb-ssl-connections.require-ssl.html
"""

DEFAULT_NAME = "slurm_acct_db"
"""Slurm's own name of the schema.

Source: https://slurm.schedmd.com/slurmdbd.conf.html#OPT_StorageLoc
"""

OF_SLURM = re.compile(r"slurm_?(acct|accounting|dbd)(_?db)?", re.IGNORECASE)
"""Schemas that are surely for slurmdbd: Slurm's own name, and those that its guides have.

Sources: https://slurm.schedmd.com/slurmdbd.conf.html#OPT_StorageLoc and https://slurm.schedmd.com/accounting.html
(as of 2026-11-30)
"""
