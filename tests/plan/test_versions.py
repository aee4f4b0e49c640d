"""Updates of what has versions: launch templates and their users, documents, Grafana."""

from __future__ import annotations

import pytest

from hyperpod_constructs.plan.effect import Effect
from tests.plan.templates import change, resource


def test_nodes_get_a_new_version_of_their_template() -> None:
    old, new = (
        {
            "Template": resource(
                "AWS::EC2::LaunchTemplate", LaunchTemplateData={"MetadataOptions": {"HttpPutResponseHopLimit": hops}}
            ),
            "Nodes": resource(
                "AWS::EKS::Nodegroup",
                ClusterName="training",
                LaunchTemplate={"Id": {"Ref": "Template"}, "Version": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]}},
            ),
            "Fixed": resource(
                "AWS::EKS::Nodegroup", ClusterName="training", LaunchTemplate={"Id": {"Ref": "Template"}, "Version": "1"}
            ),
        }
        for hops in (1, 2)
    )
    found = {one.resource: one for one in change({"Resources": old}, {"Resources": new}).rows}
    assert {name: one.effect for name, one in found.items()} == {"Template": Effect.NO_INTERRUPTION, "Nodes": Effect.ROLLING}
    assert "it refers to Template, which changes" in found["Nodes"].why


@pytest.mark.parametrize(("method", "effect"), [("NewVersion", Effect.NO_INTERRUPTION), ("Replace", Effect.REFUSED)])
def test_a_named_document_has_versions(method: str, effect: Effect) -> None:
    old, new = (
        {
            "A": resource(
                "AWS::SSM::Document", Name="sessions", UpdateMethod=method, Content={"schemaVersion": "1.0", "description": text}
            )
        }
        for text in ("one", "two")
    )
    assert [one.effect for one in change({"Resources": old}, {"Resources": new}).rows] == [effect]


@pytest.mark.parametrize(("version", "effect"), [("9.4", Effect.REFUSED), ("12.0", Effect.NO_INTERRUPTION)])
def test_grafana_goes_to_later_versions_only(version: str, effect: Effect) -> None:
    old, new = ({"A": resource("AWS::Grafana::Workspace", GrafanaVersion=one)} for one in ("10.4", version))
    assert [one.effect for one in change({"Resources": old}, {"Resources": new}).rows] == [effect]
