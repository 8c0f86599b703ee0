"""Replace words inside of scalars, whose quotes, comments and places stay as they are.

Rule of this file: what comes out is parsed back and must be what `apply` says; where it is not, `splice` writes the
whole scalars anew.
"""

from collections.abc import Mapping

from krm_function.text.changes import Change, Path, apply, same
from krm_function.text.errors import YamlError
from krm_function.text.parse import Document, parse
from krm_function.text.splice import node_at, splice


def replace_scalars(document: Document, words: Mapping[Path, tuple[str, str]]) -> str:
    """Return the text with other scalars at some paths. words: the value there, and the one that takes its place.

    An alias follows its anchor. Raises ChangeError for a path that does not exist, YamlError as `splice` does.
    """
    changes = [Change(path, "set", new) for path, (_, new) in words.items()]
    text = _replaced(document, words)
    try:
        if same(parse(text, line=document.line).value, apply(document.value, changes)):
            return text
    except YamlError:  # as where the word was split by an escape
        pass
    return splice(document, changes).text


def _replaced(document: Document, words: Mapping[Path, tuple[str, str]]) -> str:
    spans = []
    for path, (old, new) in words.items():
        node = node_at(document.node, path)
        if node is not None and node.kind == "scalar":
            source = document.text[node.start : node.end]
            if source.count(old) == 1:
                spans.append((node.start, node.end, source.replace(old, new)))
    text = document.text
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text
