"""Outputs that are named after an attribute of a resource, and give something else of it.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/outputs-section-structure.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.analysis.references.forms import gives_arn
from hyperpod_constructs.analysis.references.kinds import in_words
from hyperpod_constructs.analysis.references.places import Misreference, entry, section
from hyperpod_constructs.facts.property_schemas import attributes, property_schema
from hyperpod_constructs.templates.model import Model, Template, target_of
from hyperpod_constructs.templates.values import Reference

_TELLING = re.compile(r"(arn|dnsname|domainname|mountname|address|endpoint|hostname|ur[il])\Z")
"""The ends of attributes that no other attribute of the type has; ids and names go by several names."""
_BY_ID = ("AWS::KMS::Key", "AWS::KMS::ReplicaKey")
"""Types whose id is taken for their ARN."""


def misnamed_outputs(model: Model) -> Iterator[Misreference]:
    """The outputs whose name is that of another attribute than they give."""
    return (found for one in model.templates if not one.rewritten for found in _of_template(one))


def _of_template(template: Template) -> Iterator[Misreference]:
    for name in section(template, "Outputs"):
        value = template.output(name)
        meant = _meant(_bare(name), value) if isinstance(value, Reference) else None
        if meant is not None and isinstance(value, Reference):
            message = f"the output {name} gives {in_words(value)}, and not its {meant}"
            allowed = f"{target_of(value).logical_id}.{meant}"
            yield Misreference(entry(template, "Outputs", name), (), message, value, allowed)


def _meant(name: str, value: Reference) -> str | None:
    """The attribute after which an output is named, if it surely gives another one."""
    target = target_of(value)
    given = value.attribute or str((property_schema(target.type) or {}).get("ref", ""))
    known = [one for one in attributes(target.type) or () if _TELLING.search(_bare(one))]
    meant = [one for one in known if name.endswith(_bare(one))]
    if not given or not meant or name.endswith(_bare(given)) or _bare(target.logical_id).endswith(_bare(meant[0])):
        return None
    of_arn = _bare(meant[0]).endswith("arn")
    same = gives_arn(value) is not False or target.type in _BY_ID if of_arn else any(_bare(one) in _bare(given) for one in meant)
    return None if same else max(meant, key=len)


def _bare(name: str) -> str:
    """The letters and digits of a name, without their case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
