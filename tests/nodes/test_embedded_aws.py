"""The embedded AWS with virtual nodes: instances boot, run the uploaded scripts, fail, and are replaced.

The tests are the steps of one story, in their order.
"""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.cli.operate.jobs import Jobs, jobs_on
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import read_cluster, read_nodes
from hyperpod_constructs.cli.target import LOCAL_STATE, TargetName
from hyperpod_constructs.facts.cluster_actions import READ
from hyperpod_constructs.facts.session_manager import NON_INTERACTIVE_COMMAND, SSH
from hyperpod_constructs.local import process, server
from hyperpod_constructs.local.nodes import cgroups
from hyperpod_constructs.local.nodes.network import FIRST
from hyperpod_constructs.local.server import LocalAws
from tests.local.administrator import without_permissions
from tests.local.hyperpod_requests import cluster, group
from tests.nodes.conftest import CONFIG, require_nodes
from tests.patience import PATIENCE, until

BUCKET = "sagemaker-scripts"
LOG = "/var/log/provision/provisioning.log"
RUN = f"#!/bin/sh\necho version 1 >> {LOG}\n"
FAIL = f"#!/bin/sh\necho the disk is on fire >> {LOG}\nexit 1\n"
PREFIXES = {"good": RUN, "bad": FAIL}


