"""The wheel works without a checkout: from an empty environment it synthesizes the README's first example."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.docs.markdown import blocks, local_links

ROOT = Path(__file__).parents[1]


def _run(command: list[str], directory: Path, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(  # noqa: S603
        command, cwd=directory, env={**environment, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    _run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(directory), "."], ROOT)
    return next(directory.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds the wheel, what it requires, and nothing else."""
    directory = tmp_path_factory.mktemp("environment")
    _run([sys.executable, "-m", "venv", "venv"], directory)
    python = directory / "venv/bin/python"
    pins = ROOT / "constraints.txt"
    _run([str(python), "-m", "pip", "install", "--quiet", "--no-compile", "--constraint", str(pins), str(wheel)], directory)
    return python


def test_wheel_holds_the_package_the_scripts_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {"hyperpod_constructs/py.typed", "hyperpod_constructs/__init__.pyi"} <= {*names}
    shipped = {name for name in names if name.startswith("hyperpod_constructs/lifecycle/")}
    files = [path for path in (ROOT / "lifecycle").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert shipped == {f"hyperpod_constructs/lifecycle/{path.relative_to(ROOT / 'lifecycle')}" for path in files}
    jobs = {name for name in names if name.startswith("hyperpod_constructs/examples/")}
    files = [path for path in (ROOT / "examples").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert jobs == {f"hyperpod_constructs/examples/{path.relative_to(ROOT / 'examples')}" for path in files}
    assert {name.split("/")[0].split("-")[0] for name in names} == {"hyperpod_constructs"}
    assert [name for name in names if "__pycache__" in name] == []


def test_the_source_distribution_holds_all_that_the_readme_links_to(tmp_path: Path) -> None:
    _run([sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), "."], ROOT)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    links = {target for target, _ in local_links((ROOT / "README.md").read_text("utf-8"))}
    assert links
    assert links - held == set()


def test_installed_package_is_the_one_of_the_wheel(python: Path, tmp_path: Path) -> None:
    found = _run([str(python), "-c", "import hyperpod_constructs; print(hyperpod_constructs.__file__)"], tmp_path)
    assert Path(found.strip()).is_relative_to(python.parents[1])


def test_first_example_of_the_readme_synthesizes(python: Path, tmp_path: Path) -> None:
    example = next(block for block in blocks((ROOT / "README.md").read_text("utf-8")) if block.language == "python")
    (tmp_path / "app.py").write_text(example.text, "utf-8")
    node = str(Path(sys.executable).parent)
    _run(
        [str(python), "-W", "error", "app.py"],
        tmp_path,
        CDK_OUTDIR=str(tmp_path / "out"),
        PATH=f"{node}{os.pathsep}{os.environ['PATH']}",
        PYTHONDONTWRITEBYTECODE="1",  # the environment is used once
    )
    templates = [json.loads(path.read_text("utf-8")) for path in (tmp_path / "out").glob("*.template.json")]
    types = {resource["Type"] for template in templates for resource in template["Resources"].values()}
    assert "AWS::SageMaker::Cluster" in types
