"""Shards of checkpoints in S3, by the AWS CLI: it finds the node's credentials, and sends large objects in parts.

An object's name says whose shard it is and which checksum it has, so a listing shows what is whole, and no list has to be written.
"""

from __future__ import annotations

import hashlib
import logging
import re
import subprocess
from typing import Any

from common.shard_memory import Shard
from common.world import World

SECONDS = 3600
KEY = re.compile(r" (\d+) \S*/step-(\d{10})/(\d{1,19})/rank-(\d{1,6})-of-(\d{1,6})-([0-9a-f]{64})$")


class Bucket:
    """A prefix such as `s3://bucket/runs/first`. Old steps are left to a lifecycle rule of the bucket."""

    name = "S3"

    def __init__(self, prefix: str) -> None:
        if not re.fullmatch(r"s3://[a-z0-9.-]{3,63}(/[\w.=-]+)+", prefix):
            raise SystemExit(f"BUCKET={prefix}: not a prefix in S3, give one such as s3://bucket/runs/first")
        self.prefix = prefix

    def hold(self, shard: Shard, data: bytearray) -> None:
        name = f"{folder(shard)}/rank-{shard.rank}-of-{shard.size}-{hashlib.sha256(data).hexdigest()}"
        aws("s3", "cp", "-", f"{self.prefix}/{name}", "--only-show-errors", "--expected-size", str(len(data)), given=data)

    def holders(self, world: World) -> dict[Shard, list[Any]]:
        """The first rank asks for all; a bucket that does not answer holds nothing."""
        return {Shard(*shard): names for shard, names in world.from_first(self.answered() if world.rank == 0 else None)}

    def answered(self) -> list[tuple[Shard, list[tuple[str, int]]]]:
        try:
            return self.listed()
        except OSError as error:
            logging.warning("%s does not answer: %s", self.prefix, error)
            return []

    def listed(self) -> list[tuple[Shard, list[tuple[str, int]]]]:
        found: dict[Shard, list[tuple[str, int]]] = {}
        for line in aws("s3", "ls", "--recursive", f"{self.prefix}/", empty=1).decode(errors="replace").splitlines():
            if (match := KEY.search(line)) is not None:
                size, step, life, rank, ranks = map(int, match.groups()[:5])
                found.setdefault(Shard(rank, ranks, step, life), []).append((match[6], size))
        return list(found.items())

    def fetch(self, shard: Shard, holder: tuple[str, int]) -> bytearray:
        """:raises OSError: for an object that is not there, or not as its name says."""
        sha256, size = holder
        name = f"{folder(shard)}/rank-{shard.rank}-of-{shard.size}-{sha256}"
        data = bytearray(aws("s3", "cp", f"{self.prefix}/{name}", "-", "--only-show-errors"))
        if len(data) != size or hashlib.sha256(data).hexdigest() != sha256:
            raise OSError(f"{self.prefix}/{name}: {len(data)} bytes that do not have this checksum")
        return data


def folder(shard: Shard) -> str:
    return f"step-{shard.step:010d}/{shard.life}"


def aws(*arguments: str, given: bytes | bytearray = b"", empty: int = 0) -> bytes:
    """What the command prints. `empty` is its exit status where nothing is found."""
    try:
        done = subprocess.run(["aws", *arguments], input=given, capture_output=True, timeout=SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise OSError(f"aws {' '.join(arguments[:2])}: not done in {SECONDS} s") from None
    if done.returncode and not (done.returncode == empty and not done.stderr.strip()):
        raise OSError(f"aws {' '.join(arguments[:2])}: {done.stderr.decode(errors='replace').strip()[-500:]}")
    return done.stdout
