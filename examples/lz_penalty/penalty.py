"""The LZ penalty: a token is pushed down by the bits that a sliding-window coder would save on it, because it said the like before.

The last tokens are the buffer. A token that once followed the same tokens as the buffer's last ones would continue a match, and the
coder would write the distance of that match instead of the token. The longest match counts, and of equally long ones the nearest.
So a token saves log2(vocabulary) - log2(distance) bits. A token outside the window saves nothing, and one saves nothing whose match
is so short that the coder writes the token itself.

Source: https://arxiv.org/abs/2504.20131, in the form of the authors' fork of SGLang (github.com/tginart/sglang, lz_penalty.py).
"""

from __future__ import annotations

import math
from itertools import count

import torch
from torch import Tensor

WINDOW = 512
BUFFER = 32
STRENGTH = 0.2


def shortest_match(vocabulary: int, window: int) -> int:
    """The tokens of the shortest match that is not dearer, with its distance and its length, than the tokens themselves.

    It is 1 for all vocabularies that are not smaller than the window.
    """
    if vocabulary < 2:
        raise ValueError(f"vocabulary of {vocabulary}: there is nothing to choose; give at least 2 tokens")
    return next(length for length in count(1) if math.log2(window) + math.log2(length) <= length * math.log2(vocabulary))


def lz_penalty(tokens: Tensor, vocabulary: int, *, window: int = WINDOW, buffer: int = BUFFER) -> tuple[Tensor, Tensor]:
    """The tokens that have a penalty, and their penalties in bits, for each sequence of a batch.

    A token that stands in the result more than once has its penalty at one place and 0 at the others: add them up.
    The first `buffer` tokens of a sequence are never penalised. A step takes of the order of window * buffer operations.

    :param tokens: what was generated so far, batch * length; prompts do not count.
    :raises ValueError: for a window that is not larger than the buffer.
    """
    if not 0 < buffer < window:
        raise ValueError(f"buffer of {buffer} and window of {window}: give a buffer of at least 1, and a larger window")
    context = tokens[:, -window:]
    places = context.shape[1] - buffer
    if places <= 0:
        return tokens[:, :0], torch.zeros(tokens.shape[0], 0, device=tokens.device)
    # Of the tokens before each place, how many are those before the next token, counted backwards?
    before = context[:, :-1].unfold(1, buffer, 1)
    equal = (before == context[:, None, -buffer:]).flip(-1)
    lengths = 1 + equal.cumprod(-1, dtype=torch.int64).sum(-1)
    # One sort brings each token's best match behind its others.
    nearness = torch.arange(places, device=tokens.device)
    span = (buffer + 2) * places
    ranks, _ = (context[:, buffer:].long() * span + lengths * places + nearness).sort(dim=1)
    found, best = ranks // span, ranks % span
    last = torch.ones_like(found, dtype=torch.bool)
    last[:, :-1] = found[:, :-1] != found[:, 1:]
    saved = math.log2(vocabulary) - torch.log2((places - best % places).float())
    counts = last & (best // places >= shortest_match(vocabulary, window))
    return found, torch.where(counts, saved.clamp(min=0), 0.0)


class LZPenalty:
    """A logits processor, as `transformers` takes them: `model.generate(..., logits_processor=[LZPenalty(prompt=length)])`.

    The scores are changed in place: copying them would cost more than the penalty.

    :param strength: what one saved bit takes from a score.
    :param prompt: the number of tokens in front that are the prompt, with its padding.
    """

    def __init__(self, strength: float = STRENGTH, *, window: int = WINDOW, buffer: int = BUFFER, prompt: int = 0) -> None:
        self.strength = strength
        self.window = window
        self.buffer = buffer
        self.prompt = prompt

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        tokens, penalties = lz_penalty(input_ids[:, self.prompt :], scores.shape[1], window=self.window, buffer=self.buffer)
        return scores.scatter_add_(1, tokens, (-self.strength * penalties).to(scores.dtype))
