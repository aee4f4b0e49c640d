"""The row of the double of a Kubernetes control plane."""

from __future__ import annotations

from pathlib import Path

from bench import kubernetes


def test_every_kind_of_work_is_measured(tmp_path: Path) -> None:
    """On a few objects; the double is gone afterwards."""
    load = kubernetes.measure(tmp_path / "double", objects=2)
    assert [(work.name, work.objects, work.rate > 0) for work in load.works] == [
        (name, 2, True) for name in ("create ConfigMaps", "apply Deployments", "apply them again", "get", "list", "delete")
    ]
    lines = kubernetes.table(load)
    assert len(lines) == 8
    assert lines[-1].startswith("memory")


def test_fake_nodes_are_measured(tmp_path: Path) -> None:
    found = kubernetes.measure_nodes(tmp_path, 5)
    assert (found.nodes, found.objects) == (5, 15)
    assert min(found.seconds, found.processor, found.renewal, found.marks) > 0
    assert [line.split()[0] for line in kubernetes.node_table(found)] == ["joined", "written", "leases", "marks", "memory"]
