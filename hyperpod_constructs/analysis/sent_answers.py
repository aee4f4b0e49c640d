"""What code in Python sends to CloudFormation by `cfnresponse`: the code is parsed, and never executed.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-lambda-function-code-cfnresponsemodule.html
"""

from __future__ import annotations

import ast

MODULE, SEND, FAILED = "cfnresponse", "cfnresponse.send", "FAILED"
_STATUS = 2


def status_of(call: ast.Call) -> ast.expr | None:
    """The status of an answer."""
    named = next((one.value for one in call.keywords if one.arg == "responseStatus"), None)
    return call.args[_STATUS] if len(call.args) > _STATUS else named
