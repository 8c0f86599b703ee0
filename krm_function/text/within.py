"""Replace words inside scalars, whose quotes, comments and places stay.

Rule of this file: the result is parsed back and must equal the result of `apply`; otherwise `splice` writes the whole
scalars again.
"""

from collections.abc import Mapping

from krm_function.text.changes import Change, Path, apply, same
from krm_function.text.errors import YamlError
from krm_function.text.parse import Document, parse
from krm_function.text.splice import node_at, splice


def replace_scalars(document: Document, words: Mapping[Path, tuple[str, str]]) -> str:
    """Return the text with other scalars at some paths. words: the present value, and the one that replaces it.

    An alias follows its anchor. Raises ChangeError for a path that does not exist, YamlError as `splice` does.
    """
    changes = [Change(path, "set", new) for path, (_, new) in words.items()]
    text = _replace_words(document, words)
    try:
        if same(parse(text, line=document.line).value, apply(document.value, changes)):
            return text
    except YamlError:  # as when an escape splits the word
        pass
    return splice(document, changes).text


def _replace_words(document: Document, words: Mapping[Path, tuple[str, str]]) -> str:
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
