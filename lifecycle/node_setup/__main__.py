"""Names the node's role and checks its mounts; the log is standard output, its last line the cause of a failure."""

from __future__ import annotations

import os
import sys
import time
import traceback
from pathlib import Path

from node_setup.config import Config, Mount, read_config
from node_setup.errors import NodeSetupError
from node_setup.log import Log
from node_setup.mounts import await_mount
from node_setup.role import Role, own_addresses, read_role

MODES = ("on_init_complete", "on_create")


def run(mode: str, environment: dict[str, str], log: Log) -> None:
    """Every step of one mode. Reads only, so it can run again after a kill at any line."""
    root = environment.get("NODE_SETUP_ROOT", "")
    seconds = float(environment.get("NODE_SETUP_MOUNT_SECONDS", "300"))
    default = root + "/opt/ml/config/resource_config.json"
    with log.step("read config.json"):
        config = read_config(Path(__file__).resolve().parent.parent / "config.json")
    with log.step("name the role"):
        resource_config = Path(environment.get("SAGEMAKER_RESOURCE_CONFIG_PATH", default))
        role = read_role(resource_config, config, own_addresses(Path(root + "/proc/net/fib_trie")))
        log.line(str(role))
    deadline = time.monotonic() + seconds
    for mount in _mounts(config, role):
        with log.step(f"check the mount {mount.path}"):
            await_mount(mount, root, deadline)
    if mode == "on_create":
        log.line("Slurm is not started: with OnCreate the image leaves that to the scripts, and these only check the node")


def main(arguments: list[str], environment: dict[str, str]) -> int:
    log = Log(sys.stdout)
    if len(arguments) != 1 or arguments[0] not in MODES:
        log.line(f"failed: usage: python3 -m node_setup {'|'.join(MODES)}, got {arguments!r}")
        return 2
    try:
        with log.step(arguments[0]):
            run(arguments[0], environment, log)
    except NodeSetupError as error:
        log.line(f"failed: {error}")
        return 1
    except Exception as error:  # whatever it is, its cause must be the last line of the log
        log.line(traceback.format_exc())
        log.line(f"failed: {type(error).__name__}: {error}")
        return 1
    return 0


def _mounts(config: Config, role: Role) -> list[Mount]:
    """The mounts of the node's group; of a node whose group is unknown, those that every group has."""
    if role.group is not None:
        return config.mounts(role.group)
    first, *others = config.groups
    return [mount for mount in config.mounts(first) if all(mount in config.mounts(group) for group in others)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], dict(os.environ)))
