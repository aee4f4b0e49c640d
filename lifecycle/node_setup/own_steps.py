"""The key `steps` of `config.json`: the owner's scripts, which run before or after the steps of this package."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from node_setup.errors import NodeSetupError
from node_setup.schema import check_choice, check_flag, check_list, check_number, check_object, check_word

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
MOMENTS = ("before", "after")
NODE_TYPES = ("Controller", "Login", "Compute")


class OwnStep(NamedTuple):
    """A script of the owner.

    :param node_types: the types of nodes on which it runs; all if empty.
    """

    name: str
    when: str
    node_types: list[str]
    mandatory: bool
    seconds: int


def parse_own_steps(value: Any) -> list[OwnStep]:
    steps = [_step(f"steps[{index}]", entry) for index, entry in enumerate(check_list("steps", value))]
    names = [step.name for step in steps]
    for name in names:
        if names.count(name) > 1:
            raise NodeSetupError(f"steps has two steps named {name!r}, each needs a name of its own")
    return steps


def _step(where: str, value: Any) -> OwnStep:
    check_object(where, value, required=("name", "when", "node_types", "mandatory", "seconds"))
    node_types = check_list(f"{where}.node_types", value["node_types"])
    return OwnStep(
        check_word(f"{where}.name", value["name"], NAME),
        check_choice(f"{where}.when", value["when"], MOMENTS),
        [check_choice(f"{where}.node_types[{index}]", given, NODE_TYPES) for index, given in enumerate(node_types)],
        check_flag(f"{where}.mandatory", value["mandatory"]),
        check_number(f"{where}.seconds", value["seconds"]),
    )
