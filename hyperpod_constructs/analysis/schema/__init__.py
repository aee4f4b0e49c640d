"""Properties judged by the schema of their type: each mistake with its place, what is allowed there, and what to write instead."""
