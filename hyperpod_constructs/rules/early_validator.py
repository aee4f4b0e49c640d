"""The CDK's own validator, started while Node only waits for Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from threading import Thread

from aws_cdk import CloudFormationValidatePlugin


class EarlyValidator:
    """The CDK's own validator, which starts in a thread: an app registers it, or the CDK starts another at the end of a synthesis.

    Its start takes Node most of a second. Meanwhile Python can import modules, which asks Node for nothing.
    """

    def __init__(self) -> None:
        """Start the validator, unless `CDK_VALIDATION=false` switches it off.

        Nothing else may call the CDK before `plugins` returns: one call at a time goes to Node.
        """
        self._started: list[CloudFormationValidatePlugin] = []
        self._thread = Thread(target=self._start, name="hyperpod-validator-early", daemon=True)
        self._thread.start()

    def plugins(self) -> Sequence[CloudFormationValidatePlugin]:
        """The validator once it has started, for `Validations.add_plugins`; none if it is off or failed: the CDK says why then."""
        import_module("typeguard")  # the CDK imports it at the first argument that it checks
        self._thread.join()
        return self._started

    def _start(self) -> None:
        if os.environ.get("CDK_VALIDATION") != "false":
            with suppress(Exception):
                self._started.append(CloudFormationValidatePlugin())
