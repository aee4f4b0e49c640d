"""Failures of scripts that nobody sees."""

from __future__ import annotations

import pytest

from tests.analysis.node_states import said

STEPS = """#!/bin/bash
set -Eeuo pipefail
trap 'echo "failed with $?"' ERR
step() {
  echo "$(date): $*"
  "$@"
}
step bash mount.sh
step python3 users.py
echo done
"""
WAIT = """#!/bin/bash
set -e
wait_for() {
  for attempt in 1 2 3; do
    if mountpoint -q "$1"; then
      return 0
    fi
    sleep 5
  done
  echo "no mount at $1"
  return 1
}
wait_for /fsx
"""
OTHERS = {"mount.sh": "#!/bin/bash\nset -e\nmount -a\n", "users.py": "print(1)\n"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("set -Eeuo pipefail", "set -u", "goes on when the step in line 8 fails, and ends well"),
        ("set -Eeuo pipefail\n", "", "goes on when the step in line 7 fails"),
        ("#!/bin/bash\nset -Eeuo pipefail", "#!/bin/bash -e\nset -E", None),
        ("set -Eeuo pipefail", "set -o errexit -o errtrace", None),
        ("set -Eeuo pipefail\ntrap 'echo \"failed with $?\"' ERR", "set -u\ntrap 'exit 1' ERR", None),
        ("set -Eeuo pipefail\n", "step_failed() { exit 1; }\n", "goes on when the step in line 8"),
        ("step bash mount.sh\nstep python3 users.py", "bash mount.sh || exit 1\npython3 users.py || exit 1", None),
        ("set -Eeuo pipefail\n", "set -u\nfailed=$?\n", None),
        ("-Eeuo", "-euo", "sets a trap for ERR in line 3, which functions do not inherit: a failure in step ends it without"),
        ("-Eeuo pipefail", "-euo pipefail\nset -o errtrace", None),
        ('step() {\n  echo "$(date): $*"\n  "$@"\n}\nstep bash mount.sh\nstep python3', "bash mount.sh\npython3", None),
        ("-Eeuo pipefail\ntrap 'echo \"failed with $?\"' ERR", "-euo pipefail\ntrap 'rm -f /tmp/a' EXIT", None),
    ],
)
def test_steps_end_a_script_with_their_failure(old: str, new: str, message: str | None) -> None:
    assert old in STEPS
    found = said({**OTHERS, "start.sh": STEPS.replace(old, new) if old else STEPS})
    assert [message in one[1] for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        (
            "return 1\n}",
            "return 0\n}",
            "has the function wait_for from line 3 on, which returns 0",
        ),
        ("wait_for() {", "function wait_for {", None),
        ("  return 1\n}", "  exit 1\n  return 0\n}", None),
        ('no mount at $1"\n  return 1', 'going on without $1"\n  return 0', None),
        ('    sleep 5\n  done\n  echo "no mount at $1"\n  return 1', "  done\n  return 0", None),
        ("      return 0\n    fi", "      break\n    fi", None),
    ],
)
def test_a_function_tells_that_its_last_attempt_failed(old: str, new: str, message: str | None) -> None:
    assert old in WAIT
    found = said({"start.sh": WAIT.replace(old, new) if old else WAIT})
    assert [message in one[1] for one in found] == [True] if message else found == []
