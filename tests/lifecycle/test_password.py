"""The password of the accounting database: where it stands, how it is followed, and what is said of a database out of reach."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from node_setup import database
from node_setup.errors import NodeSetupError
from node_setup.steps import password

from .machine import Machine, make_machine

CONF = "/opt/slurm/etc/slurmdbd.conf"
# RDS makes passwords of all printable characters but / " @ and the blank.
ODD = "a#b\\c=d'e!$%&*(),;:<>?[]^_`{|}~+-."
BY_SERVICE = {"type": "service", "host": "db.example", "port": 3306, "secret_arn": "arn:x", "region": "us-west-2"}
BY_IMAGE = (
    "# Written by the image.\nSlurmUser=slurm\nstoragehost = db.example\nStorageUser = admin\nStoragePass= old\nStorageLoc=a\n"
)


def with_password(machine: Machine, text: str) -> None:
    machine.secret = json.dumps({"username": "admin", "password": text})


def look(machine: Machine) -> str:
    """One look at the database, and what it logged."""
    before = len(machine.log.getvalue())
    password.look(machine.node("accounting"))
    return machine.log.getvalue()[before:]


def restarts(machine: Machine) -> int:
    return machine.commands.count("systemctl restart slurmdbd.service")


@pytest.fixture
def owner(tmp_path: Path) -> Machine:
    """A controller whose scripts own it, with a database elsewhere."""
    machine = make_machine(tmp_path / "node", "Controller", "on_create")
    machine.config["software"]["accounting"] = {**BY_SERVICE, "type": "external"}
    machine.set_up("on_create")
    machine.commands.clear()
    return machine


@pytest.fixture
def served(tmp_path: Path) -> Machine:
    """A controller whose image was given the database by the service."""
    machine = make_machine(tmp_path / "node", "Controller", "on_init_complete")
    machine.config["software"]["accounting"] = BY_SERVICE
    machine.write(CONF, BY_IMAGE, 0o600)
    with_password(machine, "old")
    machine.set_up("on_init_complete")
    machine.commands.clear()
    return machine


def test_only_slurmdbd_s_file_has_the_password(owner: Machine) -> None:
    assert owner.path(CONF).stat().st_mode & 0o777 == 0o600
    with_password(owner, "not-to-be-found")
    look(owner)
    found = [path for path in owner.root.rglob("*") if path.is_file() and "not-to-be-found" in path.read_text(errors="replace")]
    assert found == [owner.path(CONF)]
    assert not any("not-to-be-found" in text for text in [*owner.commands, owner.log.getvalue()])


def test_tls_is_asked_for_unless_it_is_left_out(owner: Machine) -> None:
    assert "\nStorageParameters=SSL_CIPHER=" in owner.text(CONF)
    owner.config["software"]["accounting"]["tls"] = False
    owner.set_up("on_create")
    assert "StorageParameters" not in owner.text(CONF)


@pytest.mark.parametrize("machine", ["owner", "served"])
def test_a_rotated_password_is_taken_over_once(machine: str, request: pytest.FixtureRequest) -> None:
    found: Machine = request.getfixturevalue(machine)
    assert look(found) == ""
    assert restarts(found) == 0
    with_password(found, ODD)
    assert "the database has a new password" in look(found)
    assert look(found) == ""
    assert restarts(found) == 1
    access = database.read_access(found.node("accounting"))
    assert access is not None
    assert (access.host, access.user, access.password) == ("db.example", "admin", ODD)
    assert "StoragePass=a\\#b\\\\c=d'e!" in found.text(CONF)


def test_the_rest_of_the_image_s_file_stays(served: Machine) -> None:
    with_password(served, "new")
    look(served)
    assert served.text(CONF) == (
        "# Written by the image.\nSlurmUser=slurm\nstoragehost = db.example\nStorageLoc=a\nStorageUser=admin\nStoragePass=new\n"
    )


def test_a_kill_between_file_and_restart_is_made_good(owner: Machine) -> None:
    with_password(owner, "new")
    owner.effects, owner.kill_at = [], 1
    with pytest.raises(BaseException, match="slurmdbd"):
        look(owner)
    owner.kill_at = None
    assert restarts(owner) == 0
    look(owner)
    assert restarts(owner) == 1


def test_an_unreachable_database_is_named_once_and_its_return_too(owner: Machine) -> None:
    owner.listens = False
    said = "accounting: db.example:3306: the accounting database is unreachable; it must be available, and the security groups must"
    assert said in look(owner)
    assert look(owner) == ""
    owner.secret, owner.listens = "", True
    assert "accounting: arn:x: the secret of the accounting database cannot be read" in look(owner)
    with_password(owner, "pw")
    assert "accounting: the database is usable again" in look(owner)
    assert restarts(owner) == 0


def test_fails_to_set_up_without_its_database(tmp_path: Path) -> None:
    machine = make_machine(tmp_path / "node", "Controller", "on_create")
    machine.config["software"]["accounting"] = {**BY_SERVICE, "type": "external"}
    machine.listens = False
    with pytest.raises(NodeSetupError, match=r"accounting: db\.example:3306: the accounting database is unreachable"):
        machine.set_up("on_create")
    assert not any(command.startswith("systemctl start slurmctld") for command in machine.commands)


@pytest.mark.parametrize(
    ("node_type", "mode", "accounting"),
    [
        ("Controller", "on_create", {"type": "local"}),
        ("Controller", "on_init_complete", {**BY_SERVICE, "type": "external"}),
        ("Compute", "on_init_complete", BY_SERVICE),
    ],
)
def test_nothing_is_followed_where_the_database_is_not_this_node_s(
    tmp_path: Path, node_type: str, mode: str, accounting: dict[str, object]
) -> None:
    machine = make_machine(tmp_path / "node", node_type, mode)
    machine.config["software"]["accounting"] = accounting
    assert not password.needed(machine.node(mode))
