"""Values that fit a table of fields, made from the table itself.

A table has more to it than its shapes: a `check` may refuse a value that fits. So what is made here is what a schema
has to accept, and what a parser accepts unless it names a rule that no schema can tell.
"""

from typing import Any

from hypothesis import strategies as st

from krm_function.schema.values import (
    Anything,
    Choice,
    Flag,
    JsonObject,
    ListOf,
    MapOf,
    Number,
    OneOrMany,
    Only,
    OrNull,
    Record,
    Scalar,
    Spec,
    Text,
    Word,
)

MOST = 2  # entries of a list or map: the tables nest deeply


def fitting(spec: Spec) -> st.SearchStrategy[Any]:  # noqa: C901 (one case for each spec)
    """Values that fit a spec."""
    match spec:
        case Text():
            return texts(spec)
        case Choice():
            return st.sampled_from([*spec.values, *(name.swapcase() for name in spec.values if spec.fold)])
        case Flag():
            return st.just(value=False) if spec.danger else st.booleans()
        case Number():
            return st.integers(spec.least, spec.most) | st.sampled_from(
                [spec.least, spec.most, float(max(spec.least, 0))]
            )
        case Scalar():
            return st.sampled_from([0, 1, 0.5, "682Mi", "250m", "1e3", "+1", "0", "12E", "1.5Gi"])
        case JsonObject():
            return st.sampled_from([{}, "{}", {"a": [1, None, "x"]}, '{"Policies": {}}', {"configMap": "name"}])
        case OneOrMany():
            return fitting(spec.items) | st.lists(fitting(spec.items), max_size=MOST)
        case Word():
            return st.sampled_from(spec.words) | fitting(spec.spec)
        case OrNull():
            return st.none() | fitting(spec.spec)
        case ListOf():
            least, most = (0, MOST) if spec.length is None else (spec.length, spec.length)
            return st.lists(fitting(spec.items), min_size=least, max_size=most)
        case MapOf():
            return st.dictionaries(fitting(spec.keys), fitting(spec.values), max_size=MOST)
        case Record():
            return records(spec)
        case Only():
            return st.sampled_from(spec.values)
        case Anything():
            return st.none()


def texts(spec: Text) -> st.SearchStrategy[str]:
    """Strings that fit a pattern and a length."""
    made = (
        st.from_regex(spec.pattern, fullmatch=True)
        if spec.pattern
        else st.text(st.characters(codec="utf-8"), max_size=20)
    )
    return made.filter(lambda text: not spec.longest or len(text) <= spec.longest)


def records(spec: Record) -> st.SearchStrategy[dict[str, Any]]:
    """Maps with all required fields and some of the others, which may be null."""
    required = {name: fitting(field.spec) for name, field in spec.fields.items() if field.required}
    optional = {name: st.none() | fitting(field.spec) for name, field in spec.fields.items() if not field.required}
    if spec.closed:
        return st.fixed_dictionaries(required, optional=optional)
    more = st.dictionaries(st.text(max_size=5).filter(lambda name: name not in spec.fields), st.none(), max_size=MOST)
    return st.builds(lambda one, other: {**one, **other}, more, st.fixed_dictionaries(required, optional=optional))
