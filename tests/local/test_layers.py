"""Layers of functions on this machine: programs stay executable, scripts run with this Python, and the content is unpacked once."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from hyperpod_constructs.local import ministack_layers

SITE = Path(ministack_layers.__file__).parent / "lambda_site/sitecustomize.py"
SCRIPT = "#!/var/lang/bin/python\nimport sys; print(sys.executable)\n"


@pytest.fixture
def layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A zip file with a program under tools, as a layer of the CDK has it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = tmp_path / "layer_0.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, mode in (("tools/aws", 0o755), ("tools/data", 0o644)):
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, SCRIPT)
    return path


def unpacked(layer: Path, worker: str) -> Path:
    directory = layer.parent / worker / "layer_0"
    directory.mkdir(parents=True)
    with ministack_layers._LayerZip(layer) as archive:
        archive.extractall(directory)
    return directory


def test_a_script_of_a_layer_runs_with_this_python(layer: Path) -> None:
    found = unpacked(layer, "one")
    assert subprocess.check_output([str(found / "tools/aws")], text=True).strip() == sys.executable  # noqa: S603
    assert (found / "tools/data").read_text() == SCRIPT
    assert not (found / "tools/data").stat().st_mode & 0o111


def test_workers_share_what_is_unpacked(layer: Path) -> None:
    one, two = unpacked(layer, "one"), unpacked(layer, "two")
    assert (one / "tools").resolve() == (two / "tools").resolve()


def site(monkeypatch: pytest.MonkeyPatch, layer: Path) -> ModuleType:
    """The module that Lambda workers load at their start, as one with this layer does, without its changes to this process."""
    monkeypatch.setenv("_LAMBDA_LAYERS_DIRS", "")
    spec = importlib.util.spec_from_file_location("site_of_a_worker", SITE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "LAYERS", [layer])
    return module


def test_opt_is_the_folder_of_the_layer(layer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = unpacked(layer, "one")
    module = site(monkeypatch, found)
    assert module.local_path("/opt/tools:/opt/other:/usr/bin") == f"{found}/tools:/usr/bin"
    monkeypatch.setenv("PATH", "/opt/tools:/usr/bin:/bin")
    with module._Popen(["aws"], stdout=subprocess.PIPE, text=True) as process:
        assert process.communicate()[0].strip() == sys.executable


def test_a_worker_has_files_of_its_own(layer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = site(monkeypatch, unpacked(layer, "one"))
    for name in ("TEST_OUTDIR", "KUBECACHEDIR", "HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(module.os, "environ", dict(module.os.environ))
    module._own_files()
    assert module.os.environ["TEST_OUTDIR"] == str(layer.parent / "one/files")
    assert (layer.parent / "one/files").stat().st_mode & 0o777 == 0o700


def test_the_collector_of_programs_of_a_layer_searches_rarely(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(SITE.parent), "_LAMBDA_LAYERS_DIRS": str(tmp_path / "layer")}
    asked = [sys.executable, "-c", "import gc; print(gc.get_threshold()[0])"]
    assert subprocess.check_output(asked, env=environment, text=True).strip() == "200000"  # noqa: S603
