"""Commands of Helm and kubectl in builds that surely fail: on a release, a namespace, a repository or settings that are not there.

Sources: https://helm.sh/docs/helm/helm_install/, https://helm.sh/docs/helm/helm_upgrade/, https://helm.sh/docs/helm/helm_repo_add/,
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-install-packages-using-helm-chart.html and
https://docs.aws.amazon.com/eks/latest/userguide/create-kubeconfig.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.build_commands import build_of, is_repeated
from hyperpod_constructs.analysis.cli_calls import Line, lines_of
from hyperpod_constructs.analysis.cluster_builds import ClusterBuild, cluster_builds
from hyperpod_constructs.analysis.schema.violation import listed, nearest
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, plain
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.addons import namespaces
from hyperpod_constructs.facts.chart import PATH, REPOSITORY
from hyperpod_constructs.facts.cli import CHANGING, HELM_FLAGS, INSTALLING
from hyperpod_constructs.facts.kubernetes import OWN_NAMESPACES
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_str

_PATH = ("Source", "BuildSpec")
_CHART = "hyperpodhelmchart"
_ASKING = ("delete", "get", "list", "ls", "rollback", "status", "uninstall")
"""Commands of Helm by which a build can know or change the releases that are there."""
_NEEDING: Mapping[str, tuple[str, ...]] = {"helm": INSTALLING, "kubectl": (*CHANGING, "get", "rollout", "wait")}
"""Commands that need a cluster."""
_OWN_CLUSTERS = ("eksctl", "k3d", "k3s", "kind", "minikube", "terraform")
"""Programs that make a cluster, and settings for it."""
_FETCHING = ("cd", "cp", "curl", "git", "mkdir", "mv", "pushd", "tar", "unzip", "wget")
"""Programs by which a folder may be a chart."""
_ARRANGING = ("cd", "cp", "ln", "mkdir", "mv", "popd", "pushd", "rsync", "tar", "unzip")
"""Programs by which a path is no longer that of the repository."""
_DEPENDENCIES = ("dep", "dependencies", "dependency")


def build(project: Resource) -> Slips:
    """The first command of a build that surely fails."""
    found = build_of(project)
    if found is None or not any(one.name in ("helm", "kubectl") for one in found.commands):
        return
    works = next((one for one in cluster_builds(project.template.model) if one.project is project), None)
    lines = [line for line in lines_of(found, "helm", HELM_FLAGS) if line.word(0) in INSTALLING]
    yield from list(_slips(project, found, works, lines))[:1]


def _slips(project: Resource, found: Run, works: ClusterBuild | None, lines: list[Line]) -> Slips:
    yield from _without_settings(found)
    for line in lines:
        yield from _of_place(found, line)
        yield from _of_release(project, found, works, line)
        yield from _of_namespace(found, works, line)
        yield from _of_chart(found, line)
        yield from _of_repository(project, found, line)


def _without_settings(found: Run) -> Slips:
    """A command for a cluster before any that says which one it is."""
    names = {one.name for one in found.commands}
    if not names.isdisjoint(_OWN_CLUSTERS) or "*" in found.set or "KUBECONFIG" in {*found.given, *found.set}:
        return
    for one in found.commands:
        texts = [plain(word[:1]) for word in (*one.words, *one.read)]
        if any("kubeconfig" in text.lower() or ".kube" in text or "dry-run" in text for text in texts):
            return
        if texts[1:2] and not one.guarded and texts[1] in _NEEDING.get(one.name, ()):
            says = f"{one.name} {texts[1]} runs before aws eks update-kubeconfig, so that it knows no cluster"
            yield Slip(says, "aws eks update-kubeconfig --name NAME before it", _PATH, dead=True)
            return


def _of_release(project: Resource, found: Run, works: ClusterBuild | None, line: Line) -> Slips:
    name, verb = line.word(1), line.word(0)
    if not name or _runs(found, "helm", *_ASKING):
        return
    if verb == "install" and not {"replace", "generate-name", "g", "dry-run"} & {*line.options} and is_repeated(project):
        says = f"helm install {name} fails when the build runs again: the release is there"
        yield Slip(says, f"helm upgrade --install {name}", _PATH, dead=True)
    elif verb == "upgrade" and not {"install", "i"} & {*line.options} and _is_new(works) and not _runs(found, "helm", "install"):
        says = f"helm upgrade {name} fails in the first build: no release is there"
        yield Slip(says, f"helm upgrade --install {name}", _PATH, dead=True)


def _runs(found: Run, program: str, *verbs: str) -> bool:
    """Whether a build runs one of some commands of a program, also where their failure does not count."""
    return any(one.name == program and plain(one.words[1]) in verbs for one in found.commands if len(one.words) > 1)


def _is_new(works: ClusterBuild | None) -> bool:
    """Whether the cluster of a build is made by the templates, and nothing else there installs charts."""
    if works is None:
        return False
    model = works.eks.resource.template.model
    alone = [one for one in cluster_builds(model) if one.charts] == [works]
    return model.complete and works.eks.resource.exists is True and alone and not works.eks.charts


def _of_namespace(found: Run, works: ClusterBuild | None, line: Line) -> Slips:
    word = line.options.get("namespace", line.options.get("n"))
    name = as_str(found.value(word)) if isinstance(word, tuple) else None
    if name is None or works is None or not _is_new(works) or "create-namespace" in line.options:
        return
    made = _runs(found, "kubectl", "apply", "create")
    before = any("create-namespace" in other.options for other in lines_of(found, "helm", HELM_FLAGS))
    own = name in (*OWN_NAMESPACES, *namespaces()) or name.startswith("hyperpod-ns-")
    if not (made or before or own or works.eks.manifests):
        says = f"helm {line.word(0)} {line.word(1)} is for the namespace {name}, which nothing makes"
        yield Slip(says, f"--create-namespace, or one of {listed(OWN_NAMESPACES)}", _PATH, dead=True)


def _of_place(found: Run, line: Line) -> Slips:
    """HyperPod's chart in the folder of its repository, where the build only fetches the repository and goes nowhere."""
    chart = line.word(2).removeprefix("./").rstrip("/")
    folders = [folder for one in found.commands if (folder := _fetched(one)) is not None]
    goes = any(one.name in _ARRANGING for one in found.commands)
    if len(folders) != 1 or goes or not chart.lower().endswith(_CHART) or not chart.startswith(f"{folders[0]}/"):
        return
    inner = chart.removeprefix(f"{folders[0]}/")
    if inner != PATH:
        says = f"helm {line.word(0)} takes {inner} of {REPOSITORY}, which is not there"
        yield Slip(says, f"{folders[0]}/{PATH}", _PATH, dead=True)


