"""The job for Trainium1 says what it is for, and stops on any other node and with any other software."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainium.needs import RELEASES, complaint


@pytest.mark.parametrize(
    ("family", "device", "installed", "words"),
    [
        ("p5", "/dev/null", "2.9.0", "this node is p5: submit the job to a partition of trn1 nodes"),
        ("trn2", "/dev/null", "2.9.0", "this node is trn2: submit the job"),
        ("", "/dev/null", "2.9.0", "this node is of an unknown type: submit the job"),
        ("trn1", "/dev/neuron-of-nobody", "2.9.0", "this node has no Neuron device (/dev/neuron-of-nobody): submit"),
        ("trn1n", "/dev/null", None, "there is no torch-neuronx for this Python: install that of Neuron 2.28"),
        ("trn1", "/dev/null", "2.14.3.0", "torch-neuronx is 2.14.3.0: install that of Neuron 2.28"),
        ("trn1", "/dev/null", "nightly", "torch-neuronx is nightly: install"),
    ],
)
def test_fails_with_what_is_missing_and_the_releases(family: str, device: str, installed: str | None, words: str) -> None:
    sentence = complaint(family, Path(device), installed)
    assert sentence is not None
    assert words in sentence
    assert sentence.endswith(RELEASES)
    assert "Neuron 2.28 or older" in RELEASES
    assert "ended with Neuron 2.32" in RELEASES


@pytest.mark.parametrize(("family", "installed"), [("trn1", "2.9.0.2.11.1"), ("trn1n", "2.8.0"), ("trn1", "1.13.1")])
def test_accepts_the_software_of_trainium1(family: str, installed: str) -> None:
    assert complaint(family, Path("/dev/null"), installed) is None
