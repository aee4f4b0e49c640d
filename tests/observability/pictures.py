"""Takes the pictures of Prometheus' pages that stand in the docs: `python -m tests.observability.pictures`.

The pages are those of a real Prometheus that scrapes a double of a node with every kind of device.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.presets import ROOT

sys.path.insert(0, str(ROOT / "lifecycle"))

from tests.observability.server import Prometheus, program, running
from tests.patience import until

DOCS = ROOT / "docs"
FIRING = 'ALERTS{alertname="GpuRowsCannotBeRemapped", alertstate="firing"}'
# The plain pages of this version: they need no application in the browser.
PAGES = {"prometheus-alerts.png": ("/classic/alerts", 950), "prometheus-targets.png": ("/classic/targets", 400)}
"""Each page with the height of its picture."""
SECONDS_BEFORE = 20


def main() -> int:
    with tempfile.TemporaryDirectory() as directory, running(Path(directory)) as prometheus:
        until(lambda: prometheus.query(FIRING) != [], "the alert of the broken GPU")
        time.sleep(SECONDS_BEFORE)
        for name, (page, height) in PAGES.items():
            take(prometheus, page, height, DOCS / name)
    return 0


def take(prometheus: Prometheus, page: str, height: int, file: Path) -> None:
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size=1100,{height}", f"--screenshot={file}"]
    with tempfile.TemporaryDirectory() as profile:
        command = [program("chromium"), *options, f"--user-data-dir={profile}", "--virtual-time-budget=8000", prometheus.url + page]
        subprocess.run(command, check=True, capture_output=True, timeout=120)  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
