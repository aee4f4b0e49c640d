"""Custom resources and the functions that make them: called by CloudFormation itself, or by the framework of CDK's providers.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html and
https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.custom_resources-readme.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import at

FUNCTION, PREFIXES = "AWS::Lambda::Function", ("Custom::", "AWS::CloudFormation::CustomResource")
ON_EVENT, IS_COMPLETE = "USER_ON_EVENT_FUNCTION_ARN", "USER_IS_COMPLETE_FUNCTION_ARN"
"""The variables by which the framework knows the functions of its user."""


def makers(model: Model) -> Mapping[Resource, Resource]:
    """By custom resource: the function that CloudFormation calls for it; computed once."""
    return model.cached(makers, lambda: dict(_makers(model)))


def _makers(model: Model) -> Iterator[tuple[Resource, Resource]]:
    for one in model.resources():
        function = resource_of(one.get("ServiceToken"), FUNCTION) if one.type.startswith(PREFIXES) else None
        if function is not None:
            yield one, function


def maker_itself(resource: Resource) -> Resource | None:
    """The function that makes a custom resource: its user's, if CloudFormation calls the framework."""
    maker = makers(resource.template.model).get(resource)
    behind = None if maker is None else resource_of(maker.get("Environment", "Variables", ON_EVENT), FUNCTION)
    return behind or maker


def made_by(function: Resource) -> tuple[Resource, ...]:
    """The custom resources that CloudFormation calls a function for."""
    return tuple(one for one, maker in makers(function.template.model).items() if maker is function)


def made_behind(function: Resource, *variables: str) -> tuple[Resource, ...]:
    """The custom resources for which a framework calls a function, which it knows by one of these variables."""
    return tuple(
        one
        for one, maker in makers(function.template.model).items()
        if any(resource_of(at(maker.get("Environment", "Variables"), name), FUNCTION) is function for name in variables)
    )
