"""The start of the CloudWatch agent on nodes."""

from __future__ import annotations

import pytest

from tests.analysis.test_cron_files import said

AGENT = "/opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl"
TAKES = f"{AGENT} -a fetch-config -m ec2 -c file:/opt/agent.json"
LACKS = "take a configuration by fetch-config without -s, and nothing starts it"


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        (f"{TAKES} -s", None),
        (TAKES, LACKS),
        (f'run() {{ "$@"; }}\nrun {TAKES}', LACKS),
        (f"{TAKES}\nsystemctl enable amazon-cloudwatch-agent", LACKS),
        (f"{TAKES}\nsystemctl enable --now amazon-cloudwatch-agent", None),
        (f"{TAKES}\nsystemctl restart amazon-cloudwatch-agent.service", None),
        (f"{TAKES}\nservice amazon-cloudwatch-agent restart", None),
        (f"{TAKES}\n{AGENT} -a start", None),
        (f"{TAKES} $(more)", None),
        (f"{TAKES}\nfor one in a b; do systemctl restart $one; done", None),
        (f"{TAKES.replace('fetch', 'fech')} -s", "with -a fech-config, which it does not know"),
        (f"{TAKES.replace('ec2', 'EC2')} -s", "with -m EC2, which it does not know"),
        (f"{TAKES.replace('file:', '')} -s", "with -c /opt/agent.json, which says no place"),
        (f"{TAKES.replace('file:/opt/agent.json', 'ssm:agent')} -s", None),
        (f"{AGENT} -a status", None),
    ],
)
def test_the_agent_starts_with_its_configuration(commands: str, message: str | None) -> None:
    found = [one for _, one in said({"start.sh": f"#!/bin/bash\nset -euo pipefail\n{commands}\n"})]
    assert [message in one for one in found] == [True] if message else found == []
