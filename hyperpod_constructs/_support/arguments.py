"""Arguments of a wrong type, reported before jsii: its own message comes late, in a stack trace, without the construct."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, ParamSpec, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from constructs import Construct

from hyperpod_constructs._support.tokens import is_token

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Compare the keyword-only arguments of a constructor or a method with its annotations, before it runs.

    :raises TypeError: for a value of another type; the text gives the construct's path, the argument, its value and the allowed
        types.
    """

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        hints = _hints(function)
        for name, value in kwargs.items():
            if name in hints:
                _check(_where(function, args), name, value, hints[name])
        return function(*args, **kwargs)

    return wrapper


def check_fields(instance: object) -> None:
    """Compare the fields of a dataclass with their annotations; call it first in `__post_init__`.

    :raises TypeError: for a value of another type.
    """
    for name, hint in _hints(cast(Any, type(instance))).items():
        _check(lambda: _label(instance), name, getattr(instance, name), hint)


@functools.cache
def _hints(annotated: Any) -> dict[str, Any]:
    hints = get_type_hints(annotated)
    if not isinstance(annotated, type):
        kinds = inspect.signature(annotated).parameters
        return {name: hint for name, hint in hints.items() if name != "return" and kinds[name].kind is kinds[name].KEYWORD_ONLY}
    return hints


def _where(function: Callable[..., Any], args: Sequence[Any]) -> Callable[[], str]:
    def path() -> str:
        if function.__name__ != "__init__":
            return str(args[0].node.path) if args and isinstance(args[0], Construct) else function.__qualname__
        return "/".join(filter(None, (args[1].node.path, str(args[2])))) if len(args) > 2 else function.__qualname__

    return path


def _label(instance: object) -> str:
    name = getattr(instance, "name", None)
    return type(instance).__name__ if not isinstance(name, str) else f"{type(instance).__name__} {name!r}"


def _check(where: Callable[[], str], name: str, value: object, hint: Any) -> None:
    if _fits(value, hint):
        return
    raise TypeError(f"{where()}: {name} is {_found(value, hint)}; allowed: {_allowed(hint)}")


def _fits(value: object, hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, argument) for argument in arguments)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, arguments[0]) for item in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, origin) and all(
            _fits(key, arguments[0]) and _fits(item, arguments[1]) for key, item in value.items()
        )
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return isinstance(value, origin) and not isinstance(value, str) and all(_fits(item, arguments[0]) for item in value)
    if hint is int:
        return (isinstance(value, int) and not isinstance(value, bool)) or (not isinstance(value, str) and is_token(value))
    if getattr(hint, "_is_protocol", False):
        return all(_has(value, member) for member in _members(hint))
    return hint is Any or isinstance(value, hint)


@functools.cache
def _members(protocol: type) -> tuple[str, ...]:
    return tuple(name for name in dir(protocol) if not name.startswith("_"))


def _has(value: object, member: str) -> bool:
    """Whether a value has a member. It is not read, because a property of a construct may be a call into jsii.

    jsii returns some objects as several in one.
    """
    parts = (value, *getattr(value, "_delegates", ()))
    return any(hasattr(type(part), member) or member in getattr(part, "__dict__", {}) for part in parts)


def _found(value: object, hint: Any) -> str:
    """The given value in words; of a collection, its first wrong item."""
    for option in get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,):
        origin, arguments = get_origin(option), get_args(option)
        if not isinstance(origin, type) or not isinstance(value, origin) or isinstance(value, str):
            continue
        parts = [(item, arguments[0]) for item in cast(Iterable[object], value)]
        if isinstance(value, Mapping):
            parts += [(item, arguments[1]) for item in value.values()]
        return f"a {type(value).__name__} with " + next(_shown(part) for part, expected in parts if not _fits(part, expected))
    return _shown(value)


def _shown(value: object) -> str:
    delegates = getattr(value, "_delegates", ())
    name = type(delegates[-1] if delegates else value).__name__.removeprefix("_").removesuffix("Proxy")
    plain = isinstance(value, str | int | float | bool | bytes) or value is None
    return f"{value!r} ({name})" if plain else f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _allowed(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(_allowed(argument) for argument in arguments)
    if hint is type(None):
        return "None"
    if origin is not None:
        return f"{origin.__name__} of {', '.join(_allowed(item) for item in arguments if item is not Ellipsis)}"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return " or ".join(f"{hint.__name__}.{member.name}" for member in hint)
    if hint.__name__ in _EXAMPLES:
        return _EXAMPLES[hint.__name__]
    module = hint.__module__.rpartition(".")[2]
    return f"{module}.{hint.__name__}" if hint.__module__.startswith("aws_cdk.") else str(hint.__name__)


_EXAMPLES = {
    "ClusterInstanceType": 'ClusterInstanceType.of("ml.p5.48xlarge")',
    "GatedCluster": "a HyperPodCluster",
    "LifecycleScripts": "LifecycleScripts.from_asset(...), from_bucket(...) or none()",
    "LustreMount": "LustreMount(file_system=...)",
    "LustreSource": "a LustreStorage, or LustreStorage.from_attributes(...)",
    "EbsVolume": "EbsVolume(size_gb=...)",
    "NodeNetwork": "a ClusterNetwork, or ClusterNetwork.from_attributes(vpc=..., node_subnet=..., security_group=...)",
}
