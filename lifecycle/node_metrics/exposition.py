"""The text that Prometheus scrapes.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from typing import Sequence

from node_metrics.catalogue import CATALOGUE, Sample

ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def text(samples: Sequence[Sample]) -> str:
    """All samples, metric by metric."""
    by_name: dict[str, list[Sample]] = {}
    for sample in samples:
        by_name.setdefault(sample.name, []).append(sample)
    return "".join(_metric(name, found) for name, found in by_name.items())


def _metric(name: str, samples: Sequence[Sample]) -> str:
    metric = CATALOGUE[name]
    lines = [f"# HELP {name} {metric.help}.", f"# TYPE {name} {metric.kind}"]
    return "\n".join([*lines, *(f"{name}{_labels(sample)} {sample.value!r}" for sample in samples)]) + "\n"


def _labels(sample: Sample) -> str:
    pairs = [f'{label}="{value.translate(ESCAPED)}"' for label, value in sample.labels.items()]
    return "{" + ",".join(pairs) + "}" if pairs else ""
