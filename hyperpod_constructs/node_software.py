"""What the lifecycle scripts of this library set up on nodes: the key `software` of their `config.json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk.interfaces.aws_secretsmanager import ISecretRef

from hyperpod_constructs._arguments import check_fields
from hyperpod_constructs._node_text import (
    DATABASE_NAME,
    GROUP_NAME,
    HOST,
    check_lines,
    check_path,
    check_public_key,
    check_user_name,
    check_word,
)
from hyperpod_constructs._tokens import is_unknown

_USER_IDS = range(1000, 60_001)


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeUser:
    """A user with the same ids on every node, whose home is on the shared file system.

    name: of a Linux account: a lowercase letter or underscore, then letters, digits, `-` and `_`, 32 at most.
    uid: 1000 to 60000, and never changed: files on the shared file system belong to the number.
    gid: of the user's own group, which has the user's name; the uid unless given.
    groups: further groups, which exist on the nodes.
    sudo: whether the user may become root.
    ssh_keys: public keys that may log in, as lines of `authorized_keys`.

    Raises ValueError for a name or an id that Linux distributions keep for other purposes
    (https://systemd.io/UIDS-GIDS/), and for a group or a key that is not one word or line.
    """

    name: str
    uid: int
    gid: int | None = None
    groups: Sequence[str] = ()
    sudo: bool = False
    ssh_keys: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        check_user_name(self.name)
        for name, value in (("uid", self.uid), ("gid", self.gid)):
            if value is not None and not is_unknown(value) and value not in _USER_IDS:
                raise ValueError(
                    f"NodeUser {self.name!r}: {name} {value} is not one of {_USER_IDS.start} to {_USER_IDS.stop - 1}, the ids of "
                    f"people; write {name}=10001"
                )
        for group in self.groups:
            check_word(f"NodeUser {self.name!r}", "groups", group, GROUP_NAME, "docker")
        for key in self.ssh_keys:
            check_public_key(f"NodeUser {self.name!r}", key)

    @property
    def group_id(self) -> int:
        """Of the user's own group."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class ExternalAccounting:
    """A MariaDB or MySQL server that holds Slurm's accounting of clusters whose groups run `OnCreate`.

    host: its name or address; the nodes' security group must let them out to it.
    secret: with the keys `username` and `password`, an imported one by its complete ARN; the controller's role is granted to read
        it. A key of your own that encrypts it is granted by `key.grant_decrypt(cluster)`.
    port: 3306 unless given.
    name: of the database; slurm_acct_db unless given.
    """

    host: str
    secret: ISecretRef
    port: int = 3306
    name: str = "slurm_acct_db"

    def __post_init__(self) -> None:
        check_fields(self)
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
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeHealth:
    """How nodes watch themselves, beside the service's own health monitoring.

    interval_seconds: between two checks of a node; 60 unless given.
    checks_directory: of executables of your own, on each node; one that fails names the fault by its last line.
    max_marks_per_node_per_day: how often a node is marked to be replaced or rebooted; once unless given.
    max_marks_per_cluster_per_hour: of all nodes together; 2 unless given.
    hang_seconds: without progress of a job that writes heartbeats, until it is taken to hang; 600 unless given.

    Raises ValueError for numbers below 1.
    """

    interval_seconds: int = 60
    checks_directory: str = "/opt/hyperpod/checks.d"
    max_marks_per_node_per_day: int = 1
    max_marks_per_cluster_per_hour: int = 2
    hang_seconds: int = 600

    def __post_init__(self) -> None:
        check_fields(self)
        check_path("NodeHealth", "checks_directory", self.checks_directory)
        for name, value in self.render().items():
            if isinstance(value, int) and not is_unknown(value) and value < 1:
                raise ValueError(f"NodeHealth: {name} is {value}; allowed: 1 or more; leave health=None to switch the checks off")

    def render(self) -> dict[str, Any]:
        """The settings in `config.json`."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSoftware:
    """What the scripts of this library set up beyond mounts.

    shared_directory: where homes, keys and copies of the controller's state live: the mount path of a file system that every group
        mounts; the first such unless given.
    users: with fixed ids; none unless given.
    accounting: a database of your own for groups that run `OnCreate`; MariaDB on the controller unless given. With `OnInitComplete`
        the image has set accounting up, and the scripts leave it.
    containers: container images and layers on the largest local disk, where Docker or Enroot is installed.
    health: checks of the node by itself; None switches them off.
    log_rotation: rotate the logs of Slurm and of the scripts.
    motd: greet with the cluster's own commands.
    sssd: text of `sssd.conf`; a node without SSSD fails by name. It is in S3 and on every node, so bind without a password in it.
    """

    shared_directory: str | None = None
    users: Sequence[NodeUser] = ()
    accounting: ExternalAccounting | None = None
    containers: bool = True
    health: NodeHealth | None = NodeHealth()
    log_rotation: bool = True
    motd: bool = True
    sssd: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.shared_directory is not None:
            check_path("NodeSoftware", "shared_directory", self.shared_directory)
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

    def render(self, shared_directory: str | None) -> dict[str, Any]:
        """The key `software` of `config.json`, for a cluster whose nodes share that directory."""
        rendered: dict[str, Any] = {
            "accounting": {"type": "local"} if self.accounting is None else self.accounting.render(),
            "containers": self.containers,
            "log_rotation": self.log_rotation,
            "motd": self.motd,
        }
        if shared_directory is not None:
            rendered |= {"shared_directory": shared_directory, "homes": f"{shared_directory}/home"}
        if self.users:
            rendered["users"] = [user.render() for user in self.users]
        if self.health is not None:
            rendered["health"] = self.health.render()
        if self.sssd is not None:
            rendered["sssd"] = self.sssd
        return rendered
