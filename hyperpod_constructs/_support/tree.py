"""Where constructs are in the tree of an app. A look into the tree is a call into jsii, so what never changes is looked up once."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from aws_cdk import Stack
from constructs import IConstruct

_paths: WeakKeyDictionary[IConstruct, str] = WeakKeyDictionary()
_stacks: WeakKeyDictionary[IConstruct, Stack] = WeakKeyDictionary()
_roots: WeakKeyDictionary[Stack, IConstruct] = WeakKeyDictionary()
_regions: WeakKeyDictionary[Stack, str] = WeakKeyDictionary()


def stack_of(construct: IConstruct) -> Stack:
    """The stack of a construct; a stack is its own."""
    if isinstance(construct, Stack):
        return construct
    if construct not in _stacks:
        _stacks[construct] = Stack.of(construct)
    return _stacks[construct]


def app_of(construct: IConstruct) -> IConstruct:
    """The root of the tree of a construct in a stack."""
    stack = stack_of(construct)
    if stack not in _roots:
        _roots[stack] = stack.node.root
    return _roots[stack]


def region_of(construct: IConstruct) -> str:
    """The region of the stack of a construct; a token if it is not known."""
    stack = stack_of(construct)
    if stack not in _regions:
        _regions[stack] = stack.region
    return _regions[stack]


def path_of(construct: IConstruct) -> str:
    """The path of a construct."""
    if construct not in _paths:
        _paths[construct] = construct.node.path
    return _paths[construct]


def placed(construct: IConstruct, scope: IConstruct, id: str) -> str:
    """The path of a construct that was made in `scope` just now: told by its parent's, without a look of its own."""
    parts = (path_of(scope), id.replace("/", "--"))
    _paths[construct] = path = "/".join(filter(None, parts))
    within(construct, scope)
    return path


def within(construct: IConstruct, scope: IConstruct) -> None:
    """Note the stack of a construct that was made in `scope` just now."""
    if not isinstance(construct, Stack):
        _stacks[construct] = stack_of(scope)
