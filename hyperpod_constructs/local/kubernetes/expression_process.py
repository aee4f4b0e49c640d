"""The worker that evaluates CEL expressions: one process, started when it is needed, and again after one that was ended."""

from __future__ import annotations

import json
import pickle
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_PROGRAM = Path(__file__).with_name("expression_worker.py")
SECONDS = 2.0
"""Processor time for all rules of one object, or of one definition. Kubernetes counts units of cost, which last about a second.
Source: https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/apis/cel/config.go
"""
_LEAST = 0.001

Expression = tuple[str, bool]
"""A text, and whether `oldSelf` is optional in it."""
Answer = tuple[str, Any]
"""`value`, `error` or `unreadable`, and what was found."""


class OutOfBudgetError(Exception):
    """The expressions took more processor time or memory than they may.

    :param answers: of those before it.
    """

    def __init__(self, answers: Sequence[Answer]) -> None:
        super().__init__("out of budget")
        self.answers = answers


class Budget:
    """The processor time that is left for one object."""

    def __init__(self) -> None:
        self._left = SECONDS

    def evaluate(self, expressions: Sequence[Expression], variables: Mapping[str, Any] | None, *, present: bool) -> list[Answer]:
        """The answers to expressions; without variables they are only read.

        :param present: whether there is a value before.
        :raises OutOfBudgetError: if they take too much.
        """
        if self._left < _LEAST:
            raise OutOfBudgetError([])
        answers, spent = _WORKER.ask((self._left, expressions, variables, present))
        self._left -= spent
        return answers


class _Worker:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: Any) -> tuple[list[Answer], float]:
        """The answers, and the processor time that they took."""
        content = pickle.dumps(request)
        with self._lock:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            answers: list[Answer] = []
            try:
                process.stdin.write(struct.pack(">I", len(content)) + content)
                process.stdin.flush()
                while line := process.stdout.readline():
                    kind, found = json.loads(line)
                    if kind == "done":
                        return answers, found
                    answers.append((kind, found))
            except BrokenPipeError:
                pass
            self._end()
        raise OutOfBudgetError(answers)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-I", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


_WORKER = _Worker()
