"""Expressions, matchers and scrape configurations of Prometheus: each mistake is one finding, and correct ones have none."""

from __future__ import annotations

from base64 import b64encode

import pytest

from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import ALERTS, BASES, RULES

BASE = BASES["prometheus"]
EXPRESSION = 'sum by (instance) (rate(up{job=~"no.*"}[5m])) == 0'
SCRAPE = """
global: {scrape_interval: 30s, external_labels: {cluster: a}}
scrape_configs:
- job_name: pods
  scrape_timeout: 10s
  kubernetes_sd_configs: [{role: pod}]
  relabel_configs:
  - {source_labels: [__name__], action: keep, regex: "(a|b)[)]"}
  - {regex: "a(.*)", action: labelmap}
"""


def said(path: str, text: str) -> list[str]:
    return [one.message for one in findings(edited(BASE, {path: text}), rules="HP-TXT")]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("maximum by (instance) (up)", "has the aggregation maximum"),
        ("up = 0", "has the operator ="),
        ("up >> 0", "has the operator >>"),
        ("up > 0 && absent(up)", "has the operator &&"),
        ("avg(up) by instance", "has by without parentheses"),
        ("rates(up[5m])", "has the function rates; the nearest is rate"),
        ("sum(rate(up{job='a'}))", "has rate of up without a range"),
        ("increase(DCGM_FI_DEV_XID_ERROR[5m]) > 0", "asks for DCGM_FI_DEV_XID_ERROR; the nearest is DCGM_FI_DEV_XID_ERRORS"),
        ("node:free:ratios < 1", "asks for node:free:ratios; the nearest is node:free:ratio"),
        ("DCGM_FI_DEV_GPU_TEMPERATURE > 85", "the nearest is DCGM_FI_DEV_GPU_TEMP"),
        ("DCGM_FI_DEV_GPU_TEMP > 85C", "has the number 85C"),
        ("DCGM_FI_DEV_GPU_UTIL > 100", "asks for DCGM_FI_DEV_GPU_UTIL > 100, and it is 100 at most"),
        ("max by (Hostname) (DCGM_FI_PROF_SM_ACTIVE{gpu='0'}) >= 90", "and it is 1 at most"),
        ("avg(up) by (job) < -1", "and it is never below 0"),
    ],
)
def test_fails_expression(expression: str, message: str) -> None:
    (found,) = said("Groups/Data", RULES.replace(EXPRESSION, expression))
    assert message in found


@pytest.mark.parametrize(
    "expression",
    [
        "absent(DCGM_FI_DEV_GPU_UTIL)",
        "DCGM_FI_DEV_GPU_TEMP_LIMIT > 8.5e1 and up == 1 and node_load15 > 0x1F and other > 1_000",
        "avg(DCGM_FI_PROF_SM_ACTIVE) * 100 > 90",
        "sum(DCGM_FI_DEV_GPU_UTIL) > 100",
        "rate(up[1h30m] offset 15m) > .5",
        "DCGM_FI_DEV_GPU_UTIL >= 100",
        "max_over_time(sum by (instance) (rate(up[1m]))[1h:1m])",
        "histogram_quantile(0.9, sum by (le) (rate(request_seconds_bucket[5m])))",
        "up{job=~'a|b'} >= bool -1 and up != +Inf * -2 ^ -1",
        "COUNT (up == 0) OFFSET 5m or on() vector(0)",
        "topk(3, other:recorded:ratio) * on (instance) group_left (node) up",
        "quantile_over_time(0.9, up[5m]) unless label_replace(up, 'a', '$1', 'b', '(rates)')",
    ],
)
def test_expressions_of_promql(expression: str) -> None:
    assert said("Groups/Data", RULES.replace(EXPRESSION, expression)) == []


@pytest.mark.parametrize(
    ("text", "message"), [("{{ $label.instance }}", "$label; the nearest is labels"), ("{{ $value", "without }}")]
)
def test_fails_text_of_alert(text: str, message: str) -> None:
    (found,) = said("Groups/Data", RULES.replace("{{ $labels.instance }}", text))
    assert message in found


def test_fails_annotation_that_is_no_text() -> None:
    (found,) = said("Groups/Data", RULES.replace('"{{ $labels.instance }} is down"', "[a, b]"))
    assert "summary of groups/0/rules/1 is" in found


