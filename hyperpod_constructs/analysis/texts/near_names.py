"""Names that a template writes as text, and that nearly are those of its resources.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-glue-crawler.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.texts.typo import typo_of
from hyperpod_constructs.facts.named_by_text import NAMES, USES
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource

_ALARM = "AWS::CloudWatch::Alarm"


def names(resource: Resource) -> Slips:
    """A name is that of a resource in the template, or surely of another one."""
    for path, owner in USES[resource.type].items():
        there = [known(one.get(*NAMES[owner].split("/"))) for one in resource.template.model.resources(owner)]
        places = [*place_in(resource.get(), path)]
        awaited = _awaited(resource, owner, [known(value) for _, value in places]) if owner == _ALARM else None
        for place, value in places:
            meant = typo_of(known(value) or "", [one for one in there if one]) or (awaited if known(value) not in there else None)
            if meant is not None:
                yield Slip(f"no {owner} is called {value!s}; did you mean {meant}?", meant, place, value, dead=True)


def _awaited(resource: Resource, owner: str, given: list[str | None]) -> str | None:
    """The name of the one resource of a type that another awaits by its DependsOn, and then does not name."""
    written = resource.raw.get("DependsOn")
    ids = written if isinstance(written, list) else [written]
    found = [one for one in resource.template.resources if one.type == owner and one.logical_id in ids]
    name = known(found[0].get(*NAMES[owner].split("/"))) if len(found) == 1 else None
    return None if name is None or name in given or None in given else name


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = dict.fromkeys(USES, names)
