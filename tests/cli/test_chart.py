from __future__ import annotations

import io
import json
import re
import stat
import urllib.error
import urllib.request
import urllib.response
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from email.message import Message
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hyperpod_constructs.cli import chart_download, chart_fetch, chart_git, chart_project
from hyperpod_constructs.cli.chart_fetch import Source
from hyperpod_constructs.cli.chart_repositories import archive_of
from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.eks import chart_files
from hyperpod_constructs.eks.chart import HyperPodChart
from hyperpod_constructs.eks.chart_tree import Declared
from hyperpod_constructs.facts.chart import PATH, Dependency
from tests.cli.chart_servers import Answer, Repository, Server, serving
from tests.eks.archives import archive as packed_with
from tests.eks.archives import chart_archive, chart_yaml, member

LOCK = "hyperpod-chart.lock"
CERT, NVIDIA, EFA = chart_archive("cert-manager", "v1.18.2"), chart_archive("nvidia", "0.16.1"), chart_archive("efa", "v0.5.20")
OPERATOR = chart_archive("gpu-operator", "v26.3.1")
OTHER = "1" * 40


def dependency(name: str, version: str, repository: str, **more: str) -> dict[str, str]:
    return {"name": name, "version": version, "repository": repository, "condition": f"{name}.enabled", **more}


@dataclass
class World:
    """The repository, the servers and the project of a user."""

    repository: Repository
    server: Server
    project: Path
    revision: str
    monkeypatch: pytest.MonkeyPatch
    source: Source

    @property
    def registry(self) -> str:
        return f"oci://{self.server.address.removeprefix('http://')}/jetstack"

    def declared(self) -> list[dict[str, str]]:
        return [
            dependency("cert-manager", "v1.18.2", self.registry),
            dependency("nvidia", "0.16.1", f"{self.server.address}/nvidia"),
            dependency("efa", "0.5.20", f"{self.server.address}/efa/"),
            dependency("agent", "1.0.0", "file://charts/agent"),
            dependency("gpu-operator", "1.0.0", "file://charts/operator-folder"),
        ]

    def files(self) -> dict[str, bytes]:
        inner = [dependency("gpu-operator", "v26.3.1", f"{self.server.address}/ngc")]
        found = {
            "Chart.yaml": chart_yaml("outer", dependencies=self.declared()),
            "values.yaml": b"gpu-operator: {enabled: false}\n",
            "charts/agent/Chart.yaml": chart_yaml("agent"),
            "charts/agent/from-folder": b"",
            "charts/agent-1.0.0.tgz": chart_archive("agent"),
            "charts/operator-folder/Chart.yaml": chart_yaml("gpu-operator", dependencies=inner),
        }
        return {f"{PATH}/{name}": content for name, content in found.items()} | {"README.md": b"outside"}

    def publish(self) -> None:
        self.server.push("/jetstack", "cert-manager", "v1.18.2", CERT, token="anyone")
        self.server.publish("/nvidia", "nvidia", "0.16.1", NVIDIA)
        self.server.publish("/efa", "efa", "v0.5.20", EFA)
        self.server.publish("/ngc", "gpu-operator", "v26.3.1", OPERATOR)

    def commit(self, **files: bytes) -> str:
        self.revision = self.repository.commit({f"{PATH}/{name}": content for name, content in files.items()})
        self.monkeypatch.setattr(chart_project, "REVISION", self.revision)
        return self.revision

    def use(self, source: Source) -> None:
        self.source = source
        self.monkeypatch.setattr(chart_project, "Source", lambda: source)

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(app, ["chart", "fetch", *arguments])

    def succeed(self, *arguments: str) -> str:
        result = self.run(*arguments)
        assert result.exit_code == 0, result.output
        return result.output

    def fail(self, *arguments: str) -> str:
        """The error of a run, which leaves the project and the cache as they were."""
        before = self.left()
        result = self.run(*arguments)
        assert result.exit_code == 1, result.output
        assert self.left() == before
        return result.stderr

    def left(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self.project.parent.rglob("*") if path.is_file() and self.ours(path)}

    def ours(self, path: Path) -> bool:
        return not path.is_relative_to(self.repository.folder)

    @property
    def cache(self) -> Path:
        return self.project.parent / "cache" / "hyperpod-constructs" / "charts"

    def lock(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.project / LOCK).read_text())
        return found


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    (project := tmp_path / "project").mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as server:
        repository = Repository(tmp_path / "repository")
        world = World(repository, server, project, "", monkeypatch, Source())
        world.publish()
        world.revision = repository.commit(world.files())
        monkeypatch.setattr(chart_project, "REVISION", world.revision)
        declared = [*world.declared(), dependency("gpu-operator", "v26.3.1", f"{server.address}/ngc")]
        known = tuple(Dependency(name=one["name"], version=one["version"], repository=one["repository"]) for one in declared)
        world.use(Source(repository=repository.address, dependencies=known))
        yield world


