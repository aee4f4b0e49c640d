"""The software that this library's lifecycle scripts set up on nodes: the key `software` of their `config.json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk.interfaces.aws_secretsmanager import ISecretRef

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.tokens import is_list_token, is_unknown
from hyperpod_constructs._support.values import Port
from hyperpod_constructs.node_software.node_metrics import NodeMetrics
from hyperpod_constructs.node_software.text import (
    DATABASE_NAME,
    GROUP_NAME,
    HOST,
    check_lines,
    check_path,
    check_public_key,
    check_user_name,
    check_word,
)

_USER_IDS = range(1000, 60_001)


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class NodeUser:
    """A user with the same ids on every node and a home on a shared file system.

    :param name: a Linux account: a lowercase letter or underscore, then letters, digits, `-` and `_`, 32 at most.
    :param uid: 1000 to 60000. Never change it: files on the shared file system belong to the number.
    :param gid: the id of the user's own group, which has the user's name; the uid unless given.
    :param groups: further, existing groups on the nodes; none unless given.
    :param sudo: whether the user may become root; no unless given.
    :param ssh_keys: public keys for the login, as lines of `authorized_keys`; none unless given.
    :raises ValueError: for a reserved name or id of Linux distributions, a group that is not one word, or a key that is not one
        line.

    Source: https://systemd.io/UIDS-GIDS/
    """

    name: str
    uid: int
    gid: int | None = None
    groups: Sequence[str] = ()
    sudo: bool = False
    ssh_keys: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_user_name(self.name)
        for name, value in (("uid", self.uid), ("gid", self.gid)):
            if value is not None and not is_unknown(value) and value not in _USER_IDS:
                raise ValueError(
                    f"NodeUser {self.name!r}: {name} {value} is not one of {_USER_IDS.start} to {_USER_IDS.stop - 1}, the ids of "
                    f"people; write {name}=10001"
                )
        for name, texts in (("groups", self.groups), ("ssh_keys", self.ssh_keys)):
            if is_list_token(texts):
                raise ValueError(
                    f"NodeUser {self.name!r}: {name} is a list that only the deployment knows; allowed: a list whose items may be "
                    f"tokens; write {name}=[Fn.select(0, texts), Fn.select(1, texts)]"
                )
        for group in self.groups:
            check_word(f"NodeUser {self.name!r}", "groups", group, GROUP_NAME, "docker")
        for key in self.ssh_keys:
            check_public_key(f"NodeUser {self.name!r}", key)

    @property
    def group_id(self) -> int:
        """The id of the user's own group."""
        return self.uid if self.gid is None else self.gid

    def render(self) -> dict[str, Any]:
        """The user in `config.json`."""
        return {
            "name": self.name,
            "uid": self.uid,
            "gid": self.group_id,
            "groups": list(self.groups),
            "sudo": self.sudo,
            "ssh_keys": list(self.ssh_keys),
        }


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class ExternalAccounting:
    """A MariaDB or MySQL server for Slurm's accounting, in clusters with groups that run `OnCreate`.

    :param host: name or address; the nodes' security group must allow traffic to it.
    :param secret: a secret with the keys `username` and `password`; import one by its complete ARN. The controller's role may read
        it, and decrypt it by its `encryption_key`.
    :param port: 1 to 65535; 3306 unless given.
    :param name: the database; `slurm_acct_db` unless given.
    :param tls: whether slurmdbd encrypts its connection; yes unless given. The server's certificate is not verified against an
        authority.
    """

    host: str
    secret: ISecretRef
    port: Port = 3306
    name: str = "slurm_acct_db"
    tls: bool = True

    def __post_init__(self) -> None:
        check_word("ExternalAccounting", "host", self.host, HOST, "db.example.com")
        check_word("ExternalAccounting", "name", self.name, DATABASE_NAME, "slurm_acct_db")

    def render(self) -> dict[str, Any]:
        """The database in `config.json`."""
        return {
            "type": "external",
            "host": self.host,
            "port": self.port,
            "name": self.name,
            "secret_arn": self.secret.secret_ref.secret_id,
            "region": self.secret.env.region,
            "tls": self.tls,
        }


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class NodeHealth:
    """The nodes' checks of themselves, beside the service's own health monitoring.

    :param interval_seconds: seconds between two checks of a node; 60 unless given.
    :param checks_directory: your own executables on each node; the last line of a failing one names the fault.
        `/opt/hyperpod/checks.d` unless given.
    :param max_marks_per_node_per_day: most marks of one node for replacement or reboot; 1 unless given.
    :param max_marks_per_cluster_per_hour: most marks of all nodes together; 2 unless given.
    :param hang_seconds: a job with heartbeats hangs after so many seconds without progress; 600 unless given.
    :raises ValueError: for a number below 1.
    """

    interval_seconds: int = 60
    checks_directory: str = "/opt/hyperpod/checks.d"
    max_marks_per_node_per_day: int = 1
    max_marks_per_cluster_per_hour: int = 2
    hang_seconds: int = 600

    def __post_init__(self) -> None:
        check_path("NodeHealth", "checks_directory", self.checks_directory)
        for name, value in self.render().items():
            if isinstance(value, int) and not is_unknown(value) and value < 1:
                raise ValueError(f"NodeHealth: {name} is {value}; allowed: 1 or more; leave health=None to switch the checks off")

    def render(self) -> dict[str, Any]:
        """The settings in `config.json`."""
        return {name: getattr(self, name) for name in self.__slots__}


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSoftware:
    """The software that this library's scripts set up beyond mounts.

    :param shared_directory: mount path of a file system on every group, for keys and copies of the controller's state; the first
        such path unless given.
    :param homes: directory of the homes, on a file system of every group. By default it is the mount path of an OpenZFS file system
        on every group, or else `home` in the shared directory.
    :param users: users with fixed ids; none unless given.
    :param accounting: a database of your own for groups that run `OnCreate`; MariaDB on the controller unless given. With
        `OnInitComplete` the image sets accounting up, and the scripts leave it alone.
    :param containers: keep container images and layers on the largest local disk, where Docker or Enroot is installed; on unless
        given.
    :param health: the nodes' checks of themselves; the defaults of `NodeHealth` unless given. `None` switches them off.
    :param log_rotation: rotate the logs of Slurm and of the scripts; on unless given.
    :param motd: greet with the cluster's own commands; on unless given.
    :param metrics: the figures that the nodes tell; none unless given, because CloudWatch and Prometheus charge for them.
    :param sssd: the text of `sssd.conf`; no SSSD when not given. The text lies in S3 and on every node, so bind without a password.
        The set-up of a node without SSSD installed fails with that cause.
    """

    shared_directory: str | None = None
    homes: str | None = None
    users: Sequence[NodeUser] = ()
    accounting: ExternalAccounting | None = None
    containers: bool = True
    health: NodeHealth | None = NodeHealth()
    log_rotation: bool = True
    motd: bool = True
    metrics: NodeMetrics | None = None
    sssd: str | None = None

    def __post_init__(self) -> None:
        for name, path in (("shared_directory", self.shared_directory), ("homes", self.homes)):
            if path is not None:
                check_path("NodeSoftware", name, path)
        if self.sssd is not None:
            check_lines("NodeSoftware", "sssd", self.sssd)
        names: dict[str, list[Any]] = {
            "name": [user.name for user in self.users],
            "uid": [user.uid for user in self.users],
            "gid": [user.group_id for user in self.users],
        }
        for name, values in names.items():
            twice = sorted({str(value) for value in values if values.count(value) > 1})
            if twice:
                raise ValueError(f"NodeSoftware: two users have the {name} {', '.join(twice)}; give each one of its own")

    def render(self, shared_directory: str | None, homes: str | None = None) -> dict[str, Any]:
        """The key `software` of `config.json`, for a cluster with this shared directory and these homes."""
        rendered: dict[str, Any] = {
            "accounting": {"type": "local"} if self.accounting is None else self.accounting.render(),
            "containers": self.containers,
            "log_rotation": self.log_rotation,
            "motd": self.motd,
        }
        if shared_directory is not None:
            rendered |= {"shared_directory": shared_directory, "homes": f"{shared_directory}/home" if homes is None else homes}
        if self.users:
            rendered["users"] = [user.render() for user in self.users]
        if self.health is not None:
            rendered["health"] = self.health.render()
        if self.metrics is not None:
            rendered["metrics"] = self.metrics.render()
        if self.sssd is not None:
            rendered["sssd"] = self.sssd
        return rendered
