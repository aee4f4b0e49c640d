"""The ways of functions that rotate secrets: to Secrets Manager, and of hosted ones, which CloudFormation makes, to databases.

Sources: https://docs.aws.amazon.com/secretsmanager/latest/userguide/troubleshoot_rotation.html,
https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotating-secrets-required-permissions-function.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-secretsmanager-rotationschedule-hostedrotationlambda.html
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from hyperpod_constructs.analysis.custom_resources import FUNCTION
from hyperpod_constructs.analysis.database import databases_of, secret_of
from hyperpod_constructs.analysis.interface_ways import Stopped, sides_of, to_database
from hyperpod_constructs.analysis.service_ways import to_service
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import Way
from hyperpod_constructs.facts.connections import ROTATING, Service
from hyperpod_constructs.facts.interfaces import HOSTED_ROTATION, INTERFACES, Interfaces
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference

_SERVICE = "secretsmanager"


def rotation_ways(model: Model) -> Iterator[Stopped]:
    """The ways of rotations that surely end; to a service the first of each."""
    for schedule in model.resources("AWS::SecretsManager::RotationSchedule"):
        user, places = _rotating(schedule)
        secret = secret_of(schedule.get("SecretId"))
        if user is None or user.get(*places.subnets) is ABSENT:
            continue
        databases = databases_of(secret) if user is schedule and secret is not None else ()
        for source in sides_of(user, places):
            ended = (way for way in _to_secrets(source, secret) if way.end is not None)
            yield from (Stopped(user, places.subnets, _SERVICE, way) for way in islice(ended, 1))
            found = ((one, way) for one in databases for way in to_database(source, one) if way.end is not None)
            yield from (Stopped(user, places.subnets, one.logical_id, way) for one, way in found)


def _rotating(schedule: Resource) -> tuple[Resource | None, Interfaces]:
    """What has the interfaces of a rotation: the schedule for its hosted function, or its function."""
    if schedule.get("HostedRotationLambda") is not ABSENT:
        return schedule, HOSTED_ROTATION
    return resource_of(schedule.get("RotationLambdaARN"), FUNCTION), INTERFACES[FUNCTION]


def _to_secrets(source: Side, secret: Resource | None) -> Iterator[Way]:
    """The ways of the calls of a rotation."""
    objects = () if secret is None else (Reference(secret),)
    for action in ROTATING:
        yield Way.of(source.name, _SERVICE, Traffic(), to_service(source, Service(name=_SERVICE, action=action), objects))
