"""Root's work in places where others write: below verified directory handles, or by a child that runs as the user.

Standard library only. The programs of a node import this package, and it imports none of them.
"""
