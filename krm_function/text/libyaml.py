"""Load PyYAML's C parser without the parts of PyYAML that it does not need.

Rule of this file: other modules import PyYAML's names from here. Its C parser needs four small modules of plain classes
and the names of eight exceptions. `import yaml` also loads the parsers and dumpers written in Python and compiles their
patterns, which takes twice as long as starting the interpreter. So this module installs a package whose `__init__` has
not run; it runs when another of its names is used, and from then on this is ordinary PyYAML.

That uses the layout of PyYAML 6.0 (`WANTED`, as pyproject.toml bounds it), which is not public. With another layout, or
a PyYAML built without libyaml, importing this module raises an ImportError with the name `yaml`: the problem in its
first line, the remedy in its second.
"""

import sys
from types import ModuleType

WANTED = "pyyaml>=6.0.2,<6.1"
_RAISED = {
    "reader": "ReaderError",
    "scanner": "ScannerError",
    "parser": "ParserError",
    "composer": "ComposerError",
    "constructor": "ConstructorError",
    "emitter": "EmitterError",
    "serializer": "SerializerError",
    "representer": "RepresenterError",
}  # module: exception, as yaml._yaml looks them up when it is loaded


class _Unread(ModuleType):
    """A package whose `__init__` has not run."""

    def __getattr__(self, name: str) -> object:
        spec = self.__spec__
        if spec is None or spec.loader is None:
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment]
        spec.loader.exec_module(self)
        return getattr(self, name)


def _install_unread() -> None:
    """Make `yaml` an unread package with the names that yaml._yaml looks up."""
    specs = (finder.find_spec("yaml", None) for finder in sys.meta_path)
    spec = next((spec for spec in specs if spec is not None), None)
    if spec is None:
        raise ModuleNotFoundError("No module named 'yaml'", name="yaml")
    package = _Unread("yaml")
    package.__spec__, package.__path__ = spec, spec.submodule_search_locations or []
    package.__file__ = spec.origin
    sys.modules["yaml"] = package

    import yaml.error
    import yaml.events
    import yaml.nodes
    import yaml.tokens

    class ReaderError(yaml.error.YAMLError):
        """Bytes that are not text, or a character that YAML does not allow; `position` counts bytes."""

        def __init__(self, name: str, position: int, character: object, encoding: str, reason: str) -> None:
            super().__init__(reason)
            self.name, self.position, self.character = name, position, character
            self.encoding, self.reason = encoding, reason

    for module, name in _RAISED.items():
        error = ReaderError if module == "reader" else type(name, (yaml.error.MarkedYAMLError,), {})
        setattr(package, module, type(module, (), {name: error}))


def _make_import_error(problem: Exception) -> ImportError:
    from importlib.metadata import PackageNotFoundError, version

    if isinstance(sys.modules.get("yaml"), _Unread):
        del sys.modules["yaml"]  # the next import gets the whole package, or its own error
    try:
        message = f"PyYAML {version('pyyaml')} cannot be used: {problem}"
    except PackageNotFoundError:
        message = f"PyYAML is not there: {problem}"
    remedy = f"install it as a wheel, or build it with libyaml's headers present: pip install '{WANTED}'"
    return ImportError(f"{message}\n  hint: {remedy}", name="yaml")


try:
    if "yaml" not in sys.modules:
        _install_unread()

    from yaml._yaml import CParser
    from yaml.error import MarkedYAMLError, YAMLError
    from yaml.events import (
        AliasEvent,
        DocumentEndEvent,
        DocumentStartEvent,
        MappingEndEvent,
        MappingStartEvent,
        ScalarEvent,
        SequenceEndEvent,
        SequenceStartEvent,
        StreamEndEvent,
    )

    ReaderError = sys.modules["yaml"].reader.ReaderError
except (ImportError, AttributeError, TypeError) as problem:
    raise _make_import_error(problem) from problem

__all__ = [
    "AliasEvent",
    "CParser",
    "DocumentEndEvent",
    "DocumentStartEvent",
    "MappingEndEvent",
    "MappingStartEvent",
    "MarkedYAMLError",
    "ReaderError",
    "ScalarEvent",
    "SequenceEndEvent",
    "SequenceStartEvent",
    "StreamEndEvent",
    "YAMLError",
]
