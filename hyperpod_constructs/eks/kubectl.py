"""The programs of the Lambda function that applies manifests and charts."""

from __future__ import annotations

from importlib import import_module

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from hyperpod_constructs.facts.kubernetes import KUBECTL_LAYER, KUBECTL_MODULE


def layer(scope: Construct, given: lambda_.ILayerVersion | None) -> lambda_.ILayerVersion:
    """The given layer with kubectl and Helm, or that of the extra `eks`.

    :raises ModuleNotFoundError: without the extra.
    """
    if given is not None:
        return given
    try:
        module = import_module(KUBECTL_MODULE)
    except ModuleNotFoundError as error:
        if error.name != KUBECTL_MODULE:
            raise
        text = f"{scope.node.path}: the layer with kubectl and Helm is not installed"
        fix = 'install it by pip install "hyperpod-constructs[eks]", or give kubectl_layer'
        raise ModuleNotFoundError(f"{text}; {fix}", name=KUBECTL_MODULE) from None
    made: lambda_.ILayerVersion = getattr(module, KUBECTL_LAYER)(scope, "KubectlLayer")
    return made