def test_the_chart_is_complete_in_the_cache_and_its_hashes_in_the_project(world: World) -> None:
    shown = world.succeed()
    chart = HyperPodChart.from_cache(lock=LOCK)
    assert [path for path in chart.files if path.endswith("Chart.yaml")] == [
        "Chart.yaml",
        "charts/agent/Chart.yaml",
        "charts/cert-manager/Chart.yaml",
        "charts/efa/Chart.yaml",
        "charts/nvidia/Chart.yaml",
        "charts/operator-folder/Chart.yaml",
    ]
    assert "charts/agent/from-folder" in chart.files
    assert HyperPodChart.from_cache().sha256 == chart.sha256
    assert world.lock()["revision"] == world.revision
    assert world.lock()["chart"] == chart.sha256
    assert list(world.lock()["dependencies"]) == ["cert-manager", "efa", "nvidia"]
    for name, found in world.lock()["dependencies"].items():
        assert f"trusted for the first time: {name} {found['version']}, SHA-256 {found['sha256']}" in shown
    assert stat.S_IMODE(world.cache.stat().st_mode) == 0o700


def test_what_the_lock_file_names_is_not_fetched_again(world: World) -> None:
    world.succeed()
    world.server.asked.clear()
    assert "already" in world.succeed("--frozen")
    assert world.server.asked == []


def test_a_colleague_gets_the_same_bytes(world: World) -> None:
    world.succeed()
    first = HyperPodChart.from_cache().packed
    for path in world.cache.iterdir():
        path.unlink()
    assert "trusted for the first time" not in world.succeed("--frozen")
    assert HyperPodChart.from_cache(lock=LOCK).packed == first


def test_a_damaged_cache_is_refused_and_fetched_anew(world: World) -> None:
    world.succeed()
    (packed,) = world.cache.glob("*.zip")
    packed.write_bytes(packed.read_bytes()[:-1] + b"x")
    with pytest.raises(ValueError, match="its content was changed; delete the file and run `hyperpod chart fetch`"):
        HyperPodChart.from_cache()
    world.succeed()
    assert HyperPodChart.from_cache(lock=LOCK).files


@pytest.mark.parametrize("lock", [None, LOCK])
def test_fails_without_a_chart_with_the_one_command(world: World, lock: str | None) -> None:
    with pytest.raises(ValueError, match=r"the service's Helm chart is not in .*; run `hyperpod chart fetch`$"):
        HyperPodChart.from_cache(lock=lock)


def test_fails_for_a_cache_that_others_can_write_to(world: World) -> None:
    world.succeed()
    world.cache.chmod(0o777)
    with pytest.raises(ValueError, match="others can write here"):
        HyperPodChart.from_cache()
    (world.project / LOCK).unlink()
    assert "others can write here" in world.fail()


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"revision": 1}', '{"revision": "main", "dependencies": {}, "chart": ""}', "x" * 70_000]
)
def test_fails_for_a_lock_file_that_is_none(world: World, text: str) -> None:
    (world.project / LOCK).write_text(text)
    assert "not a record of `hyperpod chart fetch`" in world.fail()


