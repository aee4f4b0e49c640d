"""The bucket in which functions answer CloudFormation: the region in its name has no hyphens."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.answer_buckets import WHOLES
from tests.templates.models import by_id, model_of

BUCKET = "arn:aws:s3:::cloudformation-custom-resource-response-"
OWN = "!Join ['', !Split ['-', !Ref AWS::Region]]"


def places(type_: str, properties: str) -> list[str]:
    """Where a resource names a bucket that is not there."""
    resource = by_id(model_of(f"{{Resources: {{User: {{Type: {type_}, Properties: {properties}}}}}}}"), "User")
    return ["/".join(map(str, one.path)) for one in WHOLES[type_](resource)]


def policy(resource: str) -> str:
    return f"{{PolicyDocument: {{Statement: [{{Effect: Allow, Action: 's3:PutObject', Resource: {resource}}}]}}}}"


@pytest.mark.parametrize(
    ("resource", "wrong"),
    [
        (f"!Sub '{BUCKET}${{AWS::Region}}/*'", True),
        (f"!Sub ['{BUCKET}${{AWS::Region}}/${{Key}}', {{Key: '*'}}]", True),
        (f"!Join ['', ['{BUCKET}', !Ref AWS::Region, '/*']]", True),
        (f"!Join ['', [!Sub '{BUCKET}', !Ref AWS::Region]]", True),
        (f"'{BUCKET}us-gov-west-1/*'", True),
        (f"!Join ['', [!Sub '{BUCKET}', {OWN}, '/*']]", False),
        (f"!Sub ['{BUCKET}${{Region}}/*', {{Region: {OWN}}}]", False),
        (f"'{BUCKET}uswest2/*'", False),
        (f"'{BUCKET}*/*'", False),
        ("!Sub 'arn:aws:s3:::prod-${AWS::Region}-starport-layer-bucket/*'", False),
        ("!Ref Elsewhere", False),
    ],
)
def test_the_bucket_of_answers_has_the_region_without_hyphens(resource: str, *, wrong: bool) -> None:
    expected = ["PolicyDocument/Statement/0/Resource"] if wrong else []
    assert places("AWS::EC2::VPCEndpoint", policy(resource)) == expected


def test_the_bucket_is_named_in_a_list_of_a_role() -> None:
    own = policy(f"['*', '{BUCKET}us-west-2/*']")
    assert places("AWS::IAM::Role", f"{{Policies: [{own}]}}") == ["Policies/0/PolicyDocument/Statement/0/Resource/1"]
