"""One embedded AWS for all tests of this folder; each test that needs an empty one resets it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperpod_constructs.local import server
from hyperpod_constructs.local.server import LocalAws
from tests.patience import PATIENCE

BIN = Path(sys.executable).parent
APP = Path(__file__).parent / "app"
NODE_CACHE = {"NODE_COMPILE_CACHE": str(Path(__file__).parents[2] / "build" / "node-compile-cache")}
"""For the CDK CLI, whose one file of 16 MB Node would compile at each start. jsii gains nothing from it."""


@pytest.fixture(scope="session")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    """A running embedded AWS, shared."""
    directory = tmp_path_factory.mktemp("aws")
    yield server.start(directory)
    server.stop(directory)


@pytest.fixture
def fresh(aws: LocalAws) -> LocalAws:
    """The shared embedded AWS, empty."""
    server.reset(aws)
    return aws


@pytest.fixture(scope="session")
def assemblies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cloud assemblies of the sample app, one folder a scenario."""
    directory = tmp_path_factory.mktemp("assemblies")
    subprocess.run([sys.executable, str(APP / "app.py"), str(directory)], check=True)  # noqa: S603
    return directory


class Cdk:
    """The CDK CLI against one embedded AWS."""

    def __init__(self, aws: LocalAws, directory: Path) -> None:
        self.aws = aws
        self.directory = directory
        path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
        silent = {"CI": "1", "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "1"}
        self.environment = {**aws.environment(), **NODE_CACHE, **silent, "PATH": path}

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one command; standard error is part of the output."""
        return subprocess.run(  # noqa: S603
            [str(BIN / "cdk"), *arguments, "--no-color"],
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def deploy(self, assembly: Path, *options: str) -> subprocess.CompletedProcess[str]:
        """Deploy every stack of an assembly without asking."""
        return self("deploy", "--app", str(assembly), "--all", "--require-approval", "never", *options)

    def destroy(self, assembly: Path) -> subprocess.CompletedProcess[str]:
        """Destroy every stack of an assembly without asking."""
        return self("destroy", "--app", str(assembly), "--all", "--force")

    def bootstrap(self) -> None:
        """Bootstrap the account."""
        done = self("bootstrap", f"aws://{self.aws.account}/{self.aws.region}")
        assert done.returncode == 0, done.stdout


@pytest.fixture
def cdk(fresh: LocalAws, tmp_path: Path) -> Cdk:
    """The CLI against the shared embedded AWS, empty and bootstrapped."""
    cli = Cdk(fresh, tmp_path)
    cli.bootstrap()
    return cli
