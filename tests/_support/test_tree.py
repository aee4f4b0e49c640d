"""What is told of a construct's place is what jsii would tell."""

from __future__ import annotations

from aws_cdk import App, NestedStack, Stack, Stage
from constructs import Construct

from hyperpod_constructs._support.tree import app_of, path_of, placed, region_of, stack_of


def test_a_placed_construct_has_the_path_that_the_cdk_gives_it() -> None:
    stage = Stage(App(), "Stage")
    nested = NestedStack(Stack(stage, "Stack"), "Nested")
    scope: Construct = nested
    for id in ("Plain", "with/slashes", "Last"):
        made = Construct(scope, id)
        assert placed(made, scope, id) == path_of(made) == made.node.path
        assert stack_of(made) is nested
        scope = made


def test_the_root_and_the_region_are_those_of_the_stack() -> None:
    app = App()
    stack = Stack(app, "Stack", env={"region": "eu-west-1"})
    part = Construct(stack, "Part")
    assert app_of(part) is app
    assert region_of(part) == "eu-west-1"
    assert stack_of(stack) is stack
    assert path_of(app) == ""
