"""Filters of the records of flow logs."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.flow_logs import WHOLES
from tests.templates.models import by_id, model_of

FIELDS = "version, account, eni, source, destination, sport, dport, protocol, packets, bytes, start"
RIGHT = f"[{FIELDS}, end, action=REJECT, status]"


def said(pattern: str, flow: str, group: str = "!Ref Lines") -> list[str]:
    """What is wrong with a filter of what a flow log writes."""
    model = model_of(f"""{{Resources: {{
        Lines: {{Type: AWS::Logs::LogGroup}},
        Flow: {{Type: AWS::EC2::FlowLog, Properties: {{LogGroupName: !Ref Lines, {flow}}}}},
        Filter: {{Type: AWS::Logs::MetricFilter, Properties: {{LogGroupName: {group}, FilterPattern: '{pattern}'}}}}}}}}""")
    return [one.message for one in WHOLES["AWS::Logs::MetricFilter"](by_id(model, "Filter"))]


@pytest.mark.parametrize(
    ("pattern", "flow", "wrong"),
    [
        (f"[{FIELDS}, action=REJECT, status]", "TrafficType: ALL", "in field 12, and end is there"),
        (f'[{FIELDS}, action = "REJECT", status = "OK"]', "TrafficType: ALL", "in field 12, and end is there"),
        (RIGHT, "LogFormat: '${srcaddr} ${action}'", "in field 13, and nothing is there"),
        (RIGHT.replace("REJECT", '"REJECT"'), "TrafficType: ACCEPT", "in field 13, and Flow writes down only what is ACCEPT"),
        (RIGHT, "TrafficType: ACCEPT", "in field 13, and Flow writes down only what is ACCEPT"),
    ],
)
def test_no_record_has_the_action(pattern: str, flow: str, wrong: str) -> None:
    assert said(pattern, flow) == [f"the filter asks for REJECT {wrong}"]


@pytest.mark.parametrize(
    ("pattern", "wrong"),
    [
        (f"[{FIELDS}, end, action=reject, status]", "the filter asks for reject, and flow logs write REJECT"),
        (f"[{FIELDS}, end, action=REJECTED, status]", "the filter asks for REJECTED in field 13, and flow logs write REJECT"),
        (
            f"[{FIELDS}, end, action, status=SKIPPED]",
            "the filter asks for SKIPPED in field 14, and flow logs write OK, NODATA, SKIPDATA",
        ),
        ("{ $.action = REJECT }", "the filter reads JSON, and flow logs write words with spaces between them"),
    ],
)
def test_no_record_is_written_so(pattern: str, wrong: str) -> None:
    assert said(pattern, "TrafficType: ALL") == [wrong]


@pytest.mark.parametrize(
    ("pattern", "flow"),
    [
        (RIGHT, "TrafficType: REJECT"),
        (f'[{FIELDS}, end, action = "REJECT", status = "OK"]', "TrafficType: ALL"),
        (RIGHT, "TrafficType: ALL"),
        (RIGHT.replace("REJECT", '"REJECT"'), "TrafficType: ALL"),
        (RIGHT, "TrafficType: !Ref AWS::StackName"),
        ("[..., action=REJECT, status]", "TrafficType: ALL"),
        (f"[{FIELDS}, end, action=REJ*, status]", "TrafficType: ALL"),
        (f"[{FIELDS}, end, action, status=SKIP*]", "TrafficType: ALL"),
        ("[source, action=REJECTED]", "LogFormat: !Ref AWS::StackName"),
        (f"[{FIELDS}, end, action, status=NODATA]", "TrafficType: ACCEPT"),
        ("[source, action=REJECT]", "LogFormat: '${srcaddr} ${action}'"),
        ("[source, action=REJECT]", "LogFormat: !Ref AWS::StackName"),
    ],
)
def test_records_have_the_action(pattern: str, flow: str) -> None:
    assert said(pattern, flow) == []


def test_other_groups_have_other_lines() -> None:
    assert said("[action=REJECT]", "TrafficType: ACCEPT", "/other/lines") == []


@pytest.mark.parametrize("field", ["encryption-status", "asg-tag-2", "next-hop-interface-type", "next-hop-vpc-id"])
def test_fields_up_to_version_11_are_known_and_meant_by_those_like_them(field: str) -> None:
    wrong = f"{field[:-1]}x{field[-1]}"
    for written, found in ((field, []), (wrong, [f"no flow log has the field {wrong}; the nearest is {field}"])):
        model = model_of(f"Resources: {{Flow: {{Type: AWS::EC2::FlowLog, Properties: {{LogFormat: '${{{written}}}'}}}}}}")
        assert [one.message for one in WHOLES["AWS::EC2::FlowLog"](by_id(model, "Flow"))] == found
