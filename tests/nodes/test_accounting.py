"""Slurm's accounting in a database on a host of its own: rows outlive the controller, and a rotated password costs none.

The tests of one cluster run in their order.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from hyperpod_constructs.local.nodes import AccountingDatabase, Answer, Database, Image, NodeSpec, Rig
from hyperpod_constructs.local.nodes.boot import Mode
from tests.nodes.configuration import LIFECYCLE, WAIT_SECONDS, configuration
from tests.nodes.lifecycle import ENVIRONMENT, log, settle
from tests.patience import until

ARN = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
HOST = "accounting.abcdefgh1234.us-west-2.rds.amazonaws.com"
GIVEN = AccountingDatabase(host=HOST, port=3306, name="slurm_acct_db", secret_arn=ARN)
USER = "slurm"
FIRST = "first-password"
# Of all characters that RDS takes, those that mean something to Slurm, to SQL or to a shell.
SECOND = "a#b\\c=d'e!$%&*(),;:<>?[]^_`{|}~+-."


class Secrets:
    """Double of Secrets Manager, behind the `aws` command of the nodes."""

    def __init__(self) -> None:
        self.password = FIRST
        self.asked = 0

    def answer(self, arguments: Sequence[str]) -> Answer:
        assert list(arguments[:4]) == ["secretsmanager", "get-secret-value", "--secret-id", ARN]
        self.asked += 1
        return Answer(0, json.dumps({"username": USER, "password": self.password}) + "\n")


@dataclass(frozen=True)
class Accounted:
    """A cluster with a database elsewhere."""

    rig: Rig
    database: Database
    secrets: Secrets

    def look(self) -> list[str]:
        """What the controller logs when it looks at its database, as its timer makes it do."""
        before = len(log(self.rig.controller))
        self.rig.controller.run(["systemctl", "start", "hyperpod-accounting.service"])
        return [line.partition(" node_setup ")[2] for line in log(self.rig.controller)[before:] if "accounting: " in line]

    def run_job(self, name: str) -> None:
        """Run a job to its end."""
        self.rig.controller.run(["srun", f"--job-name={name}", "true"])

    def rows(self) -> dict[str, str]:
        """Names of the jobs in the accounting, with their states; empty while it does not answer."""
        command = ["sacct", "--allusers", "--noheader", "--parsable2", "--allocations", "--format=JobName,State"]
        done = self.rig.controller.run(command, check=False)
        return dict(line.split("|") for line in done.stdout.splitlines())


@contextmanager
def accounted_cluster(image: Image, directory: Path, mode: Mode) -> Iterator[Accounted]:
    secrets = Secrets()
    kind = "external" if mode == "on_create" else "service"
    accounting = {"type": kind, "host": HOST, "port": 3306, "secret_arn": ARN, "region": "us-west-2"}
    config = configuration(("controller", "workers"), accounting=accounting)
    with Rig.create(directory / "rig", image=image, wait_seconds=WAIT_SECONDS, aws=secrets.answer) as rig:
        database = rig.add_database(HOST, data=directory / "data")
        database.set_login(USER, FIRST)
        specs = [NodeSpec("controller", "Controller", 1), NodeSpec("workers", "Compute", 1)]
        if mode == "on_init_complete":
            database.query(f"CREATE DATABASE {GIVEN.name}")  # as RDS does for DBName; otherwise slurmdbd does
        given = GIVEN if mode == "on_init_complete" else None
        nodes = rig.boot(specs, scripts=LIFECYCLE, config=config, mode=mode, environment=ENVIRONMENT, accounting=given)
        assert {node.name: node.failure for node in nodes if node.failure} == {}
        settle(rig)
        yield Accounted(rig, database, secrets)


@pytest.fixture(scope="module")
def accounted(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Accounted]:
    """A cluster whose scripts set everything up."""
    with accounted_cluster(image, tmp_path_factory.mktemp("accounted"), "on_create") as made:
        yield made


def stored(database: Database) -> str:
    """The names of all jobs in the server's own tables."""
    return database.query("SELECT job_name FROM slurm_acct_db.virtual_job_table")


