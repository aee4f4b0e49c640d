"""The principals of policies: their kinds, and what those who assume a role ask its trust for (as of 2026-11-30).

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html
"""

from __future__ import annotations

from collections.abc import Mapping

KINDS = ("AWS", "CanonicalUser", "Federated", "Service")
"""The keys of a principal."""

WEB_PROVIDERS = ("accounts.google.com", "cognito-identity.amazonaws.com", "graph.facebook.com", "www.amazon.com")
"""Providers of web identities that are there in every account, by their names.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_oidc.html
"""

SUFFIXES = ("amazonaws.com", "amazonaws.com.cn", "amazon.com", "aws.internal")
"""The ends of the names of services."""

_ALWAYS = ("sts:setsourceidentity", "sts:tagsession")
_CALLED = ("sts:assumerole", "sts:setcontext", *_ALWAYS)
ASKED: Mapping[str, tuple[str, ...]] = {
    "AWS": _CALLED,
    "Service": _CALLED,
    "SAML": ("sts:assumerolewithsaml", *_ALWAYS),
    "OIDC": ("sts:assumerolewithwebidentity", *_ALWAYS),
}
"""The actions for which principals of a kind ask the trust of a role, in small letters (as of 2026-12-01).

Sources: https://docs.aws.amazon.com/IAM/latest/UserGuide/access-analyzer-reference-policy-checks.html (mismatched action for
principal), https://docs.aws.amazon.com/service-authorization/latest/reference/list_sts.html and
https://docs.aws.amazon.com/IAM/latest/UserGuide/id_session-tags.html
"""
