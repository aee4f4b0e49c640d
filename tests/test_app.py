"""The reference app as a whole."""

from __future__ import annotations

from tests.presets import build, templates


def test_nothing_is_kept_when_the_data_may_go() -> None:
    app = build("announcement", retain_data="false", confirm_data_loss="true")
    policies = {
        resource.get(policy, "Delete")
        for template in templates(app).values()
        for resource in template["Resources"].values()
        for policy in ("DeletionPolicy", "UpdateReplacePolicy")
    }
    assert policies == {"Delete"}
