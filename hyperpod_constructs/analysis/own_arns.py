"""Topics and queues that a text names by an ARN in the account and the region of its stack.

    >>> [(one.service, one.name) for one in own_arns(alarm, "arn:aws:sns:us-west-2:123456789012:alerts")]
    [('sns', 'alerts')]

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import Text, Value, as_str

CHOSEN: Mapping[str, tuple[str, str]] = {"sns": ("AWS::SNS::Topic", "TopicName"), "sqs": ("AWS::SQS::Queue", "QueueName")}
"""By service: the type, and the property with its name."""

_OWN, _OTHER = "\ufffb", "\ufffc"
"""The account of the stack, and any other part that only the deployment knows."""
_ARN = re.compile(rf"\barn:[^:\s]*:(sns|sqs):([a-z0-9-]+|{_OTHER}):{_OWN}:([\w-]+(?:\.fifo)?)(?![\w{_OTHER}{_OWN}:])")


class OwnArn(NamedTuple):
    """An ARN in the account and the region of a stack.

    :param service: its service.
    :param name: its name.
    """

    service: str
    name: str

    def receivers(self, user: Resource) -> Iterator[Resource]:
        """What has the name, in the model of the resource that names it."""
        type_, key = CHOSEN[self.service]
        for one in user.template.model.resources(type_):
            if as_str(one.get(key)) == self.name and one.template.owner == user.template.owner:
                yield one


def own_arns(resource: Resource, value: Value) -> Iterator[OwnArn]:
    """The ARNs of topics and queues in a text of a resource; an unknown region is believed to be that of the stack."""
    parts = value.parts if isinstance(value, Text) else (value,) if isinstance(value, str) else ()
    if not any(isinstance(part, str) and "arn:" in part for part in parts):
        return
    text = "".join(part if isinstance(part, str) else _OWN if part == resource.template.owner else _OTHER for part in parts)
    owner = as_str(resource.template.owner)
    for service, region, name in _ARN.findall(text if owner is None else text.replace(f":{owner}:", f":{_OWN}:")):
        if region in (_OTHER, region_of(resource)):
            yield OwnArn(service, name)
