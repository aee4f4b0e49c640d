"""Whole deployments: the real command line and CDK CLI, and one embedded AWS for each module.

The tests of a module are the steps of one story, in their order: each starts from what the steps before have left, and
is skipped once one of them has failed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from aws_cdk import CfnResource

import app as reference
from hyperpod_constructs.cli.cdk import bootstrap
from hyperpod_constructs.local import server
from hyperpod_constructs.local.server import LocalAws
from tests.local.conftest import NODE_CACHE
from tests.patience import until
from tests.presets import build

BIN = Path(sys.executable).parent
FOUNDATION, CLUSTER = "HyperPod-Foundation", "HyperPod-Cluster"
CLUSTER_NAME = "sagemaker-demo-cluster"
MODELS = Path(sys.prefix) / "models/botocore/data"
"""Service models that are newer than the installed botocore's, with which the embedded AWS judges."""

Edit = Callable[[reference.Foundation, reference.Cluster], None]
Things = dict[str, set[str]]
T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """The exit code and the whole output of a command."""

    code: int
    output: str


@dataclass
class Cloud:
    """A bootstrapped embedded AWS, and the commands of a user against it."""

    aws: LocalAws
    directory: Path
    baseline: Things = field(default_factory=dict)
    clients: dict[str, Any] = field(default_factory=dict)

    def client(self, service: str) -> Any:
        """A boto3 client, made once."""
        if service not in self.clients:
            self.clients[service] = self.aws.client(service)
        return self.clients[service]

    def run(self, command: str, *arguments: str) -> Run:
        """Run a command of the virtual environment."""
        done = subprocess.run(  # noqa: S603
            [str(BIN / command), *arguments],
            cwd=self.directory,
            env={**self.aws.environment(), **NODE_CACHE, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        return Run(done.returncode, done.stdout)

    def deploy(self, assembly: Path, *stacks: str) -> Run:
        """`cdk deploy` of these stacks of an assembly, or of all."""
        return self.run("cdk", "deploy", *(stacks or ("--all",)), "--app", str(assembly), "--require-approval", "never")

    def destroy(self, assembly: Path, stack: str) -> Run:
        """`cdk destroy` of a stack by name."""
        return self.run("cdk", "destroy", stack, "--app", str(assembly), "--force")

    @contextmanager
    def faults(self, **faults: Any) -> Iterator[None]:
        """Inject a fault for a while."""
        self._set_faults(faults)
        try:
            yield
        finally:
            self._set_faults({})

    def _set_faults(self, faults: Mapping[str, Any]) -> None:
        request = server.control_request(self.aws, "POST", "faults", json.dumps(faults).encode())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30.0):
            pass

    def stack(self, name: str) -> dict[str, Any]:
        """A stack."""
        found: dict[str, Any] = self.client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
        return found

    def status(self, name: str) -> str:
        """The status of a stack."""
        return str(self.stack(name)["StackStatus"])

    def output(self, name: str, key: str) -> str:
        """The output of a stack whose key contains this."""
        found = [output["OutputValue"] for output in self.stack(name)["Outputs"] if key in output["OutputKey"]]
        assert len(found) == 1, found
        return str(found[0])

    def events(self, name: str) -> list[dict[str, Any]]:
        """The events of a stack, the newest first."""
        pages = self.client("cloudformation").get_paginator("describe_stack_events").paginate(StackName=name)
        return [event for page in pages for event in page["StackEvents"]]

    def cause(self, name: str) -> str:
        """The reason of the first failure in the newest operation of a stack that rolled back."""
        for event in reversed(self._newest_operation(name)):
            if event["ResourceStatus"].endswith("_FAILED"):
                return str(event["ResourceStatusReason"])
        raise AssertionError(f"no event of {name} has failed")

    def _newest_operation(self, name: str) -> list[dict[str, Any]]:
        events = self.events(name)
        starts = ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS")
        for index, event in enumerate(events):
            if event["LogicalResourceId"] == name and event["ResourceStatus"] in starts:
                return events[: index + 1]
        return events

    def cluster(self) -> dict[str, Any]:
        """The cluster, as the service describes it."""
        found: dict[str, Any] = self.client("sagemaker").describe_cluster(ClusterName=CLUSTER_NAME)
        return found

    def targets(self) -> dict[str, int]:
        """The wanted count of each group."""
        return {group["InstanceGroupName"]: group["TargetCount"] for group in self.cluster()["InstanceGroups"]}

    def scripts(self) -> str:
        """The one prefix from which every group takes its scripts, as a URI."""
        (uri,) = {group["LifeCycleConfig"]["SourceS3Uri"] for group in self.cluster()["InstanceGroups"]}
        return str(uri)

    def running(self, group: str, count: int) -> set[str]:
        """Wait until a group has exactly so many nodes, all Running, and return their ids."""

        def look() -> set[str] | None:
            found = [node for node in self.nodes() if node["InstanceGroupName"] == group]
            ready = len(found) == count and all(node["InstanceStatus"]["Status"] == "Running" for node in found)
            return {node["InstanceId"] for node in found} if ready else None

        return until(look, f"{group} with {count} Running nodes")

    def nodes(self) -> list[dict[str, Any]]:
        """Every node of the cluster."""
        pages = self.client("sagemaker").get_paginator("list_cluster_nodes").paginate(ClusterName=CLUSTER_NAME)
        return [node for page in pages for node in page["ClusterNodeSummaries"]]

    def left(self, baseline: Things | None = None) -> Things:
        """The resources that are new since the baseline; the bootstrap is the baseline unless given."""
        before = self.baseline if baseline is None else baseline
        found = {kind: ids - before.get(kind, set()) for kind, ids in self.things().items()}
        return {kind: ids for kind, ids in found.items() if ids}

    def things(self) -> Things:
        """All existing resources, by kind; of EC2 without AWS's own."""
        return {**self._network(), **self._others()}

    def _network(self) -> Things:
        ec2 = self.client("ec2")
        default = {vpc["VpcId"] for vpc in ec2.describe_vpcs()["Vpcs"] if vpc["IsDefault"]}
        gateways = ec2.describe_nat_gateways()["NatGateways"]
        endpoints = ec2.describe_vpc_endpoints()["VpcEndpoints"]
        tables = ec2.describe_route_tables()["RouteTables"]
        groups = ec2.describe_security_groups()["SecurityGroups"]
        internet = ec2.describe_internet_gateways()["InternetGateways"]
        return {
            "vpc": {vpc["VpcId"] for vpc in ec2.describe_vpcs()["Vpcs"]} - default,
            "subnet": {net["SubnetId"] for net in ec2.describe_subnets()["Subnets"] if net["VpcId"] not in default},
            "security group": {group["GroupId"] for group in groups if group["GroupName"] != "default"},
            "route table": {table["RouteTableId"] for table in tables if not any(a["Main"] for a in table["Associations"])},
            "internet gateway": {gateway["InternetGatewayId"] for gateway in internet},
            "nat gateway": {gateway["NatGatewayId"] for gateway in gateways if gateway["State"] != "deleted"},
            "address": {address["AllocationId"] for address in ec2.describe_addresses()["Addresses"]},
            "endpoint": {endpoint["VpcEndpointId"] for endpoint in endpoints if endpoint["State"] != "deleted"},
            "flow log": {log["FlowLogId"] for log in ec2.describe_flow_logs()["FlowLogs"]},
            "interface": {face["NetworkInterfaceId"] for face in ec2.describe_network_interfaces()["NetworkInterfaces"]},
        }

    def _others(self) -> Things:
        fsx, iam, stacks = self.client("fsx"), self.client("iam"), self.client("cloudformation").list_stacks()
        associations = fsx.describe_data_repository_associations()["Associations"]
        parameters = self.client("ssm").describe_parameters()["Parameters"]
        groups = self.client("logs").describe_log_groups()["logGroups"]
        machines = self.client("stepfunctions").list_state_machines()["stateMachines"]
        clusters = self.client("sagemaker").list_clusters()["ClusterSummaries"]
        return {
            "stack": {s["StackName"] for s in stacks["StackSummaries"] if s["StackStatus"] != "DELETE_COMPLETE"},
            "file system": {system["FileSystemId"] for system in fsx.describe_file_systems()["FileSystems"]},
            "association": {association["AssociationId"] for association in associations},
            "cluster": {cluster["ClusterArn"] for cluster in clusters},
            "bucket": {bucket["Name"] for bucket in self.client("s3").list_buckets()["Buckets"]},
            "role": {role["RoleName"] for role in iam.list_roles()["Roles"]},
            "policy": {policy["PolicyName"] for policy in iam.list_policies(Scope="Local")["Policies"]},
            "function": {function["FunctionName"] for function in self.client("lambda").list_functions()["Functions"]},
            "state machine": {machine["name"] for machine in machines},
            "log group": {group["logGroupName"] for group in groups},
            "parameter": {parameter["Name"] for parameter in parameters},
            "kubernetes cluster": set(self.client("eks").list_clusters()["clusters"]),
            "key": self._keys(),
        }

    def _keys(self) -> set[str]:
        """Those of KMS that nobody deletes."""
        kms = self.client("kms")
        ids = [key["KeyId"] for key in kms.list_keys()["Keys"]]
        return {name for name in ids if kms.describe_key(KeyId=name)["KeyMetadata"]["KeyState"] == "Enabled"}


@contextmanager
def running_cloud(directory: Path, *, auth: bool = False) -> Iterator[Cloud]:
    """An embedded AWS where `hyperpod deploy` in `directory` finds it, bootstrapped."""
    state = directory / "build/local"
    aws = server.start(state, auth=auth, models=MODELS if MODELS.is_dir() else None)
    try:
        bootstrap(aws, state)
        cloud = Cloud(aws, directory)
        cloud.baseline = cloud.things()
        yield cloud
    finally:
        server.stop(state)


def synthesize(directory: Path, edit: Edit | None = None, **context: str) -> Path:
    """The assembly of the reference app with this context, changed through the L1s by `edit`; returns its folder."""
    app = build("slurm", directory, **context)
    foundation, cluster = app.node.find_child("Foundation"), app.node.find_child("Cluster")
    assert isinstance(foundation, reference.Foundation)
    assert isinstance(cluster, reference.Cluster)
    if edit is not None:
        edit(foundation, cluster)
    app.synth()
    return directory


def give_the_gate(seconds: int) -> Edit:
    """So long from its first look to its last. Three minutes more are the handler's reserve; with 0 the first look is the last."""

    def edit(_: reference.Foundation, cluster: reference.Cluster) -> None:
        gate = cluster.slurm.readiness.resource.node.default_child
        assert isinstance(gate, CfnResource)
        gate.add_property_override("TimeoutSeconds", 180 + seconds)

    return edit


_FAILED: dict[str, str] = {}
"""By module: the first step that has failed."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the first step of a story that fails."""
    report = yield
    if report.failed:
        _FAILED.setdefault(item.path.name, item.name)
    return report


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a step whose story has broken."""
    broken = _FAILED.get(item.path.name)
    if broken is not None:
        pytest.skip(f"{broken}, an earlier step of this story, has failed")
