"""Custom resources and the functions that make them: called by CloudFormation itself, or by the framework of CDK's providers.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html and
https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.custom_resources-readme.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce

from hyperpod_constructs.analysis.data_forms import Data, Known, either
from hyperpod_constructs.analysis.function_answers import answer_of_function, tree_of
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, at

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


def attributes_of(resource: Resource) -> tuple[str, ...] | None:
    """The attributes that a custom resource surely has at most; `None` if its code does not say it."""
    maker = makers(resource.template.model).get(resource)
    given = ABSENT if maker is None else maker.get("Environment", "Variables")
    users = [value for name in (ON_EVENT, IS_COMPLETE) if (value := at(given, name)) is not ABSENT]
    if maker is None:
        return None
    forms = [_returned(resource_of(one, FUNCTION)) for one in users] if users else [_sent(maker)]
    found = reduce(either, forms)
    return None if found is None or found.is_open or found.items or found.words else tuple(found.members)


def _returned(user: Resource | None) -> Known:
    """What a function of a framework's user gives: the data of its answer."""
    answer = None if user is None else answer_of_function(user)
    return None if answer is None or answer.is_open else answer.members.get("Data", Data())


def _sent(maker: Resource) -> Known:
    """What a function sends to CloudFormation by `cfnresponse`."""
    tree = tree_of(maker)
    if tree is None:
        return None
    from hyperpod_constructs.analysis.sent_answers import data_sent  # few templates have code

    return data_sent(tree)
