"""Brings QOS, accounts and users of the configuration into Slurm's accounting database.

Each run compares first and changes only what differs, so a replaced controller gets everything again. What left the configuration
stays: jobs and records may still name it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from node_setup.errors import NodeSetupError
from node_setup.node import Node
from node_setup.scheduling import Account, Qos
from node_setup.steps import associations
from node_setup.steps.associations import ACCOUNT as OTHERS
from node_setup.steps.associations import ADD, SHOW

MANDATORY = False
ROOT = "root"
NORMAL = "normal"
# The user of the image, by whom people log in who have no account of their own.
IMAGE_USER = "ubuntu"
MODIFY = ["sacctmgr", "--immediate", "modify"]
INHERITED = ("QOS", "DefaultQOS", "MaxTRESPerJob", "MaxJobs")
LIMITS_OF_RESOURCES = ("GrpTRES", "MaxTRESPerJob", "MaxTRESPerUser")


def needed(node: Node) -> bool:
    scheduling = node.config.scheduling
    return node.is_controller and bool(scheduling.qos or scheduling.accounts)


def apply(node: Node) -> None:
    _require_database(node)
    scheduling = node.config.scheduling
    known = {row["Name"] for row in _rows(node, ["qos"], ("Name",))}
    for qos in scheduling.qos:
        if qos.name not in known:
            node.run([*ADD, "qos", qos.name])
    for qos in scheduling.qos:
        _adjust(node, ["qos", qos.name], _qos_now(node, qos), qos.settings)
    everything = ",".join(sorted({NORMAL, *(qos.name for qos in scheduling.qos)}))
    _adjust(node, ["account", ROOT], _account_now(node, ROOT, ("QOS",)), {"QOS": everything})
    for account in _parents_first(scheduling.accounts):
        _apply_account(node, account)
    _apply_users(node)


def verify(node: Node) -> None:
    for qos in node.config.scheduling.qos:
        _require("qos", qos.name, _qos_now(node, qos), qos.settings)
    for account in node.config.scheduling.accounts:
        settings = {key: text for key, text in account.settings.items() if text}
        _require("account", account.name, _account_now(node, account.name, tuple(settings)), settings)


def _require_database(node: Node) -> None:
    told = re.search(r"^AccountingStorageType\s*= (\S+)", _answer(node, ["scontrol", "show", "config"]), re.MULTILINE)
    if told is None or told[1] != "accounting_storage/slurmdbd":
        raise NodeSetupError(
            f"QOS and accounts need an accounting database, but AccountingStorageType is {told[1] if told else 'not told'}"
        )
    node.wait_until(
        lambda: bool(_rows(node, ["cluster"], ("Cluster",))), "slurmctld has not registered its cluster", node.patience.slurm
    )


def _apply_account(node: Node, account: Account) -> None:
    known = {row["Account"] for row in _rows(node, ["account"], ("Account",))}
    if account.name not in known:
        node.run([*ADD, "account", account.name, f"Parent={account.parent}"])
    now = _account_now(node, account.name, ("ParentName", *account.settings))
    if now.get("ParentName") != account.parent:
        node.run([*MODIFY, "account", account.name, "set", f"Parent={account.parent}"])
    # What an account takes over from its parent is shown as its own.
    inherited = _account_now(node, account.parent, INHERITED)
    _adjust(node, ["account", account.name], now, {key: text or inherited.get(key, "") for key, text in account.settings.items()})


def _apply_users(node: Node) -> None:
    accounts = node.config.scheduling.accounts
    named = [user for account in accounts for user in account.users]
    image = [account.name for account in node.accounts() if account.name == IMAGE_USER]
    others = [user for user in dict.fromkeys([*(user.name for user in node.software.users), *image]) if user not in named]
    members = {account.name: account.users for account in accounts}
    members[OTHERS] = [*members.get(OTHERS, []), *others]
    if others:
        associations.make_account(node)
    known = {(row["Account"], row["User"]) for row in _rows(node, ["assoc"], ("Account", "User"))}
    for name, users in members.items():
        for user in users:
            if (name, user) not in known:
                node.run([*ADD, "user", user, f"Account={name}"])
    defaults = {row["User"]: row["DefaultAccount"] for row in _rows(node, ["user"], ("User", "DefaultAccount"))}
    for user in dict.fromkeys(named):
        first = next(account.name for account in accounts if user in account.users)
        if defaults.get(user) != first:
            node.run([*MODIFY, "user", user, "set", f"DefaultAccount={first}"])


def _parents_first(accounts: Sequence[Account]) -> list[Account]:
    left, ordered = list(accounts), []  # type: list[Account], list[Account]
    while left:
        waiting = {account.name for account in left}
        ready = [account for account in left if account.parent not in waiting]
        if not ready:
            raise NodeSetupError(f"accounts {', '.join(sorted(waiting))} are each other's parents")
        ordered += ready
        left = [account for account in left if account not in ready]
    return ordered


def _adjust(node: Node, which: list[str], now: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    different = [key for key, text in wanted.items() if _differs(now.get(key, ""), text)]
    changes = [f"{key}={_assigned(key, now.get(key, ''), wanted[key])}" for key in different]
    if changes:
        node.run([*MODIFY, *which, "set", *changes])


def _assigned(key: str, now: str, wanted: str) -> str:
    """The value to set. sacctmgr keeps limits of resources that it is not told, so each of these is taken away by its name.

    It shows a grace time as hours, minutes and seconds, and takes seconds alone.
    """
    if key == "GraceTime":
        return str(_seconds(wanted))
    if key in LIMITS_OF_RESOURCES:
        left = sorted(_names(now) - _names(wanted))
        return ",".join([*filter(None, wanted.split(",")), *(f"{name}=-1" for name in left)])
    return wanted or ("" if key == "Preempt" else "-1")


def _seconds(time: str) -> int:
    days, _, clock = time.rpartition("-")
    hours, minutes, seconds = (int(part) for part in clock.split(":"))
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds


def _names(limits: str) -> set[str]:
    return {limit.split("=")[0] for limit in limits.split(",") if limit}


def _differs(now: str, wanted: str) -> bool:
    return _parts(now) != _parts(wanted)


def _parts(text: str) -> list[str]:
    return sorted(part.lower() for part in text.split(",") if part)


def _require(kind: str, name: str, now: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    wrong = [f"{key} is {now.get(key, '')!r}, not {text!r}" for key, text in wanted.items() if _differs(now.get(key, ""), text)]
    if wrong:
        raise NodeSetupError(f"sacctmgr show {kind} {name}: {', '.join(wrong)}")


def _qos_now(node: Node, qos: Qos) -> dict[str, str]:
    return next(iter(_rows(node, ["qos", qos.name], ("Name", *qos.settings))), {})


def _account_now(node: Node, name: str, keys: Sequence[str]) -> dict[str, str]:
    """The settings of the account's own association, which has no user."""
    rows = _rows(node, ["assoc", "where", f"account={name}"], ("User", *keys))
    return next((row for row in rows if not row["User"]), {})


def _rows(node: Node, what: Sequence[str], keys: Sequence[str]) -> list[dict[str, str]]:
    answer = _answer(node, [*SHOW, *what, f"format={','.join(keys)}"])
    lines = [line.split("|") for line in answer.splitlines() if line]
    return [dict(zip(keys, line)) for line in lines if len(line) == len(keys)]


def _answer(node: Node, question: Sequence[str]) -> str:
    """What a daemon says once it answers: slurmctld and slurmdbd have been started or reconfigured moments ago."""
    answers = []

    def answered() -> bool:
        answers.append(node.query(question))
        return answers[-1].code == 0

    node.wait_until(answered, f"{' '.join(question)}: no answer", node.patience.slurm)
    return answers[-1].output
