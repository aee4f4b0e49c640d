"""Arguments of a wrong type or beyond a limit, reported before jsii: its own message comes late, in a stack trace, without the
construct.

A limit stands in the annotation: `Annotated[int, Limit(least=0, most=90)]`.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, ParamSpec, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from constructs import Construct

from hyperpod_constructs._support.tokens import is_token, is_unknown
from hyperpod_constructs.facts.limits import Limit

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Compare the arguments of a function with their annotations before it runs, in the order in which the caller wrote them.

    :raises TypeError: for a value of another type; the text gives the construct's path, the argument, its value and the allowed
        types.
    :raises ValueError: for a value beyond the limit in its annotation.
    """
    names = _positional(function)

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        hints, given = _hints(function), {**dict(zip(names, args, strict=False)), **kwargs}
        for name, value in given.items():
            if name in hints:
                check_argument(lambda: _where(function, given), name, value, hints[name])
        return function(*args, **kwargs)

    return wrapper


def checked_value(kind: type[T]) -> type[T]:
    """Apply `checked` to the constructor of a dataclass; write it above `@dataclass`."""
    kind.__init__ = checked(kind.__init__)  # type: ignore[method-assign]
    return kind


def _positional(function: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters that an argument without a name can meet."""
    found = inspect.signature(function).parameters.values()
    return tuple(given.name for given in found if given.kind in (given.POSITIONAL_ONLY, given.POSITIONAL_OR_KEYWORD))


@functools.cache
def _hints(annotated: Callable[..., Any]) -> dict[str, Any]:
    return {name: hint for name, hint in get_type_hints(annotated, include_extras=True).items() if name != "return"}


def _where(function: Callable[..., Any], given: Mapping[str, Any]) -> str:
    """The construct's path, the value object with its name, or the function."""
    owner, scope, name = (given.get(key) for key in ("self", "scope", "name"))
    made = function.__name__ == "__init__"
    if isinstance(owner, Construct) and not made:
        return str(owner.node.path)
    if isinstance(scope, Construct):
        return "/".join(filter(None, (scope.node.path, str(given.get("id")))))
    if not made:
        return function.__qualname__
    return f"{type(owner).__name__} {name!r}" if isinstance(name, str) else type(owner).__name__


def check_argument(where: Callable[[], str], name: str, value: object, hint: Any) -> None:
    """Compare one argument with its annotation; see `checked`."""
    if not _fits(value, hint):
        raise TypeError(f"{where()}: {name} is {_found(value, hint)}; allowed: {_allowed(hint)}")
    for part, limit in _limited(value, hint):
        mistake = limit.mistake(name, part)
        if mistake is not None:
            raise ValueError(f"{where()}: {mistake}")


def _limited(value: Any, hint: Any) -> Iterator[tuple[Any, Limit]]:
    """Each known value with its limit, also inside collections."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated and not is_unknown(value):
        yield from ((value, limit) for limit in hint.__metadata__ if isinstance(limit, Limit))
        yield from _limited(value, arguments[0])
    elif origin in (Union, types.UnionType):
        yield from _limited(value, next(option for option in arguments if _fits(value, option)))
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        yield from (pair for item in value.values() for pair in _limited(item, arguments[1]))
    elif isinstance(origin, type) and issubclass(origin, Sequence):
        yield from (pair for item in value for pair in _limited(item, arguments[0]))


def _fits(value: object, hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _fits(value, arguments[0])
    if origin is Callable:
        return callable(value)
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
        members = _members(hint)
        return all(_has(value, member) for member in members) if members else hasattr(type(value), "__jsii_type__")
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
        option = get_args(option)[0] if get_origin(option) is Annotated else option
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
    if origin is Annotated:
        return _allowed(arguments[0])
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
    "ControlPlaneSource": "an EksControlPlane, or an ExistingControlPlane",
    "GatedCluster": "a HyperPodCluster",
    "KubernetesControlPlane": "an EksControlPlane, or an ExistingControlPlane",
    "LifecycleScripts": "LifecycleScripts.from_asset(...), from_bucket(...) or none()",
    "LoggedCluster": "a HyperPodCluster, or HyperPodCluster.from_cluster_arn(...)",
    "MonitoredCluster": "a HyperPodCluster, or HyperPodCluster.from_cluster_attributes(...)",
    "MonitoredFileSystem": "a LustreStorage, an OpenZfsStorage, or an imported file system",
    "LinkedLustre": "a LustreStorage, or LustreStorage.from_attributes(...)",
    "LustreMount": "LustreMount(file_system=...)",
    "LustreSource": "a LustreStorage, or LustreStorage.from_attributes(...)",
    "OpenZfsMount": "OpenZfsMount(file_system=...)",
    "OpenZfsSource": "an OpenZfsStorage, or OpenZfsStorage.from_attributes(...)",
    "OpenZfsQuota": "OpenZfsQuota(id=..., storage_capacity_quota_gib=...)",
    "OpenZfsVolume": "an OpenZfsStorage, or OpenZfsStorage.from_attributes(root_volume_id=...)",
    "OwnStep": "OwnStep(script=...)",
    "SquashedLustre": "a LustreStorage, or LustreStorage.from_attributes(...)",
    "EbsVolume": "EbsVolume(size_gb=...)",
    "WorkerGroup": 'WorkerGroup(name="workers", instance_type=..., count=...)',
    "NodeNetwork": "a ClusterNetwork, or ClusterNetwork.from_attributes(vpc=..., node_subnet=..., security_group=...)",
}
