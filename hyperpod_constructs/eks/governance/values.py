"""Types of arguments of task governance, each with its limit; `checked` compares an argument with it."""

from __future__ import annotations

from typing import Annotated

from hyperpod_constructs.facts import governance

PolicyName = Annotated[str, governance.NAME]
TeamName = Annotated[str, governance.TEAM_NAME]
FairShareWeight = Annotated[int, governance.FAIR_SHARE_WEIGHT]
BorrowLimit = Annotated[int, governance.BORROW_LIMIT]
QuotaCount = Annotated[int, governance.AMOUNT]
QuotaAmount = Annotated[int | float, governance.AMOUNT]
PriorityClassName = Annotated[str, governance.PRIORITY_CLASS]
PriorityWeight = Annotated[int, governance.PRIORITY_WEIGHT]
