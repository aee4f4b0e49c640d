"""One replica group: its place, its manager, and sums over all groups."""

# No `from __future__ import annotations` here: DistributedDataParallel compares the hook's annotations with types and not strings.

import logging
import os
import socket
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import torch
import torch.distributed as dist
from common.owner_store import Owner, OwnerStore, Slots
from common.wire import token
from common.world import choose_device
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torchft import Manager, ProcessGroupGloo, ProcessGroupNCCL
from torchft.manager import WorldSizeMode
from torchft.process_group import ProcessGroupDummy


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The group and the rank in it: `srun` starts one task per rank, and the batch script sets the rest."""

    group: int
    active_groups: int
    rank: int
    size: int

    @classmethod
    def find(cls) -> Self:
        return cls(
            group=int(os.environ["REPLICA_GROUP"]),
            active_groups=int(os.environ["ACTIVE_GROUPS"]),
            rank=int(os.environ.get("SLURM_PROCID", "0")),
            size=int(os.environ.get("SLURM_STEP_NUM_TASKS", "1")),
        )


class Rootless:
    """Process groups over all replica groups that meet by the keys of their members, and not by the store of the first."""

    def meet_by(self, slots: Slots, key: bytes) -> None:
        self.slots = slots
        self.key = key

    def configure(
        self: Any,
        store_addr: str,
        replica_id: str,
        rank: int,
        world_size: int,
        quorum_id: int | None = None,
        group_rank: int | None = None,
        group_world_size: int | None = None,
        global_ranks: list[int] | None = None,
    ) -> None:
        """Form the group of a quorum, as torchft does, but for the store: of the address, only the prefix counts."""
        self._replica_id, self._quorum_id, self._rank = replica_id, quorum_id, rank
        self._group_rank, self._group_world_size, self._global_ranks = group_rank, group_world_size, global_ranks
        self.abort(errored=False)
        assert global_ranks is not None
        # Kept, because C++ holds only its own half of a store that is written in Python.
        self.store = OwnerStore(global_ranks, self.slots.find, self.key, self._timeout)
        self._pg = self._create_pg(dist.PrefixStore(store_addr.partition("/")[2], self.store), rank, world_size)


class RootlessGloo(Rootless, ProcessGroupGloo):
    pass


class RootlessNCCL(Rootless, ProcessGroupNCCL):
    pass


class Group:
    def __init__(self, place: Place, seconds: float) -> None:
        os.environ.setdefault("LOCAL_RANK", os.environ.get("SLURM_LOCALID", "0"))
        logging.basicConfig(level=logging.INFO, format=f"%(asctime)s group {place.group} rank {place.rank} %(message)s")
        for name in ("torchft", "torchft_quorums", "torchft_commits"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self.place = place
        self.timeout = timedelta(seconds=seconds)
        self.device = choose_device()
        self.address = own_address(os.environ["TORCHFT_LIGHTHOUSE"])
        # The server that heals others advertises the address, because nodes may not resolve the host name.
        socket.gethostname = lambda: self.address
        port = int(os.environ.get("GROUP_PORT", "0")) if place.size > 1 else 0
        # For the ranks of this group, which are all on one node.
        self.store = dist.TCPStore(self.address, port, place.size, is_master=place.rank == 0, timeout=self.timeout)
        self.inside = self.join_inside()
        slots = Slots(Path(os.environ["RUN_DIR"]) / f".owners-{os.environ['SLURM_JOB_ID']}")
        self.owner = Owner(self.address, token())
        slots.publish(place.group * place.size + place.rank, self.owner.address)
        self.groups = (RootlessNCCL if self.device.type == "cuda" else RootlessGloo)(self.timeout)
        self.groups.meet_by(slots, token())

    def join_inside(self) -> dist.ProcessGroup | None:
        """The process group of this replica group's ranks; `None` for a single rank."""
        if self.place.size == 1:
            return None
        dist.init_process_group(
            store=dist.PrefixStore("inside", self.store), rank=self.place.rank, world_size=self.place.size, timeout=self.timeout
        )
        return dist.group.WORLD

    def manage(self, load: Any, state: Any) -> Manager:
        """A fixed world: exactly `active_groups` groups share each step, the others are spares. The quorum precedes the step."""
        return Manager(
            pg=self.groups,
            load_state_dict=load,
            state_dict=state,
            min_replica_size=self.place.active_groups,
            world_size_mode=WorldSizeMode.FIXED_WITH_SPARES,
            use_async_quorum=False,
            init_sync=False,
            timeout=self.timeout,
            quorum_timeout=timedelta(days=1),
            rank=self.place.rank,
            world_size=self.place.size,
            store_addr=self.address,
            store_port=self.store.port,
            replica_id=f"group_{self.place.group}",
            hostname=self.address,
        )

    def sum(self, manager: Manager, tensor: Tensor) -> Tensor:
        """Sum over the group's ranks and then over the groups; a spare adds nothing. An error fails the step, not the process."""
        if self.inside is not None:
            dist.all_reduce(tensor, group=self.inside)
        manager.allreduce(tensor, reduce_op=dist.ReduceOp.SUM).wait()
        if manager.errored() is not None:
            # A group that notices the loss disconnects. Otherwise groups that wait for it would wait until the timeout.
            self.groups.abort()
        return tensor


def replicate(model: nn.Module, group: Group, manager: Manager) -> DistributedDataParallel:
    """Sum gradients over all ranks of all groups, by a communication hook that waits.

    torchft's own hook returns a future that can end before the gradients are in the bucket; that crashed survivors.
    """

    def sum_bucket(manager: Manager, bucket: dist.GradBucket) -> torch.futures.Future[Tensor]:
        done: torch.futures.Future[Tensor] = torch.futures.Future()
        done.set_result(group.sum(manager, bucket.buffer()))
        return done

    # The process group is a dummy, and the hook does the work. The search for unused parameters serves only to keep the buckets
    # as they are: a healed group must cut its gradients into the same buckets as the others.
    replica = DistributedDataParallel(model, process_group=ProcessGroupDummy(0, 1), find_unused_parameters=True)
    replica.register_comm_hook(manager, sum_bucket)
    return replica


def own_address(lighthouse: str) -> str:
    """This host's address towards the lighthouse, which peers can reach too."""
    url = urlsplit(lighthouse)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((url.hostname, url.port))
        return str(probe.getsockname()[0])
