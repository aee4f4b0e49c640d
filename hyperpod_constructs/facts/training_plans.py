"""Training plans: what the service sells, and when a cluster can use it (as of 2026-11-22)."""

from __future__ import annotations

TARGET = "hyperpod-cluster"
"""The target resource of plans for clusters: a plan for another target gives a cluster nothing.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_TrainingPlanOffering.html
"""

USABLE = ("Active", "Scheduled")
"""The states in which a cluster can use a plan. It is Pending until it is paid, and Scheduled until it starts.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-details-using-api-cli-sdk.html
"""

# Source for both: https://docs.aws.amazon.com/sagemaker/latest/dg/search-training-plan-offerings-api-cli-sdk.html
MOST_DAYS = 182
"""The longest plan; a plan takes whole days, one at least."""
COUNTS = (1, 2, 4, 8, 16, 32, 64)
"""The numbers of instances that plans are sold with."""

MINUTES_OF_ENDING = 30
"""The service begins to end the instances of reserved capacity so long before its end.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-utilization-for-training-jobs.html
"""
