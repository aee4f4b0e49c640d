"""The image of a virtual node: Debian 13 with its Slurm 24.11, laid out like the service's own image.

Two directories, cached under the hash of what made them: `base` from mmdebstrap, `layer` with this package's files.
The service's image is closed: what is imitated is what its documents and public scripts rely on.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hyperpod_constructs.local.nodes.commands import host
from hyperpod_constructs.local.nodes.errors import NodesError
from hyperpod_constructs.local.nodes.requirements import KEYRINGS, missing

SUITE = "trixie"
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "slurmctld", "slurmd", "slurmdbd", "slurm-client", "munge", "mariadb-server", "iproute2"),
    *("python3", "openssh-server", "openssh-client", "sudo", "procps", "logrotate"),
)
OFF = ("slurmctld", "slurmd", "slurmdbd", "mariadb", "munge", "systemd-pstore", "getty@tty1")
MASKED = (
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "fstrim.timer", "console-getty.service"),
    *("systemd-firstboot.service", "systemd-udevd.service", "systemd-udev-trigger.service", "ldconfig.service"),
    *("systemd-journal-catalog-update.service", "systemd-update-done.service", "systemd-sysusers.service", "dev-hugepages.mount"),
)
# The database's files as Debian makes them are 140 MB, of which a node in memory would copy most.
CUSTOMIZE = f"""
set -eu
cat > "$1/etc/mysql/mariadb.conf.d/90-small.cnf" <<'END'
[mariadbd]
innodb_log_file_size = 4M
innodb_buffer_pool_size = 32M
innodb_undo_tablespaces = 0
innodb_lock_wait_timeout = 900
performance_schema = off
skip_log_bin
END
find "$1/var/lib/mysql" -mindepth 1 -delete
chroot "$1" mariadb-install-db --user=mysql --skip-test-db --auth-root-authentication-method=socket >/dev/null
chroot "$1" systemctl disable {" ".join(OFF)}
chroot "$1" systemctl mask {" ".join(MASKED)}
chroot "$1" useradd --create-home --shell /bin/bash --uid 1000 --user-group ubuntu
printf 'ubuntu ALL=(ALL) NOPASSWD:ALL\\n' > "$1/etc/sudoers.d/ubuntu"
chroot "$1" install -d -o slurm -g slurm /var/log/slurm /var/spool/slurmctld
chroot "$1" install -d /var/spool/slurmd /var/log/provision
sed -i 's/^hosts:.*/hosts: files/' "$1/etc/nsswitch.conf"
rm -f "$1"/etc/init.d/slurm* "$1"/etc/init.d/munge "$1"/etc/init.d/mariadb
rm -rf "$1/etc/slurm" "$1"/etc/ssh/ssh_host_* "$1/etc/munge/munge.key" "$1/etc/hostname"
: > "$1/etc/resolv.conf"
"""
FILES = Path(__file__).parent / "layer"
PROGRAMS = Path(__file__).parent / "doubles" / "programs"
INSTALLED = {
    "opt/slurm/bin/srun": "auto_resume.py",
    "usr/local/bin/aws": "aws.py",
    "usr/sbin/mount.lustre": "mount_shared.py",
    "usr/sbin/mount.nfs": "mount_shared.py",
    "usr/local/lib/doubles/mount_table": "mount_table.py",
}
SLURM_COMMANDS = (
    *("sacct", "sacctmgr", "salloc", "sattach", "sbatch", "sbcast", "scancel", "scontrol", "scrontab", "sdiag", "sinfo"),
    *("sprio", "squeue", "sreport", "sshare", "sstat", "strigger"),
)
ENABLED = {"mount-table.service": "sysinit.target", "dlami-nvme.service": "local-fs.target"}
SLURM_DAEMONS = ("slurmctld", "slurmd", "slurmdbd", "slurmstepd")


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """Directories for an overlay, the upper one first."""

    layers: tuple[Path, ...]

    @classmethod
    def build(cls, cache: Path | None = None) -> Image:
        """The image in that cache, built when its recipe is new there; by default in the user's cache directory.

        :raises NodesError: if the machine lacks something (see `missing`), or the build fails.
        """
        if (sentence := missing()) is not None:
            raise NodesError(sentence)
        cache = _user_cache() if cache is None else cache
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            base = _cached(cache, "base", json.dumps([SUITE, PACKAGES, CUSTOMIZE]).encode(), _build_base)
            layer = _cached(cache, "layer", _layer_recipe(), _build_layer)
        return cls(layers=(layer, base))


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hyperpod-constructs" / "images"


def _cached(cache: Path, kind: str, recipe: bytes, build: Callable[[Path], None]) -> Path:
    target = cache / f"{kind}-{hashlib.sha256(recipe).hexdigest()[:16]}"
    if target.exists():
        return target
    temporary = Path(tempfile.mkdtemp(prefix=f"{kind}-", suffix=".part", dir=cache))
    try:
        build(temporary)
        temporary.chmod(0o755)
        temporary.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def _build_base(target: Path) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".sh", encoding="utf-8") as hook:
        hook.write(CUSTOMIZE)
        hook.flush()
        command = ["mmdebstrap", "--mode=root", "--variant=minbase", f"--keyring={KEYRINGS}/", f"--include={','.join(PACKAGES)}"]
        host(*command, f'--customize-hook=sh {hook.name} "$1"', SUITE, str(target))


def _layer_recipe() -> bytes:
    files = sorted(path for path in [*FILES.rglob("*"), *PROGRAMS.glob("*.py")] if path.is_file())
    return b"\0".join([Path(__file__).read_bytes(), *(str(path.name).encode() + b"\0" + path.read_bytes() for path in files)])


def _build_layer(target: Path) -> None:
    shutil.copytree(FILES, target, dirs_exist_ok=True)
    for destination, source in INSTALLED.items():
        installed = target / destination
        installed.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(PROGRAMS / source, installed)
        installed.chmod(0o755)
    for name in SLURM_COMMANDS:
        _link(target / "opt/slurm/bin" / name, f"/usr/bin/{name}")
    for name in SLURM_DAEMONS:
        _link(target / "opt/slurm/sbin" / name, f"/usr/sbin/{name}")
    _link(target / "etc/slurm", "/opt/slurm/etc")
    for unit, target_unit in ENABLED.items():
        _link(target / "etc/systemd/system" / f"{target_unit}.wants" / unit, f"../{unit}")
    for directory in (
        "opt/slurm/etc",
        "opt/sagemaker_cluster",
        "opt/ml/config",
        "fsx",
        "mnt/.lustre",
        "mnt/.openzfs",
        "srv/database",
    ):
        (target / directory).mkdir(parents=True, exist_ok=True)
    (target / "opt/slurm/etc/accounting.conf").touch()
    for path in target.rglob("*/"):
        path.chmod(0o755)


def _link(path: Path, to: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(to)