def test_fails_for_another_archive_than_the_one_in_the_lock_file(world: World) -> None:
    world.succeed()
    for path in world.cache.glob("*.zip"):
        path.unlink()
    world.server.publish("/efa", "efa", "v0.5.20", chart_archive("efa", "v0.5.20", marker="another"))
    error = world.fail()
    assert "efa 0.5.20: the archive from" in error
    assert f"{LOCK} states {world.lock()['dependencies']['efa']['sha256']}" in error
    before = world.lock()
    world.succeed("--update")
    assert world.lock()["dependencies"]["efa"] != before["dependencies"]["efa"]
    assert world.lock()["dependencies"]["nvidia"] == before["dependencies"]["nvidia"]


def test_fails_for_another_archive_than_the_one_that_a_public_source_states(world: World) -> None:
    known = tuple(replace(one, sha256="0" * 64) if one.name == "nvidia" else one for one in world.source.dependencies)
    world.use(replace(world.source, dependencies=known))
    assert f"a public source states {'0' * 64}" in world.fail()


def test_fails_if_the_repository_s_own_index_states_another_hash(world: World) -> None:
    world.server.publish("/nvidia", "nvidia", "0.16.1", NVIDIA, digest="f" * 64)
    assert f"the repository's index states {'f' * 64}" in world.fail()


def test_fails_if_the_registry_s_content_is_not_its_digest(world: World) -> None:
    (blob,) = (path for path in world.server.answers if "/blobs/" in path)
    world.server.answers[blob] = 200, {}, b"x" * len(CERT)
    assert "the registry's manifest states" in world.fail()


def test_frozen_takes_nothing_new(world: World) -> None:
    assert "is not there, and --frozen takes nothing new" in world.fail("--frozen")
    world.succeed()
    lock = world.lock()
    del lock["dependencies"]["efa"]
    (world.project / LOCK).write_text(json.dumps(lock | {"chart": "0" * 64}))
    assert "efa 0.5.20: hyperpod-chart.lock states no hash" in world.fail("--frozen")


def test_fails_if_the_packed_chart_is_not_the_locked_one(world: World) -> None:
    world.succeed()
    (world.project / LOCK).write_text(json.dumps(world.lock() | {"chart": "0" * 64}))
    assert "the packed chart is not the one in hyperpod-chart.lock" in world.fail()


def test_the_lock_file_keeps_its_revision_until_it_is_updated(world: World) -> None:
    world.succeed()
    first = world.revision
    second = world.commit(**{"values.yaml": b"changed: true\n"})
    assert f"revision {first}" in world.succeed("--revision", first)
    assert f"is for revision {first}; write --update to record {second}" in world.fail("--revision", second)
    world.succeed("--update")
    assert world.lock()["revision"] == second
    assert HyperPodChart.from_cache(lock=LOCK).default_values == {
        "changed": True,
        **{name: {} for name in ("agent", "cert-manager", "efa", "gpu-operator", "nvidia")},
    }


@pytest.mark.parametrize("cached", [True, False])
def test_a_revision_that_aws_does_not_install_is_taken_only_by_name(world: World, cached: bool) -> None:
    official = world.revision
    other = world.commit(**{"values.yaml": b"of: a fork\n"})
    world.monkeypatch.setattr(chart_project, "REVISION", official)
    unproven = f"revision {other} is not the one that AWS's templates install, and nothing proves it to be AWS's"
    assert unproven in world.succeed("--revision", other)
    for path in () if cached else world.cache.glob("*.zip"):
        path.unlink()
    refused = f"{LOCK} is for revision {other}, and AWS's templates install {official}; write --update to record AWS's"
    assert refused in world.fail()
    assert refused in world.fail("--frozen")
    assert unproven in world.succeed("--frozen", "--revision", other)
    assert "nothing proves" not in world.succeed("--update")
    assert world.lock()["revision"] == official


