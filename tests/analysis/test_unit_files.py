"""Units of systemd that scripts of nodes write: what systemd takes, what it starts, and when."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.texts.unit_reader import UnitPlace, read_unit
from hyperpod_constructs.analysis.texts.unit_services import mistakes_of_limits
from hyperpod_constructs.analysis.unit_times import is_calendar, is_span
from hyperpod_constructs.facts.instance_types import instance_type
from tests.analysis.test_cron_files import said

UNITS = "/etc/systemd/system"
SERVICE = "[Unit]\nDescription=A\n[Service]\nExecStart=/opt/a\n[Install]\nWantedBy=multi-user.target\n"
ONCE = "[Service]\nType=oneshot\nExecStart=/opt/a\n"
TIMER = "[Unit]\nDescription=B\n[Timer]\nOnBootSec=5min\nOnUnitActiveSec=5min\n[Install]\nWantedBy=timers.target\n"
BOTH, SLURM = "systemctl enable --now {}", "[Service]\nExecStart=/opt/slurm/sbin/slurmd -D\n"


def script(*units: tuple[str, str], then: str = "true") -> str:
    texts = "".join(f"cat > {UNITS}/{name} <<'UNIT'\n{text}UNIT\n" for name, text in units)
    return f"#!/bin/bash\nset -euo pipefail\nmkdir -p {UNITS}/slurmd.service.d\n{texts}{then}\n"


def of(*units: tuple[str, str], then: str = "true") -> list[str]:
    return [message for _, message in said({"start.sh": script(*units, then=then)})]


def judge(found: list[str], message: str | None) -> None:
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Restart=always", None),
        ("Restart=allways", "has Restart=allways, which systemd refuses"),
        ("Type=oneshot\nRestart=always", "has Type=oneshot with Restart=always, which systemd refuses"),
        ("Type=oneshot\nRestart=on-success", "has Type=oneshot with Restart=on-success"),
        ("Type=oneshot\nRestart=on-failure", None),
        ("Type=simple\nRestart=on-success", None),
        ("Type=daemon", "has Type=daemon, which systemd refuses"),
        ("Type=dbus", "has Type=dbus without BusName"),
        ("Type=dbus\nBusName=org.a", None),
        ("ExecStart=/opt/b", "has ExecStart 2 times"),
        ("ExecStart=\nExecStart=/opt/b", None),
        ("Type=oneshot\nExecStart=/opt/b", None),
        ("ExecStart=", "has no ExecStart"),
        ("ExecStartPre=bin/b", "starts bin/b, which is no path from the root"),
        ("ExecStartPre=-/opt/b", None),
        ("ExecStartPre=true", None),
        ("ExecStartPre=/opt/b > /var/log/b", "starts /opt/b with > as an argument: no shell reads the command"),
        ("ExecStartPre=/bin/sh -c '/opt/b > /var/log/b'", None),
        ("ExecStopPost=/opt/b || true", "with || as an argument"),
        ("LimitMEMLOCK=64KB", "has LimitMEMLOCK=64KB, which systemd refuses"),
        ("LimitMEMLOCK=64K", None),
        ("LimitNOFILE=65536:1048576", None),
        ("LimitNICE=-5", None),
        ("LimitCPU=5min", None),
        ("LimitCPU=5minuts", "has LimitCPU=5minuts"),
        ("MemoryMax=4G", None),
        ("MemoryMax=40%", None),
        ("MemoryMax=4GB", "has MemoryMax=4GB"),
        ("RestartSec=10 seconds", None),
        ("RestartSec=10 secs", "has RestartSec=10 secs"),
        ("KillMode=processes", "has KillMode=processes"),
        ("KillSignal=SIGTERM", None),
        ("KillSignal=RTMIN+3", None),
        ("KillSignal=SIGTREM", "has KillSignal=SIGTREM"),
        ("UMask=0077", None),
        ("UMask=0088", "has UMask=0088"),
        ("Nice=30", "has Nice=30"),
        ("Nice=-5", None),
        ("OOMScoreAdjust=-1000", None),
        ("OOMScoreAdjust=-2000", "has OOMScoreAdjust=-2000"),
        ("StandardOutput=append:/var/log/a.log", None),
        ("StandardOutput=/var/log/a.log", "has StandardOutput=/var/log/a.log"),
        ("Environment=A=b C=d", None),
        ('Environment="A=b c"', None),
        ("Environment=A=b c", "has a word without a name, behind a space"),
        ("RuntimeDirectory=a b", None),
        ("RuntimeDirectory=/run/a", "has RuntimeDirectory=/run/a"),
        ("PrivateTmp=yess", "has PrivateTmp=yess"),
        ("PrivateTmp=YES", None),
        ("EnvironmentFile=-/etc/default/a", None),
        ("ReadWritePaths=/opt /var", None),
        ("ReadWritePaths=opt", "has ReadWritePaths=opt"),
        ("Umask=0077", "has Umask in [Service], which systemd passes over there"),
        ("After=network.target", "has After in [Service], which systemd passes over there"),
        ("WantedBy=multi-user.target", "has WantedBy in [Service]"),
        ("StartLimitIntervalSec=30", "has StartLimitIntervalSec in [Service]"),
        ("RestartSteps=5", None),
        ("X-Own=1", None),
        ("Colour=red", None),
        ("# Umask=0077\n; Umask=0077", None),
        ("ExecStartPre=/opt/b \\\n  --more", None),
        ("stray words", "has the line 'stray words', which is neither"),
        ("[Servce]", "has a section [Servce], which systemd passes over in a service"),
        ("[Timer]\nOnBootSec=5min", "has a section [Timer], which systemd passes over in a service"),
        ("[X-Own]\nA=1", None),
        ("[Unit]\nAfter=network", "has After=network, which systemd refuses"),
        ("[Unit]\nAfter=network-onlin.target", "has After=network-onlin.target, which no machine has"),
        ("[Unit]\nAfter=network-online.target own.target munge.service a@%i.service", None),
        ("[Install]\nWantedBy=multiuser.target", "has WantedBy=multiuser.target, which no machine has"),
        ("[Install]\nWantedBy=multi-user", "has WantedBy=multi-user, which systemd refuses"),
    ],
)
def test_systemd_takes_the_options_of_a_service(line: str, message: str | None) -> None:
    text = SERVICE.replace("ExecStart=/opt/a\n", f"ExecStart=/opt/a\n{line}\n")
    judge(of(("a.service", text), then=BOTH.format("a")), message)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("slurmd.service.d/10-a", SLURM, "systemd reads only files that end in .conf from a folder that adds to a unit"),
        ("slurmd.service.d/10-a.cnf", SLURM, "only files that end in .conf"),
        ("slurmd.service.d/10-a.conf", SLURM, None),
        ("slurmd.service.d/10-a.conf.off", SLURM, None),
        ("slurmd.service.d/10-a.conf", "[Service]\nRestart=always\n", None),
        ("slurmd.service.d/10-a.conf", "[Timer]\nOnBootSec=1\n", "has a section [Timer]"),
        ("own", SERVICE, "systemd knows a unit by the end of its name"),
        ("own.servce", SERVICE, "systemd knows a unit by the end of its name"),
        ("own.service.unused", SERVICE, None),
        ("own.timer.wants/a.timer", SERVICE, None),
    ],
)
def test_systemd_reads_files_by_their_names(name: str, text: str, message: str | None) -> None:
    judge(of((name, text)), message)


@pytest.mark.parametrize(
    ("kind", "command", "message"),
    [
        ("forking", "/opt/slurm/sbin/slurmdbd -D -s", "has Type=forking, and slurmdbd stays in the foreground"),
        ("forking", "/opt/slurm/sbin/slurmdbd -Ds", "has Type=forking"),
        ("forking", "/usr/local/bin/node_exporter", "has Type=forking, and node_exporter stays"),
        ("forking", "/opt/slurm/sbin/slurmdbd -s", None),
        ("forking", "/opt/own -D", None),
        ("simple", "/opt/slurm/sbin/slurmdbd -D", None),
        ("simple", "/opt/slurm/sbin/slurmdbd", "starts slurmdbd without -D, --systemd: it leaves the foreground"),
        ("exec", "/usr/sbin/munged", "starts munged without -F"),
        ("notify", "/opt/slurm/sbin/slurmd --systemd", None),
        ("simple", "/opt/slurm/sbin/slurmd $OPTIONS", None),
        ("simple", "/usr/sbin/munged --foreground", None),
    ],
)
def test_a_program_runs_as_the_type_of_its_service_says(kind: str, command: str, message: str | None) -> None:
    text = SERVICE.replace("ExecStart=/opt/a", f"Type={kind}\nExecStart={command}")
    judge(of(("a.service", text), then=BOTH.format("a")), message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("OnUnitActiveSec=5min\n", "", None),
        ("B\n[Timer]\nOnBootSec=5min\nOnUnitActive", "Each five minutes\n[Timer]\nOnBoot", "and never again"),
        ("Description=B", "Description=Each five minutes", None),
        ("OnBootSec=5min\n", "", "nothing starts it the first time"),
        ("OnBootSec=5min\nOnUnitActiveSec=5min\n", "Persistent=true\n", "has no time, without which systemd refuses a timer"),
        ("OnBootSec=5min\nOnUnitActiveSec=5min\n", "OnCalendar=*:0/5\n", None),
        ("OnBootSec=5min\nOnUnitActiveSec=5min\n", "OnCalendar=*/5 * * * *\n", "has OnCalendar=*/5 * * * *, which systemd refuses"),
        ("OnBootSec=5min", "OnBootSec=5 minuts", "has OnBootSec=5 minuts"),
    ],
)
def test_a_timer_starts_its_service_again_and_again(old: str, new: str, message: str | None) -> None:
    assert old in TIMER
    judge(of(("a.service", ONCE), ("a.timer", TIMER.replace(old, new)), then=BOTH.format("a.timer")), message)


def test_a_timer_whose_service_is_started_needs_no_first_time() -> None:
    timer = TIMER.replace("OnBootSec=5min\n", "")
    judge(of(("a.service", ONCE), ("a.timer", timer), then="systemctl enable --now a.timer\nsystemctl start a"), None)


def test_the_program_of_a_timer_may_say_that_it_runs_again() -> None:
    once = TIMER.replace("OnUnitActiveSec=5min\n", "")
    start = script(("a.service", ONCE), ("a.timer", once), then="install -m 755 a.sh /opt/a\nsystemctl enable --now a.timer")
    files = {"start.sh": start, "a.sh": "#!/bin/bash\n# Runs every 5 minutes.\ntrue\n"}
    judge([message for _, message in said(files)], "says 'every 5 minutes'")
    judge([message for _, message in said({**files, "a.sh": "#!/bin/bash\n# Runs once.\ntrue\n"})], None)


@pytest.mark.parametrize(
    ("then", "message"),
    [
        ("systemctl enable --now a", None),
        ("systemctl --now enable a.service", None),
        ("systemctl enable a\nsystemctl restart a", None),
        ("sudo systemctl enable a; timeout 60 systemctl start a", None),
        ("systemctl start a", "starts a.service and does not enable it: it is lost at the next boot"),
        ("systemctl restart a.service", "does not enable it"),
        ("systemctl enable a", "enables a.service and does not start it: it waits for the next boot"),
        ("systemctl enable a\nshutdown -r +1", None),
        ("systemctl daemon-reload", "writes a.service, which nobody enables or starts"),
        ("for one in a b; do systemctl enable --now $one; done", None),
        ("systemctl start a\nln -s /etc/systemd/system/a.service /etc/systemd/system/multi-user.target.wants/a.service", None),
        ('run() { "$@"; }\nrun systemctl enable a\nrun systemctl start a', None),
        ("systemctl enable --now other.service && systemctl enable --now a", None),
        ("systemctl enable --now a\nsystemctl restart slurmd munge chrony", None),
        ("systemctl enable --now a\nsystemctl restart a.timer", "has systemctl restart a.timer, which nobody writes"),
    ],
)
def test_services_run_now_and_after_the_next_boot(then: str, message: str | None) -> None:
    judge(of(("a.service", SERVICE), then=then), message)


@pytest.mark.parametrize(
    ("text", "then", "message"),
    [
        (ONCE, "systemctl start a", None),
        (ONCE.replace("oneshot", "simple"), "systemctl start a", "does not enable it"),
        (ONCE, "systemctl enable --now a", "whose text has no [Install] with WantedBy: it does not start at boot"),
        (ONCE, "systemctl daemon-reload", None),
    ],
)
def test_a_service_without_a_place_in_the_boot_is_started_by_others(text: str, then: str, message: str | None) -> None:
    judge(of(("a.service", text), then=then), message)


def test_a_name_that_is_nearly_a_unit_is_found() -> None:
    then = "systemctl enable --now node-health\nsystemctl restart node-watch"
    judge(of(("node-health.service", SERVICE), then=then), None)
    then = then.replace("node-watch", "node-heelth")
    judge(of(("node-health.service", SERVICE), then=then), "has systemctl restart node-heelth.service, which nobody writes")


def test_units_that_start_others_need_no_command_for_these() -> None:
    first = SERVICE.replace("Description=A", "Wants=b.service")
    judge(of(("a.service", first), ("b.service", SERVICE), then=BOTH.format("a")), None)


def test_a_service_starts_a_file_that_runs() -> None:
    start = script(("a.service", SERVICE), then="install -m 0644 a.sh /opt/a\nsystemctl enable --now a")
    files = {"start.sh": start, "a.sh": "#!/bin/bash\ntrue\n"}
    judge([message for _, message in said(files)], "starts /opt/a, which start.sh puts there without a bit by which it runs")
    judge([message for _, message in said({**files, "start.sh": start.replace("0644", "0755")})], None)


@pytest.mark.parametrize(
    ("unit", "limit", "instance", "message"),
    [
        ("slurmd.service", "64K", "ml.p5.48xlarge", "which jobs inherit on ml.p5.48xlarge, whose EFA needs locked memory"),
        ("slurmd.service", "1048576:1048576", "ml.p5.48xlarge", "has LimitMEMLOCK=1048576:1048576"),
        ("slurmd.service", "infinity", "ml.p5.48xlarge", None),
        ("slurmd.service", "64K", "ml.m5.xlarge", None),
        ("munge.service", "64K", "ml.p5.48xlarge", None),
    ],
)
def test_jobs_lock_memory_for_efa(unit: str, limit: str, instance: str, message: str | None) -> None:
    group = cast(Group, SimpleNamespace(types=(instance_type(instance),)))
    read = read_unit(f"[Service]\nLimitMEMLOCK={limit}\n")
    judge([says for says, _ in mistakes_of_limits(group, read, UnitPlace(unit, "a.conf"))], message)


def test_an_uploaded_unit_is_judged_like_a_written_one() -> None:
    start = f"#!/bin/bash\ninstall -m 0644 a.service {UNITS}/a.service\nsystemctl enable --now a\n"
    judge([message for _, message in said({"start.sh": start, "a.service": SERVICE})], None)
    wrong = SERVICE.replace("[Install]", "Environment=A=b c\n[Install]")
    judge([message for _, message in said({"start.sh": start, "a.service": wrong})], "has Environment=A=b c, which systemd refuses")
    ours = start.replace("systemctl enable --now a", "true")
    judge([message for _, message in said({"start.sh": ours, "a.service": SERVICE})], "which nobody enables or starts")


RIGHT_TIMES = ("daily", "Mon..Fri *-*-* 02:30", "*:0/15", "2026-12-01", "*-*-* 03:00 Europe/Berlin", "*-*-01 04:00:00")
WRONG_TIMES = ("*-*-* 25:00", "Mondays", "*-13-01", "every 5 minutes", "", "1:2:3:4", "*/5 * * * *")
RIGHT_SPANS, WRONG_SPANS = ("5", "5min 20s", "1h30m", "infinity", "5.5s"), ("20secs", "", "5 minuts", "-5")


def test_systemd_reads_times_and_spans() -> None:
    assert [is_calendar(one) for one in (*RIGHT_TIMES, *WRONG_TIMES)] == [True] * 6 + [False] * 7
    assert [is_span(one) for one in (*RIGHT_SPANS, *WRONG_SPANS)] == [True] * 5 + [False] * 4


@pytest.mark.parametrize(
    ("name", "near"),
    [("slurmctl", "slurmctld"), ("slurmdb", "slurmd"), ("kublet", "kubelet"), ("slurmd", None), ("slurm-watch", None)],
)
def test_a_unit_of_slurm_or_kubernetes_is_called_by_its_name(name: str, near: str | None) -> None:
    wanted = None if near is None else f"has systemctl restart {name}.service, which nobody writes; the nearest is {near}"
    then = f"systemctl enable --now node-health\nsystemctl restart {name}"
    judge(of(("node-health.service", SERVICE), then=then), wanted)
