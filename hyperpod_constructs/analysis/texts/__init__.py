"""Texts in a language of their own inside a template: schedules, patterns, alarms, filters, code, documents, names.

`facts.texts` says which property of which type holds which language, and each module here judges some languages. `places` brings
both together. A part that only the deployment knows is a hole, and no mistake is ever found in one.
"""
