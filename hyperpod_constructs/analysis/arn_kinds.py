"""ARNs with the name of a resource behind the word of another kind, such as `cluster:` before the name of an instance.

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from hyperpod_constructs.facts.arn_forms import FORMS, ArnForm, kinds_of
from hyperpod_constructs.templates.model import Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, Value

_HOLE = "\ufffc"
_ARN = re.compile(rf"arn:[^:]*:([a-z0-9-]+):[^:]*:[^:]*:([A-Za-z-]+)([/:]){_HOLE}")
_THING = re.compile(r"arn:[^:]*:([a-z0-9-]+):[^:]*:[^:]*:([A-Za-z-]+[/:])")
_BEGIN = re.compile(r"arn:aws:[^:]*:(?:\{place\}|:\{account\}|:):([A-Za-z-]+[/:])\{.*")


def other_kind(value: Value) -> tuple[str, str] | None:
    """Why the name at the end of an ARN is of another kind than the word before it, and what an ARN of the resource has."""
    parts = value.parts if isinstance(value, Text) else ("",)
    named = parts[-1] if isinstance(parts[-1], Reference) else None
    form = FORMS.get(target_of(named).type) if named is not None else None
    found = _ARN.fullmatch("".join(one if isinstance(one, str) else _HOLE for one in parts)) if form is not None else None
    if found is None or named is None or form is None or named.attribute not in form.names:
        return None
    service, kind, sign = found.groups()
    begin, target = begin_of(form), target_of(named)
    if begin is None or kind not in kinds_of(service) or (form.service, begin) == (service, f"{kind}{sign}"):
        return None
    types = tuple(_types(service, kind))
    if not (_is_made(form, target, types) if form.service == service else _have_ids(types)):
        return None
    return f"{target.logical_id} is an {target.type}, and the ARN one of {service} with {kind}{sign}", f"{form.service} and {begin}"


def thing_of(value: Value) -> str | None:
    """The service and the kind in an ARN, such as `sagemaker:cluster/`; `None` for another value, or if they are not known."""
    if isinstance(value, Reference):
        form = FORMS.get(target_of(value).type)
        begin = begin_of(form) if form is not None and value.attribute in form.arns else None
        return None if form is None or begin is None else f"{form.service}:{begin}"
    parts = value.parts if isinstance(value, Text) else (value,)
    found = _THING.match("".join(one if isinstance(one, str) else _HOLE for one in parts))
    return f"{found[1]}:{found[2]}" if found is not None else None


def _is_made(form: ArnForm, target: Resource, types: tuple[str, ...]) -> bool:
    """Whether the service makes the name of a resource, and nothing of these types takes it over."""
    chosen = form.chosen is not None and target.get(*form.chosen.split("/")) is not ABSENT
    others = (one for kind in types for one in target.template.model.resources(kind) if kind != target.type)
    return not chosen and not any(resource_of(one.get(*(FORMS[one.type].chosen or "-").split("/"))) is target for one in others)


def _have_ids(types: tuple[str, ...]) -> bool:
    """Whether the service makes the ids of all of these types, so that none has the name of something else."""
    return bool(types) and all(FORMS[one].chosen is None for one in types)


def _types(service: str, kind: str) -> Iterator[str]:
    return (one for one, form in FORMS.items() if form.service == service and (begin_of(form) or "")[:-1] == kind)


@cache
def _of(form: str) -> str | None:
    found = _BEGIN.fullmatch(form)
    return None if found is None else found[1]


def begin_of(form: ArnForm) -> str | None:
    """The word before the name in the ARN of a type, with its sign; `None` for an ARN without one."""
    return _of(form.form)
