"""The service's Helm chart as a value: its files, checked and in one order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from hyperpod_constructs.eks.chart_cache import cache_directory, load, read_record
from hyperpod_constructs.eks.chart_files import ChartError, Files, pack, read_folder, unpacked
from hyperpod_constructs.eks.chart_tree import Declared, Tree, tree
from hyperpod_constructs.facts.chart import incomplete_chart, no_chart

_STAND_IN = Path(__file__).parents[1] / "local" / "kubernetes_chart"


class HyperPodChart:
    """The service's Helm chart, complete.

    `from_cache` takes what `hyperpod chart fetch` has put into the user's cache; `from_directory` a chart of your own, and
    `stand_in` a small one for the embedded AWS.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-install-packages-using-helm-chart.html
    """

    def __init__(self, files: Files, place: str) -> None:
        """Read a chart from its files; use a factory method instead.

        :param files: content by path below the chart's folder.
        :param place: where it came from, in words for errors.
        :raises ValueError: if the chart is incomplete or unreadable; a sub-chart of a sub-chart may be missing while it is off.
        """
        self.place = place
        self._tree = tree(files, place)
        if lacking := [str(one) for one in self._tree.missing() if not one.parents]:
            raise ChartError(str(incomplete_chart(place, lacking)))

    @classmethod
    def from_directory(cls, path: str | Path) -> HyperPodChart:
        """A chart in a directory, such as a checkout of the service's repository after `helm dependency update`.

        An archive in its `charts` folder is left out if a folder has the same chart: Helm takes either at random.

        :param path: the folder with `Chart.yaml`.
        :raises ValueError: if the chart is incomplete, too large, or has links.
        """
        folder = Path(path)
        return cls(read_folder(folder), str(folder))

    @classmethod
    def from_cache(cls, *, lock: str | Path | None = None) -> HyperPodChart:
        """The chart that `hyperpod chart fetch` has put into the user's cache.

        :param lock: the project's lock file, which names the chart by its hash; the newest chart of the cache unless given.
        :raises ValueError: if the chart is not there, with the command that fetches it; or if it was changed.
        """
        record = None if lock is None else read_record(Path(lock))
        if lock is not None and record is None:
            raise ChartError(str(no_chart(f"the cache, as {lock} is missing")))
        directory = cache_directory()
        packed, _ = load(directory, record)
        return cls(unpacked(packed, str(directory)), str(directory))

    @classmethod
    def stand_in(cls) -> HyperPodChart:
        """A small chart with the service's value keys, for the embedded AWS only: nothing in it runs on nodes."""
        return cls(read_folder(_STAND_IN), "the stand-in")

    @property
    def is_stand_in(self) -> bool:
        """Whether this is the small chart of the embedded AWS, which stands in for the service's."""
        return self._tree.is_stand_in

    @property
    def files(self) -> Files:
        """Content by path, without superfluous archives."""
        return self._tree.files

    @property
    def tree(self) -> Tree:
        """The chart with its sub-charts."""
        return self._tree

    @cached_property
    def default_values(self) -> dict[str, Any]:
        """The default values, those of sub-charts below their names."""
        return self._tree.values()

    def missing_below(self, sub_chart: str) -> Sequence[Declared]:
        """What a sub-chart declares and does not contain.

        :param sub_chart: name of the sub-chart.
        """
        return [one for one in self._tree.missing() if one.parents[:1] == (sub_chart,)]

    @cached_property
    def packed(self) -> bytes:
        """A zip with `Chart.yaml` at its root: the same bytes for the same content on every machine."""
        return pack(self.files)

    @property
    def sha256(self) -> str:
        """The hash of `packed`."""
        return hashlib.sha256(self.packed).hexdigest()