def test_the_gpu_operator_comes_on_request_and_stays(world: World) -> None:
    assert world.succeed()
    assert "has no GPU operator; write --update" in world.fail("--gpu-operator")
    world.succeed("--gpu-operator", "--update")
    chart = HyperPodChart.from_cache(lock=LOCK)
    assert "charts/operator-folder/charts/gpu-operator/Chart.yaml" in chart.files
    assert chart.missing_below("gpu-operator") == []
    for path in world.cache.glob("*.zip"):
        path.unlink()
    world.succeed()
    assert HyperPodChart.from_cache(lock=LOCK).sha256 == chart.sha256


@pytest.mark.parametrize(
    ("path", "answer", "error"),
    [
        ("/nvidia/index.yaml", (404, {}, b""), "the server answered 404"),
        ("/nvidia/index.yaml", (200, {}, b"entries: {}"), "the index has no nvidia 0.16.1"),
        ("/nvidia/index.yaml", (200, {}, b"entries: {nvidia: [{version: 0.16.1}]}"), "no address of nvidia 0.16.1"),
        ("/nvidia/index.yaml", (200, {}, b"["), "index.yaml is not readable"),
        ("/nvidia/index.yaml", (200, {}, b"a: &a [1]\nentries: {nvidia: *a}"), "index.yaml has the alias 'a'; write its value out"),
        ("/nvidia/index.yaml", (200, {}, b"#" * (16 * 2**20 + 1)), "is larger than"),
        ("/nvidia/nvidia-0.16.1.tgz", (200, {"Content-Length": "99999"}, NVIDIA), "was cut off after .* of 99999 bytes; try again"),
        (
            "/nvidia/nvidia-0.16.1.tgz",
            (302, {"Location": "http://example.com/"}, b""),
            "leads to http://example.com/, which is not https",
        ),
        ("/nvidia/nvidia-0.16.1.tgz", (302, {"Location": "file:///etc/passwd"}, b""), "the server answered 302"),
        ("/nvidia/nvidia-0.16.1.tgz", (302, {"Location": "/nvidia/nvidia-0.16.1.tgz"}, b""), "the server answered 302"),
        ("/v2/jetstack/cert-manager/manifests/v1.18.2", (403, {}, b""), "the server answered 403"),
        ("/v2/jetstack/cert-manager/manifests/v1.18.2", (401, {}, b""), "does not let anyone read"),
        ("/v2/jetstack/cert-manager/manifests/v1.18.2", (200, {}, b"[]"), "not a JSON object"),
        ("/v2/jetstack/cert-manager/manifests/v1.18.2", (200, {}, b"{}"), "not that of a chart"),
        ("/token", (200, {}, b"no"), "the answer is not JSON"),
        ("/token", (200, {}, b"{}"), "gives no token"),
    ],
)
def test_fails_for_a_strange_answer(world: World, path: str, answer: Answer, error: str) -> None:
    world.server.answers[path] = answer
    assert re.search(error, world.fail())


def test_a_redirection_takes_no_token_along(world: World) -> None:
    (blob,) = (path for path in world.server.answers if "/blobs/" in path)
    seen: list[str | None] = []
    with serving() as other:

        def there(headers: Mapping[str, str]) -> Answer:
            seen.append(headers.get("Authorization"))
            return 200, {}, CERT

        other.answers["/there"] = there
        world.server.answers[blob] = 307, {"Location": f"{other.address}/there"}, b""
        world.succeed()
    assert seen == [None]


def test_fails_for_an_answer_that_never_ends(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chart_download, "SECONDS", -1.0)
    assert "took more than -1 seconds; try again" in world.fail()


def test_fails_for_an_answer_that_drips(monkeypatch: pytest.MonkeyPatch) -> None:
    """A `read` would wait for a whole chunk before anybody looks at the time."""
    monkeypatch.setattr(chart_download, "SECONDS", 0.0)
    drips = SimpleNamespace(headers={}, read1=lambda size: b"x")
    with pytest.raises(chart_files.ChartError, match="took more than 0 seconds"):
        chart_download._body(drips, "https://example.com", 10**6)


