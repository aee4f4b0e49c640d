"""Servers of models in SageMaker's images: the variables that share a model among accelerators, and images that need some.

Sources: https://docs.djl.ai/master/docs/serving/serving/docs/lmi/deployment_guide/configurations.html and
https://huggingface.co/docs/sagemaker/dlcs/available (as of 2026-11-28)
"""

from __future__ import annotations

import re

SHARES = ("OPTION_TENSOR_PARALLEL_DEGREE", "SM_NUM_GPUS", "TENSOR_PARALLEL_DEGREE")
"""Variables with the number of accelerators that one copy of a model takes, on one instance."""

FOR_GPUS = re.compile(r".*\.dkr\.ecr\..*:.*-(cu\d{2,3}|gpu)(-.*)?")
"""Images in ECR whose tag says that they are made for CUDA.

Source: https://aws.github.io/deep-learning-containers/reference/available_images/
"""

WITHOUT_ACCELERATORS = re.compile(r"ml\.[cmrt]\d[a-z-]*\.\w+")
"""Types of instances for endpoints that have no accelerators.

Source: https://aws.amazon.com/sagemaker/ai/pricing/
"""
