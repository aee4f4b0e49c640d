"""The error of a program that cannot do its work: the finding and its place, in one sentence."""


class NodeHealthError(Exception):
    pass
