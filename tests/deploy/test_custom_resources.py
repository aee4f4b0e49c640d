"""The life of every custom resource: the real CDK CLI, the functions really run, and IAM is evaluated.

All resources are in one stack, which the command line creates, deploys again, changes, renames and destroys. What fails goes to
CloudFormation directly, and every failing resource at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import botocore.session
import pytest
from aws_cdk import App, Environment, Stack
from constructs import Construct

from tests.custom_resources.case import Case, Variant, all_cases
from tests.custom_resources.synthesized import variants
from tests.custom_resources.world import SCRIPTS, World
from tests.deploy.conftest import MODELS, Cloud, running_cloud
from tests.patience import until

NAME = "Custom-Resources"
CASES = all_cases()
T = TypeVar("T")


class Served(World):
    """A world of its own behind an endpoint: cases share the account, the role and the bucket."""

    def __init__(self, cloud: Cloud, role: str) -> None:
        super().__init__()
        self.account, self.region, self._cloud = cloud.aws.account, cloud.aws.region, cloud
        self._made = newer_clients(cloud)
        ec2 = cloud.client("ec2")
        self.vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
        self.subnet = ec2.create_subnet(VpcId=self.vpc, CidrBlock="10.1.0.0/24")["Subnet"]["SubnetId"]
        self.security_group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=self.vpc)["GroupId"]
        self.role = role

    def client(self, service: str) -> Any:
        return self._made(service)

    def faults(self, **faults: Any) -> None:
        self._cloud._set_faults(faults)

    def wait(self, look: Callable[[], T | None], what: str) -> T:
        return until(look, what)


def newer_clients(cloud: Cloud) -> Callable[[str], Any]:
    """Clients that know every operation of the embedded AWS, also those that the installed botocore lacks."""
    session = botocore.session.Session()
    session.get_component("data_loader").search_paths.insert(0, str(MODELS))

    @cache
    def client(service: str) -> Any:
        return session.create_client(
            service,
            region_name=cloud.aws.region,
            endpoint_url=cloud.aws.endpoint,
            aws_access_key_id=cloud.aws.access_key_id,
            aws_secret_access_key=cloud.aws.secret_access_key,
        )

    return client


def furnish(cloud: Cloud) -> str:
    """Make what all worlds share; returns the ARN of the role."""
    iam, s3 = cloud.client("iam"), cloud.client("s3")
    statement = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    role = iam.create_role(RoleName="nodes", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    iam.attach_role_policy(RoleName="nodes", PolicyArn="arn:aws:iam::aws:policy/AdministratorAccess")
    s3.create_bucket(Bucket=SCRIPTS, CreateBucketConfiguration={"LocationConstraint": cloud.aws.region})
    s3.put_object(Bucket=SCRIPTS, Key="v1/on_create.sh", Body=b"#!/bin/bash\n")
    return str(role)


class Story:
    """The cloud with the worlds of all cases, and the assembly with every stack of the story."""

    def __init__(self, cloud: Cloud, directory: Path) -> None:
        self.cloud, role = cloud, furnish(cloud)
        self.worlds = {case.name: Served(cloud, role) for case in CASES}
        for case in CASES:
            case.prepare(self.worlds[case.name])
        self.app = App(outdir=str(directory))
        self.stack("Working", {case.name: Variant.WORKING for case in CASES})
        self.stack("Changed", {case.name: Variant.CHANGED for case in CASES})
        self.stack("Renamed", {case.name: _renamed(case) for case in CASES})
        for case in CASES:
            self.stack(f"Only-{case.name}", {case.name: Variant.WORKING})
            self.stack(f"Broken-{case.name}", {case.name: Variant.BROKEN})
        self.app.synth()
        self.directory = directory
        self.before = self.read()

    def stack(self, id: str, chosen: Mapping[str, Variant]) -> None:
        """Add a stack with these variants of these cases."""
        environment = Environment(account=self.cloud.aws.account, region=self.cloud.aws.region)
        stack = Stack(self.app, id, stack_name=NAME, env=environment)
        for case in CASES:
            if case.name in chosen:
                case.build(Construct(stack, case.name), self.worlds[case.name], chosen[case.name])

    def read(self) -> dict[str, Any]:
        """What the cases see."""
        return {case.name: dict(case.read(self.worlds[case.name])) for case in CASES}

    def deploy(self, id: str) -> str:
        """`cdk deploy` of a stack of the story; its output."""
        run = self.cloud.deploy(self.directory, id)
        assert run.code == 0, run.output
        return run.output

    def template(self, id: str) -> str:
        """The template of a stack of the story."""
        return (self.directory / f"{id}.template.json").read_text("utf-8")

    def ended(self, names: list[str]) -> dict[str, str]:
        """Wait until these stacks have ended what they do; their statuses."""

        def look() -> dict[str, str] | None:
            statuses = {name: self.cloud.status(name) for name in names}
            return None if any(status.endswith("_IN_PROGRESS") for status in statuses.values()) else statuses

        return until(look, f"the end of {', '.join(names)}")

    def physical_ids(self) -> dict[str, str]:
        """Of the custom resources, by case."""
        pages = self.cloud.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=NAME)
        listed = [found for page in pages for found in page["StackResourceSummaries"]]
        return {
            case.name: found["PhysicalResourceId"]
            for case in CASES
            for found in listed
            if found["ResourceType"].startswith("Custom::") and found["LogicalResourceId"].startswith(_logical(case))
        }


def _logical(case: Case) -> str:
    return "".join(letter for letter in case.name if letter.isalnum())


def _renamed(case: Case) -> Variant:
    return Variant.RENAMED if Variant.RENAMED in variants(case) else Variant.CHANGED


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    with running_cloud(tmp_path_factory.mktemp("custom"), auth=True) as cloud:
        yield Story(cloud, tmp_path_factory.mktemp("assembly"))


def test_create(story: Story) -> None:
    story.deploy("Working")
    assert sorted(story.physical_ids()) == [case.name for case in CASES]


def test_no_change(story: Story) -> None:
    before = story.read()
    assert "(no changes)" in story.deploy("Working")
    assert story.read() == before


def test_update(story: Story) -> None:
    before = story.physical_ids()
    story.deploy("Changed")
    assert story.physical_ids() == before


def test_rename(story: Story) -> None:
    before = story.physical_ids()
    story.deploy("Renamed")
    after = story.physical_ids()
    kept = [name for name, id in after.items() if id == before[name]]
    assert kept == [case.name for case in CASES if case.not_renamed]


def test_destroy(story: Story) -> None:
    run = story.cloud.destroy(story.directory, "Renamed")
    assert run.code == 0, run.output
    assert story.read() == story.before


def test_fails_create_and_rolls_back_or_is_deleted(story: Story) -> None:
    """Of each two stacks: one is rolled back, and one is left half-made and then deleted."""
    cloudformation = story.cloud.client("cloudformation")
    broken = [case for case in CASES if "Create" not in case.survives]
    names = {f"{end}-{_logical(case)}": (end, case) for case in broken for end in ("ROLLBACK", "DO-NOTHING")}
    for name, (end, case) in names.items():
        begin(cloudformation.create_stack, name, story.template(f"Broken-{case.name}"), OnFailure=end.replace("-", "_"))
    statuses = story.ended(list(names))
    for name, (end, case) in names.items():
        assert statuses[name] == ("ROLLBACK_COMPLETE" if end == "ROLLBACK" else "CREATE_FAILED")
        assert case.failure in story.cloud.cause(name)
        cloudformation.delete_stack(StackName=name)
    gone(story, list(names))
    assert story.read() == story.before


def test_fails_update_and_rolls_back(story: Story) -> None:
    cloudformation = story.cloud.client("cloudformation")
    names = {f"UPDATE-{_logical(case)}": case for case in CASES}
    for name, case in names.items():
        begin(cloudformation.create_stack, name, story.template(f"Only-{case.name}"))
    assert set(story.ended(list(names)).values()) == {"CREATE_COMPLETE"}
    before = story.read()
    for name, case in names.items():
        begin(cloudformation.update_stack, name, story.template(f"Broken-{case.name}"))
    for name, status in story.ended(list(names)).items():
        case = names[name]
        assert status == ("UPDATE_COMPLETE" if "Update" in case.survives else "UPDATE_ROLLBACK_COMPLETE")
        assert "Update" in case.survives or case.failure in story.cloud.cause(name)
        found = dict(case.read(story.worlds[case.name]))  # its own world only: stacks of others are being deleted
        assert found | before[case.name] == found
        cloudformation.delete_stack(StackName=name)
    gone(story, list(names))
    assert story.read() == story.before


def begin(operation: Callable[..., Any], name: str, template: str, **more: Any) -> None:
    operation(StackName=name, TemplateBody=template, Capabilities=["CAPABILITY_IAM"], **more)


def gone(story: Story, names: list[str]) -> None:
    """Wait until these stacks are gone."""

    def left() -> dict[str, str]:
        pages = story.cloud.client("cloudformation").get_paginator("list_stacks").paginate()
        listed = [found for page in pages for found in page["StackSummaries"] if found["StackName"] in names]
        return {found["StackName"]: found["StackStatus"] for found in listed if found["StackStatus"] != "DELETE_COMPLETE"}

    until(lambda: not left() or "DELETE_FAILED" in left().values(), "the deletions", left)
    assert left() == {}
