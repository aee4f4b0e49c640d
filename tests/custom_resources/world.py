"""The embedded AWS around a custom resource under test: in this process, or behind its endpoint."""

from __future__ import annotations

import io
import json
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from moto import mock_aws

from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.fsx.service import Fsx
from hyperpod_constructs.local.hyperpod.service import HyperPod
from hyperpod_constructs.local.quota_names import names
from hyperpod_constructs.local.quotas import ServiceQuotas
from tests.custom_resources.remembered import Memory
from tests.local.hyperpod_requests import cluster, group
from tests.local.in_process import InProcessClient
from tests.local.moto_cloud import CALLER, Clock, Cloud

T = TypeVar("T")

SCRIPTS = "sagemaker-scripts"
"""A bucket with lifecycle scripts below `v1/`."""


class World(ABC):
    """An account with a VPC (`vpc`, `subnet`, `security_group`), a role of nodes (`role`), and the bucket `SCRIPTS`."""

    account: str
    region: str
    vpc: str
    subnet: str
    security_group: str
    role: str

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    @abstractmethod
    def client(self, service: str) -> Any:
        """The account's client of a service, by boto3's name. Only methods: neither paginators nor waiters."""

    @abstractmethod
    def wait(self, look: Callable[[], T | None], what: str) -> T:
        """What `look` finds, after the time that the service needs for it."""

    @abstractmethod
    def faults(self, **faults: Any) -> None:
        """From now on our services have these faults and no others; see `hyperpod_constructs.local.faults`."""

    def cluster(self, name: str = "demo", failing: str = "", **members: Any) -> str:
        """The ARN of a new Slurm cluster, continuous, with one Running `controller` and two `workers`.

        :param failing: a further group of workers, whose nodes fail for good; none unless given.
        :param members: further members of the CreateCluster request, or others.
        """
        sagemaker, request = self.client("sagemaker"), cluster(self, ClusterName=name, **members)
        if failing:
            request["InstanceGroups"].append(group(self, failing, "Compute"))
            self.faults(failing_scripts={failing: "mount.lustre: connection timed out"})
        arn = str(sagemaker.create_cluster(**request)["ClusterArn"])
        return self.wait(lambda: arn if self._settled(name, failing) else None, f"cluster {name}")

    def file_system(self, **members: Any) -> str:
        """The id of a new Lustre file system, 1,200 GiB, PERSISTENT_2.

        :param members: further members of the CreateFileSystem request, or others.
        """
        request: dict[str, Any] = {
            "FileSystemType": "LUSTRE",
            "StorageCapacity": 1200,
            "SubnetIds": [self.subnet],
            "SecurityGroupIds": [self.security_group],
            "FileSystemTypeVersion": "2.15",
            "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
        }
        fsx = self.client("fsx")
        id = str(fsx.create_file_system(**request | members)["FileSystem"]["FileSystemId"])

        def available() -> str | None:
            found = fsx.describe_file_systems(FileSystemIds=[id])["FileSystems"]
            return id if found[0]["Lifecycle"] == "AVAILABLE" else None

        return self.wait(available, f"file system {id}")

    def _settled(self, name: str, failing: str) -> bool:
        found = self.client("sagemaker").describe_cluster(ClusterName=name)
        nodes = self.client("sagemaker").list_cluster_nodes(ClusterName=name)["ClusterNodeSummaries"]
        settled = [
            node["InstanceStatus"]["Status"] == ("Failure" if node["InstanceGroupName"] == failing else "Running") for node in nodes
        ]
        wanted = sum(group["TargetCount"] for group in found["InstanceGroups"])
        return found["ClusterStatus"] == "InService" and len(nodes) == wanted and all(settled)


def _few_quotas() -> dict[str, str]:
    """The quotas but those of types that no case has: they would fill a thousand pages in each run."""
    return {name: service for name, service in names().items() if "ml." not in name or "ml.m5.xlarge" in name}


class InProcessWorld(World):
    """moto, and our services over it. Time stands still until `clock` moves it."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__()
        self.account, self.region = CALLER.account, CALLER.region
        self.vpc, self.subnet, self.security_group, self.role = cloud.vpc, cloud.subnet, cloud.security_group, cloud.role
        self.clock: Clock = cloud.clock
        self._cloud, self._memory = cloud, Memory(cloud.clock)
        ours = (
            HyperPod(cloud.faults, self._motos, cloud.clock),
            Fsx(cloud.faults, self._motos, cloud.clock),
            ServiceQuotas(cloud.faults, cloud.clock, _few_quotas()),
        )
        self._ours = {each.name: self._memory.client(each.name, InProcessClient(each), timed=True) for each in ours}

    def client(self, service: str) -> Any:
        return self._ours[service] if service in self._ours else self._motos(service)

    def _motos(self, service: str, caller: Caller = CALLER) -> Any:
        return self._memory.client(service, self._cloud.client(service, caller))

    def faults(self, **faults: Any) -> None:
        self._cloud.faults.assign(Faults.from_json(faults))
        self._memory.forget()

    def wait(self, look: Callable[[], T | None], what: str) -> T:
        for _ in range(100):
            found = look()
            if found is not None:
                return found
            self.clock.tick(1.0)
        raise AssertionError(f"{what} has not come about in 100 seconds of the world")

    def publish(self, assembly: Path) -> None:
        """Upload the file assets of an assembly, as the CDK CLI does."""
        for manifest in assembly.glob("*.assets.json"):
            for asset in json.loads(manifest.read_text("utf-8"))["files"].values():
                for destination in asset["destinations"].values():
                    place = assembly / asset["source"]["path"]
                    if place.is_dir() and not (place / "handlers").is_dir():
                        self._upload(destination["bucketName"], destination["objectKey"], _zipped(place))

    def _upload(self, bucket: str, key: str, content: bytes) -> None:
        s3, name = self.client("s3"), bucket.replace("${AWS::Partition}", "aws")
        if name not in [found["Name"] for found in s3.list_buckets()["Buckets"]]:
            s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": self.region})
        s3.put_object(Bucket=name, Key=key, Body=content)


def _zipped(directory: Path) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for path in sorted(directory.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(directory).as_posix())
    return content.getvalue()


@contextmanager
def in_process_world() -> Iterator[InProcessWorld]:
    """A fresh account."""
    with mock_aws():
        yield InProcessWorld(Cloud())
