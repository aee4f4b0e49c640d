"""The checkpoint to start from: the newest good one. A job without its checkpoints never starts again at step 0."""

from __future__ import annotations

import logging

from common.checkpoints import Store, verify
from common.sample_log import progress
from common.settings import Settings
from common.tiers import Tiers
from common.world import World


def newest_good(store: Store, world: World) -> int | None:
    """The step of the newest good checkpoint; each rank reads its share, and all agree."""
    for step in world.from_first(store.steps()):
        good = verify(store.path(step), world.rank, world.size)
        (bad,) = world.sum([float(not good)])
        if not bad:
            return int(step)
        if world.rank == 0:
            logging.warning("checkpoint %s is damaged, the previous one is used", store.path(step))
    return None


def start_step(settings: Settings, store: Store, world: World, tiers: Tiers | None = None) -> int:
    """The step of the checkpoint to load; 0 for a new job. Other tiers are asked for a newer one."""
    on_disk = newest_good(store, world) or 0
    step = on_disk if tiers is None else tiers.newest(than=on_disk)
    if step == 0:
        committed = world.from_first(progress([settings.sample_file]) if world.rank == 0 else None)
        refuse_if_lost(settings, committed)
    if world.rank == 0:
        store.directory.mkdir(parents=True, exist_ok=True)
        store.remove_leftovers(up_to=settings.steps)
        logging.info("starting at step %d", step)
    return step


def refuse_if_lost(settings: Settings, committed: int) -> None:
    """Check for lost checkpoints: only a job that died before its first checkpoint may start over."""
    if committed > settings.checkpoint_every:
        raise SystemExit(
            f"{settings.checkpoint_directory}: no good checkpoint, but {settings.run_directory} records {committed} committed "
            f"steps and a checkpoint every {settings.checkpoint_every}; mount or restore the checkpoints, or remove the sample log "
            "to start over"
        )
