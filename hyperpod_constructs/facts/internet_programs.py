"""Programs that fetch from hosts in the internet unless somebody names others: package managers and registries (as of 2026-12-01).

Sources: https://documentation.ubuntu.com/server/how-to/software/package-management/, https://pip.pypa.io/en/stable/cli/pip_install/,
https://docs.conda.io/projects/conda/en/stable/user-guide/configuration/use-condarc.html,
https://snapcraft.io/docs/network-requirements, https://go.dev/ref/mod#module-proxy, https://doc.rust-lang.org/cargo/reference/registries.html,
https://docs.docker.com/reference/cli/docker/image/pull/, https://apptainer.org/docs/user/main/docker_and_oci.html,
https://github.com/NVIDIA/enroot/blob/master/doc/cmd/import.md and
https://huggingface.co/docs/huggingface_hub/guides/cli
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Fetching(NamedTuple):
    """A program that fetches.

    :param host: the host from which it does, or what it is called.
    :param words: the subcommands with which it does.
    :param others: texts in scripts and in files beside them by which it may have another host, or none.
    """

    host: str
    words: frozenset[str]
    others: tuple[str, ...]


_APT = Fetching(
    "the archive of Ubuntu",
    frozenset({"update", "install", "upgrade", "dist-upgrade", "full-upgrade", "build-dep", "source", "download"}),
    ("/etc/apt/", "sources.list", "Acquire::", "add-apt-repository", "deb [", "--no-download"),
)
_PIP = Fetching(
    "the index of Python packages",
    frozenset({"install", "download", "wheel"}),
    ("pip.conf", "PIP_", "--index-url", "--no-index", " -i ", "pip config", "codeartifact", ".pypirc"),
)
_CONDA = Fetching(
    "the channels of Anaconda", frozenset({"create", "install", "update", "upgrade"}), (".condarc", "conda config", "--offline")
)
_NPM = Fetching(
    "the registry of npm", frozenset({"add", "ci", "install", "i"}), ("npmrc", "npm config", "--registry", "codeartifact")
)
PROGRAMS: Mapping[str, Fetching] = {
    **dict.fromkeys(("apt", "apt-get", "aptitude"), _APT),
    **dict.fromkeys(("pip", "pip3"), _PIP),
    **dict.fromkeys(("conda", "mamba"), _CONDA),
    **dict.fromkeys(("npm", "pnpm", "yarn"), _NPM),
    "cargo": Fetching("the registry of Rust crates", frozenset({"install", "fetch"}), (".cargo/config", "--path", "--offline")),
    "gem": Fetching("the index of Ruby gems", frozenset({"install"}), ("gemrc", "--source", "--local")),
    "go": Fetching("the proxy of Go modules", frozenset({"get", "install"}), ("GOPROXY", "-mod=vendor")),
    "hf": Fetching("huggingface.co", frozenset({"download"}), ("HF_ENDPOINT", "HF_HUB_OFFLINE")),
    "huggingface-cli": Fetching("huggingface.co", frozenset({"download"}), ("HF_ENDPOINT", "HF_HUB_OFFLINE")),
    "snap": Fetching("the store of snaps", frozenset({"install", "refresh"}), ("--dangerous", "snap ack", "proxy.store")),
}
"""Programs with a host of their own."""
PULLING: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("docker", "nerdctl", "podman"), frozenset({"pull"})),
    **dict.fromkeys(("apptainer", "singularity"), frozenset({"build", "pull"})),
    "enroot": frozenset({"import"}),
}
"""Programs that fetch images, and the subcommands with which they do."""
REGISTRY = "Docker Hub"
"""Where images come from without a host in their names."""
OTHER_REGISTRIES = ("registry-mirrors", "daemon.json", "registries.conf", "certs.d", ".credentials")
"""Texts by which images may come from elsewhere."""