def test_fails_for_an_address_that_cannot_be_read(world: World) -> None:
    index = "entries: {nvidia: [{version: 0.16.1, urls: ['https://[']}]}"
    world.server.answers["/nvidia/index.yaml"] = 200, {}, index.encode()
    assert "Invalid IPv6 URL" in world.fail()


def test_fails_for_a_hostile_archive(world: World) -> None:
    hostile = packed_with("nvidia", {"Chart.yaml": chart_yaml("nvidia", "0.16.1")}, member("../../evil"))
    world.server.publish("/nvidia", "nvidia", "0.16.1", hostile)
    assert "'../../evil' is not a plain path below the chart's folder" in world.fail()
    assert not list(world.project.parent.rglob("evil"))


@pytest.mark.parametrize("name", ["other", "nvidia"])
def test_fails_for_an_archive_of_another_chart(world: World, name: str) -> None:
    world.server.publish("/nvidia", "nvidia", "0.16.1", chart_archive(name, "0.16.2"))
    assert "is incomplete: it declares nvidia 0.16.1" in world.fail()


def test_fails_for_a_dependency_from_elsewhere(world: World) -> None:
    declared = [dependency("nvidia", "0.16.1", "https://elsewhere.example"), dependency("new", "1.0.0", "https://new.example")]
    world.commit(**{"Chart.yaml": chart_yaml("outer", dependencies=declared)})
    assert "nvidia 0.16.1: declared from 'https://elsewhere.example'; allowed for it: http://127.0.0.1" in world.fail()
    world.commit(**{"Chart.yaml": chart_yaml("outer", dependencies=declared[1:])})
    assert "new 1.0.0: declared from 'https://new.example'; this release knows no chart of that name" in world.fail()


def test_fails_for_a_range_of_versions(world: World) -> None:
    declared = [dependency("nvidia", "^0.16.0", f"{world.server.address}/nvidia")]
    world.commit(**{"Chart.yaml": chart_yaml("outer", dependencies=declared)})
    assert "the version is a range; only an exact version can be fetched" in world.fail()


def test_fails_for_a_folder_that_is_declared_and_missing(world: World) -> None:
    declared = [dependency("lost", "1.0.0", "file://charts/lost")]
    world.commit(**{"Chart.yaml": chart_yaml("outer", dependencies=declared)})
    assert "is incomplete: it declares lost 1.0.0" in world.fail()


def test_fails_for_a_commit_that_the_repository_does_not_have(world: World) -> None:
    assert f"{world.repository.address} at {OTHER}: git fetch failed" in world.fail("--revision", OTHER)


def test_fails_if_another_commit_comes(world: World) -> None:
    named = world.repository.git("hash-object", "-w", "README.md")
    assert "git rev-parse failed" in world.fail("--revision", named)


def test_fails_for_a_revision_without_the_chart(world: World) -> None:
    world.use(replace(world.source, path="nowhere"))
    assert "git ls-tree failed" in world.fail()


def test_fails_for_a_link_in_the_repository(world: World) -> None:
    (world.repository.folder / PATH / "values.yaml").unlink()
    (world.repository.folder / PATH / "values.yaml").symlink_to("/etc/passwd")
    world.commit()
    assert "values.yaml is not a regular file" in world.fail()


@pytest.mark.parametrize(
    ("limit", "most", "error"), [("MOST_BYTES", 50_000, "more than 0 MiB"), ("MOST_FILES", 7, "more than 7 files")]
)
def test_fails_for_too_much_before_a_file_is_read(
    world: World, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, error: str
) -> None:
    world.commit(one=b"1" * 30_000, two=b"2" * 30_000)
    steps: list[Sequence[str]] = []
    run = chart_git._run
    monkeypatch.setattr(chart_files, limit, most)

    def noted(command: Sequence[str], *given: Any) -> bytes:
        steps.append(command)
        return run(command, *given)

    monkeypatch.setattr(chart_git, "_run", noted)
    assert error in world.fail()
    assert "ls-tree" in steps[-1]


