"""The scripts of a pattern whose nodes tell figures."""

from __future__ import annotations

from aws_cdk import aws_kms as kms

from hyperpod_constructs.node_software.lifecycle_scripts import LifecycleScripts
from hyperpod_constructs.node_software.node_metrics import NodeMetrics
from hyperpod_constructs.node_software.software import NodeSoftware


def with_metrics(
    path: str, scripts: LifecycleScripts | None, metrics: NodeMetrics | None, key: kms.IKey | None
) -> LifecycleScripts | None:
    """The given scripts; with metrics, this library's own, in a bucket with the key.

    :raises ValueError: for both.
    """
    if metrics is None:
        return scripts
    if scripts is not None:
        raise ValueError(
            f"{path}: node_metrics stands beside lifecycle_scripts, which have a software of their own; "
            "write lifecycle_scripts=LifecycleScripts.from_asset(software=NodeSoftware(metrics=NodeMetrics()), ...)"
        )
    return LifecycleScripts.from_asset(encryption_key=key, software=NodeSoftware(metrics=metrics))
