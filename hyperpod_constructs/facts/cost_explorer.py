"""Cost Explorer: what it costs to ask, and when it knows a cost (as of 2026-11-24)."""

from __future__ import annotations

import re

# Each page of an answer is a request of its own.
# Source: https://aws.amazon.com/aws-cost-management/aws-cost-explorer/faqs
REQUEST_USD = 0.01

# Billing data changes up to three times a day, so that the costs of a day are complete about a day later. 13 months are kept.
# Source: https://docs.aws.amazon.com/cost-management/latest/userguide/ce-api-best-practices.html
MOST_DAYS = 365

FILTERS = (
    *("AZ", "BillingEntity", "CostCategory", "InstanceType", "InvoicingEntity", "LegalEntityName", "LinkedAccount", "Operation"),
    *("PurchaseType", "RecordType", "Region", "Service", "TagKeyValue", "UsageType", "UsageTypeGroup"),
)
"""Dimensions by which budgets filter costs (as of 2026-12-01, read, not measured); there may be others.

The first source names four of them as filters, the second five more, and the third the others as dimensions, in capitals.

Sources: https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_Budget.html,
https://github.com/hashicorp/terraform-provider-aws (website/docs/r/budgets_budget.html.markdown at commit 04690b5) and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-budgets-budget-expressiondimensionvalues.html
"""

NO_SERVICES = {
    re.compile(r"(?i)(?:(?:Amazon|AWS) ?)?(?:Sage ?Maker ?)?HyperPod.{0,50}|SageMaker.{0,50}"): "Amazon SageMaker",
    re.compile(r"FSx.{0,50}"): "Amazon FSx",
}
"""Names that no service of a bill has, with the one that has these costs: a bill has clusters among those of SageMaker.

Source: https://aws.amazon.com/sagemaker/ai/pricing/ (as of 2026-11-30, read, not measured)
"""
