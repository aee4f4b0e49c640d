"""The judges of builds and of scripts on machines and in containers, for all types that have some."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hyperpod_constructs.analysis.build_commands import PROJECT
from hyperpod_constructs.analysis.scripts import TYPES, Script, scripts_in
from hyperpod_constructs.analysis.texts.slip import Slips, WholeJudge
from hyperpod_constructs.templates.model import Resource


def of_scripts(build: WholeJudge | None, judge: Callable[[Script], Slips]) -> Mapping[str, WholeJudge]:
    """The judges of all types with scripts of a shell: one for builds, if there is one, and one for each script elsewhere."""

    def whole(resource: Resource) -> Slips:
        return (slip.below(*one.path) for one in scripts_in(resource) for slip in judge(one))

    return {**({} if build is None else {PROJECT: build}), **dict.fromkeys(TYPES, whole)}
