"""Findings as files and logs want them; none of these modules prints."""
