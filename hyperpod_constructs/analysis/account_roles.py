"""Roles that pods take by the tokens of service accounts, and accounts that the roles are not for: of add-ons, and of charts.

A chart is a custom resource whose values have a service account with the annotation for a role.

Source: https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.addons import Addon, addons
from hyperpod_constructs.analysis.custom_resources import PREFIXES
from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.web_identities import is_of_account, is_of_services_alone, subjects_of, trust_of
from hyperpod_constructs.facts.addons import SUBJECT, subjects
from hyperpod_constructs.facts.kubernetes_objects import OF_ROLE
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import Value, as_items, as_str, at

_TRUST, _INLINE, _VALUES = "AssumeRolePolicyDocument", "PodIdentityAssociations", ("Values", "values")
_CONFIGURATION = "ConfigurationValues"


class Stranger(NamedTuple):
    """A role, or an identity of an add-on, that is for another service account than that of the pods.

    :param allowed: the accounts of the pods, in words, if they are known.
    """

    resource: Resource
    path: tuple[str | int, ...]
    message: str
    covers: tuple[Resource, ...] = ()
    allowed: str | None = None


def strangers(model: Model) -> Iterator[Stranger]:
    """The roles of add-ons and charts that are surely not for the service accounts of their pods."""
    for addon in addons(model):
        yield from _of_addon(addon)
    for resource in model.resources():
        if resource.type.startswith(PREFIXES):
            yield from _of_chart(resource)


def _of_addon(addon: Addon) -> Iterator[Stranger]:
    misfits = list(_misfits(addon))
    exchanged = _exchanged(misfits)
    if exchanged:
        text = f"the roles {enumerated(one.logical_id for one in exchanged)} are each for the service account of another of them"
        yield Stranger(addon.resource, (_CONFIGURATION,), text, exchanged)
    for role, _, text in misfits:
        if role not in exchanged:
            yield Stranger(role, (_TRUST,), text, (addon.resource,))
    names = [one.service_account for one, _ in addon.identities]
    for index, one in enumerate(as_items(addon.resource.get(_INLINE)) or ()):
        name = known(at(one, "ServiceAccount"))
        if name and names and name not in names:
            text = f"{addon.name} has no service account {name}"
            yield Stranger(addon.resource, (_INLINE, index, "ServiceAccount"), text, allowed=enumerated(names))


def _of_chart(chart: Resource) -> Iterator[Stranger]:
    """The service accounts in the values of a chart, whose roles are in the model."""
    key = next((one for one in _VALUES if one in chart.properties), None)
    namespace = as_str(chart.get("Namespace"))
    for path, account in _accounts(() if key is None else values_in(chart.get(key))):
        role, name = resource_of(at(account, "annotations", OF_ROLE), ROLE), as_str(at(account, "name"))
        subject = (f"{SUBJECT}{namespace}:{name}",) if namespace and name else ()
        text = None if role is None else _misfit(role, subject, f"the pods of {chart.logical_id}")
        if role is not None and key is not None and text is not None:
            place = (key, *path, "annotations", OF_ROLE) if isinstance(chart.get(key), Mapping) else (key,)
            yield Stranger(chart, place, text, (role,))


def _accounts(values: Value) -> Iterator[tuple[tuple[str, ...], Mapping[str, Value]]]:
    """The service accounts in the values of a chart that have a role, with their paths."""
    waiting: list[tuple[tuple[str, ...], Value]] = [((), values)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Mapping):
            annotations = value.get("annotations")
            if isinstance(annotations, Mapping) and OF_ROLE in annotations:
                yield path, value
            waiting += [((*path, key), one) for key, one in value.items()]


class _Misfit(NamedTuple):
    """A role that is not for the accounts of the pods that take it."""

    role: Resource
    accounts: tuple[str, ...]
    message: str


def _misfits(addon: Addon) -> Iterator[_Misfit]:
    """The roles of an add-on, for all its accounts or for one in its configuration, that its pods cannot take."""
    given = resource_of(addon.resource.get("ServiceAccountRoleArn"), ROLE)
    taken = [(given, subjects(addon.name))] if given is not None else []
    for role, accounts in (*taken, *((role, (one.subject,)) for one, role in addon.configured_roles)):
        text = _misfit(role, accounts, f"the pods of {addon.name}")
        if text is not None:
            yield _Misfit(role, accounts, text)


def _exchanged(misfits: Sequence[_Misfit]) -> tuple[Resource, ...]:
    """The roles in each other's places: each is given where another of them belongs."""
    found = [one.role for one in misfits if any(other is not one and _takes(other.role, one.accounts) for other in misfits)]
    return tuple(found) if len(found) > 1 else ()


def _takes(role: Resource, accounts: tuple[str, ...]) -> bool:
    """Whether the trust of a role names one of some accounts."""
    return any(is_of_account(one, accounts) for statement in trust_of(role) for one in subjects_of(statement))


def _misfit(role: Resource, accounts: tuple[str, ...], pods: str) -> str | None:
    """Why pods with one of some accounts cannot take a role by a token, in words."""
    trusted = [one for statement in trust_of(role) for one in subjects_of(statement)]
    if is_of_services_alone(role):
        return f"{role.logical_id} trusts no provider of web identities, and {pods} take it by a token"
    if accounts and trusted and not any(is_of_account(one, accounts) for one in trusted):
        return f"{role.logical_id} is for {enumerated(trusted)}, and {pods} are {enumerated(accounts)}"
    return None
