"""A job without one of its modules."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(("modules", "code"), [(("json", "email.policy"), 0), (("json", "torch_of_nobody"), 1)])
def test_fails_at_once_by_name(tmp_path: Path, modules: tuple[str, ...], code: int) -> None:
    script = f"source {EXAMPLES}/common/slurm.sh; set_environment() {{ echo prepared; exit; }}; DATA=x; prepare {' '.join(modules)}"
    done = subprocess.run(  # noqa: S603
        [shutil.which("bash") or "bash", "-euo", "pipefail", "-c", script],
        env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable, "RUN_DIR": str(tmp_path), "EXAMPLES": str(EXAMPLES)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "" if code else "prepared\n")
    assert ("has no module ['torch_of_nobody']: install examples/requirements.txt" in done.stderr) == bool(code)
