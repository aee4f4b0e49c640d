"""Batch inference with the LZ penalty: one share of the prompts, decoded greedily by a Llama. What is done is not done again."""

from __future__ import annotations

import argparse
import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

import torch
from common import shards
from common.checkpoints import Store, verify
from common.files import append
from common.settings import positive
from common.world import choose_device
from llama.model import Llama, Size, fill_whole, size_of
from lz_penalty.penalty import BUFFER, STRENGTH, WINDOW, LZPenalty
from lz_penalty.prompts import read_prompts, read_results, share_of
from torch import Tensor

# The scores of the next token, for sequences of equal length.
Model = Callable[[Tensor], Tensor]


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--prompts", type=Path, required=True, help='lines such as {"id": "a", "tokens": [17, 4]}')
    parser.add_argument("--results", type=Path, required=True, help="a directory on the shared file system")
    parser.add_argument("--share", type=int, default=0, help="which share of the prompts, counted from 0")
    parser.add_argument("--shares", type=positive, default=1)
    parser.add_argument("--model", default="tiny", help="a size of llama/model.py")
    parser.add_argument("--checkpoint-directory", type=Path, help="of a run of llama/; default: weights from the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--new-tokens", type=positive, default=256)
    parser.add_argument("--batch", type=positive, default=8, help="prompts of equal length that are decoded together")
    parser.add_argument("--strength", type=float, default=STRENGTH, help="of the penalty; 0 switches it off")
    parser.add_argument("--window", type=positive, default=WINDOW)
    parser.add_argument("--buffer", type=positive, default=BUFFER)
    parser.add_argument("--pause-seconds", type=float, default=0, help="seconds of sleep after each batch, to watch a small model")
    return parser.parse_args(arguments)


def main() -> None:
    given = parse()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s share {given.share} %(message)s")
    size = size_of(given.model)
    prompts = read_prompts(given.prompts, size.vocabulary)
    longest = max(map(len, prompts.values()))
    if longest + given.new_tokens > size.context:
        raise SystemExit(
            f"--new-tokens {given.new_tokens}: with a prompt of {longest} tokens more than the {size.context} of this model, "
            f"give at most {size.context - longest}"
        )
    done = read_results(given.results)
    mine = {name: prompts[name] for name in share_of(prompts, given.share, given.shares) if name not in done}
    logging.info("%d prompts to do", len(mine))
    device = choose_device()
    model = scores_of(load(size, given.checkpoint_directory, given.seed, device))
    given.results.mkdir(parents=True, exist_ok=True)
    attempt = int(os.environ.get("SLURM_RESTART_COUNT", "0"))
    path = given.results / f"{os.environ.get('SLURM_JOB_ID', os.getpid())}-{given.share}-{attempt}.jsonl"
    for names in batches(mine, given.batch):
        rows = torch.tensor([mine[name] for name in names], device=device)
        penalty = LZPenalty(given.strength, window=given.window, buffer=given.buffer, prompt=rows.shape[1])
        for name, row in zip(names, decode(model, rows, given.new_tokens, penalty).tolist(), strict=True):
            record = {"id": name, "tokens": row, "time": time.time(), "attempt": attempt, "share": given.share}
            append(path, json.dumps(record))
        time.sleep(given.pause_seconds)


def batches(prompts: dict[str, list[int]], most: int) -> Iterator[list[str]]:
    """The ids of prompts of equal length, `most` at a time."""
    by_length = sorted(prompts, key=lambda name: len(prompts[name]))
    for _, names in groupby(by_length, key=lambda name: len(prompts[name])):
        for start in range(0, len(group := list(names)), most):
            yield group[start : start + most]


def load(size: Size, checkpoints: Path | None, seed: int, device: torch.device) -> Llama:
    with torch.device("meta"):
        llama = Llama(size)
    fill_whole(llama, seed, device)
    if checkpoints is None:
        logging.info("no --checkpoint-directory: the weights are those of an untrained model")
    else:
        store = Store(checkpoints, keep=1)
        step = next((step for step in store.steps() if verify(store.path(step))), None)
        if step is None:
            raise SystemExit(f"--checkpoint-directory {checkpoints}: no good checkpoint, name that of a run of llama/")
        shards.load(store.path(step), {"model": llama.state_dict()}, None)
        logging.info("weights of step %d", step)
    return llama


def scores_of(llama: Llama) -> Model:
    return lambda tokens: llama(tokens)[:, -1].float()


def decode(model: Model, tokens: Tensor, new_tokens: int, penalty: LZPenalty) -> Tensor:
    """What follows the prompts: at each step the token with the highest score after the penalty."""
    prompt = tokens.shape[1]
    with torch.inference_mode():
        for _ in range(new_tokens):
            scores = penalty(tokens, model(tokens))
            tokens = torch.cat((tokens, scores.argmax(dim=1, keepdim=True)), dim=1)
    return tokens[:, prompt:]


if __name__ == "__main__":
    main()
