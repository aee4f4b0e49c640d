"""Engines of RDS: versions, instance classes, families of parameters, passwords: `databases.tsv` has the lists.

It has the versions of Valkey too.

>>> engine_of("aurora-mysql").has_class("db.t3.micro"), family_of("postgres", "16.4")
(False, 'postgres16')
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from hyperpod_constructs.facts.data import rows

LONGEST_PASSWORD: Mapping[str, int] = {"aurora-mysql": 41, "mariadb": 41, "mysql": 41, "oracle-ee": 30, "oracle-se2": 30}
LONGEST_USER: Mapping[str, int] = dict.fromkeys(("aurora-mysql", "mariadb", "mysql"), 16)
"""Characters of the first user of an engine (as of 2026-11-27).

Source: https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBInstance.html
"""
KEYS_OF_ATTACHMENTS = ("dbClusterIdentifier", "dbInstanceIdentifier", "dbname", "engine", "host", "port")
"""Keys that the attachment of a secret to a database may add.

Source: https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_secret_json_structure.html
"""
RESERVED_USERS = ("rdsadmin", "rdsrepladmin")
"""Users that RDS makes itself, and that nobody changes (as of 2026-11-27).

Source: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Appendix.MySQL.CommonDBATasks.html
"""
ROTATIONS: Mapping[str, str] = {
    **{
        "aurora-mysql": "MySQL",
        "mysql": "MySQL",
        "mariadb": "MariaDB",
        "aurora-postgresql": "PostgreSQL",
        "postgres": "PostgreSQL",
    },
    **{"db2-ae": "Db2", "db2-se": "Db2", "db2": "Db2", "oracle": "Oracle", "sqlserver": "SQLServer", "mongo": "MongoDB"},
    **dict.fromkeys(("oracle-ee", "oracle-ee-cdb", "oracle-se2", "oracle-se2-cdb"), "Oracle"),
    **{f"sqlserver-{edition}": "SQLServer" for edition in ("ee", "ex", "se", "web")},
    "redshift": "Redshift",
}
"""The first word of the types of hosted rotation, by the engine of a database or in a secret (as of 2026-11-29).

A function for rotation reads the engine in the secret, and ends with an error if it is another.

Sources: https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_secret_json_structure.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-secretsmanager-rotationschedule-hostedrotationlambda.html
"""
SHORTEST_PASSWORD = 8
"""Characters of the password of an engine (as of 2026-11-27).

Source: https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBInstance.html
"""

REFUSED_IN_PASSWORDS = '/"@'
"""Characters that no password of RDS has (as of 2026-11-27).

Source: https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBInstance.html
"""

NUMBERS = frozenset(
    {
        "connect_timeout",
        "innodb_buffer_pool_instances",
        "innodb_buffer_pool_size",
        "innodb_io_capacity",
        "innodb_lock_wait_timeout",
        "innodb_log_buffer_size",
        "innodb_log_file_size",
        "innodb_redo_log_capacity",
        "interactive_timeout",
        "join_buffer_size",
        "max_allowed_packet",
        "max_connections",
        "max_heap_table_size",
        "net_read_timeout",
        "net_write_timeout",
        "sort_buffer_size",
        "table_open_cache",
        "thread_cache_size",
        "tmp_table_size",
        "wait_timeout",
    }
)
"""Parameters of MySQL and MariaDB whose values are whole numbers, without a unit (as of 2026-11-27).

Source: https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html and
https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Appendix.MySQL.Parameters.html
"""

FLAGS = frozenset(
    {"general_log", "innodb_file_per_table", "log_queries_not_using_indexes", "require_secure_transport", "slow_query_log"}
)
"""Parameters of MySQL and MariaDB that are on or off, as a word or as a digit (as of 2026-11-27).

Source: https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html
"""

_MORE = frozenset(
    {
        *("binlog_format", "character_set_client", "character_set_database", "character_set_server", "collation_server"),
        *("event_scheduler", "general_log", "innodb_file_per_table", "innodb_flush_log_at_trx_commit", "log_output"),
        *("long_query_time", "lower_case_table_names", "performance_schema", "require_secure_transport", "slow_query_log"),
        *("sql_mode", "time_zone", "tls_version", "transaction_isolation"),
    }
)
PARAMETERS = NUMBERS | FLAGS | _MORE
"""Parameters that groups often set: a name that nearly is one of them is a misspelled one (as of 2026-11-27).

Source: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Appendix.MySQL.Parameters.html
"""

_OF_BOTH = frozenset({"max_connections", "time_zone", "transaction_isolation"})
"""Names that tell no engine from the other: two are of both, and `time_zone` is nearly PostgreSQL's `timezone` (as of 2026-11-27).

