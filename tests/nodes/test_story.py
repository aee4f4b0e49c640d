"""The preset `production` on virtual nodes: people, homes and the rows of jobs; a node dies under a training job, the alarm rings,
and the command line tells what happened."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.cli.target import LOCAL_STATE
from hyperpod_constructs.local import server
from tests.nodes.conftest import require_nodes
from tests.patience import PATIENCE, until

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
# Longer than Slurm's own names of clusters, as those are that CloudFormation makes.
CLUSTER = "the-cluster-of-the-team-with-the-largest-models"
SETTINGS = (
    "preset=production",
    f"cluster_name={CLUSTER}",
    "worker_count=2",
    "min_running_workers=2",
    "storage_capacity_gib=1200",
    "home_capacity_gib=64",
    "users=ann:2001",
)
# There is no log before the job starts.
READ = "cat /fsx/light/log 2>/dev/null || true"
JOB = """#!/bin/sh
#SBATCH --nodes=2 --ntasks=2 --no-kill --output=/fsx/light/log
srun --auto-resume=1 --kill-on-bad-exit env PYTHONPATH=/opt/hyperpod python3 -B /fsx/light/train.py
echo the step has ended with $?
"""
TRAIN = '''
"""Two ranks that meet after every step, and begin again after the last one that both have done; half way they wait for a word."""
import os, sys, time
from pathlib import Path
from node_health.heartbeat import Heartbeat

STEPS, RUN = 40, Path("/fsx/light/run")
rank, ranks = int(os.environ["SLURM_PROCID"]), range(int(os.environ["SLURM_NTASKS"]))

def met(number):
    return all((RUN / f"{number}-{peer}").exists() for peer in ranks)

RUN.mkdir(exist_ok=True)
first = next(number for number in range(STEPS + 1) if not met(number))
print(f"rank {rank} starts at step {first}", flush=True)
beat = Heartbeat.from_environment()
for number in range(first, STEPS):
    beat.before(number)
    time.sleep(0.1)
    while number == STEPS // 2 and not Path("/fsx/light/go").exists():
        time.sleep(0.1)
    (RUN / f"{number}-{rank}").touch()
    late = time.monotonic() + 5
    while not met(number):
        if time.monotonic() > late:
            sys.exit(f"rank {rank} waits in vain in step {number}")
        time.sleep(0.02)
    beat.after(number)
print(f"rank {rank} is done", flush=True)
'''


class Person:
    """What somebody types in the directory of a deployment."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def types(self, *arguments: str, text: str = "") -> str:
        """The output of a `hyperpod` command that succeeds."""
        environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
        command = [str(BIN / "hyperpod"), *arguments]
        done = subprocess.run(  # noqa: S603
            command, cwd=self.directory, env=environment, input=text, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr
        return done.stdout

    def sees(self, *arguments: str) -> list[dict[str, Any]]:
        """The rows that a command lists."""
        found: list[dict[str, Any]] = json.loads(self.types(*arguments, "--output", "json"))
        return found

    def on_controller(self, script: str) -> str:
        """The output of a script on the controller."""
        return self.types("connect", text=script)


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    require_nodes()
    directory = tmp_path_factory.mktemp("story")
    (directory / "cdk.json").write_text((ROOT / "cdk.json").read_text("utf-8"), "utf-8")
    light = directory / "light"
    light.mkdir()
    (light / "job.sh").write_text(JOB, "utf-8")
    (light / "train.py").write_text(TRAIN, "utf-8")
    made = Person(directory)
    settings = [part for one in SETTINGS for part in ("-c", one)]
    try:
        made.types("deploy", "--nodes", "--app", f"{sys.executable} {ROOT / 'app.py'}", *settings)
        yield made
    finally:
        server.stop(directory / LOCAL_STATE)


def test_the_service_mounts_the_homes_of_the_template(person: Person) -> None:
    aws = server.running(person.directory / LOCAL_STATE)
    assert aws is not None
    systems = aws.client("fsx").describe_file_systems()["FileSystems"]
    (homes,) = [found["DNSName"] for found in systems if found["FileSystemType"] == "OPENZFS"]
    mounted = person.on_controller("grep ' /home ' /proc/mounts; srun --nodes=2 grep ' /home ' /proc/mounts")
    assert [line.split()[:3] for line in mounted.splitlines() if " /home " in line] == [[f"{homes}:/fsx", "/home", "nfs4"]] * 3


def test_rows_of_jobs_are_in_the_database_of_the_template_also_after_a_rotation(person: Person) -> None:
    aws = server.running(person.directory / LOCAL_STATE)
    assert aws is not None
    (database,) = aws.client("rds").describe_db_instances()["DBInstances"]
    host = database["Endpoint"]["Address"]
    said = person.on_controller("grep ^StorageHost /opt/slurm/etc/slurmdbd.conf; systemctl is-active mariadb; srun -J first true")
    assert f"StorageHost={host}\n" in said
    assert "inactive" in said
    aws.client("rds").modify_db_instance(DBInstanceIdentifier=database["DBInstanceIdentifier"], RotateMasterUserPassword=True)
    followed = person.on_controller("systemctl start hyperpod-accounting.service; tail -n 2 /var/log/provision/provisioning.log")
    assert "accounting: the database has a new password, which slurmdbd takes over" in followed
    person.on_controller("srun -J second true")
    rows = "sacct --allusers --noheader --parsable2 --allocations --format=JobName,State"
    until(lambda: {"first|COMPLETED", "second|COMPLETED"} <= set(person.on_controller(rows).splitlines()), "the rows of both jobs")


def test_a_person_of_the_settings_runs_a_job_whose_row_is_in_the_database(person: Person) -> None:
    said = person.on_controller("su ann -c 'cd; pwd; srun --nodes=2 -J hers id -u'")
    assert said.splitlines()[-3:] == ["/home/ann", "2001", "2001"]
    rows = "sacct --user=ann --noheader --parsable2 --allocations --format=User,JobName,State,NNodes"
    until(lambda: "ann|hers|COMPLETED|2" in person.on_controller(rows).splitlines(), "the row of her job")


def test_a_node_dies_the_job_goes_on_and_the_command_line_tells_it(person: Person) -> None:
    before = {row["node"]: row for row in person.sees("nodes")}
    person.types("local", "copy", "light", "/fsx")
    person.on_controller("chmod -R a+rwX /fsx/light; su ann -c 'sbatch --chdir=/fsx/light /fsx/light/job.sh'")
    until(lambda: _starts(person) == [0, 0], "the start of the job")
    lost = _second_of_the_job(person)
    aws = server.running(person.directory / LOCAL_STATE)
    assert aws is not None
    queue = _listening(aws)
    (command,) = [node["Command"] for node in server.virtual_nodes(aws) if node["InstanceId"] == lost]
    subprocess.run([*command, "systemctl", "poweroff", "--force", "--force"], check=False, timeout=60)  # noqa: S603
    until(lambda: lost not in {node["InstanceId"] for node in server.virtual_nodes(aws)}, "the death of the node")
    person.on_controller("touch /fsx/light/go")

    log = until(_ended(person), "the end of the job")
    assert "the step has ended with 0" in log
    assert sorted(re.findall(r"rank \d is done", log)) == ["rank 0 is done", "rank 1 is done"]
    assert "Retrying step. Attempt number: 1" in log
    assert _starts(person)[-1] > 0, "the job began from the start"

    read: dict[str, Any] = {}
    heard = until(lambda: _heard(aws, queue, read), "the alarm and the event in the queue")
    assert f"hyperpod status --cluster {CLUSTER}" in heard["alarm"]["AlarmDescription"]
    assert heard["event"]["detail"]["EventDetails"]["InstanceId"] == lost, person.types("events")
    found = aws.client("cloudwatch").describe_alarms(AlarmTypes=["MetricAlarm", "CompositeAlarm"], StateValue="ALARM")
    ringing = [each["AlarmName"] for kind in ("MetricAlarms", "CompositeAlarms") for each in found[kind]]
    assert [("FailedNodes" in name, "AlarmsAny" in name) for name in ringing] == [(True, False), (False, True)], ringing

    nodes = {row["node"]: row for row in person.sees("nodes")}
    (new,) = nodes.keys() - before.keys()
    assert before.keys() - nodes.keys() == {lost}
    assert {row["status"] for row in nodes.values()} == {"Running"}
    assert nodes[new]["group"] == before[lost]["group"] == "workers"

    events = [(row["node"], row["level"], row["event"]) for row in person.sees("events") if row["node"] in (lost, new)]
    provisioned = f"EC2 Instance {{}} successfully provisioned in Cluster {CLUSTER} and IG workers"
    assert events == [
        (new, "Info", provisioned.format(new)),
        (lost, "Warn", "Automatic node recovery: Action:Replace"),
        (lost, "Info", provisioned.format(lost)),
    ]
    for node in (lost, new):
        lines = person.types("logs", "--node", node).splitlines()
        assert {line.split()[2] for line in lines} == {node}
        assert "on_init_complete: ok" in lines[-1]


def _listening(aws: server.LocalAws) -> str:
    """The URL of a queue that hears of the app's alarms, and of recoveries of nodes."""
    sqs, sns, events = (aws.client(service) for service in ("sqs", "sns", "events"))
    url = str(sqs.create_queue(QueueName="listening")["QueueUrl"])
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    (topic,) = [topic["TopicArn"] for topic in sns.list_topics()["Topics"]]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    pattern = {"source": ["aws.sagemaker"], "detail": {"EventDetails": {"EventLevel": ["Warn"]}}}
    events.put_rule(Name="recoveries", EventPattern=json.dumps(pattern))
    events.put_targets(Rule="recoveries", Targets=[{"Id": "queue", "Arn": arn}])
    return url


def _heard(aws: server.LocalAws, queue: str, found: dict[str, Any]) -> dict[str, Any] | None:
    """The alarm of failed nodes and the event of a recovery, once both were in the queue; `found` takes what is read."""
    for message in aws.client("sqs").receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", ()):
        body = json.loads(message["Body"])
        if "detail" in body:
            found["event"] = body
        elif "FailedNodes" in body["Subject"] and body["Subject"].startswith("ALARM"):
            found["alarm"] = json.loads(body["Message"])
    return found if len(found) == 2 else None


def _starts(person: Person) -> list[int]:
    """The steps at which ranks have started."""
    return [int(step) for step in re.findall(r"starts at step (\d+)", person.on_controller(READ))]


def _ended(person: Person) -> Callable[[], str | None]:
    def look() -> str | None:
        log = person.on_controller(READ)
        return log if "the step has ended" in log else None

    return look


def _second_of_the_job(person: Person) -> str:
    """The id of the worker without the batch script of the job."""
    host = person.on_controller("squeue --noheader --format=%B").strip()
    aws = server.running(person.directory / LOCAL_STATE)
    assert aws is not None
    workers = [node for node in server.virtual_nodes(aws) if node["InstanceGroupName"] == "workers"]
    return next(str(node["InstanceId"]) for node in workers if node["Name"] != host)
