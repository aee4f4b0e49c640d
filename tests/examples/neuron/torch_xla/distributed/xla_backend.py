"""The backend "xla": gloo under that name."""

from typing import Any

import torch.distributed as dist


def make(store: dist.Store, rank: int, size: int, timeout: Any) -> dist.ProcessGroup:
    return dist.ProcessGroupGloo(store, rank, size, timeout)


dist.Backend.register_backend("xla", make, devices=["cpu"])