@pytest.mark.parametrize(
    ("topic", "said_of_it"),
    [
        ("Topic.TopicName", ["topic_arn is TopicName of Topic"]),
        ("Topic.TopicArn", []),
        ("Topic", []),
    ],
)
def test_a_topic_of_the_stack_is_given_by_its_arn(topic: str, said_of_it: list[str]) -> None:
    text = {"Fn::Sub": ALERTS.replace("arn:aws:sns:us-west-2:123456789012:alerts", f"${{{topic}}}")}
    changes = {"Topic": {"Type": "AWS::SNS::Topic"}, "Workspace/AlertManagerDefinition": text}
    assert [one.message for one in findings(edited(BASE, changes), rules="HP-TXT")] == said_of_it


OWN = "arn:${AWS::Partition}:sns:${AWS::Region}:${AWS::AccountId}:"


@pytest.mark.parametrize(
    ("arn", "said_of_it"),
    [
        (f"{OWN}team-on-call", []),
        (f"{OWN}team-oncall", ["no AWS::SNS::Topic is called team-oncall; the nearest is team-on-call"]),
        (f"{OWN}team-on-cal", []),
        (f"{OWN}tean-on-call", ["no AWS::SNS::Topic is called tean-on-call; the nearest is team-on-call"]),
        (f"{OWN}others", []),
        ("arn:aws:sns:us-west-2:999999999999:team-oncall", []),
    ],
)
def test_a_topic_of_the_account_has_the_name_of_one_of_the_stack(arn: str, said_of_it: list[str]) -> None:
    text = {"Fn::Sub": ALERTS.replace("arn:aws:sns:us-west-2:123456789012:alerts", arn)}
    topic = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "team-on-call"}}
    changes = {"Topic": topic, "Workspace/AlertManagerDefinition": text}
    assert [one.message for one in findings(edited(BASE, changes), rules="HP-TXT")] == said_of_it


@pytest.mark.parametrize("service", ["aps.amazonaws.com", "events.amazonaws.com"])
def test_a_topic_that_is_named_in_full_lets_prometheus_in(service: str) -> None:
    text = {"Fn::Sub": ALERTS.replace("arn:aws:sns:us-west-2:123456789012:alerts", f"{OWN}alerts")}
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sns:Publish", "Resource": {"Ref": "Topic"}}
    policy = {"Topics": [{"Ref": "Topic"}], "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}
    changes = {
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "alerts"}},
        "TopicPolicy": {"Type": "AWS::SNS::TopicPolicy", "Properties": policy},
        "Workspace/AlertManagerDefinition": text,
    }
    found = findings(edited(BASE, changes), rules="HP-DLV")
    assert [one.resource for one in found] == ["TopicPolicy"] * (service != "aps.amazonaws.com")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('severity="page"', "severity==page", "matchers/0 of route/routes/0"),
        ("sigv4: {region", "sigv4: {regions", "has no regions; the nearest is region"),
        ("topic_arn:", "subjects: a\n      topic_arn:", "the nearest is subject"),
        ("  receivers:", "  inhibit_rules: [{source_matcher: ['a=b']}]\n  receivers:", "the nearest is source_matchers"),
    ],
)
def test_fails_alert_manager(old: str, new: str, message: str) -> None:
    (found,) = said("Workspace/AlertManagerDefinition", ALERTS.replace(old, new))
    assert message in found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("scrape_timeout: 10s", "scrape_timeout: 40s", "asks each 30s, and waits 40s"),
        ("scrape_timeout: 10s", "scrape_timeout: ten", "scrape_timeout of scrape_configs/0 is ten"),
        ("role: pod", "role: pods", "has the role pods; the nearest is pod"),
        ("  relabel_configs", "  static_configs: [{targets: 'dcgm:9400'}]\n  relabel_configs", "has the targets dcgm:9400"),
        ("action: keep", "action: retain", "has the action retain"),
        ("action: labelmap", "action: replace", "no target_label"),
        ("relabel_configs", "relabel_config", "the nearest is relabel_configs"),
        ("(a|b)[)]", "(a|b", "parentheses that do not match"),
        ("external_labels", "external_label", "the nearest is external_labels"),
        ("scrape_configs", "scrape_config", "no list of scrape_configs"),
    ],
)
def test_fails_scrape_configuration(old: str, new: str, message: str) -> None:
    found = said("Scraper/ScrapeConfiguration/ConfigurationBlob", b64encode(SCRAPE.replace(old, new).encode()).decode())
    assert len(found) == 1
    assert message in found[0]


def test_correct_scrape_configuration_has_no_finding() -> None:
    assert said("Scraper/ScrapeConfiguration/ConfigurationBlob", b64encode(SCRAPE.encode()).decode()) == []


