"""What a page, a docstring or a comment says of the code is there: functions, modules, targets of make, options.

Rule of this file: only these shapes are looked up, each without doubt about what it names:

    `name` in `a/file.py`           the file defines that name
    `package.module.name(...)`      such a module, and such a name in it; the beginning may be left out
    `a_name`, `_name`               a word that occurs in the code
    `make target VARIABLE=`         of the Makefile
    `python -m module --option`     such a module, whose source has the option
    `contrast-krm command --option` as docs/reference/cli.md, which is generated, has it; the program may be left out
    name(parameter, ...)            in the blocks of docs/architecture.md: such a function or record, with these

Paths are those of tests/docs/test_named_files.py. Of the changelog only what is not released yet is looked at: what
stood in a release was so then.
"""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.docs.code_names import QUOTES, ROOT, SOURCES, TRACKED, defined_in, exists, modules, said_in, words
from tests.docs.commands import blocks

PAGES = [
    path
    for path in TRACKED
    if path.endswith(".md") and path.startswith(("docs/", "benchmarks/", "examples/", "README", "CONTRIB", "CHANGE"))
]
PROGRAM = ("krm_function/", "helm_plugin/", "tools/", "benchmarks/", "tests/")
SAID = [path for path in SOURCES if path.startswith(PROGRAM) and path != QUOTES]
SPAN = re.compile(r"`([^`]+)`")
FENCED = re.compile(r"(?ms)^ *```.*?^ *```$")
IN_FILE = re.compile(r"`(\w+)(?:\([^`]*\))?`\s+(?:in|of)\s+`([\w/]+\.py)`")
DOTTED = re.compile(r"([a-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\(.*\))?", re.DOTALL)
SNAKE = re.compile(r"(_?[a-z]+(?:_[a-z]+)+|_[a-z]+)(?:\(.*\))?")
FILES = {
    "cfg",
    "cnf",
    "conf",
    "cpath",
    "gpg",
    "html",
    "json",
    "jsonl",
    "md",
    "mod",
    "py",
    "sum",
    "toml",
    "txt",
    "yaml",
    "yml",
}
FILES |= {"crt", "pem", "rego", "go", "tgz", "css", "jinja"}
PACKAGES = {path.split("/")[1].removesuffix(".py") for path in SOURCES if path.startswith("krm_function/")}
ROOTS = PACKAGES | {"krm_function", "helm_plugin", "tools", "tests", "benchmarks"}
# the first word of a path into a document; some of them are packages as well
DOCUMENTS = {"spec", "metadata", "status", "data", "manifest", "policy", "results"}
FIELDS = frozenset(
    word
    for path in TRACKED
    if path.startswith("krm_function/api/schemas/") or path == "tests/policy/data/pod_fields.txt"
    for word in re.findall(r"\w+", (ROOT / path).read_text(encoding="utf-8"))
) | {"annotations", "labels", "namespace", "pstate", "contrast_krm_requests"}  # of metadata, and of the data of Rego
ELSEWHERE = {
    "set_label": "what the changelog says is gone",
    "set_annotation": "what the changelog says is gone",
    "pull_request_target": "an event of GitHub",
}


def spans(text: str) -> Iterator[str]:
    """The code spans of a text, on one line each."""
    for span in SPAN.findall(FENCED.sub("", text)):
        yield re.sub(r"\s+", " ", span)


