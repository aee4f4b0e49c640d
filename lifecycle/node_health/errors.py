"""The error of a program that cannot do its work: what was found and where, in one sentence."""


class NodeHealthError(Exception):
    pass
