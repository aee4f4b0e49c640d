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


def names(resource: Resource) -> Slips:
    """A name is that of a resource in the template, or surely of another one."""
    for path, owner in USES[resource.type].items():
        there = [known(one.get(*NAMES[owner].split("/"))) for one in resource.template.model.resources(owner)]
        for place, value in place_in(resource.get(), path):
            meant = typo_of(known(value) or "", [one for one in there if one])
            if meant is not None:
                yield Slip(f"no {owner} is called {value!s}; did you mean {meant}?", meant, place, value, dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = dict.fromkeys(USES, names)
