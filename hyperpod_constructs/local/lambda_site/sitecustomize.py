"""Runs at the start of every Python process that a Lambda function starts on this machine, the function's own included.

On AWS a layer lies at /opt and Python at /var/lang/bin; here both are elsewhere, and nobody is root. So commands under /opt are
looked up in the function's layers, and Python scripts run with this Python. A program that is called by its name alone is looked
for in the layers where the search path names /opt.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

LAYERS = [Path(layer) for layer in os.environ.get("_LAMBDA_LAYERS_DIRS", "").split(os.pathsep) if layer]


def local(command: Any) -> Any:
    """The command with a program under /opt replaced by the same file of a layer; any other command as it is."""
    if not isinstance(command, list | tuple) or not command or not str(command[0]).startswith("/opt/"):
        return command
    program, *arguments = command
    for layer in LAYERS:
        found = layer / str(program).removeprefix("/opt/")
        if found.is_file():
            with found.open("rb") as script:
                first = script.readline()
            interpreter = [sys.executable] if first.startswith(b"#!") and b"python" in first else []
            return [*interpreter, str(found), *arguments]
    return command


def local_path(path: str) -> str:
    """The search path with every folder under /opt replaced by the same folder of the layers that have it."""
    found = []
    for folder in path.split(os.pathsep):
        inside = [str(layer / folder.removeprefix("/opt/")) for layer in LAYERS] if folder.startswith("/opt/") else [folder]
        found += [candidate for candidate in inside if candidate == folder or Path(candidate).is_dir()]
    return os.pathsep.join(found)


class _Popen(subprocess.Popen[Any]):
    def __init__(self, args: Any, *rest: Any, **options: Any) -> None:
        environment = dict(os.environ if options.get("env") is None else options["env"])
        environment["PATH"] = local_path(environment.get("PATH", os.defpath))
        # A layer's own Python programs are compiled once: the AWS CLI is called for every request of kubectl.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = local(args)
        if isinstance(command, list | tuple) and command and os.sep not in str(command[0]):
            command = [shutil.which(str(command[0]), path=environment["PATH"]) or command[0], *command[1:]]
        super().__init__(command, *rest, **{**options, "env": environment})


def _own_files() -> None:
    """Give this worker a folder for the files that on AWS lie in its /tmp: its kubeconfig is for one cluster at a time."""
    folder = LAYERS[0].parent / "files"
    folder.mkdir(mode=0o700, exist_ok=True)
    os.environ.setdefault("TEST_OUTDIR", str(folder))
    os.environ.setdefault("KUBECACHEDIR", str(folder / "kube"))
    for name in ("CACHE", "CONFIG", "DATA"):
        os.environ.setdefault(f"HELM_{name}_HOME", str(folder / f"helm-{name.lower()}"))


def _collect_rarely() -> None:
    """Let Python's collector search little: the AWS CLI, which every request of kubectl starts, leaves no garbage, and the search
    takes a quarter of its processor time."""
    gc.set_threshold(200_000)
    atexit.register(gc.freeze)


if LAYERS:
    subprocess.Popen = _Popen  # type: ignore[misc]
    _own_files()
    _collect_rarely()
