"""The set-up of virtual nodes and example jobs, with doubles of every Python: what it makes, leaves, and says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("sh", "cat", "cp", "dirname", "env", "id", "mkdir", "rm", "tail")
PROGRAMS = ("systemd-nspawn", "mmdebstrap", "ip", "shellcheck", "chromium", "mariadb-install-db", "prometheus", "promtool")
PYTHON = """#!/bin/sh
# Double of Python and its pip: notes its calls; an environment is a copy of itself.
echo "${{0##*/}} $*" >>{calls}
case "$1 $2" in
    "-m venv") mkdir -p "$4/bin" && cp "$0" "$4/bin/python" && cp "$0" "$4/bin/pip" ;;
    install*) [ ! -e {broken} ] || {{ echo no matching distribution; exit 1; }} ;;
esac
"""
MADE = [".venv-examples", ".venv-node-3.8", ".venv-node-3.13"]


class Checkout:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.programs = root / "programs"
        self.calls = root / "calls"
        self.broken = root / "broken"
        self.programs.mkdir()
        (root / "tools").mkdir()
        for script in ("setup_nodes.sh", "steps.sh"):
            shutil.copy(ROOT / "tools" / script, root / "tools")
        for tool in TOOLS:
            (self.programs / tool).symlink_to(shutil.which(tool) or tool)
        for name in ("python3", "python3.8", "python3.13"):
            self.program(name, PYTHON.format(calls=self.calls, broken=self.broken))
        for name in PROGRAMS:
            self.program(name, "#!/bin/sh\n")
        self.require("torch\n")

    def program(self, name: str, script: str) -> None:
        # A tool is a link to the machine's own.
        (self.programs / name).unlink(missing_ok=True)
        (self.programs / name).write_text(script)
        (self.programs / name).chmod(0o755)

    def require(self, text: str) -> None:
        (self.root / "examples").mkdir(exist_ok=True)
        (self.root / "examples/requirements.txt").write_text(text)

    def set_up(self, **variables: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.programs / "sh"), str(self.root / "tools/setup_nodes.sh")]
        environment = {"PATH": str(self.programs), **variables}
        return subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=False)  # noqa: S603

    def set_up_nodes(self) -> subprocess.CompletedProcess[str]:
        command = [str(self.programs / "sh"), str(self.root / "tools/setup_nodes.sh"), "nodes"]
        environment = {"PATH": str(self.programs)}
        return subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=False)  # noqa: S603

    def made(self) -> list[str]:
        """The environments that were made since the last question."""
        calls = self.calls.read_text().splitlines() if self.calls.exists() else []
        self.calls.unlink(missing_ok=True)
        return [call.split()[-1] for call in calls if "-m venv" in call]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_makes_what_is_missing_and_leaves_what_is_there(checkout: Checkout) -> None:
    assert checkout.set_up().returncode == 0
    assert checkout.made() == MADE
    assert (checkout.set_up().stdout, checkout.made()) == ("", [])


def test_other_requirements_make_the_environment_of_the_examples_anew(checkout: Checkout) -> None:
    checkout.set_up()
    checkout.made()
    checkout.require("torch\nnumpy\n")
    checkout.set_up()
    assert checkout.made() == [".venv-examples"]


def test_what_fails_is_shown_and_left_out_until_it_works(checkout: Checkout) -> None:
    checkout.broken.touch()
    done = checkout.set_up()
    assert done.returncode == 0
    assert "no matching distribution" in done.stderr
    assert "pip install --requirement examples/requirements.txt in .venv-examples failed" in done.stderr
    assert "goes on without it; the tests that need it are skipped" in done.stderr
    assert [name for name in MADE if (checkout.root / name).exists()] == []
    checkout.made()
    checkout.broken.unlink()
    assert checkout.set_up().stderr == ""
    assert checkout.made() == MADE


def test_a_ci_machine_stops_at_what_fails(checkout: Checkout) -> None:
    checkout.broken.touch()
    done = checkout.set_up(CI="true")
    assert (done.returncode, checkout.made()) == (1, [".venv-examples"])
    assert "goes on" not in done.stderr


def test_what_a_link_leads_to_is_not_touched(checkout: Checkout) -> None:
    elsewhere = checkout.root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "work").touch()
    for name in MADE:
        (checkout.root / name).symlink_to(elsewhere)
    done = checkout.set_up()
    assert (done.returncode, checkout.made()) == (0, [])
    assert ".venv-examples is a link and left as it is" in done.stdout
    assert [path.name for path in elsewhere.iterdir()] == ["work"]


def test_a_python_that_is_missing_is_named(checkout: Checkout) -> None:
    (checkout.programs / "python3.8").unlink()
    done = checkout.set_up()
    assert done.returncode == 0
    assert "there is no Python 3.8, so the programs for nodes are not tested on it" in done.stdout
    assert checkout.made() == [".venv-examples", ".venv-node-3.13"]


def test_without_apt_get_the_missing_programs_are_named(checkout: Checkout) -> None:
    (checkout.programs / "mmdebstrap").unlink()
    done = checkout.set_up()
    assert (done.returncode, checkout.made()) == (0, MADE)
    assert "are tested with mmdebstrap, and there is no apt-get: virtual nodes run on Debian and Ubuntu only" in done.stderr
    assert checkout.set_up(CI="true").returncode == 1


@pytest.mark.parametrize(("user", "installed"), [(0, True), (1000, False)])
def test_debian_packages_are_installed_by_root_alone(checkout: Checkout, user: int, installed: bool) -> None:
    asked = checkout.root / "asked"
    checkout.program("id", f"#!/bin/sh\necho {user}\n")
    checkout.program("apt-get", f'#!/bin/sh\necho "$*" >>{asked}\n')
    (checkout.programs / "ip").unlink()
    done = checkout.set_up()
    assert done.returncode == 0
    assert asked.exists() == installed
    assert ("Debian packages (missing: ip)" in done.stdout) == installed
    assert ("are tested with ip: run, as root, apt-get install systemd-container" in done.stderr) != installed


def test_virtual_nodes_alone_need_their_packages_only(checkout: Checkout) -> None:
    (checkout.programs / "chromium").unlink()
    done = checkout.set_up_nodes()
    assert (done.returncode, done.stdout, checkout.made()) == (0, "", [])
    (checkout.programs / "mmdebstrap").unlink()
    asked = checkout.root / "asked"
    checkout.program("id", "#!/bin/sh\necho 0\n")
    checkout.program("apt-get", f'#!/bin/sh\necho "$*" >>{asked}\n')
    assert checkout.set_up_nodes().returncode == 0
    assert "install -qq --no-install-recommends systemd-container mmdebstrap" in asked.read_text()
    assert "chromium" not in asked.read_text()


def test_virtual_nodes_without_their_packages_are_an_error_with_the_command(checkout: Checkout) -> None:
    (checkout.programs / "mmdebstrap").unlink()
    checkout.program("apt-get", "#!/bin/sh\n")
    checkout.program("id", "#!/bin/sh\necho 1000\n")
    done = checkout.set_up_nodes()
    assert done.returncode == 1
    assert "virtual nodes need mmdebstrap: run, as root, apt-get install systemd-container mmdebstrap" in done.stderr
