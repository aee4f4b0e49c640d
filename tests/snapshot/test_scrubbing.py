from __future__ import annotations

import pytest

from tests.snapshot.scrubbing import scrub

ASSET = "1e1efce342c46be7a4966cefe1f54e97b40e5f6fcb15a7a5674426e9d5592a7c"
VERSION = "797b1329ec233229"
DIGEST = "5f0c3a7d9be24168a1b2c3d4e5f60718"


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        (f"{ASSET}.zip", "<content>.zip"),
        (f"arn:aws:s3:::assets/{ASSET}.zip", "arn:aws:s3:::assets/<content>.zip"),
        (f"/{VERSION}/", "/<content>/"),
        (f"lifecycle/one/{VERSION}/fs", "lifecycle/one/<content>/fs"),
        (DIGEST, "<content>"),
    ],
)
def test_names_of_content_are_scrubbed(text: str, scrubbed: str) -> None:
    assert scrub({"key": [text]}) == {"key": [scrubbed]}


@pytest.mark.parametrize(
    "text",
    [
        "handlers.zip",
        ASSET,
        f"{ASSET[1:]}.zip",
        f"0{ASSET}.zip",
        f"{ASSET}.zip.sig",
        f"{ASSET}.json",
        VERSION,
        DIGEST[1:],
        f"{DIGEST}0",
        f"{DIGEST}x",
        f"/{DIGEST}",
        f"lifecycle/{VERSION}",
        f"lifecycle-{VERSION}/",
        f"/{VERSION[1:]}/",
        f"/0{VERSION}/",
        f"SlurmCluster{VERSION[:8].upper()}",
    ],
)
def test_everything_else_stays(text: str) -> None:
    assert scrub({text: [text, 1, True, None]}) == {text: [text, 1, True, None]}
