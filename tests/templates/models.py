"""Small templates, parsed from a user's YAML."""

from __future__ import annotations

from textwrap import dedent

from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import Value
from hyperpod_constructs.templates.yaml_reading import parsed


def model_of(*texts: str) -> Model:
    """A model of templates called `t0`, `t1`, ... in YAML."""
    templates = {}
    for index, text in enumerate(texts):
        template = parsed(dedent(text))
        assert isinstance(template, dict)
        templates[f"t{index}"] = template
    return Model.of(templates)


def by_id(model: Model, logical_id: str) -> Resource:
    """The resource with a logical id."""
    (found,) = [resource for resource in model.resources() if resource.logical_id == logical_id]
    return found


def resolved(expression: str, sections: str = "") -> Value:
    """The value of an expression in YAML, beside other sections of its template; `A` is a resource for references."""
    text = f"Resources:\n  A: {{Type: 'T::A'}}\n  B:\n    Type: 'T::B'\n    Properties:\n      V: {expression}\n{dedent(sections)}"
    return by_id(model_of(text), "B").get("V")
