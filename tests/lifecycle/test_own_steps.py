"""Scripts of the owner beside the steps of the package, as programs."""

from __future__ import annotations

import re
from typing import Any

import pytest

from .conftest import CONFIG, Node, instances
from .test_scripts import events


def step(name: str, when: str = "after", **changes: Any) -> dict[str, Any]:
    return {"name": name, "when": when, "node_types": [], "mandatory": True, "seconds": 60, **changes}


def give(node: Node, *steps: dict[str, Any], **scripts: str) -> None:
    """Stage the steps and their scripts; a script is text for a shell."""
    node.config({**CONFIG, "steps": list(steps)})
    for name, text in scripts.items():
        node.write(f"bundle/own/{name}", f"#!/bin/sh\ncd '{node.root}'\n{text}\n")


def ran(node: Node) -> list[str]:
    path = node.root / "ran"
    return path.read_text(encoding="utf-8").split() if path.exists() else []


def test_they_run_before_and_after_the_other_steps_in_their_order(node: Node) -> None:
    give(
        node,
        step("last"),
        step("first", "before"),
        step("second", "before"),
        first="echo first >>ran",
        second="echo second >>ran",
        last="echo last >>ran",
    )
    assert node.run("on_init_complete.sh") == 0
    assert ran(node) == ["first", "second", "last"]
    started = [event[len("start: ") :] for event in events(node) if event.startswith("start: ")]
    assert started[3:7] == ["install", "own first", "own second", "boot"]
    assert started[-1] == "own last"


def test_their_output_and_outcome_are_in_the_log(node: Node) -> None:
    give(node, step("talk"), talk='echo "in group $HYPERPOD_GROUP, a $HYPERPOD_NODE_TYPE"; echo oops >&2')
    assert node.run("on_init_complete.sh") == 0
    assert events(node)[-5:-1] == ["start: own talk", "talk: in group workers, a Compute", "talk: oops", "end: own talk: ok"]


def test_much_output_is_shortened(node: Node) -> None:
    give(node, step("talk"), talk="/usr/bin/seq 1 300; printf '%05000d\\n' 7")
    assert node.run("on_init_complete.sh") == 0
    said = [event for event in events(node) if event.startswith("talk: ")]
    assert said[0] == "talk: the first 101 lines are left out"
    assert said[1] == "talk: 102"
    assert len(said[-1]) == len("talk: ") + 1000


def test_only_nodes_of_their_types_run_them(node: Node) -> None:
    give(
        node,
        step("heads", node_types=["Controller", "Login"]),
        step("workers", node_types=["Compute"]),
        heads="echo heads >>ran",
        workers="echo workers >>ran",
    )
    assert node.run("on_init_complete.sh") == 0
    assert ran(node) == ["workers"]


def test_a_script_runs_once_for_each_content(node: Node) -> None:
    give(node, step("once"), once="echo one >>ran")
    assert node.run("on_init_complete.sh") == 0
    assert node.run("on_init_complete.sh") == 0
    assert ran(node) == ["one"]
    give(node, step("once"), once="echo two >>ran")
    assert node.run("on_init_complete.sh") == 0
    assert ran(node) == ["one", "two"]


def test_a_failure_fails_the_node_and_a_repair_runs_again(node: Node) -> None:
    give(node, step("bad", "before"), bad="echo bad >>ran; echo 'no such disk'; exit 3")
    assert node.run("on_init_complete.sh") == 1
    assert events(node)[-1] == "failed: own bad: ended with 3: no such disk"
    assert "start: boot" not in events(node)
    assert node.run("on_init_complete.sh") == 1
    assert ran(node) == ["bad", "bad"]


def test_a_failure_of_an_optional_step_is_reported(node: Node) -> None:
    give(node, step("bad", "before", mandatory=False), bad="exit 3")
    assert node.run("on_init_complete.sh") == 0
    assert "skipped: own bad: ended with 3: it said nothing" in events(node)


def test_a_script_that_hangs_is_ended(node: Node) -> None:
    give(node, step("slow", seconds=1), slow="/bin/sleep 600")
    assert node.run("on_init_complete.sh") == 1
    assert events(node)[-1] == "failed: own slow: ended with 124: not done after 1 s"


def test_a_kill_in_the_middle_is_followed_by_a_whole_run(node: Node) -> None:
    """The script ends the program that runs it, once."""
    give(node, step("dies"), dies='if [ ! -e ran ]; then echo half >>ran; kill -9 "$PPID"; fi; echo whole >>ran')
    assert node.run("on_init_complete.sh") != 0
    assert node.run("on_init_complete.sh") == 0
    assert ran(node)[-1] == "whole"


def test_a_reboot_runs_none(node: Node) -> None:
    give(node, step("once"), once="echo one >>ran")
    node.resources([instances("workers", "10.1.0.5")])
    assert node.run("on_init_complete.sh") == 0
    (node.root / "var/lib/hyperpod/applied.json").unlink()
    (node.bundle / "on_boot.sh").write_text(
        (node.bundle / "on_init_complete.sh").read_text(encoding="utf-8").replace("node_setup on_init_complete", "node_setup boot")
    )
    assert node.run("on_boot.sh") == 0
    assert ran(node) == ["one"]


def test_fails_for_a_script_that_is_not_there(node: Node) -> None:
    give(node, step("lost"))
    assert node.run("on_init_complete.sh") == 1
    assert events(node)[-1] == "failed: own lost: own/lost: is missing beside the scripts"


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ({}, "steps is {}, it must be a list"),
        ([step("a b")], "steps[0].name is 'a b', it must match"),
        ([step("../a")], "steps[0].name is '../a', it must match"),
        ([step("a", "during")], "steps[0].when is 'during', allowed are before, after"),
        ([step("a", node_types=["Head"])], "steps[0].node_types[0] is 'Head', allowed are Controller, Login, Compute"),
        ([step("a", seconds=0)], "steps[0].seconds is 0, it must be a whole number of at least 1"),
        ([step("a", mandatory=1)], "steps[0].mandatory is 1, it must be true or false"),
        ([step("a"), step("a")], "steps has two steps named 'a'"),
        ([{"name": "a"}], "steps[0] lacks the key 'when'"),
    ],
)
def test_fails_without_a_valid_configuration(node: Node, steps: object, message: str) -> None:
    node.config({**CONFIG, "steps": steps})
    assert node.run("on_init_complete.sh") == 1
    assert message in re.sub(r"\s+", " ", events(node)[-1])
