"""The job of the training operator (as of 2026-11-22). Its definition is not public; its keys are those of AWS's pages.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-usage.html
"""

from __future__ import annotations

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