Source: https://www.postgresql.org/docs/16/runtime-config-client.html
"""
OF_POSTGRES = frozenset(
    {
        *("autovacuum", "autovacuum_max_workers", "autovacuum_naptime", "autovacuum_vacuum_scale_factor", "checkpoint_timeout"),
        *("checkpoint_completion_target", "deadlock_timeout", "default_statistics_target", "effective_cache_size"),
        *("effective_io_concurrency", "hot_standby_feedback", "idle_in_transaction_session_timeout", "lock_timeout"),
        *("log_autovacuum_min_duration", "log_connections", "log_disconnections", "log_lock_waits", "log_statement"),
        *("log_min_duration_statement", "log_temp_files", "maintenance_work_mem", "max_connections", "max_parallel_workers"),
        *("max_parallel_workers_per_gather", "max_replication_slots", "max_wal_senders", "max_wal_size", "max_worker_processes"),
        *("min_wal_size", "password_encryption", "pg_stat_statements.track", "random_page_cost", "rds.force_ssl"),
        *("rds.log_retention_period", "rds.logical_replication", "shared_buffers", "shared_preload_libraries"),
        *("ssl_min_protocol_version", "statement_timeout", "synchronous_commit", "temp_buffers", "track_activity_query_size"),
        *("track_io_timing", "wal_buffers", "work_mem"),
    }
)
"""Parameters of PostgreSQL that groups often set (as of 2026-11-27).

Sources: https://www.postgresql.org/docs/16/runtime-config.html and
https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Appendix.PostgreSQL.CommonDBATasks.Parameters.html
"""


def foreign_parameter(family: str, name: str) -> str | None:
    """The engine of a parameter that a family surely does not have.

    >>> foreign_parameter("mysql8.0", "shared_buffers"), foreign_parameter("mysql8.0", "innodb_io_capacity")
    ('PostgreSQL', None)
    >>> foreign_parameter("postgres16", "sql_mode"), foreign_parameter("postgres16", "transaction_isolation")
    ('MySQL', None)
    """
    if "postgres" in family:
        return "MySQL" if name in PARAMETERS - OF_POSTGRES - _OF_BOTH else None
    return "PostgreSQL" if name in OF_POSTGRES - PARAMETERS - _OF_BOTH else None


_NEWER = 12
"""Minor versions beyond the newest known one that may be there by now."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine of RDS.

    :param name: such as `aurora-mysql`.
    :param versions: the known versions.
    :param classes: sizes of instances by family, such as `r6g`.
    """

    name: str
    versions: frozenset[str]
    classes: Mapping[str, frozenset[str]]

    def has_version(self, version: str) -> bool | None:
        """Whether RDS offers a version, whole or by its beginning; `None` for one that may be newer than the facts."""
        if any(one == version or one.startswith(f"{version}.") for one in self.versions):
            return True
        if "-" in version:
            return None
        same = [_numbers(one) for one in self.versions if "-" not in one and _form(one) == _form(version)]
        if not same:
            return False
        *branch, last = _numbers(version)
        of_branch = [one[-1] for one in same if list(one[:-1]) == branch]
        if of_branch:
            return None if max(of_branch) < last <= max(of_branch) + _NEWER else False
        elsewhere = any(list(_numbers(one)[: len(branch)]) == branch for one in self.versions)
        return None if branch > list(max(same)[:-1]) and not elsewhere else False

    def has_class(self, name: str) -> bool | None:
        """Whether RDS offers a class of instances for the engine; `None` for a family that is not known."""
        family, _, size = name.removeprefix("db.").partition(".")
        sizes = self.classes.get(family)
        if sizes is not None:
            return not size if not sizes else size in sizes
        return False if any(family in one.classes for one in _engines().values()) else None


def engine_of(name: str) -> Engine | None:
    """The engine of a name; `None` for one whose versions are not listed."""
    return _engines().get(name.lower())


def family_of(engine: str, version: str) -> str | None:
    """The family of parameter groups of a version; `None` for an engine or a version that is not known."""
    numbers = _numbers(version)
    if engine in ("postgres", "aurora-postgresql"):
        return f"{engine}{numbers[0]}" if numbers and numbers[0] > 9 else None
    known = engine in ("mysql", "mariadb", "aurora-mysql") and re.match(r"\d+\.\d+", version)
    return f"{engine}{known[0]}" if known else None


def _form(version: str) -> str:
    return _NUMBER.sub("0", version)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, _NUMBER.findall(version)))


@cache
def _engines() -> Mapping[str, Engine]:
    return {
        name: Engine(
            name,
            frozenset(versions.split()),
            {
                family: frozenset(filter(None, sizes.split(",")))
                for family, _, sizes in (one.partition(":") for one in classes.split())
            },
        )
        for name, versions, classes in rows("databases.tsv")
    }