def test_no_attribute_of_the_repository_changes_a_file(world: World) -> None:
    world.commit(**{".gitattributes": b"values.yaml export-ignore\n*.yaml filter=evil ident\n", "values.yaml": b"id: $Id$\n"})
    world.succeed()
    assert HyperPodChart.from_cache().files["values.yaml"] == b"id: $Id$\n"


def test_fails_without_git(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(world.project))
    assert "git is not on the PATH" in world.fail()


def test_fails_for_a_repository_that_does_not_answer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (program := world.project / "git").write_text("#!/bin/sh\n(/bin/sleep 2; : > late) & wait\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(world.project))
    monkeypatch.setattr(chart_fetch, "revision_files", lambda *given: chart_git.revision_files(*given, seconds=0.2))
    assert "git did not finish within 0.2 seconds; try again" in world.fail()


def test_fails_for_a_git_that_says_too_much(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (program := world.project / "git").write_text("#!/bin/sh\nexec /usr/bin/head -c 9000000 /dev/zero\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(world.project))
    assert "git said more than 3060000 bytes, which no chart needs" in world.fail()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--revision", "main"], "--revision is 'main'; write the full id of a commit: 40 lowercase hexadecimal digits"),
        (["--update", "--frozen"], "--update records new hashes and --frozen forbids it"),
    ],
)
def test_fails_for_wrong_options(world: World, arguments: list[str], error: str) -> None:
    assert error in world.fail(*arguments)


@pytest.mark.parametrize("url", ["http://example.com/a", "ftp://example.com/a", "file:///etc/passwd", "https:///a"])
def test_fails_for_an_address_without_encryption(url: str) -> None:
    with pytest.raises(ValueError, match="which is not https"):
        chart_download.download(url, most=1)


def test_fails_for_an_index_that_leads_to_this_machine(elsewhere: dict[str, Answer]) -> None:
    entry = b"entries: {nvidia: [{version: 0.16.1, urls: ['http://127.0.0.1:8080/secrets']}]}"
    elsewhere["https://charts.example/index.yaml"] = 200, {}, entry
    with pytest.raises(ValueError, match=r"^https://charts.example: it leads to http://127.0.0.1:8080/secrets, which is not"):
        archive_of(declared("nvidia", "0.16.1", "https://charts.example"))


def test_fails_for_a_registry_that_asks_for_a_token_of_this_machine(elsewhere: dict[str, Answer]) -> None:
    url = "https://registry.example/v2/charts/nvidia/manifests/0.16.1"
    elsewhere[url] = 401, {"WWW-Authenticate": 'Bearer realm="http://localhost:8080/token",service="x"'}, b""
    with pytest.raises(ValueError, match=rf"^{url}: it leads to http://localhost:8080/token\?service=x&scope=.*, which is not"):
        archive_of(declared("nvidia", "0.16.1", "oci://registry.example/charts"))


def declared(name: str, version: str, repository: str) -> Declared:
    return Declared(name, version, repository, "", "", ())


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> dict[str, Answer]:
    """Answers of servers that are not on this machine, by address."""
    answers: dict[str, Answer] = {}

    class Opener:
        def open(self, request: urllib.request.Request, timeout: float) -> Any:
            status, headers, body = answers[request.full_url]
            message = Message()
            for name, value in headers.items():
                message[name] = value
            answer = urllib.response.addinfourl(io.BytesIO(body), message, request.full_url, status)
            if status != 200:
                raise urllib.error.HTTPError(request.full_url, status, "", message, answer)
            return answer

    monkeypatch.setattr(urllib.request, "build_opener", lambda *handlers: Opener())
    return answers


def test_the_stand_in_is_written_to_a_new_directory(workdir: Path) -> None:
    result = CliRunner().invoke(app, ["chart", "stand-in", "charts/stand-in"])
    assert result.exit_code == 0, result.output
    assert "a stand-in for the service's chart is in charts/stand-in" in result.output
    assert HyperPodChart.from_directory("charts/stand-in").is_stand_in
    again = CliRunner().invoke(app, ["chart", "stand-in", "charts/stand-in"])
    assert again.exit_code == 1
    assert "charts/stand-in exists; name a new directory" in again.stderr
