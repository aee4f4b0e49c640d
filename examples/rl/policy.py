"""A policy, its task and its objective, small enough for a test: the answer to a prompt counts up from the prompt's first number.

The reward of an answer is the share of its numbers that are right: one in eight by chance. Only `reward` knows the task.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

NUMBERS = 8
PROMPT = 2
ANSWER = 4
CLIP = 0.2


class Policy(nn.Module):
    """Reads a prompt and writes an answer, number by number."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.numbers = nn.Embedding(NUMBERS + 1, width)  # the last one starts an answer
        self.cell = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, NUMBERS)

    def forward(self, prompts: Tensor, answers: Tensor) -> Tensor:
        """The logarithm of the chance of each number of the answers."""
        begin = torch.full((len(prompts), 1), NUMBERS)
        hidden, _ = self.cell(self.numbers(torch.cat([prompts, begin, answers[:, :-1]], dim=1)))
        chances = self.head(hidden[:, prompts.shape[1] :]).log_softmax(dim=-1)
        chosen: Tensor = chances.gather(-1, answers.unsqueeze(-1)).squeeze(-1)
        return chosen

    @torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
    def generate(self, prompts: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Answers, and the logarithm of the chance of each of their numbers."""
        _, state = self.cell(self.numbers(prompts))
        last = torch.full((len(prompts), 1), NUMBERS)
        answers, chances = [], []
        for _ in range(ANSWER):
            hidden, state = self.cell(self.numbers(last), state)
            logits = self.head(hidden[:, 0]).log_softmax(dim=-1)
            last = torch.multinomial(logits.exp(), 1, generator=generator)
            answers.append(last)
            chances.append(logits.gather(-1, last))
        return torch.cat(answers, dim=1), torch.cat(chances, dim=1)


def prompts_of(samples: Tensor) -> Tensor:
    return samples[:, :PROMPT] % NUMBERS


def reward(prompts: Tensor, answers: Tensor) -> Tensor:
    """One for each right number, else zero."""
    right = (prompts[:, :1] + torch.arange(1, ANSWER + 1)) % NUMBERS
    return (answers == right).float()


def objective(policy: Policy, prompts: Tensor, answers: Tensor, behaved: Tensor, group: int) -> tuple[Tensor, Tensor]:
    """The loss of an update, and the mean reward. `behaved` are the chances under the weights that gave the answers.

    An answer is compared with the others to its prompt, and weighs as much as its chance has changed since, within bounds.
    """
    rewards = reward(prompts, answers)
    grouped = rewards.view(-1, group, ANSWER)
    advantage = (grouped - grouped.mean(dim=1, keepdim=True)).view(-1, ANSWER)
    ratio = (policy(prompts, answers) - behaved).exp()
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage)
    return -gain.sum(dim=1).mean(), rewards.mean()
