from __future__ import annotations

from aws_cdk import CfnResource, Stack
from aws_cdk.assertions import Annotations, Match, Template
from constructs import Construct

from hyperpod_constructs._support.deferred import check_at_synthesis, deferred_text, deferred_value


def test_values_are_asked_for_at_synthesis(stack: Stack) -> None:
    words: list[str] = []
    properties = {"Text": f"{deferred_text(lambda: ' '.join(words))}!", "Words": deferred_value(lambda: words)}
    CfnResource(stack, "Resource", type="Test::Test::Test", properties=properties)
    words += ["too", "late"]
    Template.from_stack(stack).has_resource_properties("Test::Test::Test", {"Text": "too late!", "Words": ["too", "late"]})


def test_each_mistake_is_one_error_of_the_construct(stack: Stack) -> None:
    construct = Construct(stack, "Part")
    resource = Construct(construct, "Resource")
    Construct(resource, "Child")
    mistakes: list[str] = []
    asked: list[int] = []

    def found() -> list[str]:
        asked.append(len(mistakes))
        return mistakes

    check_at_synthesis(construct, found, resource=resource)
    mistakes += ["one", "two"]
    errors = Annotations.from_stack(stack).find_error("*", Match.any_value())
    assert [(error.id, error.entry.data) for error in errors] == [("/Stack/Part", "one"), ("/Stack/Part", "two")]
    assert asked == [2], "the child of the resource is not asked again"
