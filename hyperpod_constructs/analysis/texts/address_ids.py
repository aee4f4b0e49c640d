"""Addresses of workspaces and file systems in texts: they have the id of one, and not a name, an ARN or an id of something else.

Source: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-APIReference.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.embedded import is_mark, marked, unmarked
from hyperpod_constructs.analysis.schema.violation import quoted
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.address_names import ADDRESSES, AddressForm
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, target_of
from hyperpod_constructs.templates.values import Part, Reference, Text, placed_leaves

PLACES: Mapping[str, tuple[str, ...]] = {
    "AWS::CodeBuild::Project": (),
    "AWS::ECS::TaskDefinition": ("ContainerDefinitions",),
    "AWS::EKS::Addon": ("ConfigurationValues",),
    "AWS::Lambda::Function": ("Environment",),
    "AWS::SSM::Document": ("Content",),
    "AWS::SSM::Parameter": ("Value",),
}
"""The types whose texts may have such addresses, and the property that has them; all properties for none."""
_FREE = ("AWS::CloudFormation::", "AWS::SSM::Parameter")
"""Types whose references may give anything."""
_NAME = re.compile(r"[A-Za-z0-9-]+")


def ids(resource: Resource) -> Slips:
    """The first address of each text of a resource that has no id in the place of one."""
    place = PLACES[resource.type]
    for path, leaf in placed_leaves(resource.get(*place)):
        text, parts = marked(leaf) if isinstance(leaf, str | Text) else (None, {})
        found = [] if text is None else [(one, name) for one in ADDRESSES for name in one.place.findall(text)]
        for form, name in found:
            words = _mistake(form, name, parts)
            if words is not None:
                message = f"the address of {form.service} has {words}; its place is for {form.name.words}"
                yield Slip(message, form.name.words, (*place, *path), leaf, dead=True)
                break


def _mistake(form: AddressForm, name: str, parts: Mapping[str, Part]) -> str | None:
    """What is in the place of an id and is surely none, in words; a variable of a program may be one."""
    first, begin = unmarked(name)[0], form.name.begin
    if not is_mark(first):
        may_be = not _NAME.fullmatch(first) or first.startswith(begin) or (first != name and begin.startswith(first))
        return None if may_be else quoted(first)
    part = parts[first]
    if not isinstance(part, Reference) or target_of(part).type.startswith(_FREE):
        return None
    of = FORMS.get(target_of(part).type)
    return None if of is None or (of.service == form.service and part.attribute in of.names) else quoted(part)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = dict.fromkeys(PLACES, ids)
