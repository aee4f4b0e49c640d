from __future__ import annotations

import gzip
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_constructs.eks.chart import HyperPodChart
from hyperpod_constructs.eks.chart_files import MOST_BYTES, MOST_FILES, ChartError, pack, unpack
from hyperpod_constructs.facts.chart import AGENT_TYPES, EFA_TYPES, NEURON_TYPES, NVIDIA_TYPES, SUB_CHARTS
from tests.eks.archives import archive, chart_archive, chart_yaml, member
from tests.eks.conftest import STAND_IN, Render, named, types_of

DEPENDENCIES = [{"name": "inner", "version": "1.0.0", "repository": "https://charts.example", "condition": "inner.enabled"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A chart that declares one other, which is there as an archive."""
    (tmp_path / "charts").mkdir()
    (tmp_path / "Chart.yaml").write_bytes(chart_yaml("outer", dependencies=DEPENDENCIES))
    (tmp_path / "values.yaml").write_text("size: 1\ninner: {enabled: true, colour: {warm: red}}\n")
    files = {"Chart.yaml": chart_yaml("inner"), "values.yaml": b"colour: {cold: blue}\n"}
    (tmp_path / "charts" / "inner-1.0.0.tgz").write_bytes(archive("inner", files))
    return tmp_path


def test_an_archive_becomes_a_folder_and_its_values_lie_below_its_name(folder: Path) -> None:
    chart = HyperPodChart.from_directory(folder)
    assert list(chart.files) == ["Chart.yaml", "charts/inner/Chart.yaml", "charts/inner/values.yaml", "values.yaml"]
    colours = {"cold": "blue", "warm": "red"}
    assert chart.default_values == {"size": 1, "inner": {"enabled": True, "colour": colours}}


def test_the_same_content_packs_to_the_same_bytes(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    copy = tmp_path_factory.mktemp("copies") / "copy"
    copy.mkdir()
    for source in sorted(folder.rglob("*"), reverse=True):
        target = copy / source.relative_to(folder)
        target.parent.mkdir(exist_ok=True, parents=True)
        if source.is_file():
            target.write_bytes(source.read_bytes())
            os.utime(target, (1, 1))
            target.chmod(0o600)
    first, second = HyperPodChart.from_directory(folder), HyperPodChart.from_directory(copy)
    assert first.packed == second.packed
    assert first.sha256 == second.sha256
    assert pack(dict(reversed(list(first.files.items())))) == first.packed
    (copy / "values.yaml").write_text("size: 2\n")
    assert HyperPodChart.from_directory(copy).sha256 != first.sha256


def test_an_archive_beside_the_folder_of_the_same_chart_is_left_out(folder: Path) -> None:
    stray = folder / "charts" / "any-folder"
    stray.mkdir()
    (stray / "Chart.yaml").write_bytes(chart_yaml("inner"))
    (stray / "from-folder").write_bytes(b"")
    chart = HyperPodChart.from_directory(folder)
    assert list(chart.files) == ["Chart.yaml", "charts/any-folder/Chart.yaml", "charts/any-folder/from-folder", "values.yaml"]


def test_fails_with_two_archives_of_one_chart(folder: Path) -> None:
    (folder / "charts" / "inner-1.0.1.tgz").write_bytes(chart_archive("inner", "1.0.1"))
    with pytest.raises(ValueError, match=r"two archives of inner; keep the one that Chart.yaml declares"):
        HyperPodChart.from_directory(folder)


@pytest.mark.parametrize(
    ("version", "declared", "accepted"),
    [
        ("v1.0.0", "1.0.0", True),
        ("1.0.0", "v1.0.0", True),
        ("1.0.1", "1.0.0", False),
        ("1.0.1", "~1.0.0", True),
        ("1.0.1", 1.0, True),
    ],
)
def test_a_declared_version_is_met_with_and_without_a_v(folder: Path, version: str, declared: Any, accepted: bool) -> None:
    (folder / "Chart.yaml").write_bytes(chart_yaml("outer", dependencies=[DEPENDENCIES[0] | {"version": declared}]))
    (folder / "charts" / "inner-1.0.0.tgz").write_bytes(chart_archive("inner", version))
    if accepted:
        assert HyperPodChart.from_directory(folder).files
        return
    with pytest.raises(ValueError, match=r"declares inner 1\.0\.0 \(it has 1\.0\.1\)"):
        HyperPodChart.from_directory(folder)


def test_fails_with_the_list_of_all_that_is_missing(folder: Path) -> None:
    (folder / "charts" / "inner-1.0.0.tgz").unlink()
    more = [*DEPENDENCIES, DEPENDENCIES[0] | {"name": "other", "version": "2.0.0"}]
    (folder / "Chart.yaml").write_bytes(chart_yaml("outer", dependencies=more))
    with pytest.raises(ValueError, match=r"declares inner 1\.0\.0, other 2\.0\.0, .* run `hyperpod chart fetch`"):
        HyperPodChart.from_directory(folder)


def test_what_a_sub_chart_lacks_is_known_and_not_refused(folder: Path) -> None:
    lacking = chart_archive("inner", dependencies=[{"name": "deep", "version": "3.0.0", "repository": "oci://r.example"}])
    (folder / "charts" / "inner-1.0.0.tgz").write_bytes(lacking)
    chart = HyperPodChart.from_directory(folder)
    assert [str(one) for one in chart.missing_below("inner")] == ["inner/deep 3.0.0"]
    assert chart.missing_below("other") == []


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("Chart.yaml", b"name: outer\n", "needs a name and a version"),
        ("Chart.yaml", b"- outer\n", "Chart.yaml is not a mapping"),
        ("Chart.yaml", b"name: [\n", "Chart.yaml is not readable"),
        ("Chart.yaml", b"name: \xff\n", "Chart.yaml is not readable"),
        ("Chart.yaml", b"a: &a [1, 1]\nb: &b [*a, *a]\nc: [*b, *b]\n", "Chart.yaml has the alias 'a'; write its value out"),
        ("Chart.yaml", "a: &a [1]\nb: *a\n".encode("utf-16"), "Chart.yaml has the alias 'a'; write its value out"),
        ("Chart.yaml", chart_yaml("outer", dependencies=[{"version": "1"}]), "has no name"),
        ("Chart.yaml", b"name: outer\nversion: v1\ndependencies: inner\n", "not a list of entries"),
        ("values.yaml", b"#" * (4 * 2**20 + 1), "values.yaml is larger than 4 MiB"),
        ("charts/inner-1.0.0.tgz", b"no archive", "not a whole archive"),
        ("charts/inner-1.0.0.tgz", chart_archive("inner")[:-20], "cut off"),
    ],
)
def test_fails_with_the_place_of_an_unreadable_file(folder: Path, name: str, content: bytes, error: str) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(ChartError, match=error):
        assert HyperPodChart.from_directory(folder).default_values


def test_fails_without_a_chart(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no Chart\.yaml; give the directory of the chart"):
        HyperPodChart.from_directory(tmp_path)
    with pytest.raises(ValueError, match=r"no such directory; give the one with the chart's Chart\.yaml"):
        HyperPodChart.from_directory(tmp_path / "none")


@pytest.mark.parametrize("kind", ["file", "folder", "outside", "pipe"])
def test_fails_for_a_link_and_a_device(folder: Path, kind: str) -> None:
    odd = folder / "odd"
    if kind == "pipe":
        os.mkfifo(odd)
    else:
        odd.symlink_to({"file": folder / "values.yaml", "folder": folder / "charts", "outside": Path("/etc/passwd")}[kind])
    with pytest.raises(ValueError, match="odd is not a regular file; a chart has no links and no devices"):
        HyperPodChart.from_directory(folder)


@pytest.mark.parametrize(
    ("hostile", "error"),
    [
        (member("../evil"), "not a plain path"),
        (member("inner/../../evil"), "not a plain path"),
        (member("/etc/evil"), "not a plain path"),
        (member("inner/a\\b"), "not a plain path"),
        (member("inner/a\nb"), "not a plain path"),
        (member("inner/" + "a" * 600), "not a plain path"),
        (member("inner/link", tarfile.SYMTYPE, target="/etc/passwd"), "is a link, a device or has holes"),
        (member("inner/hard", tarfile.LNKTYPE, target="inner/Chart.yaml"), "is a link, a device or has holes"),
        (member("inner/device", tarfile.CHRTYPE), "is a link, a device or has holes"),
        (member("inner/pipe", tarfile.FIFOTYPE), "is a link, a device or has holes"),
        (member("inner/CHART.yaml"), "two files are called"),
        (member("inner/Chart.yaml"), "two files are called"),
        (member("other/file"), "has one folder, this one has 2"),
        (member("inner/zeros", size=MOST_BYTES + 1), "more than 64 MiB"),
    ],
)
def test_fails_for_a_hostile_archive(hostile: tarfile.TarInfo, error: str) -> None:
    with pytest.raises(ChartError, match=rf"^strange: .*{error}"):
        unpack(archive("inner", {"Chart.yaml": chart_yaml("inner")}, hostile), "strange")


def test_fails_for_an_archive_that_inflates_without_end() -> None:
    with pytest.raises(ChartError, match="more than 64 MiB"):
        unpack(gzip.compress(bytes(2 * MOST_BYTES + 2**20), 1), "strange")


def test_fails_for_too_many_files() -> None:
    with pytest.raises(ChartError, match=f"more than {MOST_FILES} files"):
        unpack(archive("inner", {f"{number}": b"" for number in range(MOST_FILES + 1)}), "strange")


def test_fails_for_sub_charts_within_sub_charts_without_end(folder: Path) -> None:
    inner = chart_archive("inner")
    for _ in range(8):
        inner = archive("inner", {"Chart.yaml": chart_yaml("inner"), "charts/inner-1.0.0.tgz": inner})
    (folder / "charts" / "inner-1.0.0.tgz").write_bytes(inner)
    with pytest.raises(ChartError, match="more than 5 deep"):
        HyperPodChart.from_directory(folder)


def test_the_stand_in_has_the_keys_and_lists_of_the_service() -> None:
    chart = HyperPodChart.stand_in()
    assert chart.is_stand_in
    assert chart.sha256 == HyperPodChart.from_directory(STAND_IN).sha256
    assert {(one.name, one.condition) for one in chart.tree.declared} == {(one.name, one.key) for one in SUB_CHARTS}
    values = chart.default_values
    for sub_chart in SUB_CHARTS:
        found: Any = values
        for key in sub_chart.key.split("."):
            found = found[key]
        assert found is sub_chart.on, sub_chart
    assert values["aws-efa-k8s-device-plugin"]["supportedInstanceLabels"]["values"] == list(EFA_TYPES)


def test_the_stand_in_renders_what_the_embedded_aws_looks_for(render: Render) -> None:
    objects = render(STAND_IN, {"global": {"region": "us-west-2"}})
    assert named(objects, "Namespace", "aws-hyperpod")
    agent = named(objects, "DaemonSet", "health-monitoring-agent")
    assert agent["metadata"]["namespace"] == "aws-hyperpod"
    assert types_of(agent) == list(AGENT_TYPES)
    assert types_of(named(objects, "DaemonSet", "neuron-device-plugin-daemonset")) == list(NEURON_TYPES)
    assert types_of(named(objects, "DaemonSet", "hyperpod-dependencies-nvidia-device-plugin")) == list(NVIDIA_TYPES)
    assert types_of(named(objects, "DaemonSet", "hyperpod-dependencies-aws-efa-k8s-device-plugin")) == list(EFA_TYPES)
    for kind in ("mpijobs.kubeflow.org", "pytorchjobs.kubeflow.org"):
        assert named(objects, "CustomResourceDefinition", kind)


def test_helm_renders_the_packed_chart_as_it_renders_the_folder(render: Render, tmp_path: Path) -> None:
    (packed := tmp_path / "chart.zip").write_bytes(HyperPodChart.from_directory(STAND_IN).packed)
    values = {"global": {"region": "eu-west-1"}, "gpu-operator": {"enabled": True}}
    assert yaml.safe_dump(render(packed, values)) == yaml.safe_dump(render(STAND_IN, values))


def test_git_s_own_folder_is_left_out(tmp_path: Path) -> None:
    shutil.copytree(STAND_IN, tmp_path / "chart")
    (tmp_path / "chart" / ".git").mkdir()
    (tmp_path / "chart" / ".git" / "config").write_text("")
    assert HyperPodChart.from_directory(tmp_path / "chart").sha256 == HyperPodChart.from_directory(STAND_IN).sha256
