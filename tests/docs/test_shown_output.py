"""What the README shows of `hyperpod` is what it prints, in a terminal of 100 columns, of templates with these mistakes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from hyperpod_constructs.rules.rule import load_catalogue
from tests.cli.terminal import in_terminal
from tests.docs.markdown import Block, blocks
from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import slurm

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
SHOWN = [block for block in blocks(README) if block.language == "text" and block.text.startswith("$ hyperpod ")]
_NOT_KEPT = {"FileSystem/.DeletionPolicy": REMOVED, "FileSystem/.UpdateReplacePolicy": REMOVED}


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    old = edited(slurm(), _NOT_KEPT)
    written = {
        "cluster": edited(
            slurm(), {"FileSystem/StorageCapacity": 3000, "NodeSelfEgress": REMOVED, "FileSystem/.DependsOn": ["NodeSelfIngress"]}
        ),
        "old": old,
        "new": edited(old, {"FileSystem/KmsKeyId": "alias/ours", "Cluster/InstanceGroups/2/InstanceCount": 6}),
    }
    for name, template in written.items():
        Path(f"{name}.json").write_text(json.dumps(template, indent=1), "utf-8")


def test_each_command_on_templates_is_shown() -> None:
    assert [shlex.split(block.text.splitlines()[0])[2] for block in SHOWN] == ["check", "plan", "cost"]


def test_the_number_of_rules_is_true() -> None:
    assert f"[{len(load_catalogue())} rules](docs/rules.md)" in README


@pytest.mark.usefixtures("templates")
@pytest.mark.parametrize("block", SHOWN, ids=lambda block: block.text.split()[2])
def test_what_is_shown_is_what_is_printed(block: Block) -> None:
    command, *shown = block.text.splitlines()

    printed = in_terminal(shlex.split(command)[2:], columns=100)

    assert shown == [line.rstrip() for line in printed]