class Account:
    """The embedded AWS with a VPC, a role and scripts; `call` asks SageMaker."""

    def __init__(self, aws: LocalAws, directory: Path) -> None:
        self.aws = aws
        self.directory = directory
        ec2, iam, s3 = aws.client("ec2"), aws.client("iam"), aws.client("s3")
        self.sagemaker = aws.client("sagemaker")
        self._logs = aws.client("logs")
        vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
        self.subnet = str(ec2.create_subnet(VpcId=vpc, CidrBlock="10.1.0.0/24")["Subnet"]["SubnetId"])
        self.security_group = str(ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"])
        trust = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        self.role = str(iam.create_role(RoleName="nodes", AssumeRolePolicyDocument=policy)["Role"]["Arn"])
        everything = {"Effect": "Allow", "Action": "*", "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [everything]})
        iam.put_role_policy(RoleName="nodes", PolicyName="everything", PolicyDocument=policy)
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        for prefix, script in PREFIXES.items():
            self.upload(prefix, script)

    def upload(self, prefix: str, script: str) -> None:
        s3 = self.aws.client("s3")
        s3.put_object(Bucket=BUCKET, Key=f"{prefix}/entry.sh", Body=script.encode())
        s3.put_object(Bucket=BUCKET, Key=f"{prefix}/config.json", Body=json.dumps(CONFIG).encode())

    def group(self, name: str, node_type: str, count: int = 1, prefix: str = "good") -> dict[str, Any]:
        scripts = {"SourceS3Uri": f"s3://{BUCKET}/{prefix}/", "OnInitComplete": "entry.sh"}
        return group(self, name, node_type, count, LifeCycleConfig=scripts)

    def call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        answer: dict[str, Any] = getattr(self.sagemaker, operation)(ClusterName="demo", **parameters)
        return answer

    def nodes(self, group: str) -> dict[str, str]:
        """Instance id to status."""
        found = self.call("list_cluster_nodes", InstanceGroupNameContains=group)["ClusterNodeSummaries"]
        return {node.get("InstanceId", ""): node["InstanceStatus"]["Status"] for node in found}

    def settled(self, group: str, *statuses: str) -> list[str]:
        """The ids of a group's nodes, once they have these statuses."""

        def look() -> list[str] | None:
            found = self.nodes(group)
            return sorted(found) if sorted(found.values()) == sorted(statuses) else None

        return until(look, f"{group} with {statuses}")

    def log(self, group: str, instance_id: str) -> list[str]:
        arn = self.call("describe_cluster")["ClusterArn"]
        name = f"/aws/sagemaker/Clusters/demo/{arn.rpartition('/')[2]}"
        found = self._logs.get_log_events(logGroupName=name, logStreamName=f"LifecycleConfig/{group}/{instance_id}")
        return [event["message"] for event in found["events"]]

    def on(self, instance_id: str, *command: str) -> str:
        """The output of a command on a node; `/_hyperpod/nodes` tells how to enter the node."""
        entries = {node["InstanceId"]: node["Command"] for node in server.virtual_nodes(self.aws)}
        done = subprocess.run(  # noqa: S603
            [*entries[instance_id], *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.stdout


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    require_nodes()
    directory = tmp_path_factory.mktemp("aws")
    state = directory / LOCAL_STATE
    aws = server.start(state, auth=True, nodes=True)
    try:
        yield Account(aws, directory)
    finally:
        server.stop(state)
        assert not [line for line in Path("/proc/mounts").read_text().splitlines() if str(directory) in line]


def test_more_than_the_machine_holds_is_refused(account: Account) -> None:
    groups = [account.group("controller", "Controller"), account.group("workers", "Compute", 5000)]
    with pytest.raises(Exception, match=r"5001 nodes of 400 MiB each are wanted, and this machine has memory for \d+"):
        account.sagemaker.create_cluster(**cluster(account, InstanceGroups=groups))


def test_eks_is_refused(account: Account) -> None:
    eks = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/demo"}}
    groups = [{key: value for key, value in account.group("workers", "Compute").items() if key != "SlurmConfig"}]
    with pytest.raises(Exception, match="virtual nodes run Slurm"):
        account.sagemaker.create_cluster(**cluster(account, Orchestrator=eks, InstanceGroups=groups))


def test_instances_boot_and_run_the_uploaded_scripts(account: Account) -> None:
    groups = [account.group("controller", "Controller"), account.group("workers", "Compute", 2)]
    account.sagemaker.create_cluster(**cluster(account, InstanceGroups=groups))
    workers = account.settled("workers", "Running", "Running")
    (controller,) = account.settled("controller", "Running")

    names = account.on(controller, "srun", "--nodes=2", "hostname").split()
    assert sorted(names) == sorted(account.on(worker, "hostname").strip() for worker in workers)
    assert account.log("workers", workers[0]) == ["version 1"]


def test_nodes_reach_each_other_and_nothing_else(account: Account) -> None:
    """As in a closed network: jobs run, and no route leads out, neither from a node nor from the switch of its cluster."""
    worker, other = account.settled("workers", "Running", "Running")
    routes = [line.split() for line in account.on(worker, "ip", "-4", "route").splitlines()]
    (gateway,) = [words[2] for words in routes if words[0] == "default"]
    block = f"{gateway.rpartition('.0.1')[0]}.0.0/16"
    switch = f"hpn-switch-{int(gateway.split('.')[1]) - FIRST}"
    beyond = subprocess.run(  # noqa: S603
        ["ip", "-n", switch, "-4", "route"],
        stdout=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=True,
    ).stdout

    assert sorted(words[0] for words in routes) == [block, "default"]
    assert [line.split()[0] for line in beyond.splitlines()] == [block]
    address = account.on(other, "hostname").strip().removeprefix("ip-").replace("-", ".")
    assert [reached(account, worker, place) for place in (f"{address}:22", "192.0.2.1:443")] == ["yes", "no"]


def reached(account: Account, node: str, place: str) -> str:
    host, _, port = place.partition(":")
    program = f"""
import socket
try:
    socket.create_connection(("{host}", {port}), timeout=5)
    print("yes")
except OSError:
    print("no")
"""
    return account.on(node, "python3", "-c", program).strip()


CONNECT = [str(Path(sys.executable).parent / "hyperpod"), "connect", "--cluster", "demo"]


def test_connect_runs_what_comes_from_a_pipe(account: Account) -> None:
    done = subprocess.run(  # noqa: S603
        CONNECT, cwd=account.directory, input="hostname; exit 7\n", stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False
    )
    (controller,) = account.settled("controller", "Running")
    assert (done.stdout, done.returncode) == (account.on(controller, "hostname"), 7)


def test_connect_is_a_shell_in_a_terminal(account: Account) -> None:
    ours, theirs = pty.openpty()
    command = [*CONNECT, "--group", "workers"]
    with subprocess.Popen(command, cwd=account.directory, stdin=theirs, stdout=theirs, stderr=theirs) as shell:  # noqa: S603
        os.close(theirs)
        os.write(ours, b"shopt login_shell; tty; exit\n")
        said = b""
        with contextlib.suppress(OSError):
            while chunk := os.read(ours, 4096):
                said += chunk
        assert shell.wait(timeout=PATIENCE) == 0, said.decode()
    os.close(ours)
    assert re.search(rb"login_shell\s+on", said)
    assert b"/dev/pts/" in said
    assert b"no job control" not in said


def test_the_jobs_on_a_node_are_known(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(account.directory)
    place = Place(account.aws, TargetName.LOCAL)
    found = read_cluster(place, "demo")
    workers = read_nodes(place, found, "workers")
    (controller,) = account.settled("controller", "Running")
    assert jobs_on(place, found, workers) == Jobs()

    account.on(controller, "sbatch", "--chdir=/tmp", "--output=/dev/null", "--nodes=2", "--job-name=on both", "--wrap=sleep 60")
    jobs = until(lambda: jobs_on(place, found, workers[:1]).found or None, "a job on the node")
    assert [(job.user, job.name) for job in jobs] == [("root", "on both")]

    account.on(controller, "scancel", "--name=on both")
    until(lambda: jobs_on(place, found, workers) == Jobs(), "nodes without jobs")


def test_connect_is_another_user_on_a_named_node(account: Account) -> None:
    worker = account.settled("workers", "Running", "Running")[1]
    said = subprocess.run(  # noqa: S603
        [*CONNECT, worker, "--user", "ubuntu"], cwd=account.directory, input="id -un; hostname", stdout=subprocess.PIPE, text=True,
        timeout=PATIENCE, check=True,
    ).stdout.split()  # fmt: skip
    assert said == ["ubuntu", account.on(worker, "hostname").strip()]


def test_connect_joins_its_streams_to_the_ssh_server_of_a_node(account: Account) -> None:
    command = [*CONNECT, "workers", "--stdio", "22"]
    with subprocess.Popen(command, cwd=account.directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"SSH-2.0-OpenSSH")


def test_ssh_and_scp_use_the_entries_of_ssh_config(account: Account, tmp_path: Path) -> None:
    config, key, sent = tmp_path / "config", tmp_path / "key", tmp_path / "sent"
    sent.write_text("weights\n", encoding="utf-8")

    def run(*command: str, input: str = "") -> str:
        return subprocess.run(  # noqa: S603
            command, cwd=account.directory, input=input, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True
        ).stdout

    run(CONNECT[0], "ssh-config", "--cluster", "demo", "--write", str(config))
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    public = Path(f"{key}.pub").read_text("utf-8").strip()
    allow = f"install -d -m 700 ~/.ssh && echo '{public}' > ~/.ssh/authorized_keys"
    run(*CONNECT, "workers", "--user", "ubuntu", input=allow)

    options = ("-F", str(config), "-i", str(key), "-o", "BatchMode=yes")
    run("scp", "-q", *options, str(sent), "demo-workers:received")
    assert run("ssh", *options, "demo-workers", "id -un; cat received") == "ubuntu\nweights\n"


def test_files_and_directories_are_copied_both_ways(account: Account, tmp_path: Path) -> None:
    worker = account.settled("workers", "Running", "Running")[1]
    folder = tmp_path / "two words"
    folder.mkdir()
    (folder / "part 1").write_text("weights\n", encoding="utf-8")

    def copy(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [CONNECT[0], "copy", "--cluster", "demo", *arguments]
        return subprocess.run(command, cwd=account.directory, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603

    sent = copy(str(folder), f"{worker}:/home/ubuntu/")
    assert (sent.returncode, sent.stdout) == (0, f"Copied: {worker}:/home/ubuntu/two words\n"), sent.stderr
    assert account.on(worker, "cat", "/home/ubuntu/two words/part 1") == "weights\n"
    back = copy(f"{worker}:/home/ubuntu/two words", str(tmp_path / "back"))
    assert back.returncode == 0, back.stderr
    assert (tmp_path / "back" / "part 1").read_text("utf-8") == "weights\n"

    again = copy(str(folder), f"{worker}:/home/ubuntu/")
    assert again.returncode == 1
    assert "exists on the node" in again.stderr
    refused = copy(str(folder), f"{worker}:/root/")
    assert "ubuntu may not write into /root on the node" in " ".join(refused.stderr.split())
    assert "hyperpod-copy" not in account.on(worker, "cat", "/home/ubuntu/.ssh/authorized_keys")
    assert "hyperpod-copy" not in account.on(worker, "ls", "-a", "/home/ubuntu")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", "two words"]


def test_a_node_is_entered_by_who_may_start_a_session_on_it(account: Account, tmp_path: Path) -> None:
    """As on AWS: on the cluster, and with the document of each kind of session."""
    arn = account.call("describe_cluster")["ClusterArn"]
    (controller,) = account.settled("controller", "Running")
    (tmp_path / "sent").write_text("weights\n", encoding="utf-8")

    def run(*command: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603
            command, cwd=account.directory, input=text, capture_output=True, text=True, timeout=PATIENCE, check=False
        )

    def sessions(*documents: str) -> dict[str, Any]:
        resources = [arn, *(f"arn:aws:ssm:us-west-2::document/{name}" for name in documents)]
        return {"Effect": "Allow", "Action": "ssm:StartSession", "Resource": resources}

    def hostname() -> subprocess.CompletedProcess[str]:
        return run(*CONNECT, text="hostname\n")

    def sent() -> subprocess.CompletedProcess[str]:
        return run(CONNECT[0], "copy", "--cluster", "demo", str(tmp_path / "sent"), ":/home/ubuntu/")

    read = {"Effect": "Allow", "Action": [f"sagemaker:{name}" for name in READ], "Resource": arn}
    with without_permissions(account.aws) as allow:
        for statements in ([read], [read, sessions(SSH)]):
            allow(statements)
            for refused in (hostname(), sent()):
                assert (refused.returncode, refused.stdout) == (1, "")
                assert (
                    "ssm:StartSession is not allowed; this statement grants it, or cluster.grants.connect(role)" in refused.stderr
                )
        assert run(*CONNECT, "--stdio", "22").stdout.startswith("SSH-2.0-OpenSSH")
        assert "sent" not in account.on(controller, "ls", "/home/ubuntu")
        allow([read, sessions(SSH, NON_INTERACTIVE_COMMAND)])
        assert hostname().stdout == account.on(controller, "hostname")
        assert sent().stdout == f"Copied: {controller}:/home/ubuntu/sent\n"


def test_connect_forwards_a_port_until_it_is_interrupted(account: Account) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [*CONNECT, "workers", "--forward", f"{port}:22"]
    # A shell ignores interruptions for what it starts in the background, and so would the command.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(command, cwd=account.directory, stdout=subprocess.PIPE) as process:  # noqa: S603
        signal.signal(signal.SIGINT, before)
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(f"127.0.0.1:{port} leads to the node, port 22".encode())
            for _ in range(2):
                with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
                    assert connection.recv(100).startswith(b"SSH-2.0-OpenSSH")
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=PATIENCE) == 130
        finally:
            process.kill()


def test_a_failing_script_is_reported_with_its_cause(account: Account) -> None:
    groups = [*account.call("describe_cluster")["InstanceGroups"]]
    assert len(groups) == 2
    wanted = [
        account.group("controller", "Controller"),
        account.group("workers", "Compute", 2),
        account.group("broken", "Compute", 1, prefix="bad"),
    ]
    account.call("update_cluster", InstanceGroups=wanted)
    (broken,) = account.settled("broken", "Failure")

    message = account.call("describe_cluster_node", NodeId=broken)["NodeDetails"]["InstanceStatus"]["Message"]
    assert "Lifecycle scripts did not run successfully" in message
    assert "the disk is on fire" in message
    assert account.log("broken", broken) == ["the disk is on fire"]
    assert sorted(account.nodes("workers").values()) == ["Running", "Running"]
    account.call("batch_delete_cluster_nodes", NodeIds=[broken])
    account.settled("broken")


def assert_recovers(account: Account, broken: str, fault: Callable[[str], object]) -> None:
    """After the fault, another node is in the place of the broken one, and takes jobs."""
    (controller,) = account.settled("controller", "Running")
    name = account.on(broken, "hostname").strip()
    fault(name)
    until(lambda: broken not in account.nodes("workers"), f"{broken} replaced")
    workers = account.settled("workers", "Running", "Running")
    assert broken not in workers
    successor = next(worker for worker in workers if account.on(worker, "hostname").strip() == name)
    assert account.on(successor, "cat", LOG).startswith("version 1")
    assert account.on(controller, "srun", f"--nodelist={name}", "hostname").strip() == name


def test_a_marked_node_is_replaced(account: Account) -> None:
    (controller,) = account.settled("controller", "Running")

    def mark(name: str) -> str:
        return account.on(controller, "scontrol", "update", f"NodeName={name}", "State=FAIL", "Reason=Action:Replace")

    assert_recovers(account, account.settled("workers", "Running", "Running")[0], mark)
    events = account.call("list_cluster_events", ResourceType="Instance", MaxResults=100)["Events"]
    assert "Automatic node recovery: Action:Replace" in [event["Description"] for event in events]


def test_a_node_that_is_off_is_replaced(account: Account) -> None:
    broken = account.settled("workers", "Running", "Running")[0]
    assert_recovers(account, broken, lambda _: account.on(broken, "systemctl", "poweroff"))


def test_a_software_update_runs_the_present_scripts(account: Account) -> None:
    before = account.settled("workers", "Running", "Running")
    account.upload("good", RUN.replace("version 1", "version 2"))
    account.call("update_cluster_software")
    until(lambda: account.call("describe_cluster")["ClusterStatus"] == "InService", "the software update")

    assert account.settled("workers", "Running", "Running") == before
    for node in (*before, *account.settled("controller", "Running")):
        assert account.on(node, "cat", LOG) == "version 2\n"


def test_nodes_end_with_their_cluster(account: Account) -> None:
    assert server.virtual_nodes(account.aws)
    account.call("delete_cluster")
    until(lambda: not account.sagemaker.list_clusters()["ClusterSummaries"], "the end of the cluster")
    assert server.virtual_nodes(account.aws) == []
    with urllib.request.urlopen(server.control_request(account.aws, "GET", "health"), timeout=30) as answer:
        assert answer.status == 200


def test_what_a_killed_server_left_is_undone_by_a_stop(account: Account) -> None:
    account.sagemaker.create_cluster(**cluster(account, InstanceGroups=[account.group("controller", "Controller")]))
    (controller,) = account.settled("controller", "Running")
    (name,) = [node["Name"] for node in server.virtual_nodes(account.aws) if node["InstanceId"] == controller]
    state = account.directory / LOCAL_STATE
    os.kill(account.aws.pid, signal.SIGKILL)
    until(lambda: process.holder(state) is None, "the end of the server")
    assert _left(state, name) == {"mounts", "namespace", "processes"}

    assert server.stop(state) == 1
    assert _left(state, name) == set()
    shutil.rmtree(state)


def _left(state: Path, name: str) -> set[str]:
    """The traces of a node on the machine."""
    address = name.removeprefix("ip-")
    groups = [tree / cgroups.PARENT / name for tree in cgroups.hierarchies()]
    found = {
        "mounts": str(state) in Path("/proc/mounts").read_text(),
        "namespace": Path(f"/run/netns/hpn-{address}").exists(),
        "processes": any(group.exists() for group in groups),
    }
    return {what for what, there in found.items() if there}
