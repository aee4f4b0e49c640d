"""Names of files in an upload of lifecycle scripts."""

from __future__ import annotations

CONFIGURATION_FILE = "config.json"
"""The file that the library renders beside the scripts."""
EXCLUDED = ("__pycache__", ".pyc", ".mypy_cache", ".ruff_cache", ".pytest_cache")
"""The upload leaves out names with these endings, anywhere in a path."""
