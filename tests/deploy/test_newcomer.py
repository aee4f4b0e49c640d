"""The story of a newcomer: from an empty directory and the wheel to clusters on the network, storage and data of other teams."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hyperpod_constructs.local import server
from tests.deploy.conftest import Cloud, Run, Things

ROOT = Path(__file__).parents[2]
PACKAGES = Path(pytest.__file__).parents[1]
FILES = Path(__file__).parent / "newcomer"
BOOTSTRAP = re.compile("hnb659fds|CDKToolkit")
VPC, DATA = "research", "amzn-s3-demo-research"


def made_environment(directory: Path) -> Path:
    """The folder of the programs of an environment with the wheel; all that the wheel requires is borrowed from this one."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(directory), "."]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)  # noqa: S603
    subprocess.run([sys.executable, "-m", "venv", "venv"], cwd=directory, capture_output=True, check=True)
    (packages,) = (directory / "venv/lib").glob("python*/site-packages")
    (packages / "borrowed.pth").write_text(f"{PACKAGES}\n", "utf-8")
    programs = directory / "venv/bin"
    (wheel,) = directory.glob("*.whl")
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(pip, capture_output=True, check=True)  # noqa: S603
    for name in ("cdk", "node"):
        (programs / name).symlink_to(Path(sys.executable).parent / name)
    return programs


@dataclass
class Newcomer:
    """The directory of a newcomer, and what is typed there."""

    home: Path
    programs: Path
    cloud: Cloud
    settings: dict[str, str] = field(default_factory=dict)
    others: Things = field(default_factory=dict)
    validated: set[frozenset[str]] = field(default_factory=set)

    def deploy(self, **context: object) -> Run:
        """`hyperpod deploy` of the app with these settings."""
        return self._hyperpod("deploy", context)

    def destroy(self, **context: object) -> Run:
        """`hyperpod destroy` of all stacks of the app."""
        return self._hyperpod("destroy", context, "--stack", "all")

    def _hyperpod(self, command: str, context: Mapping[str, object], *arguments: str) -> Run:
        values = {**self.settings, **context}
        settings = [part for name, value in values.items() for part in ("--context", f"{name}={value}")]
        app = ["--app", f"{self.programs / 'python'} app.py"]
        return run(self.home, self.programs, command, *app, *settings, *arguments, validated=self._is_new(context))

    def _is_new(self, context: Mapping[str, object]) -> bool:
        """Whether the app declares something for the first time: other names and counts pass the CDK's validation as the first."""
        shape = frozenset(context)
        is_new = shape not in self.validated
        self.validated.add(shape)
        return is_new

    def clusters(self) -> dict[str, str]:
        """The ARN of each cluster, by name."""
        found = self.cloud.client("sagemaker").list_clusters()["ClusterSummaries"]
        return {cluster["ClusterName"]: cluster["ClusterArn"] for cluster in found}

    def left(self) -> Things:
        """What the newcomer has made and still exists, without the bootstrap of the CDK."""
        found = self.cloud.left(self.others)
        own = {kind: {id for id in ids if BOOTSTRAP.search(id) is None} for kind, ids in found.items()}
        return {kind: ids for kind, ids in own.items() if ids}

    def groups(self, cluster: str) -> dict[str, int]:
        """The number of nodes in each group of a cluster."""
        found = self.cloud.client("sagemaker").describe_cluster(ClusterName=cluster)["InstanceGroups"]
        return {group["InstanceGroupName"]: group["TargetCount"] for group in found}


