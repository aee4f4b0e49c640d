"""Clusters whose scripts are judged by what they do to a node."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.analysis.texts.places import texts_with_mistakes
from tests.analysis.test_node_programs import FILES, made


def said(files: dict[str, str], **more: Any) -> list[tuple[str, str]]:
    """The names of texts with mistakes in a cluster with these files, each with what is said."""
    texts = texts_with_mistakes(made({**dict.fromkeys(FILES), **files}, **more))
    return [(str(one.slip.path[-1]), one.slip.message) for several in texts.values() for one in several]
