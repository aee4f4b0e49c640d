"""The job of the training operator (as of 2026-11-22). Its definition is not public; its keys are those of AWS's pages.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-usage.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_constructs.facts.shapes import Schema, shape_mistakes

GROUP, VERSION = "sagemaker.amazonaws.com", "v1"
KIND, PLURAL = "HyperPodPyTorchJob", "hyperpodpytorchjobs"

KEYS = ("elasticPolicy", "logMonitoringConfiguration", "nprocPerNode", "replicaSpecs", "runPolicy")
"""The keys of a job's specification."""

REPLICA_KEYS = ("maxReplicas", "name", "replicas", "spares", "template")
"""The keys of one kind of replicas; the template is that of pods."""

RUN_KEYS = (
    "activeDeadlineSeconds",
    "cleanPodPolicy",
    "faultDeadlineSeconds",
    "jobMaxRetryCount",
    "restartPolicy",
    "startupDeadlineSeconds",
    "suspend",
    "ttlSecondsAfterFinished",
    "workloadMode",
)
"""The keys of the policy by which a job runs."""

AGENT_PORT = 8080
"""The port of the elastic agent in the container."""

ELASTIC_KEYS = (
    "faultyScaleDownTimeoutInSeconds",
    "gracefulShutdownTimeoutInSeconds",
    "maxReplicas",
    "minReplicas",
    "replicaDiscreteValues",
    "replicaIncrementStep",
    "scalingTimeoutInSeconds",
)
"""The keys of the policy by which a job grows and shrinks.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-elastic-training.html (as of 2026-11-24)
"""

LEAST_ELASTIC = "1.2.0"
"""The first version of the training operator that knows elastic jobs.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-elastic-training.html (as of 2026-11-24)
"""

_STEPS = ("replicaIncrementStep", "replicaDiscreteValues")
_NUMBER: Schema = {"type": "integer"}
_ANY: Schema = {}
_SPECIFICATION: Schema = {
    "type": "object",
    "required": ["replicaSpecs"],
    "properties": {
        **dict.fromkeys(KEYS, _ANY),
        "nprocPerNode": {"type": "string", "pattern": r"auto|cpu|gpu|\d+", "words": "auto, cpu, gpu or a number, in quotes"},
        "replicaSpecs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {**dict.fromkeys(REPLICA_KEYS, _ANY), "replicas": _NUMBER, "spares": _NUMBER},
            },
        },
        "elasticPolicy": {"type": "object", "properties": {**dict.fromkeys(ELASTIC_KEYS, _NUMBER), _STEPS[1]: {"type": "array"}}},
        "runPolicy": {
            "type": "object",
            "properties": {
                **dict.fromkeys(RUN_KEYS, _ANY),
                "cleanPodPolicy": {"type": "string", "enum": ["All", "OnlyComplete", "None"]},
                "jobMaxRetryCount": _NUMBER,
            },
        },
    },
}
_JOB: Schema = {
    "type": "object",
    "required": ["spec"],
    "additionalProperties": True,
    "properties": {
        "apiVersion": {"type": "string", "enum": [f"{GROUP}/{VERSION}"]},
        "kind": {"type": "string", "enum": [KIND]},
        "spec": _SPECIFICATION,
    },
}


def job_mistake(found: Mapping[str, Any], unknown: Callable[[object], bool]) -> str | None:
    """What the training operator refuses about a job, in words.

    :param unknown: whether a value is known only at the deployment.
    """
    wrong = next(shape_mistakes(_JOB, found, unknown), None)
    elastic = found.get("spec", {}).get("elasticPolicy") if wrong is None else None
    if wrong is None and isinstance(elastic, Mapping) and all(key in elastic for key in _STEPS):
        return f"spec.elasticPolicy has {' and '.join(_STEPS)}; allowed: one of them"
    return wrong
