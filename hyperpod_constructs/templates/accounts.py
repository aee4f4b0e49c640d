"""The account of stacks whose environment is not known, as their templates name it.

ARNs and names of buckets in parameters and in some properties usually are of the own account; names of buckets end with it by
convention, or with it and the region, as that of CDK's assets. They count only if all name the same one.

Source: https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-customizing.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from hyperpod_constructs.templates.raw import Raw, walk

_KEYS = frozenset({"BucketName", "PrincipalArn", "S3Bucket", "SourceS3Uri", "TrainingPlanArn"})
"""Properties that name something of the own account."""
_IN_ARN = re.compile(r"arn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]*:(\d{12}):.*")
_IN_NAME = re.compile(r"(?:s3://|arn:aws[a-z-]*:s3:::)?[a-z0-9.-]+-(\d{12})(?:-[a-z]{2,4}(?:-[a-z]+)+-\d)?(?:/.*)?")


def claimed_account(templates: Iterable[Mapping[str, Raw]]) -> str:
    """The account that templates name as their own; empty if they name none, or several."""
    found = {account for template in templates for account in _claims(template)}
    return found.pop() if len(found) == 1 else ""


def _claims(template: Mapping[str, Raw]) -> Iterator[str]:
    for text in _texts(template):
        match = _IN_ARN.fullmatch(text) or _IN_NAME.fullmatch(text)
        if match is not None:
            yield match[1]


def _texts(template: Mapping[str, Raw]) -> Iterator[str]:
    parameters = template.get("Parameters")
    for one in parameters.values() if isinstance(parameters, dict) else ():
        default = one.get("Default") if isinstance(one, dict) else None
        if isinstance(default, str):
            yield default
    for value in walk(template.get("Resources")):
        for key in _KEYS.intersection(value) if isinstance(value, dict) else ():
            text = value[key] if isinstance(value, dict) else None
            if isinstance(text, str):
                yield text
