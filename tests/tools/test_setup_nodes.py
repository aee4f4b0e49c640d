"""The set-up of virtual nodes and example jobs, with doubles of every Python: what it makes, leaves, and says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("sh", "cat", "cp", "dirname", "id", "mkdir", "tail")
PROGRAMS = ("systemd-nspawn", "mmdebstrap", "ip", "shellcheck")
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
        (self.programs / name).write_text(script)
        (self.programs / name).chmod(0o755)

    def require(self, text: str) -> None:
        (self.root / "examples").mkdir(exist_ok=True)
        (self.root / "examples/requirements.txt").write_text(text)

    def set_up(self) -> subprocess.CompletedProcess[str]:
        command = [str(self.programs / "sh"), str(self.root / "tools/setup_nodes.sh")]
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


def test_fails_with_the_end_of_the_log_and_goes_on_when_run_again(checkout: Checkout) -> None:
    checkout.broken.touch()
    done = checkout.set_up()
    assert done.returncode == 1
    assert "no matching distribution" in done.stderr
    assert "packages of examples/requirements.txt" in done.stderr
    checkout.made()
    checkout.broken.unlink()
    assert checkout.set_up().returncode == 0
    assert checkout.made() == MADE


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


def test_fails_where_programs_cannot_be_installed(checkout: Checkout) -> None:
    (checkout.programs / "mmdebstrap").unlink()
    done = checkout.set_up()
    assert done.returncode == 1
    assert done.stderr.startswith("setup: virtual nodes need mmdebstrap, and there is no apt-get")
