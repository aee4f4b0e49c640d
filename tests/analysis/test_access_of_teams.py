"""Access entries of teams, and subscriptions of log groups: what one more of them does."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.identities import WHOLES
from hyperpod_constructs.analysis.texts.service_logs import WHOLES as OF_LOGS
from tests.templates.models import by_id, model_of


@pytest.mark.parametrize(
    ("groups", "spaces", "wrong"),
    [
        ("[hyperpod-ns-vision-namespace-level-group]", "[hyperpod-ns-vision]", 0),
        ("[hyperpod-ns-vision-namespace-level-group]", "[hyperpod-ns-language]", 1),
        ("[hyperpod-ns-vision-namespace-level-group, hyperpod-ns-language-namespace-level-group]", "[hyperpod-ns-language]", 0),
        ("[hyperpod-ns-vision-namespace-level-group]", "['hyperpod-ns-*']", 0),
        ("[hyperpod-ns-vision-namespace-level-group]", "[hyperpod-ns-language, !Ref Other]", 0),
        ("[administrators]", "[hyperpod-ns-language]", 0),
        ("[hyperpod-ns-vision-namespace-level-group]", "[monitoring]", 0),
    ],
)
def test_a_group_and_a_policy_are_for_one_team(groups: str, spaces: str, wrong: int) -> None:
    policy = f"{{AccessScope: {{Type: namespace, Namespaces: {spaces}}}}}"
    model = model_of(f"""{{Parameters: {{Other: {{Type: String}}}}, Resources: {{Team: {{Type: AWS::EKS::AccessEntry,
        Properties: {{KubernetesGroups: {groups}, AccessPolicies: [{policy}]}}}}}}}}""")
    assert len(list(WHOLES["AWS::EKS::AccessEntry"](by_id(model, "Team")))) == wrong


@pytest.mark.parametrize(("third", "wrong"), [("!Ref Lines", 1), ("/lines", 1), ("!Ref Others", 0)])
def test_a_log_group_has_two_subscriptions(third: str, wrong: int) -> None:
    filters = "".join(
        f"{name}: {{Type: AWS::Logs::SubscriptionFilter, Properties: {{LogGroupName: {group}, FilterPattern: ''}}}}, "
        for name, group in (("A", "!Ref Lines"), ("B", "/lines"), ("C", third))
    )
    groups = "Lines: {Type: AWS::Logs::LogGroup, Properties: {LogGroupName: /lines}}, Others: {Type: AWS::Logs::LogGroup}"
    model = model_of(f"{{Resources: {{{filters}{groups}}}}}")
    found = [len(list(OF_LOGS["AWS::Logs::SubscriptionFilter"](by_id(model, name)))) for name in "ABC"]
    assert found == [0, 0, wrong]
