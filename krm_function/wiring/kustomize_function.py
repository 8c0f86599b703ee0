"""How kustomize runs the function: the annotation `config.kubernetes.io/function` of the ContrastGenerate.

    form        annotation                              kustomize build
    exec        exec: {path: contrast-krm}              --enable-alpha-plugins --enable-exec
    container   container: {image: IMAGE}               --enable-alpha-plugins
    legacy      none: a plugin named after the kind     --enable-alpha-plugins

Source: docs/facts/kustomize.md.

Rule of this file: only what `init` itself writes is changed into another form; an annotation with more in it stays.
"""

from typing import Any, Literal, get_args

from krm_function.krm.kube_object import FUNCTION
from krm_function.model.lookup import dig
from krm_function.record import NamedTuple
from krm_function.yamltext import Change, YamlError, parse
from krm_function.yamltext.edit.splice import splice

Form = Literal["exec", "container", "legacy"]
FORMS: tuple[Form, ...] = get_args(Form)
EXEC = "exec:\n  path: contrast-krm\n"  # a bare name: looked up on PATH
ANNOTATIONS = ("metadata", "annotations")


class Function(NamedTuple):
    """A form. image: of a container, "" otherwise."""

    form: Form
    image: str = ""

    @property
    def flags(self) -> str:
        """What `kustomize build` needs to run it."""
        return "--enable-alpha-plugins --enable-exec" if self.form == "exec" else "--enable-alpha-plugins"

    @property
    def annotation(self) -> str | None:
        """The text of the annotation; None: there is none."""
        if self.form == "container":
            return f"container:\n  image: {self.image}\n"
        return EXEC if self.form == "exec" else None


def function_of(value: Any) -> Function:
    """Return the form of a ContrastGenerate; an annotation that is not understood counts as exec."""
    text = dig(value, (*ANNOTATIONS, FUNCTION))
    if text is None:
        return Function("legacy")
    image = dig(_parsed(text), ("container", "image"))
    return Function("container", image) if isinstance(image, str) else Function("exec")


def with_function(text: str, function: Function) -> str:
    """Give a ContrastGenerate this form. Raises YamlError, and ValueError if the annotation says more than a form."""
    document = parse(text)
    present, wanted = dig(document.value, (*ANNOTATIONS, FUNCTION)), function.annotation
    if present == wanted or (present is not None and wanted is not None and _parsed(present) == _parsed(wanted)):
        return text
    if present is not None and not _written_by_init(_parsed(present)):
        raise ValueError(f"its annotation {FUNCTION} says more than a program or an image; change it there")
    annotations = dig(document.value, ANNOTATIONS)
    if wanted is None:
        change = Change((*ANNOTATIONS, FUNCTION), "remove", None)
    elif isinstance(annotations, dict) and annotations:
        change = Change((*ANNOTATIONS, FUNCTION), "set", wanted)
    else:
        change = Change(ANNOTATIONS, "set", {FUNCTION: wanted})
    return splice(document, [change]).text


def _parsed(text: Any) -> Any:
    try:
        return parse(text).value if isinstance(text, str) else None
    except YamlError:
        return None


def _written_by_init(value: Any) -> bool:
    if value == {"exec": {"path": "contrast-krm"}}:
        return True
    image = dig(value, ("container", "image"))
    return isinstance(image, str) and value == {"container": {"image": image}}
