"""Which tier is restored: the newest step that is whole, and of equal ones the nearest."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.examples.jobs import EXAMPLES

CHECK = """
import os
import torch
from common.bucket import Bucket
from common.shard_memory import Shard
from common.tensors import pack
from common.tiers import Tiers

class Alone:
    "A double of the world: this is rank 0 of two, and the other rank does as this one."
    rank, size = 0, 2

    def sum(self, values):
        return [2 * value for value in values]

    def from_first(self, value):
        return value

class Place:
    "A double of a tier, which holds these shards; some of its holders give nothing, or other bytes."
    def __init__(self, name, *shards, **holders):
        self.name, self.shards, self.given = name, shards, holders or {"one": True}
        self.asked = []

    def holders(self, world):
        return {shard: list(self.given) for shard in self.shards}

    def fetch(self, shard, holder):
        self.asked.append((shard.step, holder))
        answer = self.given[holder]
        if answer is not True:
            return self.refuse(answer)
        return pack({"step": torch.tensor(shard.step), "rank": torch.tensor(shard.rank)})

    def refuse(self, answer):
        if isinstance(answer, Exception):
            raise answer
        return bytearray(answer)

def both(step, life=1, size=2):
    return [Shard(rank, size, step, life) for rank in range(2)]

def newest(on_disk, memory=(), bucket=(), **holders):
    places = Place("memory", *memory, **holders), Place("S3", *bucket)
    tiers = Tiers(Alone(), dict, *places, (1, 1))
    step = tiers.newest(on_disk)
    found = None if tiers.found is None else tiers.found["step"].item()
    assert found in (None, step)
    return step, [place.name for place in places if place.asked]

assert newest(0) == (0, [])
assert newest(8, both(10)) == (10, ["memory"])
assert newest(8, both(6)) == (8, [])
assert newest(8, both(8)) == (8, ["memory"]), "equal: memory is nearer than the file system"
assert newest(8, [], both(8)) == (8, []), "equal: the file system is nearer than S3"
assert newest(8, both(9), both(9)) == (9, ["memory"]), "equal: memory is nearer than S3"
assert newest(8, both(9), both(12)) == (12, ["S3"]), "newer"
assert newest(0, both(10)[:1], both(5)) == (5, ["S3"]), "a rank's shard is missing"
assert newest(8, both(10)[:1]) == (8, [])
assert newest(8, [Shard(0, 2, 10, 1), Shard(1, 2, 10, 2)]) == (8, []), "of two starts"
assert newest(8, both(10, size=3)) == (8, []), "of another number of ranks"
assert newest(8, [*both(10), *both(12)[:1]]) == (10, ["memory"]), "the step before is whole"

gone, spoilt = OSError("gone"), b"other bytes"
assert newest(8, both(10), first=gone, second=True) == (10, ["memory"]), "the second holder gives it"
assert newest(8, both(10), both(9), first=gone, second=spoilt) == (9, ["memory", "S3"]), "the next tier gives it"
assert newest(9, both(10), both(9), only=spoilt) == (9, ["memory"]), "the file system is next"

os.environ["PATH"] = ""
assert Bucket("s3://bucket/run").holders(Alone()) == {}, "a bucket that cannot be asked stops no job"
for wrong in ("bucket/run", "s3://bucket", "s3://bucket/", "s3://bucket/run --recursive", "s3://bucket/../run;x"):
    try:
        Bucket(wrong)
    except SystemExit as error:
        assert "not a prefix in S3" in str(error)
    else:
        raise AssertionError(wrong)

tiers = Tiers(Alone(), dict, Place("memory", *both(10)), None, (1, 0))
tiers.newest(0)
state = {"step": torch.tensor(0), "rank": torch.tensor(5)}
tiers.load(state)
assert (state["step"].item(), state["rank"].item()) == (10, 0)
tiers.newest(0)
for other in ({"step": state["step"]}, state | {"rank": torch.zeros(2)}, state | {"more": torch.zeros(2)}):
    try:
        tiers.load(other)
    except SystemExit as error:
        assert "of another model" in str(error)
    else:
        raise AssertionError(other)
"""


def test_the_nearest_whole_tier(torch_python: Path) -> None:
    done = subprocess.run([torch_python, "-c", CHECK], cwd=EXAMPLES, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
