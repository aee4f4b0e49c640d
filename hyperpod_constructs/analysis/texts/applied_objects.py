"""Manifests that builds apply by `kubectl`: variables that stay as they are, and objects that name others which are not there.

Sources: https://kubernetes.io/docs/concepts/overview/working-with-objects/ and
https://www.gnu.org/software/bash/manual/bash.html#Here-Documents (as of 2026-12-01)
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.applied_manifests import applied_in
from hyperpod_constructs.analysis.build_commands import PROJECT, SPECIFICATION, build_of
from hyperpod_constructs.analysis.manifests import kubernetes_objects, named_objects
from hyperpod_constructs.analysis.object_references import unanswered
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import plain
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource

_JUDGED_ELSEWHERE = {"PersistentVolumeClaim": "PersistentVolume", "RoleBinding": "Role"}
"""Kinds whose references to another kind have a rule where all objects of a cluster are known."""


def build(project: Resource) -> Slips:
    """The first mistake in the manifests of a build."""
    run = build_of(project)
    if run is not None and any(one.name == "kubectl" for one in run.called):
        yield from [*_kept(run), *_unanswered(project, run)][:1]


def _kept(run: Run) -> Slips:
    """Texts behind a quoted word with variables of the build."""
    for text in applied_in(run):
        if text.kept:
            says = f"the build applies ${text.kept[0]} as it stands: the manifest is quoted by the word behind <<"
            yield Slip(says, "a word without quotes behind <<", SPECIFICATION, dead=True)


def _unanswered(project: Resource, run: Run) -> Slips:
    """References that no object of the build answers, and no command of it either."""
    objects = [one for one in kubernetes_objects(project.template.model) if one.resource is project]
    words = [plain(word) for one in run.called if one.name != "echo" for word in one.words]
    for one in unanswered(objects):
        other = _JUDGED_ELSEWHERE.get(str(one.object.kind))
        is_judged = other is not None and f"the {other} " in one.says and named_objects(one.object.eks, other) is not None
        is_made = any(f"{word!r}" in one.says for word in words if word) or "create" in words
        if not is_judged and not is_made:
            says = f"the build applies a {one.object.label}, whose {one.says}; nothing names {listed(one.others)}"
            yield Slip(says, listed(one.others), SPECIFICATION, dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {PROJECT: build}
