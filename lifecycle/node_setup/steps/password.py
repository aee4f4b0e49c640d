"""Looks every minute whether the accounting database answers, and takes a rotated password over."""

from __future__ import annotations

import json

from node_setup import database, secret, slurm_conf, systemd
from node_setup.errors import NodeSetupError
from node_setup.node import HOME, STATE, Node
from node_setup.secret import Login
from node_setup.steps import slurmdbd

MANDATORY = False
TIMER = "hyperpod-accounting.timer"
PROBLEM = f"{STATE}/accounting_problem.json"
UNITS = {
    "hyperpod-accounting.service": f"""[Unit]
Description=Looks at the accounting database, and takes its rotated password over

[Service]
Type=oneshot
WorkingDirectory={HOME}
ExecStart=/usr/bin/env python3 -B -m node_setup accounting
StandardOutput=append:/var/log/provision/provisioning.log
StandardError=inherit
""",
    TIMER: """[Unit]
Description=Looks at the accounting database every minute

[Timer]
OnBootSec=1min
OnUnitInactiveSec=1min
AccuracySec=5s

[Install]
WantedBy=timers.target
""",
}


def needed(node: Node) -> bool:
    accounting = node.software.accounting
    if not node.is_controller or accounting is None or accounting.secret_arn is None:
        return False
    return accounting.by_service or node.mode == "on_create"


def apply(node: Node) -> None:
    slurmdbd.follow(node, lambda: None)  # the daemon runs with this file
    systemd.write_units(node, UNITS, TIMER)
    systemd.start(node, TIMER)


def verify(node: Node) -> None:
    if not systemd.is_active(node, TIMER):
        raise NodeSetupError(f"{TIMER}: is not active, so a rotated password would not be taken over")


def look(node: Node) -> None:
    """Name what is wrong once, and that it is over; take another password over."""
    accounting = node.software.accounting
    if accounting is None or accounting.secret_arn is None:
        raise NodeSetupError("software.accounting: names no secret, so there is nothing to look at")
    try:
        problem = None if secret.reachable(node, accounting) else secret.unreachable(accounting)
        if problem is None:
            _follow(node, secret.read(node, accounting))
    except NodeSetupError as error:
        problem = str(error)
    known = node.recall(PROBLEM).get("problem")
    if problem != known:
        node.log.line(f"accounting: {problem}" if problem is not None else "accounting: the database is usable again")
        node.write(PROBLEM, json.dumps({"problem": problem}) + "\n", 0o600)


def _follow(node: Node, login: Login) -> None:
    """Give slurmdbd the user and the password. slurmctld keeps its records until slurmdbd is back."""
    access, text = database.read_access(node), node.read(database.SLURMDBD_CONF)
    if access is None or text is None:
        raise NodeSetupError(f"{database.SLURMDBD_CONF}: is missing, so slurmdbd has no database")
    if Login(access.user, access.password) != login:
        owner = slurm_conf.slurm_user(slurm_conf.read(node))
        node.write(database.SLURMDBD_CONF, _with_login(text, login), 0o600, owner)
        node.log.line("accounting: the database has a new password, which slurmdbd takes over")
    slurmdbd.follow(node, lambda: node.run(["systemctl", "restart", slurmdbd.UNIT]))


def _with_login(text: str, login: Login) -> str:
    wanted = {"StorageUser": login.user, "StoragePass": database.escaped(login.password)}
    keys = {key.lower() for key in wanted}
    kept = [line for line in text.splitlines() if line.partition("=")[0].strip().lower() not in keys]
    return "\n".join([*kept, *(f"{key}={value}" for key, value in wanted.items())]) + "\n"
