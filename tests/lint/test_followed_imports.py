"""mypy reads the modules of the CDK that this project needs, and no other: one that it skips would be Any without a word."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import aws_cdk

from tests.lint.test_code import CHECKED
from tests.presets import ROOT

PACKAGES = Path(aws_cdk.__file__).parents[1]


def test_every_module_that_the_code_imports_is_followed_and_every_module_in_their_signatures() -> None:
    named = {module for path in _sources() for module in _imported(path.read_text("utf-8"))}
    assert {"aws_cdk", "aws_cdk.aws_ec2", "aws_cdk.aws_sagemaker"} <= named
    todo = [*named]
    while todo:
        new = _in_signatures(todo.pop()) - named
        named |= new
        todo += new
    followed = _followed()
    assert sorted(module for module in named if not any(_matches(module, pattern) for pattern in followed)) == []
    unused = {pattern for pattern in followed if not pattern.endswith(".*")} - named
    assert sorted(unused) == [], "delete them from pyproject.toml"


def _followed() -> list[str]:
    overrides = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]["overrides"]
    return [module for entry in overrides if entry.get("follow_imports") == "normal" for module in entry["module"]]


def _matches(module: str, pattern: str) -> bool:
    return fnmatchcase(module, pattern) or module == pattern.removesuffix(".*")


def _sources() -> list[Path]:
    return [path for place in CHECKED for path in ([ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("*.py"))]


def _imported(text: str) -> set[str]:
    """The modules of the CDK in the imports of a file."""
    found = set(re.findall(r"^ *import (aws_cdk[\w.]*)", text, re.MULTILINE))
    for module, names in re.findall(r"^ *from (aws_cdk[\w.]*) import (\([^)]*\)|.*)", text, re.MULTILINE):
        inner = {f"{module}.{name}" for name in re.findall(r"\w+", names)}
        found |= {module, *(name for name in inner if _folder(name).is_dir())}
    return found


def _in_signatures(module: str) -> set[str]:
    """The modules from which one of the CDK takes the types of its signatures: it gives each a private name."""
    text = (_folder(module) / "__init__.py").read_text("utf-8")
    return set(re.findall(r"^ +import (aws_cdk[\w.]*) as _", text, re.MULTILINE))


def _folder(module: str) -> Path:
    return PACKAGES / module.replace(".", "/")
