"""One per node, beside the launcher: holds shards in memory, so that they outlive the ranks that have written them."""

from __future__ import annotations

import logging
import os
import signal

from common.shard_memory import ShardMemory
from common.wire import token

# Of the node's memory, unless MEMORY_BYTES says otherwise.
SHARE = 0.25


def main() -> None:
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s memory of {os.environ['ADDRESS']} %(message)s")
    budget = int(os.environ.get("MEMORY_BYTES") or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * SHARE)
    memory = ShardMemory(os.environ["ADDRESS"], token(), budget, port=int(os.environ["MEMORY_PORT"]))
    logging.info("holds up to %d MB on port %d", budget // 1_000_000, memory.address[1])
    signal.pause()


if __name__ == "__main__":
    main()
