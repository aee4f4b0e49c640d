"""Thousands of nodes: the creation of each asks a fixed number of questions, and no caller waits for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.ec2 import rules
from hyperpod_constructs.local.hyperpod.background import InThread, Task
from hyperpod_constructs.local.hyperpod.service import HyperPod
from tests.local.hyperpod_requests import checked, cluster
from tests.local.moto_cloud import Cloud, moto_cloud


class Later:
    """Tasks that wait until the test does them."""

    def __init__(self) -> None:
        self.waiting: list[Task] = []

    def begin(self, work: Callable[[], None]) -> Task:
        self.waiting.append(Task(work))
        return self.waiting[-1]

    def do(self) -> None:
        for task in self.waiting:
            task.run()
        self.waiting.clear()

    def wait(self) -> None:
        self.do()


class Counting:
    """Clients that count their calls."""

    def __init__(self, cloud: Cloud) -> None:
        self.asked: Counter[str] = Counter()
        self._cloud = cloud

    def __call__(self, service: str, caller: Caller) -> Any:
        client = self._cloud.client(service, caller)

        class Counted:
            def __getattr__(_, name: str) -> Any:  # noqa: N805
                self.asked[name] += 1
                return getattr(client, name)

        return Counted()


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def clients(cloud: Cloud) -> Counting:
    return Counting(cloud)


def test_a_description_asks_nobody_and_waits_for_nothing_while_nodes_are_made(cloud: Cloud, clients: Counting) -> None:
    tasks = Later()
    call = checked(HyperPod(cloud.faults, clients, cloud.clock, tasks=tasks))
    call("CreateCluster", **cluster(cloud, continuous=False, workers=40))
    clients.asked.clear()
    for _ in range(3):
        cloud.clock.tick(10)
        assert call("DescribeCluster", ClusterName="demo")["ClusterStatus"] == "Creating"
        assert len(tasks.waiting) == 1
    assert clients.asked == Counter()
    tasks.do()
    for _ in range(3):
        cloud.clock.tick(10)
        call("DescribeCluster", ClusterName="demo")
        tasks.do()
    cloud.clock.tick(10)
    description = call("DescribeCluster", ClusterName="demo")
    assert (description["ClusterStatus"], description["InstanceGroups"][1]["CurrentCount"]) == ("InService", 40)


def test_creation_asks_a_fixed_number_of_questions_for_each_node(cloud: Cloud, clients: Counting) -> None:
    call = checked(HyperPod(cloud.faults, clients, cloud.clock))

    def questions(workers: int) -> Counter[str]:
        clients.asked.clear()
        call("CreateCluster", **cluster(cloud, workers=workers, ClusterName=f"demo-{workers}"))
        for _ in range(4):
            cloud.clock.tick(10)
            call("DescribeCluster", ClusterName=f"demo-{workers}")
        return +clients.asked

    few, many = questions(10), questions(20)
    more = {name: many[name] - few[name] for name in many if many[name] != few[name]}
    assert more == {"create_network_interface": 10, "create_log_stream": 10, "put_log_events": 10}


def test_a_cluster_that_is_deleted_while_its_nodes_are_made_leaves_no_interface(cloud: Cloud) -> None:
    tasks = Later()
    call = checked(HyperPod(cloud.faults, cloud.client, cloud.clock, tasks=tasks))
    call("CreateCluster", **cluster(cloud, workers=5))
    while call("DescribeCluster", ClusterName="demo")["ClusterStatus"] == "Creating":
        tasks.do()
        cloud.clock.tick(10)
    cloud.clock.tick(10)
    call("DescribeCluster", ClusterName="demo")
    assert len(tasks.waiting) == 1
    assert len(cloud.interfaces()) == 1
    call("DeleteCluster", ClusterName="demo")
    cloud.clock.tick(10)
    assert call("DescribeCluster", ClusterName="demo")["ClusterStatus"] == "Deleting"
    tasks.do()
    cloud.clock.tick(10)
    assert call("ListClusters")["ClusterSummaries"] == []
    assert cloud.interfaces() == []


def test_a_reset_forgets_what_was_under_way(cloud: Cloud) -> None:
    tasks = Later()
    service = HyperPod(cloud.faults, cloud.client, cloud.clock, tasks=tasks)
    call = checked(service)
    call("CreateCluster", **cluster(cloud, workers=5))
    cloud.clock.tick(10)
    call("DescribeCluster", ClusterName="demo")
    assert tasks.waiting
    service.reset()
    assert tasks.waiting == []
    assert cloud.interfaces() == []


def test_tasks_in_a_thread_keep_their_order_and_survive_an_error() -> None:
    done: list[str] = []
    tasks = InThread()

    def fail() -> None:
        done.append("failed")
        raise RuntimeError("on purpose")

    broken = tasks.begin(fail)
    sound = tasks.begin(lambda: done.append("done"))
    tasks.wait()
    assert (broken.done, sound.done, done) == (True, True, ["failed", "done"])


def test_a_new_interface_looks_at_no_other_while_the_subnet_cannot_be_full() -> None:
    """Counting the interfaces of the subnet for each one makes a creation quadratic."""
    looked = []

    class Interfaces(dict[str, Any]):
        def values(self) -> Any:
            looked.append(len(self))
            return super().values()

    subnet = SimpleNamespace(id="subnet-1", cidr_block="10.1.0.0/24", vpc_id="vpc-1")
    interfaces = Interfaces({str(number): SimpleNamespace(subnet=subnet) for number in range(250)})
    backend = SimpleNamespace(get_subnet=lambda name: subnet, enis=interfaces, groups={})
    request = {"Action": "CreateNetworkInterface", "SubnetId": "subnet-1"}
    rules.refuse(backend, request)
    assert looked == []
    interfaces["last"] = SimpleNamespace(subnet=subnet)
    with pytest.raises(Exception, match="InsufficientFreeAddressesInSubnet"):
        rules.refuse(backend, request)
    assert looked == [251]
