"""Findings in the formats of files and logs; none of these modules prints."""