def page(path: str) -> str:
    """A page; of the changelog what is not released."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return text.partition("## [Unreleased]")[2].partition("\n## [")[0] if path == "CHANGELOG.md" else text


def lost_in_files(text: str) -> list[str]:
    """Names that the file named with them does not define."""
    found = []
    for name, path in IN_FILE.findall(FENCED.sub("", text)):
        files = [each for each in SOURCES if each == path or each.endswith(f"/{path}")]
        if not any(name in defined_in(each) for each in files):
            found.append(f"`{name}` in `{path}`: that file defines no such name")
    return found


def lost_dotted(text: str, *, known: frozenset[str] = frozenset(), strict: bool = True) -> list[str]:
    """Dotted names that lead nowhere. known: variables; strict: also those that begin with no package of ours."""
    found = []
    for span in spans(text):
        match = DOTTED.fullmatch(span)
        if not match or match[1].rpartition(".")[2] in FILES or re.search(r"[a-z][A-Z]", match[1].partition("(")[0]):
            continue
        first, *rest = match[1].split(".")
        if first in known or (first not in ROOTS and not strict) or (first in DOCUMENTS and FIELDS.issuperset(rest)):
            continue
        if not exists(match[1]):
            found.append(f"`{span}`: no module and nothing in one")
    return found


def lost_words(text: str) -> list[str]:
    """Names with an underscore that occur nowhere in the code."""
    matches = ((span, SNAKE.fullmatch(span)) for span in spans(text))
    named = [(span, match[1]) for span, match in matches if match]
    return [
        f"`{span}`: the code has no such word" for span, name in named if name not in words() and name not in ELSEWHERE
    ]


@cache
def makefile() -> str:
    return (ROOT / "Makefile").read_text(encoding="utf-8")


@cache
def targets() -> frozenset[str]:
    return frozenset(word for line in re.findall(r"(?m)^([a-z -]+):", makefile()) for word in line.split())


def lost_targets(lines: list[str]) -> list[str]:
    """Targets and variables that the Makefile does not have."""
    found = []
    for line in lines:
        for call in re.findall(r"(?:^\s*|[;&|] *)make((?: [a-z][a-z-]*| [A-Z_]+=\S*)+)", line):
            for word in call.split():
                name, equals, _ = word.partition("=")
                there = re.search(rf"\b{name}\b", makefile()) if equals else name in targets()
                if not there:
                    found.append(f"`make {word}`: the Makefile has no such {'variable' if equals else 'target'}")
    return found


def lost_runs(lines: list[str]) -> list[str]:
    """Modules that `python -m` would not find, and options that their source does not name."""
    found = []
    for line in lines:
        for name, rest in re.findall(
            r"python3? -m ((?:tools|benchmarks|tests|krm_function)[\w.]*)((?: [^\s|&;]+)*)", line
        ):
            module = modules().get(f"{name}.__main__") or modules().get(name)
            if module is None:
                found.append(f"`python -m {name}`: no such module")
                continue
            source = (ROOT / module.path).read_text(encoding="utf-8")
            options = re.findall(r"--[a-z][a-z-]*", rest)
            found += [
                f"`python -m {name} {each}`: no such option"
                for each in options
                if f'"{each}"' not in f'{source} "--help"'
            ]
    return found


@cache
def commands() -> dict[str, frozenset[str]]:
    """Every command with its options."""
    text = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    found: dict[str, frozenset[str]] = {}
    for section in re.split(r"(?m)^## contrast-krm ?", text)[1:]:
        name, _, rest = section.partition("\n")
        found[name] = frozenset(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", rest.partition("\n## ")[0]))
    for name in [name for name in found if " " in name]:
        found.setdefault(name.split()[0], frozenset(("-h", "--help")))
    return found


def lost_options(line: str) -> list[str]:
    """Of a call of contrast-krm, what the program does not have; for a call of something else nothing."""
    named, *given = line.split()
    if given[:1] == ["config"] and named == "init":
        given.insert(0, "--")  # `init config` has a directory
    for command in (f"{named} {given[0]}" if given else named, named):
        if command in commands():
            break
    else:
        return [f"`contrast-krm {named}`: no such command"] if re.fullmatch(r"[a-z-]+", named) else []
    options = (re.sub(r"[=\\].*", "", word) for word in given if re.match(r"--?[a-zA-Z]", word))
    lost = [each for each in options if each not in commands()[command] | commands()[""]]
    return [f"`contrast-krm {command} {each}`: no such option" for each in lost]


def calls(text: str) -> Iterator[str]:
    """What follows the program's name in the commands of a text's lines."""
    for line in text.replace("\\\n", " ").replace("|\n", "| ").splitlines():
        for part in re.split(r"\||&&|;|\$\(|\s#\s|^#|<\(|>", line):
            call = re.match(r"\s*(?:[A-Z_]+=\S* )*(?:\S*/)?contrast-krm +(\S.*)", part)
            if call:
                yield call[1]


def lost_commands(text: str) -> list[str]:
    """Commands and options that contrast-krm does not have, in spans and in blocks."""
    found = [lost for block in blocks(text) for call in calls(block) for lost in lost_options(call)]
    for span in spans(text):
        if span.startswith("contrast-krm "):
            found += lost_options(span.removeprefix("contrast-krm "))
        elif re.match(r"[a-z-]+(?: [a-z-]+)? --[a-z]", span) and span.split()[0] in commands():
            found += lost_options(span)
    return found


@pytest.mark.slow
def test_a_page_names_only_code_that_exists() -> None:
    for path in PAGES:
        text = page(path)
        assert lost_in_files(text) + lost_dotted(text, strict=False) + lost_words(text) == []


def test_a_page_names_only_commands_that_exist() -> None:
    for path in PAGES:
        text = page(path)
        lines = [*spans(text), *(line for block in blocks(text) for line in block.splitlines())]
        assert lost_commands(text) + lost_targets(lines) + lost_runs(lines) == []


@pytest.mark.slow
def test_docstrings_and_comments_name_only_what_exists() -> None:
    for folder in sorted({path.rpartition("/")[0] for path in SAID}):
        lost = []
        for path in (path for path in SAID if path.rpartition("/")[0] == folder):
            known = defined_in(path)
            for text in said_in(path):
                lines = list(spans(text))
                found = lost_in_files(text) + lost_dotted(text, known=known) + lost_words(text)
                lost += [f"{path}: {each}" for each in (*found, *lost_targets(lines), *lost_runs(lines))]
        assert lost == []


def signatures() -> list[tuple[str, list[str]]]:
    """The functions and records of the blocks of architecture.md, with the parameters that stand there."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    found = []
    for section in re.split(r"(?m)^## ", text):
        package = re.match(r".*\(`(\w+)`\)", section)
        for line in re.findall(r"(?m)^    ([A-Za-z_][\w.]*)\(([^()]*)\)", section):
            name = f"{package[1]}.{line[0]}" if package and "." not in line[0] else line[0]
            found.append((name, re.findall(r"(?:^|, )(\w+)", line[1])))
    return found


