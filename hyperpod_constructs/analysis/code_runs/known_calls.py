"""Functions and methods that code calls and whose results are known: of texts, objects, lists, JSON and the environment."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from hyperpod_constructs.analysis.bounded_json import read_json
from hyperpod_constructs.analysis.code_runs.things import (
    FOLDER,
    FRESH,
    Folder,
    Fresh,
    Given,
    Items,
    Named,
    Object,
    Opened,
    Spelled,
    Thing,
    copied,
    lose,
    thing_of,
    truth,
)
from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.templates.values import UNKNOWN, Reference, Text, joined, parts_of

ENVIRONMENT = "os.environ"
OPEN, STARTING = "open", tuple(f"subprocess.{one}" for one in ("Popen", "call", "check_call", "check_output", "run"))
"""Functions that open a file, and that start a program."""
_LONGEST = 1 << 16
_OF_TEXTS = (
    *("capitalize", "casefold", "endswith", "find", "isdigit", "lower", "lstrip", "partition", "removeprefix", "removesuffix"),
    *("replace", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper"),
)
"""Methods of texts that have the same result wherever they run."""
_KEEPING = ("decode", "encode")
OF_REQUEST = Given("RequestId")
"""The id of a request, which is another one each time."""
HARMLESS = frozenset(("print", "str", "repr", "len", "dict", "list", "json.dumps", "bool", "int", "isinstance", "type", "sorted"))
"""Functions that neither keep nor change what they get."""
_LOGGERS = ("log", "logger", "logging", "LOG", "LOGGER", "_logger")


def is_harmless(name: str) -> bool:
    """Whether a function leaves what it gets as it is, and tells nobody."""
    return name in HARMLESS or name.partition(".")[0] in _LOGGERS


def text_of(things: Iterable[Thing]) -> Thing:
    """A text of several things; unknown if one of them is no text, and fresh if one is."""
    things = list(things)
    if any(isinstance(one, Fresh) or one == OF_REQUEST for one in things):
        return FRESH
    found = [str(one) if isinstance(one, int | float) and not isinstance(one, bool) else one for one in things]
    known = all(isinstance(one, str | Text | Reference) for one in found)
    return joined(part for one in found for part in parts_of(one)) if known else UNKNOWN


def words_of(command: Thing) -> tuple[Thing, ...]:
    """The words of a command that code starts; an unknown one alone for one that is not known."""
    if isinstance(command, str):
        try:
            return tuple(shlex.split(command))
        except ValueError:
            return (UNKNOWN,)
    return tuple(command.items) if isinstance(command, Items) and not command.is_open else (UNKNOWN,)


def plain(thing: Thing) -> bool:
    """Whether a thing is plain data that Python can work with."""
    return thing is None or isinstance(thing, str | int | float)


def of_method(of: Thing, name: str, given: Sequence[Thing], named: Mapping[str, Thing]) -> Thing:
    """The result of a method of a text, an object or a list; unknown for another one."""
    if isinstance(of, Folder):
        return FOLDER
    if isinstance(of, Opened):
        return of.text if name == "read" and not given else UNKNOWN
    if isinstance(of, Object):
        return _of_object(of, name, given, named)
    if isinstance(of, Items):
        return _of_items(of, name, given)
    if name in _KEEPING and isinstance(of, str | Text | Reference | Spelled):
        return of
    if isinstance(of, str):
        return _of_text(of, name, given, named)
    return UNKNOWN


def _of_text(of: str, name: str, given: Sequence[Thing], named: Mapping[str, Thing]) -> Thing:
    if name == "join" and len(given) == 1 and isinstance(given[0], Items | Object) and not given[0].is_open:
        items = [*given[0].items]
        return text_of(part for place, one in enumerate(items) for part in ([of, one] if place else [one]))
    if name == "format" and of.count("{") == of.count("{}") == len(given) and not named:
        pieces = of.split("{}")
        return text_of(part for place, one in enumerate(pieces) for part in ([given[place - 1], one] if place else [one]))
    if name not in _OF_TEXTS or not all(map(plain, given)) or named:
        return UNKNOWN
    if name == "replace" and len(of) * max(1, len(str(given[-1]))) > _LONGEST:
        return UNKNOWN
    try:
        return from_plain(getattr(of, name)(*given))
    except (TypeError, ValueError):
        return UNKNOWN


def _of_object(of: Object, name: str, given: Sequence[Thing], named: Mapping[str, Thing]) -> Thing:
    if name in ("items", "keys", "values") and not given:
        pairs = of.items.items()
        found: list[Thing] = [Items([*pair]) for pair in pairs] if name == "items" else [*getattr(of.items, name)()]
        return Items(found, of.is_open)
    if name == "copy" and not given:
        return Object(dict(of.items), of.is_open)
    if name in ("get", "pop", "setdefault") and given and plain(given[0]):
        return _item(of, name, given)
    if name == "update" and all(isinstance(one, Object) for one in given):
        for one in given:
            of.items.update(one.items)
            of.is_open = of.is_open or one.is_open
        of.items.update(named)
        return None
    lose(of)
    return UNKNOWN


def _item(of: Object, name: str, given: Sequence[Thing]) -> Thing:
    otherwise = given[1] if len(given) > 1 else None
    found = of.items.get(given[0], UNKNOWN if of.is_open else otherwise)
    if name == "pop":
        of.items.pop(given[0], None)
    elif name == "setdefault":
        of.items.setdefault(given[0], found)
    return found


def _of_items(of: Items, name: str, given: Sequence[Thing]) -> Thing:
    if name == "append" and len(given) == 1:
        of.items.append(given[0])
        of.each = UNKNOWN
        return None
    if name == "extend" and len(given) == 1 and isinstance(given[0], Items):
        of.items.extend(given[0].items)
        of.is_open, of.each = of.is_open or given[0].is_open, UNKNOWN
        return None
    lose(of)
    return UNKNOWN


def from_plain(data: object) -> Thing:
    """Plain data of Python as things."""
    if isinstance(data, list | tuple):
        return Items([from_plain(one) for one in data])
    if isinstance(data, dict):
        return Object({name: from_plain(one) for name, one in data.items()})
    return data


def _length(of: Thing) -> Thing:
    return len(of.items) if isinstance(of, Object | Items) and not of.is_open else len(of) if isinstance(of, str) else UNKNOWN


def _loaded(text: Thing) -> Thing:
    """The data of a text in JSON, or of a file with one; its numbers are texts where parts of the text are not characters."""
    text = text.text if isinstance(text, Opened) else text
    if isinstance(text, Spelled):
        return copied(text.of)
    if isinstance(text, Text):
        return thing_of(values_in(text))
    try:
        return from_plain(read_json(text)) if isinstance(text, str) and len(text) <= _LONGEST else UNKNOWN
    except ValueError:
        return UNKNOWN


def _whole_number(of: Thing) -> Thing:
    try:
        return int(of) if isinstance(of, str | int) and len(str(of)) < 20 else UNKNOWN
    except ValueError:
        return UNKNOWN


def _text(of: Thing) -> Thing:
    return text_of([of]) if not isinstance(of, bool) else str(of)


def _listed(of: Thing) -> Thing:
    each = of.each if isinstance(of, Items) else UNKNOWN
    return Items([*of.items], of.is_open, each) if isinstance(of, Object | Items) else UNKNOWN


def _counted(of: Thing) -> Thing:
    return Items([Items([place, one]) for place, one in enumerate(of.items)], of.is_open) if isinstance(of, Items) else UNKNOWN


def _bool(of: Thing) -> Thing:
    found = truth(of)
    return UNKNOWN if found is None else found


_FUNCTIONS: Mapping[str, Callable[[Thing], Thing]] = {
    "bool": _bool,
    "enumerate": _counted,
    "int": _whole_number,
    "json.load": _loaded,
    "json.loads": _loaded,
    "len": _length,
    "list": _listed,
    "sorted": _listed,
    "str": _text,
    "tuple": _listed,
}
_MAKING = (
    *("uuid.uuid1", "uuid.uuid4", "time.time", "time.time_ns", "datetime.now", "datetime.utcnow"),
    *("datetime.datetime.now", "datetime.datetime.utcnow", "secrets.token_hex"),
)
"""Functions that give another value in each call."""
_OF_PATHS = ("os.path.abspath", "os.path.dirname", "os.path.join", "os.path.realpath", "pathlib.Path")
"""Functions of paths: one below the folder of the code is known by its name there."""
_SESSIONS = ("boto3.Session", "boto3.session.Session")


def of_function(name: str, given: Sequence[Thing], named: Mapping[str, Thing], variables: Mapping[str, Thing]) -> Thing:
    """The result of a function of a module; unknown for another one."""
    if name in (f"{ENVIRONMENT}.get", "os.getenv") and given:
        return variables.get(given[0], given[1] if len(given) > 1 else UNKNOWN) if isinstance(given[0], str) else UNKNOWN
    if name == "dict" and all(isinstance(one, Object) for one in given):
        made = Object(dict(named))
        for one in given:
            of_method(made, "update", [one], {})
        return made
    if name == "json.dumps" and given and isinstance(given[0], Object):
        return Spelled(Object(dict(given[0].items), given[0].is_open))
    if name in _OF_PATHS and given:
        of_code = given[0] == Named("__file__") or isinstance(given[0], Folder)
        return FOLDER if of_code and len(given) == 1 else given[1] if of_code else given[0] if len(given) == 1 else UNKNOWN
    if name in _SESSIONS:
        return Named("boto3")
    if name in _MAKING or (name in _FUNCTIONS and isinstance(given[0] if given else None, Fresh)):
        return FRESH
    if name in _FUNCTIONS and len(given) == 1 and (not named or name == "sorted"):
        return _FUNCTIONS[name](given[0])
    return UNKNOWN
