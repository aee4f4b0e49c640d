"""Slurm's accounting in a database of one's own: the conditions of the service, and the words for mistakes."""

from __future__ import annotations

from hyperpod_constructs.facts.mistake import Mistake, fixed_by

DEFAULT_PORT = 3306
"""The port of a database without `Port` (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAccountingDatabase.html
"""

IMAGES_AFTER = "2026-08-30"
"""The image of the controller must be newer than this day (as of 2026-11-22). No template tells the date of an image.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-external-accounting-db-slurm.html
"""

TAKEN_AWAY = "a cluster with an accounting database of your own cannot go back to the database on its controller"
"""Whether a cluster can lose its `AccountingDatabase` (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-external-accounting-db-slurm.html
"""

WITHOUT_CONTINUOUS = Mistake(
    "an accounting database of your own needs continuous provisioning",
    "provision continuously, or leave the database out: then it is on the controller",
)


@fixed_by("let the controller run OnInitComplete, or give the database to the scripts instead, as NodeSoftware(accounting=...)")
def beside_scripts(group: str) -> str:
    """A database in the API beside scripts that set Slurm up themselves."""
    return (
        f"the controller's group {group!r} runs OnCreate: its scripts set Slurm's accounting up, "
        "and know nothing of the orchestrator's accounting_database"
    )


@fixed_by("import the secret by its complete ARN, or pass the secret of this app")
def partial_arn(name: str) -> str:
    """The ARN of a secret without its last characters, so that a policy for it allows nothing."""
    return f"the ARN of the secret ends in {name!r}, without the hyphen and the six characters that Secrets Manager adds to a name"