def run(home: Path, programs: Path, *arguments: str, validated: bool = True) -> Run:
    """Run the command of the wheel in the newcomer's directory, with nothing of the checkout in its environment.

    :param validated: whether the CDK validates what the app writes, which takes most of a synthesis; it does unless told not to.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_", "PYTHONPATH", "COV_"))}
    unvalidated = {} if validated else {"CDK_VALIDATION": "false"}
    done = subprocess.run(  # noqa: S603
        [str(programs / "hyperpod"), *arguments],
        cwd=home,
        env={**kept, **unvalidated, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    return Run(done.returncode, done.stdout)


def research(cloud: Cloud) -> dict[str, str]:
    """What other teams have made: a network with a way out, a file system with its group, a bucket. Returns the app's settings."""
    ec2, fsx = cloud.client("ec2"), cloud.client("fsx")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    ec2.create_tags(Resources=[vpc], Tags=[{"Key": "Name", "Value": VPC}])
    public, private = (
        ec2.create_subnet(VpcId=vpc, CidrBlock=block, AvailabilityZoneId="usw2-az1")["Subnet"]["SubnetId"]
        for block in ("10.0.0.0/24", "10.0.16.0/20")
    )
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    nat = ec2.create_nat_gateway(SubnetId=public, AllocationId=address)["NatGateway"]["NatGatewayId"]
    for subnet, target in ((public, {"GatewayId": gateway}), (private, {"NatGatewayId": nat})):
        table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
        ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
        ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", **target)
    nodes, lustre = (
        ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc)["GroupId"] for name in ("nodes", "lustre")
    )
    for group, peers in ((nodes, [nodes]), (lustre, [lustre, nodes])):
        allowed = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": peer} for peer in peers]}
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[allowed])
        ec2.authorize_security_group_egress(GroupId=group, IpPermissions=[allowed])
    made = fsx.create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[private],
        SecurityGroupIds=[lustre],
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
    )["FileSystem"]
    cloud.client("s3").create_bucket(Bucket=DATA, CreateBucketConfiguration={"LocationConstraint": cloud.aws.region})
    return {"file_system": made["FileSystemId"], "mount_name": made["LustreConfiguration"]["MountName"]}


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newcomer]:
    programs = made_environment(tmp_path_factory.mktemp("environment"))
    home = tmp_path_factory.mktemp("home")
    state = home / "build/local"
    try:
        started = run(home, programs, "local", "start")
        aws = server.running(state)
        assert aws is not None, started.output
        for file in FILES.iterdir():
            shutil.copy(file, home)
        cloud = Cloud(aws, home)
        settings = research(cloud)
        yield Newcomer(home, programs, cloud, settings, cloud.things())
    finally:
        server.stop(state)


def test_deploy(newcomer: Newcomer) -> None:
    done = newcomer.deploy(cluster_name="training", workers=2)
    assert done.code == 0, done.output
    assert newcomer.groups("training") == {"controller": 1, "login": 1, "gpu": 2, "cpu": 2}


def test_the_own_step_lies_beside_the_scripts(newcomer: Newcomer) -> None:
    group = newcomer.cloud.client("sagemaker").describe_cluster(ClusterName="training")["InstanceGroups"][0]
    bucket, _, prefix = group["LifeCycleConfig"]["SourceS3Uri"].removeprefix("s3://").partition("/")
    objects = newcomer.cloud.client("s3").list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]
    assert any(item["Key"].endswith("/tune") for item in objects), [item["Key"] for item in objects]


def test_scale(newcomer: Newcomer) -> None:
    before = newcomer.clusters()
    done = newcomer.deploy(cluster_name="training", workers=3)
    assert done.code == 0, done.output
    assert newcomer.groups("training") == {"controller": 1, "login": 1, "gpu": 3, "cpu": 2}
    assert newcomer.clusters() == before


def test_rename(newcomer: Newcomer) -> None:
    before = newcomer.clusters()
    done = newcomer.deploy(cluster_name="pretraining", workers=3)
    assert done.code == 0, done.output
    assert newcomer.clusters().keys() == {"pretraining"}
    assert newcomer.clusters() != before


def test_second_cluster(newcomer: Newcomer) -> None:
    done = newcomer.deploy(cluster_name="pretraining", workers=3, second=True)
    assert done.code == 0, done.output
    assert newcomer.groups("evaluation") == {"controller": 1, "login": 1, "gpu": 1, "cpu": 2}
    assert newcomer.clusters().keys() == {"pretraining", "evaluation"}


def test_destroy_twice_lists_what_stays(newcomer: Newcomer) -> None:
    outputs = []
    for _ in range(2):
        done = newcomer.destroy(cluster_name="pretraining", workers=3, second=True)
        assert done.code == 0, done.output
        outputs.append(done.output)
    assert newcomer.clusters() == {}
    logs = newcomer.left()["log group"]
    assert {name.split("/")[4] for name in logs if name.startswith("/aws/sagemaker/")} == {"training", "pretraining", "evaluation"}
    for output in outputs:
        assert set(re.findall(r"^ *aws logs delete-log-group --log-group-name (\S+)", output, re.MULTILINE)) == logs


def test_clean(newcomer: Newcomer) -> None:
    cloud = newcomer.cloud
    for name in newcomer.left()["log group"]:
        cloud.client("logs").delete_log_group(logGroupName=name)
    assert newcomer.left() == {}
    things = cloud.things()
    assert all(ids <= things[kind] for kind, ids in newcomer.others.items())
    assert "nothing stays" in newcomer.destroy(cluster_name="pretraining", workers=3, second=True).output
