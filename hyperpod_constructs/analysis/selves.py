"""Resources that name themselves where another one is meant, by a name or an ARN that they have chosen.

>>> [(one.resource.logical_id, one.path) for one, _ in selves(model)]
[('Models', ('ReplicationConfiguration', 'Rules', 0, 'Destination', 'Bucket'))]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.arns import Arn
from hyperpod_constructs.analysis.ends import End, ends
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.facts.selves import Other, others
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, Value, is_known


def selves(model: Model) -> Iterator[tuple[End, Other]]:
    """The places at which a resource names itself."""
    for one in others():
        for resource in model.resources(one.type):
            for end in ends(resource, one.way):
                if _is_itself(end.value, resource):
                    yield end, one


def _is_itself(value: Value, resource: Resource) -> bool:
    """Whether a value names its resource; an object that names nothing stands for it by default."""
    if isinstance(value, Mapping):
        return True
    form = FORMS.get(resource.type)
    name = ABSENT if form is None or form.chosen is None else resource.get(form.chosen)
    if name is ABSENT:
        return False
    if value == name:
        return isinstance(name, Text) or is_known(name)  # a text may have the account, which is known to be the same
    arns = () if form is None else form.arns
    return any(Arn(Reference(resource, arn)).covers(Arn(value)) is True for arn in arns)
