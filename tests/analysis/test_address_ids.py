"""Addresses of workspaces and file systems, with the ids in them."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.address_ids import WHOLES
from tests.templates.models import by_id, model_of

TEMPLATE = """
Parameters:
  Team: {{Type: String, Default: weavers}}
  Given: {{Type: String}}
Resources:
  Metrics: {{Type: AWS::APS::Workspace}}
  Boards: {{Type: AWS::Grafana::Workspace}}
  Home: {{Type: AWS::EFS::FileSystem}}
  Fast: {{Type: AWS::FSx::FileSystem}}
  Shared: {{Type: AWS::SSM::Parameter, Properties: {{Type: String, Value: a}}}}
  Agent:
    Type: AWS::EKS::Addon
    Properties:
      ConfigurationValues: !Sub '{{"at": "{0}"}}'
"""
METRICS = "https://aps-workspaces.${AWS::Region}.amazonaws.com/workspaces/"


@pytest.mark.parametrize(
    ("address", "wrong"),
    [
        (f"{METRICS}${{Metrics.WorkspaceId}}/api/v1/remote_write", None),
        (f"{METRICS}ws-12345678-aaaa", None),
        (f"{METRICS}ws-${{Given}}", None),
        (f"{METRICS}${{Given}}", None),
        (f"{METRICS}${{Shared.Value}}", None),
        (f"{METRICS}$WORKSPACE", None),
        (f"{METRICS}${{Team}}", "'weavers'"),
        (f"{METRICS}weavers/api/v1/query", "'weavers'"),
        (f"{METRICS}${{Metrics}}", "Metrics"),
        (f"{METRICS}${{Metrics.Arn}}/", "Metrics.Arn"),
        (f"{METRICS}${{Boards}}", "Boards"),
        ("https://${Boards}.grafana-workspace.${AWS::Region}.amazonaws.com", None),
        ("https://${Team}.grafana-workspace.us-west-2.amazonaws.com", "'weavers'"),
        ("https://${Metrics.WorkspaceId}.grafana-workspace.us-west-2.amazonaws.com", "Metrics.WorkspaceId"),
        ("${Home}.efs.${AWS::Region}.amazonaws.com:/", None),
        ("us-west-2a.${Home}.efs.us-west-2.amazonaws.com", None),
        ("${Fast}.efs.us-west-2.amazonaws.com", "Fast"),
        ("${Home.Arn}.efs.us-west-2.amazonaws.com", "Home.Arn"),
        ("${Fast}.fsx.us-west-2.amazonaws.com@tcp:/abc", None),
        ("${Team}.fsx.us-west-2.amazonaws.com@tcp:/abc", "'weavers'"),
    ],
)
def test_addresses_have_the_id_of_what_they_lead_to(address: str, wrong: str | None) -> None:
    agent = by_id(model_of(TEMPLATE.format(address)), "Agent")
    said = [slip.message for slip in WHOLES[agent.type](agent)]
    assert len(said) == (wrong is not None)
    assert wrong is None or wrong in said[0]
