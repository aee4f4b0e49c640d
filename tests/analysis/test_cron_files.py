"""Files for cron that programs of nodes put into their folder, and the commands in them."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.node_programs import programs_of
from hyperpod_constructs.analysis.placed_files import placed_by, placed_files
from hyperpod_constructs.analysis.texts.places import texts_with_mistakes
from tests.analysis.test_node_programs import FILES, START, head, made

CRON = """PATH=/usr/local/bin:/usr/bin:/bin
# each minute
*/5 * * * * root node-metrics --all
@reboot root /usr/local/bin/node-metrics
"""
METRICS = "#!/bin/bash\ntrue\n"
BY_PYTHON = """
import subprocess
subprocess.run(["install", "-m", "755", "metrics.sh", "/usr/local/bin/node-metrics"], check=True)
subprocess.run(["install", "--mode=644", "metrics.cron", "/etc/cron.d/node-metrics"], check=True)
"""
BY_SHELL = """#!/bin/bash
set -euo pipefail
install metrics.sh /usr/local/bin/node-metrics
cp metrics.cron /etc/cron.d/node-metrics
"""
PYTHON = {"start.sh": START, "set_up.py": BY_PYTHON, "metrics.sh": METRICS, "metrics.cron": CRON}
SHELL = {"start.sh": BY_SHELL, "metrics.sh": METRICS, "metrics.cron": CRON}


def said(files: dict[str, str]) -> list[tuple[str, str]]:
    texts = texts_with_mistakes(made({**dict.fromkeys(FILES), **files}))
    return [(str(one.slip.path[-1]), one.slip.message) for several in texts.values() for one in several]


@pytest.mark.parametrize("files", [PYTHON, SHELL])
@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("metrics.cron", "", "", None),
        ("metrics.cron", "root node-metrics", "node-metrics", "has no user before the command in '*/5 * * * * node-metrics --all'"),
        ("metrics.cron", "root node-metrics --all", "slurm-metrics", "has no user before the command"),
        ("metrics.cron", "@reboot root /usr", "@reboot /usr", "has no user before the command in '@reboot /usr/local"),
        ("metrics.cron", "root node-metrics", "python3 /opt/a.py", "has no user before the command"),
        ("metrics.cron", "root node-metrics", "ubuntu node-metrics", None),
        ("metrics.cron", "PATH=/usr/local/bin:/usr/bin:/bin\n", "", "look for node-metrics in /usr/bin:/bin, and"),
        ("metrics.cron", "PATH=/usr/local/bin", "MAILTO=a\nPATH=/opt/bin", "look for node-metrics in /opt/bin:"),
        ("metrics.cron", "PATH=/usr/local/bin:/usr/bin:/bin\n", 'PATH = "/usr/local/bin:/bin"\n', None),
        ("metrics.cron", "root node-metrics", "root aws s3 ls", None),
        ("metrics.cron", "root node-metrics", "root bash -c node-metrics", None),
    ],
)
def test_cron_starts_what_its_files_say(files: dict[str, str], name: str, old: str, new: str, message: str | None) -> None:
    assert old in files[name]
    found = said({**files, name: files[name].replace(old, new) if old else files[name]})
    assert [(one[0], message in one[1]) for one in found] == [(name, True)] if message else found == []


@pytest.mark.parametrize(
    ("files", "name", "old", "new", "message"),
    [
        (PYTHON, "set_up.py", "cron.d/node-metrics", "cron.d/node.metrics", "writes /etc/cron.d/node.metrics: cron passes over"),
        (PYTHON, "set_up.py", '"/etc/cron.d/node-metrics"', '"/etc/cron.d/"', "writes /etc/cron.d/metrics.cron: cron passes over"),
        (PYTHON, "set_up.py", '"--mode=644", "metrics.cron", "/etc', '"-t", "/opt", "metrics.cron"]+["/etc', None),
        (PYTHON, "set_up.py", "cron.d/node-metrics", "cron.daily/node.metrics", "which run-parts passes over by its name"),
        (PYTHON, "set_up.py", '"755"', '"644"', "puts /usr/local/bin/node-metrics, which cron starts, without a bit"),
        (PYTHON, "set_up.py", '"755"', '"u=rwx"', None),
        (SHELL, "start.sh", "install metrics", "install -m644 metrics", "without a bit by which it runs"),
        (SHELL, "start.sh", "install metrics", "sudo install -Dm644 metrics", "without a bit by which it runs"),
        (SHELL, "start.sh", "install metrics", "install -Dm 755 -o root --group=root metrics", None),
        (SHELL, "start.sh", "install metrics", "install -m 0644 metrics", "without a bit by which it runs"),
        (SHELL, "start.sh", "install metrics", "install -m 600 -o root metrics", "without a bit by which it runs"),
        (SHELL, "start.sh", "\ncp", "\nchmod 644 /usr/local/bin/node-metrics\ncp", "without a bit by which it runs"),
        (SHELL, "start.sh", "install metrics", "cp metrics", None),
        (SHELL, "start.sh", "\ncp", "\ncp - /opt/a\ninstall -\ncp", None),
        (
            SHELL,
            "start.sh",
            "install metrics.sh /usr/local/bin/node-metrics",
            "install -m 644 metrics.sh /opt/a\nchmod +x /opt/a",
            None,
        ),
        (SHELL, "start.sh", "cp metrics.cron", "mv metrics.cron", None),
        (
            SHELL,
            "start.sh",
            "cron.d/node-metrics",
            "cron.d/node.metrics",
            "start.sh for nodes of Cluster writes /etc/cron.d/node.metrics",
        ),
        (
            SHELL,
            "start.sh",
            "cp metrics.cron",
            "cat > /etc/cron.d/other <<EOF\n0 * * * * /opt/a\nEOF\ncp metrics.cron",
            "start.sh for nodes of Cluster has no user before the command in '0 * * * * /opt/a'",
        ),
        (SHELL, "start.sh", "cp metrics.cron", "echo '0 * * * * root /opt/a' > /etc/cron.d/other\ncp metrics.cron", None),
        (
            SHELL,
            "start.sh",
            "cp metrics.cron",
            "echo '0 * * * * root /opt/a' > /etc/cron.d/o.b\ncp metrics.cron",
            "/etc/cron.d/o.b",
        ),
    ],
)
def test_files_are_put_where_cron_takes_them(files: dict[str, str], name: str, old: str, new: str, message: str | None) -> None:
    assert old in files[name]
    found = said({**files, name: files[name].replace(old, new)})
    assert [(one[0], message in one[1]) for one in found] == [(name, True)] if message else found == []


PATH, METRICS_LINE = "PATH=/usr/local/bin:/bin", "* * * * * root node-metrics"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (f"echo '{METRICS_LINE}' | sudo tee /etc/cron.d/a", "look for node-metrics in /usr/bin:/bin"),
        (f"printf '%s\\n' {PATH} '{METRICS_LINE}' | sudo tee /etc/cron.d/a", None),
        (f"sudo sh -c \"echo '{METRICS_LINE}' > /etc/cron.d/a\"", "look for node-metrics in /usr/bin:/bin"),
        (f"sudo sh -c \"echo '{PATH}' > /etc/cron.d/a && echo '{METRICS_LINE}' >> /etc/cron.d/a\"", None),
        ("sudo install /dev/stdin /etc/cron.d/a <<< '* * * * * /opt/a'", "has no user before the command in '* * * * * /opt/a'"),
        ("sudo install /dev/stdin /etc/cron.d/a <<< '* * * * * root /opt/a'", None),
        (f"echo {PATH} > /etc/cron.d/a\necho '{METRICS_LINE}' >> /etc/cron.d/a", None),
        (f"echo {PATH} > /etc/cron.d/a\necho '{METRICS_LINE}' > /etc/cron.d/a", "look for node-metrics in /usr/bin:/bin"),
        (f"echo '{METRICS_LINE}' >> /etc/cron.d/a", "look for node-metrics in /usr/bin:/bin"),
        (f"cp other.cron /etc/cron.d/a\necho '{METRICS_LINE}' >> /etc/cron.d/a", None),
        (f"cat > /etc/cron.d/a <<A\n$(other)\n{METRICS_LINE}\nA", None),
        ("cat > /etc/cron.d/a <<A\nMAILTO=$(other)\n* * * * * /opt/a\nA", "has no user before the command in '* * * * * /opt/a'"),
        ('echo "* * * * * $(whoami) /opt/a" > /etc/cron.d/a', None),
        ('echo "* * * * * $(command)" > /etc/cron.d/a', None),
        ('echo "* * * * * /opt/$(command)" > /etc/cron.d/a', None),
    ],
)
def test_texts_for_cron_are_read_however_a_script_writes_them(lines: str, message: str | None) -> None:
    found = said({**SHELL, "start.sh": f"{BY_SHELL}{lines}\n"})
    assert [message in one[1] for one in found] == [True] if message else found == []


def test_files_have_the_place_and_the_mode_of_their_last_command() -> None:
    more = "install -d /opt/a\ninstall -Dm 0600 a.txt /opt/a/b.txt\nmv a b c\ncp a /opt/\nchmod u+x /opt/a\nchmod a-x /opt/a\n"
    start = f"{BY_SHELL}{more}"
    found = placed_files(programs_of(head(made({"start.sh": start}))))
    assert [(one.place, one.runs) for one in found] == [
        ("/usr/local/bin/node-metrics", True),
        ("/etc/cron.d/node-metrics", None),
        ("/opt/a/b.txt", False),
        ("c/a", None),
        ("c/b", None),
        ("/opt/a", None),
    ]


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ("install -m 0755 a.sh b/b.sh /opt/x/", ["/opt/x/a.sh", "/opt/x/b.sh"]),
        ("install -m 0755 a.sh b.sh /opt/x", ["/opt/x/a.sh", "/opt/x/b.sh"]),
        ("install -D -t /opt/x a.sh b.sh", ["/opt/x/a.sh", "/opt/x/b.sh"]),
        ("install -Dm644 --target-directory=/opt/x a.sh", ["/opt/x/a.sh"]),
        ("cp a.sh b.sh c.sh /opt/x", ["/opt/x/a.sh", "/opt/x/b.sh", "/opt/x/c.sh"]),
        ("mv a.sh /opt/x", ["/opt/x"]),
        ("mv a.sh /usr/local/bin", ["/usr/local/bin/a.sh"]),
        ("install -d /opt/x /opt/y", []),
        ("install a.sh", []),
        ("cp", []),
    ],
)
def test_one_command_puts_several_files_into_a_folder(words: str, places: list[str]) -> None:
    assert [one.place for one in placed_by(words.split())] == places


def test_a_source_that_is_not_known_hides_no_other() -> None:
    assert [one.place for one in placed_by(["install", "a.sh", "", "/opt/x/"])] == ["/opt/x/a.sh"]
    assert not [*placed_by(["install", "", "/opt/x"])]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("40 1 * * * root /opt/a > /var/log/a-$(date +%F).log", "percent sign without a backslash, at which cron ends the command"),
        ("40 1 * * * root date +%s > /var/log/a", "it starts 'date +'"),
        ("40 1 * * * root stat -c %Y /opt/a", "percent sign"),
        ("40 1 * * * root printf '%s' a", "percent sign"),
        (r"40 1 * * * root /opt/a > /var/log/a-$(date +\%F).log", None),
        ("40 1 * * * root mail -s report root%The report is there.%", None),
        ("40 1 * * * root /opt/a", None),
        ("61 1 * * * root /opt/a", "has 61 as the minute of '61 1 * * *', with which cron refuses the file"),
        ("0 24 * * * root /opt/a", "has 24 as the hour"),
        ("0 0 0 * * root /opt/a", "has 0 as the day of the month"),
        ("0 0 1 13 * root /opt/a", "has 13 as the month"),
        ("0 0 * * 8 root /opt/a", "has 8 as the day of the week"),
        ("0 0 * * monday root /opt/a", "has monday as the day of the week"),
        ("*/0 * * * * root /opt/a", "has */0 as the minute"),
        ("@everyhour root /opt/a", "has @everyhour as the time"),
        ("0-30/5,45 0,12 1 jan,jul mon-fri root /opt/a", None),
        ("0 0 * * 7 root /opt/a", None),
        ("@daily root /opt/a", None),
    ],
)
def test_lines_have_times_that_cron_takes_and_whole_commands(line: str, message: str | None) -> None:
    found = said({**SHELL, "metrics.cron": f"{CRON}{line}\n"})
    assert [(one[0], message in one[1]) for one in found] == [("metrics.cron", True)] if message else found == []