def test_rows_are_in_the_database_of_the_other_host(accounted: Accounted) -> None:
    accounted.run_job("first")
    until(lambda: accounted.rows().get("first") == "COMPLETED")
    assert stored(accounted.database) == "first\n"
    assert accounted.rig.controller.run(["systemctl", "is-active", "mariadb"], check=False).stdout == "inactive\n"
    assert FIRST not in accounted.rig.controller.read("/var/log/provision/provisioning.log")


def test_a_rotated_password_is_taken_over_without_losing_a_row(accounted: Accounted) -> None:
    accounted.secrets.password = SECOND
    accounted.database.set_login(USER, SECOND)
    # Jobs end before, while and after slurmdbd takes the password over.
    accounted.run_job("before")
    running = threading.Thread(target=accounted.run_job, args=["while"])
    running.start()
    assert accounted.look() == ["accounting: the database has a new password, which slurmdbd takes over"]
    running.join()
    accounted.run_job("after")
    wanted = dict.fromkeys(("first", "before", "while", "after"), "COMPLETED")
    until(lambda: accounted.rows() == wanted)
    conf = accounted.rig.controller.run(["stat", "-c", "%a %U", "/opt/slurm/etc/slurmdbd.conf"]).stdout
    assert conf == "600 slurm\n"
    assert accounted.look() == []


def test_an_unreachable_database_is_named_and_costs_no_row(accounted: Accounted) -> None:
    accounted.database.node.cut()
    assert accounted.look()[0].startswith(f"accounting: {HOST}:3306: the accounting database is unreachable")
    accounted.run_job("apart")
    accounted.database.node.restore()
    assert accounted.look() == ["accounting: the database is usable again"]
    until(lambda: accounted.rows().get("apart") == "COMPLETED")


def test_the_controller_is_replaced_and_the_rows_stay(accounted: Accounted) -> None:
    old = accounted.rig.controller
    held = old.run(["sbatch", "--parsable", "--hold", "--job-name=later", "--output=/dev/null", "--wrap=true"]).stdout.strip()
    # Slurm itself writes what has become of its jobs within seconds.
    until(lambda: old.run(["grep", "-q", "later", "/var/spool/slurmctld/job_state"], check=False).returncode == 0)
    before = accounted.rows()
    old.run(["systemctl", "start", "hyperpod-keep.service"])
    new = accounted.rig.replace(old)
    assert new.failure is None
    settle(accounted.rig)
    assert accounted.rows() == before
    new.run(["scontrol", "release", held])
    until(lambda: accounted.rows() == {**before, "later": "COMPLETED"})


def test_where_the_service_gives_the_database_the_scripts_follow_its_password(image: Image, tmp_path: Path) -> None:
    with accounted_cluster(image, tmp_path, "on_init_complete") as served:
        served.run_job("first")
        until(lambda: served.rows().get("first") == "COMPLETED")
        served.secrets.password = SECOND
        served.database.set_login(USER, SECOND)
        assert served.look() == ["accounting: the database has a new password, which slurmdbd takes over"]
        until(lambda: served.rows() == {"first": "COMPLETED"})
        assert served.look() == []


def test_the_files_of_a_database_outlive_its_host_and_without_an_aws_no_secret_is_read(image: Image, tmp_path: Path) -> None:
    for _ in range(2):
        with Rig.create(tmp_path / "rig", image=image, wait_seconds=WAIT_SECONDS) as rig:
            database = rig.add_database(HOST, data=tmp_path / "data")
            database.query("CREATE DATABASE IF NOT EXISTS kept; CREATE TABLE IF NOT EXISTS kept.numbers (one INT)")
            database.query("INSERT INTO kept.numbers VALUES (1)")
            found = database.query("SELECT COUNT(*) FROM kept.numbers")
            asked = database.node.run(["aws", "secretsmanager", "get-secret-value"], check=False)
    assert found == "2\n"
    assert (asked.returncode, asked.stdout) == (255, "")
    assert "Unable to locate credentials" in asked.stderr
