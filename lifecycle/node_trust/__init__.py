"""How root works in places where others write: below checked directory handles, or as a child that is the user himself.

Standard library only; the programs of a node import this package, and it imports none of them.
"""
