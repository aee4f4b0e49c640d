"""The pods of jobs that start together: a job with fewer of them waits for the others.

Sources: https://www.kubeflow.org/docs/components/trainer/legacy-v1/reference/ and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-usage.html (as of 2026-12-01)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_constructs.facts.raw_parts import items, mapping, part
from hyperpod_constructs.facts.shapes import Unknown

_OF_KUBEFLOW, _OF_HYPERPOD = "kubeflow.org", "sagemaker.amazonaws.com"
_DIGITS = 7
"""The digits of a number that is no size of a job."""
_REPLICAS: Mapping[str, str] = {
    "JAXJob": "jaxReplicaSpecs",
    "MPIJob": "mpiReplicaSpecs",
    "PaddleJob": "paddleReplicaSpecs",
    "PyTorchJob": "pytorchReplicaSpecs",
    "TFJob": "tfReplicaSpecs",
    "XGBoostJob": "xgbReplicaSpecs",
}
"""The kinds of jobs of Kubeflow, and where each has its replicas."""


def workers_of(found: Mapping[str, Any], unknown: Unknown) -> Iterator[tuple[Mapping[str, Any], int | None]]:
    """The specifications of the pods of a job, with the number of each; `None` for one that is not known.

    A job that may begin with fewer pods has none of a known number.
    """
    group, kind = str(found.get("apiVersion")).partition("/")[0], str(found.get("kind"))
    elastic = part(found, "spec", "elasticPolicy") is not None
    listed: list[Any] = []
    if group == _OF_KUBEFLOW and kind in _REPLICAS:
        listed = list(mapping(part(found, "spec", _REPLICAS[kind])).values())
    elif group == _OF_HYPERPOD:
        listed = items(part(found, "spec", "replicaSpecs"))
    for one in listed:
        pods, count = part(one, "template", "spec"), part(one, "replicas")
        is_known = not unknown(count) and str(count).isdecimal() and len(str(count)) < _DIGITS
        number = 1 if count is None else int(count) if is_known else None
        if isinstance(pods, Mapping) and isinstance(pods.get("containers"), list):
            yield pods, None if elastic else number