def defined(name: str) -> list[set[str]]:
    """The parameters or fields of what has that name: in its module, or in one of the package that it names."""
    head, _, last = name.rpartition(".")
    inside = [f"krm_function.{head}", *(each for each in modules() if each.startswith(f"krm_function.{head}."))]
    return [modules()[each].defined[last] for each in inside if each in modules() and modules()[each].defined.get(last)]


@pytest.mark.parametrize("name,parameters", signatures(), ids=[name for name, _ in signatures()])
def test_a_function_of_the_architecture_has_the_parameters_that_stand_there(name: str, parameters: list[str]) -> None:
    assert defined(name), f"architecture.md names `{name}`, which is not defined"
    assert any(has.issuperset(parameters) for has in defined(name)), f"{name}{defined(name)}"


@pytest.mark.parametrize(
    "text,says",
    [
        ("`_by_value` in `render/read.py`", "that file defines no such name"),
        ("`_marks` in `policy/seal.py`", "that file defines no such name"),
        ("the inverse of `tokens.escaped_argument`.", "no module and nothing in one"),
        ("`nothing_of_this_name(text)`", "the code has no such word"),
        ("`render.read.nothing`", "nothing in one"),
    ],
)
def test_a_name_of_nothing_is_found(text: str, says: str) -> None:
    lost = lost_in_files(text) + lost_dotted(text) + lost_words(text)
    assert any(says in each for each in lost), lost


@pytest.mark.parametrize(
    "text,says",
    [
        ("`contrast-krm plan --no-such`", "contrast-krm plan --no-such`: no such option"),
        ("`contrast-krm nothing`", "no such command"),
        ("`check --no-such`", "no such option"),
        ("    kustomize build . | contrast-krm check --no-such", "no such option"),
        ("`keys new --no-such`", "no such option"),
        ("`make nothing`", "no such target"),
        ("`make test NOTHING=1`", "no such variable"),
        ("`python -m tools.nothing`", "no such module"),
        ("`python -m benchmarks --nothing`", "no such option"),
    ],
)
def test_a_command_of_nothing_is_found(text: str, says: str) -> None:
    lines = list(spans(text))
    lost = lost_commands(text) + lost_targets(lines) + lost_runs(lines)
    assert any(says in each for each in lost), lost


def test_what_exists_is_not_found() -> None:
    text = "`splice` in `text/splice.py`, `render.read.read(texts)`, `read.read`, `check --cluster`, `make test`"
    lines = list(spans(text))
    assert lost_in_files(text) + lost_dotted(text) + lost_words(text) + lost_commands(text) + lost_targets(lines) == []
