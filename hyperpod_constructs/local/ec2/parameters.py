"""The parameters of a request in the query protocol of EC2."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.local.aws_service import AwsError

Parameters = Mapping[str, str]
"""The flat parameters of the query protocol, such as `SecurityGroupId.1`."""


class Fields(dict[str, str]):
    """The flat parameters of a request; one that a rule needs and that is not there is refused, if the model allows it or not."""

    def __missing__(self, name: str) -> str:
        raise AwsError("MissingParameter", f"The request must contain the parameter {name}")


def values(parameters: Parameters, name: str) -> list[str]:
    """The members of a list."""
    return [value for key, value in parameters.items() if key.rpartition(".")[0] == name and key.rpartition(".")[2].isdigit()]
