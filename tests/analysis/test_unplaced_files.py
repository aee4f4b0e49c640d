"""Uploaded files that something needs in a folder of the node, beside others that are put there."""

from __future__ import annotations

import pytest

from tests.analysis.test_cron_files import said

START = """#!/bin/bash
set -euo pipefail
install -d -m 0755 /opt/own
install -m 0644 env.sh /opt/own/env.sh
install -m 0755 prolog.sh archive.sh /opt/own/
install -m 0644 own.cron /etc/cron.d/own
"""
FILES = {
    "start.sh": START,
    "env.sh": "export A=b\n",
    "prolog.sh": "#!/bin/bash\nsource /opt/own/env.sh\ntrue\n",
    "archive.sh": "#!/bin/bash\nsource /opt/own/env.sh\ntrue\n",
    "own.cron": "40 1 * * * root /opt/own/archive.sh\n",
    "slurm_additions.conf": "Prolog=/opt/own/prolog.sh\n",
}
ENV, LACKS_ENV = "install -m 0644 env.sh /opt/own/env.sh\n", "puts files into /opt/own and not env.sh, which"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        (ENV, "", LACKS_ENV),
        (" archive.sh /opt", " /opt", "and not archive.sh, which own.cron needs there"),
        ("0755 prolog.sh", "0755", "and not prolog.sh, which slurm_additions.conf needs there"),
        (ENV, "cp -r . /opt/own\n", None),
        (ENV, "cp *.sh /opt/own/\n", None),
        (ENV, "cp env.sh $(folder)\n", None),
        (ENV, "cp users.csv $(folder)\n", LACKS_ENV),
        (ENV, "aws s3 sync s3://bucket/own /opt/own\n", None),
        (ENV, "aws s3 cp /opt/own s3://bucket/own --recursive\n", LACKS_ENV),
        (ENV, "ln -s /opt/b /opt/own/env.sh\n", None),
        (ENV, "tar -C /opt -xf a.tar\n", None),
        (ENV, "for one in a b; do cp $one.sh /opt/own/$one.sh; done\n", None),
        (ENV, "echo A=b > /opt/own/env.sh\n", None),
        (ENV, "other > /opt/own/env.sh\n", None),
    ],
)
def test_files_are_put_to_where_they_are_needed(old: str, new: str, message: str | None) -> None:
    assert old in START
    found = said({**FILES, "start.sh": START.replace(old, new)})
    assert [(name, message in one) for name, one in found] == [("start.sh", True)] if message else found == []


def test_a_line_that_does_without_a_file_needs_none() -> None:
    soft = {name: text.replace("env.sh\n", "env.sh || true\n") for name, text in FILES.items() if name != "start.sh"}
    assert said({**soft, "start.sh": START.replace(ENV, "")}) == []
