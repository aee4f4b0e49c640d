"""Backups that start while their resource makes its own."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.backup_times import WHOLES
from tests.templates.models import by_id, model_of

DAILY = "ScheduleExpression: cron(30 3 * * ? *)"
DATABASE = "Type: AWS::RDS::DBInstance, Properties: {PreferredBackupWindow: '04:00-05:00', BackupRetentionPeriod: 7}"


def said(rule: str = DAILY, resource: str = DATABASE, chosen: str = "!GetAtt Kept.DBInstanceArn") -> int:
    """The number of mistakes in a plan for one resource."""
    model = model_of(f"""{{Resources: {{
        Kept: {{{resource}}},
        Plan: {{Type: AWS::Backup::BackupPlan, Properties: {{BackupPlan: {{BackupPlanRule: [{{{rule}}}]}}}}}},
        Chosen: {{Type: AWS::Backup::BackupSelection, Properties: {{
            BackupPlanId: !Ref Plan, BackupSelection: {{Resources: [{chosen}]}}}}}}}}}}""")
    return len(list(WHOLES["AWS::Backup::BackupPlan"](by_id(model, "Plan"))))


def homes(start: str, days: int = 7) -> str:
    own = f"DailyAutomaticBackupStartTime: '{start}', AutomaticBackupRetentionDays: {days}"
    return f"Type: AWS::FSx::FileSystem, Properties: {{OpenZFSConfiguration: {{{own}}}}}"


@pytest.mark.parametrize(
    ("rule", "resource", "wrong"),
    [
        (DAILY, DATABASE, 1),
        ("ScheduleExpression: cron(0 5 * * ? *)", DATABASE, 0),
        ("ScheduleExpression: cron(59 4 * * ? *)", DATABASE, 1),
        ("ScheduleExpression: cron(0 3 ? * * *)", DATABASE, 1),
        ("ScheduleExpression: cron(59 2 * * ? *)", DATABASE, 0),
        (f"{DAILY}, EnableContinuousBackup: true", DATABASE, 0),
        (f"{DAILY}, ScheduleExpressionTimezone: Europe/Berlin", DATABASE, 0),
        ("ScheduleExpression: cron(30 3 ? * SUN *)", DATABASE, 0),
        (DAILY, DATABASE.replace("7", "0"), 0),
        ("ScheduleExpression: cron(0 0 * * ? *)", DATABASE.replace("04:00-05:00", "23:45-00:15"), 1),
        (DAILY, homes("03:15"), 1),
        (DAILY, homes("03:45"), 0),
        (DAILY, homes("03:15", days=0), 0),
    ],
)
def test_a_backup_does_not_meet_another(rule: str, resource: str, wrong: int) -> None:
    attribute = "DBInstanceArn" if "RDS" in resource else "ResourceARN"
    assert said(rule, resource, f"!GetAtt Kept.{attribute}") == wrong
