"""The bucket in which functions answer CloudFormation, in policies: its name has the region without hyphens.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/vpc-interface-endpoints.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.connections import ANSWERS_BUCKET
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.raw import Raw

_HYPHENATED = re.compile(rf"{ANSWERS_BUCKET}(?P<region>\$\{{AWS::Region\}}|[a-z]{{2,4}}(?:-[a-z]+)+-\d)")


def names(resource: Resource) -> Slips:
    """A bucket with the region as it is otherwise written is not there."""
    for path, text in _texts(resource.raw.get("Properties"), ()):
        found = _HYPHENATED.search(text)
        if found is not None:
            message = f"{found[0]} is not there: the name of the bucket has the region without hyphens"
            yield Slip(message, f"{ANSWERS_BUCKET}uswest2 in us-west-2", path, found[0], dead=True)


def _texts(raw: Raw, path: Path) -> Iterator[tuple[Path, str]]:
    """The texts below a place, those of functions at the place of the function."""
    text = _spelled(raw)
    if text:
        yield path, text
        return
    items = raw.items() if isinstance(raw, dict) else enumerate(raw) if isinstance(raw, list) else ()
    for key, one in items:
        yield from _texts(one, path if isinstance(key, str) and key.startswith("Fn::") else (*path, key))


def _spelled(raw: Raw) -> str:
    """A text, with the region and other names as `Fn::Sub` has them; empty for anything else."""
    if isinstance(raw, str) or not isinstance(raw, dict) or len(raw) != 1:
        return raw if isinstance(raw, str) else ""
    match next(iter(raw.items())):
        case "Ref", name:
            return f"${{{name}}}"
        case "Fn::Sub", str(text) | [str(text), _]:
            return text
        case "Fn::Join", [str(between), [*parts]]:
            return between.join(_spelled(one) or "${}" for one in parts)
    return ""


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = dict.fromkeys(
    ("AWS::EC2::VPCEndpoint", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy", "AWS::IAM::Role"), names
)
