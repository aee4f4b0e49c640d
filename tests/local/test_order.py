"""Resources that nothing ties are created at the same time, in a random order; a failure is rolled back."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import ministack.services.cloudformation as cloudformation  # type: ignore[import-untyped]
import pytest
from ministack.services.cloudformation import changesets, engine, handlers, provisioners, stacks

from hyperpod_constructs.local import ministack_order
from hyperpod_constructs.local.ministack_order import shuffled

SEED = 7
NAME, STACK = "Stack", "arn:aws:cloudformation:us-west-2:123456789012:stack/Stack/1"
DIAMOND = {"a": frozenset[str](), "b": frozenset({"a"}), "c": frozenset({"a"}), "d": frozenset({"b", "c"}), "e": frozenset[str]()}


def test_an_order_keeps_dependencies_and_is_repeated_by_its_seed() -> None:
    orders = [shuffled(seed, DIAMOND) for seed in range(50)]
    assert all(order.index(name) > order.index(other) for order in orders for name in DIAMOND for other in DIAMOND[name])
    assert {order.index("e") for order in orders} == {0, 1, 2, 3, 4}
    assert orders == [shuffled(seed, dict(reversed(DIAMOND.items()))) for seed in range(50)]


Create = Callable[[str], None]


class Engine:
    """ministack's engine with types of ours: `Test::Slow` blocks a thread, `Test::Fast` runs on the event loop."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.create: Create = lambda name: None

    def handler(self) -> dict[str, Any]:
        def create(name: str, properties: dict[str, Any], stack: str) -> tuple[str, dict[str, str]]:
            self.calls.append(("create", name))
            self.create(name)
            return f"id-of-{name}", {"Arn": f"arn-of-{name}"}

        def delete(physical_id: str, properties: dict[str, Any]) -> None:
            self.calls.append(("delete", physical_id.removeprefix("id-of-")))

        return {"create": create, "delete": delete}

    def names(self, verb: str) -> list[str]:
        return [name for done, name in self.calls if done == verb]

    def deploy(self, resources: dict[str, Any]) -> dict[str, Any]:
        """The stack after its creation."""
        stack = {"StackId": STACK, "StackName": NAME, "_resources": {}, "Tags": []}
        cloudformation._stacks[NAME] = stack
        asyncio.run(stacks._deploy_stack_async(NAME, STACK, {"Resources": resources}, {}, False, []))
        return stack

    def delete(self) -> None:
        asyncio.run(stacks._delete_stack_async(NAME, STACK))


@pytest.fixture
def engine_of_tests(monkeypatch: pytest.MonkeyPatch) -> Engine:
    for module in (engine, stacks, changesets, handlers):
        for name in (
            "_topological_sort",
            "_deploy_stack_async",
            "_add_event",
            "_provision_keeping_seed",
            "_fail_property_validation",
        ):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, getattr(module, name))
    made = Engine()
    for kind in ("Test::Slow", "Test::Fast"):
        monkeypatch.setitem(provisioners._RESOURCE_HANDLERS, kind, made.handler())
    monkeypatch.setattr(stacks, "_runs_on_worker_thread", lambda kind: kind == "Test::Slow")
    cloudformation._stack_events.pop(STACK, None)
    ministack_order.shuffle(SEED)
    return made


def resource(kind: str, *needed: str) -> dict[str, Any]:
    return {"Type": f"Test::{kind}", "Properties": {}, "DependsOn": list(needed)}


def events(name: str) -> list[str]:
    return [event["ResourceStatus"] for event in cloudformation._stack_events[STACK] if event["LogicalResourceId"] == name]


def test_what_nothing_ties_is_created_at_the_same_time(engine_of_tests: Engine) -> None:
    meeting = threading.Barrier(3, timeout=30)

    def create(name: str) -> None:
        if name in ("one", "two", "three"):
            meeting.wait()

    engine_of_tests.create = create
    resources = {name: resource("Slow") for name in ("one", "two")}
    resources |= {"fast": resource("Fast"), "three": resource("Slow", "fast"), "after": resource("Fast", "one", "three")}
    stack = engine_of_tests.deploy(resources)
    assert (stack["StackStatus"], set(stack["_resources"])) == ("CREATE_COMPLETE", set(resources))
    assert engine_of_tests.names("create")[-1] == "after"
    assert all(events(name) == ["CREATE_IN_PROGRESS", "CREATE_COMPLETE"] for name in resources)


def test_values_of_what_is_needed_are_there(engine_of_tests: Engine) -> None:
    reader = {"Type": "Test::Slow", "Properties": {"Of": {"Fn::GetAtt": ["one", "Arn"]}, "Id": {"Ref": "one"}}}
    stack = engine_of_tests.deploy({"one": resource("Slow"), "reader": reader})
    assert stack["_resources"]["reader"]["Properties"] == {"Of": "arn-of-one", "Id": "id-of-one"}


def test_what_was_made_beside_a_failure_is_deleted_and_the_seed_is_told(engine_of_tests: Engine) -> None:
    started = threading.Event()

    def create(name: str) -> None:
        if name == "slow":
            started.set()
        if name == "broken":
            assert started.wait(30)
            raise ValueError("no luck")

    engine_of_tests.create = create
    resources = {"slow": resource("Slow"), "broken": resource("Slow"), "after": resource("Fast", "broken")}
    stack = engine_of_tests.deploy(resources)
    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
    assert (sorted(engine_of_tests.names("create")), engine_of_tests.names("delete")) == (["broken", "slow"], ["slow"])
    told = [event for event in cloudformation._stack_events[STACK] if event["ResourceStatus"] == "CREATE_FAILED"]
    assert [(event["LogicalResourceId"], event["ResourceStatusReason"]) for event in told] == [
        ("broken", f"no luck (order of resources: seed {SEED})")
    ]


def test_a_deletion_goes_backwards_in_the_order_of_the_seed(engine_of_tests: Engine) -> None:
    resources = {name: resource("Fast", *sorted(needed)) for name, needed in DIAMOND.items()}
    engine_of_tests.deploy(resources)
    engine_of_tests.delete()
    assert engine_of_tests.names("delete") == shuffled(SEED, DIAMOND)[::-1]


def test_a_bucket_with_a_name_is_checked_before_its_creation_only(engine_of_tests: Engine) -> None:
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "a-bucket-of-test-order"}}
    assert engine_of_tests.deploy({"bucket": bucket})["StackStatus"] == "CREATE_COMPLETE"
    assert engine_of_tests.deploy({"bucket": bucket, "slow": resource("Slow")})["StackStatus"] == "ROLLBACK_COMPLETE"
    assert engine_of_tests.calls == []


def test_fails_for_a_circle(engine_of_tests: Engine) -> None:
    stack = engine_of_tests.deploy({"a": resource("Fast", "b"), "b": resource("Fast", "a")})
    assert (stack["StackStatus"], engine_of_tests.calls) == ("CREATE_FAILED", [])
    assert "Circular dependency" in stack["StackStatusReason"]
