"""A rollout worker: it asks the trainer for prompts and weights, and brings answers. It may come and go at any time."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

import torch
from common.data import TokenFile
from common.owner_store import Slots
from common.tensors import pack, unpack
from common.wire import Peer, dial, token
from policy import ANSWER, PROMPT, Policy, prompts_of

MOST_BYTES = 1 << 34
SECONDS = 30.0
RETRY_SECONDS = 0.5
WAIT_SECONDS = 0.05


class Worker:
    def __init__(self, data: TokenFile) -> None:
        self.data = data
        self.policy = Policy()
        # Of each turn, to watch a small policy.
        self.pause = float(os.environ.get("ROLLOUT_PAUSE_SECONDS", "0"))

    def serve(self, peer: Peer) -> None:
        """Until the trainer says that it is over.

        :raises OSError: for a trainer that is gone.
        """
        body: bytes | bytearray = b""
        while True:
            peer.send({}, body)
            head, weights = peer.receive(MOST_BYTES)
            body = b""
            match head["do"]:
                case "end":
                    return
                case "wait":
                    time.sleep(WAIT_SECONDS)
                case _:
                    if weights:
                        self.policy.load_state_dict(unpack(weights))
                    time.sleep(self.pause)
                    body = self.generate([int(id) for id in head["ids"]], int(head["seed"]), int(head["group"]))

    def generate(self, ids: list[int], seed: int, group: int) -> bytearray:
        prompts = prompts_of(self.data.read(ids)).repeat_interleave(group, dim=0)
        answers, chances = self.policy.generate(prompts, torch.Generator().manual_seed(seed))
        shape = (len(ids), group, ANSWER)
        return pack({"answers": answers.view(shape), "chances": chances.view(shape)})


def main() -> None:
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s worker {os.environ.get('SLURM_JOB_ID', os.getpid())} %(message)s")
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    run, complete = Path(os.environ["RUN_DIR"]), Path(os.environ["COMPLETE"])
    trainer = Slots(run / ".trainer")
    worker = Worker(TokenFile(Path(os.environ["DATA"]), PROMPT, 256))
    while not complete.exists():
        try:
            with dial(trainer.find(0), token(), SECONDS) as peer:
                logging.info("joined the trainer at %s:%d", *trainer.find(0))
                worker.serve(peer)
                return
        except (OSError, LookupError) as error:
            logging.info("no trainer: %s", error)
            time.sleep(RETRY_SECONDS)


if __name__ == "__main__":
    main()