def _fetched(command: Command) -> str | None:
    """The folder into which a command fetches the repository of HyperPod's chart, if that is known."""
    words = [plain(one) for one in command.arguments]
    places = [index for index, one in enumerate(words) if one.removesuffix("/").removesuffix(".git") == REPOSITORY]
    if command.name != "git" or not places or "clone" not in words:
        return None
    behind = words[places[0] + 1 :]
    return REPOSITORY.rpartition("/")[2] if not behind else behind[0].removeprefix("./").rstrip("/") if len(behind) == 1 else None


def _of_chart(found: Run, line: Line) -> Slips:
    """HyperPod's chart as it is in its repository: without the charts that it needs."""
    fetched = any(one.name == "git" and any("clone" in plain(word) for word in one.words) for one in found.commands)
    updated = _runs(found, "helm", *_DEPENDENCIES)
    if fetched and not updated and line.word(2).rstrip("/").lower().endswith(_CHART) and "dependency-update" not in line.options:
        says = f"{line.word(2)} lacks the charts that it needs: no command fetches them"
        yield Slip(says, f"helm dependency update {line.word(2)} before it", _PATH, dead=True)


def _of_repository(project: Resource, found: Run, line: Line) -> Slips:
    """A chart of a repository that no command adds."""
    name, slash, chart = line.word(2).partition("/")
    texts = [plain(word) for one in found.commands for word in (*one.words, *one.read)]
    fetched = not {one.name for one in found.commands}.isdisjoint(_FETCHING) or any("s3" in text for text in texts)
    added = any(name in text and not text.startswith(f"{name}/") for text in texts)
    named = slash and re.fullmatch(r"[\w-]+", name) and re.fullmatch(r"[\w-]+", chart)
    if named and not fetched and not added and "repo" not in line.options and as_str(project.get("Source", "Type")) == "NO_SOURCE":
        others = [one.word(2) for one in lines_of(found, "helm", HELM_FLAGS) if one.word(0) == "repo" and one.word(1) == "add"]
        near = nearest(name, others, 0.5)
        says = f"no command adds the repository {name} of the chart {line.word(2)}{f'; {near} is added' if near else ''}"
        yield Slip(says, f"helm repo add {name} ADDRESS before it", _PATH, dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {"AWS::CodeBuild::Project": build}
