"""Files for logrotate that programs of nodes write: logrotate reads them, and daemons go on in the new files."""

from __future__ import annotations

import pytest

from tests.analysis.test_cron_files import said

LOGS = """# our logs
compress
/var/log/node-setup.log {
    monthly
    rotate 12
    missingok
}
"/var/log/slurm/*.log" {
    weekly
    maxsize 500M
    create 0640 slurm slurm
    sharedscripts
    postrotate
        pkill -x --signal SIGUSR2 slurmctld || true
    endscript
}
"""
SLURM = "SlurmctldLogFile=/var/log/slurm/slurmctld.log\nSlurmctldPort=6817\n"
START = "#!/bin/bash\nset -euo pipefail\ninstall -m 0644 logs.logrotate /etc/logrotate.d/node-logs\n"
UNIT = "[Service]\nExecStart=/opt/a\nStandardOutput=append:/var/log/a/own.log\n"
OF_SLURM = LOGS[LOGS.index('"/var') :]
SCRIPT = LOGS[LOGS.index("    postrotate") : LOGS.index("}\n", LOGS.index("    postrotate"))]


def of(logs: str, **more: str) -> list[str]:
    files = {"start.sh": START, "logs.logrotate": logs, "slurm_additions.conf": SLURM, **more}
    return [message for name, message in said(files) if name != "start.sh"]


def judge(found: list[str], message: str | None) -> None:
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("500M", "500MB", "has maxsize 500MB in line 10, for which logrotate skips the block"),
        ("500M", "500m", "has maxsize 500m"),
        ("500M", "1.5G", "has maxsize 1.5G"),
        ("500M", "500000", None),
        ("maxsize 500M", "size=5k", None),
        ("rotate 12", "rotate twelve", "has rotate twelve"),
        ("rotate 12", "rotate -1", None),
        ("rotate 12", "maxage -1", "has maxage -1"),
        ("rotate 12", "rotat 12", "has rotat in line 5, which logrotate does not know; the nearest is rotate"),
        ("missingok", "missingok;", "has missingok; in line 6"),
        ("missingok", "compress yes", "has compress yes"),
        ("weekly", "weekly 3", None),
        ("weekly", "weekly monday", "has weekly monday"),
        ("0640 slurm", "0680 slurm", "has create 0680 slurm slurm"),
        ("create 0640 slurm slurm", "create slurm slurm", None),
        ("    endscript\n", "", "is not read to its end: the script in line 13 has no endscript"),
        ("    missingok\n}\n", "    missingok\n", "is not read to its end: the block in line 3 has no end"),
        ("/var/log/node-setup.log", "/var/log/slurm/own.log", "which is in the block of line 3 too: logrotate takes it once"),
        ("monthly", "hourly", "has hourly in line 4, and logrotate runs once a day"),
        ("/var/log/node-setup.log {", "/var/log/node-setup.log /var/log/b.log\n{", None),
        ("/var/log/node-setup.log {\n    monthly", "/var/log/node-setup.log { monthly", None),
    ],
)
def test_logrotate_reads_a_file(old: str, new: str, message: str | None) -> None:
    assert old in LOGS
    judge(of(LOGS.replace(old, new)), message)


def test_blocks_of_each_hour_need_a_timer_of_their_own() -> None:
    timer = f"{START}mkdir -p /etc/systemd/system/logrotate.timer.d\n"
    judge(of(LOGS.replace("monthly", "hourly"), **{"start.sh": timer}), None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (SCRIPT, "", "renames /var/log/slurm/slurmctld.log, and nothing has slurmctld open the new file"),
        (SCRIPT, "    copytruncate\n", None),
        (SCRIPT, "    copy\n", None),
        (SCRIPT, "    lastaction\n    systemctl reload slurmctld\n    endscript\n", None),
        (OF_SLURM, "", None),
    ],
)
def test_daemons_open_the_new_file(old: str, new: str, message: str | None) -> None:
    assert old in LOGS
    judge(of(LOGS.replace(old, new)), message)


def test_logs_that_nobody_of_slurm_writes_need_no_signal() -> None:
    judge(of(LOGS.replace(SCRIPT, ""), **{"slurm_additions.conf": "SlurmctldPort=6817\n"}), None)


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        (UNIT, "renames /var/log/a/own.log, and nothing has a.service open the new file"),
        (UNIT.replace("append:", "journal#"), None),
        (UNIT.replace("[Service]", "[Service]\nType=oneshot"), None),
    ],
)
def test_the_output_of_a_service_stays_in_the_open_file(unit: str, message: str | None) -> None:
    start = f"{START}cat > /etc/systemd/system/a.service <<'UNIT'\n{unit.replace('journal#/var/log/a/own.log', 'journal')}UNIT\n"
    judge(of("/var/log/a/*.log {\n    weekly\n}\n", **{"start.sh": start}), message)


@pytest.mark.parametrize(("name", "message"), [("a.bak", "files that end in .bak"), ("a.disabled", None), ("a.conf", None)])
def test_logrotate_passes_over_files_by_their_names(name: str, message: str | None) -> None:
    files = {"start.sh": START.replace("node-logs", name), "logs.logrotate": LOGS}
    judge([one for _, one in said(files)], message)
