"""QOS, accounts and partitions on the controller: what the scripts read, write and leave alone."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from node_setup import partitions
from node_setup.commands import Completed
from node_setup.config import parse_config
from node_setup.errors import NodeSetupError

from .machine import CONFIG, SLURM_CONF, Machine, make_machine

INCLUDED = "/opt/slurm/etc/accounting.conf"
SCHEDULING: dict[str, Any] = {
    "slurm_conf": {"PreemptType": "preempt/qos"},
    "partitions": [{"name": "shared", "groups": ["workers"], "settings": {"MaxTime": "60"}}],
    "qos": [
        {"name": "urgent", "settings": {"Priority": "100", "Preempt": "normal", "GraceTime": "00:01:30", "GrpTRES": "node=8"}},
        {"name": "normal", "settings": {"Priority": "1", "Preempt": "", "GraceTime": "00:00:00", "GrpTRES": ""}},
    ],
    "accounts": [
        {"name": "vision", "parent": "research", "users": ["bob"], "settings": {"Fairshare": "1", "QOS": "", "GrpTRES": ""}},
        {"name": "research", "parent": "root", "users": ["alice"], "settings": {"Fairshare": "40", "QOS": "normal", "GrpTRES": ""}},
    ],
}


class Slurm(Machine):
    """A controller with a small accounting database behind sacctmgr."""

    def start(self) -> None:
        self.qos = {"normal": {"Priority": "0", "GraceTime": "00:00:00"}}
        self.assocs: dict[tuple[str, str], dict[str, str]] = {("root", ""): {"QOS": "normal", "Fairshare": "1"}}
        self.defaults: dict[str, str] = {}
        self.nodes = {"gpu": "ip-10-1-0-[5-6]", "shared": "(null)"}

    def changes(self) -> list[str]:
        return [line for line in self.commands if line.startswith(("sacctmgr --immediate", "scontrol update"))]

    def _scontrol(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        if arguments == ["show", "config"]:
            return Completed(0, "AccountingStorageType   = accounting_storage/slurmdbd\n", "")
        if arguments[:3] == ["--oneliner", "show", "partition"]:
            found = self.nodes.get(arguments[3])
            return Completed(1, "", "not found") if found is None else Completed(0, f"PartitionName=x Nodes={found} State=UP\n", "")
        if arguments[:2] == ["show", "hostnames"]:
            return Completed(0, "\n".join(arguments[2].replace("[5-6]", "5,ip-10-1-0-6").split(",")), "")
        if arguments[0] == "update":
            self.nodes[arguments[1].split("=")[1]] = arguments[2].split("=")[1]
            return Completed(0, "", "")
        return super()._scontrol(arguments, text, environment)

    def _sacctmgr(self, arguments: list[str], text: str, environment: Mapping[str, str]) -> Completed:
        if "show" in arguments:
            return Completed(0, "\n".join("|".join(row) for row in self._shown(arguments[arguments.index("show") + 1 :])), "")
        verb, entity, name = arguments[1:4]
        given = dict(word.split("=", 1) for word in arguments[4:] if "=" in word)
        if verb == "add" and entity == "qos":
            self.qos[name] = {}
        elif verb == "add" and entity == "account":
            self.assocs[(name, "")] = {
                "ParentName": given.get("Parent", "root"),
                "Fairshare": "1",
                "QOS": self.assocs[("root", "")]["QOS"],
            }
        elif verb == "add":
            self.assocs[(given["Account"], name)] = {}
            self.defaults.setdefault(name, given["Account"])
        elif entity == "user":
            self.defaults[name] = given["DefaultAccount"]
        else:
            kept = self.qos[name] if entity == "qos" else self.assocs[(name, "")]
            if "GraceTime" in given:
                seconds = int(given["GraceTime"])
                given["GraceTime"] = f"00:{seconds // 60:02}:{seconds % 60:02}"
            kept.update({key: "" if value in ("-1", "node=-1") else value for key, value in given.items()})
        return Completed(0, "", "")

    def _shown(self, words: list[str]) -> list[list[str]]:
        keys = words[-1].split("=")[1].split(",")
        rows: list[dict[str, str]] = []
        if words[0] == "cluster":
            rows = [{"Cluster": "demo"}]
        elif words[0] == "qos":
            rows = [{"Name": name, **found} for name, found in self.qos.items() if len(words) == 2 or words[1] == name]
        elif words[0] == "user":
            rows = [{"User": user, "DefaultAccount": account} for user, account in self.defaults.items()]
        elif words[0] == "account":
            rows = [{"Account": account} for account, user in self.assocs if not user]
        else:
            wanted = next((word.split("=")[1] for word in words if word.startswith("account=")), None)
            pairs = {pair: found for pair, found in self.assocs.items() if wanted in (None, pair[0])}
            rows = [{"Account": account, "User": user, **found} for (account, user), found in pairs.items()]
        return [[row.get(key, "") for key in keys] for row in rows]


@pytest.fixture
def controller(tmp_path: Path) -> Slurm:
    made = make_machine(tmp_path / "node", "Controller", "on_init_complete")
    made.__class__ = Slurm
    assert isinstance(made, Slurm)
    made.start()
    made.config["scheduling"] = deepcopy(SCHEDULING)
    return made


def test_everything_is_written_once(controller: Slurm) -> None:
    controller.set_up("on_init_complete")
    assert controller.skipped() == []
    assert controller.qos["urgent"] == {"Priority": "100", "Preempt": "normal", "GraceTime": "00:01:30", "GrpTRES": "node=8"}
    assert controller.assocs[("root", "")]["QOS"] == "normal,urgent"
    assert controller.assocs[("vision", "")]["ParentName"] == "research"
    assert controller.assocs[("research", "")]["Fairshare"] == "40"
    assert controller.defaults == {"alice": "research", "bob": "vision"}
    assert controller.nodes["shared"] == "ip-10-1-0-5,ip-10-1-0-6"
    controller.commands.clear()
    assert controller.set_up("on_init_complete") == []
    assert controller.changes() == []


def test_what_differs_is_repaired_and_nothing_else(controller: Slurm) -> None:
    controller.set_up("on_init_complete")
    controller.qos["normal"]["GrpTRES"] = "node=3"
    controller.nodes["gpu"] = "ip-10-1-0-7"
    controller.commands.clear()
    controller.set_up("on_init_complete")
    assert controller.changes() == [
        "sacctmgr --immediate modify qos normal set GrpTRES=node=-1",
        "scontrol update PartitionName=shared Nodes=ip-10-1-0-7",
    ]


def test_the_included_file_has_the_partition_without_nodes(controller: Slurm) -> None:
    controller.set_up("on_init_complete")
    lines = controller.text(INCLUDED).splitlines()
    assert "PreemptType=preempt/qos" in lines
    assert (
        lines[lines.index("NodeSet=hyperpod_none Feature=hyperpod_none") + 1]
        == "PartitionName=shared Nodes=hyperpod_none MaxTime=60"
    )
    assert controller.text("/opt/slurm/etc/slurm.conf") == SLURM_CONF


@pytest.mark.parametrize("file", ["/opt/slurm/etc/slurm.conf", INCLUDED])
def test_a_partition_of_others_is_left_as_it_is(controller: Slurm, file: str) -> None:
    """slurmctld does not start with two of one name."""
    text = controller.text(file) if controller.path(file).exists() else ""
    controller.write(file, text + "PartitionName=shared Nodes=ALL\n")
    controller.set_up("on_init_complete")
    assert "NodeSet" not in controller.text(INCLUDED)
    assert [line for line in controller.changes() if "update" in line] == []
    assert "defines shared itself; left as it is" in controller.log.getvalue()


def test_a_group_without_nodes_changes_no_partition(controller: Slurm) -> None:
    del controller.nodes["gpu"]
    node = controller.node("partitions")
    partitions.update(node)
    assert controller.changes() == []


def test_without_a_database_the_step_says_so(controller: Slurm, monkeypatch: pytest.MonkeyPatch) -> None:
    none = Completed(0, "AccountingStorageType   = (null)\n", "")
    whole = Slurm._scontrol
    monkeypatch.setattr(Slurm, "_scontrol", lambda self, words, *rest: none if words[-1] == "config" else whole(self, words, *rest))
    controller.set_up("on_init_complete")
    assert controller.skipped() == ["scheduling: QOS and accounts need an accounting database, but AccountingStorageType is (null)"]


@pytest.mark.parametrize(("program", "asked"), [("_scontrol", "config"), ("_sacctmgr", "qos")])
def test_a_daemon_that_does_not_answer_yet_is_awaited(
    controller: Slurm, monkeypatch: pytest.MonkeyPatch, program: str, asked: str
) -> None:
    refusals = iter([Completed(1, "", "Connection refused")] * 3)
    whole = getattr(Slurm, program)

    def busy(self: Slurm, words: list[str], *rest: Any) -> Completed:
        refused = next(refusals, None) if "show" in words and asked in words else None
        return refused or whole(self, words, *rest)

    monkeypatch.setattr(Slurm, program, busy)
    controller.set_up("on_init_complete")
    assert controller.skipped() == []
    assert next(refusals, None) is None
    assert controller.qos["urgent"]["Priority"] == "100"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("slurm_conf",), {"SlurmctldHost": "evil"}, "a key of scheduling.slurm_conf is 'SlurmctldHost', allowed are"),
        (("slurm_conf",), {"PreemptType": "a b"}, "scheduling.slurm_conf.PreemptType is 'a b', it must match"),
        (("slurm_conf",), {"PreemptType": "a\nb"}, "it must be one line"),
        (("partitions", 0, "name"), "a Nodes=ALL", "scheduling.partitions[0].name is 'a Nodes=ALL'"),
        (("partitions", 0, "settings"), {"Nodes": "ALL"}, "a key of scheduling.partitions[0].settings is 'Nodes'"),
        (("qos", 0, "name"), "-i", "scheduling.qos[0].name is '-i'"),
        (("qos", 0, "settings"), {"Priority": 5}, "scheduling.qos[0].settings.Priority is 5, it must be a text"),
        (("accounts", 0, "users"), ["a;b"], "scheduling.accounts[0].users[0] is 'a;b'"),
        (("accounts",), [{}] * 1001, "scheduling.accounts has 1001 entries, the most are 1000"),
    ],
)
def test_fails_for_a_configuration_of_another_form(path: tuple[Any, ...], value: Any, message: str) -> None:
    config = {**deepcopy(CONFIG), "scheduling": deepcopy(SCHEDULING)}
    place: Any = config["scheduling"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(NodeSetupError) as raised:
        parse_config(config)
    assert message in str(raised.value)