@pytest.mark.parametrize(
    ("end", "rules"), [("ws-0123abcd", []), ("${Metrics.WorkspaceId}", []), ("train", ["HP-SCH-007"]), ("${AWS::StackName}", [])]
)
def test_rules_are_of_a_workspace_by_its_id(end: str, rules: list[str]) -> None:
    arn = {"Fn::Sub": f"arn:${{AWS::Partition}}:aps:${{AWS::Region}}:${{AWS::AccountId}}:workspace/{end}"}
    resources = {
        "Metrics": {"Type": "AWS::APS::Workspace", "DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"},
        "Rules": {"Type": "AWS::APS::RuleGroupsNamespace", "Properties": {"Name": "a", "Workspace": arn, "Data": "groups: []"}},
    }
    assert [one.rule for one in findings({"Resources": resources}, rules="HP-SCH")] == rules


FILLED = """alertmanager_config: |
  route:
    receiver: operators
    group_by: [alertname]
  receivers:
    - name: operators
      sns_configs:
        - topic_arn: ${Topic}
          sigv4: {region: us-west-2}
"""


@pytest.mark.parametrize(
    ("old", "new", "is_lost"),
    [
        ("  route:\n", "", True),
        ("    receiver: operators\n", "   receiver: operators\n     x:\n", True),
        ("    - name: operators\n", "    - name: operators\n   wrong\n", True),
        ("  route:\n", "  ${Route}\n", False),
        ("    receiver: operators\n", "    receiver: ${Name}\n   x: y\n", False),
    ],
)
def test_a_text_with_holes_is_yaml_where_they_cannot_mend_it(old: str, new: str, is_lost: bool) -> None:
    text = {"Fn::Sub": [FILLED.replace(old, new), {key: {"Ref": "AWS::StackName"} for key in ("Topic", "Route", "Name")}]}
    definition = {
        "Type": "AWS::APS::AlertManagerDefinition",
        "Properties": {"Workspace": "arn:aws:aps:us-west-2:1:w", "Definition": text},
    }
    assert [one.rule for one in findings({"Resources": {"A": definition}}, rules="HP-TXT-008")] == (
        ["HP-TXT-008"] if is_lost else []
    )


OTHERS = """
groups:
- name: others
  rules:
  - {record: "team:gpu_use:avg", expr: avg(DCGM_FI_DEV_GPU_UTIL)}
  - {record: "cluster:gpu_use:avg", expr: avg(DCGM_FI_DEV_GPU_UTIL)}
"""


def recorded(expression: str, others: str | dict[str, str] = OTHERS, workspace: str = "Workspace") -> list[str]:
    other = {"Workspace": {"Fn::GetAtt": [workspace, "Arn"]}, "Name": "others", "Data": others}
    second = {"Type": "AWS::APS::Workspace", "DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    changes = {
        "Groups/Data": RULES.replace(EXPRESSION, expression),
        "Others": {"Type": "AWS::APS::RuleGroupsNamespace", "Properties": other},
        **({} if workspace == "Workspace" else {workspace: second}),
    }
    return [one.message for one in findings(edited(BASE, changes), rules="HP-TXT")]


@pytest.mark.parametrize("name", ["team:gpu_idle:avg", "team:gpu_use:max", "team:nodes", "cluster:gpu_utilization:avg"])
def test_fails_series_that_no_rule_records(name: str) -> None:
    says = f"expr of groups/0/rules/1 asks for {name}, which no rule of the workspace records"
    assert recorded(f"max_over_time({name}[1h:5m]) < 5") == [says]


@pytest.mark.parametrize(
    "expression",
    [
        "team:gpu_use:avg < 5",
        'sum by (node) (cluster:gpu_use:avg{a="team:x:y"}[1h:5m])',
        "cluster:namespace:pod_cpu:active:kube_pod_container_resource_requests > 1",
        "instance:node_cpu:ratio > 1",
        "others:gpu_use:avg > 1",
        "team_gpu_idle > 1",
    ],
)
def test_series_that_a_rule_of_another_namespace_records_or_that_may_come_from_elsewhere(expression: str) -> None:
    assert recorded(expression) == []


@pytest.mark.parametrize(
    ("others", "workspace"),
    [
        ({"Fn::ImportValue": "rules"}, "Workspace"),
        ({"Fn::Sub": OTHERS.replace("cluster:gpu_use:avg", "team:${AWS::StackName}:avg")}, "Workspace"),
        (OTHERS, "Second"),
    ],
)
def test_series_that_unknown_rules_may_record(others: str | dict[str, str], workspace: str) -> None:
    assert recorded("team:gpu_idle:avg < 5", others, workspace) == []
