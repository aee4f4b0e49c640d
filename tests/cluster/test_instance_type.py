"""Instance types: the names of the API, their facts, and the generator of the table."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.facts.instance_types import INSTANCE_FACTS, Accelerator, LocalNvme

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "${Token[TOKEN.42]}"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    path = ROOT / "tools" / "generate_instance_facts.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def newest_models() -> Path | None:
    """The folder of the newest service models: $HYPERPOD_MODELS, or the one that `make` puts beside the environment."""
    named = os.environ.get("HYPERPOD_MODELS")
    folder = Path(named) if named is not None else Path(sys.prefix) / "models" / "botocore" / "data"
    return folder if named is not None or folder.is_dir() else None


def test_the_generator_writes_the_table(generator: ModuleType) -> None:
    written = generator.TABLE.read_text(encoding="utf-8")
    assert generator.render() == written
    assert generator.render(newest_models()) == written


def test_every_name_of_the_api_is_known(generator: ModuleType) -> None:
    assert set(generator.names(newest_models())) == set(ClusterInstanceType.names())
    assert len(ClusterInstanceType.names()) == 209


def test_every_correction_is_of_a_known_type_and_has_a_source(generator: ModuleType) -> None:
    for name, correction in generator.CORRECTIONS.items():
        assert name in INSTANCE_FACTS
        assert correction.source


def test_fails_check_of_a_stale_table(
    generator: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generator, "TABLE", tmp_path / "instance_types.tsv")
    shutil.copy(generator.CLASS, tmp_path / "instance_type.py")
    monkeypatch.setattr(generator, "CLASS", tmp_path / "instance_type.py")
    assert generator.main([]) == 0
    assert generator.main(["--check"]) == 0
    generator.TABLE.write_text("", encoding="utf-8")
    assert generator.main(["--check"]) == 1
    assert capsys.readouterr().err.startswith("instance_types.tsv is stale")
    assert generator.main([]) == 0
    text = generator.CLASS.read_text(encoding="utf-8")
    generator.CLASS.write_text(text.replace("    P5_48XLARGE: ClassVar[ClusterInstanceType]\n", ""), encoding="utf-8")
    assert generator.main(["--check"]) == 1
    assert capsys.readouterr().err.startswith("instance_type.py is stale")


def test_fails_generation_with_another_moto(generator: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generator, "MOTO_VERSION", "0.0.1")
    with pytest.raises(RuntimeError, match=r"reviewed with moto 0\.0\.1"):
        generator.render()


# vCPUs, accelerators, memory in GiB, EFA interfaces: as aws/sagemaker-hyperpod-cli has them in
# src/sagemaker/hyperpod/training/constants.py.
@pytest.mark.parametrize(
    ("name", "vcpus", "accelerators", "memory_gib", "efa_interfaces"),
    [
        ("ml.p4d.24xlarge", 96, 8, 1152, 4),
        ("ml.p4de.24xlarge", 96, 8, 1152, 4),
        ("ml.p5.4xlarge", 16, 1, 256, 1),
        ("ml.p5.48xlarge", 192, 8, 2048, 32),
        ("ml.p5e.48xlarge", 192, 8, 2048, 32),
        ("ml.p5en.48xlarge", 192, 8, 2048, 16),
        ("ml.p6-b200.48xlarge", 192, 8, 2048, 8),
        ("ml.p6-b300.48xlarge", 192, 8, 4096, 16),
        ("ml.p6e-gb200.36xlarge", 144, 4, 960, None),
        ("ml.trn1.32xlarge", 128, 16, 512, 8),
        ("ml.trn1n.32xlarge", 128, 16, 512, 16),
        ("ml.trn2.3xlarge", 12, 1, 128, 1),
        ("ml.trn2.48xlarge", 192, 16, 2048, 16),
        ("ml.g5.4xlarge", 16, 1, 64, 0),
        ("ml.g5.48xlarge", 192, 8, 768, 1),
        ("ml.g6e.48xlarge", 192, 8, 1536, 4),
        ("ml.g7e.12xlarge", 48, 2, 512, 1),
        ("ml.gr6.8xlarge", 32, 1, 256, 1),
        ("ml.c5n.18xlarge", 72, None, 192, 1),
        ("ml.i3en.24xlarge", 96, None, 768, 1),
        ("ml.m5.xlarge", 4, None, 16, 0),
    ],
)
def test_facts_agree_with_the_hyperpod_cli(
    name: str, vcpus: int, accelerators: int | None, memory_gib: float, efa_interfaces: int | None
) -> None:
    kind = ClusterInstanceType.of(name)
    assert (kind.vcpus, kind.memory_gib, kind.efa_interfaces) == (vcpus, memory_gib, efa_interfaces)
    assert (None if kind.accelerator is None else kind.accelerator.count) == accelerators


def test_the_facts_of_p5() -> None:
    assert ClusterInstanceType.of("ml.p5.48xlarge") == ClusterInstanceType(
        name="ml.p5.48xlarge",
        vcpus=192,
        memory_gib=2048.0,
        accelerator=Accelerator(kind="gpu", name="H100", count=8, memory_gib=80.0),
        network_cards=32,
        efa_interfaces=32,
        local_nvme=LocalNvme(count=8, size_gb=3800),
        cores=96,
        threads_per_core=2,
    )


def test_network_cards_are_not_always_efa_interfaces() -> None:
    assert ClusterInstanceType.P6_B300_48XLARGE.network_cards == 17
    assert ClusterInstanceType.P6_B300_48XLARGE.efa_interfaces == 16
    assert ClusterInstanceType.M5_XLARGE.network_cards == 1


def test_trainium_has_neuron_accelerators() -> None:
    assert ClusterInstanceType.TRN1_32XLARGE.accelerator == Accelerator(kind="neuron", name="Trainium", count=16, memory_gib=32.0)
    assert ClusterInstanceType.TRN2_48XLARGE.accelerator == Accelerator(kind="neuron", name="Trainium2", count=16, memory_gib=96.0)


def test_local_disks() -> None:
    disks = ClusterInstanceType.TRN1_32XLARGE.local_nvme
    assert disks is not None
    assert disks.total_gb == 7600
    assert ClusterInstanceType.M5_XLARGE.local_nvme == LocalNvme(count=0, size_gb=0)


def test_every_name_has_an_attribute_that_an_editor_completes(generator: ModuleType) -> None:
    """Declared in the source, not only set at run time."""
    source = generator.CLASS.read_text(encoding="utf-8")
    assert generator.with_attributes(source) == source
    declared = {name for name in ClusterInstanceType.__annotations__ if name.isupper()}
    assert len(declared) == 209
    assert {getattr(ClusterInstanceType, name).name for name in declared} == set(ClusterInstanceType.names())
    for name in declared:
        assert getattr(ClusterInstanceType, name).name.upper().replace(".", "_").replace("-", "_") == f"ML_{name}"


def test_a_token_is_taken_with_every_fact_unknown() -> None:
    kind = ClusterInstanceType.of(TOKEN)
    assert str(kind) == TOKEN
    assert all(getattr(kind, field.name) is None for field in dataclasses.fields(kind) if field.name != "name")


def test_single_facts_can_be_replaced() -> None:
    kind = dataclasses.replace(ClusterInstanceType.P6E_GB200_36XLARGE, network_cards=9)
    assert (kind.name, kind.network_cards) == ("ml.p6e-gb200.36xlarge", 9)


def test_a_type_that_is_newer_than_the_release_can_be_written_down() -> None:
    assert ClusterInstanceType(name="ml.p9.48xlarge", network_cards=32).vcpus is None


def test_fails_for_a_name_without_prefix() -> None:
    with pytest.raises(
        ValueError, match=r"unknown instance type 'p5.48xlarge': types of HyperPod begin with ml.; the nearest is 'ml.p5.48xlarge'"
    ):
        ClusterInstanceType.of("p5.48xlarge")


def test_fails_for_an_unknown_name_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"unknown instance type 'ml.p5.6xlarge'.*209 names.*nearest is 'ml.p5.4xlarge'"):
        ClusterInstanceType.of("ml.p5.6xlarge")


@pytest.mark.parametrize("name", [None, 5, ["ml.m5.xlarge"]])
def test_fails_for_a_name_that_is_not_a_string(name: object) -> None:
    with pytest.raises(ValueError, match="must be a string"):
        ClusterInstanceType.of(name)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be a string"):
        ClusterInstanceType(name=name)  # type: ignore[arg-type]


def test_fails_for_a_new_type_without_prefix() -> None:
    with pytest.raises(ValueError, match=r"'p9.48xlarge' does not start with 'ml.'; write 'ml.p9.48xlarge'"):
        ClusterInstanceType(name="p9.48xlarge")


def test_the_import_loads_nothing_heavy() -> None:
    code = "import sys, hyperpod_constructs.cluster.instance_type; print(*sorted(sys.modules))"
    command = [sys.executable, "-S", "-c", code]  # -S: without what site-packages load at every start
    loaded = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.split()  # noqa: S603
    assert not {"aws_cdk", "jsii", "boto3", "botocore", "moto", "difflib", "json"} & set(loaded)
