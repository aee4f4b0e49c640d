"""`python3 -m node_metrics serve | show`.

`serve` runs until it is stopped: it looks at the node at each interval, answers Prometheus, and sends what `config.json` asks for.
`show` prints one look as Prometheus would scrape it.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from node_health.system import LocalSystem
from node_setup.config import read_config
from node_setup.errors import NodeSetupError
from node_setup.software import Metrics

from node_metrics.daemon import Daemon
from node_metrics.identity import Identity, read_identity
from node_metrics.server import Page

USAGE = "usage: python3 -m node_metrics serve | show"
CONFIG = Path(__file__).resolve().parent.parent / "config.json"


def main(arguments: list[str]) -> int:
    if arguments not in (["serve"], ["show"]):
        sys.stderr.write(f"{USAGE}, got {arguments!r}\n")
        return 2
    try:
        settings, who = read_config(CONFIG).software.metrics, read_identity()
        if settings is None:
            raise NodeSetupError(f"{CONFIG}: has no software.metrics, so there is nothing to tell")
        return show(settings, who) if arguments == ["show"] else serve(settings, who)
    except (NodeSetupError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1


def show(settings: Metrics, who: Identity) -> int:
    with Page("127.0.0.1", 0) as page:
        Daemon(LocalSystem(), settings._replace(cloudwatch=None, remote_write=None), who, page).look()
        sys.stdout.write(page.text)
    return 0


def serve(settings: Metrics, who: Identity) -> int:
    with Page(settings.address, settings.port) as page:
        threading.Thread(target=page.serve_forever, name="page", daemon=True).start()
        Daemon(LocalSystem(), settings, who, page).forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
