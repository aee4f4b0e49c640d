"""The programs of the Lambda function that applies manifests and charts."""

from __future__ import annotations

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

EXTRA = "aws_cdk.lambda_layer_kubectl_v35"


def layer(scope: Construct, given: lambda_.ILayerVersion | None) -> lambda_.ILayerVersion:
    """The given layer with kubectl and Helm, or that of the extra `eks`.

    :raises ModuleNotFoundError: without the extra.
    """
    if given is not None:
        return given
    try:
        from aws_cdk.lambda_layer_kubectl_v35 import KubectlV35Layer
    except ModuleNotFoundError as error:
        if error.name != EXTRA:
            raise
        text = f"{scope.node.path}: the layer with kubectl and Helm is not installed"
        fix = 'install it by pip install "hyperpod-constructs[eks]", or give kubectl_layer'
        raise ModuleNotFoundError(f"{text}; {fix}", name=EXTRA) from None
    return KubectlV35Layer(scope, "KubectlLayer")
