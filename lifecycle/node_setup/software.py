"""The key `software` of `config.json`: the node's software. Every key is optional and off by default."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from node_setup.errors import NodeSetupError
from node_setup.schema import (
    check_choice,
    check_flag,
    check_lines,
    check_list,
    check_number,
    check_object,
    check_path,
    check_word,
)

KEYS = (
    "shared_directory",
    "homes",
    "users",
    "accounting",
    "containers",
    "sssd",
    "health",
    "log_rotation",
    "motd",
    "metrics",
)
USER_KEYS = ("name", "uid", "gid")
USER_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
GROUP_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}")
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*")
DATABASE_NAME = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_$-]*")
WORD = re.compile(r"[^\s#\"'\\-][^\s#\"'\\]*")
PUBLIC_KEY = re.compile(r"(.*\s)?(ssh|ecdsa|sk-ssh|sk-ecdsa)-\S+\s+\S+(\s.*)?")
FIRST_ID, LAST_ID = 1000, 60_000
# Names of the system, of Slurm and of the images, and of groups with the power of root.
RESERVED = """
_apt adm backup bin daemon dbus disk docker ec2-user games gnats irc kmem kvm list lp lxd mail man messagebus munge mysql news
nobody nogroup polkitd proxy root shadow slurm slurmrestd sshd sssd staff sudo sync sys syslog tape tty ubuntu users uucp uuidd
wheel www-data"""
PORT = 3306
DATABASE = "slurm_acct_db"
METRIC_SETS = ("gpu", "memory", "neuron", "efa", "disk")
ADDRESSES = ("127.0.0.1", "0.0.0.0")
NAMESPACE = re.compile(r"[A-Za-z0-9._/#:-]{1,255}")
WRITE_URL = re.compile(r"https://[A-Za-z0-9.-]+(:\d{1,5})?/[A-Za-z0-9._/-]*|http://127\.0\.0\.1:\d{1,5}/[A-Za-z0-9._/-]*")


class User(NamedTuple):
    name: str
    uid: int
    gid: int
    groups: list[str]
    sudo: bool
    ssh_keys: list[str]


class Accounting(NamedTuple):
    """The accounting database; `host` is `None` for MariaDB on the controller, `user` is `None` if the secret names it.

    With `tls` slurmdbd encrypts its connection. With `by_service` the image gives it to slurmdbd, and the scripts only follow its
    password.
    """

    name: str
    host: str | None
    port: int
    user: str | None
    secret_arn: str | None
    region: str | None
    tls: bool = False
    by_service: bool = False


class Health(NamedTuple):
    interval_seconds: int
    checks_directory: str
    max_marks_per_node_per_day: int
    max_marks_per_cluster_per_hour: int
    hang_seconds: int


class CloudWatch(NamedTuple):
    """The figures in CloudWatch; `per_node` keeps those of each node apart."""

    namespace: str
    region: str
    per_node: bool


class RemoteWrite(NamedTuple):
    """A Prometheus that takes samples; `region` signs the requests, and is `None` for one on this machine."""

    url: str
    region: str | None


class Metrics(NamedTuple):
    """The figures of the node: their sets, the interval, and who gets them."""

    interval_seconds: int
    sets: tuple[str, ...]
    address: str
    port: int
    cloudwatch: CloudWatch | None
    remote_write: RemoteWrite | None


class Software(NamedTuple):
    shared_directory: str | None
    homes: str | None
    users: list[User]
    accounting: Accounting | None
    containers: bool
    sssd: str | None
    health: Health | None
    log_rotation: bool
    motd: bool
    metrics: Metrics | None


def parse_software(value: Any) -> Software:
    check_object("software", value, required=(), optional=KEYS)
    paths = {key: check_path(f"software.{key}", value[key]) for key in ("shared_directory", "homes") if key in value}
    flags = {key: check_flag(f"software.{key}", value.get(key, False)) for key in ("containers", "log_rotation", "motd")}
    users = [
        _user(f"software.users[{index}]", user) for index, user in enumerate(check_list("software.users", value.get("users", [])))
    ]
    for key in ("name", "uid", "gid"):
        _check_unique(key, [str(getattr(user, key)) for user in users])
    if users and "homes" not in paths:
        raise NodeSetupError("software.users needs software.homes, the folder of their homes on the shared file system")
    return Software(
        shared_directory=paths.get("shared_directory"),
        homes=paths.get("homes"),
        users=users,
        accounting=_accounting(value["accounting"]) if "accounting" in value else None,
        containers=flags["containers"],
        sssd=check_lines("software.sssd", value["sssd"]) if "sssd" in value else None,
        health=_health(value["health"]) if "health" in value else None,
        log_rotation=flags["log_rotation"],
        motd=flags["motd"],
        metrics=_metrics(value["metrics"]) if "metrics" in value else None,
    )


def _user(where: str, value: Any) -> User:
    check_object(where, value, required=USER_KEYS, optional=("groups", "sudo", "ssh_keys"))
    name = check_word(f"{where}.name", value["name"], USER_NAME)
    if name in RESERVED.split() or name.startswith("systemd-"):
        raise NodeSetupError(f"{where}.name is {name!r}, which the system reserves; choose another")
    groups = [
        check_word(f"{where}.groups[{index}]", group, GROUP_NAME)
        for index, group in enumerate(check_list(f"{where}.groups", value.get("groups", [])))
    ]
    keys = [
        _public_key(f"{where}.ssh_keys[{index}]", key)
        for index, key in enumerate(check_list(f"{where}.ssh_keys", value.get("ssh_keys", [])))
    ]
    ids = [check_number(f"{where}.{key}", value[key], FIRST_ID, LAST_ID) for key in ("uid", "gid")]
    return User(name, ids[0], ids[1], groups, check_flag(f"{where}.sudo", value.get("sudo", False)), keys)


def _public_key(where: str, value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable() or "PRIVATE KEY" in value or not PUBLIC_KEY.fullmatch(value):
        raise NodeSetupError(f"{where} must be one line with a public key, without control characters")
    return value


def _check_unique(key: str, values: list[str]) -> None:
    for value in values:
        if values.count(value) > 1:
            raise NodeSetupError(f"software.users has two users with the {key} {value}, each needs one of its own")


def _accounting(value: Any) -> Accounting:
    where = "software.accounting"
    kind = check_choice(f"{where}.type", value.get("type") if isinstance(value, dict) else None, ("local", "external", "service"))
    if kind == "local":
        check_object(where, value, required=("type",))
        return Accounting(DATABASE, None, PORT, None, None, None)
    check_object(where, value, required=("type", "host", "secret_arn", "region"), optional=("port", "name", "user", "tls"))
    patterns = {"host": HOST, "secret_arn": WORD, "region": WORD, "name": DATABASE_NAME, "user": WORD}
    texts = {key: check_word(f"{where}.{key}", value[key], pattern) for key, pattern in patterns.items() if key in value}
    return Accounting(
        texts.get("name", DATABASE),
        texts["host"],
        check_number(f"{where}.port", value.get("port", PORT)),
        texts.get("user"),
        texts["secret_arn"],
        texts["region"],
        check_flag(f"{where}.tls", value.get("tls", True)),
        kind == "service",
    )


def _health(value: Any) -> Health:
    where = "software.health"
    defaults = {"interval_seconds": 60, "max_marks_per_node_per_day": 1, "max_marks_per_cluster_per_hour": 2, "hang_seconds": 600}
    check_object(where, value, required=(), optional=(*defaults, "checks_directory"))
    numbers = {key: check_number(f"{where}.{key}", value.get(key, default)) for key, default in defaults.items()}
    directory = check_path(f"{where}.checks_directory", value.get("checks_directory", "/opt/hyperpod/checks.d"))
    return Health(checks_directory=directory, **numbers)


def _metrics(value: Any) -> Metrics:
    where = "software.metrics"
    check_object(where, value, required=("interval_seconds", "sets", "port"), optional=("address", "cloudwatch", "remote_write"))
    sets = [check_choice(f"{where}.sets", name, METRIC_SETS) for name in check_list(f"{where}.sets", value["sets"])]
    return Metrics(
        interval_seconds=check_number(f"{where}.interval_seconds", value["interval_seconds"], 1, 3600),
        sets=tuple(name for name in METRIC_SETS if name in sets),
        address=check_choice(f"{where}.address", value.get("address", ADDRESSES[0]), ADDRESSES),
        port=check_number(f"{where}.port", value["port"], 1024, 65535),
        cloudwatch=_cloudwatch(value["cloudwatch"]) if "cloudwatch" in value else None,
        remote_write=_remote_write(value["remote_write"]) if "remote_write" in value else None,
    )


def _cloudwatch(value: Any) -> CloudWatch:
    where = "software.metrics.cloudwatch"
    check_object(where, value, required=("namespace", "region", "per_node"))
    return CloudWatch(
        check_word(f"{where}.namespace", value["namespace"], NAMESPACE),
        check_word(f"{where}.region", value["region"], WORD),
        check_flag(f"{where}.per_node", value["per_node"]),
    )


def _remote_write(value: Any) -> RemoteWrite:
    where = "software.metrics.remote_write"
    check_object(where, value, required=("url",), optional=("region",))
    url = check_word(f"{where}.url", value["url"], WRITE_URL)
    if url.startswith("http://"):
        return RemoteWrite(url, None)
    check_object(where, value, required=("url", "region"))
    return RemoteWrite(url, check_word(f"{where}.region", value["region"], WORD))
