"""Runs at the start of every Python process that a Lambda function starts on this machine, the function's own included.

On AWS a layer lies at /opt and Python at /var/lang/bin; here both are elsewhere, and nobody is root. So commands under /opt are
looked up in the function's layers, and Python scripts run with this Python.
"""

import os
import subprocess
import sys


def _local(command):
    if not isinstance(command, (list, tuple)) or not command:
        return command
    program, *arguments = command
    if not isinstance(program, str) or not program.startswith("/opt/"):
        return command
    for layer in os.environ.get("_LAMBDA_LAYERS_DIRS", "").split(os.pathsep):
        found = os.path.join(layer, program[len("/opt/") :])
        if layer and os.path.isfile(found):
            with open(found, "rb") as script:
                first = script.readline()
            return [sys.executable, found, *arguments] if first.startswith(b"#!") and b"python" in first else [found, *arguments]
    return command


class _Popen(subprocess.Popen):
    def __init__(self, args, *rest, **options):
        super().__init__(_local(args), *rest, **options)


if os.environ.get("_LAMBDA_LAYERS_DIRS"):
    subprocess.Popen = _Popen
