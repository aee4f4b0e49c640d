"""The error of a failed set-up, and files whose absence causes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from node_trust.folder import Folder

MAX_BYTES = 16 * 1024 * 1024


class NodeSetupError(Exception):
    """The set-up of the node failed; the message names the finding and its place, and becomes the last line of the log."""


def read_text(path: Path) -> str:
    try:
        folder, name = Folder.of(str(path.absolute()))
        with folder:
            return folder.read(name, MAX_BYTES, owners=None).decode("utf-8")
    except OSError as error:
        raise NodeSetupError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise NodeSetupError(f"{path}: is not UTF-8: {error}") from error


def read_json(path: Path) -> Any:
    text = read_text(path)
    try:
        return json.loads(text)
    except ValueError as error:
        raise NodeSetupError(f"{path}: is not JSON: {error}") from error
