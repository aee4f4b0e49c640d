"""Templates of what a rule sends to its target: JSON, or lines of text in quotes."""

from __future__ import annotations

import json

import pytest

from hyperpod_constructs.analysis.texts.event_targets import WHOLES
from tests.templates.models import by_id, model_of

RULE = """
Resources:
  Rule:
    Type: AWS::Events::Rule
    Properties:
      EventPattern: {{source: [aws.sagemaker]}}
      Targets:
        - Id: a
          Arn: arn:aws:sns:us-west-2:123456789012:alerts
          InputTransformer: {{InputPathsMap: {{name: $.detail.ClusterName, all: $}}, InputTemplate: {template}}}
"""


@pytest.mark.parametrize(
    ("template", "count"),
    [
        ("<name> failed", 1),
        ('"<name> failed', 1),
        ('"<name> "failed"."', 1),
        ("{'name': <name>}", 1),
        ('"<name> failed"', 0),
        ('"<name> failed"\n"see <all>"\n', 0),
        ('"<name> \\"failed\\""', 0),
        ("<all>", 0),
        ('{"name": <name>,\n "all": <all>}', 0),
    ],
)
def test_a_template_is_json_or_lines_in_quotes(template: str, count: int) -> None:
    rule = by_id(model_of(RULE.format(template=json.dumps(template))), "Rule")
    assert len([*WHOLES[rule.type](rule)]) == count
