"""`slurm.conf`, which belongs to the service's agent: this module reads it and never writes it.

Our own settings go into an included file, in a block of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from node_setup.blocks import with_block, without_block
from node_setup.errors import NodeSetupError
from node_setup.node import Node

FOLDER = "/opt/slurm/etc"
PATH = f"{FOLDER}/slurm.conf"
OURS = ("hyperpod_constructs.conf", "accounting.conf")
WHOLE = ("ClusterName", "SlurmctldHost")
CHAINED = ("HealthCheckProgram",)


class Setting(NamedTuple):
    key: str
    value: str
    line: int


class SlurmConf(NamedTuple):
    """The settings of `slurm.conf` itself, in order, including each `include`."""

    settings: list[Setting]

    def value(self, key: str, default: str = "") -> str:
        """The last value of a key; case does not matter."""
        found = [setting.value for setting in self.settings if setting.key.lower() == key.lower()]
        return found[-1] if found else default

    def has(self, key: str) -> bool:
        return any(setting.key.lower() == key.lower() for setting in self.settings)

    def line(self, key: str) -> int:
        return max((setting.line for setting in self.settings if setting.key.lower() == key.lower()), default=-1)


def parse(text: str) -> SlurmConf:
    settings = []
    for number, line in enumerate(text.splitlines()):
        bare = re.sub(r"(?<!\\)#.*", "", line).strip()
        match = re.match(r"(\w+)\s*=\s*(.*)", bare) or re.match(r"(?i)(include)\s+(.*)", bare)
        if match is not None:
            settings.append(Setting(match[1], match[2].strip().strip('"'), number))
    return SlurmConf(settings)


def read(node: Node) -> SlurmConf:
    text = node.read(PATH)
    if text is None:
        raise NodeSetupError(f"{PATH}: is missing; the service's agent writes it on the controller")
    return parse(text)


def is_whole(node: Node) -> bool:
    """Whether the agent seems to have written the whole file.

    Partitions do not count: they come with the groups of workers, which may be created later.
    """
    text = node.read(PATH) or ""
    conf = parse(text)
    return text.endswith("\n") and all(conf.has(key) for key in WHOLE)


def await_whole(node: Node) -> None:
    node.wait_until(lambda: is_whole(node), f"{PATH}: the service's agent has not written {', '.join(WHOLE)}", node.patience.slurm)


def included(conf: SlurmConf) -> tuple[str, int]:
    """The included file for our settings, and the position of its include."""
    for name in OURS:
        for setting in conf.settings:
            if setting.key.lower() == "include" and setting.value.rpartition("/")[2] == name:
                path = setting.value if setting.value.startswith("/") else f"{FOLDER}/{setting.value}"
                return path, setting.line
    raise NodeSetupError(f"{PATH}: includes neither {' nor '.join(OURS)}, so Slurm cannot read our settings")


def write_settings(node: Node, settings: Mapping[str, str], partitions: Sequence[str] = ()) -> list[str]:
    """Write settings into the included file, and return the keys that others have set, which stay theirs.

    :param partitions: further lines, of partitions.

    A program of ours that runs the replaced one itself (`CHAINED`) may set its key again, because the last value counts.
    """
    conf = read(node)
    path, line = included(conf)
    others = parse(without_block(node.read(path) or ""))
    left = [key for key in settings if others.has(key) or (conf.has(key) and not (key in CHAINED and conf.line(key) < line))]
    lines = [*(f"{key}={value}" for key, value in settings.items() if key not in left), *partitions]
    text = node.read(path)
    if text is None or with_block(text, lines) != text:
        mode, owner = _kept(node, path)
        node.write(path, with_block(text or "", lines), mode, owner)
    return left


def partitions_of_others(node: Node) -> list[str]:
    """The partitions in slurm.conf and, without our block, in the included file."""
    conf = read(node)
    path, _ = included(conf)
    lines = [*conf.settings, *parse(without_block(node.read(path) or "")).settings]
    return [line.value.split()[0] for line in lines if line.key.lower() == "partitionname" and line.value]


def slurm_user(conf: SlurmConf) -> str:
    return conf.value("SlurmUser", "root").split("(")[0]


def _kept(node: Node, path: str) -> tuple[int, str]:
    """The mode and owner of a file that others share."""
    if not node.exists(path):
        return 0o644, "root"
    _, mode = node.load(path)
    uid, _ = node.owner(path)
    owner = next((account.name for account in node.accounts() if account.uid == uid), "root")
    return mode, owner
