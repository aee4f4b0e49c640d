"""The store without a root behaves as torch's own, outlives the loss of an owner, and forms process groups."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.examples.jobs import EXAMPLES

START = """
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from common.owner_store import Owner, OwnerStore, Slots

KEY = b"k" * 32
slots = Slots(Path(sys.argv[1]))

def own(slot):
    owner = Owner("127.0.0.1", KEY)
    slots.publish(slot, owner.address)
    return owner

def rootless(count, seconds=20):
    return OwnerStore(range(count), slots.find, KEY, timedelta(seconds=seconds))
"""
# The same is asked of both; the answers are compared.
SEMANTICS = """
def answers(store, other):
    found = []
    def note(function, *arguments):
        try:
            found.append((function.__name__, function(*arguments)))
        except dist.DistStoreError:
            found.append((function.__name__, "timeout"))
    for name in ("a", "b", "c", "d", "e"):
        note(store.set, name, name.upper())
    note(other.get, "a")
    note(other.multi_get, ["e", "a", "c"])
    note(store.multi_set, ["f", "g"], ["1", "2"])
    note(other.multi_get, ["g", "f"])
    note(store.add, "n", 3)
    note(other.add, "n", -5)
    note(store.get, "n")
    note(store.add, "none", 0)
    note(store.append, "list", "x")
    note(other.append, "list", "y")
    note(store.get, "list")
    note(store.compare_set, "new", "", "first")
    note(other.compare_set, "new", "wrong", "second")
    note(other.compare_set, "new", "first", "second")
    note(store.compare_set, "absent", "something", "third")
    note(store.check, ["a", "new", "n"])
    note(store.check, ["a", "absent"])
    note(store.delete_key, "a")
    note(store.delete_key, "a")
    note(other.check, ["a"])
    note(other.num_keys)
    note(store.has_extended_api)
    note(store.set, "binary", bytes(range(256)).decode("latin-1"))
    note(store.get, "binary")
    note(store.wait, ["b", "absent"], timedelta(seconds=0.3))
    threading.Timer(0.3, lambda: other.set("late", "here")).start()
    note(store.wait, ["b", "late"])
    store.set_timeout(timedelta(seconds=0.3))
    note(store.get, "absent")
    return found

master = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=20))
client = dist.TCPStore("127.0.0.1", master.port, is_master=False, timeout=timedelta(seconds=20))
expected = answers(master, client)
owners = [own(slot) for slot in range(3)]
found = answers(rootless(3), rootless(3))
for one, other in zip(found, expected, strict=True):
    assert one == other, (one, other)
# Through C++, as process groups call it.
stores = [rootless(3), rootless(3)]
prefixed = answers(*(dist.PrefixStore("p", store) for store in stores))
differing = [(one, other) for one, other in zip(prefixed, expected, strict=True) if one != other]
assert [one[0] for one, _ in differing] == ["num_keys"], differing
assert all(owner.values for owner in owners), "an owner has no key"
again = rootless(3).clone()
again.set("by", "a clone")
assert rootless(3).get("by") == b"a clone"
"""
REPLACED = """
owners = [own(slot) for slot in range(3)]
store = rootless(3)
keys = [f"key-{n}" for n in range(30)]
store.multi_set(keys, ["v"] * 30)
lost = [key for key in keys if store.owner(key) == 1]
assert 0 < len(lost) < 30

owners[1].close()
store.link(1).peer.close()
store.link(1).peer = None
assert store.multi_get([key for key in keys if key not in lost]) == [b"v"] * (30 - len(lost)), "the keys of others are gone"
threading.Timer(0.5, lambda: own(1)).start()
store.set(lost[0], "again")
assert store.get(lost[0]) == b"again"
assert not store.check([lost[1]]), "the lost owner's keys are gone with it"

# A request that is sent again is carried out once.
link = store.link(store.owner("n"))
store.add("n", 5)
assert link.exchange("add", ["n"], [b"5"], 1)[0] == 5
link.number += 1
assert link.exchange("add", ["n"], [b"5"], 1)[0] == 10

late = OwnerStore([9], slots.find, KEY, timedelta(seconds=0.3))
stranger = OwnerStore([0], slots.find, b"s" * 32, timedelta(seconds=0.3))
for other in (late, stranger):
    try:
        other.set("a", "b")
    except dist.DistStoreError as error:
        assert "does not answer" in str(error)
    else:
        raise AssertionError
for text in ("", "[]", "[1, 2, 3]", "x" * 1000, '["a", "b"]'):
    (Path(sys.argv[1]) / "7").write_text(text)
    try:
        slots.find(7)
    except LookupError:
        continue
    raise AssertionError(text)
"""
# The address of the first member's store leads nowhere, so the group can only meet by the owners. One has a slot of its own choice.
GROUP = """
sys.path.insert(0, "checkpointless")
from group import RootlessGloo

def member(rank, slot, results):
    group = RootlessGloo(timedelta(seconds=10))
    group.meet_by(slots, KEY)
    group.configure("203.0.113.1:9/torchft/1/0", str(slot), rank, 3, 1, 0, 1, [3, 5, 7])
    total = torch.tensor([float(slot)])
    group.allreduce([total], dist.AllreduceOptions()).wait()
    results.append(total.item())

owners = [own(slot) for slot in (3, 5, 7)]
results = []
members = [threading.Thread(target=member, args=(rank, slot, results)) for rank, slot in enumerate((3, 5, 7))]
[thread.start() for thread in members]
[thread.join() for thread in members]
assert results == [15.0] * 3, results
"""


@pytest.mark.parametrize("program", [SEMANTICS, REPLACED, GROUP], ids=["semantics", "replaced", "group"])
def test_store(torch_python: Path, tmp_path: Path, program: str) -> None:
    done = subprocess.run(  # noqa: S603
        [torch_python, "-c", START + program, tmp_path], cwd=EXAMPLES, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
